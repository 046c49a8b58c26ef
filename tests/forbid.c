/* forbid.c - run a program that may not make certain system calls.
 *
 *	forbid CALL[,CALL...] PROGRAM ARGUMENT...
 *
 * They fail with EPERM, as under the seccomp filters of containers; what the
 * program starts is under the same filter. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "node/process.h"

#define CALLS(X)                                                              \
	X(mbind) X(move_pages) X(set_mempolicy) X(get_mempolicy)              \
	X(memfd_create) X(pidfd_open) X(sched_setaffinity)

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
#define CALL(name) { #name, SYS_##name },
	CALLS(CALL)
};

#define N_CALLS (sizeof(calls) / sizeof(*calls))
#define BLOCK (SECCOMP_RET_ERRNO | EPERM)

/* The program must be of this architecture: it is ours. */
static int install(const unsigned *number, unsigned n)
{
	struct sock_filter filter[2 * N_CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .filter = filter };
	unsigned short at = 1;

	for (unsigned i = 0; i < n; i++) {
		filter[at++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, number[i], 0, 1);
		filter[at++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, BLOCK);
	}
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						    SECCOMP_RET_ALLOW);
	program.len = at;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	unsigned number[N_CALLS], n = 0;

	for (char *name = argc > 2 ? strtok(argv[1], ",") : NULL; name;
	     name = strtok(NULL, ",")) {
		size_t i = 0;

		while (i < N_CALLS && strcmp(calls[i].name, name))
			i++;
		if (i == N_CALLS || n == N_CALLS) {
			fprintf(stderr, "forbid: unknown call %s\n", name);
			return 64;
		}
		number[n++] = calls[i].number;
	}
	if (!n) {
		fprintf(stderr, "usage: forbid CALL[,CALL...] PROGRAM ARGUMENT...\n");
		return 64;
	}
	if (install(number, n))
		perror("forbid: seccomp");
	else
		execvp(argv[2], argv + 2);
	return 126;
}
