/* libkill.c - the machine's own CUDA driver, behind which a process dies.
 *
 * Opened in the driver's place (CS_LIBCUDA); passes every call on.  The first
 * time that rank KILL_RANK has made call number KILL_AT of the function KILL_CALL
 * it kills rank KILL_WHOM with SIGKILL, which may be itself.  If it lives, it then
 * watches what the driver makes of that for KILL_WATCH seconds: it appends to
 * KILL_DIR/says what the stream, the event and, once that is over, a new copy
 * between the same two buffers return.  Then the program goes on. */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/driver.h"

/* the functions at which one can die, with what they take */
#define WRAPPED(X)                                                             \
	X(cuIpcGetMemHandle, (CUipcMemHandle *a, CUdeviceptr b), (a, b))       \
	X(cuIpcOpenMemHandle,                                                  \
	  (CUdeviceptr *a, CUipcMemHandle b, unsigned int c), (a, b, c))       \
	X(cuIpcCloseMemHandle, (CUdeviceptr a), (a))                           \
	X(cuStreamWaitValue32,                                                 \
	  (CUstream a, CUdeviceptr b, uint32_t c, unsigned int d),           \
	  (a, b, c, d))                                                        \
	X(cuEventRecord, (CUevent a, CUstream b), (a, b))                      \
	X(cuEventQuery, (CUevent a), (a))                                      \
	X(cuMemFree, (CUdeviceptr a), (a))

enum {
#define ID(name, takes, pass) WRAPPED_##name,
	WRAPPED(ID)
#undef ID
		WRAPPED_N
};

static void *real[WRAPPED_N];
static cs_driver_find_fn real_find;
#define REAL(name) __typeof__(((struct cs_driver *)0)->name)
static REAL(cuGetErrorName) real_name;
static REAL(cuStreamQuery) real_stream_query;
static REAL(cuMemcpyAsync) real_copy;
static atomic_long n_calls[WRAPPED_N];
static atomic_int killed;

/* the last copy, of the thread that issues it */
static _Thread_local struct {
	CUdeviceptr dst, src;
	size_t bytes;
	CUstream stream;
} last;

