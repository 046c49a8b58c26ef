/* rng.h - seeded pseudo-random numbers: splitmix64 (Steele, Lea, Flood 2014).
 * The same seed gives the same run on every machine. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct cs_rng {
	uint64_t state;
};

uint64_t cs_rng_next(struct cs_rng *rng);
/* Uniform in 0..below-1, without modulo bias; below >= 1. */
uint64_t cs_rng_below(struct cs_rng *rng, uint64_t below);
/* Write the indices 0..n-1 to order[], shuffled (Fisher and Yates, inside out). */
void cs_rng_shuffle(struct cs_rng *rng, uint32_t *order, size_t n);
