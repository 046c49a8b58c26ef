/* judge.h - judges cells by the baseline and the thresholds of a run, and nodes by the
 * facts that are expected of them.  Pure; in an arena.
 *
 * A finding lists the cells beyond a bound, by node and matrix, or those that could
 * not be judged.  A cell that already has a finding (`anomalies`,
 * cs_cells_judge; NULL none) is reported in that one. */
#pragma once

#include "result/run.h"

/* By both and by the lines of sweeps, under CS_CHECK_BASELINE; and by known figures. */
void cs_bounds_judge(struct cs_run *run, struct cs_vec *anomalies);
/* As cs_cells_remeasure(), of cells that are beyond a bound: to the n steps that
 * there are.  Without bounds there are none. */
int cs_bounds_remeasure(struct cs_run *run, uint32_t *step, int n, int most,
			struct cs_err *err);
/* As cs_between_again(): rows between nodes that are beyond a bound. */
int cs_bounds_between(struct cs_run *run, uint32_t *row, int most, struct cs_err *err);

/* By run->baseline; without one nothing. */
void cs_baseline_judge(struct cs_run *run, struct cs_vec *anomalies);
/* By run->thresholds; without them nothing.  Of several lines that a cell does not
 * meet the gravest counts, the first of equal ones. */
void cs_threshold_judge(struct cs_run *run, struct cs_vec *anomalies);

/* site.c: the facts of nodes by run->baseline and run->expected; without both nothing. */
void cs_site_judge(struct cs_run *run);
/* Is that field of a node expected, by --expect or the baseline of its class?  In an
 * arena. */
int cs_site_has(const struct cs_run *run, int node, const char *field);
/* By node: 1 if a baseline knows its class; in the arena. */
const char *cs_site_known(const struct cs_run *run);
