/* spread.h - statistics of many cells: their median, spreads, and medians of places
 * (baseline.h defines them).  Pure. */
#ifndef CS_CHECK_SPREAD_H
#define CS_CHECK_SPREAD_H

#include "check/bounds/baseline.h"

/* One figure of a cell, and where it is from. */
struct cs_figure {
	struct cs_baseline_stat key; /* class, test, metric, bytes, kind of link alone */
	const char *host;
	uint32_t run, node;
	int src, dst;	     /* agents or NUMA nodes */
	double value, level; /* level: the median of its node in its run; set here */
};

/* Append the statistics of figures, one or more, which are of runs below n_runs; they
 * get sorted. */
void cs_figures_add(struct cs_baseline *b, struct cs_vec *figures, size_t n_runs);

#endif
