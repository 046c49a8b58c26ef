/* choose.h - selects the tests to measure, and how: by names and globs, ours or
 * another tool's (catalogue/alias.h), and by axes. */
#pragma once

#include "catalogue/choice.h"

/* Add the tests that a comma-separated list of names and globs (fnmatch, '*' and '?'
 * and sets) means on that backend and with that --via. If an item matches nothing,
 * the error names it and the nearest name, if one is near; if it matches only tests
 * of the other backend, or of another --via, the error names that. On error nothing
 * is added. */
int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_transport via, struct cs_choices *to, struct cs_err *err);

/* Add all benchmarks of Comm|Scope that can be measured in this way, at the sizes
 * that they have there.  An error if there is none. */
int cs_tests_theirs(enum cs_backend_kind backend, enum cs_transport via,
		    struct cs_choices *to, struct cs_err *err);

/* Requests of --matrix and the options for axes; a mask bit is 1 << value. */
struct cs_axes {
	unsigned matrices; /* enum cs_matrix */
	unsigned ops, patterns;
	unsigned methods, memories; /* 0: the usual ones */
};

/* The same by axes.  Tests that are neither write nor read are selected with any op,
 * and those of --matrix cost with any pattern.  Usual are copy engine (or CPU),
 * pinned memory, and for --matrix local all tests except latency. */
void cs_tests_matrix(const struct cs_axes *axes, enum cs_backend_kind backend,
		     enum cs_transport via, struct cs_choices *to);
/* For nodes with one GPU, if none of the chosen tests can be measured there: add, as
 * `lone`, the tests of one GPU (its links to the host, its memory, latency). */
void cs_tests_lone(struct cs_choices *to);
/* How many tests of costs, if those matrices have them, only the other backend
 * measures. */
int cs_costs_missing(unsigned matrices, enum cs_backend_kind backend);
