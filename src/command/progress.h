/* progress.h - the progress of a run on standard error: a bar on a terminal, else an
 * occasional line. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

struct cs_progress {
	double began_s, shown_s;
	uint32_t done, all;	    /* steps */
	const struct cs_plan *plan; /* NULL: the rest is not known */
	struct cs_pace {
		double seconds, weight; /* those that are usual, up to a factor */
		uint32_t steps;
	} took[CS_MATRICES_MAX], took_all; /* by those that are done */
	double step_s;			   /* when the step that runs began */
	double duration_s, end_s;	   /* of passes; 0: one pass */
	uint32_t pass;
	int quiet, tty;
	int bar; /* the terminal's last line has one */
};

void cs_progress_init(struct cs_progress *progress, double began_s, int quiet);
/* Report that `done` of `all` steps are done, first of all 0, with so many rows. */
void cs_progress_step(struct cs_progress *progress, uint32_t done, uint32_t all,
		      size_t rows, double now_s);
/* Seconds until all steps are done, if each takes as long as those of its matrix did;
 * before there are any, as those of its test, or as is usual for its kind on a machine that
 * took that long for others; NAN: unknown. */
double cs_progress_left(const struct cs_progress *progress);
/* Print the line, at once. */
void cs_progress_show(struct cs_progress *progress, size_t rows);
/* Call it before anything else is printed on standard error. */
void cs_progress_clear(struct cs_progress *progress);
