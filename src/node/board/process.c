#include "node/board/process.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void cs_process_open(int64_t pid, struct cs_process *process)
{
	process->pid = pid;
	process->fd = pid == getpid() ? -1 :
					(int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

void cs_process_close(struct cs_process *process)
{
	if (process->fd >= 0)
		close(process->fd);
	process->fd = -1;
}

int cs_process_gone(const struct cs_process *process)
{
	struct pollfd p = { .fd = process->fd, .events = POLLIN };

	if (process->fd >= 0)
		return poll(&p, 1, 0) == 1;
	return kill((pid_t)process->pid, 0) && errno == ESRCH;
}

/* "ON_CPU WAITED SLICES", ns */
static double thread_waited_s(int64_t pid, long thread)
{
	unsigned long long waited = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/schedstat", (long)pid,
		 thread);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*u %llu", &waited) != 1)
		waited = 0;
	fclose(f);
	return 1e-9 * (double)waited;
}

double cs_process_waited_s(int64_t pid)
{
	struct dirent *entry;
	double sum = 0;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	threads = opendir(path);
	while (threads && (entry = readdir(threads))) {
		const long thread = strtol(entry->d_name, NULL, 10);

		if (thread > 0 && thread != syscall(SYS_gettid))
			sum += thread_waited_s(pid, thread);
	}
	if (threads)
		closedir(threads);
	return sum;
}
