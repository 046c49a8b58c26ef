/* geometry.c - the division of a cell's kernels among blocks and threads.
 *
 * The first cell of a kind tries all divisions that the backend has, best guess
 * first, and all others take the fastest, which depends on the link. It tries them
 * with the first kernel of the cell alone, and ends a division that is not faster
 * than an earlier one by more than the error of a figure. */
#include <math.h>

#include "node/coordinator/cell.h"

/* A division that is fast now and then is not. */
#define GEOMETRY_SAMPLES 2
/* A third of a sample tells them apart: the start of a kernel is a thousandth of it. */
#define GEOMETRY_NS (CS_SAMPLE_NS / 3)

/* Time per byte of the last sample, summed over the measured transfers. */
static double pace(const struct cs_sampler *s)
{
	double sum = 0;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (!s->load[k])
			sum += 1 / s->last_gbs[k];
	return sum;
}

static enum cs_status sample(struct cs_coordinator *co, struct cs_cell *cell,
			     struct cs_err *err)
{
	double ns[CS_STEP_MAX], load_ns[CS_STEP_MAX];
	enum cs_status status = cs_cell_sample(co, cell, CS_CMD_UNCHECKED, ns,
					       load_ns, err);

	if (status == CS_OK)
		cs_sampler_feed(&co->sampler, ns, load_ns, 0);
	return status;
}

static uint32_t divisions_of(struct cs_coordinator *co, const struct cs_cell *cell)
{
	return cs_board_slot(co->board, cell->agents.agent[0])->geometries;
}

/* The first touch, and, if there is a choice, until a sample has as many copies as fill
 * it. */
static enum cs_status touch(struct cs_coordinator *co, struct cs_cell *cell,
			    struct cs_err *err)
{
	enum cs_status status;
	uint32_t resized;

	do {
		resized = co->sampler.resized;
		status = sample(co, cell, err);
	} while (status == CS_OK && divisions_of(co, cell) > 1 &&
		 co->sampler.resized > resized);
	return status;
}

/* The worst pace of that many samples, or of the first that is not below `bar`. */
static enum cs_status try_geometry(struct cs_coordinator *co, struct cs_cell *cell,
				   int samples, double bar, double *worst,
				   struct cs_err *err)
{
	enum cs_status status = CS_OK;

	*worst = 0;
	for (int i = 0; i < samples && status == CS_OK && *worst < bar; i++) {
		status = sample(co, cell, err);
		if (status == CS_OK)
			*worst = fmax(*worst, pace(&co->sampler));
	}
	return status;
}

/* The other direction of the kernel that makes the step's first transfer; 0: none. */
static uint32_t back_of_first(const struct cs_coordinator *co,
			      const struct cs_step *step)
{
	const struct cs_transfer *first = cs_plan_transfer(co->plan, step, 0);

	for (uint32_t k = 1; k < step->count; k++)
		if (cs_transfers_are_twins(first, cs_plan_transfer(co->plan, step, k)))
			return k;
	return 0;
}

/* The choice for this kind of link, direction and size, kept in the first matrix of
 * that kind. */
static uint32_t *kept_geometry(struct cs_coordinator *co, const struct cs_cell *cell)
{
	const struct cs_test *test = cell->test, *other;
	uint32_t v;

	for (v = 0; v < cell->step->matrix; v++) {
		const struct cs_plan_matrix *matrix = cs_plan_matrix_at(co->plan, v);

		other = cs_test_at(matrix->test);
		if (other->path == test->path && other->method == test->method &&
		    other->op == test->op && other->memory == test->memory &&
		    matrix->bytes ==
			    cs_plan_matrix_at(co->plan, cell->step->matrix)->bytes)
			break;
	}
	return &co->geometry[v][back_of_first(co, cell->step) > 0];
}

static enum cs_status fastest_geometry(struct cs_coordinator *co, struct cs_cell *cell,
				       uint32_t *best, struct cs_err *err)
{
	enum cs_status status = cs_cell_order(co, cell, CS_CMD_PREPARE, err);
	const double margin = co->plan->set.precision / 2;
	double bar = INFINITY, at;
	uint32_t n;

	cell->geometry = 0;
	cs_sampler_init(&co->sampler, co->plan, cell->step,
			co->guess[cell->step->matrix]);
	co->sampler.sample_ns = GEOMETRY_NS;
	if (status == CS_OK)
		status = touch(co, cell, err);
	n = divisions_of(co, cell);
	for (uint32_t g = 0; status == CS_OK && n > 1 && g < n; g++) {
		cell->geometry = g;
		status = try_geometry(co, cell, g ? GEOMETRY_SAMPLES : 1, bar, &at,
				      err);
		if (status != CS_OK)
			break;
		if (at < bar) {
			bar = at * (1 - margin);
			*best = g;
		}
	}
	return status;
}

enum cs_status cs_cell_geometry(struct cs_coordinator *co, struct cs_cell *cell,
				struct cs_err *err)
{
	uint32_t *chosen = kept_geometry(co, cell), best = 0;
	struct cs_step alone = *cell->step;
	struct cs_cell trial = *cell;
	enum cs_status status;

	if (!*chosen) {
		alone.count = back_of_first(co, &alone) + 1;
		trial.step = &alone;
		cs_cell_hand_out(co, &trial);
		status = fastest_geometry(co, &trial, &best, err);
		if (status != CS_OK)
			return status; /* an agent may still be at the trial's step */
		cs_cell_hand_out(co, cell);
		*chosen = best + 1;
	}
	cell->geometry = *chosen - 1;
	return CS_OK;
}
