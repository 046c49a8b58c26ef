/* chain.h - chains that latency is measured along, and their order.
 *
 * Nodes of 8 bytes, CS_CHAIN_STRIDE apart, each with the address of the next; the last
 * leads back to the first, so that a chain is one cycle through all nodes.  Each load of
 * it needs the value of the one before.
 *
 * The p-th place of the cycle is a node by a formula, not by a table: the kernels build
 * all nodes at the same time (kernels/ includes this header), and the end of that many
 * steps is known at once.  Random is a permutation of the smallest power of 4 that holds
 * all nodes, by a Feistel network of four rounds (Luby and Rackoff, 1988), followed
 * until it is inside again (Black and Rogaway, CT-RSA 2002: cycle walking). */
#ifndef CS_BASE_CHAIN_H
#define CS_BASE_CHAIN_H

#include "base/fill.h"

#define CS_CHAIN_STRIDE 128u /* bytes: a line of the caches */
#define CS_CHAIN_ROUNDS 4u

/* `nodes` of at least 1, in the order of `seed`; 0: one after the other. */
struct cs_chain {
	uint64_t nodes, seed;
	uint32_t half;	/* bits, of the network's two halves */
	uint64_t shift; /* so that node 0 is the first */
};

/* One pass through the network. */
static inline CS_HOST_DEVICE uint64_t cs_chain_mix(const struct cs_chain *chain,
						   uint64_t place)
{
	uint64_t mask = ((uint64_t)1 << chain->half) - 1;
	uint64_t left = place >> chain->half, right = place & mask;

	for (uint32_t round = 0; round < CS_CHAIN_ROUNDS; round++) {
		uint64_t hash = cs_fill_word(chain->seed + round, right);
		uint64_t next = left ^ ((hash >> 32) & mask);

		left = right;
		right = next;
	}
	return left << chain->half | right;
}

static inline CS_HOST_DEVICE uint64_t cs_chain_walk(const struct cs_chain *chain,
						    uint64_t place)
{
	do
		place = cs_chain_mix(chain, place);
	while (place >= chain->nodes);
	return place;
}

/* The node at a place of the cycle, which is any number. */
static inline CS_HOST_DEVICE uint64_t cs_chain_node(const struct cs_chain *chain,
						    uint64_t place)
{
	uint64_t node;

	place %= chain->nodes;
	if (!chain->seed)
		return place;
	node = cs_chain_walk(chain, place) + chain->nodes - chain->shift;
	return node >= chain->nodes ? node - chain->nodes : node;
}

/* The chain that fits in that many bytes, at least CS_CHAIN_STRIDE. */
static inline CS_HOST_DEVICE struct cs_chain cs_chain_of(uint64_t bytes, uint64_t seed)
{
	struct cs_chain chain = { bytes / CS_CHAIN_STRIDE, seed, 1, 0 };

	while (chain.nodes > (uint64_t)1 << 2 * chain.half)
		chain.half++;
	if (seed)
		chain.shift = cs_chain_walk(&chain, 0);
	return chain;
}

/* Build one in the memory at `p`, for a reader with its first byte at `base`. */
void cs_chain_host(void *p, uint64_t bytes, uint64_t base, uint64_t seed);

#endif
