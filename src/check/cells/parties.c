/* parties.c - half of the GPUs of a node, or more, slow alike: then most cells are slow, and
 * the usual figure of the node is theirs.
 *
 * A GPU is as fast as the fastest copy that it sends, or receives, because with a slow one
 * each is slow.  Where a wide gap separates the GPUs, and those of each side are alike,
 * the slow side is reported. */
#include "check/cells/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "check/link/expect.h"

#define GPUS_LEAST 4
#define PARTY_LEAST 2 /* on each side: one is found by its row and column */
/* The gap as a logarithm: on a switch GPUs differ by 0.1 %; with the host healthy
 * machines may be built unequal. */
#define GAP_OF_PEERS 0.05
#define GAP_OF_HOST 0.15
#define GAP_OF_LOCAL 0.1
#define ALIKE 3 /* the gap is so many times as wide as what either side is apart */

struct gpu {
	int a;
	double best; /* of its cells */
};

CS_ORDERING(by_best, struct gpu, CS_ORDER(a->best, b->best), CS_ORDER(a->a, b->a))

/* Are the GPUs and their links built alike, so that they should be equally fast? */
static int are_equal(const struct cs_run *run, int node, enum cs_family family)
{
	const struct cs_run_node *nd = &run->node[node];
	const struct cs_agent_facts *a = nd->agent;

	for (int i = 0; i < nd->facts.n_agents; i++) {
		const struct cs_gpu_facts *gpu = &a[i].gpu;

		if (strcmp(gpu->name, a->gpu.name) ||
		    gpu->memory_bytes != a->gpu.memory_bytes ||
		    gpu->sm_count != a->gpu.sm_count || cs_is_mig(gpu->uuid))
			return 0;
		if (family == CS_FAMILY_PEER &&
		    (!cs_is_on_switch(run, node, gpu->bus_id) ||
		     a[i].link.nvlinks_up != a->link.nvlinks_up))
			return 0;
		if (family == CS_FAMILY_HOST &&
		    (a[i].numa < 0 ||
		     cs_link_pcie_gbs(&a[i].link) != cs_link_pcie_gbs(&a->link)))
			return 0;
	}
	return 1;
}

/* How many are slow, by a gap of at least that; 0: there is none. */
static int count_slow(const struct gpu *gpu, int n, double least)
{
	double gap = 0, apart;
	int slow = 0;

	for (int i = PARTY_LEAST; i <= n - PARTY_LEAST; i++)
		if (gpu[i].best - gpu[i - 1].best > gap) {
			gap = gpu[i].best - gpu[i - 1].best;
			slow = i;
		}
	if (!slow || gap < least || !isfinite(gap))
		return 0;
	apart = fmax(gpu[slow - 1].best - gpu[0].best,
		     gpu[n - 1].best - gpu[slow].best);
	return gap > ALIKE * apart ? slow : 0;
}

/* The GPUs that are slow in what they send, receive, or both. */
static uint64_t slow_gpus(const struct cs_judged_cells *cells, size_t from, size_t n,
			  int sends, int receives)
{
	static const double least[CS_FAMILIES] = { [CS_FAMILY_PEER] = GAP_OF_PEERS,
						   [CS_FAMILY_HOST] = GAP_OF_HOST,
						   [CS_FAMILY_LOCAL] = GAP_OF_LOCAL };
	const struct cs_row *row = cs_judged_row(cells, from);
	const int n_gpus = cells->run->node[row->node].facts.n_agents;
	struct gpu *gpu = cs_new(struct gpu, (size_t)n_gpus);
	uint64_t slow = 0;

	for (int a = 0; a < n_gpus; a++)
		gpu[a] = (struct gpu){ a, -INFINITY };
	for (size_t i = from; i < from + n; i++)
		for (int a = 0; a < n_gpus && !cells->judged[i].unsure; a++)
			if (cs_is_of_gpus(cs_judged_row(cells, i), 1ULL << a, sends,
					  receives))
				gpu[a].best = fmax(gpu[a].best, cells->judged[i].y);
	qsort(gpu, (size_t)n_gpus, sizeof(*gpu), by_best);
	for (int i = count_slow(gpu, n_gpus, least[cs_family_of(row)]); i > 0; i--)
		slow |= 1ULL << gpu[i - 1].a;
	return slow;
}

