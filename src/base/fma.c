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
static double to_half(double x)
{
	const double small = ldexp(1.5, DBL_MANT_DIG - 1 + HALF_LEAST - HALF_BITS);
	const uint64_t below = (1ull << (DBL_MANT_DIG - 1 - HALF_BITS)) - 1;
	uint64_t bits;

	/* a sum of that size has no digits below the least FP16 */
	if (fabs(x) < HALF_NORMAL)
		return x + small - small;
	memcpy(&bits, &x, sizeof(bits));
	bits += (below >> 1) + (bits >> (DBL_MANT_DIG - 1 - HALF_BITS) & 1);
	bits &= ~below;
	memcpy(&x, &bits, sizeof(x));
	return x;
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
 * 2^-24, its square has 22 digits, and c is between 1 and 2. */
static uint32_t end_16(double x, double c, uint64_t steps)
{
	for (; steps; steps--)
		x = to_half(x * x + c);
	return half_bits(x);
}

uint64_t cs_fma_sum(enum cs_fma type, uint32_t rounds)
{
	uint64_t steps = (uint64_t)rounds * CS_FMA_STEPS, sum = 0;

	for (unsigned k = 0; k < CS_FMA_LANES * CS_FMA_CHAINS; k++) {
		double c = CS_FMA_ADD(k);

		if (type == CS_FMA_64)
			sum += end_64(c, steps);
		else if (type == CS_FMA_32)
			sum += end_32((float)c, steps);
		else
			sum += end_16(CS_FMA_BEGIN, c, steps) |
			       (uint64_t)end_16(CS_FMA_BEGIN_UPPER, c, steps) << 16;
	}
	return sum;
}

double cs_fma_flops(enum cs_fma type)
{
	return (double)CS_FMA_FLOPS * CS_FMA_WIDTH(type) * CS_FMA_CHAINS *
	       CS_FMA_STEPS;
}
