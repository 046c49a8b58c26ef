#include "base/trend.h"

#include <math.h>

#include "base/arena.h"
#include "base/statistics.h"

#define NORMAL_95 1.96

/* The medians of groups of neighbours. */
static size_t join_neighbours(const double *t, const double *y, size_t n,
			      double *to_t, double *to_y)
{
	size_t most = n < CS_TREND_POINTS ? n : CS_TREND_POINTS;
	double *room = cs_new(double, n);

	for (size_t i = 0; i < most; i++) {
		size_t from = i * n / most, end = (i + 1) * n / most, k;

		for (k = from; k < end; k++)
			room[k - from] = t[k];
		to_t[i] = cs_median(room, end - from);
		for (k = from; k < end; k++)
			room[k - from] = y[k];
		to_y[i] = cs_median(room, end - from);
	}
	return most;
}

/* The bounds of the interval are slopes so many places from the middle one. */
static void set_interval(struct cs_trend *trend, const double *slope, size_t pairs)
{
	double n = (double)trend->n;
	double off = NORMAL_95 * sqrt(n * (n - 1) * (2 * n + 5) / 18);
	double low = floor(((double)pairs - off) / 2);

	if (low < 0)
		return;
	trend->low = slope[(size_t)low];
	trend->high = slope[pairs - 1 - (size_t)low];
}

struct cs_trend cs_trend_of(const double *t, const double *y, size_t n)
{
	struct cs_trend trend = { n, NAN, NAN, NAN, NAN };
	double *few_t = cs_new(double, CS_TREND_POINTS);
	double *few_y = cs_new(double, CS_TREND_POINTS), *slope;
	size_t pairs = 0;

	n = join_neighbours(t, y, n, few_t, few_y);
	slope = cs_new(double, n *n / 2);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (few_t[k] > few_t[i])
				slope[pairs++] = (few_y[k] - few_y[i]) /
						 (few_t[k] - few_t[i]);
	if (!pairs)
		return trend;
	trend.n = n;
	trend.slope = cs_median(slope, pairs);
	set_interval(&trend, slope, pairs);
	for (size_t i = 0; i < n; i++)
		few_y[i] -= trend.slope * few_t[i];
	trend.level = cs_median(few_y, n);
	return trend;
}
