/* access.h - the order in which the threads of a grid take the words of a buffer, each word
 * once: the same on host and device.
 *
 * A warp's neighbouring threads take neighbouring words, or such as share no line.  kernels/
 * includes this header. */
#ifndef CS_BASE_ACCESS_H
#define CS_BASE_ACCESS_H

#include "base/fill.h"

enum cs_access {
	CS_ACCESS_COALESCED, /* a warp takes whole lines */
	CS_ACCESS_STRIDED, /* neighbours are a line apart; the buffer is gone through once
			      * for each word of a line */
	CS_ACCESS_RANDOM,
	CS_ACCESSES
};

/* The grid of zero-copy's kernel, as in Comm|Scope, and the most blocks. */
#define CS_ZERO_BLOCKS 256u
#define CS_ZERO_THREADS 256u
#define CS_ZERO_BLOCKS_MOST 1024u

#define CS_ACCESS_LINE 32u /* words of 4 bytes: 128 bytes */

/* A permutation of the numbers below 4^half: rounds of Feistel's scheme. */
static inline CS_HOST_DEVICE uint64_t cs_access_mix(uint64_t at, unsigned half)
{
	const uint32_t mask = (1u << half) - 1;
	uint32_t left = (uint32_t)(at >> half), right = (uint32_t)at & mask;

	for (uint32_t round = 1; round <= 4; round++) {
		uint32_t mixed = (right + round) * 0x9E3779B1u, next;

		mixed = (mixed ^ mixed >> 15) * 0x85EBCA77u;
		next = left ^ ((mixed ^ mixed >> 13) & mask);
		left = right;
		right = next;
	}
	return (uint64_t)left << half | right;
}

/* The word that is the i-th of so many, fewer than 2^62. */
static inline CS_HOST_DEVICE uint64_t cs_access_word(enum cs_access access,
						     uint64_t i, uint64_t words)
{
	const uint64_t lines = words / CS_ACCESS_LINE;
	unsigned half = 1;

	if (access == CS_ACCESS_STRIDED)
		return i < lines * CS_ACCESS_LINE ?
			       i % lines * CS_ACCESS_LINE + i / lines :
			       i;
	if (access != CS_ACCESS_RANDOM)
		return i;
	while ((words - 1) >> (2 * half))
		half++;
	/* out of the numbers below a power of 4, the next one that is a word */
	do
		i = cs_access_mix(i, half);
	while (i >= words);
	return i;
}

#endif
