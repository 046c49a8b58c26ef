/* The order in which sides take their turns. */
#include "plan/turns.h"
#include "tap.h"

#define SIDES_MOST 8

static struct cs_turn *turns_of(const struct cs_turns *turns, uint64_t seed)
{
	struct cs_turn *order = calloc(cs_turns_count(turns), sizeof(*order));
	struct cs_rng rng = { seed };

	if (!t_ok(order != NULL) ||
	    !t_eq_int(cs_turns_order(turns, &rng, order, NULL), 0))
		exit(1);
	return order;
}

HOLDS("two sides are ABBA or BAAB, equally often") {
	const struct cs_turns turns = { .cells = 56, .placements = 2, .visits = 2 };
	struct cs_turn *order = turns_of(&turns, 1);
	int begins[2] = { 0 };

	t_eq_int(cs_turns_count(&turns), 56 * 2 * 4);
	for (size_t i = 0; i < 56 * 2 * 4; i += 4) {
		const struct cs_turn *t = &order[i];

		for (size_t k = 1; k < 4; k++)
			t_eq_int(t[k].cell, t[0].cell);
		t_ok(t[0].placement == t[3].placement &&
		     t[1].placement == t[2].placement);
		t_ok(t[0].placement != t[1].placement && t[0].placement < 2 &&
		     t[1].placement < 2);
		begins[t[0].placement]++;
	}
	t_eq_int(begins[0], begins[1]);
	free(order);
}

/* The places of each side in a visit add up alike: 0 + 2k-1, for example. */
HOLDS("a steady drift cancels in every visit") {
	for (uint32_t k = 1; k <= SIDES_MOST; k++) {
		const struct cs_turns turns = { 5, k, 3 };
		struct cs_turn *order = turns_of(&turns, k);

		for (uint32_t i = 0; i < 5 * 3; i++) {
			uint32_t times[SIDES_MOST] = { 0 };
			uint32_t places[SIDES_MOST] = { 0 };

			for (uint32_t at = 0; at < 2 * k; at++) {
				uint32_t side = order[i * 2 * k + at].placement;

				times[side]++;
				places[side] += at;
			}
			for (uint32_t at = 0; at < k; at++) {
				t_eq_int(times[at], 2);
				t_eq_int(places[at], 2 * k - 1);
			}
		}
		free(order);
	}
}

/* Over k visits of a cell, within rows and their mirrors. */
HOLDS("every side is first, and follows others, equally often") {
	for (uint32_t k = 2; k <= SIDES_MOST; k++) {
		const struct cs_turns turns = { 1, k, k };
		struct cs_turn *order = turns_of(&turns, 7 * k);
		uint32_t first[SIDES_MOST] = { 0 };
		uint32_t after[SIDES_MOST][SIDES_MOST] = { { 0 } };

		for (uint32_t i = 0; i < k; i++) {
			const struct cs_turn *t = &order[i * 2 * k];

			first[t[0].placement]++;
			for (uint32_t at = 1; at < 2 * k; at++)
				after[t[at - 1].placement][t[at].placement]++;
		}
		for (uint32_t i = 0; i < k; i++) {
			t_eq_int(first[i], 1);
			for (uint32_t at = 0; at < k; at++)
				t_eq_int(after[i][at], i == at ? 1 : 2);
		}
		free(order);
	}
}

/* Of two sides each cell has as many ABBA as BAAB, in an order of its own. */
HOLDS("what comes in every visit harms both sides of a cell") {
	const struct cs_turns turns = { 56, 2, 4 };
	struct cs_turn *order = turns_of(&turns, 9);
	int first[56] = { 0 }, in_turn[56] = { 0 }, last[56], all_in_turn = 0;

	for (size_t i = 0; i < 56 * 4 * 4; i += 4) {
		uint32_t cell = order[i].cell, side = order[i].placement;
		int visit = (int)(i / (56 * 4));

		first[cell] += side == 0;
		in_turn[cell] += visit && (int)side != last[cell];
		last[cell] = (int)side;
	}
	for (int i = 0; i < 56; i++) {
		t_eq_int(first[i], 2);
		all_in_turn += in_turn[i] == 3;
	}
	t_ok(all_in_turn > 0 && all_in_turn < 56);
	free(order);
}

HOLDS("every cell is visited once a round, in shuffled order") {
	const struct cs_turns turns = { .cells = 40, .placements = 3, .visits = 2 };
	struct cs_turn *order = turns_of(&turns, 3);
	int seen[40] = { 0 }, in_place = 0;

	for (int i = 0; i < 80; i++) {
		uint32_t cell = order[i * 6].cell;

		t_eq_int(seen[cell]++, i / 40);
		in_place += cell == (uint32_t)(i % 40);
	}
	t_ok(in_place < 12); /* 2 are expected */
	t_ok(memcmp(order, order + 40 * 6, 40 * 6 * sizeof(*order)) != 0);
	free(order);
}

HOLDS("the seed fixes the turns") {
	const struct cs_turns turns = { .cells = 12, .placements = 2, .visits = 1 };
	struct cs_turn *a = turns_of(&turns, 5), *b = turns_of(&turns, 5);
	struct cs_turn *c = turns_of(&turns, 6);

	t_eq_int(memcmp(a, b, 48 * sizeof(*a)), 0);
	t_ok(memcmp(a, c, 48 * sizeof(*a)) != 0);
	free(a);
	free(b);
	free(c);
}

HOLDS("nothing to order is an error") {
	static const struct cs_turns bad[] = {
		{ 0, 2, 1 },
		{ 2, 0, 1 },
		{ 2, 2, 0 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX },
	};
	struct cs_rng rng = { 1 };
	struct cs_err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		t_eq_int(cs_turns_order(&bad[i], &rng, NULL, &err), -1);
	t_eq_int(cs_turns_count(&bad[3]), 0);
	t_eq_str(err.text, "no order for 4294967295 cells and 4294967295 placements, "
			   "4294967295 times");
}
