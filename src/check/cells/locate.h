/* locate.h - finds the rows, columns and single places of a matrix that are slow.  It
 * is only arithmetic and knows no nodes or GPUs.
 *
 * The model is figure = whole x row x column x rest, a sum of logarithms.  It is
 * fitted by median polish (Tukey, Exploratory Data Analysis, 1977, ch. 11), in which
 * a few bad places do not affect the rest.  The median of an even count is the
 * greater of the middle two, because faults make cells slow: so 1 bad GPU of 3 does
 * not make the others look fast. */
#pragma once

#include "base/facts.h"
#include "plan/plan.h"

#define CS_FIT_MOST ((int)CS_NUMA_MOST + 1) /* rows and columns: agents, or NUMA nodes */

struct cs_fit {
	int rows, cols;
	/* In: logarithms, NAN none.  Out: the residuals. */
	double cell[CS_FIT_MOST][CS_FIT_MOST];
	double whole;
	double row[CS_FIT_MOST], col[CS_FIT_MOST];    /* NAN: has no cell */
	int in_row[CS_FIT_MOST], in_col[CS_FIT_MOST]; /* cells */
};

void cs_fit_polish(struct cs_fit *fit);

/* The greater of the middle two; x is sorted.  NAN of none. */
double cs_upper_median(double *x, size_t n);
/* Median distance from the median, scaled to the standard deviation of a normal
 * distribution; overwrites x.  0 of none. */
double cs_scaled_mad(double *x, size_t n);
