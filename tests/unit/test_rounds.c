/* Which nodes meet when, on whose clock. */
#include "config.h"

#include "plan/rounds.h"
#include "tap.h"

#define NODES_MOST 17u

HOLDS("in a round each node has one partner, whose partner it is") {
	for (uint32_t n = 2; n <= NODES_MOST; n++)
		for (uint32_t round = 0; round < cs_rounds_of(n); round++) {
			uint32_t without = 0;

			for (uint32_t node = 0; node < n; node++) {
				int64_t other = cs_round_partner(n, round, node);

				without += other < 0;
				if (other < 0)
					continue;
				t_ok(other != node && other < n);
				t_eq_int(cs_round_partner(n, round, (uint32_t)other),
					 node);
			}
			t_eq_int(without, n % 2);
		}
}

HOLDS("in all rounds every pair meets once") {
	for (uint32_t n = 2; n <= NODES_MOST; n++) {
		int met[NODES_MOST][NODES_MOST] = { { 0 } };

		for (uint32_t round = 0; round < cs_rounds_of(n); round++)
			for (uint32_t node = 0; node < n; node++)
				if (cs_round_partner(n, round, node) >= 0)
					met[node][cs_round_partner(n, round, node)]++;
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				t_eq_int(met[a][b], a != b);
	}
}

HOLDS("pairs of agents go round as pairs of nodes do") {
	for (uint32_t n = 2; n <= NODES_MOST; n++)
		for (uint32_t round = 0; round < cs_rounds_of(n); round++)
			for (uint32_t k = 0; k < (n + 1) / 2; k++) {
				uint32_t a, b;

				cs_round_pair(n + n % 2, round, k, &a, &b);
				if (a < n && b < n)
					t_eq_int(cs_round_partner(n, round, a), b);
			}
}

/* What all nodes do in a round: each receives from those that send to it, and from no
 * other.  Returns the transfers, at most `most` to a node. */
static uint32_t transfers(const char *name, uint32_t only, uint32_t n,
			  struct cs_round round, uint32_t most,
			  int met[NODES_MOST][NODES_MOST])
{
	const struct cs_test *test = cs_test_at(cs_test_index(name));
	uint32_t sent = 0, received = 0;

	for (uint32_t node = 0; node < n; node++) {
		const struct cs_part part = cs_round_part(test, only, n, round, node);
		struct cs_part other;
		uint32_t i = 0;

		received += part.n_from;
		t_ok(part.n_from <= most);
		if (part.to < 0)
			continue;
		t_ok(part.to < n && part.to != node);
		met[node][part.to]++;
		sent++;
		other = cs_round_part(test, only, n, round, (uint32_t)part.to);
		while (i < other.n_from && other.from[i] != node)
			i++;
		t_ok(i < other.n_from);
	}
	t_eq_int(received, sent);
	return sent;
}

HOLDS("a shift has each node send to one and receive from one, and all meet both ways") {
	for (uint32_t n = 2; n <= NODES_MOST; n++) {
		int met[NODES_MOST][NODES_MOST] = { { 0 } };

		for (uint32_t r = 0; r < cs_rounds_of(n); r++)
			t_eq_int(transfers("nethost.mpi.pinned.shift", 0, n,
					   (struct cs_round){ r, r }, 1, met),
				 r + 1 < n ? n : 0);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				t_eq_int(met[a][b], a != b);
	}
}

HOLDS("shift:K is one round, of K alone") {
	int met[NODES_MOST][NODES_MOST] = { { 0 } };

	t_eq_int(transfers("nethost.mpi.pinned.shift", 2, 5,
			   (struct cs_round){ 0, 3 }, 1, met),
		 5);
	t_eq_int(met[4][1], 1);
	t_eq_int(transfers("nethost.mpi.pinned.shift", 2, 5,
			   (struct cs_round){ 1, 0 }, 1, met),
		 0);
	t_eq_int(transfers("nethost.mpi.pinned.shift", 5, 5,
			   (struct cs_round){ 0, 3 }, 1, met),
		 0);
}

