/* Networks between nodes with known truth: who is slow, and who is left in peace. */
#include "../netsim.h"
#include "base/arena.h"
#include "tap.h"

#define RUNS 20
#define MOST 64

static struct cs_suspect found[MOST];

/* In how many runs is a node or leaf of that kind confirmed, and nothing else? */
static int runs_with(struct netsim sim, enum cs_suspect_kind kind, uint32_t a)
{
	int runs = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		size_t n;

		sim.seed = seed;
		n = netsim_judge(&sim, found, MOST);
		runs += netsim_confirmed(found, n) == 1 &&
			CS_ANY(i, n,
			       found[i].kind == kind && found[i].a == a &&
				       found[i].again == CS_REMEASURED_CONFIRMED);
	}
	return runs;
}

HOLDS("a node whose network is 6 % slow is named in 20 of 20 runs, and nothing else") {
	struct netsim sim = netsim_of(64, 0, 1);

	sim.slow_node = 21;
	sim.sends = sim.receives = 0.94;
	t_eq_int(runs_with(sim, CS_SUSPECT_NODE, 21), RUNS);
	sim.leaf_size = 8;
	t_eq_int(runs_with(sim, CS_SUSPECT_NODE, 21), RUNS);
}

HOLDS("uplinks of a leaf that lost 20 % are named in 20 of 20 runs, and no node with them") {
	struct netsim sim = netsim_of(64, 8, 1);

	sim.slow_leaf = 1;
	sim.uplink = 0.8;
	t_eq_int(runs_with(sim, CS_SUSPECT_LEAF, 1), RUNS);
}

HOLDS("of 50 healthy networks nothing is accused, and no node or leaf is suspected") {
	const uint32_t nodes[] = { 3, 5, 8, 16, 64 }, leaf[] = { 0, 0, 4, 4, 16 };

	for (int size = 0; size < 5; size++)
		for (uint64_t seed = 1; seed <= 50; seed++) {
			struct netsim sim = netsim_of(nodes[size], leaf[size], seed);
			size_t n = netsim_judge(&sim, found, MOST);

			t_eq_int(netsim_confirmed(found, n), 0);
			t_ok(CS_ALL(i, n, found[i].kind == CS_SUSPECT_PATH));
		}
}

HOLDS("of 100 noisy healthy networks of three or four nodes nothing is accused") {
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct netsim sim = netsim_of(3 + seed % 2, 0, seed);

		sim.noise = sim.noise_again = 0.1;
		t_eq_int(netsim_confirmed(found, netsim_judge(&sim, found, MOST)), 0);
	}
}

HOLDS("a node of three or four that loses two thirds is named though the others differ, and nothing else") {
	for (uint32_t nodes = 3; nodes <= 4; nodes++) {
		struct netsim sim = netsim_of(nodes, 0, 1);

		sim.noise = sim.noise_again = 0.1;
		sim.slow_node = 1;
		sim.sends = 0.3;
		t_ok(runs_with(sim, CS_SUSPECT_NODE, 1) > RUNS * 3 / 5);
	}
}

HOLDS("… and a path between four that loses four fifths, both ways") {
	struct netsim sim = netsim_of(4, 0, 1);

	sim.noise = sim.noise_again = 0.15;
	sim.path[0] = 0;
	sim.path[1] = 2;
	sim.there = sim.back = 0.2;
	t_ok(runs_with(sim, CS_SUSPECT_PATH, 0) + runs_with(sim, CS_SUSPECT_PATH, 2) >=
	     RUNS - 1);
}

HOLDS("what was slow in the first look alone is not confirmed") {
	struct netsim sim = netsim_of(16, 0, 3);
	size_t n;

	sim.first = 5;
	n = netsim_judge(&sim, found, MOST);
	t_must(n > 0);
	t_eq_int(found[0].kind, CS_SUSPECT_NODE);
	t_eq_int(found[0].a, 5);
	t_eq_int(found[0].again, CS_REMEASURED_NOT_CONFIRMED);
	t_eq_int(netsim_confirmed(found, n), 0);
}

HOLDS("second looks on a busy machine, which hide it, do not say that it is not so") {
	struct netsim sim = netsim_of(3, 0, 1);
	int denied = 0;

	sim.slow_node = 2;
	sim.sends = 0.2;
	sim.noise_again = 1;
	for (sim.seed = 1; sim.seed <= RUNS; sim.seed++) {
		t_must(netsim_judge(&sim, found, MOST) > 0);
		t_eq_int(found[0].a, 2);
		denied += found[0].again == CS_REMEASURED_NOT_CONFIRMED;
	}
	t_ok(denied <= RUNS / 10);
}

HOLDS("uplinks that are slow in company make no node of an unknown leaf guilty") {
	struct netsim sim = netsim_of(64, 8, 3);
	size_t n;

	sim.slow_leaf = 3;
	sim.uplink = 0.7;
	n = netsim_judge(&sim, found, MOST);
	t_eq_int(netsim_confirmed(found, n), 1);
	t_near(exp(found[0].off), 0.7, 0.02);
}

HOLDS("a node that only sends slowly is slow in that direction, by as much, in its interval") {
	for (uint32_t nodes = 3; nodes <= 9; nodes++) {
		struct netsim sim = netsim_of(nodes, 0, nodes);
		size_t n;

		sim.slow_node = nodes - 1;
		sim.sends = 0.61;
		n = netsim_judge(&sim, found, MOST);
		t_eq_int(netsim_confirmed(found, n), 1);
		t_eq_int(found[0].kind, CS_SUSPECT_NODE);
		t_eq_int(found[0].a, nodes - 1);
		t_ok(found[0].sends && !found[0].receives);
		t_near(exp(found[0].off), 0.61, 0.03);
		t_ok(found[0].low <= exp(found[0].off) &&
		     exp(found[0].off) <= found[0].high);
		t_near(found[0].others_gbs, 47.5, 1.5);
	}
}

HOLDS("one pair alone is a path, both ways or one") {
	struct netsim sim = netsim_of(16, 0, 9);
	size_t n;

	sim.path[0] = 4;
	sim.path[1] = 11;
	sim.there = 0.7;
	n = netsim_judge(&sim, found, MOST);
	t_eq_int(netsim_confirmed(found, n), 1);
	t_eq_int(found[0].kind, CS_SUSPECT_PATH);
	t_ok(found[0].a == 4 && found[0].b == 11);
	t_ok(found[0].sends && !found[0].receives);
	sim.back = 0.7;
	n = netsim_judge(&sim, found, MOST);
	t_eq_int(netsim_confirmed(found, n), 1);
	t_ok(found[0].sends && found[0].receives);
	t_ok(found[0].a + found[0].b == 4 + 11 && found[0].off < log(0.75));
}

HOLDS("a lost node takes nothing from the verdict on the others") {
	struct netsim sim = netsim_of(15, 0, 1);

	sim.lost = 2;
	t_eq_int(netsim_confirmed(found, netsim_judge(&sim, found, MOST)), 0);
	sim.slow_node = 7;
	sim.sends = sim.receives = 0.9;
	t_eq_int(runs_with(sim, CS_SUSPECT_NODE, 7), RUNS);
}

HOLDS("two nodes accuse nobody") {
	struct netsim sim = netsim_of(2, 0, 1);

	sim.slow_node = 1;
	sim.sends = 0.5;
	t_eq_int(netsim_judge(&sim, found, MOST), 0);
}
