/* writers.h - the outputs of a measuring run, each written by its own thread.
 *
 * A pipe without a reader, or a file system that does not answer, may block the
 * thread that opens, writes or closes a file there for ever.  So only that thread
 * does it; all others pass their data on and continue.  A blocked thread is left
 * behind, and then the process leaves by _exit. */
#pragma once

#include "report/report.h"
#include "command/resume.h"

/* How long to wait. */
struct cs_patience {
	double end_s;		/* by cs_clock_s() */
	int (*stop)(void *ctx); /* not 0: a signal has come */
	void *ctx;
};

struct cs_writer;

/* Open the output of that name or, NULL, the journal that is resumed; if that is
 * complete, a journal of another name appears whole.  NULL with `err` if it cannot
 * be opened.  One that is not open when the patience ends, and a pipe without a
 * reader, are opened as soon as possible.  `complete` is set if all is written; or
 * NULL. */
struct cs_writer *cs_writer_open(const char *name, const struct cs_run *run,
				 struct cs_resume *resume, _Atomic int *complete,
				 const struct cs_patience *patience,
				 struct cs_err *err);
/* Append a record to the journals among n writers, visible at once.  The first that
 * cannot be written is reported, and tried again with the next and at the end.
 * `write` has used the run when this returns. */
void cs_writers_append(struct cs_writer **w, int n,
		       int (*write)(FILE *to, const struct cs_run *run, size_t index),
		       const struct cs_run *run, size_t index);
/* The last request.  The run must not change until it is done. */
void cs_writer_commit(struct cs_writer *w, const struct cs_run *run,
		      const struct cs_view_options *view);
/* Wait until all requests are done; after a signal only for writers that still use
 * CPU time.  Returns the first that is not done; NULL: all are. */
struct cs_writer *cs_writers_wait(struct cs_writer **w, int n,
				  const struct cs_patience *patience);
const char *cs_writer_path(const struct cs_writer *w);
/* The result of the commit: 0, or -1 with the file and the reason.  Frees a writer
 * that is done; one that is not uses the run for ever. */
int cs_writer_close(struct cs_writer *w, struct cs_err *err);
