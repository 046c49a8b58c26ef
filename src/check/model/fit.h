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

/* ---- knee.c: the sizes from which on a load takes longer: a memory ends there ----
 *
 * A chase through S bytes has its loads from a memory of C bytes as long as S <= C, and
 * beyond that the share 1 - (C/S)^q from the next one: q is 1 if lines are replaced by
 * chance, large if the oldest is replaced.  So T(S) = t_0 + sum of d_k (1 - (C_k/S)^q),
 * S > C_k. */

#define CS_KNEES_MOST 4

struct cs_knee_point {
	double bytes, ns; /* of one load */
};

struct cs_knees {
	int n;
	struct cs_fit_value bytes[CS_KNEES_MOST]; /* ascending */
	double ns[CS_KNEES_MOST + 1]; /* of a load before the k-th, after all */
};

/* Fits points of ascending sizes, relative residuals.  A knee is taken if it halves the
 * residuals, and a load takes 15 % longer beyond it.  Its interval: the sizes with which
 * the residuals of any q stay within F(1, n - p) at 95 %. */
void cs_knees_find(const struct cs_knee_point *points, size_t n, struct cs_knees *out);
