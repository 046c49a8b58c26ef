/* stage.h - transfers that two agents make together: packed by one and unpacked by
 * the other, or sent through a ring of chunks in host memory (no peer access, two
 * processes).
 *
 *     source's GPU ──OUT──▶ ring on a NUMA node ──IN──▶ destination's
 *
 * The ring belongs to the destination, on its NUMA node or on the one that the
 * variant names; at most one transfer of a step uses it.  Both halves wait at the
 * gate; the time is that of IN, which ends last. */
#pragma once

#include "node/board/board.h"

/* Bytes of a chunk of a transfer, and of a slot of its ring. */
uint64_t cs_stage_chunk(uint64_t bytes);
/* The maximum number of copies of `bytes` in a sample. */
uint32_t cs_stage_copies(uint64_t bytes);
/* The rings that an agent needs, one after the other in memory: one on each requested
 * NUMA node. */
struct cs_stage_parts {
	uint64_t each;		    /* bytes of a part */
	int n;			    /* 0: it needs none */
	int numa[CS_NUMA_MOST + 1]; /* ascending, but first the one next to its GPU */
	uint8_t of[CS_NUMA_MOST + 1]; /* the variant's cpu_numa */
};
void cs_stage_parts(struct cs_board *board, int agent, struct cs_stage_parts *out);

/* Do both ends issue this transfer? */
int cs_stage_is(struct cs_board *board, const struct cs_transfer *t);
/* The agent whose stream times a transfer. */
int cs_stage_timer(struct cs_board *board, const struct cs_transfer *t);

/* The offset of a transfer's part in the destination's ring. */
uint64_t cs_stage_at(struct cs_board *board, const struct cs_transfer *t);
/* The proven NUMA node of the pages of a transfer's ring; -1: not proven, or no ring.
 * `*wanted`: the node on which they should be. */
int cs_stage_numa(struct cs_board *board, const struct cs_transfer *t, int *wanted);
/* Fill the fields that the copies of both halves share, for sample `seq`. */
void cs_stage_copy(struct cs_board *board, const struct cs_transfer *t, uint32_t seq,
		   struct cs_copy *desc);

/* The agent gives up the sample: its partners no longer wait for it. */
void cs_stage_give_up(struct cs_board *board, const struct cs_step *step, int agent,
		      uint32_t seq);
