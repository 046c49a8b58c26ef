/* division.h - how the GPUs of a node are divided among processes.  Pure.
 *
 * "process" is one GPU per process, "thread" all GPUs of the node in one process, a
 * number N is N GPUs per process.  Each placement has its own agents for the same
 * GPUs (placements.h).  If the ranks are already divided in this way, the agents
 * are in the ranks (native); else in hosts, which helpers of the ranks make. */
#pragma once

#include "base/err.h"
#include "base/facts.h"
#include "plan/plan.h"

#define CS_PER_NODE 0 /* GPUs per process: all of the node */

/* The requested placements. */
struct cs_placement_list {
	int n; /* 0: as launched */
	int per_process[CS_PLACEMENTS_MAX];
};

/* "process,thread,4". */
int cs_placement_list_parse(const char *list, struct cs_placement_list *out,
			    struct cs_err *err);

struct cs_placement {
	char name[CS_PLACEMENT]; /* "process", "thread", "4 per process" */
	int native;
	int n_processes;
	int first[CS_MAX_AGENTS + 1]; /* by process: its first agent; then n */
	int maker[CS_MAX_AGENTS];     /* by process: local rank that hosts or makes
					 * it: the owner of its first agent */
};

/* The placements of a node with `n` agents; owner[i] is the local rank that drives
 * agent i.  Without requested ones there is one, native, named "".  Returns their
 * number; -1 if two would be the same, with several agents.  With fewer all are the
 * same, and the first is native. */
int cs_placement_divide(const struct cs_placement_list *wanted, const int *owner,
			int n, struct cs_placement p[CS_PLACEMENTS_MAX],
			struct cs_err *err);
