/* truth_between.c - how often are healthy networks between nodes accused, and slow nodes,
 * leaves and paths missed?
 *
 * Simulated networks (tests/netsim.h), the same in every run.  Status 1 when a promise of
 * doc/METHOD.md is not kept. */
#include <stdio.h>
#include <time.h>

#include "../netsim.h"
#include "base/vec.h"

#define MOST 64

static struct cs_suspect found[MOST];
static int broken;

static void promise(int kept, const char *what)
{
	if (!kept)
		printf("NOT KEPT: %s\n", what);
	broken |= !kept;
}

/* Runs of healthy networks: those with a suspect, and with one that is confirmed. */
static void healthy(struct netsim sim, int runs)
{
	int suspected = 0, parts = 0, accused = 0;

	for (int i = 0; i < runs; i++) {
		size_t n;

		sim.seed = (uint64_t)i + 1;
		n = netsim_judge(&sim, found, MOST);
		suspected += n > 0;
		parts += CS_ANY(k, n, found[k].kind != CS_SUSPECT_PATH);
		accused += netsim_confirmed(found, n) > 0;
	}
	printf("%5u nodes, leaves of %2u, noise of %4.1f %%: of %4d healthy runs %4d look again, %d at a node or leaf; accused %d\n",
	       sim.nodes, sim.leaf_size, 100 * sim.noise, runs, suspected, parts,
	       accused);
	fflush(stdout);
	promise(accused * 1000 <= runs, "the healthy are left in peace");
}

/* Runs in which the guilty one is confirmed, and in which something else is. */
static void slow(struct netsim sim, int runs, enum cs_suspect_kind kind,
		 const char *what, int promised)
{
	const uint32_t a = kind == CS_SUSPECT_LEAF ? sim.slow_leaf :
			   kind == CS_SUSPECT_NODE ? sim.slow_node :
						     sim.path[0];
	int named = 0, others = 0;

	for (int i = 0; i < runs; i++) {
		size_t n;
		int is;

		sim.seed = (uint64_t)i + 1;
		n = netsim_judge(&sim, found, MOST);
		/* a path both ways is named from either end */
		is = CS_ANY(k, n,
			    found[k].kind == kind &&
				    (found[k].a == a ||
				     (found[k].receives && found[k].b == a)) &&
				    found[k].again == CS_REMEASURED_CONFIRMED);
		named += is;
		others += netsim_confirmed(found, n) > (size_t)is;
	}
	printf("%5u nodes, leaves of %2u, %-34s named in %3d of %3d, others accused in %d\n",
	       sim.nodes, sim.leaf_size, what, named, runs, others);
	fflush(stdout);
	promise(!promised || (named == runs && !others), what);
}

static void table(uint32_t nodes, uint32_t leaf, int runs)
{
	static const double drops[] = { 0.03, 0.04, 0.05, 0.06 };
	struct netsim sim;
	char what[64];

	for (int i = 0; i < 4; i++) {
		sim = netsim_of(nodes, leaf, 1);
		sim.slow_node = nodes / 3;
		sim.sends = sim.receives = 1 - drops[i];
		snprintf(what, sizeof(what), "a node %.0f %% slow", 100 * drops[i]);
		slow(sim, runs, CS_SUSPECT_NODE, what, i == 3);
	}
	for (int i = 0; i < 3 && leaf; i++) {
		sim = netsim_of(nodes, leaf, 1);
		sim.slow_leaf = 1;
		sim.uplink = 0.9 - 0.05 * i;
		snprintf(what, sizeof(what), "a leaf's uplinks %.0f %% slow",
			 100 * (1 - sim.uplink));
		slow(sim, runs, CS_SUSPECT_LEAF, what, i == 2);
	}
}

/* Few nodes, busy ones: noise of 10 %. */
static void noisy(uint32_t nodes)
{
	struct netsim sim = netsim_of(nodes, 0, 1);

	sim.noise = sim.noise_again = 0.1;
	healthy(sim, 1000);
	sim.slow_node = 1;
	sim.sends = 0.3;
	slow(sim, 500, CS_SUSPECT_NODE, "noise of 10 %, a node 70 % slow", 0);
}

static void path(void)
{
	struct netsim sim = netsim_of(64, 8, 1);

	sim.path[0] = 7;
	sim.path[1] = 40;
	sim.there = 0.8;
	slow(sim, 20, CS_SUSPECT_PATH, "a path 20 % slow one way", 1);
	sim.back = 0.8;
	slow(sim, 20, CS_SUSPECT_PATH, "a path 20 % slow both ways", 1);
}

int main(void)
{
	const struct netsim large = netsim_of(10000, 32, 1);
	struct timespec from, to;

	healthy(netsim_of(3, 0, 1), 1000);
	healthy(netsim_of(4, 0, 1), 1000);
	healthy(netsim_of(8, 4, 1), 1000);
	healthy(netsim_of(16, 4, 1), 1000);
	healthy(netsim_of(64, 0, 1), 200);
	healthy(netsim_of(64, 16, 1), 200);
	healthy(netsim_of(1024, 32, 1), 20);
	for (uint32_t nodes = 3; nodes <= 8; nodes++)
		noisy(nodes);
	table(64, 8, 20);
	table(1024, 32, 8);
	path();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	netsim_judge(&large, found, MOST);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("10000 nodes, 32 rounds: %.1f s, with the drawing of the noise\n",
	       (double)(to.tv_sec - from.tv_sec) +
		       1e-9 * (double)(to.tv_nsec - from.tv_nsec));
	return broken;
}
