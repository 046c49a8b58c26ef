/* Statistics of samples, against hand-computed values and exact coverage. */
#include "config.h"

#include <math.h>

#include "base/rng.h"
#include "result/stats.h"
#include "tap.h"

static void ranks_are_those_of_the_binomial(void)
{
	static const struct {
		size_t n, low, high;
	} want[] = {
		{ 6, 1, 6 },	{ 7, 1, 7 },	{ 8, 1, 8 },	{ 9, 2, 8 },
		{ 10, 2, 9 },	{ 12, 3, 10 },	{ 15, 4, 12 },	{ 20, 6, 15 },
		{ 30, 10, 21 },	{ 50, 18, 33 },	{ 100, 40, 61 },
	};
	size_t i, low, high;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		t_eq_int(cs_median_ranks(want[i].n, &low, &high), 0);
		t_eq_int(low, want[i].low);
		t_eq_int(high, want[i].high);
	}
}

static void few_samples_have_no_interval(void)
{
	size_t n, low = 77, high = 77;

	for (n = 0; n < 6; n++)
		t_eq_int(cs_median_ranks(n, &low, &high), -1);
	t_eq_int(low, 77);
	t_eq_int(high, 77);
}

/* n/2 - 1.96 sqrt(n)/2 for large n, where 2^-n is 0 in a double */
static void ranks_of_many_samples_are_near_normal(void)
{
	size_t low, high;

	t_eq_int(cs_median_ranks(10000, &low, &high), 0);
	t_near((double)low, 5000 - 98, 1.5);
	t_eq_int(low + high, 10001);
}

/* P(B < l) by Pascal's triangle in whole numbers, apart from the product's way */
static double exact_coverage(size_t n, size_t low)
{
	double row[64] = { 1 }, below = 0;
	size_t i, k;

	for (i = 1; i <= n; i++)
		for (k = i; k > 0; k--)
			row[k] += row[k - 1];
	for (k = 0; k < low; k++)
		below += row[k];
	return 1 - 2 * below / ldexp(1, (int)n);
}

static void ranks_are_the_narrowest_with_95_per_cent(void)
{
	size_t n, low, high;

	for (n = 6; n <= 50; n++) {
		t_eq_int(cs_median_ranks(n, &low, &high), 0);
		t_eq_int(low + high, n + 1);
		t_ok(exact_coverage(n, low) >= 0.95);
		t_ok(exact_coverage(n, low + 1) < 0.95);
	}
}

/* Share of seeded draws from an exponential distribution whose interval holds
 * the true median. */
static double seen_coverage(size_t n, int draws)
{
	struct cs_rng rng = { 20261120 };
	struct cs_stats stats;
	double x[50];
	int d, held = 0;
	size_t i;

	for (d = 0; d < draws; d++) {
		for (i = 0; i < n; i++)
			x[i] = -log(((double)(cs_rng_next(&rng) >> 11) + 0.5) /
				    9007199254740992.0);
		cs_stats_of(x, n, &stats);
		held += stats.ci_low <= log(2) && log(2) <= stats.ci_high;
	}
	return (double)held / draws;
}

static void the_interval_covers_the_median_of_a_skewed_distribution(void)
{
	static const size_t sizes[] = { 6, 10, 15, 20 };
	size_t i, low, high;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double seen = seen_coverage(sizes[i], 4000);

		cs_median_ranks(sizes[i], &low, &high);
		t_ok(seen >= 0.95 && seen < 1);
		t_near(seen, exact_coverage(sizes[i], low), 0.01);
	}
}

static void statistics_match_those_by_hand(void)
{
	static const double x[] = { 8, 1, 4, 2, 16, 32, 128, 64 };
	struct cs_stats s;

	cs_stats_of(x, 8, &s);
	t_eq_int(s.n, 8);
	t_near(s.median, 12, 0);
	t_near(s.ci_low, 1, 0);
	t_near(s.ci_high, 128, 0);
	t_near(s.min, 1, 0);
	t_near(s.max, 128, 0);
	t_near(s.mean, 31.875, 1e-12);
	t_near(s.sd, 44.266845, 1e-6);
	t_near(s.mad, 10.5, 0); /* of 4 11 8 10 4 20 116 52 */
	t_near(s.p5, 1.35, 1e-12);
	t_near(s.p95, 105.6, 1e-12);
	t_near(cs_stats_half_width(&s), 63.5 / 12, 1e-12);
	t_near(x[0], 8, 0);
}

static void one_sample_has_no_spread(void)
{
	static const double x[] = { 395.6 };
	struct cs_stats s;

	cs_stats_of(x, 1, &s);
	t_near(s.median, 395.6, 0);
	t_near(s.min, 395.6, 0);
	t_near(s.mean, 395.6, 0);
	t_near(s.p95, 395.6, 0);
	t_near(s.mad, 0, 0);
	t_ok(isnan(s.sd) && isnan(s.ci_low) && isnan(s.ci_high));
	t_near(cs_stats_half_width(&s), INFINITY, 0);
}

static void equal_samples_have_an_interval_of_no_width(void)
{
	static const double x[] = { 55, 55, 55, 55, 55, 55 };
	struct cs_stats s;

	cs_stats_of(x, 6, &s);
	t_near(s.sd, 0, 0);
	t_near(s.ci_low, 55, 0);
	t_near(cs_stats_half_width(&s), 0, 0);
}

static void a_small_spread_on_a_large_mean_is_kept(void)
{
	static const double x[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
	struct cs_stats s;

	cs_stats_of(x, 3, &s);
	t_near(s.sd, 1, 1e-6);
}

static void a_median_of_zero_never_converges(void)
{
	static const double x[] = { 0, 0, 0, 0, 0, 0 };
	struct cs_stats s;

	cs_stats_of(x, 6, &s);
	t_near(cs_stats_half_width(&s), INFINITY, 0);
}

static void infinite_samples_never_converge(void)
{
	static const double half[] = { 1, 2, 3, INFINITY, INFINITY, INFINITY };
	static const double all[] = { INFINITY, INFINITY, INFINITY,
				      INFINITY, INFINITY, INFINITY };
	struct cs_stats s;

	cs_stats_of(half, 6, &s);
	t_near(cs_stats_half_width(&s), INFINITY, 0);
	cs_stats_of(all, 6, &s);
	t_near(cs_stats_half_width(&s), INFINITY, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "ranks are those of the binomial distribution",
		  ranks_are_those_of_the_binomial },
		{ "fewer than 6 samples have no interval",
		  few_samples_have_no_interval },
		{ "ranks of many samples are near the normal ones",
		  ranks_of_many_samples_are_near_normal },
		{ "ranks are the narrowest with 95 per cent",
		  ranks_are_the_narrowest_with_95_per_cent },
		{ "the interval covers the median of a skewed distribution",
		  the_interval_covers_the_median_of_a_skewed_distribution },
		{ "statistics match those by hand", statistics_match_those_by_hand },
		{ "one sample has no spread and no interval",
		  one_sample_has_no_spread },
		{ "equal samples have an interval of no width",
		  equal_samples_have_an_interval_of_no_width },
		{ "a small spread on a large mean is kept",
		  a_small_spread_on_a_large_mean_is_kept },
		{ "a median of zero never converges",
		  a_median_of_zero_never_converges },
		{ "infinite samples never converge",
		  infinite_samples_never_converge },
		{ NULL, NULL },
	};

	return tap_main("stats", NULL, NULL, tests);
}
