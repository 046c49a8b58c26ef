/* watch.h - watches for signals and messages, and leaves if it is impossible to wait
 * for others. */
#ifndef CS_JOB_WATCH_H
#define CS_JOB_WATCH_H

#include "job/state.h"

/* After a death mpirun sends SIGTERM within 1 s and SIGKILL 1 s later, or each at
 * once when a further process ends.  So no process ends before rank 0 has written the
 * results. */
#define TERM_S 1.0
#define GRACE_S 0.8

/* Has a signal to end arrived?  Remembers it. */
int cs_job_signal(struct cs_job *job);
/* Read signals and messages.  Not 0: stop, rank 0 would not take the rows. */
int cs_job_watch(struct cs_job *job);
/* Is the budget used up? */
int cs_job_is_spent(const struct cs_job *job);
/* Open the gates, then exit with the status of the signal. */
void cs_job_leave(struct cs_job *job);
/* The same, if there was a signal.  Rank 0 first saves the results; the others give
 * it time for that. */
void cs_job_leave_on_signal(struct cs_job *job);
/* Exit after rank 0.  A launcher ends the job at the first bad status and takes that
 * as the job's; it must be rank 0's, after rank 0 has reported the reason. */
void cs_job_leave_after_root(struct cs_job *job, int status);

#endif
