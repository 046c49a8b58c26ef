/* cells.h - judges cells: which are slow, where the fault is, and how certain that
 * is. Pure: same rows, same findings in the same order.
 *
 * --check=outlier compares cells with similar ones (outlier.c), --check=link with the
 * links that are live now (expect.h); known signatures (signatures.c) explain a slow
 * cell.  No node is drained because of one measurement: a live run re-measures
 * suspicious cells and their neighbours (cs_cells_remeasure; their rows are flagged
 * CS_ROW_REMEASURED).  Only a confirmed figure, or a fact, is critical.  Links that are
 * down or slower than possible are facts: every run that measures has them, and only
 * --check makes them count. */
#pragma once

#include "result/run.h"

/* Append the findings under run->checks, and links that are down or below in any case.
 * `anomalies`, a list of struct cs_anomaly, is filled for the judges of bounds.  In an
 * arena. */
void cs_cells_judge(struct cs_run *run, struct cs_vec *anomalies);

/* Steps of a node that are carried out once more at a time, at most. */
#define CS_REMEASURE_MOST 32
/* A run of one node that is still under way: the steps of the plan to be carried out
 * once more, at most `most`, in order: suspicious cells, of each a neighbour with the
 * same GPU in its row and in its column, and control cells that are above suspicion.
 * After these an anomaly's cell once more, if it is its only one.
 * Returns how many; -1 with `err`. */
int cs_cells_remeasure(struct cs_run *run, uint32_t *step, int most,
		       struct cs_err *err);
/* A run of several nodes, each of which has re-measured by itself: find the cells that
 * only the comparison of nodes makes suspicious, and that were not re-measured.  Appends
 * to `remeasure` (struct cs_remeasure) in order of nodes. */
int cs_fleet_remeasure(struct cs_run *run, struct cs_vec *remeasure,
		       struct cs_err *err);
