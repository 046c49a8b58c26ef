/* Flushing memory from the caches of CPUs: what claims to and does not is found out, by
 * a clock that tells what the test wants; and what this machine has works. */
#include <sched.h>
#include <time.h>

#include "system/flush.h"
#include "system/internal.h"
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

static struct cs_flush flush;

void tap_before(void)
{
	now = reading = 0;
	flushed = fails = 0;
	flushes = 0;
}

HOLDS("a flush that does nothing is found out") {
	const struct cs_flush_way ways[] = { { "nothing", does_nothing, NULL },
					     { 0 } };

	cs_flush_prove(ways, made_clock, &flush);
	t_eq_int(flush.is_proven, 0);
	t_eq_str(flush.way.name, "nothing");
	t_near(flush.cold_ns, flush.warm_ns, 1e-9);
	t_eq_int(flushes, 6 * 31);
}

HOLDS("where one does not work, the next is tried") {
	const struct cs_flush_way ways[] = { { "nothing", does_nothing, NULL },
					     { "works", works, NULL },
					     { 0 } };

	cs_flush_prove(ways, made_clock, &flush);
	t_eq_int(flush.is_proven, 1);
	t_eq_str(flush.way.name, "works");
	t_near(flush.cold_ns, 20 * flush.warm_ns, 1e-6);
}

HOLDS("a trial that something disturbed is repeated") {
	const struct cs_flush_way ways[] = { { "works", works, NULL }, { 0 } };

	fails = 5 * 31; /* five trials */
	cs_flush_prove(ways, made_clock, &flush);
	t_eq_int(flush.is_proven, 1);
	t_eq_int(flushes, 6 * 31);
}

/* What stands in for a flush. */
static const char other[3 * 4096];
static uint64_t others; /* bytes of it that were passed over */

static const void *instead(uint64_t *bytes)
{
	*bytes = sizeof(other);
	return other;
}

static void displaces(const void *at, uint64_t bytes)
{
	t_ok(at == other);
	others += bytes;
	flushed = 1;
}

static void displaces_nothing(const void *at, uint64_t bytes)
{
	displaces(at, bytes);
	flushed = 0;
}

HOLDS("what stands in for a flush has two trials of seven walks") {
	const struct cs_flush_way ways[] = { { "nothing", does_nothing, NULL },
					     { "displaces", displaces, instead },
					     { 0 } };
	const struct cs_flush_way none[] = { { "nothing", does_nothing, NULL },
					     { "either", displaces_nothing, instead },
					     { 0 } };

	others = 0;
	cs_flush_prove(ways, made_clock, &flush);
	t_eq_int(flush.is_proven, 1);
	t_eq_str(flush.way.name, "displaces");
	t_eq_int(others, 7 * sizeof(other));
	tap_before();
	others = 0;
	cs_flush_prove(none, made_clock, &flush);
	t_eq_int(flush.is_proven, 0);
	t_eq_str(flush.way.name, "nothing");
	t_eq_int(others, 2 * 7 * sizeof(other));
}

/* ---- how much that is ---- */

static void write_cache(const char *root, int cpu, const char *size,
			const char *shared)
{
	char path[400];

	snprintf(path, sizeof(path),
		 "mkdir -p %s/sys/devices/system/cpu/cpu%d/cache/index3", root, cpu);
	t_eq_int(system(path), 0);
	snprintf(path, sizeof(path),
		 "cd %s/sys/devices/system/cpu/cpu%d/cache/index3 && echo %s >size && "
		 "echo %s >shared_cpu_list",
		 root, cpu, size, shared);
	t_eq_int(system(path), 0);
}

/* Two of the CPUs that this thread may run on share one; then one has its own. */
HOLDS("last-level caches of the CPUs at hand count once each") {
	char root[] = "/tmp/cs-flush-XXXXXX", shared[32], remove[64];
	cpu_set_t mine;
	int first = -1, n = 0;

	t_eq_int(sched_getaffinity(0, sizeof(mine), &mine), 0);
	t_must(mkdtemp(root) != NULL);
	t_eq_int(cs_last_level_bytes(root), (uint64_t)64 << 20);
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		first = first < 0 ? cpu : first;
		snprintf(shared, sizeof(shared), "%d,%d", first, cpu);
		write_cache(root, cpu, "32768K", shared);
		n++;
	}
	t_eq_int(cs_last_level_bytes(root), (uint64_t)32 << 20);
	snprintf(shared, sizeof(shared), "%d", first + CPU_SETSIZE / 2);
	write_cache(root, first, "16384K", shared);
	t_eq_int(cs_last_level_bytes(root), (uint64_t)(n == 2 ? 48 : 16) << 20);
	snprintf(remove, sizeof(remove), "rm -r %s", root);
	t_eq_int(system(remove), 0);
}

HOLDS("a NUMA node is proven once") {
	static const struct cs_flush_way ways[] = { { "works", works, NULL }, { 0 } };

	cs_flush_of(0, ways, made_clock, &flush);
	t_eq_int(flushes, 31);
	cs_flush_of(0, ways, made_clock, &flush);
	t_eq_int(flushes, 31);
	t_eq_int(flush.is_proven, 1);
	cs_flush_of(1, ways, made_clock, &flush);
	t_eq_int(flushes, 2 * 31);
}

HOLDS("flushing leaves the bytes alone") {
	unsigned char *at = malloc(3 * 4096), want[3 * 4096];

	for (size_t i = 0; i < sizeof(want); i++)
		at[i] = want[i] = (unsigned char)(i * 7);
	for (const struct cs_flush_way *w = cs_flush_ways(); w->name; w++) {
		/* no whole lines */
		w->flush(at + 1, 3 * 4096 - 2);
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

HOLDS("a way of this machine works") {
	cs_flush_prove(cs_flush_ways(), real_clock, &flush);
	t_ok(flush.warm_ns > 0 && flush.cold_ns > 0);
	if (!flush.is_proven)
		t_skip("nothing on this machine, as busy as it is, makes loads slower");
}
