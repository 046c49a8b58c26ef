/* internal.h - what the files that make, trust and read plans share. */
#ifndef CS_PLAN_INTERNAL_H
#define CS_PLAN_INTERNAL_H

#include "plan/plan.h"

/* Where the parts of a plan lie, which it has no room to say when they are too many. */
struct cs_plan_layout {
	uint64_t transfers_at, views_at, total_bytes;
};
void cs_plan_lay_out(uint64_t n_steps, uint64_t n_transfers, uint64_t n_views,
		     struct cs_plan_layout *out);

/* Of all that follows the field `id`. */
uint64_t cs_plan_hash(const struct cs_plan *plan);

int cs_agents_check(int64_t n, struct cs_err *err);
int cs_settings_check(const struct cs_settings *set, struct cs_err *err);

/* To a multiple of CS_ARENA_ALIGN. */
uint64_t cs_align_up(uint64_t bytes);

/* Of a whole step.  What goes into one agent lies by size, so that each begins at a
 * multiple of its own size no further than its place among them. */
void cs_assign_slots(const struct cs_plan *plan, struct cs_transfer *t,
		     uint32_t count);

#endif
