/* filter.h - selects cells by their names, with Google Benchmark's filter.
 *
 * The filter is a POSIX extended regular expression that must match a part of a name;
 * after a leading '-' it must match no name.  A cell has several names: ours and
 * Comm|Scope's. "" and "all" select every cell. */
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

/* Errors: it is not an expression, is too long, or would take for ever to compile. */
int cs_filter_open(struct cs_filter *filter, const struct cs_settings *set,
		   struct cs_err *err);
/* Does it match one of the cell's names? */
int cs_filter_fits(const struct cs_filter *filter, const struct cs_instance *cell);
/* Is a step selected, if the filter matches one of its cells (`fits`), or none? */
int cs_filter_takes(const struct cs_filter *filter, int fits);
void cs_filter_close(struct cs_filter *filter);

#endif
