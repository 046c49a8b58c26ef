/* story.h - for tests of the fake driver through its calls.
 *
 * The fake reads its environment when it is loaded, so each story runs in
 * children of its own, which leave what they got in a shared page; the test
 * compares.  A child whose driver call fails against expectation ends with a
 * message and status 1, one that hangs by SIGALRM. */
#ifndef CS_TESTS_STORY_H
#define CS_TESTS_STORY_H

#include "backend/cuda/driver.h"
#include "backend/cuda/kernels.h"
#include "tap.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES ((size_t)1 << 20)
#define FOREVER 60		/* seconds until a child is called hung */

/* The board of the stories, registered with the driver, and their results. */
static struct shared {
	uint32_t gate;
	char line[124];
	uint32_t word[64];
	atomic_int here[8]; /* arrivals at a meeting */
	CUipcMemHandle handle[2];
	CUdeviceptr address[2];
	double ms[16];
	int64_t got[48];
} *sh;

static const char *folder;
static struct cs_driver cu;
static CUresult (*ctx_synchronize)(void);
static CUresult (*stream_synchronize)(CUstream);
static const uint32_t image[4] = { 0xBA55ED50u };

/* ---- what stories are made of ---- */

#define must(call) must_(call, #call, __LINE__)
static inline void must_(CUresult code, const char *call, int line)
{
	if (!code)
		return;
	fprintf(stderr, "# line %d: %s: %d\n", line, call, (int)code);
	_exit(1);
}

