/* internal.h - what the files of check/verdict/ find, for check.c alone. */
#ifndef CS_CHECK_VERDICT_INTERNAL_H
#define CS_CHECK_VERDICT_INTERNAL_H

#include "result/judge.h"

/* ---- cells: rows.c ---- */

/* What became of the node's cells; `told`: the findings that were there before. */
int cs_rows_judge(struct cs_run *run, int node, const struct cs_by_node *told,
		  struct cs_err *err);
/* Others came while we measured: rows that they may have met are flagged. */
void cs_in_use_mark(struct cs_run *run);
/* GPUs that others use, and what that did to cells. */
int cs_in_use_judge(struct cs_run *run, int node, struct cs_err *err);

/* ---- samples: depend.c ---- */

/* Matrices whose samples depend on each other by more than intervals allow for: a note
 * for each node. */
int cs_depend_judge(struct cs_run *run, struct cs_err *err);

/* launch.c: GPUs that are not where they should be, on every run; what the way a
 * job was started costs it, under --check=launch. */
int cs_check_launch(struct cs_run *run, int node, struct cs_err *err);

#endif
