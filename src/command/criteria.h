/* criteria.h - the files and bounds that options name to judge cells by. */
#ifndef CS_COMMAND_CRITERIA_H
#define CS_COMMAND_CRITERIA_H

#include "check/bounds/criteria.h"
#include "options/options.h"

/* Appends what --baseline, --threshold and --min-share say.  Returns 0, or CS_EXIT_USAGE
 * when a file cannot be read or is none of ours. */
int cs_criteria_read(struct cs_criteria *criteria, const struct cs_options *opt,
		     struct cs_err *err);

#endif
