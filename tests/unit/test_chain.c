#include "base/chain.h"
#include "tap.h"

#define BASE 0x5000000u /* as somebody else sees the first node */
#define STEP (CS_CHAIN_STRIDE / sizeof(uint64_t))

static const uint64_t sizes[] = { 1, 2, 3, 5, 16, 17, 1000, 16384, 100003 };
#define N_SIZES (sizeof(sizes) / sizeof(*sizes))

/* Follows it from node 0 as long as nodes are new: how many there were; 0 when an
 * address is none of a node, or the last leads elsewhere than to the first. */
static uint64_t length_of(const uint64_t *chain, uint64_t nodes)
{
	char *seen = calloc(nodes, 1);
	uint64_t node = 0, n = 0;

	while (seen && !seen[node]) {
		uint64_t offset = chain[node * STEP] - BASE;

		seen[node] = 1;
		n++;
		node = offset / CS_CHAIN_STRIDE;
		if (offset % CS_CHAIN_STRIDE || node >= nodes)
			node = n = 0;
	}
	free(seen);
	return node ? 0 : n;
}

static void whole(uint64_t seed)
{
	for (size_t i = 0; i < N_SIZES; i++) {
		uint64_t bytes = sizes[i] * CS_CHAIN_STRIDE;
		uint64_t *chain = calloc(1, bytes);

		cs_chain_host(chain, bytes, BASE, seed);
		t_eq_int(length_of(chain, sizes[i]), sizes[i]);
		free(chain);
	}
}

HOLDS("a plain chain is one cycle through all nodes") {
	whole(0);
}

HOLDS("a random chain is one cycle through all nodes") {
	whole(1);
	whole(0x123456789abcdefull);
}

HOLDS("a plain chain leads from each node to the one behind it") {
	const struct cs_chain chain = cs_chain_of(5 * CS_CHAIN_STRIDE, 0);

	t_eq_int(cs_chain_node(&chain, 0), 0);
	t_eq_int(cs_chain_node(&chain, 4), 4);
	t_eq_int(cs_chain_node(&chain, 5), 0);
	t_eq_int(cs_chain_node(&chain, 5000000003), 3);
}

/* Where that many steps end, by formula and on foot. */
HOLDS("where that many steps end is known without taking them") {
	uint64_t nodes = 1000, node = 0, bytes = nodes * CS_CHAIN_STRIDE;
	const struct cs_chain order = cs_chain_of(bytes, 7);
	uint64_t *chain = calloc(1, bytes), wrong = 0;

	cs_chain_host(chain, bytes, BASE, 7);
	for (uint64_t place = 0; place < 2500; place++) {
		wrong += cs_chain_node(&order, place) != node;
		node = (chain[node * STEP] - BASE) / CS_CHAIN_STRIDE;
	}
	t_eq_int(wrong, 0);
	free(chain);
}

/* What a prefetcher could guess: the next node, or the same step again. */
HOLDS("the next node of a random chain cannot be guessed, and seeds differ") {
	const struct cs_chain a = cs_chain_of(16384 * CS_CHAIN_STRIDE, 1);
	const struct cs_chain b = cs_chain_of(16384 * CS_CHAIN_STRIDE, 2);
	uint64_t next = 0, again = 0, same = 0, step = 0;

	for (uint64_t i = 0; i < 16384; i++) {
		uint64_t here = cs_chain_node(&a, i);
		uint64_t there = cs_chain_node(&a, i + 1);

		next += there == here + 1;
		again += there - here == step;
		step = there - here;
		same += here == cs_chain_node(&b, i);
	}
	/* by chance one of 16384 each */
	t_ok(next < 20);
	t_ok(again < 20);
	t_ok(same < 20);
}

HOLDS("only whole nodes are written, and of each only the address") {
	uint64_t chain[2 * STEP + 3];

	memset(chain, 0xee, sizeof(chain));
	cs_chain_host(chain, sizeof(chain), BASE, 0);
	t_eq_int(length_of(chain, 2), 2);
	t_ok(chain[1] == 0xeeeeeeeeeeeeeeeeull);
	t_ok(chain[2 * STEP] == 0xeeeeeeeeeeeeeeeeull);
}
