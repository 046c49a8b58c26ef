/* copy.h - the copies that an agent enqueues for a transfer, and their result in
 * memory. */
#pragma once

#include "node/agent/memory.h"
#include "plan/plan.h"

/* Does the agent enqueue anything for it? */
int cs_copy_is_mine(const struct cs_endpoints *ends, const struct cs_transfer *t);
/* The copy that it enqueues, `copies` times; `uncounted`: the sample does not count. */
struct cs_copy cs_copy_of(const struct cs_endpoints *ends,
			  const struct cs_transfer *t, uint32_t copies, int uncounted);
/* The kind of copy, which depends on the transport to the other end. */
uint32_t cs_copy_kind(const struct cs_endpoints *ends, const struct cs_transfer *t);
/* The seed of a chain's order; 0: one node after the other. */
uint64_t cs_copy_chain_seed(const struct cs_endpoints *ends,
			    const struct cs_transfer *t);
/* The bytes that the last sample left of the step's k-th transfer. */
struct cs_left cs_copy_left(const struct cs_endpoints *ends, uint32_t k);

/* ---- copy_offsets.c ---- */

/* Offsets of the copies of a sample: each has its own place, so that every one of them
 * can be checked, or one after the other to the same place.  Pure:
 * issuers and owners compute the same places.
 *
 * Each copy has its own place if the destination GPU's buffer has room and the figure
 * stays the same, that is, if the destination GPU sends nothing at the same time.  If
 * it sends, its second-level cache holds one place but not many: on H200 both
 * directions at once lost 1 to 3 % at 64 KiB to 4 MiB, and one direction nothing
 * above noise.  Then only a sample that does not count is spread over several
 * places. */

struct cs_copy_offsets {
	uint64_t at;	 /* offset of the first in the destination */
	uint64_t stride; /* from one to the next */
	uint32_t n;	 /* copy i goes to place i % n */
};

/* The places of `copies` copies of a transfer of the step, in `room` bytes;
 * `uncounted`: the sample does not count. */
struct cs_copy_offsets cs_copy_offsets_of(const struct cs_plan *plan,
					  const struct cs_step *step,
					  const struct cs_transfer *t, uint64_t room,
					  uint32_t copies, int uncounted);
/* The same, for as many copies as can have their own places. */
struct cs_copy_offsets cs_copy_offsets_most(const struct cs_plan *plan,
					    const struct cs_step *step,
					    const struct cs_transfer *t,
					    uint64_t room);
