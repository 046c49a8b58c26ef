#include "config.h"

#include "job/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/signals.h"
#include "node/board.h"
#include "node/budget.h"

#define SLICE_S 0.05

enum { OUT, ERR, SAID, WAYS };

/* What comes from the new process, and where it goes. */
struct watch {
	int from[WAYS], to[WAYS];
	pid_t pid;
	int status;		/* as waitpid has it; -1 it has not ended */
	int said;		/* -1 nothing */
	int lost;		/* output that could not be passed on */
};

static void take_status(struct watch *w)
{
	unsigned char byte;

	if (read(w->from[SAID], &byte, 1) == 1)
		w->said = byte;
}

static void pass_on(struct watch *w, int way)
{
	char text[4096];
	ssize_t n;

	while ((n = read(w->from[way], text, sizeof(text))) > 0)
		for (ssize_t at = 0, k; at < n; at += k) {
			k = write(w->to[way], text + at, (size_t)(n - at));
			if (k < 0 && errno != EINTR) {
				w->lost |= way == OUT;
				break;
			}
			if (k < 0)
				k = 0;
		}
	if (n == 0) {
		close(w->from[way]);
		w->from[way] = -1;
	}
}

static void look(struct watch *w, int signal_fd)
{
	int got;

	take_status(w);
	for (int way = OUT; way <= ERR; way++)
		if (w->from[way] >= 0)
			pass_on(w, way);
	while ((got = cs_signals_next(signal_fd)))
		kill(w->pid, got);
	if (waitpid(w->pid, &w->status, WNOHANG) != w->pid)
		w->status = -1;
}

static void watch_until(struct watch *w, double end_s)
{
	int signal_fd = cs_signals_open();

	while (w->status < 0 && cs_clock_s() < end_s) {
		struct pollfd p[] = {
			{ .fd = w->from[OUT], .events = POLLIN },
			{ .fd = w->from[ERR], .events = POLLIN },
			{ .fd = signal_fd, .events = POLLIN },
		};

		poll(p, 3, (int)(1e3 * cs_within(SLICE_S, end_s)) + 1);
		look(w, signal_fd);
	}
	for (int way = OUT; way <= ERR; way++)
		if (w->from[way] >= 0)
			pass_on(w, way);
	take_status(w);
}

/* In the new process: terminals are kept, for they are nobody's to wait for. */
static void become_measured(const int pipes[WAYS][2], int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
	dup2(pipes[OUT][1], out);
	if (!isatty(2) && dup2(pipes[ERR][1], 2) == 2 && out != 1)
		dup2(2, 1);
	for (int way = OUT; way <= ERR; way++)
		close(pipes[way][1]);
	for (int way = OUT; way < WAYS; way++)
		close(pipes[way][0]);
}

static int open_pipes(int pipes[WAYS][2])
{
	for (int way = OUT; way < WAYS; way++) {
		if (pipe2(pipes[way], O_CLOEXEC))
			return -1;
		fcntl(pipes[way][0], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

enum cs_guarded cs_guard_start(struct cs_guard *guard, int out, double end_s,
			       int *status, struct cs_err *err)
{
	struct watch w = { .to = { out, 2, -1 }, .status = -1, .said = -1 };
	pid_t parent = getpid();
	int pipes[WAYS][2];

	guard->said = -1;
	if (open_pipes(pipes) || (w.pid = fork()) < 0)
		return CS_GUARD_MEASURE;
	if (!w.pid) {
		become_measured(pipes, out, parent);
		guard->said = pipes[SAID][1];
		return CS_GUARD_MEASURE;
	}
	for (int way = OUT; way < WAYS; way++) {
		close(pipes[way][1]);
		w.from[way] = pipes[way][0];
	}
	watch_until(&w, end_s);
	guard->lost = w.lost;
	if (w.status >= 0) {
		*status = WIFEXITED(w.status) ? WEXITSTATUS(w.status) :
						128 + WTERMSIG(w.status);
		return CS_GUARD_ENDED;
	}
	kill(w.pid, SIGKILL);
	*status = w.said;
	if (w.said >= 0)
		return CS_GUARD_ENDED;
	cs_err_set(err, "process %ld did not come back and is left behind", (long)w.pid);
	return CS_GUARD_HANGS;
}

void cs_guard_say(const struct cs_guard *guard, int status)
{
	unsigned char byte = (unsigned char)status;

	if (guard->said >= 0 && write(guard->said, &byte, 1) != 1)
		errno = 0; /* nobody is there to hear it */
}
