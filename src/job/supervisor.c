#include "job/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/call.h"
#include "base/vec.h"
#include "job/signals.h"
#include "node/board/board.h"
#include "result/run.h"

#define DEAF_S 3.0	/* until a signal must be noticed */
#define HEARD_S 60.0	/* ... and until results must be written */
#define REST_S 1.0	/* a reader's longest pause after a signal */
#define SPEAK_S 2.0	/* for a report, and */
#define STALLED_S 0.25	/* for one that its reader does not take */
#define CONTINUED_S 1.0 /* before its time, a supervisor that was stopped */
#define KILLED_NAPS 10	/* after it, if it does not leave, or */
#define LEAVING_NAPS 100 /* if that takes so long, */
#define KILLED_NAP_NS 50000000 /* of half a second in all, or of five */
#define PIECE 4096	/* of a pipe that has room for anything has as much */
#define PIECES 64	/* before signals are polled again */
#define BLOCKED_US 50000 /* a write that blocks all the same ends then */

enum { OUT, ERR, WAYS };

struct cs_supervisor_shared {
	_Atomic int status; /* 1 + the status; 0: none yet */
	_Atomic int signal_seen;
	_Atomic int is_leaving; /* the supervisor */
	_Atomic int file[CS_SUPERVISOR_FILES];
	char call[CS_CALL_NAME];
};

/* Text of the measuring process on its way to a reader. */
struct transport {
	int from, to;	    /* from -1: it does not pass through the supervisor */
	struct cs_vec held; /* char */
	size_t given;	    /* of it */
	int failed;	    /* errno: it cannot be written any more */
};

struct watch {
	const struct cs_supervisor *supervisor;
	struct transport transport[WAYS];
	struct cs_supervisor_shared *shared;
	int signal_fd;
	pid_t pid, watcher;    /* that measures; that watches this: -1 none */
	int ended, how;	       /* of waitpid */
	int cannot_wait;       /* errno of waitpid */
	int signal;	       /* that ends it; 0 none */
	double limit_s, end_s; /* of the run; of the wait now */
};

/* ---- text on its way ---- */

static void drop(struct transport *transport, int error)
{
	transport->failed = error;
	transport->held.n = transport->given = 0;
}

/* Read all that has arrived. */
static void take(struct transport *transport)
{
	struct cs_err err;
	ssize_t n = 0;

	while (transport->from >= 0) {
		char *to = cs_vec_add(&transport->held, PIECE, &err);

		if (!to) {
			drop(transport, ENOMEM);
			return;
		}
		n = read(transport->from, to, PIECE);
		transport->held.n -= PIECE - (size_t)(n > 0 ? n : 0);
		if (n > 0 && transport->failed)
			drop(transport, transport->failed);
		if (n <= 0)
			break;
	}
	if (transport->from < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	close(transport->from);
	transport->from = -1;
}

static void forget_given(struct transport *transport)
{
	size_t left = transport->held.n - transport->given;

	if (left && transport->given < transport->held.n / 2)
		return;
	if (left)
		memmove(transport->held.data,
			(char *)transport->held.data + transport->given, left);
	transport->held.n = left;
	transport->given = 0;
}

/* Write as much as the reader takes now; returns how much that was. */
static size_t give(struct transport *transport)
{
	size_t before = transport->given;
	struct itimerval tick = { { 0, BLOCKED_US }, { 0, BLOCKED_US } };
	struct pollfd p = { .fd = transport->to, .events = POLLOUT };

	if (transport->given == transport->held.n)
		return 0;
	/* others may have written to the same pipe meanwhile, and terminals promise
	 * nothing */
	setitimer(ITIMER_REAL, &tick, NULL);
	for (int i = 0; i < PIECES && transport->given < transport->held.n; i++) {
		size_t left = transport->held.n - transport->given;
		ssize_t n = poll(&p, 1, 0);

		if (!n)
			break;
		if (n > 0)
			n = write(transport->to,
				  (char *)transport->held.data + transport->given,
				  left < PIECE ? left : PIECE);
		if (n > 0)
			transport->given += (size_t)n;
		else if (n < 0 && errno != EINTR && errno != EAGAIN)
			drop(transport, errno);
	}
	memset(&tick, 0, sizeof(tick));
	setitimer(ITIMER_REAL, &tick, NULL);
	before = transport->given > before ? transport->given - before : 0;
	forget_given(transport);
	return before;
}

static int holds(const struct transport *transport)
{
	return transport->given < transport->held.n;
}

/* ---- the watcher ---- */

static void die_with(pid_t supervisor)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(0);
}

