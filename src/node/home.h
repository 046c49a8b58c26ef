/* home.h - before a sample: the ends of its transfers, and the caches before them, as
 * the variants of these want them.
 *
 * All gates of the process are open, so calls may block; between this and the gate nothing
 * but arming happens.  Transfers of no variant need none of it. */
#ifndef CS_NODE_HOME_H
#define CS_NODE_HOME_H

#include "node/carry.h"
#include "node/endpoints.h"
#include "place/flush.h"

/* Does any transfer of the step want it? */
int cs_home_is_wanted(const struct cs_plan *plan, const struct cs_step *step);

/* Do pages come home to a GPU whose agent does not issue them, or is something said of
 * them then?  HOME is followed by another one, by which that proves it, and this is said. */
int cs_home_has_two_parts(const struct cs_plan *plan, const struct cs_step *step);

/* What of the step is the agent's: its host memory and its GPU.  Warm: it is
 * written once more, by CPUs of the node that works.  Cold: all host memory is flushed
 * by one of `ways`, proven on the node of the agent's CPUs, and the GPU's cache holds
 * other bytes.  slot->side says what was done. */
int cs_home_bring(struct cs_endpoints *ends, struct cs_carry *carry,
		  const struct cs_flush_way *ways);

#endif
