/* call.h - the call in which a thread is now, so that a hung call can be named.
 *
 * For calls into libraries that may never return: the driver, NVML.  The one that
 * waits for the thread reads the name; from another process if it is in shared memory.
 * This is the only state of base/: one pointer per thread. */
#pragma once

#define CS_CALL_NAME 48

/* The place to which a thread writes the name of its call; "" between calls.  `to` has
 * room for CS_CALL_NAME and may be changed while the thread runs. */
struct cs_call_watch {
	char *_Atomic to;
	unsigned calls; /* begun so far: the same twice is the same call */
};

/* Watch the calling thread from now on. */
void cs_call_watch(struct cs_call_watch *watch);

void cs_call_begin(const char *name);
void cs_call_end(void);

/* The name that another thread writes there, as it is now. */
void cs_call_read(const char *from, char to[CS_CALL_NAME]);

/* The same as ", in cuInit", or "" between calls: appended to "did not answer". */
const char *cs_call_text(const char *from, char to[CS_CALL_NAME + 8]);

/* The calls of calls.def, which are measured themselves, by number. */
enum cs_call_number {
#define CS_DRIVER_CALL(ENUM, ...) CS_CALL_##ENUM,
#define CS_HOST_CALL(ENUM, ...) CS_CALL_##ENUM,
#include "base/calls.def"
	CS_CALLS
};

/* Most calls of a batch. */
#define CS_CALLS_MOST 64u