static void sleep_until(double end_s)
{
	struct timespec nap;

	for (double left; (left = end_s - cs_clock_s()) > 0;) {
		nap.tv_sec = (time_t)left;
		nap.tv_nsec = (long)(1e9 * (left - (double)nap.tv_sec));
		nanosleep(&nap, NULL);
	}
}

/* A stopped supervisor would delay those that wait for it.  Shortly before its time is over
 * it is continued, to leave with the status of the run; if it does not leave, it is
 * killed, later if it has begun to: on a busy machine that is slow.  Launchers take seconds
 * to end a job with a killed process. */
static void start_watcher(struct watch *w)
{
	pid_t supervisor = getpid();

	if (isinf(w->limit_s) || (w->watcher = fork()))
		return;
	die_with(supervisor);
	prctl(PR_SET_NAME, "cscope-guard");
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	close(w->transport[OUT].to);
	sleep_until(w->limit_s - CONTINUED_S);
	if (getppid() == supervisor)
		kill(supervisor, SIGCONT);
	sleep_until(w->limit_s);
	/* counted: a machine that stood still gives the supervisor that time as well */
	for (int i = 0;
	     i < (atomic_load(&w->shared->is_leaving) ? LEAVING_NAPS : KILLED_NAPS);
	     i++)
		nanosleep(&(struct timespec){ 0, KILLED_NAP_NS }, NULL);
	if (getppid() == supervisor)
		kill(supervisor, SIGKILL);
	_exit(0);
}

static void report_unwatched(void *ctx)
{
	const struct watch *w = ctx;

	w->supervisor->report(
		w->watcher > 0 ?
			"the process that ends a stopped guard was lost, and is replaced" :
			"the process that ends a stopped guard was lost, and cannot be replaced: nothing keeps a stopped guard to the budget");
}

static void replace_watcher(struct watch *w)
{
	if (w->watcher <= 0 || waitpid(w->watcher, NULL, WNOHANG) != w->watcher)
		return;
	start_watcher(w);
	cs_supervisor_report(2, report_unwatched, w);
}

/* ---- watching ---- */

static void leave_time(struct watch *w, double seconds)
{
	w->end_s = fmin(w->limit_s, cs_clock_s() + seconds);
}

static void reap(struct watch *w)
{
	pid_t got = w->ended ? 0 : waitpid(w->pid, &w->how, WNOHANG);

	if (got < 0 && errno != EINTR)
		w->cannot_wait = errno;
	if (got != w->pid)
		return;
	w->ended = 1;
	if (w->signal)
		leave_time(w, REST_S);
}

static void pass_signal(struct watch *w, int number)
{
	if (!w->ended)
		kill(w->pid, number);
	if (number == SIGUSR1 || w->signal)
		return;
	w->signal = number;
	leave_time(w, w->ended ? REST_S : DEAF_S);
}

static void step(struct watch *w)
{
	int got;

	while ((got = cs_signals_next(w->signal_fd)))
		if (got != SIGCHLD)
			pass_signal(w, got);
	reap(w);
	replace_watcher(w);
	for (int i = 0; i < WAYS; i++) {
		take(&w->transport[i]);
		if (give(&w->transport[i]) && w->ended && w->signal)
			leave_time(w, REST_S);
	}
}

/* Is there nothing left to wait for, or no time? */
static int is_over(struct watch *w)
{
	if (w->cannot_wait ||
	    (w->ended && !holds(&w->transport[OUT]) && !holds(&w->transport[ERR])))
		return 1;
	if (cs_clock_s() < w->end_s)
		return 0;
	if (!w->ended && w->signal && atomic_exchange(&w->shared->signal_seen, 0))
		leave_time(w, HEARD_S);
	return cs_clock_s() >= w->end_s;
}