static const char *knob(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static int rank_here(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
					     "PMI_RANK" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (*knob(names[i]))
			return atoi(knob(names[i]));
	return 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static FILE *open_in_dir(const char *name, const char *mode)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", knob("KILL_DIR"), name);
	return fopen(path, mode);
}

static void say(double since, const char *call, CUresult result)
{
	const char *name = "?";
	FILE *to = open_in_dir("says", "a");

	real_name(result, &name);
	if (to) {
		fprintf(to, "rank %d: %s: %s (%d) after %.0f ms\n", rank_here(), call,
			name, (int)result, 1e3 * (seconds() - since));
		fclose(to);
	}
}

/* ---- the death ---- */

__attribute__((constructor)) static void write_pid(void)
{
	char name[32];
	FILE *to;

	snprintf(name, sizeof(name), "pid.%d", rank_here());
	to = open_in_dir(name, "w");
	if (to) {
		fprintf(to, "%d\n", (int)getpid());
		fclose(to);
	}
}

static void kill_whom(void)
{
	char name[32];
	int pid = 0;
	FILE *from;

	snprintf(name, sizeof(name), "pid.%d", atoi(knob("KILL_WHOM")));
	from = open_in_dir(name, "r");
	if (!from || fscanf(from, "%d", &pid) != 1 || pid <= 1)
		abort();
	fclose(from);
	kill(pid, SIGKILL);
}

/* Until it is something else than "not ready", or the time is up. */
static CUresult settle(double until)
{
	CUresult result;

	do
		result = real_stream_query(last.stream);
	while (result == CUDA_ERROR_NOT_READY && seconds() < until);
	return result;
}

/* So that the program does not leave meanwhile. */
static void sleep_a_watch(int number)
{
	double until = seconds() + atof(knob("KILL_WATCH"));
	struct timespec nap = { 0, 10000000 };

	(void)number;
	while (seconds() < until)
		nanosleep(&nap, NULL);
}

static void hold_main_thread(void)
{
	struct sigaction act = { .sa_handler = sleep_a_watch };

	sigaction(SIGRTMIN, &act, NULL);
	syscall(SYS_tgkill, getpid(), getpid(), SIGRTMIN);
}

static void watch(void)
{
	double begin = seconds(), until = begin + atof(knob("KILL_WATCH"));
	CUresult result;

	if (!last.stream)
		return;
	say(begin, "cuStreamQuery", settle(until));
	result = real_copy(last.dst, last.src, last.bytes, last.stream);
	say(begin, "cuMemcpyAsync between the same buffers", result);
	if (!result)
		say(begin, "... and its stream", settle(until));
}

static void after(int which, const char *name)
{
	/* marks and queries count from the first copy on */
	if (!last.stream && !strncmp(name, "cuEvent", 7))
		return;
	if (strcmp(knob("KILL_CALL"), name) || rank_here() != atoi(knob("KILL_RANK")) ||
	    atomic_fetch_add(&n_calls[which], 1) + 1 != atol(knob("KILL_AT")) ||
	    atomic_exchange(&killed, 1))
		return;
	if (last.stream)
		hold_main_thread();
	kill_whom();
	watch();
}

/* ---- the driver ---- */

#define WRAPPER(name, takes, pass)                                             \
	static CUresult wrapped_##name takes                                   \
	{                                                                      \
		CUresult(*call) takes;                                         \
		CUresult result;                                               \
                                                                               \
		memcpy(&call, &real[WRAPPED_##name], sizeof(call));            \
		result = call pass;                                            \
		after(WRAPPED_##name, #name);                                  \
		return result;                                                 \
	}
WRAPPED(WRAPPER)
#undef WRAPPER

static CUresult wrapped_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
				      CUstream stream)
{
	last.dst = dst;
	last.src = src;
	last.bytes = bytes;
	last.stream = stream;
	return real_copy(dst, src, bytes, stream);
}

static void *replace(const char *name, void *entry)
{
	CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t,
			 CUstream) = wrapped_cuMemcpyAsync;

#define REPLACE(name_, takes, pass)                                            \
	if (!strcmp(name, #name_)) {                                           \
		CUresult(*with) takes = wrapped_##name_;                       \
                                                                               \
		real[WRAPPED_##name_] = entry;                                 \
		memcpy(&entry, &with, sizeof(entry));                          \
		return entry;                                                  \
	}
	WRAPPED(REPLACE)
#undef REPLACE
	if (!strcmp(name, "cuGetErrorName"))
		memcpy(&real_name, &entry, sizeof(entry));
	if (!strcmp(name, "cuStreamQuery"))
		memcpy(&real_stream_query, &entry, sizeof(entry));
	if (!strcmp(name, "cuMemcpyAsync")) {
		memcpy(&real_copy, &entry, sizeof(entry));
		memcpy(&entry, &copy, sizeof(entry));
	}
	return entry;
}

CUresult cuGetProcAddress_v2(const char *name, void **entry, int version,
			     uint64_t flags, CUdriverProcAddressQueryResult *found);

CUresult cuGetProcAddress_v2(const char *name, void **entry, int version,
			     uint64_t flags, CUdriverProcAddressQueryResult *found)
{
	const char *driver = *knob("KILL_LIBCUDA") ? knob("KILL_LIBCUDA") :
						     "libcuda.so.1";
	CUresult result;
	void *library, *at;

	if (!real_find) {
		library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
		at = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
		if (!at)
			return CUDA_ERROR_NOT_FOUND;
		memcpy(&real_find, &at, sizeof(at));
	}
	result = real_find(name, entry, version, flags, found);
	if (!result && *entry)
		*entry = replace(name, *entry);
	return result;
}
