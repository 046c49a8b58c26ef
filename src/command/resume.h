/* resume.h - --resume: the journal of a run that ended early, and whether this run is
 * the same. */
#pragma once

#include "file/loaded.h"
#include "options/options.h"
#include "report/report.h"

struct cs_resume {
	const char *file; /* NULL: every step is measured */
	int fd;		  /* the journal, ours from before it is read; -1 */
	struct cs_loaded then;
	int complete; /* nothing is left to measure */
};

/* Read the journal that opt->resume names, before the job, and take the order of
 * steps and, unless it was given, the seed from it.  Returns 0, CS_EXIT_USAGE if it
 * cannot be continued, CS_EXIT_CANNOT if another process writes it or it cannot be
 * opened. */
int cs_resume_open(struct cs_resume *resume, struct cs_options *opt,
		   struct cs_err *err);
/* When the plan of this run is known: refuse a journal of another plan, else give
 * the run the rows that stay and their nodes (see cs_job_args.resume). */
int cs_resume_take(struct cs_resume *resume, struct cs_run *run, struct cs_err *err);
/* Open the journal as an output, after the records that stay. */
int cs_resume_continue(struct cs_resume *resume, struct cs_output *out,
		       struct cs_err *err);
void cs_resume_release(struct cs_resume *resume);
