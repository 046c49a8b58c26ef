#include "base/matmul.h"

#include <math.h>

uint64_t cs_matmul_rows(uint64_t bytes, unsigned block)
{
	const uint64_t each = block ? block : CS_MATMUL_WARP;

	return (uint64_t)sqrt((double)bytes / (2 * sizeof(double))) / each * each;
}

double cs_matmul_flops(uint64_t n)
{
	return 2.0 * (double)n * (double)n * (double)n;
}

double cs_matmul_words(uint64_t n, unsigned block, int by_gpu)
{
	const double all = (double)n * (double)n * (double)n;
	const double share = by_gpu ? CS_MATMUL_WARP : (double)n;

	return (block ? 2 * all / block : all + all / share) + (double)n * (double)n;
}

/* In quarters. */
static uint64_t quarters(uint64_t key, uint64_t word)
{
	return (uint64_t)(int64_t)(4 * cs_matmul_number(cs_fill_word(key, word)));
}

uint64_t cs_matmul_expected(uint64_t key, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t k = 0; k < n; k++) {
		uint64_t a = 0, b = 0;

		for (uint64_t i = 0; i < n; i++) {
			a += cs_matmul_row(i) * quarters(key, i * n + k);
			b += cs_matmul_column(i) * quarters(key, n * n + k * n + i);
		}
		sum += a * b;
	}
	return sum;
}

uint64_t cs_matmul_sum(const double *c, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		for (uint64_t j = 0; j < n; j++)
			sum += cs_matmul_weight(c[i * n + j], i, j);
	return sum;
}

/* ---- by one CPU ---- */

/* As the definition has it: a row of A stays in a cache, all of B comes for each. */
static void by_elements(double *c, const uint64_t *a, const uint64_t *b, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		for (uint64_t j = 0; j < n; j++) {
			double sum = 0;

			for (uint64_t k = 0; k < n; k++)
				sum += cs_matmul_number(a[i * n + k]) *
				       cs_matmul_number(b[k * n + j]);
			c[i * n + j] = sum;
		}
}

/* c += a b of blocks, eight rows of c at a time by as many vectors. */
#define EACH(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7)
#define LOAD(r) vector x##r = *(const vector *)(c + (i + (r)) * n + j);
#define ADD(r) x##r += a[(i + (r)) * n + k] * y;
#define STORE(r) *(vector *)(c + (i + (r)) * n + j) = x##r;
#define BLOCKS(name, target_, WIDTH)                                              \
	static target_ void name(double *c, const double *a, const double *b,     \
				 unsigned n)                                      \
	{                                                                         \
		typedef double vector                                             \
			__attribute__((vector_size(8 * (WIDTH)), aligned(8)));    \
		for (unsigned i = 0; i < n; i += 8)                               \
			for (unsigned j = 0; j < n; j += (WIDTH)) {               \
				EACH(LOAD)                                        \
				for (unsigned k = 0; k < n; k++) {                \
					vector y = *(const vector *)(b + k * n + j); \
					EACH(ADD)                                 \
				}                                                 \
				EACH(STORE)                                       \
			}                                                         \
	}

BLOCKS(by_two, , 2)
#if defined(__x86_64__)
BLOCKS(by_eight, __attribute__((target("avx512f"))), 8)
BLOCKS(by_four, __attribute__((target("avx2,fma"))), 4)
#endif

static void multiply(double *c, const double *a, const double *b, unsigned n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		by_eight(c, a, b, n);
		return;
	}
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		by_four(c, a, b, n);
		return;
	}
#endif
	by_two(c, a, b, n);
}

/* Bring a block into fast memory. */
static void bring(double *to, const uint64_t *from, uint64_t n, unsigned block)
{
	for (unsigned i = 0; i < block; i++)
		for (unsigned j = 0; j < block; j++)
			to[i * block + j] = cs_matmul_number(from[i * n + j]);
}

void cs_matmul_host(double *c, const uint64_t *ab, uint64_t n, unsigned block,
		    double *fast)
{
	const uint64_t *b = ab + n * n, size = (uint64_t)block * block;

	if (!block) {
		by_elements(c, ab, b, n);
		return;
	}
	for (uint64_t i = 0; i < n; i += block)
		for (uint64_t j = 0; j < n; j += block) {
			memset(fast, 0, size * sizeof(*fast));
			for (uint64_t k = 0; k < n; k += block) {
				bring(fast + size, ab + i * n + k, n, block);
				bring(fast + 2 * size, b + k * n + j, n, block);
				multiply(fast, fast + size, fast + 2 * size, block);
			}
			for (unsigned r = 0; r < block; r++)
				memcpy(c + (i + r) * n + j, fast + r * block,
				       block * sizeof(*c));
		}
}
