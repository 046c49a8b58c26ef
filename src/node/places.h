/* places.h - where the copies of a sample go: each to a place of its own, so that every
 * one of them can be checked, or one behind the other to the same place.  Pure: issuers
 * and owners find the same.
 *
 * Each has its own place where these have room, in the destination GPU's buffer, and
 * the figure is the same: into a GPU that sends nothing meanwhile.  Where it sends as
 * well, its second-level cache holds what one place has and not what many have: both
 * ways at once lost 1 to 3 % at 64 KiB to 4 MiB on H200, one way nothing that can be
 * told from noise.  There, only a sample that does not count is spread so. */
#ifndef CS_NODE_PLACES_H
#define CS_NODE_PLACES_H

#include "plan/plan.h"

struct cs_places {
	uint64_t at;	 /* of the first, from where destinations begin */
	uint64_t stride; /* from one to the next */
	uint32_t n;	 /* copy i goes to place i % n */
};

/* Of `copies` of a transfer of the step, whose destinations have `room` bytes;
 * `uncounted`: of a sample that does not count. */
struct cs_places cs_places_of(const struct cs_plan *plan, const struct cs_step *step,
			      const struct cs_transfer *t, uint64_t room,
			      uint32_t copies, int uncounted);
/* The same of as many copies as have places of their own. */
struct cs_places cs_places_most(const struct cs_plan *plan, const struct cs_step *step,
				const struct cs_transfer *t, uint64_t room);

#endif
