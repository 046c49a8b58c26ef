/* prefetch.h - how long cuMemPrefetchAsync blocks its caller, and when the pages have
 * arrived: to the GPU or to the host, in an idle stream or behind other work.
 *
 * A busy stream waits at the board's gate, which opens when the call has returned.  A
 * call that waits for the stream is cancelled like any sample.  For node/agent/agent_cell.c
 * and node/coordinator/probe.c. */
#ifndef CS_NODE_AGENT_PREFETCH_H
#define CS_NODE_AGENT_PREFETCH_H

#include "node/agent/tiles.h"

/* Execute one round; errors in the data are in *wrong, unless nothing is checked. */
int cs_prefetch_probe(const struct cs_cost *cost, const struct cs_tiles *tiles,
		      struct cs_check *wrong);

#endif
