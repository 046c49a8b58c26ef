/* netsim.h - simulated networks between nodes with known truth, through the code that judges
 * them: first looks at the rounds that a seed draws, second looks at what is suspicious. */
#ifndef CS_TESTS_NETSIM_H
#define CS_TESTS_NETSIM_H

#include "base/rng.h"
#include "check/between/looks.h"

#define NETSIM_NODES 10000u

struct netsim {
	uint32_t nodes, leaf_size; /* 0: leaves are not known */
	double noise, congested;   /* of a figure; share of figures that are slower */
	double noise_again;	   /* of a figure of second looks */
	uint64_t seed;
	/* the truth, as factors; `first`: of first looks alone */
	uint32_t slow_node, slow_leaf, path[2], first; /* UINT32_MAX none */
	double sends, receives, uplink, there, back;
	uint32_t lost; /* this node has no figure */
};

/* A healthy network. */
struct netsim netsim_of(uint32_t nodes, uint32_t leaf_size, uint64_t seed);
/* The suspects after second looks: how many; at most `most` of them in `to`. */
size_t netsim_judge(const struct netsim *sim, struct cs_suspect *to, size_t most);
/* How many of them are confirmed. */
size_t netsim_confirmed(const struct cs_suspect *s, size_t n);

#endif
