/* stats.h - the statistics of the samples of one cell. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fieldset.h"

struct cs_stats {
	uint32_t n, pad;
	double median, ci_low, ci_high; /* 95 % interval of the median; NAN n<6 */
	double min, max, mean;
	double sd;  /* sample standard deviation, n-1; NAN n<2 */
	double mad; /* median absolute deviation, not scaled */
	double p5, p95, p99;
	double lag1; /* correlation of successive samples; NAN n<3 */
};

extern const struct cs_fieldset cs_stats_fields;

/* Statistics of x[0..n), figures that cannot be negative, in the order in which
 * they were taken; x is left alone.  n >= 1. */
void cs_stats_of(const double *x, size_t n, struct cs_stats *out);

/* Ranks (1-based) of the order statistics that bound the median of independent
 * samples as surely as the least and the greatest of six do, 96.9 %: the widest-tail
 * pair l, n+1-l with P(Binomial(n,1/2) < l) <= 1/64 (Conover, Practical
 * Nonparametric Statistics, 3.2).  Returns -1 for n < 6, where there is none. */
int cs_median_ranks(size_t n, size_t *low, size_t *high);

/* Correlation of successive samples; 0 if they do not differ. */
double cs_lag1(const double *x, size_t n);

/* How much further than those order statistics the interval reaches on both sides,
 * for samples that may depend on each other: doc/METHOD.md, rule 13. */
double cs_stats_widening(const double *x, size_t n);

/* Make the interval reach at least that share of the median to both sides. */
void cs_stats_reach(struct cs_stats *stats, double share);

/* The larger distance from the median to an end of the interval, relative to the
 * median; INFINITY for n < 6 and if the samples give no number. */
double cs_stats_margin(const struct cs_stats *stats);
