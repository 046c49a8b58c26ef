/* guard.h - the process that others wait for measures nothing and writes no file, so
 * nothing holds it up: it hears signals, passes on what the one that measures prints,
 * and leaves in time, whatever becomes of that one.  MPI is the other's: launchers
 * know a rank by its environment.
 *
 *	shell or launcher
 *	  guard		signals in, standard output and error out
 *	    measures	MPI, driver, files; dies with its guard
 *	    watches	only with a budget: ends a guard that was stopped
 *
 * What the other prints is taken at once and kept until there is a reader: it never
 * waits for one. */
#ifndef CS_JOB_GUARD_H
#define CS_JOB_GUARD_H

#include "base/err.h"

enum cs_guarded {
	CS_GUARD_MEASURE, /* in the new process */
	CS_GUARD_ENDED,	  /* it has ended, or said how; *status */
	CS_GUARD_HANGS,	  /* it has done neither in time; *err says so */
};

/* What both processes see. */
struct cs_guard_word;

struct cs_guard {
	struct cs_guard_word *word; /* NULL there is no guard */
	const char *lost; /* here: why the report was not taken; NULL it was */
};

/* Before the first thread and with nothing unwritten in a stream.  `out` is the
 * descriptor of the report; returns twice, here by `end_s` (cs_clock_s) at the latest,
 * and within seconds of a signal.  Without a process there is no guard and this one
 * measures.  Where the other died of a signal, so does this one, and returns nothing. */
enum cs_guarded cs_guard_start(struct cs_guard *guard, int out, double end_s,
			       int *status, struct cs_err *err);
/* In the new process: all is written, this is the status. */
void cs_guard_say(const struct cs_guard *guard, int status);
/* There too: a signal has been heard, and what there is is being written. */
void cs_guard_heard(const struct cs_guard *guard);
/* Here: to say something where the reader may have stalled.  The guard waits a
 * moment for it, and no longer. */
void cs_guard_speak(void (*say)(void *ctx), void *ctx);

#endif
