/* outlier.c - cells that are slower than their like, and what they have in common.
 *
 * A cell is compared with the same cell of the other nodes of its class if at least five
 * have measured it, else against the cells of its own node over the same kind of link.
 * How far apart healthy ones are is measured in the same figures, and taken to be at
 * least 1 %: nodes differ by 0.3 %, runs by 0.1 %, and one NVLink of 18 is 5.6 %.
 *
 * A cell within its own noise plus that of the figure it is compared with is no evidence
 * (judged.c). */
#include "check/cells/internal.h"
#include "check/link/expect.h"

/* Few nodes: each is compared with itself, by the spread of all of them. */
static void judge_each(struct cs_node_group *g, size_t from, size_t end)
{
	struct cs_likes likes = { CS_LIST(double), 0 };
	struct {
		struct cs_party party;
		double noise;
	} nodes[CS_NODES_LEAST], *of = nodes;

	for (size_t i = from; i < end; of++) {
		i = cs_node_group_choose(g, i);
		g->noise = of->noise = cs_usual_of_node(g->cells, g->from, g->end);
		of->party = cs_party_judge(g);
		if (g->family != CS_FAMILY_PEER)
			cs_likes_take(&likes, g->cells, g->from, g->end);
	}
	of = nodes;
	for (size_t i = from; i < end; of++) {
		g->spread_gpu = g->spread = cs_likes_spread(&likes);
		i = cs_node_group_choose(g, i);
		g->noise = of->noise;
		cs_parts_judge(g);
		cs_party_shift(g, &of->party, of->party.off);
	}
}

static void judge_fleet(struct cs_node_group *g, size_t from, size_t end)
{
	g->spread = cs_usual_of_nodes(g->cells, from, end, &g->noise);
	g->spread_gpu = g->spread_link = g->spread;
	/* the figures of host links and memory are each their own */
	if (g->family == CS_FAMILY_PEER)
		cs_parts_settle(g, from, end);
	while (from < end) {
		from = cs_node_group_choose(g, from);
		cs_parts_judge(g);
	}
}

static void judge_group(struct cs_node_group *g, size_t from, size_t end)
{
	const struct cs_judged_cells *cells = g->cells;
	const struct cs_row *row = cs_judged_row(cells, from);
	int nodes = 0;

	for (size_t i = from; i < end; i = cs_judged_cells_node_end(cells, i))
		nodes++;
	g->family = cs_family_of(row);
	g->nodes = nodes >= CS_NODES_LEAST ? nodes : 0;
	g->spread = CS_SPREAD_LEAST;
	g->noise = 0;
	if (g->nodes)
		judge_fleet(g, from, end);
	/* loads of others differ from GPU to GPU */
	else if (cs_own_concurrent(cells->run, row) <= 1)
		judge_each(g, from, end);
}

void cs_outliers_find(struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct cs_node_group *g = cs_new(struct cs_node_group, 1);

	g->cells = cells;
	g->anomalies = anomalies;
	for (size_t i = 0, k; i < cells->n; i = k) {
		k = cs_judged_cells_group_end(cells, i);
		judge_group(g, i, k);
	}
}
