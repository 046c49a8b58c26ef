/* blob.h - a plan as one blob: where its parts lie, and what follows from the rest of it.
 * For the files that make plans, and the one that checks them. */
#ifndef CS_PLAN_BLOB_H
#define CS_PLAN_BLOB_H

#include "plan/plan.h"

/* Where the parts of a plan lie, which it has no room to say when they are too many. */
struct cs_plan_layout {
	uint64_t transfers_at, matrices_at, total_bytes;
};
void cs_plan_lay_out(uint64_t n_steps, uint64_t n_transfers, uint64_t n_matrices,
		     struct cs_plan_layout *out);

/* Of all that follows the field `id`. */
uint64_t cs_plan_hash(const struct cs_plan *plan);

/* How many steps measure for each matrix, control steps apart. */
void cs_plan_count_steps(const struct cs_plan *plan, uint32_t steps[CS_MATRICES_MAX]);
/* Of a whole step.  What goes into one agent lies by size, so that each begins at a
 * multiple of its own size no further than its place among them. */
void cs_assign_slots(const struct cs_plan *plan, struct cs_transfer *t,
		     uint32_t count);

#endif
