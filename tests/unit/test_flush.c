/* Flushing memory from the caches of CPUs: what claims to and does not is found out, by
 * a clock that tells what the test wants; and what this machine has works. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "place/flush.h"
#include "tap.h"

#define BYTES ((uint64_t)1 << 20)

/* A clock whose every second reading is later by what a walk takes now: longer when
 * something was flushed since the last one. */
static uint64_t now, reading;
static int flushed; /* by a flush that works */
static int fails;   /* that many flushes more do nothing */
static unsigned flushes;

static uint64_t made_clock(void)
{
	if (reading++ % 2) {
		now += flushed ? 2000000 : 100000;
		flushed = 0;
	}
	return now;
}

static void does_nothing(const void *at, uint64_t bytes)
{
	(void)at;
	(void)bytes;
	flushes++;
}

static void works(const void *at, uint64_t bytes)
{
	(void)at;
	flushes++;
	flushed = bytes == BYTES && fails-- <= 0;
}

static void reset(void)
{
	now = reading = 0;
	flushed = fails = 0;
	flushes = 0;
}

static void a_flush_that_does_nothing_is_found_out(void)
{
	const struct cs_flush_way ways[] = { { "nothing", does_nothing }, { 0 } };
	struct cs_flush flush;

	reset();
	cs_flush_prove(ways, made_clock, &flush);
	t_eq_int(flush.is_proven, 0);
	t_eq_str(flush.way.name, "nothing");
	t_near(flush.cold_ns, flush.warm_ns, 1e-9);
	t_eq_int(flushes, 4 * 31);
}

static void the_next_way_is_tried(void)
{
	const struct cs_flush_way ways[] = { { "nothing", does_nothing },
					     { "works", works },
					     { 0 } };
	struct cs_flush flush;

	reset();
	cs_flush_prove(ways, made_clock, &flush);
	t_eq_int(flush.is_proven, 1);
	t_eq_str(flush.way.name, "works");
	t_near(flush.cold_ns, 20 * flush.warm_ns, 1e-6);
}

static void a_trial_that_was_disturbed_is_repeated(void)
{
	const struct cs_flush_way ways[] = { { "works", works }, { 0 } };
	struct cs_flush flush;

	reset();
	fails = 3 * 31; /* three trials */
	cs_flush_prove(ways, made_clock, &flush);
	t_eq_int(flush.is_proven, 1);
	t_eq_int(flushes, 4 * 31);
}

static void a_node_is_proven_once(void)
{
	static const struct cs_flush_way ways[] = { { "works", works }, { 0 } };
	struct cs_flush flush;

	reset();
	cs_flush_of(0, ways, made_clock, &flush);
	t_eq_int(flushes, 31);
	cs_flush_of(0, ways, made_clock, &flush);
	t_eq_int(flushes, 31);
	t_eq_int(flush.is_proven, 1);
	cs_flush_of(1, ways, made_clock, &flush);
	t_eq_int(flushes, 2 * 31);
}

static void every_way_leaves_the_bytes_alone(void)
{
	unsigned char *at = malloc(3 * 4096), want[3 * 4096];

	for (size_t i = 0; i < sizeof(want); i++)
		at[i] = want[i] = (unsigned char)(i * 7);
	for (const struct cs_flush_way *w = cs_flush_ways(); w->name; w++) {
		w->flush(at + 1, 3 * 4096 - 2); /* no whole lines */
		t_ok(!memcmp(at, want, sizeof(want)));
	}
	free(at);
}

static uint64_t real_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void the_machine_has_a_way_that_works(void)
{
	struct cs_flush flush;

	cs_flush_prove(cs_flush_ways(), real_clock, &flush);
	t_ok(flush.warm_ns > 0 && flush.cold_ns > 0);
	if (!flush.is_proven)
		t_skip("nothing on this machine, as busy as it is, makes loads slower");
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a flush that does nothing is found out",
		  a_flush_that_does_nothing_is_found_out },
		{ "where one does not work, the next is tried", the_next_way_is_tried },
		{ "a trial that something disturbed is repeated",
		  a_trial_that_was_disturbed_is_repeated },
		{ "a NUMA node is proven once", a_node_is_proven_once },
		{ "flushing leaves the bytes alone", every_way_leaves_the_bytes_alone },
		{ "a way of this machine works", the_machine_has_a_way_that_works },
		{ NULL, NULL },
	};

	return tap_main("flush", NULL, NULL, tests);
}
