/* judge.h - judges cells by the baseline and the thresholds of a run.  Pure.
 *
 * A finding lists the cells beyond a bound, by node and matrix, or says what could
 * not be judged.  A cell that already has a finding (`anomalies`,
 * cs_cells_judge; NULL none) is reported in that one. */
#ifndef CS_CHECK_JUDGE_H
#define CS_CHECK_JUDGE_H

#include "result/run.h"

/* By both, and by the lines of sweeps. */
void cs_bounds_judge(struct cs_run *run, struct cs_vec *anomalies);
/* As cs_cells_remeasure(), of cells that are beyond a bound: to the n steps that
 * there are.  Without bounds there are none. */
int cs_bounds_remeasure(struct cs_run *run, uint32_t *step, int n, int most,
			struct cs_err *err);

/* By run->baseline; without one nothing. */
void cs_baseline_judge(struct cs_run *run, struct cs_vec *anomalies);
/* By run->thresholds; without them nothing.  Of several lines that a cell does not
 * meet the gravest counts, the first of equal ones. */
void cs_threshold_judge(struct cs_run *run, struct cs_vec *anomalies);

#endif
