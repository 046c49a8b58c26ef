#include "base/fma.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define HALF_BITS 10	  /* after the point of a normal number */
#define HALF_LEAST (-14)  /* exponent of the least normal number */
#define HALF_NORMAL 0x1p-14
#define HALF_BIAS 15

static uint64_t end_64(double c, uint64_t steps)
{
	double x = CS_FMA_BEGIN;
	uint64_t bits;

	for (; steps; steps--)
		x = fma(x, x, c);
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static uint64_t end_32(float c, uint64_t steps)
{
	float x = (float)CS_FMA_BEGIN;
	uint32_t bits;

	for (; steps; steps--)
		x = fmaf(x, x, c);
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* To the nearest FP16 of a number below 2^16, ties to even: by its bits, since a sample
 * has millions of steps. */
static inline double to_half(double x)
{
	const double small = 0x1.8p0 *
			     (1ull << (DBL_MANT_DIG - 1 + HALF_LEAST - HALF_BITS));
	const uint64_t below = (1ull << (DBL_MANT_DIG - 1 - HALF_BITS)) - 1;
	uint64_t bits;
	double normal;

	memcpy(&bits, &x, sizeof(bits));
	bits += (below >> 1) + (bits >> (DBL_MANT_DIG - 1 - HALF_BITS) & 1);
	bits &= ~below;
	memcpy(&normal, &bits, sizeof(normal));
	/* a sum of that size has no digits below the least FP16 */
	return fabs(x) < HALF_NORMAL ? x + small - small : normal;
}

static uint32_t half_bits(double x)
{
	int exponent = fabs(x) < HALF_NORMAL ? HALF_LEAST : ilogb(x);
	uint32_t digits = (uint32_t)ldexp(fabs(x), HALF_BITS - exponent);
	uint32_t one = 1u << HALF_BITS;

	/* without a leading 1 it is below the least normal number */
	return (signbit(x) ? 0x8000u : 0) |
	       (digits < one ? digits :
			       ((uint32_t)(exponent + HALF_BIAS) << HALF_BITS) +
				       (digits - one));
}

/* A product of two FP16 and its sum with a third are exact in FP64: x is 0 or at least
 * 2^-24, its square has 22 digits, and c is between 1 and 2.  All sequences side by side:
 * none waits for the result of another. */
static uint64_t sum_16(double begin, uint64_t steps)
{
	double x[CS_FMA_LANES * CS_FMA_CHAINS];
	const unsigned n = sizeof(x) / sizeof(*x);
	uint64_t sum = 0;

	for (unsigned k = 0; k < n; k++)
		x[k] = begin;
	for (; steps; steps--)
		for (unsigned k = 0; k < n; k++)
			x[k] = to_half(x[k] * x[k] + CS_FMA_ADD(k));
	for (unsigned k = 0; k < n; k++)
		sum += half_bits(x[k]);
	return sum;
}

uint64_t cs_fma_sum(enum cs_fma type, uint32_t rounds)
{
	uint64_t steps = (uint64_t)rounds * CS_FMA_STEPS, sum = 0;

	if (type == CS_FMA_16)
		return sum_16(CS_FMA_BEGIN, steps) +
		       (sum_16(CS_FMA_BEGIN_UPPER, steps) << 16);
	for (unsigned k = 0; k < CS_FMA_LANES * CS_FMA_CHAINS; k++) {
		double c = CS_FMA_ADD(k);

		sum += type == CS_FMA_64 ? end_64(c, steps) : end_32((float)c, steps);
	}
	return sum;
}

double cs_fma_flops(enum cs_fma type)
{
	return (double)CS_FMA_FLOPS * CS_FMA_WIDTH(type) * CS_FMA_CHAINS *
	       CS_FMA_STEPS;
}
