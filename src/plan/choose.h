/* choose.h - which tests are to be measured, and how: by names and globs, ours or
 * another tool's (plan/alias.h), and by axes.  choose.c. */
#ifndef CS_PLAN_CHOOSE_H
#define CS_PLAN_CHOOSE_H

#include "plan/choice.h"

/* Add what a comma-separated list of names and globs (fnmatch, '*' and '?' and
 * sets) means on that backend and with that --via.  An item that matches nothing is
 * an error naming it and, where one is near, the nearest name; one that matches only
 * tests of the other backend, or of another --via, says so.  On error nothing is
 * added. */
int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_transport via, struct cs_choices *to, struct cs_err *err);

/* All benchmarks of Comm|Scope that can be measured so, at the sizes that they have
 * there.  An error when there is none. */
int cs_tests_theirs(enum cs_backend_kind backend, enum cs_transport via,
		    struct cs_choices *to, struct cs_err *err);

/* What --matrix and the axes beside it ask for; a mask bit is 1 << value. */
struct cs_axes {
	unsigned matrices; /* enum cs_matrix */
	unsigned ops, patterns;
	unsigned methods, memories; /* 0: what is usual */
};

/* The same by axes.  What is neither write nor read has no choice of either; of
 * --matrix cost, patterns make no choice either.  Usual are copy engine (or CPU),
 * pinned memory, and for --matrix local all that is no latency. */
void cs_tests_matrix(const struct cs_axes *axes, enum cs_backend_kind backend,
		     enum cs_transport via, struct cs_choices *to);
/* For nodes with one GPU, where nothing that is chosen can be measured there: adds,
 * as `lone`, what there is of one (its links to the host, its memory, latency). */
void cs_tests_lone(struct cs_choices *to);
/* How many tests of costs, if those matrices have them, only the other backend
 * measures. */
int cs_costs_missing(unsigned matrices, enum cs_backend_kind backend);

#endif