static void watch(struct watch *w)
{
	while (step(w), !is_over(w)) {
		const struct transport *out = &w->transport[OUT],
				       *err = &w->transport[ERR];
		struct pollfd p[] = {
			{ .fd = out->from, .events = POLLIN },
			{ .fd = err->from, .events = POLLIN },
			{ .fd = w->signal_fd, .events = POLLIN },
			{ .fd = holds(out) ? out->to : -1, .events = POLLOUT },
			{ .fd = holds(err) ? err->to : -1, .events = POLLOUT },
		};
		double left_ms = 1e3 * (w->end_s - cs_clock_s());

		poll(p, 5, left_ms < INT_MAX ? (int)fmax(left_ms, 0) + 1 : -1);
	}
}

static void no_more(int number)
{
	(void)number;
}

/* ---- the processes ---- */

/* Does the supervisor pass this output on?  Not to a file: the measuring process writes
 * it itself, because a file system that does not answer must not hold up the supervisor. */
static int is_passed(int fd)
{
	struct stat st;

	return !fstat(fd, &st) &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(fd));
}

static int are_same(int a, int b)
{
	struct stat s, t;

	return !fstat(a, &s) && !fstat(b, &t) && s.st_dev == t.st_dev &&
	       s.st_ino == t.st_ino && s.st_rdev == t.st_rdev;
}

static int open_pipes(int pipes[WAYS][2])
{
	for (int transport = OUT; transport < WAYS; transport++)
		if (pipe2(pipes[transport], O_CLOEXEC) ||
		    fcntl(pipes[transport][0], F_SETFL, O_NONBLOCK))
			return -1;
	return 0;
}

static void close_pipes(const int pipes[WAYS][2])
{
	for (int transport = OUT; transport < WAYS; transport++)
		for (int end = 0; end < 2; end++)
			if (pipes[transport][end] >= 0)
				close(pipes[transport][end]);
}

/* In the new process.  If both outputs go to one place, they keep their order. */
static void become_measured(const int pipes[WAYS][2], int out, pid_t supervisor)
{
	int same = is_passed(2) && are_same(out, 2);

	die_with(supervisor);
	if (is_passed(2))
		dup2(pipes[same ? OUT : ERR][1], 2);
	if (is_passed(out))
		dup2(pipes[OUT][1], out);
	if (out != 1) /* for the output of libraries */
		dup2(2, 1);
	close_pipes(pipes);
}

static void become_supervisor(struct watch *w, int pipes[WAYS][2], int out)
{
	struct sigaction tick = { .sa_handler = no_more };

	prctl(PR_SET_NAME, "cscope-guard");
	sigaction(SIGALRM, &tick, NULL);
	for (int transport = OUT; transport < WAYS; transport++) {
		w->transport[transport] =
			(struct transport){ .from = pipes[transport][0],
					    .to = transport == OUT ? out : 2,
					    .held = CS_VEC(char) };
		close(pipes[transport][1]);
	}
	start_watcher(w);
}

/* ---- how it ended ---- */

/* Die of the same signal as the measuring process, for the launcher or shell to
 * report it. */
static void die_of(int number)
{
	sigset_t set;

	prctl(PR_SET_DUMPABLE, 0); /* the measuring process has left a core */
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int is_stopped(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) &&
	       info.si_pid == pid;
}

static enum cs_supervised give_up(struct watch *w, int *status, struct cs_err *err)
{
	char call[CS_CALL_NAME];
	int stopped = is_stopped(w->pid);

	kill(w->pid, SIGKILL);
	if (*status >= 0) {
		*status = w->signal ? 128 + w->signal : *status;
		return CS_SUPERVISOR_ENDED;
	}
	*status = w->signal ? 128 + w->signal : CS_EXIT_CANNOT;
	cs_call_read(w->shared->call, call);
	if (w->cannot_wait)
		cs_err_set(err, "cannot wait for process %ld: %s", (long)w->pid,
			   strerror(w->cannot_wait));
	else
		cs_err_set(err, "process %ld hangs%s%s%s and is left running",
			   (long)w->pid, *call ? " in " : "", call,
			   stopped ? " (it is stopped)" : "");
	return CS_SUPERVISOR_HANGS;
}

