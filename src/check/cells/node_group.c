#include "check/cells/internal.h"

#include <math.h>
#include <stdlib.h>

size_t cs_node_group_choose(struct cs_node_group *g, size_t from)
{
	g->from = from;
	g->end = cs_judged_cells_node_end(g->cells, from);
	g->node = (int)g->cells->judged[from].node;
	g->nd = &g->cells->run->node[g->node];
	return g->end;
}

static int place_of(const struct cs_endpoint *end)
{
	return !cs_endpoint_is_numa(end)   ? end->index :
	       end->index == CS_NUMA_LOCAL ? 0 :
					     end->index + 1;
}

void cs_node_group_fit(struct cs_node_group *g)
{
	struct cs_effects *effects = &g->effects;

	effects->rows = effects->cols = 0;
	for (int i = 0; i < CS_EFFECTS_MOST; i++)
		for (int k = 0; k < CS_EFFECTS_MOST; k++)
			effects->cell[i][k] = NAN;
	for (size_t i = g->from; i < g->end; i++) {
		const struct cs_row *row = cs_judged_row(g->cells, i);
		int from = place_of(&row->what.src), to = place_of(&row->what.dst);

		if (g->family == CS_FAMILY_LOCAL)
			from = 0;
		if (isnan(g->cells->judged[i].off))
			continue;
		effects->cell[from][to] = g->cells->judged[i].off;
		effects->rows = from >= effects->rows ? from + 1 : effects->rows;
		effects->cols = to >= effects->cols ? to + 1 : effects->cols;
	}
	cs_effects_polish(effects);
}

struct cs_anomaly cs_node_group_anomaly(const struct cs_node_group *g,
					enum cs_part part, int a, int b, double off)
{
	return (struct cs_anomaly){
		.node = g->node,
		.part = part,
		.family = g->family,
		.cause = CS_CAUSE_SLOW,
		.a = a,
		.b = b,
		.drop = -expm1(off),
		.sure = -off / g->spread,
		.nodes = g->nodes,
		.tests = 1,
		.test = cs_judged_row(g->cells, g->from)->test,
	};
}

/* A cell, and how slow it is by this part of the node alone. */
struct witness {
	struct cs_judged_cell *judged;
	double off;
};

CS_ORDERING(by_off, struct witness, CS_ORDER(a->off, b->off),
	    CS_ORDER(a->judged->at, b->judged->at))

/* A node that is slow does not prove that a GPU of it is, nor a GPU its links. */
static struct witness witness_of(const struct cs_node_group *g, enum cs_part part,
				 size_t i)
{
	const struct cs_row *row = cs_judged_row(g->cells, i);
	struct cs_judged_cell *judged = &g->cells->judged[i];
	int from = place_of(&row->what.src), to = place_of(&row->what.dst);
	double off = judged->off;

	if (part == CS_PART_LINK)
		off = g->effects.cell[from][to];
	else if (part == CS_PART_GPU && g->nodes)
		off -= g->effects.whole;
	return (struct witness){ judged, off };
}

/* Found because parts between GPUs are known closely, but too little to drain a node. */
static int is_little(const struct cs_anomaly *anomaly)
{
	double spreads = anomaly->part != CS_PART_LINK	     ? CS_OF_MANY :
			 anomaly->sends && anomaly->receives ? CS_OF_PAIR :
							       CS_OF_ONE_WAY;

	return -log1p(-anomaly->drop) < spreads * CS_SPREAD_LEAST;
}

void cs_node_group_add(struct cs_node_group *g, struct cs_anomaly anomaly)
{
	struct witness *at = cs_new(struct witness, g->end - g->from);
	size_t n = 0, slow = 0, many = 0;

	for (size_t i = g->from; i < g->end; i++) {
		struct witness witness = witness_of(g, anomaly.part, i);

		if (!(witness.off < log1p(-anomaly.drop) / 2) ||
		    !cs_anomaly_bears(g->cells->run, &anomaly,
				      cs_judged_row(g->cells, i)))
			continue;
		slow++;
		if (cs_is_beyond_noise(witness.off, witness.judged->noise, g->noise))
			at[n++] = witness;
	}
	n = 2 * n < slow ? 0 : n;
	qsort(at, n, sizeof(*at), by_off);
	for (size_t i = 0; i < n; i++)
		many += (size_t)cs_is_of_many(at[i].judged->alike, g->nodes);
	anomaly.is_of_many = 2 * many > n;
	if (anomaly.is_of_many || is_little(&anomaly))
		anomaly.most = CS_WEIGHT_WARNING;
	anomaly.slower = n ? at[0].judged->slower : 0;
	for (size_t i = 0; i < n; i++) {
		at[i].judged->slow = 1;
		cs_anomaly_row(&anomaly, at[i].judged->at, at[i].off);
	}
	if (n)
		cs_list_push(g->anomalies, &anomaly);
}
