/* What a kernel of multiply-adds computes, against the arithmetic itself. */
#include "base/fma.h"
#include "tap.h"

/* One step in the only way that there is: x * x + c, rounded once. */
static double step_half(double x, double c)
{
	double y = x * x + c; /* exact: base/fma.c */
	int exponent = fabs(y) < 0x1p-14 ? -14 : ilogb(y);

	return ldexp(rint(ldexp(y, 10 - exponent)), exponent - 10);
}

/* As IEEE 754 has it, digit by digit. */
static uint32_t bits_of_half(double x)
{
	uint32_t sign = signbit(x) ? 0x8000 : 0;
	int exponent;

	if (x == 0)
		return sign;
	exponent = ilogb(fabs(x));
	if (exponent < -14)
		return sign | (uint32_t)ldexp(fabs(x), 24);
	return sign | (uint32_t)(exponent + 15) << 10 |
	       (uint32_t)ldexp(fabs(x) - ldexp(1, exponent), 10 - exponent);
}

static uint64_t sum_16(uint32_t rounds)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < CS_FMA_LANES * CS_FMA_CHAINS; k++) {
		double low = CS_FMA_BEGIN, high = CS_FMA_BEGIN_UPPER;

		for (unsigned i = 0; i < rounds * CS_FMA_STEPS; i++) {
			low = step_half(low, CS_FMA_ADD(k));
			high = step_half(high, CS_FMA_ADD(k));
		}
		sum += bits_of_half(low) | bits_of_half(high) << 16;
	}
	return sum;
}

/* A product of two floats is exact as double, and so is what a sum of it and a third
 * loses: the rounding is done once where that is put right. */
static float step_single(float x, float c)
{
	double product = (double)x * x, y = product + (double)c;
	double lost = (double)c - (y - product) + (product - (y - (y - product)));
	float once = (float)y;

	/* half-way between two floats: what was lost decides */
	if ((double)once != y && lost != 0) {
		float other = nextafterf(once,
					 y > (double)once ? INFINITY : -INFINITY);

		if (fabs(y - (double)once) == fabs(y - (double)other))
			return (y > (double)once) == (lost > 0) ? other : once;
	}
	return once;
}

static uint64_t sum_32(uint32_t rounds)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < CS_FMA_LANES * CS_FMA_CHAINS; k++) {
		float x = (float)CS_FMA_BEGIN;
		uint32_t bits;

		for (unsigned i = 0; i < rounds * CS_FMA_STEPS; i++)
			x = step_single(x, (float)CS_FMA_ADD(k));
		memcpy(&bits, &x, sizeof(bits));
		sum += bits;
	}
	return sum;
}

HOLDS("half precision is rounded once, to even") {
	t_ok(cs_fma_sum(CS_FMA_16, 1) == sum_16(1));
	t_ok(cs_fma_sum(CS_FMA_16, 3) == sum_16(3));
}

HOLDS("single precision is rounded once") {
	t_ok(cs_fma_sum(CS_FMA_32, 1) == sum_32(1));
	t_ok(cs_fma_sum(CS_FMA_32, 2) == sum_32(2));
}

HOLDS("constants are those of half precision") {
	for (unsigned k = 0; k < CS_FMA_LANES * CS_FMA_CHAINS; k++)
		t_eq_int(CS_FMA_ADD_16(k), bits_of_half(CS_FMA_ADD(k)));
	t_eq_int(CS_FMA_BEGIN_16, bits_of_half(CS_FMA_BEGIN));
	t_eq_int(CS_FMA_BEGIN_UPPER_16, bits_of_half(CS_FMA_BEGIN_UPPER));
}

/* Chaotic: no two of these are equal, in any type. */
HOLDS("each round ends elsewhere") {
	for (int type = 0; type < CS_FMAS; type++)
		for (uint32_t a = 0; a < 6; a++)
			for (uint32_t b = 0; b < a; b++)
				t_ok(cs_fma_sum((enum cs_fma)type, a) !=
				     cs_fma_sum((enum cs_fma)type, b));
}

HOLDS("operations are products and sums") {
	t_near(cs_fma_flops(CS_FMA_64), 2 * 8 * 1024, 0);
	t_near(cs_fma_flops(CS_FMA_32), 2 * 8 * 1024, 0);
	t_near(cs_fma_flops(CS_FMA_16), 4 * 8 * 1024, 0);
}

HOLDS("a CPU's vectors compute what a plain loop does") {
	t_ok(cs_fma_host(1) == cs_fma_host_expected(1));
	t_ok(cs_fma_host(7) == cs_fma_host_expected(7));
	t_ok(cs_fma_host(7) != cs_fma_host_expected(8));
	t_ok(cs_fma_host_flops() >= 2 * 16 * 1024);
}
