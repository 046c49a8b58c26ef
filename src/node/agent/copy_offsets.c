#include "node/agent/copy.h"

/* Does the agent send, in that step? */
static int sends(const struct cs_plan *plan, const struct cs_step *step, int agent)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_endpoint *src = &cs_plan_transfer(plan, step, k)->src;

		if (!cs_endpoint_is_numa(src) && src->index == agent &&
		    !cs_transfer_is_flops(cs_plan_transfer(plan, step, k)))
			return 1;
	}
	return 0;
}

/* Count the transfers of the step with this destination, and those of them before this
 * one; 0 if they are not alike. */
static uint32_t count_alike(const struct cs_plan *plan, const struct cs_step *step,
			    const struct cs_transfer *t, uint32_t *before)
{
	uint32_t n = 0;

	*before = 0;
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *other = cs_plan_transfer(plan, step, k);

		if (cs_endpoint_is_numa(&other->dst) ||
		    other->dst.index != t->dst.index || cs_transfer_is_flops(other))
			continue;
		if (!cs_transfer_rotates(other) || other->bytes != t->bytes)
			return 0;
		*before += other < t;
		n++;
	}
	return n;
}

struct cs_copy_offsets cs_copy_offsets_most(const struct cs_plan *plan,
					    const struct cs_step *step,
					    const struct cs_transfer *t, uint64_t room)
{
	struct cs_copy_offsets p = { cs_transfer_dst_at(plan, t),
				     cs_transfer_stride(t), 1 };
	uint32_t before, alike;
	uint64_t n;

	if (!cs_transfer_rotates(t))
		return p;
	alike = count_alike(plan, step, t, &before);
	if (room > CS_PLACES_BYTES)
		room = CS_PLACES_BYTES;
	n = alike ? room / alike / p.stride : 0;
	if (n > cs_copies_most(t->bytes))
		n = cs_copies_most(t->bytes);
	return n < 2 ? p :
		       (struct cs_copy_offsets){ before * n * p.stride, p.stride,
						 (uint32_t)n };
}

struct cs_copy_offsets cs_copy_offsets_of(const struct cs_plan *plan,
					  const struct cs_step *step,
					  const struct cs_transfer *t, uint64_t room,
					  uint32_t copies, int uncounted)
{
	struct cs_copy_offsets one = { cs_transfer_dst_at(plan, t),
				       cs_transfer_stride(t), 1 };
	struct cs_copy_offsets most;

	if (copies < 2 || !cs_transfer_rotates(t) ||
	    (!uncounted && sends(plan, step, t->dst.index)))
		return one;
	most = cs_copy_offsets_most(plan, step, t, room);
	if (most.n < copies)
		return one;
	most.n = copies;
	return most;
}