static inline void load(void)
{
	cs_driver_find_fn find;
	CUdriverProcAddressQueryResult found;
	char path[4096];
	void *library, *entry;

	snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	entry = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
	if (!entry)
		_exit(2);
	memcpy(&find, &entry, sizeof(find));
#define LOAD(name, version, takes) \
	must(find(#name, (void **)&cu.name, version, 1, &found));
	CS_DRIVER_CALLS(LOAD)
#undef LOAD
	must(find("cuCtxSynchronize", (void **)&ctx_synchronize, 2000, 0, &found));
	must(find("cuStreamSynchronize", (void **)&stream_synchronize, 2000, 0,
		  &found));
}

/* The `who`th child's part, of those that story() begins. */
#define STORY(name) static void name(__attribute__((unused)) int who)

/* `n` children, each with "A=1 B=2" in its environment. */
static inline void story(const char *environment, int n, void (*run)(int who))
{
	char set[512], *rest = set, *one;
	int status;

	fflush(NULL);
	memset(sh, 0, sizeof(*sh));
	for (int i = 0; i < n; i++) {
		if (fork())
			continue;
		snprintf(set, sizeof(set), "%s", environment);
		while ((one = strsep(&rest, " ")))
			if (*one)
				putenv(one);
		alarm(FOREVER);
		load();
		run(i);
		_exit(0);
	}
	for (int i = 0; i < n; i++) {
		status = -1;
		wait(&status);
		t_eq_int(status, 0);
	}
}

/* Where two children wait for each other. */
static inline void meet(int where)
{
	atomic_fetch_add(&sh->here[where], 1);
	while (atomic_load(&sh->here[where]) < 2)
		sched_yield();
}

static inline CUcontext open_gpu(int ordinal)
{
	CUcontext ctx;
	CUdevice device;

	must(cu.cuInit(0));
	must(cu.cuDeviceGet(&device, ordinal));
	must(cu.cuDevicePrimaryCtxRetain(&ctx, device));
	must(cu.cuCtxSetCurrent(ctx));
	return ctx;
}

static inline CUdeviceptr device_memory(void)
{
	CUdeviceptr at;

	must(cu.cuMemAlloc(&at, BYTES));
	return at;
}

/* A source, and BYTES further a destination. */
static inline CUdeviceptr arena_new(void)
{
	CUdeviceptr at;

	must(cu.cuMemAlloc(&at, 2 * BYTES));
	return at;
}

static inline CUstream stream_new(void)
{
	CUstream stream;

	must(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	return stream;
}

static inline void board(void)
{
	must(cu.cuMemHostRegister(sh, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
}

static inline CUdeviceptr board_at(const void *at)
{
	return (uintptr_t)at;
}

static inline void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline CUresult gated(CUstream stream, uint32_t *word, uint32_t value)
{
	return cu.cuStreamWaitValue32(stream, board_at(word), value,
				      CU_STREAM_WAIT_VALUE_GEQ);
}

/* A stream with its two marks around one copy between arenas. */
struct timed {
	CUstream stream;
	CUevent start, end;
};

static inline void timed_arm(struct timed *t, uint32_t value, CUdeviceptr to,
			     CUdeviceptr from)
{
	if (!t->stream) {
		t->stream = stream_new();
		must(cu.cuEventCreate(&t->start, 0));
		must(cu.cuEventCreate(&t->end, 0));
	}
	if (value)
		must(gated(t->stream, &sh->gate, value));
	must(cu.cuEventRecord(t->start, t->stream));
	must(cu.cuMemcpyAsync(to + BYTES, from, BYTES, t->stream));
	must(cu.cuEventRecord(t->end, t->stream));
}

static inline double timed_end(struct timed *t)
{
	float ms = -1;

	must(stream_synchronize(t->stream));
	must(cu.cuEventElapsedTime(&ms, t->start, t->end));
	return ms;
}

static inline double timed_copy(struct timed *t, CUdeviceptr to, CUdeviceptr from)
{
	timed_arm(t, 0, to, from);
	return timed_end(t);
}

/* What one copy of BYTES takes at that many GB/s. */
static inline double ms_at(double rate)
{
	return 2.7e-3 + BYTES / rate / 1e6;
}

#define t_ms(got, want) t_near(got, want, 1e-8)

/* All that a story left in sh->got, or sh->ms, from the first on. */
#define t_got(...)                                                 \
	t_all_got((const int64_t[]){ __VA_ARGS__ },                \
		  sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), \
		  __LINE__)
#define t_took(...)                                                \
	t_all_took((const double[]){ __VA_ARGS__ },                \
		   sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), \
		   __LINE__)

static inline void t_all_got(const int64_t *want, size_t n, int line)
{
	for (size_t i = 0; i < n; i++) {
		char text[16];

		snprintf(text, sizeof(text), "got[%zu]", i);
		tap_eq_int(sh->got[i], want[i], text, __FILE__, line);
	}
}

static inline void t_all_took(const double *want, size_t n, int line)
{
	for (size_t i = 0; i < n; i++) {
		char text[16];

		snprintf(text, sizeof(text), "ms[%zu]", i);
		tap_near(sh->ms[i], want[i], 1e-8, text, __FILE__, line);
	}
}

/* ---- a call in a thread of its own ---- */

struct call {
	CUresult (*make)(struct call *);
	CUcontext ctx;
	CUdeviceptr at;
	void *p;
	CUstream stream;
	CUmodule module;
	atomic_int tid, done;
	CUresult code;
	pthread_t thread;
};

static inline void *call_main(void *arg)
{
	struct call *c = arg;

	must(cu.cuCtxSetCurrent(c->ctx));
	atomic_store(&c->tid, (int)syscall(SYS_gettid));
	c->code = c->make(c);
	atomic_store(&c->done, 1);
	return NULL;
}

static inline char thread_state(int tid)
{
	char path[64], state = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	in = fopen(path, "r");
	if (in && fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (in)
		fclose(in);
	return state;
}

static inline void call_start(struct call *c)
{
	atomic_store(&c->tid, 0);
	atomic_store(&c->done, 0);
	pthread_create(&c->thread, NULL, call_main, c);
	while (!atomic_load(&c->tid))
		sched_yield();
}

/* Wait until it is done (0) or sleeps (1).  It may sleep for a moment only: for
 * calls that must not block use call_join() alone. */
static inline int call_sleeps(struct call *c)
{
	int asleep = 0;

	while (!atomic_load(&c->done) && asleep < 100) {
		asleep = thread_state(c->tid) == 'S' ? asleep + 1 : 0;
		sched_yield();
	}
	return !atomic_load(&c->done);
}

static inline CUresult call_join(struct call *c)
{
	pthread_join(c->thread, NULL);
	return c->code;
}

static inline CUfunction kernel(const char *name)
{
	CUfunction function;
	CUmodule module;

	must(cu.cuModuleLoadData(&module, image));
	must(cu.cuModuleGetFunction(&function, module, name));
	return function;
}

static inline void launch_it(CUfunction function, void *args, CUstream stream)
{
	must(cu.cuLaunchKernel(function, 3, 1, 1, 256, 1, 1, 0, stream,
			       (void *[]){ args }, NULL));
}

static inline void launch(const char *name, void *args, CUstream stream)
{
	launch_it(kernel(name), args, stream);
}

int tap_set_up(void)
{
	int fd = memfd_create("cs-test", MFD_CLOEXEC);

	_Static_assert(sizeof(struct shared) <= 8192, "two pages");
	folder = getenv("FAKE");
	if (!folder)
		t_skip("no fake driver: the variable FAKE is not set");
	if (fd < 0 || ftruncate(fd, 8192))
		return -1;
	sh = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return sh == MAP_FAILED ? -1 : 0;
}

#endif
