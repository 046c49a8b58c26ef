#include "check/model/rates.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "result/cells.h"

enum { FLOPS = CS_NEARS };

/* The rate that a test's cell measures, and at which of its ends. */
static const struct source {
	const char *test;
	int is_numa, what; /* enum cs_near, or FLOPS */
} sources[] = {
	{ CS_FLOPS_TEST, 0, FLOPS },
	{ "local.sm.triad.alone", 0, CS_NEAR_MEMORY },
	{ "local.l2.read.alone", 0, CS_NEAR_L2 },
	{ "local.shared.read.alone", 0, CS_NEAR_SHARED },
	{ "host.fma.fp64.alone", 1, FLOPS },
	{ "host.team.read.pair", 1, CS_NEAR_MEMORY },
};

/* For memory of a NUMA node, the rate of its own cores counts. */
static const struct source *source_of(const struct cs_row *row)
{
	const char *name = cs_row_test(row)->name;

	if (row->status != CS_OK || row->metric != CS_METRIC_RATE ||
	    row->what.src.index != row->what.dst.index ||
	    !cs_variant_is_usual(&row->what.variant))
		return NULL;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (!strcmp(sources[i].test, name))
			return &sources[i];
	return NULL;
}

static struct cs_computes *place_of(struct cs_vec *all, int node, int is_numa,
				    const struct cs_endpoint *where)
{
	struct cs_computes *place = all->data;

	for (size_t i = 0; i < all->n; i++)
		if (place[i].node == node && place[i].is_numa == is_numa &&
		    place[i].where.index == where->index)
			return &place[i];
	place = cs_list_add(all, 1);
	*place = (struct cs_computes){ node, is_numa,		*where, NAN,
				       NAN,  { NAN, NAN, NAN }, 0,	NAN };
	return place;
}

static void take(const struct cs_run *run, const struct cs_row *row, int what,
		 struct cs_computes *to)
{
	const double x = row->stats.median;

	if (what == FLOPS) {
		to->gflops = x;
		to->of_peak = to->is_numa ? NAN : x / cs_fma_peak_gflops(run, row);
		return;
	}
	if (what == CS_NEAR_SHARED)
		to->shared_of_peak = x / cs_shared_peak_gbs(run, row);
	if (what == CS_NEAR_MEMORY && row->what.bytes < to->bytes)
		return;
	to->gbs[what] = x;
	if (what == CS_NEAR_MEMORY)
		to->bytes = row->what.bytes;
}

CS_ORDERING(by_place, struct cs_computes, CS_ORDER(a->is_numa, b->is_numa),
	    CS_ORDER(a->node, b->node), CS_ORDER(a->where.index, b->where.index))

struct cs_vec cs_run_computes(const struct cs_run *run)
{
	struct cs_vec all = CS_LIST(struct cs_computes);

	for (int node = 0; node < run->n_nodes; node++) {
		struct cs_row_list cells = cs_run_rows(run, node, CS_ROWS_CELLS);

		for (const struct cs_row *row; (row = cs_row_next(&cells));) {
			const struct source *source = source_of(row);

			if (source)
				take(run, row, source->what,
				     place_of(&all, node, source->is_numa,
					      &row->what.dst));
		}
	}
	cs_vec_sort(&all, by_place);
	return all;
}

double cs_computes_median(const struct cs_vec *computes, int is_numa, int near)
{
	double *x = cs_new(double, computes->n + 1);
	size_t n = 0;

	CS_EACH(const struct cs_computes, place, computes) {
		double one = near < CS_NEARS ? place->gbs[near] : place->gflops;

		if (place->is_numa == is_numa && !isnan(one))
			x[n++] = one;
	}
	return n ? cs_median(x, n) : NAN;
}
