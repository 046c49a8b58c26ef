/* usage.h - CPU time, memory and context switches of a thread and its process so
 * far. */
#pragma once

#include <pthread.h>

#include "base/facts.h"

/* Totals of the calling thread and its process; values that the kernel does not
 * report are unknown.  Host memory only `with_memory`, because that walks page
 * tables. */
void cs_usage_read(int with_memory, struct cs_usage *out);
/* now - before; memory as it is now. */
void cs_usage_since(const struct cs_usage *before, const struct cs_usage *now,
		    struct cs_usage *out);
/* The CPU time of another thread of this process; -1 unknown. */
double cs_usage_of_thread(pthread_t thread);
