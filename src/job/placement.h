/* placement.h - how the GPUs of a node are divided among processes.  Pure.
 *
 * "process" is one GPU per process, "thread" all GPUs of the node in one process, a
 * number N is N GPUs per process.  A placement is a side of the job: it has its own
 * agents for the same GPUs.  If the ranks are already divided in this way, the agents
 * are in the ranks (native); else in hosts, which helpers of the ranks make. */
#ifndef CS_JOB_PLACEMENT_H
#define CS_JOB_PLACEMENT_H

#include "base/err.h"
#include "base/facts.h"
#include "plan/plan.h"

#define CS_PER_NODE 0 /* GPUs per process: all of the node */

struct cs_placements {
	int n; /* 0: as launched */
	int per_process[CS_SIDES_MAX];
};

/* "process,thread,4". */
int cs_placements_parse(const char *list, struct cs_placements *out,
			struct cs_err *err);

struct cs_placement {
	char name[CS_PLACEMENT]; /* "process", "thread", "4 per process" */
	int native;
	int n_processes;
	int first[CS_MAX_AGENTS + 1]; /* by process: its first agent; then n */
	int maker[CS_MAX_AGENTS];     /* by process: local rank that hosts or makes
					 * it: the owner of its first agent */
};

/* The sides of a node with `n` agents; owner[i] is the local rank that drives agent
 * i. Without placements there is one side, native, named "".  Returns the number of
 * sides; -1 if two would be the same, with several agents.  With fewer all are the
 * same, and the first is native. */
int cs_sides_of(const struct cs_placements *wanted, const int *owner, int n,
		struct cs_placement side[CS_SIDES_MAX], struct cs_err *err);

#endif
