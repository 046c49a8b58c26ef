/* knee.h - the sizes from which on a load takes longer: a memory ends there.
 *
 * A chase through S bytes has its loads from a memory of C bytes as long as S <= C, and
 * beyond that the share 1 - (C/S)^q from the next one: q is 1 if lines are replaced by
 * chance, large if the oldest is replaced.  So T(S) = t_0 + sum of d_k (1 - (C_k/S)^q),
 * S > C_k. */
#pragma once

#include <stddef.h>

#include "check/model/fit.h"

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
