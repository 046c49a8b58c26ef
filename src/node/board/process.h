/* process.h - does a process of this node still exist?
 *
 * It uses a pidfd, which cannot be confused by a later process with the same number;
 * or kill(2) if the kernel is older than 5.3 or a filter forbids pidfds. */
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

/* glibc names it from 2.31 on; a kernel without it answers ENOSYS. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

struct cs_process {
	int64_t pid;
	int fd; /* -1: none */
};

/* For this process itself no descriptor is opened: it exists. */
void cs_process_open(int64_t pid, struct cs_process *process);
void cs_process_close(struct cs_process *process);
int cs_process_gone(const struct cs_process *process);
/* For how long its threads but the calling one have been ready to run and had no CPU so
 * far, s, all of them together, by the kernel's schedstat; 0 where that cannot be read. */
double cs_process_waited_s(int64_t pid);
