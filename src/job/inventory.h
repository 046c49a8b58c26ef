/* inventory.h - the GPUs that the PCI bus, NVML and the ranks of a node know, in one
 * list. Pure. */
#ifndef CS_JOB_INVENTORY_H
#define CS_JOB_INVENTORY_H

#include "base/facts.h"
#include "job/assign.h"
#include "system/system.h"

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

#endif
