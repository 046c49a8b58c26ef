/* planfile.h - the file that --plan names. */
#pragma once

#include "options/options.h"

/* Read its text, malloc'ed.  Errors in it that hold for every machine are errors
 * here. */
int cs_planfile_open(const struct cs_options *opt, char **text, struct cs_err *err);
