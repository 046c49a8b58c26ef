/* line.h - alpha and 1 / beta of sweeps: what healthy nodes have, and nodes judged by it.
 * Pure.
 *
 * A line is the middle of all cells of a node; which cell is slow the sizes themselves
 * tell.  Nodes and runs differ by as much as is seen, or as the few that were seen allow
 * (cs_baseline_bound), and each is a fit, known by an interval (fit.h): what is too much
 * is the root of the sum of the squares of all of it, by as many standard deviations as
 * cells are judged by, and 5 % at least. */
#ifndef CS_CHECK_LINE_H
#define CS_CHECK_LINE_H

#include "check/bounds/baseline.h"

/* What a node has in a run. */
struct cs_line_seen {
	struct cs_baseline_line line; /* nodes and runs 0 */
	const char *host;
	uint32_t run;
};

/* Appends those of a node, in all else `like` that. */
int cs_lines_see(const struct cs_run *run, int node, const struct cs_line_seen *like,
		 struct cs_vec *to, struct cs_err *err);
/* What many have seen (cs_line_seen), which get sorted, as lines of a baseline. */
int cs_lines_add(struct cs_baseline *b, struct cs_vec *all, struct cs_err *err);
/* Nodes by run->baseline; without one nothing, and what it does not have is passed
 * over. */
int cs_lines_judge(struct cs_run *run, struct cs_err *err);

#endif
