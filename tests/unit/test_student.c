/* Student's distribution and the bootstrap of a median, against tables, closed
 * forms and drawing. */
#include "base/statistics.h"
#include "base/rng.h"
#include "tap.h"

/* I_x(1, b) = 1 - (1-x)^b, I_x(a, 1) = x^a, and that of whole numbers is a tail of
 * the binomial distribution: I_x(2, 3) = 6x^2 - 8x^3 + 3x^4. */
HOLDS("shares of the beta distribution are the closed forms") {
	double x;

	for (x = 0; x < 1.01; x += 0.0625) {
		t_near(cs_beta_share(1, 7, x), 1 - pow(1 - x, 7), 1e-14);
		t_near(cs_beta_share(7, 1, x), pow(x, 7), 1e-14);
		t_near(cs_beta_share(2, 3, x), x * x * (6 - 8 * x + 3 * x * x), 1e-14);
		t_near(cs_beta_share(0.5, 0.5, x), asin(sqrt(x)) * 2 / acos(-1),
		       1e-14);
	}
}

HOLDS("shares stay between 0 and 1") {
	t_near(cs_beta_share(3, 4, -1), 0, 0);
	t_near(cs_beta_share(3, 4, 2), 1, 0);
	t_near(cs_beta_share(5000.5, 5000.5, 0.5), 0.5, 1e-10);
	t_near(cs_beta_share(5000.5, 5000.5, 0.4), 0, 1e-80);
	t_near(cs_beta_share(25.5, 25.5, 1e-9), 0, 1e-200);
}

/* Printed tables: two-sided 5 %, 1 % and 0.1 %. */
HOLDS("quantiles are those of the tables") {
	static const struct {
		double df, t05, t01, t001;
	} want[] = {
		{ 1, 12.706, 63.657, 636.619 }, { 2, 4.303, 9.925, 31.599 },
		{ 3, 3.182, 5.841, 12.924 },	{ 6, 2.447, 3.707, 5.959 },
		{ 14, 2.145, 2.977, 4.140 },	{ 30, 2.042, 2.750, 3.646 },
		{ 1e5, 1.960, 2.576, 3.291 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		t_near(cs_student_t(0.05, want[i].df), want[i].t05, 6e-4);
		t_near(cs_student_t(0.01, want[i].df), want[i].t01, 6e-4);
		t_near(cs_student_t(0.001, want[i].df), want[i].t001, 6e-4);
	}
}

HOLDS("probability and quantile undo each other") {
	double df, p;

	for (df = 1; df < 50; df *= 1.37)
		for (p = 0.9; p > 1e-6; p *= 0.31)
			t_near(cs_student_p(cs_student_t(p, df), df) / p, 1, 1e-9);
	t_near(cs_student_p(0, 3), 1, 1e-14);
	t_near(cs_student_p(INFINITY, 3), 0, 0);
	t_near(cs_student_t(1, 3), 0, 1e-6);
	t_near(cs_student_p(1, 1), 0.5, 1e-14); /* Cauchy's quartile */
}

/* Variance of the medians of `draws` resamples. */
static double drawn_variance(const double *x, size_t n, int draws, struct cs_rng *rng)
{
	double again[32], sum = 0, squares = 0;

	for (int i = 0; i < draws; i++) {
		double median;

		for (size_t k = 0; k < n; k++)
			again[k] = x[cs_rng_below(rng, n)];
		median = cs_median(again, n);
		sum += median;
		squares += median * median;
	}
	return squares / draws - sum / draws * (sum / draws);
}

HOLDS("the variance of a median is that of its bootstrap") {
	static const double x[] = { -3.1, -1.4, -0.9, -0.3, -0.25, 0.0,	 0.1, 0.35,
				    0.4,  0.8,	1.0,  1.7,  2.2,   3.05, 6.0 };
	struct cs_rng rng = { 4 };

	for (size_t n = 3; n <= 15; n++) {
		double drawn = drawn_variance(x, n, 20000, &rng);
		double closed = cs_median_variance(x, n);

		if (n % 2)
			t_near(closed / drawn, 1, 0.04);
		else
			t_ok(closed >= drawn);
	}
}

HOLDS("a median without spread has no variance") {
	static const double one[] = { 55.3 }, equal[] = { 0.1, 0.1, 0.1, 0.1 };
	static const double close[] = { 1e6, 1e6 + 1e-4, 1e6 + 2e-4 };

	t_near(cs_median_variance(one, 1), 0, 0);
	t_near(cs_median_variance(equal, 4), 0, 0);
	/* (7, 13, 7)/27 of the resamples */
	t_near(cs_median_variance(close, 3) / (1e-8 * 14 / 27), 1, 1e-5);
}
