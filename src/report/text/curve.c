/* curve.c - a test over sizes, CPU threads, … : a line for each, in place of matrices.
 *
 * The matrices of a curve differ only in its axis; each other size and variant is a curve
 * of its own. */
#include "config.h"

#include "report/text/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "base/units.h"
#include "report/text/columns.h"
#include "report/text/matrix.h"
#include "report/text/parts.h"

/* ---- axes ---- */

static void forget_size(struct cs_plan_matrix *matrix)
{
	matrix->bytes = 0;
}

static void forget_threads(struct cs_plan_matrix *matrix)
{
	matrix->variant.threads = 0;
}

static double size_at(const struct cs_plan_matrix *matrix)
{
	return (double)matrix->bytes;
}

static void size_text(const struct cs_plan_matrix *matrix, char *to, size_t room)
{
	cs_size_text(matrix->bytes, to, room);
}

static double threads_at(const struct cs_plan_matrix *matrix)
{
	return matrix->variant.threads ? matrix->variant.threads : 1;
}

static void threads_text(const struct cs_plan_matrix *matrix, char *to, size_t room)
{
	cs_text(to, room, "%d", matrix->variant.threads ? matrix->variant.threads : 1);
}

static void forget_element(struct cs_plan_matrix *matrix)
{
	matrix->variant.element = 0;
}

static double element_at(const struct cs_plan_matrix *matrix)
{
	return cs_variant_element(&matrix->variant);
}

static void element_text(const struct cs_plan_matrix *matrix, char *to, size_t room)
{
	cs_text(to, room, "%u", cs_variant_element(&matrix->variant));
}

static void forget_kernels(struct cs_plan_matrix *matrix)
{
	matrix->variant.kernels = 0;
}

static const struct axis {
	const char *by, *head;
	unsigned takes; /* enum cs_takes: of a test that has it */
	void (*forget)(struct cs_plan_matrix *matrix); /* its position on the axis */
	double (*at)(const struct cs_plan_matrix *matrix);
	void (*text)(const struct cs_plan_matrix *matrix, char *to, size_t room);
	/* below the heading, also of one point; NULL: the figures of all cells */
	int (*print)(FILE *to, const struct cs_run *run, const int nodes[2],
		     const uint32_t *index, int n);
} axes[] = {
	/* the first along which a test was measured */
	{ "CPU threads", "CPU threads", CS_TAKES_THREADS, forget_threads, threads_at,
	  threads_text, NULL },
	{ "element", "bytes", CS_TAKES_ELEMENT, forget_element, element_at,
	  element_text, NULL },
	{ "kernels a tile", NULL, CS_TAKES_KERNELS, forget_kernels, NULL, NULL,
	  cs_overlap_print },
	{ "size", NULL, 0, forget_size, size_at, size_text, NULL },
};
#define N_AXES (sizeof(axes) / sizeof(axes[0]))

/* Do two matrices differ at most in their position on the axis? */
static int is_like(const struct axis *axis, const struct cs_grid *a,
		   const struct cs_grid *b)
{
	struct cs_plan_matrix x = *a->matrix, y = *b->matrix;

	axis->forget(&x);
	axis->forget(&y);
	return a->back == b->back && !cs_plan_matrices_compare(&x, &y);
}

/* How many matrices of the run are like one; of these, how many stand before it.  Those
 * of a test stand together. */
static int count_like(const struct cs_run *run, const struct axis *axis,
		      uint32_t index, int *before)
{
	const struct cs_grid of = cs_grid_head(run, index);
	uint32_t n = cs_grids(run), i = index;
	int like = 0;

	*before = 0;
	while (i && cs_grid_test(run, i - 1) == of.matrix->test)
		i--;
	for (; i < n && cs_grid_test(run, i) == of.matrix->test; i++) {
		const struct cs_grid grid = cs_grid_head(run, i);
		int is = is_like(axis, &grid, &of);

		like += is;
		*before += is && i < index;
	}
	return like;
}

/* The axis of the curve that a matrix is of; NULL: it is of none. */
static const struct axis *axis_of(const struct cs_run *run, uint32_t index)
{
	const struct axis *size = &axes[N_AXES - 1];
	const struct cs_grid grid = cs_grid_head(run, index);
	int before;

	if (run->n_nodes < 1)
		return NULL;
	for (const struct axis *axis = axes; axis < size; axis++)
		if (cs_test_takes(grid.test) & axis->takes &&
		    count_like(run, axis, index, &before) > !axis->print)
			return axis;
	return run->plan->set.last_bytes && !grid.test->bytes ? size : NULL;
}

