#include "base/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define FRACTION_ROUNDS 10000 /* a few times the root of a + b are needed */

/* 1 + d1/(1 + d2/(1 + ...)), from the front (Lentz, Appl. Opt. 15 (1976) 668). */
static double beta_fraction(double a, double b, double x)
{
	double value = 1, c = 1, d = 0, change = 0;

	for (int k = 1; k <= FRACTION_ROUNDS && fabs(change - 1) > 4 * DBL_EPSILON;
	     k++) {
		double m = k / 2, at = a + 2 * m;
		double part = k % 2 ? -(a + m) * (a + b + m) * x / (at * (at + 1)) :
				      m * (b - m) * x / ((at - 1) * at);

		d = 1 / (1 + part * d);
		c = 1 + part / c;
		change = c * d;
		value *= change;
	}
	return value;
}

double cs_beta_share(double a, double b, double x)
{
	int sign;
	double log_beta = lgamma_r(a, &sign) + lgamma_r(b, &sign) -
			  lgamma_r(a + b, &sign);
	double front;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	front = exp(a * log(x) + b * log1p(-x) - log_beta);
	/* the fraction is short on one side of the middle */
	if (x < (a + 1) / (a + b + 2))
		return front / a / beta_fraction(a, b, x);
	return 1 - front / b / beta_fraction(b, a, 1 - x);
}

double cs_student_p(double t, double df)
{
	return cs_beta_share(df / 2, 0.5, df / (df + t * t));
}

double cs_student_t(double p, double df)
{
	double low = 0, high = 1, middle;

	while (high < HUGE_VAL && cs_student_p(high, df) > p)
		high *= 2;
	for (;;) {
		middle = low + (high - low) / 2;
		if (!(low < middle && middle < high))
			return middle;
		if (cs_student_p(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
}

double cs_median_variance(const double *sorted, size_t n)
{
	double half = ((double)n + 1) / 2, below = 0, mean = 0, squares = 0;
	double zero = sorted[n / 2]; /* keeps the digits of a small spread */

	for (size_t i = 0; i < n; i++) {
		double upto = cs_beta_share(half, half, (double)(i + 1) / (double)n);
		double x = sorted[i] - zero;

		mean += (upto - below) * x;
		squares += (upto - below) * x * x;
		below = upto;
	}
	return fmax(squares - mean * mean, 0);
}

/* ---- quant ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return !!isnan(x) - !!isnan(y);
	return (x > y) - (x < y);
}

void cs_sort(double *x, size_t n)
{
	if (n > 1)
		qsort(x, n, sizeof(*x), compare);
}

double cs_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;
	double between = at - (double)i;

	/* also keeps infinity - infinity out of it */
	if (i + 1 >= n || between <= 0)
		return sorted[i < n ? i : n - 1];
	return sorted[i] + between * (sorted[i + 1] - sorted[i]);
}

double cs_median(double *x, size_t n)
{
	cs_sort(x, n);
	return cs_quantile(x, n, 0.5);
}
