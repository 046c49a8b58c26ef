/* baseline.h - baselines as files (cscope-mpi-baseline/1, a JSON Schema of which is
 * installed) and as text. */
#ifndef CS_REPORT_BASELINE_H
#define CS_REPORT_BASELINE_H

#include <stdio.h>

#include "check/baseline.h"

/* What else a file says of itself. */
struct cs_baseline_about {
	const char *version;	/* of the program that made it */
	double margin;		/* for the bounds of the text */
};

int cs_baseline_json(FILE *to, const struct cs_baseline *baseline,
		     const struct cs_baseline_about *about);
int cs_baseline_text(FILE *to, const struct cs_baseline *baseline,
		     const struct cs_baseline_about *about);

/* Appends what a file holds, from its text; `name` is for errors.  0 or -1. */
int cs_baseline_parse(const char *name, const char *text, struct cs_baseline *to,
		      struct cs_err *err);

#endif
