#include "config.h"

#include "base/quant.h"

#include <math.h>
#include <stdlib.h>

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
