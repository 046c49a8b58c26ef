#include "node/board/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
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
