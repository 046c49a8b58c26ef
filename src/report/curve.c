/* curve.c - a test over sizes, CPU threads, … : a line for each, in place of matrices.
 *
 * What differs between the matrices of a curve alone is its axis; each other size and
 * variant is a curve of its own. */
#include "config.h"

#include "report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/quant.h"
#include "base/units.h"
#include "report/matrix.h"

/* The cells of one matrix, over all nodes asked for. */
struct point {
	struct cs_plan_matrix matrix;
	size_t n_planned, n_measured, n_marked, n_concurrent;
	double min, median, max;
	double together; /* median of the totals; NAN none */
};

/* ---- axes ---- */

static void forget_size(struct cs_plan_matrix *matrix)
{
	matrix->bytes = 0;
}

static void forget_threads(struct cs_plan_matrix *matrix)
{
	matrix->variant.threads = 0;
}

static void size_text(const struct cs_plan_matrix *matrix, char *to, size_t room)
{
	cs_size_text(matrix->bytes, to, room);
}

static void threads_text(const struct cs_plan_matrix *matrix, char *to, size_t room)
{
	cs_text(to, room, "%d", matrix->variant.threads ? matrix->variant.threads : 1);
}

static void forget_element(struct cs_plan_matrix *matrix)
{
	matrix->variant.element = 0;
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
	void (*forget)(struct cs_plan_matrix *matrix); /* where on the axis it is */
	void (*text)(const struct cs_plan_matrix *matrix, char *to, size_t room);
	/* below the heading, also of one point; NULL: the figures of all cells */
	int (*print)(FILE *to, const struct cs_run *run, const int nodes[2],
		     const uint32_t *index, int n);
} axes[] = {
	/* the first along which a test was measured */
	{ "CPU threads", "CPU threads", CS_TAKES_THREADS, forget_threads,
	  threads_text, NULL },
	{ "element", "bytes", CS_TAKES_ELEMENT, forget_element, element_text, NULL },
	{ "kernels a tile", NULL, CS_TAKES_KERNELS, forget_kernels, NULL,
	  cs_overlap_print },
	{ "size", NULL, 0, forget_size, size_text, NULL },
};
#define N_AXES (sizeof(axes) / sizeof(axes[0]))

/* Do two matrices differ at most in where on the axis they are? */
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

static void take_cells(struct point *p, const struct cs_grid *grid, double *room,
		       size_t *k)
{
	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		p->n_marked += grid->mark[i] == '!';
		if (!isnan(grid->value[i]))
			room[(*k)++] = grid->value[i];
	}
	p->n_planned += grid->n_planned;
	p->n_measured += grid->n_measured;
	p->n_concurrent += grid->n_concurrent;
	if (grid->n_total && !(p->together >= grid->total_median))
		p->together = grid->total_median;
}

static int take_point(const struct cs_run *run, int first, int last, uint32_t index,
		      struct point *p)
{
	size_t most = (size_t)(last - first) * CS_MAX_AGENTS * CS_MAX_AGENTS, k = 0;
	double *room = calloc(most + 1, sizeof(*room));
	struct cs_grid grid;
	int node;

	*p = (struct point){ .min = NAN, .median = NAN, .max = NAN, .together = NAN };
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

static void put(FILE *to, int width, double x)
{
	if (isnan(x))
		cs_print(to, "  %*s", width, "-");
	else
		cs_print(to, "  %*.2f", width, x);
}

static void print_point(FILE *to, const struct axis *axis, const struct cs_test *test,
			const struct point *p, int totals)
{
	char at[16], cells[32];

	axis->text(&p->matrix, at, sizeof(at));
	cs_text(cells, sizeof(cells), "%zu/%zu", p->n_measured, p->n_planned);
	cs_print(to, "%12s  %9s", at, cells);
	put(to, 9, p->min);
	put(to, 9, p->median);
	put(to, 9, p->max);
	if (test->unit == CS_UNIT_GBS)
		put(to, 12, 1e-3 * (double)p->matrix.bytes / p->median);
	if (totals)
		put(to, 9, p->together);
	if (p->n_marked)
		cs_print(to, "  ! %zu", p->n_marked);
	putc('\n', to);
}

/* From which size on the median is at least half of the highest. */
static void print_half(FILE *to, const struct point *p, int n)
{
	double most = 0;
	char size[16];
	int i;

	for (i = 0; i < n; i++)
		most = fmax(most, isnan(p[i].median) ? 0 : p[i].median);
	for (i = 0; i < n && !(p[i].median >= most / 2); i++)
		;
	if (i == n || !(most > 0))
		return;
	size_text(&p[i].matrix, size, sizeof(size));
	cs_fold(to, 2, 4, "half of the highest median (%.2f) is reached at %s", most,
		size);
}

/* What all points have in common. */
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

static void print_columns(FILE *to, const struct axis *axis, const struct cs_grid *of,
			  int totals)
{
	const int gbs = of->test->unit == CS_UNIT_GBS;

	cs_print_line(to, "%12s  %9s  %9s  %9s  %9s%s%s",
		      axis->head		   ? axis->head :
		      of->test->unit == CS_UNIT_NS ? "through" :
						     "a copy",
		      "cells", "min", "median", "max", gbs ? "     us a copy" : "",
		      totals ? "   together" : "");
}

static void print_points(FILE *to, const struct axis *axis, struct cs_grid *like,
			 const struct point *p, int n)
{
	int i, totals = 0, marked = 0;

	like->n_concurrent = 0;
	for (i = 0; i < n; i++) {
		like->n_concurrent += p[i].n_concurrent;
		totals |= !isnan(p[i].together);
		marked |= p[i].n_marked > 0;
	}
	print_heading(to, axis, like);
	print_columns(to, axis, like, totals);
	for (i = 0; i < n; i++)
		print_point(to, axis, like->test, &p[i], totals);
	if (like->test->unit == CS_UNIT_GBS && axis->text == size_text)
		print_half(to, p, n);
	if (marked)
		cs_fold(to, 2, 4,
			"! number of cells with a remark (-v prints every matrix)");
}

/* Of the matrices at[0 … n-1]. */
static int print_all(FILE *to, const struct axis *axis, struct cs_grid *like,
		     const int nodes[2], const uint32_t *at, int n)
{
	struct point *point = calloc((size_t)n + 1, sizeof(*point));
	int rc = point ? 0 : -1;

	for (int i = 0; i < n && !rc; i++)
		rc = take_point(like->run, nodes[0], nodes[1], at[i], &point[i]);
	if (!rc)
		print_points(to, axis, like, point, n);
	free(point);
	return rc;
}

int cs_curve_print(FILE *to, const struct cs_run *run, int first, int last,
		   uint32_t index)
{
	const struct axis *axis = axis_of(run, index);
	int points = cs_curve_points(run, index), n = 0, rc;
	uint32_t *at = calloc((size_t)points + 1, sizeof(*at)), i;
	struct cs_grid like;

	if (!at || cs_grid_init(&like, run, first, index)) {
		free(at);
		return -1;
	}
	for (i = index; n < points; i++) {
		const struct cs_grid grid = cs_grid_head(run, i);

		if (is_like(axis, &grid, &like))
			at[n++] = i;
	}
	if (axis->print) {
		print_heading(to, axis, &like);
		rc = axis->print(to, run, (int[]){ first, last }, at, n);
	} else {
		rc = print_all(to, axis, &like, (int[]){ first, last }, at, n);
	}
	cs_grid_release(&like);
	free(at);
	return rc;
}
