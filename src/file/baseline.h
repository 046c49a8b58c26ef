/* baseline.h - baselines as files: cscope-mpi-baseline/1, a JSON Schema of which is
 * installed. */
#pragma once

#include <stdio.h>

#include "check/bounds/baseline.h"

/* `version` of the program that made it. */
int cs_baseline_json(FILE *to, const struct cs_baseline *baseline,
		     const char *version);

/* Append the contents of a file from its text; `name` is for errors.  0 or -1. */
int cs_baseline_parse(const char *name, const char *text, struct cs_baseline *to,
		      struct cs_err *err);
