/* overlap.h - work on tiles of host data: each tile goes to the GPU, some kernels
 * work on it, and it goes back, in schedules that overlap more or less.
 *
 * A schedule is a list of operations in a few streams, executed as fast as the CPU
 * enqueues them.  The CPU times it, from its first call to the end of all.  The
 * kernel turns the pattern of one key into that of the next.  So the data that come
 * back have the pattern of the last key, unless something was lost, late or done
 * twice.  For node/agent/agent_cell.c and node/coordinator/probe.c. */
#ifndef CS_NODE_AGENT_OVERLAP_H
#define CS_NODE_AGENT_OVERLAP_H

#include "node/agent/cost.h"
#include "node/agent/memory.h"

#define CS_TILES 16u

/* Execute one round, and check all of its data or (not `whole`) samples of them.  0,
 * or -1 with the slot's error set; errors in the data are in *wrong. */
int cs_overlap_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		     int whole, struct cs_check *wrong);

#endif
