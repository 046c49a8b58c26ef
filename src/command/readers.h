/* readers.h - reads files of runs in several threads, and returns them in order.
 *
 * Most of the time for a fleet's files is spent on reading, nine tenths of it on
 * JSON. */
#ifndef CS_READERS_H
#define CS_READERS_H

#include "file/loaded.h"

struct cs_readers;

/* Begins to read files[0..n), a thread for each CPU of this process, eight at the
 * most; as many runs as that are held beside the one taken last.  NULL without
 * memory. */
struct cs_readers *cs_readers_start(char *const *files, int n);
/* The next file, as cs_loaded_read; each may be taken once. */
int cs_readers_take(struct cs_readers *r, struct cs_loaded *out, struct cs_err *err);
/* Files that nobody took are let go, those that are being read first read to their
 * end. */
void cs_readers_stop(struct cs_readers *r);

#endif
