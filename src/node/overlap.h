/* overlap.h - work on tiles of data that lies on the host: each goes to the GPU, some
 * kernels work on it, and it goes back, in ways that overlap more or less.
 *
 * A schedule is a list of operations of a few streams, carried out as fast as the CPU
 * enqueues them; it is timed by that CPU, from its first call to the end of all.  The kernel
 * makes the pattern of one key that of the next, so what comes back is the pattern of the
 * last key, or something was lost, late, or came twice.  For node/agent_cell.c and node/probe.c. */
#ifndef CS_NODE_OVERLAP_H
#define CS_NODE_OVERLAP_H

#include "node/cost.h"
#include "node/memory.h"

#define CS_TILES 16u

/* What a round measures, in milliseconds: its values. */
enum cs_overlap {
	CS_OVERLAP_ROTATED, /* three streams that change places from tile to tile */
	CS_OVERLAP_KERNELS, /* all kernels alone */
	CS_OVERLAP_MOVES,   /* all tiles there and back alone, both ways at once */
	CS_OVERLAP_SERIAL,  /* one stream */
	CS_OVERLAP_STREAMS, /* three: one there, one for the kernels, one back */
	CS_OVERLAP_IDEAL,   /* the longer of kernels and moves alone */
	CS_OVERLAPS
};

/* One round, which is checked as a whole or (not `whole`) here and there.  0, or -1 with
 * the slot's error set; what is wrong in the data is in *wrong. */
int cs_overlap_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		     int whole, struct cs_check *wrong);

#endif
