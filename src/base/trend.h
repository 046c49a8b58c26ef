/* trend.h - a robust line through figures over time: Theil and Sen (JASA 63 (1968) 1379). */
#pragma once

#include <stddef.h>

struct cs_trend {
	size_t n;
	/* the median of the slopes of all pairs, and its 95 % interval by Kendall's S,
	 * which takes figures as independent; NAN: too few */
	double slope, low, high;
	double level; /* at t = 0: the median of y - slope t */
};

#define CS_TREND_POINTS 256 /* of more, neighbours become one: the pairs are their square */

/* Of n points in order of t; takes memory in the arena.  n < 2: all is NAN. */
struct cs_trend cs_trend_of(const double *t, const double *y, size_t n);
