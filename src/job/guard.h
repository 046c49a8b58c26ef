/* guard.h - the process that others wait for.  It measures nothing and writes no
 * file, so nothing can block it.  It receives signals, passes on the output of the
 * measuring process, and exits in time, whatever happens to that process.  The
 * measuring process calls MPI: launchers identify a rank by its environment.
 *
 *	shell or launcher
 *	  guard		signals in, standard output and error out
 *	    measures	MPI, driver, files; dies with its guard
 *	    watches	only with a budget: continues or ends a guard that was stopped
 *
 * The guard takes the output at once and keeps it until it is read, so the measuring
 * process never waits for a reader. */
#ifndef CS_JOB_GUARD_H
#define CS_JOB_GUARD_H

#include "base/err.h"

enum cs_guarded {
	CS_GUARD_MEASURE, /* in the new process, which measures */
	CS_GUARD_ENDED,	  /* in the guard: that has ended, or reported its *status */
	CS_GUARD_HANGS, /* in the guard: neither happened in time; *err has the text */
};

/* Memory that both processes share. */
struct cs_guard_word;

struct cs_guard {
	struct cs_guard_word *word;    /* NULL: there is no guard */
	void (*say)(const char *text); /* in: a line on standard error */
	const char *lost; /* guard: why the report was not read by anybody; NULL */
};

#define CS_GUARD_FILES 16

/* Call it before the first thread, with empty stdio buffers.  `out` is the descriptor
 * of the report.  Returns twice; in the guard by `end_s` (cs_clock_s) at the latest,
 * and within seconds of a signal.  If no process can be made, or a descriptor of the
 * guard cannot be opened, there is no guard and this process measures.  If a signal
 * ended the measuring process, the guard ends with the same signal and does not
 * return. */
enum cs_guarded cs_guard_start(struct cs_guard *guard, int out, double end_s,
			       int *status, struct cs_err *err);
/* In the measuring process: everything is written, this is the status. */
void cs_guard_say(const struct cs_guard *guard, int status);
/* To be set in the measuring process if a file is complete, or it was said that it is not:
 * the guard says it of the others that were asked for if that process is left behind.
 * NULL: there is no guard. */
_Atomic int *cs_guard_file(const struct cs_guard *guard, int number);
/* In the measuring process: a signal was received, and results are being written. */
void cs_guard_heard(const struct cs_guard *guard);
/* In the guard: call `say`, whose output may block on a stalled reader.  The guard
 * waits only a moment for it. */
void cs_guard_speak(void (*say)(void *ctx), void *ctx);

#endif
