/* triad.h - a = b + s * c in FP64, of the words of buffers: the same bits on host and
 * device.
 *
 * Words of the pattern (base/fill.h) become numbers whose size is between 1 and 2, so that
 * no sum is lost in rounding, or is none.  kernels/ includes this header. */
#ifndef CS_BASE_TRIAD_H
#define CS_BASE_TRIAD_H

#include "base/fill.h"

#ifndef __CUDA_ARCH__
#include <math.h>
#include <string.h>
#endif

#define CS_TRIAD_SCALAR 3.0
#define CS_TRIAD_ARRAYS 3u /* of equal length, which share the bytes of a copy */

/* Words of each array, in whole pairs of them: up to 32 bytes are left over. */
static inline uint64_t cs_triad_words(uint64_t bytes)
{
	return bytes / (16 * CS_TRIAD_ARRAYS) * 2;
}

static inline CS_HOST_DEVICE double cs_triad_number(uint64_t word)
{
	uint64_t bits = (word & 0x800FFFFFFFFFFFFFull) | 0x3FF0000000000000ull;

#ifdef __CUDA_ARCH__
	return __longlong_as_double((long long)bits);
#else
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
#endif
}

/* The word of a. */
static inline CS_HOST_DEVICE uint64_t cs_triad_word(uint64_t b, uint64_t c)
{
#ifdef __CUDA_ARCH__
	return (uint64_t)__double_as_longlong(__fma_rn(CS_TRIAD_SCALAR,
						       cs_triad_number(c),
						       cs_triad_number(b)));
#else
	double a = fma(CS_TRIAD_SCALAR, cs_triad_number(c), cs_triad_number(b));
	uint64_t bits;

	memcpy(&bits, &a, sizeof(bits));
	return bits;
#endif
}

#ifndef __CUDACC__
/* So many of them by this CPU, at the speed of memory (triad_host.c). */
void cs_triad_host(uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t words);
#endif

/* The expected word i: of the pattern of `key`; or (triad) of the sum of the pattern
 * there and so many words further on. */
static inline CS_HOST_DEVICE uint64_t cs_expected_word(uint64_t key, uint64_t triad,
						       uint64_t i)
{
	return triad ? cs_triad_word(cs_fill_word(key, i),
				     cs_fill_word(key, i + triad)) :
		       cs_fill_word(key, i);
}

#endif
