/* flush.c - see flush.h.
 *
 * There are fences on both sides. Before: what was stored is flushed with the lines.
 * After: no later load may come before the flush of its line. On x86 that takes
 * mfence; sfence orders later stores alone. */
#include "system/flush.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/chain.h"
#include "base/statistics.h"
#include "system/internal.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__powerpc64__)
#include <sys/auxv.h>
#endif

/* ---- by instruction ---- */

/* All instructions flush like this: fence, each line from the first to the last, fence. */
#define FLUSH_LINES(at, bytes, line, fence, one)                               \
	do {                                                                   \
		const uintptr_t line_ = (line);                                \
		uintptr_t p_ = (uintptr_t)(at) / line_ * line_;                \
		uintptr_t end_ = (uintptr_t)(at) + (bytes);                    \
                                                                               \
		__asm__ volatile(fence : : : "memory");                        \
		for (; p_ < end_; p_ += line_)                                 \
			__asm__ volatile(one : : "r"(p_) : "memory");          \
		__asm__ volatile(fence : : : "memory");                        \
	} while (0)

#if defined(__x86_64__) || defined(__i386__)

/* CPUID 1, EBX bits 15 to 8, in units of 8 bytes. */
static uintptr_t line_bytes(void)
{
	unsigned a, b = 0, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(b >> 8 & 0xff))
		return 64;
	return (b >> 8 & 0xff) * 8;
}

static void flush_clflush(const void *at, uint64_t bytes)
{
	FLUSH_LINES(at, bytes, line_bytes(), "mfence", "clflush (%0)");
}

/* The prefix by hand: not every assembler knows the name. */
static void flush_clflushopt(const void *at, uint64_t bytes)
{
	FLUSH_LINES(at, bytes, line_bytes(), "mfence", ".byte 0x66; clflush (%0)");
}

static int has_clflushopt(void)
{
	unsigned a, b = 0, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 23 & 1);
}

/* clflush does the same at a hundredth of the rate; if clflushopt is not proven, neither
 * is clflush. */
static int by_instruction(struct cs_flush_way *way)
{
	*way = has_clflushopt() ?
		       (struct cs_flush_way){ "clflushopt", flush_clflushopt, NULL } :
		       (struct cs_flush_way){ "clflush", flush_clflush, NULL };
	return 1;
}

#elif defined(__aarch64__)

/* CTR_EL0.DminLine: the logarithm of the words of the smallest line. */
static uintptr_t line_bytes(void)
{
	uint64_t ctr;

	__asm__("mrs %0, ctr_el0" : "=r"(ctr));
	return (uintptr_t)4 << (ctr >> 16 & 0xf);
}

static void flush_civac(const void *at, uint64_t bytes)
{
	FLUSH_LINES(at, bytes, line_bytes(), "dsb sy", "dc civac, %0");
}

static int by_instruction(struct cs_flush_way *way)
{
	*way = (struct cs_flush_way){ "dc civac", flush_civac, NULL };
	return 1;
}

#elif defined(__powerpc64__)

static uintptr_t line_bytes(void)
{
	unsigned long line = getauxval(AT_DCACHEBSIZE);

	return line ? line : 128;
}

static void flush_dcbf(const void *at, uint64_t bytes)
{
	FLUSH_LINES(at, bytes, line_bytes(), "sync", "dcbf 0, %0");
}

static int by_instruction(struct cs_flush_way *way)
{
	*way = (struct cs_flush_way){ "dcbf", flush_dcbf, NULL };
	return 1;
}

#else

static int by_instruction(struct cs_flush_way *way)
{
	(void)way;
	return 0;
}

#endif

/* ---- by displacement ---- */

#define LLC_UNKNOWN ((uint64_t)64 << 20)

static struct {
	pthread_once_t once;
	const unsigned char *at; /* NULL: there was no memory for it */
	uint64_t bytes;
} other = { .once = PTHREAD_ONCE_INIT };

/* The largest cache of a CPU, by the kernel, "36608K", and the first CPU that shares it,
 * of "0-15,64-79". */
static uint64_t largest_cache(const char *root, int cpu, int *first)
{
	int most = 0;

	for (int i = 0; i < 10; i++) {
		int kib =
			cs_sysfile_whole(root,
					 "/sys/devices/system/cpu/cpu%d/cache/index%d/size",
					 cpu, i);

		if (kib <= most)
			continue;
		most = kib;
		*first = cs_sysfile_whole(
			root,
			"/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
			cpu, i);
		if (*first < 0)
			*first = cpu;
	}
	return (uint64_t)most << 10;
}

uint64_t cs_last_level_bytes(const char *root)
{
	cpu_set_t mine, seen;
	uint64_t sum = 0, bytes;
	int first = 0;

	CPU_ZERO(&seen);
	if (sched_getaffinity(0, sizeof(mine), &mine))
		return LLC_UNKNOWN;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		bytes = largest_cache(root, cpu, &first);
		if (!bytes || first < 0 || first >= CPU_SETSIZE ||
		    CPU_ISSET(first, &seen))
			continue;
		CPU_SET(first, &seen);
		sum += bytes;
	}
	return sum ? sum : LLC_UNKNOWN;
}

