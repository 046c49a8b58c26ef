/* locate.h - which rows, columns and single places of a matrix are slow.  Arithmetic
 * alone: nothing here knows nodes or GPUs.
 *
 * Logarithms of figures add: figure = whole x row x column x what is left.  Fitted by
 * median polish (Tukey, Exploratory Data Analysis, 1977, ch. 11): a few bad places
 * leave the rest where it is.  Of an even count the greater of the middle two stands
 * for the median, for faults make slow: so 1 bad GPU of 3 does not make the others
 * look fast. */
#ifndef CS_CHECK_LOCATE_H
#define CS_CHECK_LOCATE_H

#include "base/facts.h"
#include "plan/plan.h"

#define CS_FIT_MOST ((int)CS_NUMA_MOST + 1) /* rows and columns: agents, or NUMA nodes */

struct cs_fit {
	int rows, cols;
	/* In: logarithms, NAN where there is none.  Out: what is left. */
	double cell[CS_FIT_MOST][CS_FIT_MOST];
	double whole;
	double row[CS_FIT_MOST], col[CS_FIT_MOST];    /* NAN: has no cell */
	int in_row[CS_FIT_MOST], in_col[CS_FIT_MOST]; /* cells */
};

void cs_fit_polish(struct cs_fit *fit);

/* The greater of the middle two; x is sorted.  NAN of none. */
double cs_upper_median(double *x, size_t n);
/* Median distance from the median, scaled to a standard deviation of what is normal;
 * x is sorted.  0 of none. */
double cs_scaled_mad(double *x, size_t n);

#endif
