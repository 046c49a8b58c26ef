/* job.h - one job over all ranks, from launch to the last row.
 *
 * Phases in order: MPI starts, alone; driver and NVML start in threads while the ranks
 * of each node find each other; the ranks choose backend and GPUs; devices open while
 * rank 0 builds the plan; node coordinators carry it out at the same time; rows stream
 * to rank 0.  Every phase ends in one agreed verdict, every wait has a deadline. */
#ifndef CS_JOB_JOB_H
#define CS_JOB_JOB_H

#include "job/args.h"

struct cs_job;

/* Measure.  On rank 0 `run` (zeroed, with argv, version… set by the caller) is
 * filled as far as it came.  Returns CS_EXIT_OK when the plan was carried out
 * (cells may have failed: see rows), CS_EXIT_CRITICAL when it ended early,
 * CS_EXIT_CANNOT with `err` when nothing could be measured. */
int cs_job_measure(const struct cs_job_args *args, int signal_fd, struct cs_run *run,
		   struct cs_job **out, struct cs_err *err);

/* Does this process speak for the job? */
int cs_job_is_root(const struct cs_job *job);
/* While rank 0 waits for something else than the job: tells the others that it is
 * still there.  The signal that ends the job, 0 none. */
int cs_job_waits(struct cs_job *job);
/* Say the end to all ranks, give everything back and leave MPI; where that is
 * not safe, or the plan is still in use, _exit(status); after a signal at once, with
 * its status. */
void cs_job_end(struct cs_job *job, int status, int in_use);

#endif
