#include "base/chain.h"

void cs_chain_host(void *p, uint64_t bytes, uint64_t base, uint64_t seed)
{
	const struct cs_chain chain = cs_chain_of(bytes, seed);
	uint64_t *word = p, node = cs_chain_node(&chain, 0);

	for (uint64_t place = 1; place <= chain.nodes; place++) {
		uint64_t next = cs_chain_node(&chain, place);

		word[node * (CS_CHAIN_STRIDE / sizeof(*word))] =
			base + next * CS_CHAIN_STRIDE;
		node = next;
	}
}
