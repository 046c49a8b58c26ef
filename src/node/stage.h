/* stage.h - transfers that two agents make together: what is packed by one and unpacked by
 * the other, and what goes through a ring of chunks in host memory (no peer access, two
 * processes).
 *
 *     source's GPU ──OUT──▶ ring on a NUMA node ──IN──▶ destination's
 *
 * The ring is the destination's, on its node or on that which the variant names; at most one transfer of a step goes through it.
 * Both halves wait at the gate; the time is that of IN, which ends last. */
#ifndef CS_NODE_STAGE_H
#define CS_NODE_STAGE_H

#include "node/board.h"

/* Bytes of a chunk of a transfer, and of a slot of its ring. */
uint64_t cs_stage_chunk(uint64_t bytes);
/* Most copies of that many bytes that a sample can hold. */
uint32_t cs_stage_copies(uint64_t bytes);
/* The rings that an agent has to have, one behind the other: on each NUMA node that is
 * asked for. */
struct cs_stage_parts {
	uint64_t each;		    /* bytes of a part */
	int n;			    /* 0: it needs none */
	int numa[CS_NUMA_MOST + 1]; /* ascending, but first what is next to its GPU */
	uint8_t of[CS_NUMA_MOST + 1]; /* the variant's cpu_numa */
};
void cs_stage_parts(struct cs_board *board, int agent, struct cs_stage_parts *out);

/* Do both ends issue this transfer? */
int cs_stage_is(struct cs_board *board, const struct cs_transfer *t);
/* Whose stream tells the time of a transfer. */
int cs_stage_timer(struct cs_board *board, const struct cs_transfer *t);

/* What the copies of both halves have in common, for sample `seq`. */
/* … and where in the destination's ring. */
uint64_t cs_stage_at(struct cs_board *board, const struct cs_transfer *t);
/* The NUMA node on which the pages of a transfer's ring are proven to lie; -1: they are
 * not, or there is none.  `*wanted`: where they should. */
int cs_stage_numa(struct cs_board *board, const struct cs_transfer *t, int *wanted);
void cs_stage_copy(struct cs_board *board, const struct cs_transfer *t, uint32_t seq,
		   struct cs_copy *desc);

/* An agent has given up the sample: none of its partners waits for it. */
void cs_stage_give_up(struct cs_board *board, const struct cs_step *step, int agent,
		      uint32_t seq);

#endif
