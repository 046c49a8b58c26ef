/* resume.h - --resume: the journal of a run that ended early, and whether this run is
 * the same. */
#ifndef CS_RESUME_H
#define CS_RESUME_H

#include "file/loaded.h"
#include "options/options.h"
#include "report/report.h"

struct cs_resume {
	const char *file; /* NULL: every step is measured */
	int fd;		  /* the journal, ours from before it is read; -1 */
	struct cs_loaded then;
	int complete; /* nothing is left to measure */
};

/* Reads the journal that opt->resume names, before the job, and takes from it what
 * options leave open.  Returns 0, CS_EXIT_USAGE when it is none that could be gone on
 * with, CS_EXIT_CANNOT when it is not ours to write. */
int cs_resume_open(struct cs_resume *resume, struct cs_options *opt,
		   struct cs_err *err);
/* The plan of this run is known: refuses a journal of another, else gives the run
 * the rows that stay and the nodes they are from (see cs_job_args.resume). */
int cs_resume_take(struct cs_resume *resume, struct cs_run *run, struct cs_err *err);
/* The journal as an output, behind what stays. */
int cs_resume_continue(struct cs_resume *resume, struct cs_output *out,
		       struct cs_err *err);
void cs_resume_release(struct cs_resume *resume);

#endif
