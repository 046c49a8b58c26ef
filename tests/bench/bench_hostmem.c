/* What each kind of host memory costs to make and gives: seconds until it is there,
 * GB/s to the GPU and from it by copy engine (the median of some copies), GB/s of
 * filling it and of checking it by one CPU, and how it is known where it lies.
 * Needs a GPU, or the tests' double of the driver.
 *
 *     bench_hostmem [BYTES [NUMA]] */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "backend/backend.h"
#include "base/units.h"
#include "node/agent/hostbuf.h"
#include "plan/plan.h"

#define ROUNDS 7
#define KEY 1

static const struct {
	const char *name;
	int memory;
} kinds[] = {
	{ "pinned", CS_MEM_PINNED },
	{ "wc", CS_MEM_WC },
	{ "registered", CS_MEM_REGISTERED },
	{ "huge", CS_MEM_HUGE },
};

static const struct cs_backend *cuda;
static struct cs_dev *dev;
static uint64_t bytes = 512ull << 20;
static uint32_t *page;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* GB/s of a copy behind the gate, after one that does not count; 0: failed. */
static double copy(uint64_t dst, uint64_t src, struct cs_err *err)
{
	const struct cs_copy desc = {
		.dst = dst, .src = src, .bytes = bytes, .copies = 1
	};
	double ns[ROUNDS + 1];
	int rc;

	for (int i = 0; i <= ROUNDS; i++) {
		uint32_t seq = *page + 1;

		if (cuda->arm(dev, 0, page, seq, &desc, err))
			return 0;
		__atomic_store_n(page, seq, __ATOMIC_RELEASE);
		while (!(rc = cuda->poll(dev, 0, &ns[i], err)))
			;
		if (rc < 0)
			return 0;
	}
	qsort(ns + 1, ROUNDS, sizeof(*ns), compare_doubles);
	return (double)bytes / ns[1 + ROUNDS / 2];
}

static void measure(int kind, int numa, uint64_t arena)
{
	const struct cs_hostbuf_key key = { kinds[kind].memory, numa, 0, 0 };
	double begun = now(), made, in, out, filled, checked, sampled;
	struct cs_err err = { "" };
	struct cs_hostbuf buf;
	struct cs_check found;

	if (cs_hostbuf_get(cuda, dev, &key, bytes, KEY, &buf, &err)) {
		printf("%-10s %s\n", kinds[kind].name, err.text);
		return;
	}
	made = now() - begun;
	begun = now();
	cs_fill_host(buf.at, bytes, KEY);
	filled = now() - begun;
	begun = now();
	cs_check_host(buf.at, bytes, KEY, 0, &found);
	checked = now() - begun;
	in = copy(arena, buf.address, &err);
	out = copy(buf.address, arena, &err);
	begun = now();
	cs_check_host_some(buf.at, bytes, KEY, &(struct cs_some){ KEY, 1 }, &found);
	sampled = now() - begun;
	printf("%-10s %7.3f %7.2f %7.2f %7.2f %7.2f %8.2f  %d by %s %s%s%s\n",
	       kinds[kind].name, made - filled, in, out,
	       (double)bytes / filled * 1e-9, (double)bytes / checked * 1e-9,
	       sampled * 1e3, buf.numa, buf.proof[0] ? buf.proof : "nothing", buf.why,
	       found.wrong_words ? "; WRONG after its way there and back" : "",
	       err.text);
	cs_hostbuf_put(cuda, dev);
}

int main(int argc, char **argv)
{
	struct cs_err err = { "" };
	struct cs_export arena;
	int version, numa = argc > 2 ? atoi(argv[2]) : -1;

	if (argc > 3 || (argc > 1 && cs_size_parse(argv[1], &bytes, &err))) {
		fprintf(stderr, "usage: bench_hostmem [BYTES [NUMA]]; %s\n", err.text);
		return 64;
	}
	bytes = (bytes + 15) / 16 * 16;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	cuda = cs_backend_cuda;
	if (!cuda || page == MAP_FAILED || cuda->start(&version, &err) ||
	    cuda->open(0, 1, &dev, &err) || cuda->board(dev, page, 4096, &err) ||
	    cuda->arena(dev, bytes, NULL, -1, &arena, &err)) {
		fprintf(stderr, "no GPU to measure on: %s\n", err.text);
		return 77;
	}
	printf("# %.0f MiB; NUMA node %d wanted, -1: any\n",
	       (double)bytes / (1 << 20), numa);
	printf("%-10s %7s %7s %7s %7s %7s %8s  %s\n", "memory", "made/s", "h2d",
	       "d2h", "fill", "check", "1/64/ms", "NUMA node proven");
	for (int i = 0; i < (int)(sizeof(kinds) / sizeof(*kinds)); i++)
		measure(i, numa, arena.address);
	cuda->close(dev);
	return 0;
}
