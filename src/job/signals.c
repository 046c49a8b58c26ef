#include "job/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The signals that are handled, with names: glibc has none before 2.32. */
static const struct {
	int number;
	const char *name;
} taken[] = {
	{ SIGINT, "SIGINT" },
	{ SIGTERM, "SIGTERM" },
	{ SIGHUP, "SIGHUP" },
	{ SIGUSR1, "SIGUSR1" },
};

#define N_TAKEN (sizeof(taken) / sizeof(taken[0]))

int cs_signals_open(int also)
{
	sigset_t set;
	int fd;

	/* as errors of the call */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&set);
	for (size_t i = 0; i < N_TAKEN; i++)
		sigaddset(&set, taken[i].number);
	if (also)
		sigaddset(&set, also);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd >= 0 && pthread_sigmask(SIG_BLOCK, &set, NULL)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int cs_signals_next(int fd)
{
	struct signalfd_siginfo info;

	if (fd < 0 || read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

const char *cs_signal_name(int number)
{
	for (size_t i = 0; i < N_TAKEN; i++)
		if (taken[i].number == number)
			return taken[i].name;
	return "a signal";
}
