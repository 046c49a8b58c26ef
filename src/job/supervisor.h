/* supervisor.h - the process that others wait for; messages call it guard. It
 * measures nothing and writes no file, so nothing can block it. It receives signals,
 * passes on the output of the measuring process, and exits in time even if that
 * process does not. The measuring process calls MPI: launchers identify a rank by its
 * environment.
 *
 *	shell or launcher
 *	  supervisor	signals in, standard output and error out
 *	    measures	MPI, driver, files; dies with its supervisor
 *	    watches	only with a budget: continues or ends a stopped supervisor
 *
 * The supervisor takes the output at once and keeps it until it is read, so the
 * measuring process never waits for a reader. */
#pragma once

#include "base/err.h"

enum cs_supervised {
	CS_SUPERVISOR_MEASURE, /* in the new process, which measures */
	CS_SUPERVISOR_ENDED, /* in the supervisor: that has ended, or reported its *status */
	CS_SUPERVISOR_HANGS, /* in the supervisor: neither happened in time; *err has the text */
};

/* Memory that both processes share. */
struct cs_supervisor_shared;

struct cs_supervisor {
	struct cs_supervisor_shared *shared; /* NULL: there is no supervisor */
	void (*report)(const char *text);    /* in: a line on standard error */
	const char *lost; /* in the supervisor: why the report was not read; NULL */
};

#define CS_SUPERVISOR_FILES 16

/* Call it before the first thread, with empty stdio buffers.  `out` is the descriptor
 * of the report.  Returns twice; in the supervisor by `end_s` (cs_clock_s) at the latest,
 * and within seconds of a signal.  If no process can be made, or a descriptor of the
 * supervisor cannot be opened, there is no supervisor and this process measures.  If a signal
 * ended the measuring process, the supervisor ends with the same signal and does not
 * return. */
enum cs_supervised cs_supervisor_start(struct cs_supervisor *supervisor, int out,
				       double end_s, int *status, struct cs_err *err);
/* In the measuring process: everything is written, this is the status. */
void cs_supervisor_set_status(const struct cs_supervisor *supervisor, int status);
/* A flag that the measuring process sets when the file is complete, or reported as not
 * complete.  The supervisor reports all other requested files if it leaves that process
 * behind.  NULL: there is no supervisor. */
_Atomic int *cs_supervisor_file(const struct cs_supervisor *supervisor, int number);
/* In the measuring process: a signal was received, and results are being written. */
void cs_supervisor_signal_seen(const struct cs_supervisor *supervisor);
/* In the supervisor: call `print`, which writes to standard error and to this descriptor.  The
 * supervisor waits up to two seconds for it, and a moment for a reader that takes no data. */
void cs_supervisor_report(int fd, void (*print)(void *ctx), void *ctx);