HOLDS("a bisection pairs the halves of the nodes in one round, but for an odd one") {
	for (uint32_t n = 2; n <= NODES_MOST; n++) {
		int met[NODES_MOST][NODES_MOST] = { { 0 } };

		for (uint32_t r = 0; r < cs_rounds_of(n); r++)
			t_eq_int(transfers("nethost.mpi.pinned.bisect", 0, n,
					   (struct cs_round){ r, n - 2 }, 1, met),
				 r ? 0 : n / 2 * 2);
		for (uint32_t a = 0; a < n / 2; a++)
			for (uint32_t b = 0; b < n / 2; b++) {
				t_eq_int(met[a][n / 2 + b], a == b);
				t_eq_int(met[n / 2 + b][a], a == b);
			}
	}
}

HOLDS("incast: of groups of at most eight neighbours all send to one, to each in turn") {
	static const char name[] = "nethost.mpi.pinned.incast";
	const struct cs_test *test = cs_test_at(cs_test_index(name));

	for (uint32_t n = 2; n <= NODES_MOST; n++) {
		int met[NODES_MOST][NODES_MOST] = { { 0 } };
		const uint32_t rounds = cs_rounds_with(test, 0, n, CS_ROUNDS_AUTO);

		t_ok(rounds >= 2 && rounds <= CS_INCAST_MOST + 1);
		for (uint32_t r = 0; r < rounds + 2; r++)
			t_ok(transfers(name, 0, n, (struct cs_round){ r, 0 },
				       CS_INCAST_MOST,
				       met) <= cs_round_transfers(test, n));
		for (uint32_t a = 0; a < n; a++) {
			uint32_t to = 0, with = 0;

			for (uint32_t b = 0; b < n; b++) {
				to += met[a][b];
				with += met[b][a];
			}
			t_eq_int(to, with); /* the others of its group */
			t_ok(to + 1 == rounds || to + 2 == rounds);
		}
	}
	t_eq_int(cs_rounds_with(test, 0, 9, CS_ROUNDS_AUTO), 5);
	t_eq_int(cs_rounds_with(test, 0, 4, CS_ROUNDS_AUTO), 4);
	t_eq_int(cs_rounds_with(test, 0, 10000, CS_ROUNDS_ALL), 8);
	t_eq_int(cs_rounds_with(test, 0, 10000, 3), 3);
	t_eq_int(cs_rounds_with(test, 0, 1, CS_ROUNDS_ALL), 0);
}

HOLDS("up to 64 nodes all rounds are measured, of more 32, or as many as are asked for") {
	t_eq_int(cs_rounds_count(CS_ROUNDS_AUTO, 1), 0);
	t_eq_int(cs_rounds_count(CS_ROUNDS_AUTO, 2), 1);
	t_eq_int(cs_rounds_count(CS_ROUNDS_AUTO, 3), 3);
	t_eq_int(cs_rounds_count(CS_ROUNDS_AUTO, 64), 63);
	t_eq_int(cs_rounds_count(CS_ROUNDS_AUTO, 65), 32);
	t_eq_int(cs_rounds_count(CS_ROUNDS_AUTO, 10000), 32);
	t_eq_int(cs_rounds_count(CS_ROUNDS_ALL, 10000), 9999);
	t_eq_int(cs_rounds_count(5, 10000), 5);
	t_eq_int(cs_rounds_count(5, 4), 3);
}

HOLDS("the seed draws the order of the rounds, each once") {
	uint32_t *one, *same, *other;
	char found[999] = { 0 };

	t_must(!cs_rounds_draw(7, 1000, &one, NULL));
	t_must(!cs_rounds_draw(7, 1000, &same, NULL));
	t_must(!cs_rounds_draw(8, 1000, &other, NULL));
	t_ok(!memcmp(one, same, 999 * sizeof(*one)));
	t_ok(memcmp(one, other, 999 * sizeof(*one)) != 0);
	for (int i = 0; i < 999; i++)
		t_eq_int(one[i] < 999 ? found[one[i]]++ : 1, 0);
	free(one);
	free(same);
	free(other);
}

HOLDS("the clock is that of the fastest ping, and its error at most half of that") {
	/* rank 0 is 100 s ahead; the way there is slow, slower, and as fast as back */
	const struct cs_ping ping[] = {
		{ 1.000, 101.0030, 1.004 },
		{ 2.000, 102.0500, 2.060 },
		{ 3.000, 103.0001, 3.0002 },
	};
	struct cs_clock clock = cs_clock_of(ping, 3);

	t_near(clock.ahead_s, 100, 1e-9);
	t_near(clock.trip_s, 200e-6, 1e-9);
	clock = cs_clock_of(ping, 2);
	t_ok(fabs(clock.ahead_s - 100) <= clock.trip_s / 2);
	t_near(clock.trip_s, 4e-3, 1e-9);
}

