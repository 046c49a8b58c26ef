/* Sorting, quantiles, medians. */
#include "base/statistics.h"
#include "tap.h"

HOLDS("quantiles are linear between order statistics") {
	static const double x[] = { 1, 2, 4, 8, 16 };

	t_near(cs_quantile(x, 5, 0), 1, 0);
	t_near(cs_quantile(x, 5, 0.25), 2, 0);
	t_near(cs_quantile(x, 5, 0.5), 4, 0);
	t_near(cs_quantile(x, 5, 0.05), 1.2, 1e-12);
	t_near(cs_quantile(x, 5, 0.95), 14.4, 1e-12);
	t_near(cs_quantile(x, 5, 0.6), 5.6, 1e-12);
	t_near(cs_quantile(x, 5, 1), 16, 0);
	t_near(cs_quantile(x, 4, 0.5), 3, 0);
}

HOLDS("one value is every quantile") {
	static const double x[] = { 7 };

	t_near(cs_quantile(x, 1, 0), 7, 0);
	t_near(cs_quantile(x, 1, 0.3), 7, 0);
	t_near(cs_quantile(x, 1, 1), 7, 0);
}

HOLDS("a median sorts its array") {
	double odd[] = { 9, -1, 4 }, even[] = { 4, 1, 3, 2 }, one[] = { 5 };

	t_near(cs_median(odd, 3), 4, 0);
	t_near(odd[0], -1, 0);
	t_near(odd[2], 9, 0);
	t_near(cs_median(even, 4), 2.5, 0);
	t_near(cs_median(one, 1), 5, 0);
}

HOLDS("what is no number comes last") {
	double x[] = { NAN, 3, INFINITY, NAN, -INFINITY, 1 };

	cs_sort(x, 6);
	t_near(x[0], -INFINITY, 0);
	t_near(x[1], 1, 0);
	t_near(x[2], 3, 0);
	t_near(x[3], INFINITY, 0);
	t_ok(isnan(x[4]) && isnan(x[5]));
}

HOLDS("infinities do not spoil a median") {
	double x[] = { INFINITY, INFINITY, 1 };

	t_near(cs_median(x, 3), INFINITY, 0);
}

HOLDS("nothing is sorted without harm") {
	double x[] = { 2, 1 };

	cs_sort(x, 0);
	cs_sort(NULL, 0);
	t_near(x[0], 2, 0);
}