int cs_curve_points(const struct cs_run *run, uint32_t index)
{
	const struct axis *axis = axis_of(run, index);
	int before, n = axis ? count_like(run, axis, index, &before) : 0;

	return n && !before ? n : 0;
}

uint32_t cs_curve_first(const struct cs_run *run, uint32_t index)
{
	const struct axis *axis = axis_of(run, index);
	const struct cs_grid of = cs_grid_head(run, index);
	uint32_t first = index;

	for (uint32_t i = index; axis && i-- > 0;) {
		const struct cs_grid grid = cs_grid_head(run, i);

		if (grid.test != of.test)
			break;
		if (is_like(axis, &grid, &of))
			first = i;
	}
	return first;
}

int cs_curve_holds(const struct cs_run *run, uint32_t index)
{
	return axis_of(run, index) != NULL;
}

/* ---- points ---- */

static void take_cells(struct cs_curve_point *p, const struct cs_grid *grid,
		       double *room, size_t *k)
{
	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		p->n_marked += grid->mark[i] == '!';
		if (isnan(grid->value[i]))
			continue;
		room[(*k)++] = grid->value[i];
		p->low = fmin(p->low, grid->row[i]->stats.ci_low);
		p->high = fmax(p->high, grid->row[i]->stats.ci_high);
	}
	p->n_planned += grid->n_planned;
	p->n_measured += grid->n_measured;
	p->n_concurrent += grid->n_concurrent;
	if (grid->n_total && !(p->together >= grid->total_median))
		p->together = grid->total_median;
}

static int take_point(const struct cs_run *run, int first, int last, uint32_t index,
		      struct cs_curve_point *p)
{
	size_t most = (size_t)(last - first) * CS_MAX_AGENTS * CS_MAX_AGENTS, k = 0;
	double *room = calloc(most + 1, sizeof(*room));
	struct cs_grid grid;
	int node;

	*p = (struct cs_curve_point){ .min = NAN,
				      .median = NAN,
				      .max = NAN,
				      .low = NAN,
				      .high = NAN,
				      .together = NAN };
	for (node = first; room && node < last; node++) {
		if (cs_grid_init(&grid, run, node, index))
			break;
		p->matrix = *grid.matrix;
		take_cells(p, &grid, room, &k);
		cs_grid_release(&grid);
	}
	if (k) {
		p->median = cs_median(room, k);
		p->min = room[0];
		p->max = room[k - 1];
	}
	free(room);
	return room && node == last ? 0 : -1;
}

static void add_point(struct cs_columns *t, const struct cs_test *test,
		      const struct cs_curve_point *p, int totals)
{
	cs_columns_add(t, "%s", p->text);
	cs_columns_add(t, "%zu/%zu", p->n_measured, p->n_planned);
	cs_columns_number(t, 2, p->min, "");
	cs_columns_number(t, 2, p->median, "");
	cs_columns_number(t, 2, p->max, "");
	if (test->unit == CS_UNIT_GBS)
		cs_columns_number(t, 2, 1e-3 * (double)p->matrix.bytes / p->median,
				  "");
	if (totals)
		cs_columns_number(t, 2, p->together, "");
	if (p->n_marked)
		cs_columns_add(t, "! %zu", p->n_marked);
	cs_columns_end_line(t);
}

/* From which size on the median is at least half of the highest. */
static void print_half(FILE *to, const struct cs_curve_point *p, int n)
{
	double most = 0;
	int i;

	for (i = 0; i < n; i++)
		most = fmax(most, isnan(p[i].median) ? 0 : p[i].median);
	for (i = 0; i < n && !(p[i].median >= most / 2); i++)
		;
	if (i == n || !(most > 0))
		return;
	cs_fold(to, 2, 4, "half of the highest median (%.2f) is reached at %s", most,
		p[i].text);
}

/* Print what all points have in common. */
static void print_heading(FILE *to, const struct axis *axis, const struct cs_grid *of)
{
	struct cs_grid like = *of;
	struct cs_plan_matrix matrix = *of->matrix;
	char size[16] = "";

	axis->forget(&matrix);
	like.matrix = &matrix;
	if (matrix.bytes && cs_matrix_says_size(of))
		cs_size_text(matrix.bytes, size, sizeof(size));
	cs_fold(to, 0, 2, "%s%s%s  %s, %s, by %s", of->test->name,
		size[0] ? "  " : "", size, cs_grid_title(&like).text,
		cs_unit_text((int)of->test->unit), axis->by);
}

