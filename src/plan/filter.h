/* filter.h - which cells are measured, by their names: Google Benchmark's filter.
 *
 * An extended regular expression of POSIX that fits a part of a name; behind a leading
 * '-', one that must fit none.  A cell has several names: ours, and those by which
 * Comm|Scope calls it.  "" and "all" take every cell. */
#ifndef CS_PLAN_FILTER_H
#define CS_PLAN_FILTER_H

#include <regex.h>

#include "base/err.h"
#include "plan/instance.h"
#include "plan/plan.h"

struct cs_filter {
	regex_t expression;
	int is_open, negates, theirs;
};

/* Errors: it is no expression; too long; one that takes for ever to be read. */
int cs_filter_open(struct cs_filter *filter, const struct cs_settings *set,
		   struct cs_err *err);
/* Does it fit one of the cell's names? */
int cs_filter_fits(const struct cs_filter *filter, const struct cs_instance *cell);
/* Is a step taken of whose cells it fits one, or none? */
int cs_filter_takes(const struct cs_filter *filter, int fits);
void cs_filter_close(struct cs_filter *filter);

#endif
