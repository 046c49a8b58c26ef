/* Seeded random numbers and shuffles. */
#include "base/rng.h"
#include "tap.h"

/* The published first outputs of splitmix64 for seeds 0 and 1234567. */
HOLDS("the sequence is the published one") {
	struct cs_rng rng = { 0 };

	t_ok(cs_rng_next(&rng) == 0xe220a8397b1dcdafull);
	t_ok(cs_rng_next(&rng) == 0x6e789e6aa1b965f4ull);
	t_ok(cs_rng_next(&rng) == 0x06c45d188009454full);
	rng.state = 1234567;
	t_ok(cs_rng_next(&rng) == 6457827717110365317ull);
	t_ok(cs_rng_next(&rng) == 3203168211198807973ull);
}

HOLDS("draws stay below their bound") {
	static const uint64_t bounds[] = {
		1, 2, 3, 7, 1000, 1ull << 63, (1ull << 63) + 1, UINT64_MAX
	};
	struct cs_rng rng = { 5 };

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		for (size_t k = 0; k < 100; k++)
			t_ok(cs_rng_below(&rng, bounds[i]) < bounds[i]);
}

/* With 3 * 2^62 values, a plain remainder would draw the lowest third in half
 * of the cases. */
HOLDS("draws have no modulo bias") {
	const uint64_t below = 3ull << 62;
	struct cs_rng rng = { 7 };
	int low = 0;

	for (int i = 0; i < 3000; i++)
		low += cs_rng_below(&rng, below) < below / 3;
	t_near(low / 3000.0, 1.0 / 3, 0.03);
}

HOLDS("a shuffle keeps every index once") {
	uint32_t order[1000];
	char seen[1000] = { 0 };
	struct cs_rng rng = { 1 };
	int in_place = 0;

	cs_rng_shuffle(&rng, order, 1000);
	for (int i = 0; i < 1000; i++) {
		if (!t_ok(order[i] < 1000 && !seen[order[i]]))
			return;
		seen[order[i]] = 1;
		in_place += order[i] == (uint32_t)i;
	}
	t_ok(in_place < 10); /* 1 is expected */
}

HOLDS("the seed fixes the order") {
	uint32_t a[100], b[100];
	struct cs_rng rng = { 42 };

	cs_rng_shuffle(&rng, a, 100);
	rng.state = 42;
	cs_rng_shuffle(&rng, b, 100);
	t_eq_int(memcmp(a, b, sizeof(a)), 0);
	rng.state = 43;
	cs_rng_shuffle(&rng, b, 100);
	t_ok(memcmp(a, b, sizeof(a)) != 0);
}

HOLDS("all orders are equally likely") {
	int count[27] = { 0 };
	struct cs_rng rng = { 11 };
	uint32_t order[3];

	for (int i = 0; i < 6000; i++) {
		cs_rng_shuffle(&rng, order, 3);
		count[order[0] * 9 + order[1] * 3 + order[2]]++;
	}
	for (int i = 0; i < 27; i++) /* 1000 each of the 6; deviation 29 */
		if (count[i])
			t_near(count[i], 1000, 120);
}

HOLDS("none and one are shuffled") {
	struct cs_rng rng = { 1 };
	uint32_t order[2] = { 9, 9 };

	cs_rng_shuffle(&rng, order, 0);
	t_eq_int(order[0], 9);
	cs_rng_shuffle(&rng, order, 1);
	t_eq_int(order[0], 0);
	t_eq_int(order[1], 9);
}
