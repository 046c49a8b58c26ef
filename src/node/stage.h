/* stage.h - transfers that two agents make together, through a ring of chunks in
 * host memory (no peer access, two processes).
 *
 *     source's GPU ──OUT──▶ ring on the destination's domain ──IN──▶ destination's
 *
 * The ring is the destination's; at most one transfer of a step goes through it.
 * Both halves wait at the gate; the time is that of IN, which ends last. */
#ifndef CS_NODE_STAGE_H
#define CS_NODE_STAGE_H

#include "node/board.h"

/* Bytes of a chunk of a transfer, and of a slot of its ring. */
uint64_t cs_stage_chunk(uint64_t bytes);
/* Most copies of so many bytes that a sample can hold. */
uint32_t cs_stage_copies(uint64_t bytes);
/* Bytes of the ring that an agent has to have; 0: none. */
uint64_t cs_stage_ring_bytes(struct cs_board *board, int agent);

/* Do both ends issue this transfer? */
int cs_stage_is(struct cs_board *board, const struct cs_transfer *t);
/* Whose stream tells the time of a transfer. */
int cs_stage_timer(struct cs_board *board, const struct cs_transfer *t);

/* What the flights of both halves have in common, for sample `seq`. */
void cs_stage_flight(struct cs_board *board, const struct cs_transfer *t,
		     uint32_t seq, struct cs_flight *flight);

/* An agent has given up the sample: none of its partners waits for it. */
void cs_stage_give_up(struct cs_board *board, const struct cs_step *step,
		      int agent, uint32_t seq);

#endif
