/* prefetch.h - how long cuMemPrefetchAsync blocks who calls it, and when the pages are
 * there: to the GPU or to the host, in an idle stream or behind work.
 *
 * A busy stream waits at the board's gate, which opens when the call has returned: one that
 * waits for the stream is cancelled like any sample.  For node/agent_cell.c and node/probe.c. */
#ifndef CS_NODE_PREFETCH_H
#define CS_NODE_PREFETCH_H

#include "node/tiles.h"

/* What a round measures, in microseconds: its values. */
enum cs_prefetched {
	CS_PREFETCH_CALL, /* the call */
	CS_PREFETCH_DONE, /* until the stream has ended: idle from the call on, busy from
			   * the end of its other work on */
	CS_PREFETCH_PARTS
};

/* One round; what is wrong in the data is in *wrong, unless nothing is checked. */
int cs_prefetch_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		      struct cs_check *wrong);

#endif
