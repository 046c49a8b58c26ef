/* forbid.c - run a program that may not make certain system calls.
 *
 *	forbid [+]CALL[,[+]CALL...] PROGRAM ARGUMENT...
 *
 * They fail with EPERM, as under the seccomp filters of containers; those with a '+'
 * do not return, as on a file system that does not answer.  What the program starts
 * is under the same filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "node/board/process.h"

/* What glibc calls instead on newer architectures. */
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif
#ifndef SYS_dup2
#define SYS_dup2 SYS_dup3
#endif

#define CALLS(X)                                                              \
	X(mbind) X(move_pages) X(set_mempolicy) X(get_mempolicy)              \
	X(memfd_create) X(pidfd_open) X(sched_setaffinity) X(fsync)           \
	X(pipe2) X(fcntl) X(signalfd4) X(clone) X(poll) X(wait4) X(waitid)    \
	X(kill) X(prctl) X(setitimer) X(dup2) X(rt_sigaction)                 \
	X(rt_sigprocmask) X(clock_nanosleep) X(linkat)

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
#define CALL(name) { #name, SYS_##name },
	CALLS(CALL)
};

#define N_CALLS (sizeof(calls) / sizeof(*calls))
#define BLOCK (SECCOMP_RET_ERRNO | EPERM)
#define HANG SECCOMP_RET_USER_NOTIF /* until somebody answers: nobody will */

struct rule {
	unsigned number, what;
};

/* Of the descriptor by which such calls could be answered: as long as it is there they
 * are waited for. */
static int listen_for(const struct sock_fprog *program)
{
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  SECCOMP_FILTER_FLAG_NEW_LISTENER, program);

	return fd < 0 || fcntl((int)fd, F_SETFD, 0);
}

/* The program must be of this architecture: it is ours. */
static int install(const struct rule *rule, unsigned n, int hangs)
{
	struct sock_filter filter[2 * N_CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .filter = filter };
	unsigned short at = 1;

	for (unsigned i = 0; i < n; i++) {
		filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							    rule[i].number, 0, 1);
		filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							    rule[i].what);
	}
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						    SECCOMP_RET_ALLOW);
	program.len = at;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return hangs ? listen_for(&program) :
		       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	struct rule rule[N_CALLS];
	unsigned n = 0;
	int any = 0;

	for (char *name = argc > 2 ? strtok(argv[1], ",") : NULL; name;
	     name = strtok(NULL, ",")) {
		int hangs = *name == '+';
		size_t i = 0;

		name += hangs;
		while (i < N_CALLS && strcmp(calls[i].name, name))
			i++;
		if (i == N_CALLS || n == N_CALLS) {
			fprintf(stderr, "forbid: unknown call %s\n", name);
			return 64;
		}
		rule[n++] = (struct rule){ calls[i].number, hangs ? HANG : BLOCK };
		any |= hangs;
	}
	if (!n) {
		fprintf(stderr,
			"usage: forbid [+]CALL[,[+]CALL...] PROGRAM ARGUMENT...\n");
		return 64;
	}
	if (install(rule, n, any))
		perror("forbid: seccomp");
	else
		execvp(argv[2], argv + 2);
	return 126;
}
