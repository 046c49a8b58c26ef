#include "plan/plan.h"

#include <string.h>

/* The blob travels and is hashed as bytes: no padding anywhere, and every part is
 * aligned. */
_Static_assert(sizeof(struct cs_settings) == 152 + CS_FILTER,
	       "padding in cs_settings");
_Static_assert(sizeof(struct cs_plan) == 208 + CS_FILTER, "padding in cs_plan");
_Static_assert(sizeof(struct cs_step) == 56, "padding in cs_step");
_Static_assert(sizeof(struct cs_transfer) == 56, "padding in cs_transfer");
_Static_assert(sizeof(struct cs_plan_matrix) == 40, "padding in cs_plan_matrix");

void cs_plan_lay_out(uint64_t n_steps, uint64_t n_transfers, uint64_t n_matrices,
		     struct cs_plan_layout *out)
{
	out->transfers_at = sizeof(struct cs_plan) + n_steps * sizeof(struct cs_step);
	out->matrices_at = out->transfers_at +
			   n_transfers * sizeof(struct cs_transfer);
	out->total_bytes = out->matrices_at +
			   n_matrices * sizeof(struct cs_plan_matrix);
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo), of all that follows the field `id`. */
uint64_t cs_plan_hash(const struct cs_plan *plan)
{
	const size_t from = offsetof(struct cs_plan, id) + sizeof(plan->id);
	const unsigned char *byte = (const unsigned char *)plan + from;
	const unsigned char *end = (const unsigned char *)plan + plan->total_bytes;
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; byte < end; byte++)
		hash = (hash ^ *byte) * 0x100000001b3ull;
	return hash;
}

void cs_plan_count_steps(const struct cs_plan *plan, uint32_t steps[CS_MATRICES_MAX])
{
	uint32_t i;

	memset(steps, 0, CS_MATRICES_MAX * sizeof(*steps));
	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);

		for (uint32_t k = 0;
		     k < step->count && !(step->flags & CS_STEP_CONTROL); k++) {
			for (i = 0; i < k; i++) /* once for each matrix */
				if (t[i].matrix == t[k].matrix &&
				    !cs_transfer_is_load(&t[i]))
					break;
			steps[t[k].matrix] += i == k && !cs_transfer_is_load(&t[k]);
		}
	}
}

/* ---- slots ---- */

/* The number of host ends in that direction before it. */
static uint8_t host_slot(const struct cs_transfer *t, uint32_t k, int is_dst)
{
	uint32_t before = 0;

	if (!cs_endpoint_is_numa(is_dst ? &t[k].dst : &t[k].src))
		return 0;
	for (uint32_t i = 0; i < k; i++)
		before += cs_endpoint_is_numa(is_dst ? &t[i].dst : &t[i].src) != 0;
	return (uint8_t)before;
}

/* Ascending by size, equal ones in their order. */
static void order_by_span(const struct cs_plan *plan, const struct cs_transfer *t,
			  uint32_t count, uint32_t *order)
{
	uint32_t k;

	for (uint32_t i = 0; i < count; i++) {
		for (k = i; k && cs_transfer_span(plan, &t[order[k - 1]]) >
					 cs_transfer_span(plan, &t[i]);
		     k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

void cs_assign_slots(const struct cs_plan *plan, struct cs_transfer *t, uint32_t count)
{
	uint32_t order[CS_STEP_MAX];
	uint64_t end[CS_MAX_AGENTS] = { 0 };

	order_by_span(plan, t, count, order);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = order[i];
		uint64_t own = cs_arena_aligned(cs_transfer_span(plan, &t[k]));

		t[k].src_slot = cs_transfer_test(plan, &t[k])->pattern ==
						CS_PATTERN_SHARED ?
					0 :
					host_slot(t, k, 0);
		t[k].dst_slot = host_slot(t, k, 1);
		if (cs_endpoint_is_numa(&t[k].dst) ||
		    t[k].method == CS_METHOD_CHASE || cs_transfer_is_flops(&t[k]))
			continue;
		t[k].dst_slot = (uint8_t)((end[t[k].dst.index] + own - 1) / own);
		end[t[k].dst.index] = (t[k].dst_slot + 1) * own;
	}
}
