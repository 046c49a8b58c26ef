/* loaded.h - a run that a file holds, read back: every view of it gives the bytes
 * that the live run gave.
 *
 * Reads documents (.json) and journals (.jsonl), also those of runs that were
 * killed: a last line that was cut is left out, and a finding says that the
 * verdict is missing.  Files come from anywhere: depth, sizes, types and numbers
 * are checked, keys that are not known are ignored. */
#ifndef CS_FILE_LOADED_H
#define CS_FILE_LOADED_H

#include <stddef.h>

#include "base/err.h"
#include "result/run.h"

/* What is kept of a file at most: 2 GiB of rows, 512 MiB of samples, 180 MiB. */
#define CS_ROWS_MOST ((size_t)1 << 22)
#define CS_SAMPLES_MOST ((size_t)1 << 26)
#define CS_FINDINGS_MOST ((size_t)1 << 17)

struct cs_loaded {
	struct cs_run run; /* owns all that it points to, through this */
	void *texts;	   /* of run and program; JSON */
	char **argv;
	struct cs_choices *chosen;
	int *agents_seen; /* by node */
	int is_journal, has_verdict;
	size_t whole_bytes; /* of a journal: up to the end of its last line */
};

/* Once, before several threads read at the same time. */
void cs_loaded_by_threads(void);
/* Returns 0; CS_EXIT_CANNOT when the file cannot be read, CS_EXIT_USAGE when it is
 * not ours, with one line of what is wrong where.  "-" is standard input. */
int cs_loaded_read(const char *file, struct cs_loaded *out, struct cs_err *err);
/* The same of `size` bytes; `name` is for errors.  0 or -1. */
int cs_loaded_parse(const char *name, const char *text, size_t size,
		    struct cs_loaded *out, struct cs_err *err);
void cs_loaded_release(struct cs_loaded *loaded);

#endif
