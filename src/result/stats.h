/* stats.h - what is said of the samples of one cell. */
#ifndef CS_RESULT_STATS_H
#define CS_RESULT_STATS_H

#include <stddef.h>
#include <stdint.h>

struct cs_stats {
	uint32_t n, pad;
	double median, ci_low, ci_high; /* 95 % interval of the median; NAN n<6 */
	double min, max, mean;
	double sd;		/* sample standard deviation, n-1; NAN n<2 */
	double mad;		/* median absolute deviation, not scaled */
	double p5, p95, p99;
};

/* Statistics of x[0..n); x is left alone.  n >= 1. */
void cs_stats_of(const double *x, size_t n, struct cs_stats *out);

/* Ranks (1-based) of the order statistics that bound the median with at least
 * 95 % confidence: the widest-tail pair l, n+1-l with
 * P(Binomial(n,1/2) < l) <= 0.025 (Conover, Practical Nonparametric Statistics,
 * 3.2).  Returns -1 for n < 6, where there is none. */
int cs_median_ranks(size_t n, size_t *low, size_t *high);

/* Half the width of the interval, relative to the median; INFINITY for n < 6 and
 * where the samples give no number. */
double cs_stats_half_width(const struct cs_stats *stats);

#endif
