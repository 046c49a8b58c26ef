/* usual.c - the usual figure of each cell, and how far healthy ones are apart.
 *
 * A median distance of few figures is small by chance now and then, and then the one
 * furthest off looks like an outlier: of few figures the spread is taken to be larger. */
#include "check/cells/internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "check/link/expect.h"

#define CELLS_LEAST 3 /* of one node, to have a usual one */
#define GPUS_OF_SOCKET 4
#define ONE_IN 4 /* more than one in so many nodes */
/* The spread of n figures is taken MANY_FIGURES + FEW_FIGURES / n times as large.  Of 8
 * Gaussian ones that differ by 2 % one is then OF_FEW off in 1 of 10,000 (else in 1 of
 * 50), of 1,024 in 1 of 50,000. */
#define MANY_FIGURES 1.25
#define FEW_FIGURES 26.0
/* … and that by the differences of like figures, which are better known, so many times. */
#define FEW_LIKE 14.0
#define PAIRS_TO_SD 1.048

double cs_spread_of(double *x, size_t n, double least)
{
	return n ? fmax(least, cs_scaled_mad(x, n) *
				       (MANY_FIGURES + FEW_FIGURES / (double)n)) :
		   least;
}

/* ---- among the cells of the node itself ---- */

/* The NUMA node of its GPU, counted from 1, if it has enough GPUs: healthy ones of
 * different sockets may differ.  0: all of the node are compared. */
static int socket_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_run_node *nd = &run->node[row->node];
	const int numa = nd->agent[cs_gpu_of(row)].numa;
	int gpus = 0;

	for (int a = 0; a < nd->facts.n_agents; a++)
		gpus += nd->agent[a].numa == numa;
	return gpus >= GPUS_OF_SOCKET && numa >= 0 && numa < CS_MAX_NUMA ? 1 + numa :
									   0;
}

/* Cells of one node with the same number are alike. */
static int kind_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;
	int from, to;

	if (cs_family_of(row) == CS_FAMILY_LOCAL)
		return 0;
	if (cs_family_of(row) == CS_FAMILY_HOST)
		return cs_is_near(run, row) ? 1 + socket_of(run, row) : 0;
	from = agent[row->what.src.index].numa;
	to = agent[row->what.dst.index].numa;
	return cs_on_nvlink(run, row) ? 0 : from < 0 || to < 0 ? 1 : 2 + (from == to);
}
#define KINDS (2 + CS_MAX_NUMA)

static int is_alike(const struct cs_judged_cells *cells, size_t i, int kind)
{
	return !cells->judged[i].unsure &&
	       kind_of(cells->run, cs_judged_row(cells, i)) == kind;
}

/* The noise of the usual figure: of half the cells it is less. */
static double usual_noise(const struct cs_judged_cells *cells, size_t from,
			  size_t end, double *x)
{
	size_t known = 0;

	for (size_t i = from; i < end; i++)
		if (!cells->judged[i].unsure)
			x[known++] = cells->judged[i].noise;
	return known ? cs_median(x, known) : 0;
}

double cs_usual_of_node(struct cs_judged_cells *cells, size_t from, size_t end)
{
	double *x = cs_new(double, end - from);

	for (int kind = 0; kind < KINDS; kind++) {
		size_t n = 0;
		double usual;

		for (size_t i = from; i < end; i++)
			if (is_alike(cells, i, kind))
				x[n++] = cells->judged[i].y;
		usual = cs_upper_median(x, n);
		for (size_t i = from; i < end && n >= CELLS_LEAST; i++)
			if (is_alike(cells, i, kind))
				cells->judged[i].off = cells->judged[i].y - usual;
	}
	return usual_noise(cells, from, end, x);
}

void cs_likes_take(struct cs_likes *to, const struct cs_judged_cells *cells,
		   size_t from, size_t end)
{
	for (size_t i = from; i < end; i++) {
		const int kind = kind_of(cells->run, cs_judged_row(cells, i));
		const size_t before = to->pairs.n;

		for (size_t k = from; k < i; k++) {
			double apart =
				fabs(cells->judged[i].off - cells->judged[k].off);

			if (!isnan(apart) && is_alike(cells, k, kind))
				cs_list_push(&to->pairs, &apart);
		}
		to->free += to->pairs.n > before;
	}
}

double cs_likes_spread(const struct cs_likes *of)
{
	double *x = of->pairs.data;

	cs_sort(x, of->pairs.n);
	return of->free ? fmax(CS_SPREAD_LEAST,
			       PAIRS_TO_SD * x[(of->pairs.n - 1) / 2] *
				       (MANY_FIGURES + FEW_LIKE / (double)of->free)) :
			  CS_SPREAD_LEAST;
}

CS_ORDERING_AT(by_cell, struct cs_judged_cell, CS_ORDER(a->cell, b->cell),
	       CS_ORDER(a, b))

/* ---- among nodes ---- */

int cs_count_nodes(const double *y, size_t n, double own, double off, int *alike)
{
	double near = fabs(off) / 2;
	const size_t below = CS_FIRST(i, n, y[i] >= own + near);

	*alike = (int)(below - CS_FIRST(i, n, y[i] >= own - near));
	return (int)(n - below);
}

int cs_is_of_many(int alike, int nodes)
{
	return nodes >= CS_NODES_LEAST && alike > 1 && ONE_IN * alike > nodes;
}

double cs_usual_of_nodes(struct cs_judged_cells *cells, size_t from, size_t end,
			 double *noise)
{
	CS_SCOPE;
	const size_t n = end - from;
	struct cs_judged_cell *judged = cells->judged + from;
	struct cs_judged_cell **at = cs_new(struct cs_judged_cell *, n);
	double *x = cs_new(double, n);
	size_t k, known = 0, nodes = CS_NODES_LEAST;
	double spread;

	for (size_t i = 0; i < n; i++)
		at[i] = &judged[i];
	qsort(at, n, sizeof(*at), by_cell);
	for (size_t i = 0; i < n; i = k) {
		size_t sure = 0;
		double usual;

		for (k = i; k < n && at[k]->cell == at[i]->cell; k++)
			if (!at[k]->unsure)
				x[sure++] = at[k]->y;
		cs_sort(x, sure);
		/* of two in the middle the slower: half may be fast */
		usual = sure >= CS_NODES_LEAST ? x[(sure - 1) / 2] : NAN;
		for (size_t m = i; m < k; m++)
			if (!at[m]->unsure) {
				at[m]->off = at[m]->y - usual;
				at[m]->slower = cs_count_nodes(x, sure, at[m]->y,
							       at[m]->off,
							       &at[m]->alike);
			}
		nodes = sure > nodes ? sure : nodes;
	}
	for (size_t i = 0; i < n; i++)
		if (!isnan(judged[i].off))
			x[known++] = judged[i].off;
	/* each median is one of the figures, or between two: they seem nearer */
	spread = cs_spread_of(x, known, CS_SPREAD_LEAST) * (1 + 2.0 / (double)nodes);
	*noise = usual_noise(cells, from, end, x);
	return spread;
}
