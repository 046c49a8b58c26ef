/* tiles.h - managed memory that a test sends to and fro itself: a range of its agent, all
 * of which is on the host or on the agent's GPU, and is proven to be there.
 *
 * All of it returns 0, or -1 with the slot's error set; pages that are not where they should
 * be set slot->not_moved too.  All gates of the process are open. */
#ifndef CS_NODE_TILES_H
#define CS_NODE_TILES_H

#include "node/cost.h"
#include "node/memory.h"

/* All pages there, and wait for it. */
int cs_tiles_bring(const struct cs_cost *cost, const struct cs_tiles *tiles,
		   const struct cs_um_place *to);
/* By the kernel, if it says. */
int cs_tiles_prove_home(const struct cs_cost *cost, const struct cs_tiles *tiles);
/* By a pass of the GPU over it, which looks for the pattern of `key` as well. */
int cs_tiles_prove_gpu(const struct cs_cost *cost, const struct cs_tiles *tiles,
		       uint64_t key, struct cs_check *found);
/* Sum up what was found in several looks. */
void cs_tiles_keep(struct cs_check *sum, const struct cs_check *found);

#endif
