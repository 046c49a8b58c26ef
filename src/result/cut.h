/* cut.h - reduces a run to a node or to cells. */
#pragma once

#include "result/run.h"

/* Is that the node's host, its placement or, if no host and no placement has this
 * name, its number? */
int cs_run_is_named(const struct cs_run *run, int node, const char *name);
/* The one node of that name; -1 with the names that there are. */
int cs_run_node_named(const struct cs_run *run, const char *name, struct cs_err *err);
/* Only this node stays, with its rows and findings and those of the job. */
int cs_run_cut_node(struct cs_run *run, int node, struct cs_err *err);

/* Only cells that run->only names stay in run->rows; run->all keeps every row.
 * An error when no node has such a GPU, or the plan no such host memory. */
int cs_run_cut_cells(struct cs_run *run, struct cs_err *err);
