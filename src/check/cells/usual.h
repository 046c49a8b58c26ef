/* usual.h - the usual figure of a cell, and how far healthy ones are apart.  Of few
 * nodes each is compared with itself, of CS_NODES_LEAST with the others. */
#pragma once

#include "check/cells/anomaly.h"

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
