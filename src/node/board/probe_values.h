/* probe_values.h - the values in an agent's slot after a PROBE. */
#pragma once

#include "result/row.h"

/* The issuer's values of an OPEN, in microseconds.  The owner has one value, its
 * export. */
enum cs_opening {
	CS_OPENED,
	CS_FIRST_COPY,
	CS_NEXT_COPY,
	CS_CLOSED,
	CS_REOPENED,
	CS_OPENINGS
};

#define CS_BURST 512u /* copies of a BURST */

/* The values of a round of an OVERLAP, in milliseconds. */
enum cs_overlap {
	/* schedules, of which one round also takes the times of tiles */
	CS_OVERLAP_ROTATED, /* three streams that change roles from tile to tile */
	CS_OVERLAP_SERIAL,  /* one stream */
	CS_OVERLAP_STREAMS, /* three streams: one in, one for the kernels, one out */
	CS_OVERLAP_TILES,   /* a stream for each tile */
	CS_OVERLAP_SCHEDULES,
	CS_OVERLAP_KERNELS = CS_OVERLAP_SCHEDULES, /* all kernels alone */
	CS_OVERLAP_MOVES, /* only the moves of all tiles, in both directions at once */
	CS_OVERLAP_IDEAL, /* the longer of kernels and moves alone */
	CS_OVERLAPS
};

#define CS_TILES_MOST 128u

/* When the tiles of one schedule were moved and worked on, if the PROBE is to take that. */
struct cs_tile_times {
	double began_s; /* cs_clock_s() */
	uint32_t tiles; /* 0: not taken */
	double ms[CS_TILES_MOST][CS_TILE_TIMES];
};

/* The values of a round of a PREFETCH, in microseconds. */
enum cs_prefetched {
	CS_PREFETCH_CALL, /* the duration of the call */
	CS_PREFETCH_DONE, /* until the stream has ended; idle: since the call, busy:
			   * since the end of its other work */
	CS_PREFETCH_PARTS
};

/* The number of rounds that are timed to choose the number of calls of a batch: a
 * first call does work that later ones find done. */
#define CS_BATCHES_TRIED 2u
