/* fma_host.c - the sequences of fma.h in FP64 by the widest vectors that this CPU has: a
 * vector holds neighbours, and as many vectors are under way as hide their latency. */
#include "base/fma.h"
#include "base/fused.h"

#include <math.h>
#include <string.h>

#define SEQUENCES (CS_FMA_LANES * CS_FMA_CHAINS)

/* Vectors under way: two a clock, of four clocks each. */
#define EACH(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7)
#define VECTORS 8u

/* Vectors of WIDTH doubles: vector k has the sequences from k * WIDTH on. */
#define DECLARE(k) vector x##k, c##k;
#define ADD(k)                                        \
	for (unsigned i = 0; i < width; i++)          \
		c##k[i] = CS_FMA_ADD((k * width + i) % SEQUENCES);
#define BEGIN(k) x##k = c##k - c##k + CS_FMA_BEGIN;
#define STEP_8(k) x##k = CS_FUSED_8(x##k, x##k, c##k);
#define STEP_4(k) x##k = CS_FUSED_4(x##k, x##k, c##k);
#define STEP_2(k) x##k = CS_FUSED_2(x##k, x##k, c##k);
#define SUM(k) sum += sum_of(&x##k, sizeof(x##k));
#define ROUNDS(name, target_, WIDTH)                                           \
	static target_ uint64_t name(uint32_t rounds)                          \
	{                                                                      \
		typedef double vector __attribute__((vector_size(8 * (WIDTH)))); \
		const unsigned width = WIDTH;                                  \
		uint64_t sum = 0;                                              \
		EACH(DECLARE)                                                  \
		EACH(ADD)                                                      \
		for (; rounds; rounds--) {                                     \
			EACH(BEGIN)                                            \
			for (unsigned i = 0; i < CS_FMA_STEPS; i++) {          \
				EACH(STEP_##WIDTH)                                     \
			}                                                      \
			EACH(SUM)                                              \
		}                                                              \
		return sum;                                                    \
	}

static inline uint64_t sum_of(const void *ends, size_t bytes)
{
	uint64_t word[8] = { 0 }, sum = 0;

	memcpy(word, ends, bytes);
	for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
		sum += word[i];
	return sum;
}

/* Without an instruction for product and sum: by the library, one after the other. */
static uint64_t by_library(uint32_t rounds)
{
	uint64_t sum = 0;

	for (; rounds; rounds--)
		for (unsigned k = 0; k < SEQUENCES; k++) {
			double x = CS_FMA_BEGIN;
			uint64_t bits;

			for (unsigned i = 0; i < CS_FMA_STEPS; i++)
				x = fma(x, x, CS_FMA_ADD(k));
			memcpy(&bits, &x, sizeof(bits));
			sum += bits;
		}
	return sum;
}

struct way {
	uint64_t (*run)(uint32_t rounds);
	unsigned sequences;
};

#if defined(__x86_64__)
ROUNDS(by_avx512, __attribute__((target("avx512f"))), 8)
ROUNDS(by_avx2, __attribute__((target("avx2,fma"))), 4)

static struct way find_way(void)
{
	if (__builtin_cpu_supports("avx512f"))
		return (struct way){ by_avx512, 8 * VECTORS };
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return (struct way){ by_avx2, 4 * VECTORS };
	return (struct way){ by_library, SEQUENCES };
}
#elif defined(__aarch64__) /* in every CPU of its kind */
ROUNDS(by_vectors, , 2)

static struct way find_way(void)
{
	return (struct way){ by_vectors, 2 * VECTORS };
}
#else
static struct way find_way(void)
{
	return (struct way){ by_library, SEQUENCES };
}
#endif

uint64_t cs_fma_host(uint32_t rounds)
{
	return find_way().run(rounds);
}

/* The first sequences of each round, each as often as it occurs. */
uint64_t cs_fma_host_expected(uint32_t rounds)
{
	const unsigned n = find_way().sequences;
	uint64_t sum = 0;

	for (unsigned k = 0; k < n; k++) {
		double x = CS_FMA_BEGIN;
		uint64_t bits;

		for (unsigned i = 0; i < CS_FMA_STEPS; i++)
			x = fma(x, x, CS_FMA_ADD(k % SEQUENCES));
		memcpy(&bits, &x, sizeof(bits));
		sum += bits;
	}
	return rounds * sum;
}

double cs_fma_host_flops(void)
{
	return (double)CS_FMA_FLOPS * find_way().sequences * CS_FMA_STEPS;
}
