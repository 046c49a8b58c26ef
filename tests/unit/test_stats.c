/* Statistics of samples, against hand-computed values and exact coverage. */
#include "base/rng.h"
#include "result/stats.h"
#include "tap.h"

HOLDS("ranks are those of the binomial distribution") {
	static const struct {
		size_t n, low, high;
	} want[] = {
		{ 6, 1, 6 },   { 7, 1, 7 },    { 8, 1, 8 },	{ 9, 1, 9 },
		{ 10, 2, 9 },  { 12, 2, 11 },  { 15, 3, 13 },	{ 20, 5, 16 },
		{ 30, 9, 22 }, { 50, 17, 34 }, { 100, 39, 62 },
	};
	size_t low, high;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		t_eq_int(cs_median_ranks(want[i].n, &low, &high), 0);
		t_eq_int(low, want[i].low);
		t_eq_int(high, want[i].high);
	}
}

HOLDS("fewer than 6 samples have no interval") {
	size_t low = 77, high = 77;

	for (size_t n = 0; n < 6; n++)
		t_eq_int(cs_median_ranks(n, &low, &high), -1);
	t_eq_int(low, 77);
	t_eq_int(high, 77);
}

/* n/2 - 2.154 sqrt(n)/2 for large n, where 2^-n is 0 in a double */
HOLDS("ranks of many samples are near the normal ones") {
	size_t low, high;

	t_eq_int(cs_median_ranks(10000, &low, &high), 0);
	t_near((double)low, 5000 - 107.7, 1.5);
	t_eq_int(low + high, 10001);
}

/* P(B < l) by Pascal's triangle in whole numbers, apart from the product's way */
static double exact_coverage(size_t n, size_t low)
{
	double row[64] = { 1 }, below = 0;

	for (size_t i = 1; i <= n; i++)
		for (size_t k = i; k > 0; k--)
			row[k] += row[k - 1];
	for (size_t k = 0; k < low; k++)
		below += row[k];
	return 1 - 2 * below / ldexp(1, (int)n);
}

HOLDS("ranks are the narrowest as sure as the range of six") {
	size_t low, high;

	for (size_t n = 6; n <= 50; n++) {
		t_eq_int(cs_median_ranks(n, &low, &high), 0);
		t_eq_int(low + high, n + 1);
		t_ok(exact_coverage(n, low) >= exact_coverage(6, 1));
		t_ok(exact_coverage(n, low + 1) < exact_coverage(6, 1));
	}
}

/* Share of seeded draws from an exponential distribution whose interval holds
 * the true median. */
static double seen_coverage(size_t n, int draws)
{
	struct cs_rng rng = { 20261120 };
	struct cs_stats stats;
	double x[50];
	int held = 0;

	for (int d = 0; d < draws; d++) {
		for (size_t i = 0; i < n; i++)
			x[i] = -log(((double)(cs_rng_next(&rng) >> 11) + 0.5) /
				    9007199254740992.0);
		cs_stats_of(x, n, &stats);
		held += stats.ci_low <= log(2) && log(2) <= stats.ci_high;
	}
	return (double)held / draws;
}

HOLDS("the interval covers the median of a skewed distribution") {
	static const size_t sizes[] = { 6, 10, 15, 20 };
	size_t low, high;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double seen = seen_coverage(sizes[i], 4000);

		cs_median_ranks(sizes[i], &low, &high);
		t_ok(seen >= exact_coverage(sizes[i], low) && seen < 1);
	}
}

