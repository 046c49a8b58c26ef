/* trend.h - figures over time: a robust line through them, Theil and Sen (JASA 63 (1968)
 * 1379), and a step.  Functions that take memory take it in the arena. */
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

/* The line through n points, in order of t; through fewer than two its fields are NAN. */
struct cs_trend cs_trend_of(const double *t, const double *y, size_t n);
/* How probable it is that y falls so steadily by chance, by Kendall's S. */
double cs_fall_p(const double *y, size_t n);

/* Two levels, the medians before and from y[at] on; at 0: there is no place for a step. */
struct cs_level_step {
	size_t at;
	double before, after;
	double p; /* of one so clear, at any place, by chance */
};
#define CS_STEP_SIDE 4 /* points on each side at least */
struct cs_level_step cs_step_of(const double *y, size_t n);

/* The medians of `most` groups of neighbours; n, if that is less. */
size_t cs_join_neighbours(const double *t, const double *y, size_t n, size_t most,
			  double *to_t, double *to_y);
