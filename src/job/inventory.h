/* inventory.h - the GPUs of a node as bus, NVML and ranks know them, in one list.
 * Pure. */
#ifndef CS_JOB_INVENTORY_H
#define CS_JOB_INVENTORY_H

#include "base/facts.h"
#include "job/assign.h"
#include "place/place.h"

/* Joins what the ranks see by CUDA to a survey (NULL: there is none) by bus id,
 * in that order.  sees[r] gets a bit for each that rank r sees.  Returns how many
 * there are in `all`, at most CS_MAX_AGENTS. */
int cs_inventory_join(const struct cs_survey *survey, const struct cs_rank_view *view,
		      int n_ranks, struct cs_gpu_record *all, uint64_t *sees);

/* What users call gpu[g] of the node's n: its index in bus-id order; "3:1" for an
 * instance of MIG, whose number is NVML's where a survey tells it, else its
 * position in the order of UUIDs. */
void cs_gpu_label(const struct cs_gpu_facts *gpu, int n, int g,
		  const struct cs_survey *survey, char label[12]);

#endif
