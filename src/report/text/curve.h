/* curve.h - a test over sizes, CPU threads or elements: the points of a curve that
 * replaces the test's matrices. */
#ifndef CS_REPORT_TEXT_CURVE_H
#define CS_REPORT_TEXT_CURVE_H

#include "result/grid.h"

/* The cells of one matrix, over all nodes asked for. */
struct cs_curve_point {
	struct cs_plan_matrix matrix;
	double at;	  /* on the axis */
	const char *text; /* the same in words */
	size_t n_planned, n_measured, n_marked, n_concurrent;
	double min, median, max; /* NAN: not measured */
	double low, high;	 /* the ends of all intervals; NAN none */
	double together;	 /* median of the totals; NAN none */
};

struct cs_curve {
	const char *by; /* "size" */
	struct cs_curve_point *point;
	int n; /* 0: it is no curve of single figures */
};

/* Does a curve replace a matrix; how many points has the curve that begins with it
 * (0: it begins none). */
int cs_curve_holds(const struct cs_run *run, uint32_t index);
int cs_curve_points(const struct cs_run *run, uint32_t index);
/* The first matrix of the curve that a matrix is of; itself if it is of none. */
uint32_t cs_curve_first(const struct cs_run *run, uint32_t index);
/* That curve, over nodes [0] up to [1], in the arena. */
struct cs_curve cs_curve_new(const struct cs_run *run, const int nodes[2],
			     uint32_t index);

#endif
