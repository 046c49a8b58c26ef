/* prefetch.h - how long cuMemPrefetchAsync blocks its caller, and when the pages have
 * arrived: to the GPU or to the host, in an idle stream or behind other work.
 *
 * A busy stream waits at the board's gate, which opens when the call has returned.  A
 * call that waits for the stream is cancelled like any sample.  For node/agent_cell.c
 * and node/probe.c. */
#ifndef CS_NODE_PREFETCH_H
#define CS_NODE_PREFETCH_H

#include "node/tiles.h"

/* The values of a round, in microseconds. */
enum cs_prefetched {
	CS_PREFETCH_CALL, /* the duration of the call */
	CS_PREFETCH_DONE, /* until the stream has ended; idle: since the call, busy:
			   * since the end of its other work */
	CS_PREFETCH_PARTS
};

/* Execute one round; errors in the data are in *wrong, unless nothing is checked. */
int cs_prefetch_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		      struct cs_check *wrong);

#endif
