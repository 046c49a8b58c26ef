/* watch.c - signals and messages during a job, and how a process leaves. */
#include "job/state.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "job/signals.h"

int cs_job_signal(struct cs_job *job)
{
	int got = cs_signals_next(job->signal_fd);

	if (got == SIGUSR1 && job->comm.rank == 0)
		job->args->show(job->args->ctx);
	else if (got && got != SIGUSR1)
		job->signal = got;
	return job->signal;
}

void cs_job_leave(struct cs_job *job)
{
	cs_placements_open_gates(&job->placements);
	cs_placements_end(&job->placements, CS_STOP_QUIT);
	_exit(128 + job->signal);
}

void cs_job_leave_on_signal(struct cs_job *job)
{
	struct timespec grace = { 0, (long)(GRACE_S * 1e9) };

	if (!job->signal)
		return;
	if (job->measuring_s > 0)
		job->run->timings.measure = cs_clock_s() - job->measuring_s;
	if (job->comm.rank == 0)
		job->args->interrupted(job->args->ctx, job->signal);
	else if (job->coordinates)
		nanosleep(&grace, NULL);
	cs_job_leave(job);
}

void cs_job_leave_after_root(struct cs_job *job, int status)
{
	double s = fmin(GRACE_S, job->args->budget.grace_s * GRACE_S);
	struct timespec grace = { 0, (long)(s * 1e9) };

	if (job->comm.rank != 0)
		nanosleep(&grace, NULL);
	_exit(status);
}

/* Is SIGTERM the launcher's answer to a death?  Then, if nothing is left to measure,
 * that death ends the job, and about a second is left to report it: too little to
 * wait for other nodes. */
static int is_of_a_death(struct cs_job *job)
{
	int lost = 0;
	int goes_on = job->comm.rank == 0 && cs_collect_others_run(&job->collect);

	for (int k = 0; k < job->placements.n && job->coordinates; k++) {
		struct cs_coordinator *co = &job->placements.at[k].co;

		cs_coordinator_poll(co);
		lost |= co->lost;
		goes_on |= !co->stopped;
	}
	return lost && !goes_on;
}

int cs_job_is_spent(const struct cs_job *job)
{
	return cs_clock_s() > job->args->budget.end_s;
}

int cs_job_watch(struct cs_job *job)
{
	if (cs_job_signal(job) == SIGTERM && is_of_a_death(job))
		job->signal = 0;
	if (job->signal)
		cs_job_leave_on_signal(job);
	cs_helper_reap(job->placements.helper);
	cs_collect_alive(&job->collect);
	if (job->comm.rank == 0)
		cs_collect_drain(&job->collect, NODE_SILENCE_S,
				 cs_clock_s() > job->args->budget.close_s);
	else if (cs_collect_listen(&job->collect,
				   cs_job_is_spent(job) ? 0 : ROOT_SILENCE_S))
		return 1; /* rank 0 would not take the rows */
	return 0;
}
