#include "base/rng.h"

uint64_t cs_rng_next(struct cs_rng *rng)
{
	uint64_t x = rng->state += 0x9E3779B97F4A7C15ull;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
	return x ^ (x >> 31);
}

uint64_t cs_rng_below(struct cs_rng *rng, uint64_t below)
{
	/* 2^64 mod below: that many draws are left over and thrown away */
	uint64_t left_over = (0 - below) % below;
	uint64_t draw;

	do
		draw = cs_rng_next(rng);
	while (draw < left_over);
	return draw % below;
}

void cs_rng_shuffle(struct cs_rng *rng, uint32_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = cs_rng_below(rng, i + 1);

		if (j != i) /* order[i] is not written yet */
			order[i] = order[j];
		order[j] = (uint32_t)i;
	}
}
