/* load.h - reads a run from a file: every view of it gives the same bytes as the live
 * run.
 *
 * Reads documents (.json) and journals (.jsonl), also those of killed runs: an
 * incomplete last line is ignored, and a finding says that the verdict is missing.
 * Files are not trusted: depth, sizes, types and numbers are checked, unknown keys
 * are ignored, and tests that are left out are a finding. */
#pragma once

#include "file/loaded.h"

/* Returns 0; CS_EXIT_CANNOT if the file cannot be read, CS_EXIT_USAGE if it is not
 * ours, with one line that has the place and the error.  "-" is standard input. */
int cs_loaded_read(const char *file, struct cs_loaded *out, struct cs_err *err);
/* The same of `size` bytes; `name` is for errors.  0 or -1. */
int cs_loaded_parse(const char *name, const char *text, size_t size,
		    struct cs_loaded *out, struct cs_err *err);
