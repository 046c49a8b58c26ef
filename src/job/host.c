#include "job/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node/board/process.h"

#define ANSWER_LIMIT_S 5.0 /* for the helper, which only forks */
#define JOIN_LIMIT_S 2.0
#define DESCRIPTORS_MOST (1 << 20) /* the kernel's own limit, unless raised */

struct cs_helper {
	pid_t pid;
	int socket;
	int gone; /* it has died; its number may be another process's */
};

/* The parts of a host. */
struct host {
	struct cs_host_order order;
	struct cs_board_map board;
	struct cs_topo *topo;
	struct cs_starter *starter;
	struct cs_agent *agent[CS_MAX_AGENTS];
	int n_agents;
};

static size_t order_bytes(const struct cs_host_order *order)
{
	return offsetof(struct cs_host_order, agent) +
	       order->n_agents * sizeof(order->agent[0]);
}

static pid_t parent_of_this; /* a helper's rank, a host's helper */

/* Die with the parent, also if it has died already. */
static void die_with(pid_t parent)
{
	parent_of_this = parent;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* ---- a host ---- */

/* Find the GPUs by UUID in this process's numbering.  The agent of a GPU that is not
 * there starts all the same, and answers OPEN with an error. */
static void find_ordinals(struct host *h, char *why, size_t size)
{
	struct cs_gpu_facts *gpu = calloc(CS_MAX_AGENTS, sizeof(*gpu));
	struct cs_err err = { "" };
	int n = 0, version;
	double took_s = 0;

	if (!gpu)
		cs_err_set(&err, "no memory");
	else
		cs_starter_devices(h->starter, h->order.start_limit_s, gpu,
				   CS_MAX_AGENTS, &n, &version, &took_s, &err);
	cs_text(why, size, "%s", err.text);
	for (uint32_t i = 0; i < h->order.n_agents; i++) {
		struct cs_agent_facts *f = &h->order.agent[i];

		f->gpu.ordinal = -1;
		f->start_s = took_s;
		for (int g = 0; g < n; g++)
			if (!strcmp(gpu[g].uuid, f->gpu.uuid))
				f->gpu.ordinal = gpu[g].ordinal;
	}
	free(gpu);
}

static int start_agents(struct host *h)
{
	const struct cs_backend *backend = h->order.backend == CS_BACKEND_CPU ?
						 &cs_backend_cpu :
						 cs_backend_cuda;
	struct cs_agent_args args = { .backend = backend,
				      .topo = h->topo,
				      .bind = (enum cs_bind)h->order.bind,
				      .nvml_end_s = h->order.nvml_end_s };
	char why[CS_ERR_TEXT] = "";
	struct cs_err err;

	if (backend != &cs_backend_cpu) {
		if (cs_starter_begin(backend, 1, &h->starter, &err))
			return -1;
		find_ordinals(h, why, sizeof(why));
		args.starter = h->starter;
	}
	for (uint32_t i = 0; i < h->order.n_agents; i++) {
		args.facts = h->order.agent[i];
		args.facts.pid = getpid();
		args.cannot =
			backend == &cs_backend_cpu || args.facts.gpu.ordinal >= 0 ?
				NULL :
			why[0] ?
				why :
				"a process made for this placement does not see it: ask the launcher for --gpu-bind=none";
		if (cs_agent_start(&args, &h->agent[h->n_agents], &err))
			return -1;
		cs_agent_attach(h->agent[h->n_agents++], h->board.at);
	}
	return 0;
}

/* Sleep until the board announces the end, or its coordinator is dead. */
static int wait_end(struct host *h)
{
	struct cs_process coordinator;

	cs_process_open(h->board.at->coordinator, &coordinator);
	for (;;) {
		uint32_t end = cs_board_wait_end(h->board.at, 50);

		if (end)
			return end == CS_STOP_GOOD ? 0 : -1;
		if (cs_process_gone(&coordinator)) {
			cs_gate_release(h->board.at);
			return -1;
		}
	}
}

static void host_main(struct host *h, int board_fd, pid_t helper)
{
	struct cs_err err;
	int rc;

	die_with(helper);
	signal(SIGCHLD, SIG_DFL); /* a driver may wait for a child of its own */
	if (h->order.unmask)
		unsetenv("CUDA_VISIBLE_DEVICES");
	if (cs_board_attach(getpid(), board_fd, &h->board, &err) ||
	    cs_topo_open(NULL, &h->topo, &err))
		_exit(1);
	/* the ranks' masks are of another placement */
	if (h->order.bind != CS_BIND_INHERIT)
		cs_topo_unbind(h->topo, &err);
	rc = start_agents(h) || wait_end(h);
	for (int i = 0; i < h->n_agents && !rc; i++)
		rc = cs_agent_join(h->agent[i], JOIN_LIMIT_S);
	_exit(rc ? 1 : 0);
}

/* ---- the helper ---- */

/* One order and the board's descriptor; 0 when the rank has hung up. */
static ssize_t take_order(int socket, struct cs_host_order *order, int *board_fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { order, sizeof(*order) };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *head;
	ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);

	head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	*board_fd = -1;
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(board_fd, CMSG_DATA(head), sizeof(int));
	return n;
}