/* Are all GPUs of a NUMA node slow, or none, and so of each?  That is a socket's. */
static int is_of_sockets(const struct cs_run_node *nd, uint64_t slow)
{
	const int n = nd->facts.n_agents;
	int several = 0;

	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++) {
			if (nd->agent[a].numa != nd->agent[b].numa)
				several = 1;
			else if ((slow >> a & 1) != (slow >> b & 1))
				return 0;
		}
	return several;
}

/* Half of the cells, or more, must be theirs, or each is found by itself. */
static struct cs_party measure(const struct cs_judged_cells *cells, size_t from,
			       size_t n, struct cs_party party)
{
	double *y[2] = { cs_new(double, n), cs_new(double, n) };
	size_t count[2] = { 0, 0 };

	for (size_t i = from; i < from + n; i++) {
		int is = cs_is_of_gpus(cs_judged_row(cells, i), party.gpus,
				       party.sends, party.receives);

		if (!cells->judged[i].unsure)
			y[is][count[is]++] = cells->judged[i].y;
	}
	if (!count[0] || count[1] < count[0])
		return (struct cs_party){ 0 };
	party.usual = cs_median(y[0], count[0]);
	party.off = cs_median(y[1], count[1]) - party.usual;
	return party;
}

static struct cs_party slow_party(const struct cs_judged_cells *cells, size_t from,
				  size_t n)
{
	const struct cs_row *row = cs_judged_row(cells, from);
	const struct cs_run_node *nd = &cells->run->node[row->node];
	const enum cs_family family = cs_family_of(row);
	struct cs_party party = { 0 };
	uint64_t receive;

	if (nd->facts.n_agents < GPUS_LEAST ||
	    !are_equal(cells->run, (int)row->node, family))
		return party;
	cs_ways_of(row, &party.sends, &party.receives);
	if (family != CS_FAMILY_PEER) {
		party.gpus = slow_gpus(cells, from, n, party.sends, party.receives);
	} else {
		party.gpus = slow_gpus(cells, from, n, 1, 0);
		receive = slow_gpus(cells, from, n, 0, 1);
		party.sends = party.gpus != 0;
		party.gpus = party.gpus ? party.gpus : receive;
		party.receives = party.gpus == receive;
	}
	if (!party.gpus || (family == CS_FAMILY_HOST && is_of_sockets(nd, party.gpus)))
		return (struct cs_party){ 0 };
	return measure(cells, from, n, party);
}

void cs_party_shift(struct cs_node_group *g, const struct cs_party *party, double off)
{
	for (size_t i = g->from; i < g->end; i++)
		if (cs_is_of_gpus(cs_judged_row(g->cells, i), party->gpus,
				  party->sends, party->receives))
			g->cells->judged[i].off += off;
}

struct cs_party cs_party_judge(struct cs_node_group *g)
{
	const struct cs_party party = slow_party(g->cells, g->from, g->end - g->from);
	struct cs_anomaly s;

	if (!party.gpus)
		return party;
	for (size_t i = g->from; i < g->end; i++)
		if (!g->cells->judged[i].unsure)
			g->cells->judged[i].off = g->cells->judged[i].y - party.usual;
	s = cs_node_group_anomaly(g, CS_PART_NODE, -1, -1, party.off);
	s.gpus = party.gpus;
	s.others_gbs = exp(party.usual);
	/* the ways to the host may be built so */
	s.most = g->family == CS_FAMILY_HOST ? CS_WEIGHT_WARNING : CS_WEIGHT_ANY;
	s.sends = party.sends;
	s.receives = party.receives;
	cs_node_group_add(g, s);
	cs_party_shift(g, &party, -party.off);
	return party;
}
