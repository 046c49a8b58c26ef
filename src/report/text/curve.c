/* curve.c - a test over sizes, CPU threads, … : a line for each, in place of matrices.
 *
 * The matrices of a curve differ only in its axis; each other size and variant is a curve
 * of its own. */
#include <math.h>

#include "report/text/parts.h"

/* ---- axes ---- */

static const struct axis {
	const char *by, *head;
	unsigned takes; /* enum cs_takes: of a test that has it; 0: sizes */
	/* below the heading; NULL: the figures of all cells */
	void (*print)(FILE *to, const struct cs_run *run, const int nodes[2],
		      const uint32_t *index, int n);
	int single; /* also of one point */
} axes[] = {
	/* the first along which a test was measured */
	{ "CPU threads", "CPU threads", CS_TAKES_THREADS, NULL, 0 },
	{ "element", "bytes", CS_TAKES_ELEMENT, NULL, 0 },
	{ "kernels a tile", NULL, CS_TAKES_KERNELS, cs_overlap_print, 1 },
	{ "blocks and threads a block", NULL, CS_TAKES_GRID, cs_grids_print, 0 },
	{ "size", NULL, 0, NULL, 0 },
};
#define N_AXES (sizeof(axes) / sizeof(axes[0]))

/* The position of a matrix on the axis, which it has no longer. */
static double take_position(const struct axis *axis, struct cs_plan_matrix *matrix)
{
	struct cs_variant *v = &matrix->variant;
	double at = (double)matrix->bytes;

	switch (axis->takes) {
	case CS_TAKES_THREADS:
		at = v->threads ? v->threads : 1;
		v->threads = 0;
		return at;
	case CS_TAKES_ELEMENT:
		at = cs_variant_element(v);
		v->element = 0;
		return at;
	case CS_TAKES_KERNELS:
		at = cs_variant_kernels(v);
		v->kernels = 0;
		return at;
	case CS_TAKES_GRID:
		v->blocks = v->block_threads = 0;
		return 0;
	default:
		matrix->bytes = 0;
		return at;
	}
}

/* Do two matrices differ at most in their position on the axis? */
static int is_like(const struct axis *axis, const struct cs_grid *a,
		   const struct cs_grid *b)
{
	struct cs_plan_matrix x = *a->matrix, y = *b->matrix;

	take_position(axis, &x);
	take_position(axis, &y);
	return a->back == b->back && !cs_plan_matrices_compare(&x, &y);
}

/* How many matrices of the run are like one; of these, how many are before it.  Those of
 * a test follow each other. */
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
		    count_like(run, axis, index, &before) > !axis->single)
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
		       struct cs_vec *values)
{
	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		p->n_marked += grid->mark[i] == '!';
		if (isnan(grid->value[i]))
			continue;
		cs_list_push(values, &grid->value[i]);
		p->low = fmin(p->low, grid->row[i]->stats.ci_low);
		p->high = fmax(p->high, grid->row[i]->stats.ci_high);
	}
	p->n_planned += grid->n_planned;
	p->n_measured += grid->n_measured;
	p->n_concurrent += grid->n_concurrent;
	if (grid->n_total && !(p->together >= grid->total_median))
		p->together = grid->total_median;
}

static void take_point(const struct cs_run *run, const int nodes[2], uint32_t index,
		       struct cs_curve_point *p)
{
	struct cs_vec values = CS_LIST(double);
	const double *value;
	CS_SCOPE;

	*p = (struct cs_curve_point){ .min = NAN,
				      .median = NAN,
				      .max = NAN,
				      .low = NAN,
				      .high = NAN,
				      .together = NAN };
	for (int node = nodes[0]; node < nodes[1]; node++) {
		struct cs_grid *grid = cs_grid_new(run, node, index);

		p->matrix = *grid->matrix;
		take_cells(p, grid, &values);
	}
	if (!values.n)
		return;
	p->median = cs_median(values.data, values.n);
	value = values.data;
	p->min = value[0];
	p->max = value[values.n - 1];
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

/* Print the properties that all points share. */
static void print_heading(FILE *to, const struct axis *axis, const struct cs_grid *of)
{
	struct cs_grid like = *of;
	struct cs_plan_matrix matrix = *of->matrix;
	const char *size = "";

	take_position(axis, &matrix);
	like.matrix = &matrix;
	if (matrix.bytes && cs_matrix_shows_size(of))
		size = cs_new_size(matrix.bytes);
	cs_fold(to, 0, 2, "%s%s, %s, by %s (%s)", cs_grid_title(&like).text,
		cs_after(", ", size), cs_unit_text((int)of->test->unit), axis->by,
		of->test->name);
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

static void print_points(FILE *to, const struct axis *axis, struct cs_grid *like,
			 const struct cs_curve_point *p, int n)
{
	int totals = 0, marked = 0;
	struct cs_columns t = { 0 };

	like->n_concurrent = 0;
	for (int i = 0; i < n; i++) {
		like->n_concurrent += p[i].n_concurrent;
		totals |= !isnan(p[i].together);
		marked |= p[i].n_marked > 0;
	}
	print_heading(to, axis, like);
	add_heads(&t, axis, like, totals);
	for (int i = 0; i < n; i++)
		add_point(&t, like->test, &p[i], totals);
	cs_columns_print(to, &t, 2);
	if (like->test->unit == CS_UNIT_GBS && !axis->takes)
		print_half(to, p, n);
	if (marked)
		cs_fold(to, 2, 4,
			"! number of cells with a remark (-v prints every matrix)");
}

/* The matrices of the curve that begins with one. */
static uint32_t *matrices_of(const struct cs_run *run, uint32_t index, int *n)
{
	const struct axis *axis = axis_of(run, index);
	const struct cs_grid of = cs_grid_head(run, index);
	int points = cs_curve_points(run, index);
	uint32_t *at = cs_new(uint32_t, points);

	*n = 0;
	for (uint32_t i = index; *n < points; i++) {
		const struct cs_grid grid = cs_grid_head(run, i);

		if (is_like(axis, &grid, &of))
			at[(*n)++] = i;
	}
	return at;
}

struct cs_curve cs_curve_new(const struct cs_run *run, const int nodes[2],
			     uint32_t index)
{
	const struct axis *axis = axis_of(run, index);
	struct cs_curve curve = { .by = axis->by };
	const uint32_t *at;

	if (axis->print)
		return curve;
	at = matrices_of(run, index, &curve.n);
	curve.point = cs_new(struct cs_curve_point, curve.n);
	for (int i = 0; i < curve.n; i++) {
		struct cs_curve_point *p = &curve.point[i];
		struct cs_plan_matrix matrix;

		take_point(run, nodes, at[i], p);
		matrix = p->matrix;
		p->at = take_position(axis, &matrix);
		p->text = axis->takes ? cs_new_text("%.0f", p->at) :
					cs_new_size(p->matrix.bytes);
	}
	return curve;
}

void cs_curve_print(FILE *to, const struct cs_run *run, int first, int last,
		    uint32_t index)
{
	const struct axis *axis = axis_of(run, index);
	struct cs_grid like = cs_grid_head(run, index);
	const int nodes[] = { first, last };

	if (axis->print) {
		const uint32_t *at;
		int n;

		print_heading(to, axis, &like);
		at = matrices_of(run, index, &n);
		axis->print(to, run, nodes, at, n);
	} else {
		const struct cs_curve curve = cs_curve_new(run, nodes, index);

		print_points(to, axis, &like, curve.point, curve.n);
	}
}
