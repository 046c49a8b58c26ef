/* storage.c - run a program whose storage fails.
 *
 *	storage CALL ERROR FIRST LAST FOLDER COUNT PROGRAM ARGUMENT...
 *
 * Of the calls of that name that are about FOLDER or what is in it, by whatever process
 * or thread, numbers FIRST to LAST fail with ERROR, as on a disk that is full or goes
 * away; all others are made.  How many there were is written to the file COUNT.  Ends
 * as the program does.
 *
 * The kernel asks for each of these calls (seccomp), because the C library makes them
 * where no other library can stand in for them.  An openat() counts if it may write. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "node/board/process.h"

static const struct call {
	const char *name;
	int numbers[2];
	int fd, path; /* which argument is that of the file; -1 none */
} calls[] = {
	{ "write", { SYS_write, SYS_sendfile }, 0, -1 },
	{ "fsync", { SYS_fsync, -1 }, 0, -1 },
	{ "close", { SYS_close, -1 }, 0, -1 },
	{ "openat", { SYS_openat, -1 }, -1, 1 },
	{ "linkat", { SYS_linkat, -1 }, -1, 3 },
#ifdef SYS_rename
	{ "rename", { SYS_rename, -1 }, -1, 1 },
#else
	{ "rename", { SYS_renameat, -1 }, -1, 3 },
#endif
};

static const struct {
	const char *name;
	int number;
} errors[] = { { "EIO", EIO }, { "ENOSPC", ENOSPC }, { "EROFS", EROFS }, { "0", 0 } };

static const struct call *call;
static char folder[PATH_MAX], whole[PATH_MAX]; /* as it is named; from the root */
static long first, last, seen;
static int error;

static int fail(const char *what)
{
	perror(what);
	return 126;
}

/* ---- the program's side ---- */

static int send_listener(int to, int fd)
{
	char byte = 0;
	struct iovec io = { &byte, 1 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} with = { .room = { 0 } };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = with.room,
				  .msg_controllen = sizeof(with.room) };

	with.head.cmsg_level = SOL_SOCKET;
	with.head.cmsg_type = SCM_RIGHTS;
	with.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&with.head), &fd, sizeof(fd));
	return sendmsg(to, &message, 0) == 1 ? 0 : -1;
}

static int receive_listener(int from)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	int fd;

	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int begin(char **argv, int to)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call->numbers[0], 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call->numbers[1], 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	long fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail("storage: prctl");
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0 || fcntl((int)fd, F_SETFD, FD_CLOEXEC) ||
	    send_listener(to, (int)fd))
		return fail("storage: seccomp");
	execvp(argv[0], argv);
	return fail(argv[0]);
}

/* ---- ours ---- */

static int is_within(const char *path, const char *of)
{
	size_t n = strlen(of);

	return !strncmp(path, of, n) && (!path[n] || path[n] == '/');
}

static int path_is_ours(const struct seccomp_notif *asked)
{
	char from[40], path[PATH_MAX];
	ssize_t n = -1;
	int fd;

	snprintf(from, sizeof(from), "/proc/%u/mem", asked->pid);
	fd = open(from, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = pread(fd, path, sizeof(path) - 1,
			  (off_t)asked->data.args[call->path]);
		close(fd);
	}
	if (n < 0)
		return 0;
	path[n] = '\0';
	return is_within(path, folder) || is_within(path, whole);
}

static int file_is_ours(const struct seccomp_notif *asked)
{
	char from[60], path[PATH_MAX];
	ssize_t n;

	snprintf(from, sizeof(from), "/proc/%u/fd/%d", asked->pid,
		 (int)asked->data.args[call->fd]);
	n = readlink(from, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return is_within(path, whole);
}

static int is_counted(const struct seccomp_notif *asked)
{
	if (call->path < 0)
		return file_is_ours(asked);
	if (!strcmp(call->name, "openat") && !(asked->data.args[2] & O_ACCMODE))
		return 0;
	return path_is_ours(asked);
}

static void answer(int listener)
{
	struct seccomp_notif asked;
	struct seccomp_notif_resp is = { 0 };

	memset(&asked, 0, sizeof(asked));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
		return;
	is.id = asked.id;
	is.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (is_counted(&asked) && ++seen >= first && seen <= last) {
		is.flags = 0;
		is.error = -error;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &is);
}

static int watch(int listener, pid_t program, const char *count)
{
	struct pollfd what = { .fd = listener, .events = POLLIN };
	int status = 0;
	FILE *to;

	while (poll(&what, 1, -1) > 0 || errno == EINTR) {
		if (what.revents & POLLIN)
			answer(listener);
		else if (what.revents)
			break; /* all that were under the filter have ended */
	}
	if (waitpid(program, &status, 0) != program)
		return fail("storage: waitpid");
	to = fopen(count, "we");
	if (!to || fprintf(to, "%ld\n", seen) < 0 || fclose(to))
		return fail(count);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int read_words(char **argv)
{
	size_t i = 0, k = 0;

	while (i < sizeof(calls) / sizeof(*calls) && strcmp(calls[i].name, argv[1]))
		i++;
	while (k < sizeof(errors) / sizeof(*errors) && strcmp(errors[k].name, argv[2]))
		k++;
	if (i == sizeof(calls) / sizeof(*calls) ||
	    k == sizeof(errors) / sizeof(*errors))
		return -1;
	call = &calls[i];
	error = errors[k].number;
	first = strtol(argv[3], NULL, 10);
	last = strtol(argv[4], NULL, 10);
	snprintf(folder, sizeof(folder), "%s", argv[5]);
	return realpath(folder, whole) ? 0 : -1;
}

int main(int argc, char **argv)
{
	int pair[2], listener;
	pid_t program;

	if (argc < 8 || read_words(argv)) {
		fprintf(stderr, "usage: storage CALL ERROR FIRST LAST FOLDER COUNT "
				"PROGRAM ARGUMENT...\n");
		return 64;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fail("storage: socketpair");
	program = fork();
	if (!program)
		_exit(begin(argv + 7, pair[1]));
	close(pair[1]);
	listener = program > 0 ? receive_listener(pair[0]) : -1;
	return listener < 0 ? 126 : watch(listener, program, argv[6]);
}
