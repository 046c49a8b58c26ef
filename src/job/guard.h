/* guard.h - a budget that holds even where a process cannot be ended: one that sleeps
 * in the kernel, in a call of a driver, survives SIGKILL, and whoever waits for it or
 * for the end of its output waits with it.  So another one measures, and this one
 * passes on what it prints and leaves in time.
 *
 * Only without MPI: a launcher counts its processes, and ends them itself. */
#ifndef CS_JOB_GUARD_H
#define CS_JOB_GUARD_H

#include "base/err.h"

enum cs_guarded {
	CS_GUARD_MEASURE,	/* in the new process: what it prints goes to the other */
	CS_GUARD_ENDED,		/* it has ended, or said how; *status */
	CS_GUARD_HANGS,		/* it has not said a word in time; *err says so */
};

struct cs_guard {
	int said;		/* of the new process; -1 there is none */
	int lost;		/* here: its report could not be passed on */
};

/* Before the first thread.  `out` is the descriptor of the report; returns twice,
 * here by `end_s` (cs_clock_s) at the latest.  Without a process there is no guard
 * and this one measures. */
enum cs_guarded cs_guard_start(struct cs_guard *guard, int out, double end_s,
			       int *status, struct cs_err *err);
/* In the new process: all is written, this is the status. */
void cs_guard_say(const struct cs_guard *guard, int status);

#endif
