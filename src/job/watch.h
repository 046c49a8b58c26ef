/* watch.h - signals and messages, and leaving where nobody can be waited for. */
#ifndef CS_JOB_WATCH_H
#define CS_JOB_WATCH_H

#include "job/state.h"

/* After a death mpirun sends SIGTERM within 1 s and SIGKILL 1 s later, each at once when
 * a further process ends: none does before rank 0 has written what there is. */
#define TERM_S 1.0
#define GRACE_S 0.8

/* A signal to end?  Remembers it. */
int cs_job_signal(struct cs_job *job);
/* Look for signals and messages; not 0: nobody would take the rows. */
int cs_job_watch(struct cs_job *job);
/* Is the budget? */
int cs_job_is_spent(const struct cs_job *job);
/* With the status of the signal: lets the gate go first. */
void cs_job_leave(struct cs_job *job);
/* The same where there was one: rank 0 first saves what there is; the others give it
 * time. */
void cs_job_leave_on_signal(struct cs_job *job);
/* A launcher ends the job at the first bad status and takes it for the job's: it
 * shall be rank 0's, after rank 0 has said why. */
void cs_job_leave_after_root(struct cs_job *job, int status);

#endif