HOLDS("the interval is wider where samples depend on each other") {
	/* the same values: by turns, and one half after the other */
	static const double turns[] = { 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11 };
	static const double halves[] = { 9, 9, 9, 9, 9, 9, 11, 11, 11, 11, 11, 11 };
	static const double equal[] = { 5, 5, 5, 5, 5, 5, 5 };
	static const double tails[] = { 0, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 20 };
	struct cs_stats apart, together, far;
	double unknown = 1.24 / sqrt(12);
	/* the 2nd and the 11th of 12 are 4.5 ranks from the middle, the ends 5.5 */
	double ranks = 4.5 / 5.5;

	t_near(cs_lag1(turns, 12), -11. / 12, 1e-12);
	t_near(cs_lag1(halves, 12), 9. / 12, 1e-12);
	t_near(cs_lag1(equal, 7), 0, 0);
	cs_stats_of(turns, 12, &apart);
	cs_stats_of(halves, 12, &together);
	cs_stats_of(tails, 12, &far);
	t_near(apart.ci_high - 10, ranks * sqrt((1 + unknown) / (1 - unknown)), 1e-12);
	t_near(together.ci_high - 10, ranks * sqrt(1.95 / 0.05), 1e-12);
	t_near(far.ci_high - 10, cs_stats_widening(tails, 12), 1e-12);
	t_near(10 - apart.ci_low, apart.ci_high - 10, 1e-12);
}

static struct cs_stats s;

HOLDS("the margin of a median is the larger side of its interval") {
	static const double x[] = { 99, 100, 100, 100, 100, 104 };
	double widening = cs_stats_widening(x, 6);

	cs_stats_of(x, 6, &s);
	t_near(s.ci_low, 100 - widening, 1e-12);
	t_near(cs_stats_margin(&s), 0.04 * widening, 1e-12);
}

HOLDS("an interval of rates ends at 0") {
	static const double x[] = { 1, 2, 3, 50, 60, 70 };

	cs_stats_of(x, 6, &s);
	t_near(s.ci_low, 0, 0);
	t_ok(s.ci_high > 70);
}

HOLDS("statistics match those by hand") {
	static const double x[] = { 8, 1, 4, 2, 16, 32, 128, 64 };

	cs_stats_of(x, 8, &s);
	t_eq_int(s.n, 8);
	t_near(s.median, 12, 0);
	t_near(s.ci_low, 0, 0);
	t_near(s.ci_high, 12 + 116 * cs_stats_widening(x, 8), 1e-12);
	t_near(s.min, 1, 0);
	t_near(s.max, 128, 0);
	t_near(s.mean, 31.875, 1e-12);
	t_near(s.sd, 44.266845, 1e-6);
	t_near(s.mad, 10.5, 0); /* of 4 11 8 10 4 20 116 52 */
	t_near(s.p5, 1.35, 1e-12);
	t_near(s.p95, 105.6, 1e-12);
	t_near(cs_stats_margin(&s), (s.ci_high - 12) / 12, 1e-12);
	t_near(x[0], 8, 0);
}

HOLDS("one sample has no spread and no interval") {
	static const double x[] = { 395.6 };

	cs_stats_of(x, 1, &s);
	t_near(s.median, 395.6, 0);
	t_near(s.min, 395.6, 0);
	t_near(s.mean, 395.6, 0);
	t_near(s.p95, 395.6, 0);
	t_near(s.mad, 0, 0);
	t_ok(isnan(s.sd) && isnan(s.ci_low) && isnan(s.ci_high));
	t_near(cs_stats_margin(&s), INFINITY, 0);
}

HOLDS("equal samples have an interval of no width") {
	static const double x[] = { 55, 55, 55, 55, 55, 55 };

	cs_stats_of(x, 6, &s);
	t_near(s.sd, 0, 0);
	t_near(s.ci_low, 55, 0);
	t_near(cs_stats_margin(&s), 0, 0);
}

HOLDS("a small spread on a large mean is kept") {
	static const double x[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };

	cs_stats_of(x, 3, &s);
	t_near(s.sd, 1, 1e-6);
}

HOLDS("a median of zero and infinite samples never converge") {
	static const double zero[] = { 0, 0, 0, 0, 0, 0 };
	static const double half[] = { 1, 2, 3, INFINITY, INFINITY, INFINITY };
	static const double all[] = { INFINITY, INFINITY, INFINITY,
				      INFINITY, INFINITY, INFINITY };
	static const double *const of[] = { zero, half, all };

	for (int i = 0; i < 3; i++) {
		cs_stats_of(of[i], 6, &s);
		t_near(cs_stats_margin(&s), INFINITY, 0);
	}
}
