/* tally.h - the result of a test at one size on one node, for views with a line or a
 * verdict for each.  Only report/ includes it. */
#ifndef CS_REPORT_EXPORT_TALLY_H
#define CS_REPORT_EXPORT_TALLY_H

#include "result/grid.h"

/* Of the cells that are ok, in the test's unit; NAN without any. */
struct cs_tally_way {
	double min, median, max;
};

struct cs_tally {
	const struct cs_test *test;
	struct cs_plan_matrix of; /* the matrix */
	int node;
	size_t planned, ok, skipped, bad; /* cells; bad: failed in whatever way */
	/* the second: out of what goes both ways between host and GPU
	 * (cs_row_is_back) */
	struct cs_tally_way way[2];
	double seconds;	    /* that they took */
	const char *reason; /* of the first that is not ok, bad before skipped; "" */
};

/* All of a run whose turns were put together (result/pool.h): by node, then in the
 * order of its plan.  0, or -1 without memory. */
int cs_tallies(const struct cs_run *run, struct cs_vec *out, struct cs_err *err);

/* Does this finding count as going wrong, as the exit status does it? */
int cs_finding_counts(const struct cs_run *run, const struct cs_finding *finding);

#endif
