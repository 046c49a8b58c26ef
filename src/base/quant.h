/* quant.h - order statistics of small sets of samples. */
#ifndef CS_BASE_QUANT_H
#define CS_BASE_QUANT_H

#include <stddef.h>

/* Ascending, NANs last. */
void cs_sort(double *x, size_t n);
/* Quantile q in 0..1 of sorted x[0..n), linear between order statistics
 * (Hyndman and Fan 1996, definition 7).  n >= 1. */
double cs_quantile(const double *sorted, size_t n, double q);
/* Median of x[0..n) in any order; the array is sorted on return. */
double cs_median(double *x, size_t n);

/* A median absolute deviation as standard deviation, where errors are normal. */
#define CS_MAD_TO_SD 1.4826

#endif
