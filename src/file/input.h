/* input.h - opens files to read them.  A pipe is read once a process writes to it; one
 * that none opens is not waited for without end. */
#pragma once

#include <stdio.h>

#include "base/err.h"

#define CS_INPUT_WAIT_S 30.0

/* How long to wait for a writer in a run with that --budget; 0: it has none. */
double cs_input_wait_s(double budget_s);
/* NULL with the reason in `err`, which callers prefix by the name. */
FILE *cs_input_open(const char *name, double wait_s, struct cs_err *err);
