/* node_group.h - the cells of one node in one group, as outliers are found among them, and
 * an anomaly with the cells that show it. */
#pragma once

#include "check/cells/locate.h"
#include "check/cells/usual.h"

/* In spreads. */
#define CS_OF_MANY 3.0	  /* many cells of a row or column agree */
#define CS_OF_PAIR 4.0	  /* both ways of it */
#define CS_OF_ONE_WAY 8.0

/* The cells of one node in one group. */
struct cs_node_group {
	struct cs_judged_cells *cells;
	struct cs_vec *anomalies;
	const struct cs_run_node *nd;
	size_t from, end; /* judged[from..end) */
	int node, nodes;  /* nodes: that the usual figure is of; 0: its own cells */
	enum cs_family family;
	double spread; /* of healthy ones, as logarithms … */
	/* … of GPUs less their node, of links less their GPUs */
	double spread_gpu, spread_link;
	double noise; /* of the figure that is usual */
	struct cs_fit fit;
};

/* Choose the node whose cells begin at judged[from]; where those of the next begin. */
size_t cs_node_group_choose(struct cs_node_group *g, size_t from);
/* Fit the matrix of its cells. */
void cs_node_group_fit(struct cs_node_group *g);

struct cs_anomaly cs_node_group_anomaly(const struct cs_node_group *g,
					enum cs_part part, int a, int b, double off);
/* Add it with the slow cells that it explains, the slowest first: at least half as slow.
 * Those whose noise could make them so do not count, and if they are most, no cell
 * does. */
void cs_node_group_add(struct cs_node_group *g, struct cs_anomaly anomaly);

/* parts.c: the GPUs, links and ways between sockets of the node that are slow. */
void cs_parts_judge(struct cs_node_group *g);
/* Set the spreads of GPUs and links by the nodes of a group, judged[from..end). */
void cs_parts_settle(struct cs_node_group *g, size_t from, size_t end);

/* GPUs that are slow alike, in one direction or both. */
struct cs_party {
	uint64_t gpus; /* bits; 0: none are */
	int sends, receives;
	double usual, off; /* of the other cells, how slow theirs are; logarithms */
};
/* parties.c: half of the cells or more are of slow GPUs: they are compared with the others,
 * and what else there is with their like. */
struct cs_party cs_party_judge(struct cs_node_group *g);
/* Add `off` to the cells of these GPUs. */
void cs_party_shift(struct cs_node_group *g, const struct cs_party *party, double off);
