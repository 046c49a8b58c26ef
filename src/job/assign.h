/* assign.h - the GPUs of a node, and which rank drives which.  Pure. */
#pragma once

#include "base/err.h"
#include "base/facts.h"
#include "system/system.h"

/* The GPUs that are visible to one rank of a node. */
struct cs_rank_view {
	int rank;   /* of the job, for messages */
	int masked; /* a visible-devices mask was set for it */
	int n;
	struct cs_gpu_facts gpu[CS_MAX_AGENTS];
};

/* The GPUs that any rank sees, each once (by UUID), in bus-id order.  Returns their
 * number, at most CS_MAX_AGENTS.  `ordinal` is that of the first rank that sees the
 * GPU. */
int cs_gpus_union(const struct cs_rank_view *view, int n_ranks,
		  struct cs_gpu_facts *all);

/* owner[g] = index of the rank that drives all[g], for the GPUs with chosen[g]. Ranks
 * that see the same GPUs divide them evenly, in contiguous runs.  A rank that is the
 * only one to see a GPU gets it.  If views overlap, the rank with the fewest GPUs
 * comes first.  Ranks may own nothing.  It is an error, which names both ranks, if
 * masks give the same single GPU to two ranks. */
int cs_gpus_assign(const struct cs_rank_view *view, int n_ranks,
		   const struct cs_gpu_facts *all, const char *chosen, int n,
		   int *owner, struct cs_err *err);

/* The device ordinal of this GPU for that rank; -1: the rank does not see it. */
int cs_view_ordinal(const struct cs_rank_view *view, const char *uuid);

/* ---- inventory.c: the GPUs that PCI bus, NVML and ranks know, in one list ---- */

/* Join the GPUs that the ranks see through CUDA with a survey (NULL: none), by bus id
 * and in that order.  sees[r] has a bit for each GPU that rank r sees.  Returns the
 * number of GPUs in `all`, at most CS_MAX_AGENTS. */
int cs_inventory_join(const struct cs_survey *survey, const struct cs_rank_view *view,
		      int n_ranks, struct cs_gpu_record *all, uint64_t *sees);

/* The user's name of gpu[g] of the node's n GPUs: its index in bus-id order; "3:1"
 * for a MIG instance, whose number is NVML's if the survey has it, else its position
 * in the order of UUIDs. */
void cs_gpu_label(const struct cs_gpu_facts *gpu, int n, int g,
		  const struct cs_survey *survey, char label[12]);
