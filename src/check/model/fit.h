/* fit.h - the cost of a link from a sweep over sizes: T(n) = alpha + beta n.
 *
 * Residuals are shares of the time, so that a copy of 4 KiB counts as much as one of
 * 1 GiB; a size at which something else went on has no more weight than its rank. */
#pragma once

#include <stddef.h>

/* A line has no interval with fewer sizes, and no line is fitted to more. */
#define CS_FIT_LEAST 4
#define CS_FIT_MOST 64

/* How long one copy of that size takes. */
struct cs_fit_point {
	double bytes, us;
};

/* With its 95 % interval. */
struct cs_fit_value {
	double value, low, high;
};

struct cs_fit {
	struct cs_fit_value alpha_us;	/* of the first piece */
	struct cs_fit_value gbs;	/* 1 / beta, of the last piece */
	struct cs_fit_value half_bytes; /* a copy of it has half of 1 / beta; NAN: none
					 * has, since alpha is not above 0 */
	/* The point that is furthest off, and how far: its time to the line's, less 1. */
	double worst, worst_bytes;
	double switch_bytes; /* the first size of a second piece; 0: one line does */
	size_t n;
};

/* Fits points of ascending, different sizes and times above 0.  A second piece is taken
 * if it halves the residuals, and no dip explains that.  -1: fewer than CS_FIT_LEAST,
 * more than CS_FIT_MOST, or times that do not grow with the size.
 *
 * Huber's estimate (k = 2.5), begun at the least absolute deviations; covariance of
 * Street, Carroll and Ruppert (Am. Stat. 42 (1988) 152) with leverages as DuMouchel and
 * O'Brien have them; Student's t with n - 2 degrees of freedom.  The coverage of its
 * intervals: doc/METHOD.md. */
int cs_fit_sweep(const struct cs_fit_point *points, size_t n, struct cs_fit *out);
