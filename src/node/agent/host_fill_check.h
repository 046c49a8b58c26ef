/* host_fill_check.h - passes of the CPU over large host buffers, by several threads.
 *
 * One core fills, poisons or checks about 7 GB/s, and cells with a host destination
 * would wait for it.  Threads are made for one pass, on the CPUs of the caller, and
 * end with it. If none can be made, the caller works alone. */
#pragma once

#include "base/fill.h"

/* As cs_fill_host, cs_poison_host, and cs_check_host without poison. */
void cs_fill_host_parallel(void *p, uint64_t bytes, uint64_t key);
void cs_poison_host_parallel(void *p, uint64_t bytes);
void cs_check_host_parallel(void *p, uint64_t bytes, uint64_t key,
			    struct cs_check *out);
/* As cs_check_host_some, for each part of it. */
void cs_check_host_some_parallel(void *p, uint64_t bytes, uint64_t key,
				 const struct cs_some *some, struct cs_check *out);
/* As cs_check_host_words, for all of it. */
void cs_check_host_words_parallel(void *p, const struct cs_expected *left, int poison,
				  struct cs_check *out);
/* As cs_check_touched. */
void cs_check_touched_parallel(void *p, uint64_t bytes,
			       const struct cs_touched *pattern, struct cs_check *out);
/* Flush from all caches, by one of the ways of system/flush.h. */
void cs_flush_host_parallel(const void *p, uint64_t bytes,
			    void (*flush)(const void *at, uint64_t bytes));