static const struct cs_test *pair(void)
{
	return cs_test_at(cs_test_index("nethost.mpi.pinned.pair"));
}

static const struct cs_test *gpu(void)
{
	return cs_test_at(cs_test_index("net.mpi.staged.rails"));
}

HOLDS("a sample takes 10 ms and 200 round trips, or longer") {
	struct cs_trial fast = { 10e-6, 20e-6, 0, 0 };
	struct cs_trial far = { 100e-6, 20e-6, 0, 0 };
	struct cs_trial slow = { 10e-6, 44e-3, 0, 0 };

	t_eq_int(cs_slots_of(&fast, 1, 512).window, 500);
	t_eq_int(cs_slots_of(&fast, 1, 100).window, 100);
	t_eq_int(cs_slots_of(&far, 1, 5000).window, 1000);
	t_eq_int(cs_slots_of(&slow, 1, 512).window, 4);
}

HOLDS("a slot has room for the samples of most pairs, and for who is late") {
	struct cs_trial trial[] = {
		{ 10e-6, 1e-3, 1e-3, 1e-4 }, { NAN, NAN, NAN, 0.1 },
		{ 10e-6, 1e-3, 1e-3, 0.05 }, { 10e-6, 0.1, 1e-3, 1e-4 },
		{ 10e-6, 1e-3, 1e-3, 1e-4 },
	};
	struct cs_slots slots = cs_slots_of(trial, 5, 512);
	double sample_s = 10 * 2e-3 + 4 * 10e-6;

	t_eq_int(slots.window, 10);
	/* 100 times slower is an exception */
	t_near(slots.sample_s, 1.3 * 8 * sample_s, 1e-6);
	t_near(slots.late_s, 4 * 0.05, 1e-9);
	t_near(cs_slot_s(&slots, pair()), 0.2 + 12.5 * slots.sample_s, 1e-9);
	t_near(cs_slot_s(&slots, gpu()), 5, 1e-9); /* no slot is longer */
	slots.gpu_s = slots.sample_s / 8;	   /* its own trial */
	t_near(cs_slot_s(&slots, gpu()), 0.2 + 14 * slots.gpu_s, 1e-9);
	trial[3] = trial[0];
	t_near(cs_slots_of(trial, 5, 512).sample_s, 1.3 * sample_s, 1e-6);
}

HOLDS("without a trial that succeeded there are no slots") {
	const struct cs_trial trial = { NAN, NAN, 0, 0 };

	t_eq_int(cs_slots_of(&trial, 1, 512).window, 0);
	t_eq_int(cs_slots_of(NULL, 0, 512).window, 0);
}

HOLDS("a first sample is short where others have used the memory, of a GPU whole") {
	t_eq_int(cs_first_messages(pair(), 239, 1), 60);
	t_eq_int(cs_first_messages(pair(), 4, 1), 1);
	t_eq_int(cs_first_messages(pair(), 239, 0), 239);
	t_eq_int(cs_first_messages(gpu(), 239, 1), 239);
}

/* Pairs one way at 25 GB/s, whose nodes poison and check a message by 16 threads of a CPU
 * that needs 175 us for one: the time of all rounds, with a gap for clocks every 10 s. */
static double all_rounds_s(uint32_t nodes)
{
	const struct cs_trial trial = { 10e-6, 42e-6, 175e-6 / 16, 1e-3 };
	const struct cs_slots slots = cs_slots_of(&trial, 1, 512);
	const double s = cs_rounds_count(CS_ROUNDS_AUTO, nodes) *
			 cs_slot_s(&slots, pair());
	const double gap_s = cs_clock_gap_s(&slots, nodes);

	printf("# %u nodes: %.1f s, windows of %.1f of %.1f ms; clocks %.2f s\n",
	       nodes, s, 1e3 * trial.message_s * (double)slots.window,
	       1e3 * slots.sample_s, gap_s);
	return s + floor(s / 10) * gap_s;
}

HOLDS("all pairs of 64 nodes take less than 15 s, 32 rounds of 10,000 less than 10 s") {
	t_ok(all_rounds_s(64) < 15);
	t_ok(all_rounds_s(10000) < 10);
}
