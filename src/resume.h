/* resume.h - --resume: the journal of a run that ended early, and whether this run is
 * the same.  Only main.c calls it. */
#ifndef CS_RESUME_H
#define CS_RESUME_H

#include "file/loaded.h"

struct cs_resume {
	const char *file;	/* NULL: every step is measured */
	struct cs_loaded then;
	int complete;		/* nothing is left to measure */
};

/* Reads the journal, before the job.  -1: it cannot be read, or gone on with. */
int cs_resume_open(struct cs_resume *resume, const char *file, struct cs_err *err);
/* The plan of this run is known: refuses a journal of another, else gives the run
 * the rows that stay and the nodes they are from (see cs_job_args.resume). */
int cs_resume_take(struct cs_resume *resume, struct cs_run *run,
		   struct cs_err *err);
void cs_resume_release(struct cs_resume *resume);

#endif
