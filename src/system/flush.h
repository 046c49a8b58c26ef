/* flush.h - flushes memory from all CPU caches, and proves that it worked.
 *
 * Hides the instructions of each architecture, and the replacement where there are
 * none. The proof is a chase of loads, which take longer from memory that is in no
 * cache.  It reads no clock: the caller provides one. */
#pragma once

#include <stdint.h>

/* A way to get memory out of all caches of the machine. */
struct cs_flush_way {
	const char *name; /* "clflushopt"; NULL after the last of several */
	/* Every line of the range, changed or not; what is read after that comes from
	 * memory.  Any thread, several at the same time. */
	void (*flush)(const void *at, uint64_t bytes);
	/* NULL: it is given the range. Else it is given this memory in place of any
	 * range, once for all that is to be flushed. */
	const void *(*instead)(uint64_t *bytes);
};

/* The ways of this machine: its instruction, then displacement, which reads twice
 * the last-level caches of the CPUs that the first thread to ask may run on. */
const struct cs_flush_way *cs_flush_ways(void);

/* A load of flushed memory takes at least that many times as long as a warm one. */
#define CS_FLUSH_RATIO 1.5

struct cs_flush {
	struct cs_flush_way way; /* the first that works, else the first */
	int is_proven;
	double warm_ns,
		cold_ns; /* of a load, in caches and flushed: of its last try */
};

static inline int cs_flush_is_proven(double warm_ns, double cold_ns)
{
	return warm_ns > 0 && cold_ns >= CS_FLUSH_RATIO * warm_ns;
}

/* Try each way up to six times, with pauses, on 1 MiB that the caller's CPUs touch
 * first. A trial is 31 walks along a random chain, warm and flushed by turns, and the
 * medians of both, in nanoseconds of the clock; a substitute for a flush has two
 * trials of seven. Without memory nothing is proven. */
void cs_flush_prove(const struct cs_flush_way *list, uint64_t (*clock_ns)(void),
		    struct cs_flush *out);

/* The same, once for each NUMA node (-1: unknown) and list of ways in a process; who
 * asks meanwhile waits.  The caller runs on that node. */
void cs_flush_of(int numa, const struct cs_flush_way *list,
		 uint64_t (*clock_ns)(void), struct cs_flush *out);
