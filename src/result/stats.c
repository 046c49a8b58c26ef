#include "config.h"

#include "result/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"

#define TAIL 0.025

static void stats_unknown(size_t n, struct cs_stats *out)
{
	*out = (struct cs_stats){
		.n = (uint32_t)n,
		.median = NAN, .ci_low = NAN, .ci_high = NAN,
		.min = NAN, .max = NAN, .mean = NAN, .sd = NAN, .mad = NAN,
		.p5 = NAN, .p95 = NAN, .p99 = NAN,
	};
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* Two passes: the one-pass formula loses all digits when sd << mean. */
static double sd_of(const double *x, size_t n, double mean)
{
	double sum = 0;
	size_t i;

	if (n < 2)
		return NAN;
	for (i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

/* The array holds the absolute deviations on return. */
static double mad_of(double *x, size_t n, double median)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = fabs(x[i] - median);
	return cs_median(x, n);
}

void cs_stats_of(const double *x, size_t n, struct cs_stats *out)
{
	double *sorted = malloc(n * sizeof(*sorted));
	size_t low, high;

	stats_unknown(n, out);
	if (!sorted)
		return;
	memcpy(sorted, x, n * sizeof(*sorted));
	out->median = cs_median(sorted, n);
	if (!cs_median_ranks(n, &low, &high)) {
		out->ci_low = sorted[low - 1];
		out->ci_high = sorted[high - 1];
	}
	out->min = sorted[0];
	out->max = sorted[n - 1];
	out->p5 = cs_quantile(sorted, n, 0.05);
	out->p95 = cs_quantile(sorted, n, 0.95);
	out->p99 = cs_quantile(sorted, n, 0.99);
	out->mean = mean_of(x, n);
	out->sd = sd_of(x, n, out->mean);
	out->mad = mad_of(sorted, n, out->median);
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

double cs_stats_half_width(const struct cs_stats *stats)
{
	double half = (stats->ci_high - stats->ci_low) / 2;
	double relative = half / stats->median;

	/* not a number where both are infinite: a cell must not end on that */
	if (isnan(relative) || !(stats->median > 0))
		return INFINITY;
	return relative;
}
