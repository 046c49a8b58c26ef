/* tiles.h - managed memory that a test itself moves back and forth: a range of the
 * agent that is entirely on the host or on the agent's GPU, with proof.
 *
 * Functions return 0, or -1 with the slot's error set; if pages are in the wrong
 * place they also set slot->not_moved.  All gates of the process are open. */
#pragma once

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

/* ---- overlap.c ---- */

#define CS_TILES 16u /* unless their size is given; else CS_TILES_MOST at most */

/* Work on tiles of host data: each tile goes to the GPU, some kernels work on it, and it
 * goes back, in schedules that overlap more or less.
 *
 * A schedule is a list of operations in a few streams, executed as fast as the CPU
 * enqueues them.  The CPU times it, from its first call to the end of all.  The
 * kernel turns the pattern of one key into that of the next.  So the data that come
 * back have the pattern of the last key, unless something was lost, late or done
 * twice.
 *
 * Execute one round, and check all of its data or (not `whole`) samples of them.  0,
 * or -1 with the slot's error set; errors in the data are in *wrong.  With
 * CS_CMD_COUNT events are recorded around the work on each tile, which are work of
 * their own: the round is not to be counted. */
int cs_overlap_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		     int whole, struct cs_check *wrong);

/* ---- prefetch ---- */

/* How long cuMemPrefetchAsync blocks its caller, and when the pages have arrived: to the
 * GPU or to the host, in an idle stream or after other work.
 *
 * A busy stream waits at the board's gate, which opens when the call has returned.  A
 * call that waits for the stream is cancelled like any sample.
 *
 * Execute one round; errors in the data are in *wrong, unless nothing is checked. */
int cs_prefetch_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		      struct cs_check *wrong);
