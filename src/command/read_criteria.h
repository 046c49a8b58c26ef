/* read_criteria.h - the files and bounds that options name to judge cells by. */
#pragma once

#include "check/bounds/criteria.h"
#include "options/options.h"

/* Append the criteria of --baseline, --threshold and --min-share.  Returns 0, or
 * CS_EXIT_USAGE if a file cannot be read or is invalid. */
int cs_criteria_read(struct cs_criteria *criteria, const struct cs_options *opt,
		     struct cs_err *err);

/* The same for a command, in its arena. */
const struct cs_criteria *cs_command_criteria(const struct cs_options *opt);
