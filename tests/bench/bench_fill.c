/* How fast one CPU fills, poisons and checks host memory, beside what the same
 * loops give word by word: what verification of host buffers costs.
 *
 *     bench_fill [BYTES] */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fill.h"
#include "base/units.h"

#define ROUNDS 7

static struct cs_check found;
static uint64_t bytes = 512ull << 20;
static uint64_t *buffer;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void plain_fill(void)
{
	for (uint64_t i = 0; i < bytes / 8; i++)
		buffer[i] = cs_fill_word(1, i);
}

static void plain_poison(void)
{
	for (uint64_t i = 0; i < bytes / 8; i++)
		((volatile uint64_t *)buffer)[i] = CS_POISON64;
}

static void plain_check(void)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < bytes / 8; i++)
		if (__builtin_expect(buffer[i] != cs_fill_word(1, i), 0))
			wrong += *(volatile uint64_t *)(buffer + i) != 0;
	found.wrong_words = wrong;
}

static void fill(void)
{
	cs_fill_host(buffer, bytes, 1);
}

static void poison(void)
{
	cs_poison_host(buffer, bytes);
}

static void check(void)
{
	cs_check_host(buffer, bytes, 1, 0, &found);
}

static void check_and_poison(void)
{
	cs_check_host(buffer, bytes, 1, 1, &found);
}

static void some(void)
{
	cs_check_host_some(buffer, bytes, 1, &(struct cs_some){ 1, 1 }, &found);
}

/* The best of some rounds: others may be at work. */
static double seconds(void (*what)(void))
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double start, took;

		fill();
		start = now();
		what();
		took = now() - start;
		if (took < best)
			best = took;
	}
	return best;
}

static void compare(const char *name, void (*what)(void), void (*with)(void))
{
	double took = seconds(what);

	printf("%-18s %8.1f ms %7.2f GB/s", name, took * 1e3,
	       (double)bytes / took * 1e-9);
	if (with)
		printf("   %.2f times as fast as word by word", seconds(with) / took);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct cs_err err;

	if (argc > 2 || (argc == 2 && cs_size_parse(argv[1], &bytes, &err))) {
		fprintf(stderr, "usage: bench_fill [BYTES]\n");
		return 64;
	}
	bytes = bytes / 16 * 16;
	buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED) {
		fprintf(stderr, "bench_fill: no memory\n");
		return 1;
	}
	compare("fill", fill, plain_fill);
	compare("poison", poison, plain_poison);
	compare("check", check, plain_check);
	compare("check and poison", check_and_poison, NULL);
	compare("check of 1/64", some, NULL);
	return 0;
}
