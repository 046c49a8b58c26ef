/* cut.h - reduces a run to the part that somebody wants to see. */
#ifndef CS_RESULT_CUT_H
#define CS_RESULT_CUT_H

#include "result/run.h"

/* Is the node called so: by its host, its placement, or its number, where no host and
 * no placement is called so? */
int cs_run_is_named(const struct cs_run *run, int node, const char *name);
/* The one node that is called so; -1 with what there is. */
int cs_run_node_named(const struct cs_run *run, const char *name, struct cs_err *err);
/* Only this node stays, with its rows and findings and those of the job. */
int cs_run_cut_node(struct cs_run *run, int node, struct cs_err *err);

/* Only cells that run->only names stay in run->rows; run->all keeps every row.
 * An error when no node has such a GPU, or the plan no such host memory. */
int cs_run_cut_cells(struct cs_run *run, struct cs_err *err);

#endif
