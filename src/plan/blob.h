/* blob.h - the layout of a plan as one blob, and the fields that follow from others.
 * For the files that make plans, and the one that checks them. */
#ifndef CS_PLAN_BLOB_H
#define CS_PLAN_BLOB_H

#include "plan/plan.h"

/* The offsets of a plan's parts, in 64 bits: those of too large a plan do not fit its
 * own fields. */
struct cs_plan_layout {
	uint64_t transfers_at, matrices_at, total_bytes;
};
void cs_plan_lay_out(uint64_t n_steps, uint64_t n_transfers, uint64_t n_matrices,
		     struct cs_plan_layout *out);

/* The hash of everything after the field `id`. */
uint64_t cs_plan_hash(const struct cs_plan *plan);

/* Count the steps that measure for each matrix, without control steps. */
void cs_plan_count_steps(const struct cs_plan *plan, uint32_t steps[CS_MATRICES_MAX]);
/* Set the slots of all transfers of a step.  Those into one agent are placed by size,
 * so that each begins at a multiple of its own size, no further than its rank among
 * them. */
void cs_assign_slots(const struct cs_plan *plan, struct cs_transfer *t,
		     uint32_t count);

#endif
