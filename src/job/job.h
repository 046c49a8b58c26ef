/* job.h - one job over all ranks, from launch to the last row.
 *
 * Its phases: MPI starts, alone; driver and NVML start in threads while the ranks of
 * each node find each other; the ranks choose backend and GPUs; devices open while
 * rank 0 builds the plan; all node coordinators execute it at the same time; rows
 * stream to rank 0.  All ranks agree on the result of each phase, and every wait has
 * a deadline. */
#pragma once

#include "job/args.h"

struct cs_job;

/* Measure.  On rank 0 `run` (zeroed, with argv, version… set by the caller) receives
 * all results.  Returns CS_EXIT_OK if the plan was executed (cells may have failed:
 * see the rows), CS_EXIT_CRITICAL if it ended early, CS_EXIT_CANNOT with `err` if
 * nothing could be measured, CS_EXIT_UNABLE if there is no sign of a GPU either. */
int cs_job_measure(const struct cs_job_args *args, int signal_fd, struct cs_run *run,
		   struct cs_job **out, struct cs_err *err);

/* Is this process rank 0? */
int cs_job_is_root(const struct cs_job *job);
/* While rank 0 waits for something outside the job: send the others a sign of life.
 * Returns the signal that ends the job; 0: none. */
int cs_job_waits(struct cs_job *job);
/* Announce the end to all ranks, free everything and leave MPI.  If that is not safe,
 * or the plan is still in use: _exit(status).  After a signal: _exit at once, with
 * its status. */
void cs_job_end(struct cs_job *job, int status, int in_use);
