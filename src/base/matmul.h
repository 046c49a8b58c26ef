/* matmul.h - C = A B of n x n doubles, by blocks that fast memory holds: the same numbers
 * on host and device.
 *
 * A and B follow each other at the source, as words of the pattern (base/fill.h), which
 * become multiples of a quarter: no sum is rounded, in whatever order it is made.  With
 * blocks of b x b, each block of C takes n / b blocks of A and of B, 2 n^3 / b words in
 * all.  kernels/ includes this header. */
#ifndef CS_BASE_MATMUL_H
#define CS_BASE_MATMUL_H

#include "base/fill.h"

#ifndef __CUDA_ARCH__
#include <string.h>
#endif

/* Without blocks, neighbouring elements of C share an element of A: by a GPU this many; by
 * a CPU all of a row, which a cache holds. */
#define CS_MATMUL_WARP 32u
#define CS_MATMUL_ROWS 8u /* of C, that a block of threads has then */

/* -7/4 to 7/4, in quarters and without those below 1. */
static inline CS_HOST_DEVICE double cs_matmul_number(uint64_t word)
{
	uint64_t bits = (word & 0x800C000000000000ull) | 0x3FF0000000000000ull;

#ifdef __CUDA_ARCH__
	return __longlong_as_double((long long)bits);
#else
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
#endif
}

/* The product is checked by one sum over C, modulo 2^64: each element, as an integer of
 * sixteenths, times the weight of its row and that of its column (after Freivalds, 1977). */
static inline CS_HOST_DEVICE uint64_t cs_matmul_row(uint64_t i)
{
	return cs_fill_word(0x726F7773, i) | 1;
}

static inline CS_HOST_DEVICE uint64_t cs_matmul_column(uint64_t j)
{
	return cs_fill_word(0x636F6C73, j) | 1;
}

static inline CS_HOST_DEVICE uint64_t cs_matmul_weight(double c, uint64_t i,
						       uint64_t j)
{
	/* poison is no number */
	return (c > -1e12 && c < 1e12 ? (uint64_t)(int64_t)(16 * c) : 1) *
	       cs_matmul_row(i) * cs_matmul_column(j);
}

#define CS_MATMUL_WRONG "the product of the matrices is wrong, as the sum over it shows"
/* Rows of the largest A and B of whole blocks that so many bytes hold together; block 0:
 * none. */
uint64_t cs_matmul_rows(uint64_t bytes, unsigned block);
/* Operations of a product, and words that it takes from slow memory and brings there. */
double cs_matmul_flops(uint64_t n);
double cs_matmul_words(uint64_t n, unsigned block, int by_gpu);
/* The sum of all weights of the product of a pattern, by n^2 operations; and of what lies
 * there. */
uint64_t cs_matmul_expected(uint64_t key, uint64_t n);
uint64_t cs_matmul_sum(const double *c, uint64_t n);

/* The product by one CPU; `fast`: room for three blocks. */
void cs_matmul_host(double *c, const uint64_t *ab, uint64_t n, unsigned block,
		    double *fast);

#endif
