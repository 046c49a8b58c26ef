/* memfd.h - host memory of another process, by its memfd.
 *
 * For the backends. The memory is opened through /proc/PID/fd: it needs no name and
 * leaves no file, but both processes must have the same user and PID namespace. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* Inode of this process's PID namespace; 0 unknown. */
uint64_t cs_pid_namespace(void);

/* Map `bytes` of memfd `fd` of process `pid`; NULL with the reason.  The caller
 * unmaps it. */
void *cs_shared_map(int64_t pid, int fd, uint64_t bytes, struct cs_err *err);
