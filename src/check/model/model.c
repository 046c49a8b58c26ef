#include "check/model/model.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"

/* ---- which matrices are a sweep ---- */

/* Has the test the size of --size? */
static int is_of_sweeps(const struct cs_run *run, const struct cs_test *test)
{
	return run->plan->set.last_bytes && !test->bytes &&
	       ((test->how == CS_HOW_GATED && test->unit == CS_UNIT_GBS) ||
		test->how == CS_HOW_ONCE);
}

static int is_like(const struct cs_grid *a, const struct cs_grid *b)
{
	struct cs_plan_matrix x = *a->matrix, y = *b->matrix;

	x.bytes = y.bytes;
	return a->back == b->back && !cs_plan_matrices_compare(&x, &y);
}

/* The next matrix after `index` that is of its sweep, `n` at the end.  Those of a
 * test are adjacent. */
static uint32_t next_size(const struct cs_run *run, uint32_t index)
{
	const struct cs_grid of = cs_grid_head(run, index);
	uint32_t n = cs_grids(run);

	while (++index < n && cs_grid_test(run, index) == of.matrix->test) {
		const struct cs_grid grid = cs_grid_head(run, index);

		if (is_like(&grid, &of))
			return index;
	}
	return n;
}

static int has_smaller(const struct cs_run *run, uint32_t index)
{
	const struct cs_grid of = cs_grid_head(run, index);

	while (index-- && cs_grid_test(run, index) == of.matrix->test) {
		const struct cs_grid grid = cs_grid_head(run, index);

		if (is_like(&grid, &of))
			return 1;
	}
	return 0;
}

int cs_sweep_sizes(const struct cs_run *run, uint32_t index)
{
	const struct cs_grid grid = cs_grid_head(run, index);
	uint32_t n = cs_grids(run);
	int sizes = 0;

	if (!is_of_sweeps(run, grid.test) || has_smaller(run, index))
		return 0;
	for (; index < n; index = next_size(run, index))
		sizes++;
	return sizes;
}

/* ---- its fits ---- */

/* points[cell * CS_FIT_MOST + i], i below n[cell]: sizes ascend, as matrices do. */
static void take_points(const struct cs_grid *grid, struct cs_fit_point *points,
			size_t *n)
{
	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		double bytes = (double)grid->bytes;
		double us = grid->test->unit == CS_UNIT_US ?
				    grid->value[i] :
				    1e-3 * bytes / grid->value[i];

		if (!(grid->value[i] > 0) || n[i] == CS_FIT_MOST)
			continue;
		points[i * CS_FIT_MOST + n[i]++] = (struct cs_fit_point){ bytes, us };
	}
}

static void take_sizes(const struct cs_run *run, int node, uint32_t index,
		       struct cs_fit_point *points, size_t *n)
{
	for (; index < cs_grids(run); index = next_size(run, index)) {
		CS_SCOPE;

		take_points(cs_grid_new(run, node, index), points, n);
	}
}

static void fit_cells(struct cs_sweep *sweep, uint32_t index)
{
	size_t cells = cs_grid_cells(&sweep->grid), *n;
	CS_SCOPE;
	struct cs_fit_point *points = cs_new(struct cs_fit_point, cells * CS_FIT_MOST);

	n = cs_new(size_t, cells);
	take_sizes(sweep->grid.run, sweep->grid.node, index, points, n);
	for (size_t i = 0; i < cells; i++)
		if (!cs_fit_sweep(&points[i * CS_FIT_MOST], n[i], &sweep->fit[i]))
			sweep->n_fitted++;
}

struct cs_sweep *cs_sweep_new(const struct cs_run *run, int node, uint32_t index)
{
	struct cs_sweep *sweep = cs_new(struct cs_sweep, 1);

	sweep->grid = *cs_grid_new(run, node, index);
	sweep->fit = cs_new(struct cs_fit, cs_grid_cells(&sweep->grid));
	fit_cells(sweep, index);
	return sweep;
}

/* ---- several as one ---- */

void cs_fits_add(struct cs_vec *fits, const struct cs_sweep *sweep)
{
	for (size_t i = 0; i < cs_grid_cells(&sweep->grid); i++)
		if (sweep->fit[i].n)
			cs_list_push(fits, &sweep->fit[i]);
}

/* The median of one number of each fit, which is `at` bytes after its begin; of those
 * that have it. */
static double median_at(const struct cs_vec *fits, size_t at, double *room)
{
	size_t k = 0;

	CS_EACH(const struct cs_fit, fit, fits) {
		double x;

		memcpy(&x, (const char *)fit + at, sizeof(x));
		if (!isnan(x))
			room[k++] = x;
	}
	return k ? cs_median(room, k) : NAN;
}

static struct cs_fit_value value_at(const struct cs_vec *fits, size_t at, double *room)
{
	return (struct cs_fit_value){
		median_at(fits, at + offsetof(struct cs_fit_value, value), room),
		median_at(fits, at + offsetof(struct cs_fit_value, low), room),
		median_at(fits, at + offsetof(struct cs_fit_value, high), room),
	};
}

int cs_fits_sum(const struct cs_vec *fits, struct cs_fit_sum *out)
{
	const struct cs_fit *fit = fits->data;
	double *room = cs_new(double, fits->n);

	memset(out, 0, sizeof(*out));
	out->n = fits->n;
	if (!fits->n)
		return -1;
	out->alpha_us = value_at(fits, offsetof(struct cs_fit, alpha_us), room);
	out->gbs = value_at(fits, offsetof(struct cs_fit, gbs), room);
	out->half_bytes = value_at(fits, offsetof(struct cs_fit, half_bytes), room);
	if (!(out->alpha_us.value > 0))
		out->half_bytes = (struct cs_fit_value){ NAN, NAN, NAN };
	for (size_t i = 0; i < fits->n; i++) {
		out->n_switched += fit[i].switch_bytes > 0;
		if (!(fabs(fit[i].worst) >= fabs(out->worst)) && i)
			continue;
		out->worst = fit[i].worst;
		out->worst_bytes = fit[i].worst_bytes;
	}
	return 0;
}

struct cs_fit_sum cs_sweep_sum(const struct cs_run *run, uint32_t index,
			       size_t *planned)
{
	struct cs_vec fits = CS_LIST(struct cs_fit);
	struct cs_fit_sum sum = { .n = 0 };
	CS_SCOPE;

	*planned = 0;
	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_sweep *sweep = cs_sweep_new(run, node, index);

		*planned += sweep->grid.n_planned;
		cs_fits_add(&fits, sweep);
	}
	cs_fits_sum(&fits, &sum);
	return sum;
}

/* ---- between nodes ---- */

/* The median over the cells of its tests between nodes' host memory, one way, in that
 * unit. */
static double between_median(const struct cs_run *run, enum cs_unit unit)
{
	struct cs_vec x = CS_LIST(double);

	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
			const struct cs_test *test = cs_test_at(row->test);

			if (test->path == CS_PATH_NETHOST && test->unit == unit &&
			    test->pattern == CS_PATTERN_PAIR && row->status == CS_OK)
				cs_list_push(&x, &row->stats.median);
		}
	return x.n ? cs_median(x.data, x.n) : NAN;
}

struct cs_message cs_message_between(const struct cs_run *run)
{
	return (struct cs_message){ .alpha_us = between_median(run, CS_UNIT_US),
				    .gbs = between_median(run, CS_UNIT_GBS) };
}
