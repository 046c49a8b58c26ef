/* dips.c - rates that fall as copies grow: a dip in a sweep of sizes. */
#include "base/units.h"
#include "check/verdict/internal.h"

#include <math.h>

#define FALLS 0.15 /* smaller ones are the way in which links and engines divide copies */

/* Two sizes of a cell: `high` is the smaller one, and faster. */
struct dip {
	const struct cs_row *high, *low;
	double left; /* at most that share of the rate is left */
};

/* Does a way between GPUs, or with the host, make its rate, not a cache or a CPU? */
static int shows_dips(const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);
	const int path = (int)test->path, method = (int)test->method;

	return row->status == CS_OK && test->how == CS_HOW_GATED &&
	       test->unit == CS_UNIT_GBS && test->memory != CS_MEM_PAGEABLE &&
	       (path == CS_PATH_PEER || path == CS_PATH_H2D || path == CS_PATH_D2H) &&
	       (method == CS_METHOD_CE || method == CS_METHOD_PEERCOPY ||
		cs_method_is_kernel(method)) &&
	       isfinite(row->stats.ci_low) && isfinite(row->stats.ci_high);
}

/* 0: of one test in one variant. */
static int order_of_tests(const struct cs_row *a, const struct cs_row *b)
{
	return CS_KEYS(CS_ORDER(a->test, b->test),
		       cs_variant_compare(&a->what.variant, &b->what.variant));
}

/* 0: between the same ends as well. */
static int order_of_ends(const struct cs_row *a, const struct cs_row *b)
{
	const struct cs_endpoint *src[] = { &a->what.src, &b->what.src };
	const struct cs_endpoint *dst[] = { &a->what.dst, &b->what.dst };

	return CS_KEYS(order_of_tests(a, b), CS_ORDER(src[0]->kind, src[1]->kind),
		       CS_ORDER(src[0]->index, src[1]->index),
		       CS_ORDER(dst[0]->kind, dst[1]->kind),
		       CS_ORDER(dst[0]->index, dst[1]->index));
}

struct cell {
	const struct cs_row *row;
};

CS_ORDERING(compare, struct cell, order_of_ends(a->row, b->row),
	    CS_ORDER(a->row->what.bytes, b->row->what.bytes))

/* The deepest dip of n sizes between the same ends, the smallest first. */
static struct dip deepest(const struct cell *cell, size_t n)
{
	const struct cs_row *high = cell[0].row;
	struct dip dip = { .left = 1 };

	for (size_t i = 1; i < n; i++) {
		const struct cs_row *row = cell[i].row;
		double left = row->stats.ci_high / high->stats.ci_low;

		if (row->what.bytes > high->what.bytes && left < dip.left)
			dip = (struct dip){ high, row, left };
		if (row->stats.ci_low > high->stats.ci_low)
			high = row;
	}
	return dip;
}

/* A dip that half of the ends have at one size is of the way; of fewer, cells that are
 * slower than the others. */
static void describe(struct cs_run *run, const struct cs_vec *dips, size_t ends)
{
	const struct dip *dip = dips->data, *most = dip;
	char from[24], to[24];
	size_t n = 0;

	for (size_t i = 1; i < dips->n; i++)
		most = dip[i].left < most->left ? &dip[i] : most;
	for (size_t i = 0; i < dips->n; i++)
		n += dip[i].low->what.bytes == most->low->what.bytes;
	if (!n || 2 * n < ends)
		return;
	cs_size_text(most->high->what.bytes, from, sizeof(from));
	cs_size_text(most->low->what.bytes, to, sizeof(to));
	cs_judge(run, CS_FOUND(CS_NOTE, (int)most->low->node, CS_FINDING_DIP),
		 "%s: %s are slower than %s, by %.0f %% (%.2f and %.2f GB/s; %zu of %zu "
		 "cells)",
		 cs_row_test(most->low)->name, to, from,
		 100 * (1 - most->low->stats.median / most->high->stats.median),
		 most->low->stats.median, most->high->stats.median, n, ends);
}

static void judge_node(struct cs_run *run, int node)
{
	CS_SCOPE;
	struct cs_vec cells = CS_LIST(struct cell);
	const struct cell *cell;
	size_t n;

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS))
		if (shows_dips(row))
			cs_list_push(&cells, &(struct cell){ row });
	cs_vec_sort(&cells, compare);
	cell = cells.data;
	for (size_t i = 0; i < cells.n;) {
		const struct cs_row *first = cell[i].row;
		struct cs_vec dips = CS_LIST(struct dip);
		size_t ends = 0;

		for (; i < cells.n && !order_of_tests(first, cell[i].row);
		     i += n, ends++) {
			struct dip dip;

			for (n = 1; i + n < cells.n &&
				    !order_of_ends(cell[i].row, cell[i + n].row);)
				n++;
			dip = deepest(&cell[i], n);
			if (dip.left < 1 - FALLS)
				cs_list_push(&dips, &dip);
		}
		describe(run, &dips, ends);
	}
}

void cs_dips_judge(struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++)
		judge_node(run, node);
}
