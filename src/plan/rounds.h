/* rounds.h - pairs of nodes that exchange messages at the same time, by formulas that each
 * node evaluates for itself: nothing that grows with the square of the nodes is kept.
 *
 * In a round each node has one partner (circle method: one stays, the others go round
 * it); with an odd number one node of each round has none.  N nodes have N - 1 rounds, N
 * if odd, in which every pair meets once.  Slots are the times of rounds, on rank 0's clock,
 * which each node knows by ping-pongs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "catalogue/catalogue.h"

#define CS_ROUNDS_AUTO 0u
#define CS_ROUNDS_ALL 65535u /* no more nodes have an endpoint's index */
#define CS_ROUNDS_WHOLE 64u  /* auto: of so many nodes all rounds, … */
#define CS_ROUNDS_DRAWN 32u  /* … of more so many */

/* The k-th pair of a round of `places`, an even number; the last place may be empty. */
void cs_round_pair(uint32_t places, uint32_t round, uint32_t k, uint32_t *a,
		   uint32_t *b);
/* The partner of a node; -1: none. */
int64_t cs_round_partner(uint32_t nodes, uint32_t round, uint32_t node);
/* All rounds of so many nodes, and those of them that are measured if `asked` were
 * asked for. */
uint32_t cs_rounds_of(uint32_t nodes);
uint32_t cs_rounds_count(uint32_t asked, uint32_t nodes);
/* The rounds in the order in which they are measured, drawn by the seed: the caller frees
 * *round, of which the first cs_rounds_count() are measured.  -1: no memory. */
int cs_rounds_draw(uint64_t seed, uint32_t nodes, uint32_t **round,
		   struct cs_err *err);

/* ---- patterns ---- */

#define CS_INCAST_MOST 7u /* nodes that send to one at the same time, at most */

/* A round that is measured: its place in the order, and the round that was drawn. */
struct cs_round {
	uint32_t at, drawn;
};
/* A node's part in it: to whom it sends, -1 to nobody, and from whom it receives. */
struct cs_part {
	int64_t to;
	uint32_t n_from, from[CS_INCAST_MOST];
};
/* What a test's pattern is between so many nodes:
 *	shift	node i to i + k at the same time, k = drawn + 1; of `only`, if that is not 0
 *	bisect	node i and i + N/2, in one round
 *	incast	groups of up to eight neighbours; in each all others to one at the same time,
 *		to each in turn
 *	others	the partner of the round */
struct cs_part cs_round_part(const struct cs_test *test, uint32_t only,
			     uint32_t nodes, struct cs_round round, uint32_t node);
/* The rounds that it has if so many were asked for, as for cs_rounds_count(). */
uint32_t cs_rounds_with(const struct cs_test *test, uint32_t only, uint32_t nodes,
			uint32_t asked);
/* How many nodes send in it. */
uint32_t cs_round_senders(const struct cs_test *test, uint32_t only, uint32_t nodes,
			  struct cs_round round);
/* Transfers of a round at the same time, at most. */
uint32_t cs_round_transfers(const struct cs_test *test, uint32_t nodes);

/* ---- the clock ---- */

/* A message to rank 0 and its answer: when it left and came back on this clock, and rank
 * 0's time between, in seconds. */
struct cs_ping {
	double left, root, back;
};
/* Rank 0's clock minus this one, by the ping that was fastest; its round trip: the error is
 * at most half of that.  n >= 1. */
struct cs_clock {
	double ahead_s, trip_s;
};
struct cs_clock cs_clock_of(const struct cs_ping *ping, size_t n);
#define CS_PINGS 32u

/* ---- slots ---- */

#define CS_SLOT_SAMPLES 6 /* of each figure that count, after one that does not */

/* The results of a pair's trial: seconds of a round trip, of a message, of poisoning and
 * checking one, and from the trial's begin until both were there.  NAN unknown. */
struct cs_trial {
	double trip_s, message_s, check_s, late_s;
};
/* The same for all pairs: messages of a sample, which takes 10 ms and 200 round trips or
 * longer; the time of a sample with its check; and the rest of each slot, for nodes that
 * are late. */
struct cs_slots {
	double sample_s, late_s;
	double gpu_s; /* a sample of a GPU's memory; 0: not known */
	uint64_t window;
};
/* By the median of n trials, the time by the slowest that is not an exception.  0 window:
 * no trial succeeded. */
struct cs_slots cs_slots_of(const struct cs_trial *trial, size_t n, uint32_t most);
/* The time of a sample of so many messages by n trials; 0: none succeeded. */
double cs_sample_s(const struct cs_trial *trial, size_t n, uint64_t window);
/* The time of a slot of a test. */
double cs_slot_s(const struct cs_slots *slots, const struct cs_test *test);
/* … and between slots, for the pings of all nodes. */
double cs_clock_gap_s(const struct cs_slots *slots, uint32_t nodes);
/* The messages of the first sample of a slot, in which connections open and which does not
 * count: with host memory that others have used before, a quarter of those of all others. */
uint32_t cs_first_messages(const struct cs_test *test, uint32_t window, int is_used);
