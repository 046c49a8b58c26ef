/* triad_host.c - the triad of triad.h by the vectors of this CPU: it waits for memory,
 * so 32 bytes at a time are enough.  Stores are ordinary ones, as compilers make of the
 * loop of STREAM: a line is read before it is written. */
#include "base/fused.h"
#include "base/triad.h"

static void by_library(uint64_t *a, const uint64_t *b, const uint64_t *c,
		       uint64_t words)
{
	for (uint64_t i = 0; i < words; i++)
		a[i] = cs_triad_word(b[i], c[i]);
}

#define VECTORS(name, target_, WIDTH)                                                \
	static target_ void name(uint64_t *a, const uint64_t *b, const uint64_t *c,  \
				 uint64_t words)                                     \
	{                                                                            \
		typedef uint64_t bits                                                \
			__attribute__((vector_size(8 * (WIDTH)), aligned(8)));       \
		typedef double numbers                                               \
			__attribute__((vector_size(8 * (WIDTH)), aligned(8)));       \
		const uint64_t sign = 0x800FFFFFFFFFFFFF, one = 0x3FF0000000000000;  \
		numbers s = (numbers){ 0 } + CS_TRIAD_SCALAR;                        \
		uint64_t i = 0;                                                      \
                                                                                     \
		for (; i + (WIDTH) <= words; i += (WIDTH)) {                         \
			numbers x = (numbers)((*(const bits *)(b + i) & sign) | one); \
			numbers y = (numbers)((*(const bits *)(c + i) & sign) | one); \
                                                                                     \
			*(bits *)(a + i) = (bits)CS_FUSED_##WIDTH(s, y, x);          \
		}                                                                    \
		by_library(a + i, b + i, c + i, words - i);                          \
	}

#if defined(__x86_64__)
VECTORS(by_avx2, __attribute__((target("avx2,fma"))), 4)

void cs_triad_host(uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t words)
{
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		by_avx2(a, b, c, words);
	else
		by_library(a, b, c, words);
}
#elif defined(__aarch64__) /* in every CPU of its kind */
VECTORS(by_vectors, , 2)

void cs_triad_host(uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t words)
{
	by_vectors(a, b, c, words);
}
#else
void cs_triad_host(uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t words)
{
	by_library(a, b, c, words);
}
#endif