static int64_t make_host(struct host *h, int board_fd)
{
	pid_t helper = getpid(), pid = fork();

	if (!pid)
		host_main(h, board_fd, helper);
	return pid < 0 ? -errno : pid;
}

/* As closefrom(3), which glibc has from 2.34 on.  Without /proc one by one. */
static void close_from(int first)
{
	long most = sysconf(_SC_OPEN_MAX);
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd != dirfd(dir))
			close(fd);
	}
	if (dir) {
		closedir(dir);
		return;
	}
	if (most < 0 || most > DESCRIPTORS_MOST)
		most = DESCRIPTORS_MOST;
	for (int fd = first; fd < most; fd++)
		close(fd);
}

static void pass_up(int number)
{
	kill(parent_of_this, number);
}

/* A signal that ends a rank ends the run, also if a helper or a host receives it. */
static void pass_signals_up(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction up = { .sa_handler = pass_up, .sa_flags = SA_RESTART };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &up, NULL);
		sigaddset(&set, numbers[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void helper_main(int socket, pid_t rank)
{
	static struct host host;
	int null = open("/dev/null", O_RDWR), board_fd;

	die_with(rank);
	pass_signals_up();
	signal(SIGCHLD, SIG_IGN); /* the kernel reaps hosts that die */
	/* launchers wait for the ends of pipes that we would keep */
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	dup2(socket, 3);
	close_from(4);
	socket = 3;
	fcntl(socket, F_SETFD, FD_CLOEXEC);
	while (take_order(socket, &host.order, &board_fd) > 0) {
		int64_t pid = make_host(&host, board_fd);

		close(board_fd);
		if (send(socket, &pid, sizeof(pid), MSG_NOSIGNAL) < 0)
			break;
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	_exit(0);
}

int cs_helper_start(struct cs_helper **out, struct cs_err *err)
{
	struct cs_helper *h = calloc(1, sizeof(*h));
	pid_t rank = getpid();
	int pair[2];

	if (!h)
		return cs_err_set(err, "no memory");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		cs_err_set(err, "cannot make a socket: %s", strerror(errno));
		goto fail;
	}
	h->pid = fork();
	if (!h->pid)
		helper_main(pair[1], rank);
	close(pair[1]);
	h->socket = pair[0];
	if (h->pid > 0) {
		*out = h;
		return 0;
	}
	cs_err_set(err, "cannot make a process: %s", strerror(errno));
	close(pair[0]);
fail:
	free(h);
	return -1;
}

int64_t cs_helper_pid(const struct cs_helper *helper)
{
	return helper->pid;
}

void cs_helper_reap(struct cs_helper *helper)
{
	if (helper && !helper->gone)
		helper->gone = waitpid(helper->pid, NULL, WNOHANG) != 0;
}

static int send_order(struct cs_helper *h, const struct cs_host_order *order,
		      int board_fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { (void *)order, order_bytes(order) };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &board_fd, sizeof(int));
	return sendmsg(h->socket, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int64_t cs_helper_host(struct cs_helper *helper, const struct cs_host_order *order,
		       int board_fd, struct cs_err *err)
{
	struct pollfd p = { .fd = helper->socket, .events = POLLIN };
	int64_t pid = -1;

	if (send_order(helper, order, board_fd))
		return cs_err_set(err, "cannot reach the helper process: %s",
				  strerror(errno));
	if (poll(&p, 1, (int)(ANSWER_LIMIT_S * 1e3)) != 1 ||
	    recv(helper->socket, &pid, sizeof(pid), 0) != sizeof(pid))
		return cs_err_set(err, "the helper process does not answer");
	if (pid < 0)
		return cs_err_set(err, "cannot make a process: %s",
				  strerror((int)-pid));
	return pid;
}

void cs_helper_end(struct cs_helper *helper, double limit_s)
{
	double end = cs_clock_s() + limit_s;
	struct timespec nap = { 0, 1000000 };

	if (!helper)
		return;
	close(helper->socket);
	for (;;) {
		cs_helper_reap(helper);
		if (helper->gone)
			break;
		if (cs_clock_s() >= end) {
			kill(helper->pid, SIGKILL);
			waitpid(helper->pid, NULL, 0);
			break;
		}
		nanosleep(&nap, NULL);
	}
	free(helper);
}
