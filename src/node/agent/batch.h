/* batch.h - calls in batches, timed by the CPU that makes them.
 *
 *     BEFORE   free what the last batch left; prepare what the calls need
 *     gate | call, call ...
 *     AFTER    free what the last batch left
 *
 * So no agent frees anything while others are timed.  The value of a batch is the
 * time of one call in nanoseconds. */
#ifndef CS_NODE_AGENT_BATCH_H
#define CS_NODE_AGENT_BATCH_H

#include "base/calls.h"
#include "node/agent/cost.h"

/* The objects that calls of the C library use, one for each call. */
struct cs_host_calls {
	void *at[CS_CALLS_MOST];
};

/* 0, or -1 with the slot's error set; refused if the call does not exist.  BEFORE
 * with FIRST derives the number of calls from the time of the previous batch, and
 * writes it to the slot. */
int cs_batch_probe(const struct cs_cost *cost, struct cs_host_calls *host);

#endif
