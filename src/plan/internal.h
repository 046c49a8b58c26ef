/* internal.h - what the files that make, trust and read plans share. */
#ifndef CS_PLAN_INTERNAL_H
#define CS_PLAN_INTERNAL_H

#include "plan/plan.h"

/* Where the parts of a plan lie, which it has no room to say when they are too many. */
struct cs_plan_layout {
	uint64_t transfers_at, matrices_at, total_bytes;
};
void cs_plan_lay_out(uint64_t n_steps, uint64_t n_transfers, uint64_t n_matrices,
		     struct cs_plan_layout *out);

/* Of all that follows the field `id`. */
uint64_t cs_plan_hash(const struct cs_plan *plan);

/* ---- trust.c: what may be asked for, each rule once ---- */

/* That many agents, and these settings? */
int cs_request_check(int64_t n_agents, const struct cs_settings *set,
		     struct cs_err *err);
/* A test, by the backend and the --via of these settings? */
int cs_test_check(const struct cs_test *test, const struct cs_settings *set,
		  struct cs_err *err);
/* May a step have this name?  "" is none. */
int cs_step_name_is_sound(const char *name);
/* The first step that cannot run beside the others of its round; n_steps: all can. */
uint32_t cs_plan_bad_round(const struct cs_plan *plan);

/* How many steps measure for each matrix, control steps apart. */
void cs_plan_count_steps(const struct cs_plan *plan, uint32_t steps[CS_MATRICES_MAX]);
/* The memory of an agent as an end. */
struct cs_endpoint cs_agent_end(const struct cs_settings *set, uint32_t agent);

/* Of a whole step.  What goes into one agent lies by size, so that each begins at a
 * multiple of its own size no further than its place among them. */
void cs_assign_slots(const struct cs_plan *plan, struct cs_transfer *t,
		     uint32_t count);

#endif
