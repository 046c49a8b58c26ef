/* tiles.h - managed memory that a test itself moves back and forth: a range of the
 * agent that is entirely on the host or on the agent's GPU, with proof.
 *
 * Functions return 0, or -1 with the slot's error set; if pages are in the wrong
 * place they also set slot->not_moved.  All gates of the process are open. */
#ifndef CS_NODE_AGENT_TILES_H
#define CS_NODE_AGENT_TILES_H

#include "node/agent/cost.h"
#include "node/agent/memory.h"

/* Move all pages to `to`, and wait for it. */
int cs_tiles_bring(const struct cs_cost *cost, const struct cs_tiles *tiles,
		   const struct cs_um_place *to);
/* Prove that all pages are on the host, if the kernel shows it. */
int cs_tiles_prove_host(const struct cs_cost *cost, const struct cs_tiles *tiles);
/* Prove that they are on the GPU, by a pass of the GPU, which also checks the pattern
 * of `key`. */
int cs_tiles_prove_gpu(const struct cs_cost *cost, const struct cs_tiles *tiles,
		       uint64_t key, struct cs_check *found);
/* Add the result of one check to *sum. */
void cs_tiles_add_check(struct cs_check *sum, const struct cs_check *found);

#endif
