/* batch.h - calls in batches, timed by the CPU that makes them.
 *
 *     BEFORE   what the last batch left is given back; what they need
 *     gate | call, call ...
 *     AFTER    what the last batch left
 *
 * So nobody gives anything back while others of a batch are timed.  The value of a batch is the time of one call in nanoseconds. */
#ifndef CS_NODE_BATCH_H
#define CS_NODE_BATCH_H

#include "base/calls.h"
#include "node/cost.h"

/* What calls of the C library have to do with, one each. */
struct cs_host_calls {
	void *at[CS_CALLS_MOST];
};

/* Rounds whose time says how many calls a batch may have: a first call does what later
 * ones find done. */
#define CS_BATCHES_TRIED 2u

/* 0, or -1 with the slot's error set, refused where there is no such call.  BEFORE with
 * FIRST chooses how many calls a batch has by the time of the batch before it; it stands
 * in the slot. */
int cs_batch_probe(const struct cs_cost *cost, struct cs_host_calls *host);

#endif