static void add_heads(struct cs_columns *t, const struct axis *axis,
		      const struct cs_grid *of, int totals)
{
	cs_columns_heads(t, axis->head			 ? axis->head :
			    of->test->unit == CS_UNIT_NS ? "through" :
							   "a copy");
	cs_columns_heads(t, "cells,min,median,max");
	if (of->test->unit == CS_UNIT_GBS)
		cs_columns_heads(t, "us a copy");
	if (totals)
		cs_columns_heads(t, "together");
	cs_columns_end_line(t);
}

static int print_points(FILE *to, const struct axis *axis, struct cs_grid *like,
			const struct cs_curve_point *p, int n)
{
	int i, totals = 0, marked = 0;
	struct cs_columns t = { 0 };

	like->n_concurrent = 0;
	for (i = 0; i < n; i++) {
		like->n_concurrent += p[i].n_concurrent;
		totals |= !isnan(p[i].together);
		marked |= p[i].n_marked > 0;
	}
	print_heading(to, axis, like);
	add_heads(&t, axis, like, totals);
	for (i = 0; i < n; i++)
		add_point(&t, like->test, &p[i], totals);
	if (cs_columns_print(to, &t, 2))
		return -1;
	if (like->test->unit == CS_UNIT_GBS && axis->text == size_text)
		print_half(to, p, n);
	if (marked)
		cs_fold(to, 2, 4,
			"! number of cells with a remark (-v prints every matrix)");
	return 0;
}

/* The matrices of the curve that begins with one; malloc'ed, NULL: no memory. */
static uint32_t *matrices_of(const struct cs_run *run, uint32_t index, int *n)
{
	const struct axis *axis = axis_of(run, index);
	const struct cs_grid of = cs_grid_head(run, index);
	int points = cs_curve_points(run, index);
	uint32_t *at = calloc((size_t)points + 1, sizeof(*at));

	*n = 0;
	for (uint32_t i = index; at && *n < points; i++) {
		const struct cs_grid grid = cs_grid_head(run, i);

		if (is_like(axis, &grid, &of))
			at[(*n)++] = i;
	}
	return at;
}

static int take_points(struct cs_curve *curve, const struct cs_run *run,
		       const int nodes[2], const uint32_t *at)
{
	const struct axis *axis = axis_of(run, at[0]);

	curve->point = calloc((size_t)curve->n + 1, sizeof(*curve->point));
	for (int i = 0; curve->point && i < curve->n; i++) {
		struct cs_curve_point *p = &curve->point[i];

		if (take_point(run, nodes[0], nodes[1], at[i], p))
			return -1;
		p->at = axis->at(&p->matrix);
		axis->text(&p->matrix, p->text, sizeof(p->text));
	}
	return curve->point ? 0 : -1;
}

int cs_curve_take(const struct cs_run *run, const int nodes[2], uint32_t index,
		  struct cs_curve *curve)
{
	const struct axis *axis = axis_of(run, index);
	uint32_t *at;
	int rc;

	*curve = (struct cs_curve){ .by = axis->by };
	if (!axis->at)
		return 0;
	at = matrices_of(run, index, &curve->n);
	rc = at ? take_points(curve, run, nodes, at) : -1;
	free(at);
	return rc;
}

void cs_curve_release(struct cs_curve *curve)
{
	free(curve->point);
}

int cs_curve_print(FILE *to, const struct cs_run *run, int first, int last,
		   uint32_t index)
{
	const struct axis *axis = axis_of(run, index);
	struct cs_grid like = cs_grid_head(run, index);
	const int nodes[] = { first, last };
	struct cs_curve curve;
	uint32_t *at;
	int n, rc;

	if (!axis->print) {
		rc = cs_curve_take(run, nodes, index, &curve);
		if (!rc)
			rc = print_points(to, axis, &like, curve.point, curve.n);
		cs_curve_release(&curve);
		return rc;
	}
	print_heading(to, axis, &like);
	at = matrices_of(run, index, &n);
	rc = at ? axis->print(to, run, nodes, at, n) : -1;
	free(at);
	return rc;
}
