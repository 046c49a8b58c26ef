/* cost.h - the agent's part of a PROBE: driver calls, timed by the CPU that makes
 * them.
 *
 *     CALLS   gate | call, call ... | end		each call
 *     ONCE    gate | copy, its end, copy, its end ...	each copy to its end
 *     BURST   gate | many copies | end			all of it, as a rate
 *     STALL   BEFORE allocates; then free or load	the call
 *             AFTER unloads
 *     OPEN    owner: BEFORE allocates, exports; AFTER frees	the export
 *             issuer: open, copy twice, close, open, close	each of them
 *
 * The CPU polls the board's gate, so that all agents begin together. */
#pragma once

#include "base/call.h"
#include "node/board/board.h"

struct cs_cost {
	const struct cs_backend *backend;
	struct cs_dev *dev;
	struct cs_board *board;
	struct cs_slot *slot; /* has flags and seq; receives the values or the error */
	const struct cs_test *test;
	struct cs_copy desc;	      /* one copy, timed by its issuer */
	const struct cs_export *peer; /* OPEN: the other's spare buffer */
};

/* 0, or -1 with the slot's error set.  BEFORE and AFTER do not change the values,
 * except for the export. */
int cs_cost_probe(const struct cs_cost *cost);

/* The clock that times driver calls: the CPU's, or the fake driver's virtual one. */
uint64_t cs_cost_now_ns(const struct cs_cost *cost);
/* The time of reading the clock, in nanoseconds; and the time since `from` without
 * that, always above 0. */
double cs_cost_clock_ns(void);
double cs_cost_since_ns(uint64_t from, double clock_ns);
/* Wait for the end of all work on lane 0, also after an error `rc`, whose text stays.
 * Returns `rc`, or -1 if the wait fails. */
int cs_cost_drain(const struct cs_cost *cost, int rc);

/* ---- batch.c ---- */

/* Calls in batches, timed by the CPU that makes them.
 *
 *     BEFORE   free what the last batch left; prepare what the calls need
 *     gate | call, call ...
 *     AFTER    free what the last batch left
 *
 * So no agent frees anything while others are timed.  The value of a batch is the
 * time of one call in nanoseconds. */

/* The objects that calls of the C library use, one for each call. */
struct cs_host_calls {
	void *at[CS_CALLS_MOST];
};

/* 0, or -1 with the slot's error set; refused if the call does not exist.  BEFORE
 * with FIRST derives the number of calls from the time of the previous batch, and
 * writes it to the slot. */
int cs_batch_probe(const struct cs_cost *cost, struct cs_host_calls *host);
