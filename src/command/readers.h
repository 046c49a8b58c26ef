/* readers.h - reads files of runs in several threads, and returns them in order.
 *
 * Most of the time for a fleet's files is spent on reading, nine tenths of it on
 * JSON. */
#pragma once

#include "file/loaded.h"

struct cs_readers;

/* Begin to read files[0..n), with a thread for each CPU of this process, at most
 * eight; as many runs are held beside the one taken last.  NULL without memory. */
struct cs_readers *cs_readers_start(char *const *files, int n);
/* Take the next file, as cs_loaded_read; each may be taken once. */
int cs_readers_take(struct cs_readers *r, struct cs_loaded *out, struct cs_err *err);
/* Free the files that were not taken, after the threads have read theirs to the end. */
void cs_readers_stop(struct cs_readers *r);
