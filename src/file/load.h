/* load.h - a run that a file holds, read back: every view of it gives the bytes
 * that the live run gave.
 *
 * Reads documents (.json) and journals (.jsonl), also those of runs that were
 * killed: a last line that was cut is left out, and a finding says that the
 * verdict is missing.  Files come from anywhere: depth, sizes, types and numbers
 * are checked, keys that are not known are ignored. */
#ifndef CS_FILE_LOAD_H
#define CS_FILE_LOAD_H

#include "file/loaded.h"

/* Once, before several threads read at the same time. */
void cs_loaded_by_threads(void);
/* Returns 0; CS_EXIT_CANNOT when the file cannot be read, CS_EXIT_USAGE when it is
 * not ours, with one line of what is wrong where.  "-" is standard input. */
int cs_loaded_read(const char *file, struct cs_loaded *out, struct cs_err *err);
/* The same of `size` bytes; `name` is for errors.  0 or -1. */
int cs_loaded_parse(const char *name, const char *text, size_t size,
		    struct cs_loaded *out, struct cs_err *err);

#endif