static enum cs_supervised conclude(struct watch *w, struct cs_supervisor *supervisor,
				   int *status, struct cs_err *err)
{
	const struct transport *out = &w->transport[OUT];

	supervisor->lost = out->failed ? strerror(out->failed) :
			   holds(out)  ? "it takes no data" :
					 NULL;
	for (int transport = OUT; transport < WAYS; transport++)
		cs_vec_release(&w->transport[transport].held);
	*status = atomic_load(&w->shared->status) - 1;
	if (!w->ended)
		return give_up(w, status, err);
	if (WIFSIGNALED(w->how))
		die_of(WTERMSIG(w->how));
	*status = WIFEXITED(w->how) ? WEXITSTATUS(w->how) : 128 + WTERMSIG(w->how);
	if (supervisor->lost && w->signal)
		*status = 128 + w->signal;
	return CS_SUPERVISOR_ENDED;
}

/* Fork; both processes continue with the result of fork().  Signals wait meanwhile.
 * All descriptors of the supervisor are opened before: a supervisor without one could hang. */
static pid_t divide(struct watch *w, int pipes[WAYS][2])
{
	sigset_t before;
	pid_t pid = -1;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	/* a parent may have left it ignored: then no status stays */
	signal(SIGCHLD, SIG_DFL);
	w->signal_fd = open_pipes(pipes) ? -1 : cs_signals_open(SIGCHLD);
	if (w->signal_fd >= 0)
		pid = fork();
	if (pid > 0)
		return pid;
	if (w->signal_fd >= 0)
		close(w->signal_fd);
	if (pid < 0)
		close_pipes(pipes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

enum cs_supervised cs_supervisor_start(struct cs_supervisor *supervisor, int out,
				       double end_s, int *status, struct cs_err *err)
{
	static struct cs_call_watch calls;
	struct cs_supervisor_shared *shared = mmap(NULL, sizeof(*shared),
						   PROT_READ | PROT_WRITE,
						   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct watch w = { .supervisor = supervisor,
			   .shared = shared,
			   .limit_s = end_s,
			   .end_s = end_s };
	pid_t self = getpid();
	int pipes[WAYS][2] = { { -1, -1 }, { -1, -1 } };

	supervisor->shared = NULL;
	if (shared == MAP_FAILED)
		return CS_SUPERVISOR_MEASURE;
	w.pid = divide(&w, pipes);
	if (w.pid < 0) {
		munmap(shared, sizeof(*shared));
		return CS_SUPERVISOR_MEASURE;
	}
	supervisor->shared = shared;
	if (w.pid > 0) {
		become_supervisor(&w, pipes, out);
		watch(&w);
		atomic_store(&shared->is_leaving, 1);
		return conclude(&w, supervisor, status, err);
	}
	become_measured(pipes, out, self);
	calls.to = shared->call;
	cs_call_watch(&calls);
	return CS_SUPERVISOR_MEASURE;
}

void cs_supervisor_set_status(const struct cs_supervisor *supervisor, int status)
{
	if (supervisor->shared)
		atomic_store(&supervisor->shared->status, 1 + status);
}

_Atomic int *cs_supervisor_file(const struct cs_supervisor *supervisor, int number)
{
	return supervisor->shared && number < CS_SUPERVISOR_FILES ?
		     &supervisor->shared->file[number] :
		     NULL;
}

void cs_supervisor_signal_seen(const struct cs_supervisor *supervisor)
{
	if (supervisor->shared)
		atomic_store(&supervisor->shared->signal_seen, 1);
}

/* Has an output no room for a line? */
static int is_stalled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return !poll(&p, 1, 0);
}

void cs_supervisor_report(int fd, void (*print)(void *ctx), void *ctx)
{
	const double begun = cs_clock_s();
	struct timespec nap = { 0, 1000000 };
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		die_with(self);
		print(ctx);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, WNOHANG) != pid) {
		const int stalls = is_stalled(2) || is_stalled(fd);

		if (cs_clock_s() >= begun + (stalls ? STALLED_S : SPEAK_S)) {
			kill(pid, SIGKILL);
			return;
		}
		nanosleep(&nap, NULL);
	}
}