static void other_make(void)
{
	uint64_t bytes = 2 * cs_last_level_bytes("");
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	memset(at, 1, bytes); /* else all of it is one page of zeros */
	other.at = at;
	other.bytes = bytes;
}

static const void *other_memory(uint64_t *bytes)
{
	pthread_once(&other.once, other_make);
	*bytes = other.bytes;
	return other.at;
}

static void flush_displace(const void *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 64)
		(void)*((const volatile unsigned char *)at + i);
	__sync_synchronize();
}

/* ---- which there are ---- */

static struct cs_flush_way ways[3];

static void find_ways(void)
{
	int n = by_instruction(ways);

	ways[n] = (struct cs_flush_way){ "displacement", flush_displace,
					 other_memory };
}

const struct cs_flush_way *cs_flush_ways(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_ways);
	return ways;
}

/* ---- proof ---- */

#define CHASE_BYTES ((uint64_t)1 << 20)
#define CHASE_SEED 20181121u
#define WALKS 31
/* A substitute for a flush is slower, so fewer walks are timed. */
#define WALKS_INSTEAD 7
/* A trial lasts some 10 ms: what disturbs one should not be there at the next, so each
 * comes twice as long after the last, the sixth after 0.8 s.  One of six runs on H200
 * passed over an instruction that works, when four came 50 ms apart. */
#define TRIALS 6
#define TRIALS_INSTEAD 2
#define PAUSE_US 25000

/* Once round the chain: nanoseconds of a load. */
static double walk(const void *chain, uint64_t (*clock_ns)(void))
{
	const uint64_t loads = CHASE_BYTES / CS_CHAIN_STRIDE;
	const volatile uint64_t *at = chain;
	uint64_t begin = clock_ns();

	for (uint64_t i = 0; i < loads; i++)
		at = (const volatile uint64_t *)(uintptr_t)*at;
	return (double)(clock_ns() - begin) / (double)loads;
}

static void flush(const struct cs_flush_way *way, const void *at, uint64_t bytes)
{
	if (way->instead)
		at = way->instead(&bytes);
	way->flush(at, bytes);
}

/* By turns, so that what else the machine does meets both alike.  A walk leaves the chain
 * in the caches. */
static void try_once(const struct cs_flush_way *way, const void *chain,
		     uint64_t (*clock_ns)(void), struct cs_flush *out)
{
	const int n = way->instead ? WALKS_INSTEAD : WALKS;
	double warm[WALKS], cold[WALKS];

	walk(chain, clock_ns);
	for (int i = 0; i < n; i++) {
		warm[i] = walk(chain, clock_ns);
		flush(way, chain, CHASE_BYTES);
		cold[i] = walk(chain, clock_ns);
	}
	out->warm_ns = cs_median(warm, (size_t)n);
	out->cold_ns = cs_median(cold, (size_t)n);
	out->is_proven = cs_flush_is_proven(out->warm_ns, out->cold_ns);
}

static int try_way(const struct cs_flush_way *way, const void *chain,
		   uint64_t (*clock_ns)(void), struct cs_flush *out)
{
	const int trials = way->instead ? TRIALS_INSTEAD : TRIALS;

	out->way = *way;
	for (int i = 0; i < trials && !out->is_proven; i++) {
		if (i)
			usleep(PAUSE_US << (i - 1));
		try_once(way, chain, clock_ns, out);
	}
	return out->is_proven;
}

void cs_flush_prove(const struct cs_flush_way *list, uint64_t (*clock_ns)(void),
		    struct cs_flush *out)
{
	void *chain = mmap(NULL, CHASE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct cs_flush one, first = { .way = list[0] };

	for (int i = 0; chain != MAP_FAILED && list[i].name; i++) {
		one = (struct cs_flush){ 0 };
		if (i == 0)
			cs_chain_host(chain, CHASE_BYTES, (uintptr_t)chain,
				      CHASE_SEED);
		if (try_way(&list[i], chain, clock_ns, &one) || i == 0)
			first = one;
		if (one.is_proven)
			break;
	}
	if (chain != MAP_FAILED)
		munmap(chain, CHASE_BYTES);
	*out = first;
}

/* ---- once for each NUMA node ---- */

struct known {
	struct known *next;
	int numa;
	const struct cs_flush_way *ways;
	struct cs_flush flush;
};

void cs_flush_of(int numa, const struct cs_flush_way *list,
		 uint64_t (*clock_ns)(void), struct cs_flush *out)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct known *all;
	struct known *k;

	pthread_mutex_lock(&lock);
	for (k = all; k; k = k->next)
		if (k->numa == numa && k->ways == list)
			break;
	if (!k) {
		cs_flush_prove(list, clock_ns, out);
		k = malloc(sizeof(*k));
		if (k) {
			*k = (struct known){ all, numa, list, *out };
			all = k;
		}
	} else {
		*out = k->flush;
	}
	pthread_mutex_unlock(&lock);
}
