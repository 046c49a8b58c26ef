/* assign.h - which rank drives which GPU.  Pure. */
#ifndef CS_JOB_ASSIGN_H
#define CS_JOB_ASSIGN_H

#include "base/err.h"
#include "base/facts.h"

/* What one rank of a node sees. */
struct cs_rank_view {
	int rank;   /* of the job, for messages */
	int masked; /* a visible-devices mask was set for it */
	int n;
	struct cs_gpu_facts gpu[CS_MAX_AGENTS];
};

/* The GPUs that any rank sees, each once (by UUID), in bus-id order.  Returns
 * how many, at most CS_MAX_AGENTS.  `ordinal` is that of the first rank seeing
 * it. */
int cs_gpus_union(const struct cs_rank_view *view, int n_ranks,
		  struct cs_gpu_facts *all);

/* owner[g] = index of the rank that drives all[g], for the GPUs with chosen[g].
 * Ranks that see the same GPUs divide them evenly, in contiguous runs; a rank
 * that alone sees a GPU gets it; overlapping views are served least loaded
 * first.  Ranks left over own nothing.  Two ranks that were each given one and
 * the same GPU by a mask are an error naming both. */
int cs_gpus_assign(const struct cs_rank_view *view, int n_ranks,
		   const struct cs_gpu_facts *all, const char *chosen, int n,
		   int *owner, struct cs_err *err);

/* The device ordinal by which that rank knows this GPU; -1 it does not. */
int cs_view_ordinal(const struct cs_rank_view *view, const char *uuid);

#endif
