/* internal.h - the parts that judge cells, for the files of check/cells/ alone. */
#pragma once

#include "base/facts.h"
#include "check/cells/anomaly.h"
#include "plan/plan.h"

/* ---- locate.c: finds the rows, columns and single places of a matrix that are slow ----
 *
 * Only arithmetic: it knows no nodes or GPUs.  The model is figure = whole x row x column
 * x rest, a sum of logarithms.  It is fitted by median polish (Tukey, Exploratory Data
 * Analysis, 1977, ch. 11), in which a few bad places do not affect the rest.  The median
 * of an even count is the greater of the middle two, because faults make cells slow: so 1
 * bad GPU of 3 does not make the others look fast. */

#define CS_EFFECTS_MOST ((int)CS_NUMA_MOST + 1) /* rows and columns: agents, or NUMA nodes */

struct cs_effects {
	int rows, cols;
	/* In: logarithms, NAN none.  Out: the residuals. */
	double cell[CS_EFFECTS_MOST][CS_EFFECTS_MOST];
	double whole;
	double row[CS_EFFECTS_MOST], col[CS_EFFECTS_MOST];    /* NAN: has no cell */
	int in_row[CS_EFFECTS_MOST], in_col[CS_EFFECTS_MOST]; /* cells */
};

void cs_effects_polish(struct cs_effects *effects);

/* The greater of the middle two; x is sorted.  NAN of none. */
double cs_upper_median(double *x, size_t n);
/* Median distance from the median, scaled to the standard deviation of a normal
 * distribution; overwrites x.  0 of none. */
double cs_scaled_mad(double *x, size_t n);

/* ---- usual.c: the usual figure of a cell, and how far healthy ones are apart ----
 *
 * Of few nodes each is compared with itself, of CS_NODES_LEAST with the others. */

#define CS_NODES_LEAST 5
#define CS_SPREAD_LEAST CS_OFF_FLOOR

/* The spread of healthy figures, estimated from these n; overwrites x. */
double cs_spread_of(double *x, size_t n, double least);

/* Set `off` of the cells of one node in one group, judged[from..end), by those of its own
 * that are alike.  Returns the noise of the usual figure. */
double cs_usual_of_node(struct cs_judged_cells *cells, size_t from, size_t end);
/* The same of a group on all nodes, by the same cell of the others; their spread. */
double cs_usual_of_nodes(struct cs_judged_cells *cells, size_t from, size_t end,
			 double *noise);

/* How far figures that are alike, of one node each, are apart. */
struct cs_likes {
	struct cs_vec pairs; /* list of double */
	size_t free;	     /* figures, less one for each usual one */
};
void cs_likes_take(struct cs_likes *to, const struct cs_judged_cells *cells,
		   size_t from, size_t end);
double cs_likes_spread(const struct cs_likes *of);

/* Returns how many of n nodes are faster than the node at `own`, which is `off` below
 * the usual figure; y[]: the nodes' figures, ascending.  *alike: how many are as slow,
 * itself included.  A node is as slow if it is nearer to `own` than half of `off`. */
int cs_count_nodes(const double *y, size_t n, double own, double off, int *alike);
/* Are so many slow alike that they have a common cause?  None of them is drained. */
int cs_is_of_many(int alike, int nodes);

/* ---- medians.c: nodes and sockets as one figure each; whole.c makes anomalies of the
 * slow ones ---- */

#define CS_OF_ONE_FAMILY 0.04 /* slow by less is nothing, as a logarithm */
#define CS_NODES_SHOW 3	   /* so many nodes show which of them is slow */

/* The cells judged[from..end) of one test on a node, or those of a socket, as one. */
struct cs_whole {
	int node, socket; /* socket: NUMA node; -1 the node */
	uint32_t family, test;
	size_t from, end;
	/* compared, itself too; those that it is slower than; as slow, itself too */
	int nodes, slower, alike;
	int sends, receives; /* as anomalies have it */
	size_t cells;
	double y; /* the median of their figures, as a logarithm */
	double beside,
		lowest;	    /* of a socket: less that of the fastest other one of its
				* node; that of the slowest one of its node */
	double off, spread; /* of the usual figure; between healthy ones */
	double noise;
};

struct cs_wholes {
	const struct cs_judged_cells *cells;
	struct cs_vec all; /* struct cs_whole */
	struct cs_vec *anomalies;
};

/* Is that cell one of those? */
int cs_is_of_whole(const struct cs_wholes *w, const struct cs_whole *of, size_t i);
/* Append the nodes and sockets of one group, of all nodes of a class: judged[from..end). */
void cs_wholes_take(struct cs_wholes *w, size_t from, size_t end);

/* ---- node_group.c: the cells of one node in one group, and an anomaly with the cells
 * that show it ---- */

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
	struct cs_effects effects;
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
