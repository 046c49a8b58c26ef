#include "result/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

/* 1/64, a little more for rounding. */
#define TAIL 0.015626
/* n samples cannot distinguish a correlation below this / sqrt(n) from none. */
#define UNTOLD 1.24
#define CORRELATION_MOST 0.95

#define STAT(type, key, member) CS_MEMBER(struct cs_stats, type, key, member)
static const struct cs_field statistics[] = {
	STAT(REAL, "value", median),	STAT(REAL, "ci_low", ci_low),
	STAT(REAL, "ci_high", ci_high), STAT(NUMBER, "n", n),
	STAT(REAL, "min", min),		STAT(REAL, "max", max),
	STAT(REAL, "mean", mean),	STAT(REAL, "sd", sd),
	STAT(REAL, "mad", mad),		STAT(REAL, "p5", p5),
	STAT(REAL, "p95", p95),		STAT(REAL, "p99", p99),
	STAT(REAL, "lag1", lag1),
};
const struct cs_fieldset cs_stats_fields = CS_FIELDSET("statistics", struct cs_stats,
						       statistics);

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* Two passes: the one-pass formula loses all digits when sd << mean. */
static double sd_of(const double *x, size_t n, double mean)
{
	double sum = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

/* The array holds the absolute deviations on return. */
static double mad_of(double *x, size_t n, double median)
{
	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - median);
	return cs_median(x, n);
}

/* At a rank between two of sorted samples, those of rank 1 and n at the least and at
 * the most. */
static double at_rank(const double *sorted, size_t n, double rank)
{
	double at = fmin(fmax(rank, 1), (double)n) - 1;
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) :
			   sorted[i];
}

/* The end of the interval on the side of the order statistic `rank`: `widening` times
 * as far from the median as that one, or as the one that is `widening` times as many
 * ranks away, the nearer of both: samples that jump between two values are spread no
 * wider than these. */
static double end_of(const double *sorted, size_t n, double median, double rank,
		     double widening)
{
	double middle = (double)(n + 1) / 2, away = (rank - middle) * widening;
	double most = (double)(n - 1) / 2;
	double by_value = widening * (at_rank(sorted, n, rank) - median);
	double by_rank = at_rank(sorted, n, middle + away) - median;

	by_rank *= fmax(fabs(away) / most, 1);
	return median + (fabs(by_rank) < fabs(by_value) ? by_rank : by_value);
}

static void interval_of(const double *sorted, size_t n, double widening,
			struct cs_stats *out)
{
	size_t low, high;

	if (cs_median_ranks(n, &low, &high))
		return;
	out->ci_low = end_of(sorted, n, out->median, (double)low, widening);
	out->ci_high = end_of(sorted, n, out->median, (double)high, widening);
	if (sorted[0] >= 0)
		out->ci_low = fmax(out->ci_low, 0);
}

void cs_stats_of(const double *x, size_t n, struct cs_stats *out)
{
	double *sorted = malloc(n * sizeof(*sorted));

	cs_fields_init(&cs_stats_fields, out);
	out->n = (uint32_t)n;
	out->pad = 0;
	if (!sorted)
		return;
	memcpy(sorted, x, n * sizeof(*sorted));
	out->median = cs_median(sorted, n);
	interval_of(sorted, n, cs_stats_widening(x, n), out);
	out->min = sorted[0];
	out->max = sorted[n - 1];
	out->p5 = cs_quantile(sorted, n, 0.05);
	out->p95 = cs_quantile(sorted, n, 0.95);
	out->p99 = cs_quantile(sorted, n, 0.99);
	out->mean = mean_of(x, n);
	out->sd = sd_of(x, n, out->mean);
	out->mad = mad_of(sorted, n, out->median);
	out->lag1 = n < 3 ? NAN : cs_lag1(x, n);
	free(sorted);
}

int cs_median_ranks(size_t n, size_t *low, size_t *high)
{
	/* log P(B = k), by recurrence; 2^-n itself would be 0 above n = 1074 */
	double log_p = -(double)n * log(2);
	double tail = exp(log_p); /* P(B <= k) = P(B < k + 1) */
	size_t k = 0;

	if (tail > TAIL)
		return -1;
	while (tail <= TAIL) {
		log_p += log((double)(n - k) / (double)(k + 1));
		tail += exp(log_p);
		k++;
	}
	*low = k; /* P(B < k) was the last within the tail */
	*high = n + 1 - k;
	return 0;
}

double cs_lag1(const double *x, size_t n)
{
	double mean = mean_of(x, n), squares = 0, products = 0;

	for (size_t i = 0; i < n; i++) {
		squares += (x[i] - mean) * (x[i] - mean);
		if (i)
			products += (x[i] - mean) * (x[i - 1] - mean);
	}
	return squares > 0 ? products / squares : 0;
}

double cs_stats_widening(const double *x, size_t n)
{
	double r = fmax(cs_lag1(x, n), 0) + UNTOLD / sqrt((double)n);

	r = fmin(r, CORRELATION_MOST);
	return sqrt((1 + r) / (1 - r));
}

void cs_stats_reach(struct cs_stats *stats, double share)
{
	stats->ci_low = fmin(stats->ci_low, stats->median * (1 - share));
	stats->ci_high = fmax(stats->ci_high, stats->median * (1 + share));
}

double cs_stats_margin(const struct cs_stats *stats)
{
	double below = stats->median - stats->ci_low;
	double above = stats->ci_high - stats->median;

	/* NAN if both are infinite: a cell must not end because of it */
	if (isnan(below) || isnan(above) || !(stats->median > 0))
		return INFINITY;
	return fmax(below, above) / stats->median;
}
