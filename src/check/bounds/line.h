/* line.h - alpha and 1 / beta of sweeps: learns those of healthy nodes, and judges
 * nodes by them.  Pure.
 *
 * A line is the median over all cells of a node; slow single cells are found by their
 * sizes.  The bound combines three uncertainties: how much nodes differ, how much
 * runs differ (as seen, or as the few seen allow, cs_baseline_bound), and the
 * interval of each fit (fit.h).  It is the root of the sum of their squares, times
 * the number of standard deviations that cells are judged by, and at least 5 %. */
#pragma once

#include "check/bounds/baseline.h"

/* The result of a node in a run. */
struct cs_line_seen {
	struct cs_baseline_line line; /* nodes and runs 0 */
	const char *host;
	uint32_t run;
};

/* Appends those of a node, in all else `like` that. */
void cs_lines_see(const struct cs_run *run, int node, const struct cs_line_seen *like,
		  struct cs_vec *to);
/* Add many results (cs_line_seen), which get sorted, as lines of a baseline. */
void cs_lines_add(struct cs_baseline *b, struct cs_vec *all);
/* Judge nodes by run->baseline, if there is one; sweeps that it does not have are passed
 * over. */
void cs_lines_judge(struct cs_run *run);
