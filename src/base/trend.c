#include "base/trend.h"

#include <math.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "base/vec.h"

#define NORMAL_95 1.96

size_t cs_join_neighbours(const double *t, const double *y, size_t n, size_t most,
			  double *to_t, double *to_y)
{
	double *room = cs_new(double, n);

	most = n < most ? n : most;
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

	n = cs_join_neighbours(t, y, n, CS_TREND_POINTS, few_t, few_y);
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

double cs_fall_p(const double *y, size_t n)
{
	double s = 0, pairs = (double)n * ((double)n - 1);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			s += CS_ORDER(y[i], y[k]);
	return s > 0 ? erfc(s / sqrt(pairs * (2 * (double)n + 5) / 9)) : 1;
}

/* Student's t of the difference between the means of y[0..at) and y[at..n), by the sums of
 * the first ones and of their squares. */
static double t_of(const double *sum, const double *squares, size_t at, size_t n)
{
	double a = (double)at, b = (double)(n - at);
	double before = sum[at] / a, after = (sum[n] - sum[at]) / b;
	double within = squares[n] - a * before * before - b * after * after;

	return fabs(after - before) /
	       sqrt(fmax(within, 1e-30) / (a + b - 2) * (1 / a + 1 / b));
}

/* The correlation of neighbours in rest[0..n), which have no middle but 0. */
static double neighbours_alike(const double *rest, size_t n)
{
	double both = 0, own = 1e-9 * (double)n;

	for (size_t i = 0; i < n; i++) {
		own += rest[i] * rest[i];
		both += i ? rest[i] * rest[i - 1] : 0;
	}
	return fmin(fmax(both / own + 1 / (double)n, 0), 0.9);
}

struct cs_level_step cs_step_of(const double *y, size_t n)
{
	double *sum = cs_new(double, n + 1), *squares = cs_new(double, n + 1);
	double *room = cs_new(double, n), most = 0, alike;
	struct cs_level_step step = { 0, NAN, NAN, 1 };

	for (size_t i = 0; i < n; i++) {
		sum[i + 1] = sum[i] + (y[i] - y[0]);
		squares[i + 1] = squares[i] + (y[i] - y[0]) * (y[i] - y[0]);
		room[i] = y[i];
	}
	for (size_t at = CS_STEP_SIDE; at + CS_STEP_SIDE <= n; at++)
		if (t_of(sum, squares, at, n) > most) {
			most = t_of(sum, squares, at, n);
			step.at = at;
		}
	if (!step.at)
		return step;
	step.before = cs_median(room, step.at);
	step.after = cs_median(room + step.at, n - step.at);
	for (size_t i = 0; i < n; i++)
		room[i] = y[i] - (i < step.at ? step.before : step.after);
	alike = neighbours_alike(room, n);
	/* the exponent of a normal distribution's tail, for as many figures as are new */
	step.p = (double)(n - 2 * CS_STEP_SIDE + 1) *
		 pow(cs_student_p(most, (double)n - 2), (1 - alike) / (1 + alike));
	return step;
}
