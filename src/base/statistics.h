/* statistics.h - order statistics of small sets of samples; Student's distribution and the
 * bootstrap of a median, for intervals of differences. */
#pragma once

#include <stddef.h>

/* A standard deviation, as a share, and its degrees of freedom; without any it is not
 * known. */
struct cs_spread {
	double sd, df;
};

/* Share of the beta distribution with parameters a and b below x: I_x(a, b).
 * a, b > 0.  Continued fraction (NIST DLMF 8.17.22). */
double cs_beta_share(double a, double b, double x);

/* Probability that Student's t with df > 0 degrees of freedom, which need not be
 * whole, lies further from 0 than t (DLMF 8.17, Abramowitz and Stegun 26.7.1). */
double cs_student_p(double t, double df);
/* The t >= 0 with that probability; 0 < p <= 1. */
double cs_student_t(double p, double df);

/* Variance that the bootstrap gives to the median of sorted x[0..n), without
 * drawing: each x[i] has a known share of all resamples of which it is the median
 * (Maritz and Jarrett, JASA 73 (1978) 194; Efron, Ann. Stat. 7 (1979) 1).  Exact
 * for odd n; for even n that of one middle value, which is wider.  n >= 1, and 0
 * for 1. */
double cs_median_variance(const double *sorted, size_t n);

/* Ascending, NANs last. */
void cs_sort(double *x, size_t n);
/* Quantile q in 0..1 of sorted x[0..n), linear between order statistics
 * (Hyndman and Fan 1996, definition 7).  n >= 1. */
double cs_quantile(const double *sorted, size_t n, double q);
/* Median of x[0..n) in any order; the array is sorted on return. */
double cs_median(double *x, size_t n);

/* A median absolute deviation as standard deviation, if errors are normal. */
#define CS_MAD_TO_SD 1.4826
