/* curve.c - a test over sizes: a line for each size, in place of matrices. */
#include "config.h"

#include "report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/quant.h"
#include "base/units.h"
#include "report/matrix.h"

/* The cells of one size, over all nodes asked for. */
struct point {
	uint64_t bytes;
	size_t n_planned, n_measured, n_marked, n_concurrent;
	double min, median, max;
	double together;	/* median of the totals; NAN none */
};

static int is_like(const struct cs_grid *a, const struct cs_grid *b)
{
	return a->test == b->test && a->back == b->back;
}

int cs_curve_sizes(const struct cs_run *run, uint32_t index)
{
	const struct cs_grid first = cs_grid_head(run, index);
	int sizes = 0;

	/* it begins where no smaller size of the test is */
	if (!run->plan->set.last_bytes || run->n_nodes < 1 ||
	    first.bytes != run->plan->set.copy_bytes || first.test->bytes)
		return 0;
	for (uint32_t i = index; i < cs_grids(run); i++) {
		const struct cs_grid grid = cs_grid_head(run, i);

		sizes += is_like(&grid, &first);
	}
	return sizes;
}

int cs_curve_holds(const struct cs_run *run, uint32_t index)
{
	return run->plan->set.last_bytes && run->n_nodes > 0 &&
	       !cs_grid_head(run, index).test->bytes;
}

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

static int take_point(const struct cs_run *run, int first, int last,
		      uint32_t index, struct point *p)
{
	size_t most = (size_t)(last - first) * CS_MAX_AGENTS * CS_MAX_AGENTS, k = 0;
	double *room = calloc(most + 1, sizeof(*room));
	struct cs_grid grid;
	int node;

	*p = (struct point){ .min = NAN, .median = NAN, .max = NAN,
			     .together = NAN };
	for (node = first; room && node < last; node++) {
		if (cs_grid_init(&grid, run, node, index))
			break;
		p->bytes = grid.bytes;
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

static void print_point(FILE *to, const struct cs_test *test,
			const struct point *p, int totals)
{
	char size[16], cells[32];

	cs_size_text(p->bytes, size, sizeof(size));
	cs_text(cells, sizeof(cells), "%zu/%zu", p->n_measured, p->n_planned);
	cs_print(to, "%12s  %9s", size, cells);
	put(to, 9, p->min);
	put(to, 9, p->median);
	put(to, 9, p->max);
	if (test->unit == CS_UNIT_GBS)
		put(to, 12, 1e-3 * (double)p->bytes / p->median);
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
	cs_size_text(p[i].bytes, size, sizeof(size));
	cs_fold(to, 2, 4, "half of the highest median (%.2f) is reached at %s", most,
		size);
}

static void print_points(FILE *to, struct cs_grid *like, const struct point *p, int n)
{
	int i, totals = 0, marked = 0;

	like->n_concurrent = 0;
	for (i = 0; i < n; i++) {
		like->n_concurrent += p[i].n_concurrent;
		totals |= !isnan(p[i].together);
		marked |= p[i].n_marked > 0;
	}
	cs_fold(to, 0, 2, "%s  %s, %s, by size", like->test->name,
		cs_grid_title(like).text, cs_unit_text((int)like->test->unit));
	cs_print_line(to, "%12s  %9s  %9s  %9s  %9s%s%s",
		like->test->unit == CS_UNIT_NS ? "through" : "a copy", "cells", "min",
		"median", "max",
		like->test->unit == CS_UNIT_GBS ? "     us a copy" : "",
		totals ? "   together" : "");
	for (i = 0; i < n; i++)
		print_point(to, like->test, &p[i], totals);
	if (like->test->unit == CS_UNIT_GBS)
		print_half(to, p, n);
	if (marked)
		cs_fold(to, 2, 4, "! so many cells with a remark (-v prints every "
			"matrix)");
}

int cs_curve_print(FILE *to, const struct cs_run *run, int first, int last,
		   uint32_t index)
{
	int sizes = cs_curve_sizes(run, index), n = 0, rc = -1;
	struct point *point = calloc((size_t)sizes + 1, sizeof(*point));
	struct cs_grid like;
	uint32_t i;

	if (!point || cs_grid_init(&like, run, first, index)) {
		free(point);
		return -1;
	}
	for (i = index; n < sizes; i++) {
		const struct cs_grid grid = cs_grid_head(run, i);

		if (is_like(&grid, &like) &&
		    take_point(run, first, last, i, &point[n++]))
			goto out;
	}
	print_points(to, &like, point, n);
	rc = 0;
out:
	cs_grid_release(&like);
	free(point);
	return rc;
}
