/* parts.h - for views with a record, a line or a verdict for each test: a line of CSV, and
 * the result of a test at one size on one node.  Only report/ includes it. */
#pragma once

#include <stdio.h>

#include "base/print.h"
#include "report/view.h"
#include "result/grid.h"

/* csv.c: the names of the record's members (`names`) or their values as a line; ends the
 * record. */
struct cs_encoder;
void cs_csv_line(FILE *to, struct cs_encoder *record, int names);

/* Figures of the cells that are ok, in the test's unit; NAN without any. */
struct cs_tally_way {
	double min, median, max;
};

struct cs_tally {
	const struct cs_test *test;
	struct cs_plan_matrix of; /* the matrix */
	int node;
	size_t planned, ok, skipped, bad; /* cells; bad: failed in any way */
	/* the second: out of what goes both ways between host and GPU
	 * (cs_row_is_back) */
	struct cs_tally_way way[2];
	double seconds;	    /* that they took */
	const char *reason; /* of the first that is not ok, bad before skipped; "" */
};

/* The tallies of a run whose turns were put together (result/pool.h): a list of struct
 * cs_tally in the arena, by node, then in the order of the plan. */
struct cs_vec cs_tallies(const struct cs_run *run);

/* Does this finding change the exit status? */
int cs_finding_counts(const struct cs_run *run, const struct cs_finding *finding);
