/* test_cuda.c - the CUDA backend on the fake driver.
 *
 * The driver is loaded once per process and the fake reads its orders when it is
 * loaded, so each story runs in a child with an environment of its own.  The
 * child tells, one line a thing; the test compares. */
#include "backend/backend.h"
#include "base/facts.h"
#include "base/hints.h"
#include "node/agent/hostbuf.h"
#include "plan/plan.h"
#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define BUFFER MIB		/* of a copy */
#define ARENA (2 * BUFFER)	/* source, then destination */
#define KEY 0x1234567890ull

/* Stands for the board: a memfd's page, shared by all children. */
static struct page {
	uint32_t gate;
	char line1[124];
	uint32_t stamp;
	char line2[4096 - 132];
} *page;

static const struct cs_backend *cuda;
static char library[4096];
static FILE *out;

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
	fflush(out);
}

/* ---- a story in a child ---- */

static void tell(const char *environment, void (*story)(void))
{
	char set[512];
	char *rest = set, *one;

	snprintf(set, sizeof(set), "%s", environment);
	setenv("CS_LIBCUDA", library, 1);
	while ((one = strsep(&rest, " ")))
		if (*one)
			putenv(strdup(one));
	/* a wrong wait ends the child, not the patience of the user */
	alarm(60);
	story();
}

/* What the story said, and how its process ended if not well. */
static const char *heard(const char *environment, void (*story)(void))
{
	static char text[4096];
	size_t n = 0, got;
	int ends[2], status = 0;
	FILE *in;
	pid_t child;

	if (pipe(ends))
		return "no pipe";
	fflush(NULL);
	memset(page, 0, sizeof(*page));
	child = fork();
	if (!child) {
		close(ends[0]);
		out = fdopen(ends[1], "w");
		tell(environment, story);
		fclose(out);
		/* LeakSanitizer now and then stumbles over a thread that is ending */
		if (TAP_SANITIZED)
			_exit(0);
		exit(0);
	}
	close(ends[1]);
	in = fdopen(ends[0], "r");
	while ((got = fread(text + n, 1, sizeof(text) - 1 - n, in)))
		n += got;
	fclose(in);
	waitpid(child, &status, 0);
	if (status)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "status %#x\n",
				      (unsigned int)status);
	text[n] = 0;
	return text;
}

/* ---- what stories are made of ---- */

static int start(void)
{
	struct cs_err err = { "" };
	int version;

	if (!cuda->start(&version, &err))
		return 0;
	say("start: %s", err.text);
	return -1;
}

static enum cs_transport way; /* of all devices of a story */

/* A device with board and arena. */
static struct cs_dev *ready(int ordinal, struct cs_export *arena)
{
	struct cs_err err = { "" };
	struct cs_dev *dev = NULL;

	if (!cuda->open(ordinal, 2, &dev, &err))
		cuda->via(dev, way);
	if (!dev || cuda->board(dev, page, sizeof(*page), &err) ||
	    cuda->arena(dev, ARENA, NULL, -1, arena, &err)) {
		say("%s", err.text);
		if (dev)
			cuda->close(dev);
		return NULL;
	}
	return dev;
}

static int wait_lane(struct cs_dev *dev, int lane, double *ns)
{
	struct cs_err err = { "" };
	int rc;

	while (!(rc = cuda->poll(dev, lane, ns, &err)))
		;
	if (rc < 0)
		say("poll: %s", err.text);
	return rc;
}

static void open_gate(uint32_t seq)
{
	__atomic_store_n(&page->gate, seq, __ATOMIC_SEQ_CST);
}

static void say_check(struct cs_dev *dev, uint64_t address, uint64_t key, int poison)
{
	struct cs_check found;
	struct cs_err err = { "" };

	if (cuda->check(dev, address, &CS_EXPECTED(key, BUFFER), poison, &found, &err))
		say("check: %s", err.text);
	else if (!found.wrong_words)
		say("clean");
	else
		say("%llu wrong, %llu poison, first %llu, %s, %s",
		    (unsigned long long)found.wrong_words,
		    (unsigned long long)found.poison_words,
		    (unsigned long long)found.first_word,
		    found.expected == cs_fill_word(key, found.first_word) ?
			    "expected as it should be" :
			    "expected wrong",
		    found.found == CS_POISON64 ? "found poison" : "found another");
}

static uint32_t copy_kind;

/* Copy from `src` to the own destination behind the gate, and tell of it. */
static void fly(struct cs_dev *dev, uint64_t own, uint64_t src)
{
	struct cs_copy desc = { .dst = own + BUFFER,
				.src = src,
				.bytes = BUFFER,
				.copies = 3,
				.kind = copy_kind };
	struct cs_err err = { "" };
	double ns = 0;

	if (cuda->poison(dev, desc.dst, BUFFER, &err) ||
	    cuda->arm(dev, 1, &page->gate, 1, &desc, &err)) {
		say("arm: %s", err.text);
		open_gate(1);
		return;
	}
	say("closed: %d", cuda->poll(dev, 1, &ns, &err));
	/* own memory can be looked at while the gate is closed */
	say_check(dev, desc.dst, KEY, 0);
	open_gate(1);
	if (wait_lane(dev, 1, &ns) > 0)
		say("open: %s", ns > 0 ? "time passed" : "no time");
	say_check(dev, desc.dst, KEY, 0);
}

#define ALL_POISON "131072 wrong, 131072 poison, first 0, " \
	"expected as it should be, found poison\n"
#define FLOWN "closed: 0\n" ALL_POISON "open: time passed\nclean\n"

/* A story of GPU 0, which has board and arena. */
#define STORY(name)                                                    \
	static void name(__attribute__((unused)) struct cs_dev *dev,   \
			 __attribute__((unused)) uint64_t arena)

typedef void gpu_story(struct cs_dev *dev, uint64_t arena);
static gpu_story *of_gpu;
static struct cs_dev *(*made_ready)(int ordinal, struct cs_export *arena);

static void story_on_gpu(void)
{
	struct cs_export arena;
	struct cs_dev *dev = start() ? NULL : made_ready(0, &arena);

	if (dev)
		of_gpu(dev, arena.address);
	cuda->close(dev);
}

static const char *heard_on_gpu(const char *environment, gpu_story *story)
{
	of_gpu = story;
	made_ready = ready;
	return heard(environment, story_on_gpu);
}

/* ---- start and probe ---- */

static void story_start(void)
{
	int version = 0;

	if (start())
		return;
	say("virtual clock: %d", cuda->clock_is_virtual);
	say("again: %d", cuda->start(&version, NULL));
	say("version: %d", version);
}

HOLDS("the driver starts, and may be started again") {
	t_eq_str(heard("", story_start),
		 "virtual clock: 1\nagain: 0\nversion: 13000\n");
}

HOLDS("a missing library is named with the loader's reason") {
	t_eq_str(heard("CS_LIBCUDA=/nonexistent/libcuda.so.1", story_start),
		 "start: cannot load /nonexistent/libcuda.so.1: "
		 "/nonexistent/libcuda.so.1: cannot open shared object file: "
		 "No such file or directory\n");
}

HOLDS("a library without the look-up function is called too old") {
	t_eq_str(heard("CS_LIBCUDA=libm.so.6", story_start),
		 "start: the CUDA driver is too old: it has no cuGetProcAddress_v2; "
		 "CUDA 12.0 (driver 525) or newer is needed\n");
}

HOLDS("CUDA_LAUNCH_BLOCKING=1 is refused") {
	t_eq_str(heard("CUDA_LAUNCH_BLOCKING=1", story_start),
		 "start: CUDA_LAUNCH_BLOCKING=1 makes every launch wait for "
		 "its end, so nothing can start at the same time: unset it\n");
}

HOLDS("every error with a sure hint says it behind name and code") {
	int provoked = 0;

	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *hint = cs_hint(id);
		char knob[48], want[256];

		if (hint->of != CS_HINT_OF_CUDA || hint->calls)
			continue;
		cs_text(knob, sizeof(knob), "FAKE_FAIL=cuInit:1=%d", hint->code[0]);
		cs_text(want, sizeof(want), "start: cuInit: %s (%d)%s%s\n",
			hint->name, hint->code[0], hint->brief ? "; " : "",
			hint->brief ? hint->brief : "");
		t_eq_str(heard(knob, story_start), want);
		provoked++;
	}
	t_ok(provoked >= 13);
}

static void story_probe(void)
{
	struct cs_gpu_facts gpu[2];
	struct cs_err err = { "" };
	int n = 0;

	if (start())
		return;
	if (cuda->probe(gpu, 2, &n, &err)) {
		say("%s", err.text);
		return;
	}
	say("%d", n);
	for (int i = 0; i < n; i++)
		say("%d %s %s %s cc %d.%d %s %s", gpu[i].ordinal, gpu[i].name,
		    gpu[i].uuid, gpu[i].bus_id, gpu[i].cc_major, gpu[i].cc_minor,
		    gpu[i].sm_count > 0 ? "SMs" : "no SMs",
		    gpu[i].memory_bytes > 0 ? "memory" : "no memory");
}

HOLDS("a probe gives name, UUID, bus id and no more than asked") {
	t_eq_str(heard("FAKE_GPUS=3", story_probe),
		 "2\n"
		 "0 NVIDIA H200 GPU-00000000-0000-0000-0000-000000000000 "
		 "0000:1b:00.0 cc 9.0 SMs memory\n"
		 "1 NVIDIA H200 GPU-00000000-0000-0000-0000-000000000001 "
		 "0000:2b:00.0 cc 9.0 SMs memory\n");
}

HOLDS("a failing probe names the GPU") {
	t_eq_str(heard("FAKE_FAIL=cuDeviceGetUuid:2=999", story_probe),
		 "GPU 1: cuDeviceGetUuid: CUDA_ERROR_UNKNOWN (999); the kernel "
		 "module may say why: see NVRM and Xid in dmesg\n");
}

/* ---- own memory ---- */

STORY(story_passes) {
	cuda->fill(dev, arena, BUFFER, KEY, NULL);
	say_check(dev, arena, KEY, 0);
	cuda->fill(dev, arena + 4096, 16, KEY + 1, NULL);
	say_check(dev, arena, KEY, 1);
	say_check(dev, arena, KEY, 0);
	cuda->fill(dev, arena, BUFFER, KEY, NULL);
	cuda->poison(dev, arena + BUFFER - 16, 16, NULL);
	say_check(dev, arena, KEY, 0);
}

HOLDS("fill, poison and check agree to the word") {
	t_eq_str(heard_on_gpu("", story_passes),
		 "clean\n"
		 "2 wrong, 0 poison, first 512, expected as it should be, "
		 "found another\n" ALL_POISON
		 "2 wrong, 2 poison, first 131070, expected as it should be, "
		 "found poison\n");
}

/* Copies at places of their own: all are there, and what is wrong in one is told with
 * its place; what lies between is left alone. */
STORY(story_places) {
	const struct cs_expected left = { KEY, 4096, 4608, 100, 0, 0, { 0 } };
	struct cs_check found;
	double ns;

	cuda->fill(dev, arena, 4096, KEY, NULL);
	for (uint32_t seq = 1; seq <= 3; seq++) {
		const struct cs_copy desc = {
			.dst = arena + BUFFER,
			.src = arena,
			.bytes = 4096,
			.stride = 4608,
			.positions = 100,
			.copies = seq == 3 ? 99 : 100,
		};

		cuda->arm(dev, 0, &page->gate, seq, &desc, NULL);
		open_gate(seq);
		wait_lane(dev, 0, &ns);
		if (seq == 2)
			cuda->poison(dev, desc.dst + 70 * 4608 + 16, 16, NULL);
		cuda->check(dev, desc.dst, &left, 1, &found, NULL);
		say("%d wrong, %d poison, first %d", (int)found.wrong_words,
		    (int)found.poison_words, (int)found.first_word);
	}
}

HOLDS("copies go to places of their own, each is checked") {
	t_eq_str(heard_on_gpu("", story_places),
		 "0 wrong, 0 poison, first -1\n"
		 "2 wrong, 2 poison, first 40322\n"
		 "512 wrong, 512 poison, first 57024\n");
}

STORY(story_load) {
	say("load: %d", cuda->load(dev, arena, 4096, 1, NULL));
	say("idle: %d", cuda->idle(dev, NULL));
}

HOLDS("a load ends") {
	t_eq_str(heard_on_gpu("", story_load), "load: 0\nidle: 0\n");
}

static void story_big(void)
{
	struct cs_export arena;
	struct cs_err err = { "" };
	struct cs_dev *dev;

	if (start() || cuda->open(0, 1, &dev, &err))
		return;
	if (cuda->arena(dev, 64 * MIB, NULL, -1, &arena, &err))
		say("%s", err.text);
	cuda->close(dev);
}

HOLDS("an arena larger than the free memory is refused with both figures") {
	t_eq_str(heard("FAKE_MEMORY=33554432", story_big),
		 "the buffers need 64 MiB, and 32 of the GPU's 32 MiB are free: choose a smaller --size\n");
}

/* ---- the gate ---- */

STORY(story_own) {
	cuda->fill(dev, arena, BUFFER, KEY, NULL);
	fly(dev, arena, arena);
}

HOLDS("copies wait for the gate, then take time and arrive") {
	t_eq_str(heard_on_gpu("", story_own), FLOWN);
}

HOLDS("without stream memory operations a kernel keeps the gate") {
	t_eq_str(heard_on_gpu("FAKE_NO_MEMOPS=1", story_own), FLOWN);
}

STORY(story_stamp) {
	struct cs_err err = { "" };
	double ns = 1;

	if (cuda->arm_stamp(dev, 0, &page->gate, 7, &page->stamp, &err))
		say("%s", err.text);
	open_gate(6);
	say("too early: %d, %u", cuda->poll(dev, 0, &ns, &err), page->stamp);
	open_gate(7 + (1u << 30));
	say("opened for all: %d", wait_lane(dev, 0, &ns));
	say("%u, %.0f ns", *(volatile uint32_t *)&page->stamp, ns);
}

HOLDS("a stamp appears when the gate opens, compared cyclically") {
	const char *told = "too early: 0, 0\nopened for all: 1\n7, 0 ns\n";

	t_eq_str(heard_on_gpu("", story_stamp), told);
	t_eq_str(heard_on_gpu("FAKE_NO_MEMOPS=1", story_stamp), told);
}

STORY(story_half_armed) {
	struct cs_copy desc;
	struct cs_err err = { "" };
	double ns;

	desc = (struct cs_copy){
		.dst = arena + BUFFER, .src = arena, .bytes = BUFFER, .copies = 2
	};
	say("%d", cuda->arm(dev, 0, &page->gate, 1, &desc, &err));
	say("%s", err.text);
	say("%d", cuda->poll(dev, 0, &ns, &err));
	open_gate(1);
	say("%d", wait_lane(dev, 0, &ns));
	say("broken: %d", cuda->broken(dev));
}

HOLDS("what was armed before an error runs out") {
	t_eq_str(heard_on_gpu("FAKE_FAIL=cuMemcpyAsync:2=999", story_half_armed),
		 "-1\ncuMemcpyAsync: CUDA_ERROR_UNKNOWN (999); the kernel "
		 "module may say why: see NVRM and Xid in dmesg\n0\n1\n"
		 "broken: 0\n");
}

HOLDS("a sticky error makes the device broken") {
	t_eq_str(heard_on_gpu("FAKE_FAULT=cuMemcpyAsync:1=719", story_half_armed),
		 "0\n\n0\n"
		 "poll: cuEventQuery: CUDA_ERROR_LAUNCH_FAILED (719)\n-1\n"
		 "broken: 1\n");
}

/* ---- peers in the same process ---- */

static char log_of_calls[] = "/tmp/cs-calls-XXXXXX";

/* `environment` with the calls logged anew. */
static const char *logged(const char *environment)
{
	static char text[256];

	if (truncate(log_of_calls, 0))
		close(mkstemp(log_of_calls));
	snprintf(text, sizeof(text), "%s FAKE_CALLS=%s", environment, log_of_calls);
	return text;
}

/* Calls of a function, NULL for all, as the fake has logged them. */
static int calls_of(const char *function)
{
	char line[128], name[100];
	FILE *in = fopen(log_of_calls, "r");
	int n = 0;

	while (in && fgets(line, sizeof(line), in))
		n += sscanf(line, "%*d %99s", name) == 1 &&
		     (!function || !strcmp(name, function));
	if (in)
		fclose(in);
	return n;
}

int tap_tear_down(void)
{
	unlink(log_of_calls);
	return 0;
}

static struct cs_export shared_arena[2];
static pthread_barrier_t all_here;
static int peer_failed;

/* GPU 0 and another, one thread each, as agents are. */
static void beside(void *(*other)(void *), void *(*self)(void *))
{
	static int number[] = { 0, 1 };
	pthread_t thread;

	if (start())
		return;
	pthread_barrier_init(&all_here, NULL, 2);
	pthread_create(&thread, NULL, other, &number[0]);
	self(&number[1]);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&all_here);
}

/* GPU 0 owns a pattern and behind it a chain, GPU 1 reads. */
static void *owner(void *unused)
{
	struct cs_dev *dev = ready(0, &shared_arena[0]);
	uint64_t at = shared_arena[0].address, chain = at + BUFFER;

	(void)unused;
	if (!dev || cuda->fill(dev, at, BUFFER, KEY, NULL) ||
	    cuda->chain(dev, chain, BUFFER, chain, 1, 5, NULL))
		peer_failed = 1;
	pthread_barrier_wait(&all_here);
	pthread_barrier_wait(&all_here);
	if (dev)
		cuda->close(dev);
	return NULL;
}

/* Import the peer's arena twice, copy from it and give it back; -1 after telling why not. */
static int import_twice(struct cs_dev *dev, uint64_t own, const struct cs_export *peer)
{
	struct cs_mapping first = { 0 }, second = { 0 };
	struct cs_err err = { "" };

	if (cuda->import(dev, peer, &first, &err) ||
	    cuda->import(dev, peer, &second, &err)) {
		say("import: %s", err.text);
		return -1;
	}
	say("%s", cs_via_text(first.via));
	say("%s", first.address == second.address ? "same" : "other");
	fly(dev, own, first.address);
	cuda->unimport(dev, &first);
	cuda->unimport(dev, &second);
	return second.address != 0;
}

static void *reader(void *unused)
{
	struct cs_dev *dev = ready(1, &shared_arena[1]);

	(void)unused;
	pthread_barrier_wait(&all_here);
	if (!dev || peer_failed)
		say("not ready");
	else
		import_twice(dev, shared_arena[1].address, &shared_arena[0]);
	pthread_barrier_wait(&all_here);
	if (dev)
		cuda->close(dev);
	return NULL;
}

static void story_threads(void)
{
	beside(owner, reader);
}

HOLDS("threads of a process reach each other directly") {
	t_eq_str(heard("", story_threads), "direct\nsame\n" FLOWN);
}

static void threads_forced(enum cs_transport via, uint32_t kind, const char *want)
{
	way = via;
	copy_kind = kind;
	t_eq_str(heard("", story_threads), want);
	way = CS_TRANSPORT_AUTO;
	copy_kind = CS_COPY_ENGINE;
}

HOLDS("a forced transport is taken between threads, or refused") {
	threads_forced(CS_TRANSPORT_DIRECT, CS_COPY_PEER, "direct\nsame\n" FLOWN);
	threads_forced(CS_TRANSPORT_FD, CS_COPY_ENGINE, "descriptor\nsame\n" FLOWN);
	threads_forced(CS_TRANSPORT_IPC, CS_COPY_ENGINE,
		       "import: --via ipc: CUDA IPC does not work within one "
		       "process: --placement process, or a rank per GPU\n");
	way = CS_TRANSPORT_STAGED;
	copy_kind = CS_COPY_PEER;
	t_eq_str(heard(logged(""), story_threads), "staged by driver\nsame\n" FLOWN);
	way = CS_TRANSPORT_AUTO;
	copy_kind = CS_COPY_ENGINE;
	t_eq_int(calls_of("cuCtxEnablePeerAccess"), 0);
	t_eq_int(calls_of("cuMemcpyPeerAsync"), 3);
	t_eq_int(calls_of("cuDevicePrimaryCtxRetain"),
		 calls_of("cuDevicePrimaryCtxRelease"));
}

HOLDS("threads without peer access are told so") {
	t_eq_str(heard("FAKE_NO_PEER=1-0,0-1", story_threads),
		 "import: cuDeviceCanAccessPeer: the two GPUs cannot reach each "
		 "other's memory\n");
}

HOLDS("agents of a process share one registration of the board") {
	heard(logged(""), story_threads);
	t_eq_int(calls_of("cuMemHostRegister"), 1);
	t_eq_int(calls_of("cuMemHostUnregister"), 1);
	t_eq_int(calls_of("cuDevicePrimaryCtxRetain"),
		 calls_of("cuDevicePrimaryCtxRelease"));
}

/* ---- peers in another process ---- */

static void owner_process(int socket)
{
	struct cs_export arena = { .pid = 0 };
	struct cs_dev *dev = start() ? NULL : ready(0, &arena);
	char byte;

	if (dev)
		cuda->fill(dev, arena.address, BUFFER, KEY, NULL);
	if (write(socket, &arena, sizeof(arena)) == sizeof(arena) &&
	    read(socket, &byte, 1) == 1 && dev)
		cuda->close(dev);
	_exit(0);
}

static void change_nothing(struct cs_export *arena)
{
	(void)arena;
}

static void (*change)(struct cs_export *) = change_nothing;

static void story_processes(void)
{
	struct cs_export own, peer;
	struct cs_dev *dev;
	int ends[2], rc;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	child = fork();
	if (!child)
		owner_process(ends[1]);
	if (read(ends[0], &peer, sizeof(peer)) != sizeof(peer) || start() ||
	    !(dev = ready(1, &own)))
		return;
	change(&peer);
	rc = import_twice(dev, own.address, &peer);
	if (rc < 0)
		say("broken: %d", cuda->broken(dev));
	else
		say("after: %d", rc);
	if (write(ends[0], "", 1) == 1)
		waitpid(child, NULL, 0);
	cuda->close(dev);
}

HOLDS("opening a peer twice returns the first mapping, closed once") {
	t_eq_str(heard(logged(""), story_processes),
		 "CUDA IPC\nsame\n" FLOWN "after: 0\n");
	t_eq_int(calls_of("cuIpcOpenMemHandle"), 1);
	t_eq_int(calls_of("cuIpcCloseMemHandle"), 1);
}

HOLDS("a descriptor brings another process's buffer, and all is given back") {
	way = CS_TRANSPORT_FD;
	t_eq_str(heard(logged(""), story_processes),
		 "descriptor\nsame\n" FLOWN "after: 0\n");
	t_eq_int(calls_of("cuMemImportFromShareableHandle"), 1);
	t_eq_int(calls_of("cuMemMap"), 3);
	t_eq_int(calls_of("cuMemUnmap"), 3);
	t_eq_int(calls_of("cuMemAddressFree"), 3);
	t_eq_int(calls_of("cuMemRelease"), 3);
	t_eq_int(calls_of("cuMemAlloc"), 0);
	t_eq_str(heard("FAKE_NO_VMM=1", story_processes),
		 "import: the peer's buffer has no descriptor: the driver has no "
		 "memory that a file descriptor hands over\nbroken: 0\n");
	way = CS_TRANSPORT_AUTO;
}

static void pretend_another(struct cs_export *arena)
{
	arena->pid = getppid();
}

static void no_socket(struct cs_export *arena)
{
	arena->socket[0] = 'x';
}

/* A descriptor comes from the process that it should come from, or not at all. */
HOLDS("a descriptor of somebody else is not taken") {
	const char *told;

	way = CS_TRANSPORT_FD;
	change = pretend_another;
	told = heard("", story_processes);
	t_has(told, "does not hand over its descriptor");
	t_has(told, "broken: 0");
	change = no_socket;
	told = heard("", story_processes);
	t_has(told, "Connection refused (errno 111)\nbroken: 0");
	change = change_nothing;
	way = CS_TRANSPORT_AUTO;
}

static void story_rearena(void)
{
	struct cs_export arena = { .pid = 0 };
	struct cs_err err = { "" };
	struct cs_dev *dev;

	if (start() || !(dev = ready(0, &arena)))
		return;
	say("%d %d", arena.has_ipc, arena.fd_bytes == ARENA);
	if (cuda->rearena(dev, ARENA, 1, &arena, &err))
		say("%s", err.text);
	say("%d %d", arena.has_ipc, arena.fd_bytes == ARENA);
	fly(dev, arena.address, arena.address);
	open_gate(0);
	if (cuda->rearena(dev, ARENA, 0, &arena, &err))
		say("%s", err.text);
	say("%d %d", arena.has_ipc, arena.fd_bytes == ARENA);
	cuda->close(dev);
}

HOLDS("an arena is made anew for a descriptor, and back") {
	t_eq_str(heard(logged(""), story_rearena),
		 "1 0\n0 1\nclosed: 0\n" ALL_POISON "open: time passed\n"
		 "131072 wrong, 0 poison, first 0, expected as it should be, "
		 "found another\n1 0\n");
	t_eq_int(calls_of("cuMemAlloc"), calls_of("cuMemFree"));
	t_eq_int(calls_of("cuMemMap"), calls_of("cuMemUnmap"));
	t_ok(!strncmp(heard("FAKE_NO_VMM=1", story_rearena), "1 0\n1 0\n", 8));
}

HOLDS("a refused IPC handle gives the driver's words and a hint") {
	t_eq_str(heard("FAKE_IPC_REFUSE=1", story_processes),
		 "import: cuIpcOpenMemHandle: CUDA_ERROR_INVALID_VALUE (1); if "
		 "the peer's GPU is hidden from this task, ask Slurm for "
		 "--gpu-bind=none\nbroken: 0\n");
}

HOLDS("an arena without IPC works, and its importer learns why") {
	t_eq_str(heard("FAKE_NO_IPC=1", story_processes),
		 "import: the peer's process could not export its buffer: cuIpcGetMemHandle: "
		 "CUDA_ERROR_NOT_SUPPORTED (801)\nbroken: 0\n");
}

static void move_elsewhere(struct cs_export *arena)
{
	arena->pid_ns++;
	arena->pid = 42;
}

HOLDS("another PID namespace is not tried") {
	change = move_elsewhere;
	t_eq_str(heard("", story_processes),
		 "import: CUDA IPC needs one PID namespace, and process 42 is "
		 "in another: run the containers with --pid=host\n"
		 "broken: 0\n");
	change = change_nothing;
}

/* ---- host memory ---- */

static struct cs_hostbuf_key host_key = { CS_MEM_PINNED, -1, 0, 0, 0 };

/* The buffer of host_key, or what is wrong. */
static int host_get(struct cs_dev *dev, uint64_t bytes, struct cs_hostbuf *buf)
{
	struct cs_err err = { "" };

	if (!cs_hostbuf_get(cuda, dev, &host_key, bytes, KEY, buf, &err))
		return 0;
	say("%s", err.text);
	return -1;
}

/* Copy behind the gate and wait for the end. */
static void carry(struct cs_dev *dev, uint64_t dst, uint64_t src)
{
	static uint32_t seq;
	struct cs_copy desc = { .dst = dst, .src = src, .bytes = BUFFER, .copies = 1 };
	struct cs_err err = { "" };
	double ns;

	if (cuda->arm(dev, 0, &page->gate, ++seq, &desc, &err))
		say("arm: %s", err.text);
	open_gate(seq);
	wait_lane(dev, 0, &ns);
}

/* To the GPU and back, from a source that came filled. */
STORY(story_host_kinds) {
	static const int kinds[] = { CS_MEM_PINNED, CS_MEM_WC, CS_MEM_REGISTERED,
				     CS_MEM_HUGE };
	struct cs_hostbuf from, to;
	struct cs_check found;

	for (int i = 0; i < 4; i++) {
		host_key = (struct cs_hostbuf_key){ kinds[i], -1, 0, 0, 0 };
		if (host_get(dev, BUFFER, &from))
			continue;
		host_key.use = CS_HOSTBUF_TARGET;
		if (host_get(dev, BUFFER, &to))
			continue;
		cs_poison_host(to.at, BUFFER);
		carry(dev, arena, from.address);
		carry(dev, to.address, arena);
		cs_check_host(to.at, BUFFER, KEY, 0, &found);
		say("%d: %llu wrong, %s", i, (unsigned long long)found.wrong_words,
		    from.at != to.at && (to.numa >= 0) == !to.why[0] ?
			    "another, proven or why not" :
			    "?");
	}
	cs_hostbuf_put(cuda, dev);
}

static int begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static int has_huge_pages(void)
{
	char text[64] = "";
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	return text[0] && !strstr(text, "[never]");
}

#define KIND(i) #i ": 0 wrong, another, proven or why not\n"

HOLDS("host memory of each kind comes filled, lies where it says and is reached from "
      "the GPU") {
	const char *told = heard_on_gpu("", story_host_kinds);

	if (has_huge_pages())
		t_eq_str(told, KIND(0) KIND(1) KIND(2) KIND(3));
	else
		t_ok(begins(told, KIND(0) KIND(1) KIND(2)));
}

static struct cs_hostbuf host_seen[2];
static int host_failed[2];

/* One of two agents that want the same buffer at the same time, more than once. */
static void *host_user(void *arg)
{
	const int me = *(int *)arg;
	struct cs_export arena;
	struct cs_dev *dev = ready(me, &arena);
	struct cs_hostbuf again;

	pthread_barrier_wait(&all_here);
	if (dev && !host_get(dev, 4 * MIB, &host_seen[me]) &&
	    !host_get(dev, MIB, &again))
		host_failed[me] = again.at != host_seen[me].at ||
				  again.bytes != 4 * MIB;
	else
		host_failed[me] = 1;
	pthread_barrier_wait(&all_here);
	if (me == 0 && dev)
		cs_hostbuf_put(cuda, dev);
	pthread_barrier_wait(&all_here);
	/* the first has left, the memory has not */
	if (me == 1 && !host_failed[me])
		carry(dev, arena.address, host_seen[me].address);
	if (me == 1 && dev) {
		say_check(dev, arena.address, KEY, 0);
		cs_hostbuf_put(cuda, dev);
	}
	if (dev)
		cuda->close(dev);
	return NULL;
}

static void story_host_shared(void)
{
	beside(host_user, host_user);
	say("%s",
	    !host_failed[0] && !host_failed[1] && host_seen[0].at == host_seen[1].at ?
		    "one" :
		    "several");
}

/* Beside the scratch memory of each of two devices, and the board. */
static void host_shared_as(int memory, int by_driver, int allocated, int registered)
{
	host_key = (struct cs_hostbuf_key){ memory, -1, .by_driver = by_driver };
	t_eq_str(heard(logged(""), story_host_shared), "clean\none\n");
	t_eq_int(calls_of("cuMemHostAlloc"), 2 + allocated);
	t_eq_int(calls_of("cuMemFreeHost"), 2 + allocated);
	t_eq_int(calls_of("cuMemHostRegister"), 1 + registered);
	t_eq_int(calls_of("cuMemHostUnregister"), 1 + registered);
	t_eq_int(calls_of("cuDevicePrimaryCtxRetain"),
		 calls_of("cuDevicePrimaryCtxRelease"));
}

HOLDS("two agents that want a host buffer at once share one, until both are done") {
	host_shared_as(CS_MEM_PINNED, 0, 0, 1);
	host_shared_as(CS_MEM_PINNED, 1, 1, 0);
	host_shared_as(CS_MEM_REGISTERED, 0, 0, 1);
}

/* Ask for what cannot be had, then for what can. */
static uint64_t host_wanted;

static void story_host_refused(void)
{
	struct cs_hostbuf buf = { .bytes = 4711 };
	struct cs_export arena;
	struct cs_dev *dev;

	if (start() || !(dev = ready(0, &arena)))
		return;
	host_get(dev, host_wanted, &buf);
	say("%s", buf.bytes == 4711 ? "untouched" : "given");
	host_key.numa = -1;
	if (!host_get(dev, MIB, &buf))
		say("then given");
	cs_hostbuf_put(cuda, dev);
	cuda->close(dev);
}

static const char *host_refused_as(const char *environment, int memory, int numa,
				   uint64_t bytes)
{
	host_key = (struct cs_hostbuf_key){ memory, numa, 0, 0, 0 };
	host_wanted = bytes;
	return heard(environment, story_host_refused);
}

HOLDS("host memory that cannot be had is told why, and what can be had is given then") {
	static const int kinds[] = { CS_MEM_PINNED, CS_MEM_WC, CS_MEM_REGISTERED,
				     CS_MEM_HUGE };
	const char *told;

	/* the first call is for the scratch memory, or the board */
	t_eq_str(host_refused_as("FAKE_FAIL=cuMemHostAlloc:2=2", CS_MEM_WC, -1, MIB),
		 "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)\n"
		 "untouched\nthen given\n");
	/* pages of ours that it cannot lock are had from the driver */
	t_eq_str(host_refused_as("FAKE_FAIL=cuMemHostRegister:2=1", CS_MEM_PINNED, -1,
				 MIB),
		 "given\nthen given\n");
	t_eq_int(calls_of("cuMemHostAlloc"), 2);
	t_ok(begins(host_refused_as("FAKE_FAIL=cuMemHostRegister:2=1",
				    CS_MEM_REGISTERED, -1, MIB),
		    "cuMemHostRegister: CUDA_ERROR_INVALID_VALUE (1)"));
	for (int i = 0; i < 4; i++) {
		if (kinds[i] == CS_MEM_HUGE && !has_huge_pages())
			continue;
		told = host_refused_as("", kinds[i], 1000, MIB);
		t_ok(begins(told, "NUMA node 1000 has no memory that this "
				  "process may use: there is some on "));
		t_has(told, "untouched\nthen given\n");
		told = host_refused_as("", kinds[i], -1, 1ull << 46);
		t_ok(begins(told, "not enough host memory: "));
		t_has(told, "(70368744177664 bytes)");
		t_has(told, "untouched\nthen given\n");
	}
}

static void story_host_grows(void)
{
	struct cs_hostbuf buf;
	struct cs_export arena[2];
	struct cs_dev *dev[2];

	if (start() || !(dev[0] = ready(0, &arena[0])) ||
	    !(dev[1] = ready(1, &arena[1])))
		return;
	host_get(dev[0], MIB, &buf);
	host_get(dev[0], MIB + 16, &buf);
	host_get(dev[1], 2 * MIB, &buf);
	cs_hostbuf_put(cuda, dev[0]);
	cs_hostbuf_put(cuda, dev[0]);
	if (!host_get(dev[1], 2 * MIB, &buf))
		say("made anew");
	cs_hostbuf_put(cuda, dev[1]);
	cuda->close(dev[1]);
	cuda->close(dev[0]);
}

HOLDS("a host buffer does not grow until it is given back") {
	host_key = (struct cs_hostbuf_key){ CS_MEM_PINNED, -1, 0, 0, 0 };
	t_eq_str(heard("", story_host_grows),
		 "1048592 bytes of a host buffer wanted, it was made with 1048576\n"
		 "2097152 bytes of a host buffer wanted, it was made with 1048576\n"
		 "made anew\n");
}

/* Neither set aside nor transparent. */
static void story_no_huge(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	story_host_refused();
}

HOLDS("where there are no huge pages the error says how to allow them") {
	const char *told;

	host_key = (struct cs_hostbuf_key){ CS_MEM_HUGE, -1, 0, 0, 0 };
	host_wanted = 4 * MIB;
	told = heard("", story_no_huge);
	if (begins(told, "given")) {
		t_skip("huge pages are set aside here");
		return;
	}
	t_ok(begins(told, "no huge pages: 2 of 2 MiB wanted, 0 set aside and free, "
			  "and the kernel gives no transparent ones; allow them by "
			  "`sysctl -w vm.nr_hugepages=N` or by `echo madvise >/sys/"
			  "kernel/mm/transparent_hugepage/enabled`\n"));
}

static void story_no_addresses(void)
{
	struct rlimit limit = { 1u << 30, 1u << 30 };

	if (start())
		return;
	setrlimit(RLIMIT_AS, &limit);
	story_host_refused();
}

HOLDS("a limit of addresses is told") {
	const char *told;

	host_key = (struct cs_hostbuf_key){ CS_MEM_REGISTERED, -1, 0, 0, 0 };
	host_wanted = 1u << 30;
	if (TAP_SANITIZED) {
		t_skip("a sanitizer has all addresses");
		return;
	}
	told = heard("", story_no_addresses);
	t_has(told, "addresses of a process are limited to 1 GiB (ulimit -v)");
}

/* As a worker of the agent does it: when the gate is open. */
struct lent {
	struct cs_dev *dev;
	struct cs_copy desc;
	struct cs_err err;
	double ns;
	int rc;
};

static void *lane_is_lent(void *arg)
{
	struct lent *l = arg;

	while (!__atomic_load_n(&page->gate, __ATOMIC_ACQUIRE))
		sched_yield();
	if (cuda->enter(l->dev, &l->err) ||
	    cuda->arm(l->dev, 1, &page->gate, 1, &l->desc, &l->err))
		return NULL;
	l->rc = wait_lane(l->dev, 1, &l->ns);
	return NULL;
}

static void story_pageable(void)
{
	struct lent l = {
		.desc = { .bytes = BUFFER, .copies = 2, .kind = CS_COPY_PAGEABLE }
	};
	struct cs_export arena;
	struct cs_hostbuf from;
	struct cs_err err = { "" };
	double ns = 0;
	pthread_t thread;

	if (start() || !(l.dev = ready(0, &arena)))
		return;
	host_key = (struct cs_hostbuf_key){ CS_MEM_ARENA, -1, 0, 0, 0 };
	host_get(l.dev, BUFFER, &from);
	l.desc.src = from.address;
	l.desc.dst = arena.address + BUFFER;
	pthread_create(&thread, NULL, lane_is_lent, &l);
	/* the agent's own lane beside it */
	cuda->arm(l.dev, 0, &page->gate, 1,
		  &(struct cs_copy){ .src = arena.address,
				     .copies = 1,
				     .dst = arena.address + BUFFER / 2,
				     .bytes = 64 << 10 },
		  &err);
	say("closed: %d", cuda->poll(l.dev, 0, &ns, &err));
	open_gate(1);
	pthread_join(thread, NULL);
	say("lent: %d%s", l.rc, l.err.text);
	say("own: %d", wait_lane(l.dev, 0, &ns));
	say("its time stays: %d", wait_lane(l.dev, 1, &ns) > 0 && ns == l.ns);
	/* 6.8 GB/s; the first copy takes twice as long */
	say("%.0f us", ns * 1e-3);
	cs_hostbuf_put(cuda, l.dev);
	cuda->close(l.dev);
}

HOLDS("a lane can be lent to a thread that copies pageable memory") {
	t_eq_str(heard(logged(""), story_pageable),
		 "closed: 0\nlent: 1\nown: 1\nits time stays: 1\n471 us\n");
	t_eq_int(calls_of("cuMemHostRegister"), 1); /* the board's page */
}

STORY(story_displace) {
	cuda->fill(dev, arena, BUFFER, KEY, NULL);
	say("%d", cuda->displace(dev, NULL));
	say("%d", cuda->displace(dev, NULL));
	say_check(dev, arena, KEY, 0);
}

HOLDS("the cache of a GPU is taken by other memory, its buffers stay") {
	t_eq_str(heard_on_gpu(logged(""), story_displace), "0\n0\nclean\n");
	t_eq_int(calls_of("cuMemAlloc"), 2); /* arena, and one for both */
	t_eq_int(calls_of("cuMemFree"), 2);
	t_eq_str(heard_on_gpu("FAKE_FAIL=cuMemAlloc:2=2", story_displace),
		 "1\n0\nclean\n");
}

HOLDS("without GPUs there is no page-locked memory, but placed one") {
	struct cs_hostbuf_key key = { CS_MEM_PINNED, -1, 0, 0, 1 };
	struct cs_hostbuf buf;
	struct cs_err err = { "" };
	struct cs_dev *dev = NULL;

	t_must(!cs_backend_cpu.open(0, 1, &dev, &err));
	t_eq_int(cs_hostbuf_get(&cs_backend_cpu, dev, &key, MIB, KEY, &buf, &err), -1);
	t_eq_str(err.text, "page-locked host memory is for GPUs: the backend "
			   "'cpu' has none");
	key.memory = CS_MEM_ARENA;
	if (t_eq_int(cs_hostbuf_get(&cs_backend_cpu, dev, &key, MIB, KEY, &buf, &err),
		     0))
		t_ok(buf.address == (uintptr_t)buf.at && buf.at);
	cs_hostbuf_put(&cs_backend_cpu, dev);
	cs_backend_cpu.close(dev);
}

/* ---- copies by kernels ---- */

#define ROOM (4 * MIB)		/* of a source, and of a destination */
#define MANY 15			/* lanes */

/* A GPU whose arena is a source, filled, and a destination, poisoned. */
static struct cs_dev *ready_to_move(int ordinal, struct cs_export *arena)
{
	struct cs_err err = { "" };
	struct cs_dev *dev = NULL;

	if (!cuda->open(ordinal, MANY, &dev, &err) &&
	    !cuda->board(dev, page, sizeof(*page), &err) &&
	    !cuda->arena(dev, 2 * ROOM, NULL, -1, arena, &err) &&
	    !cuda->fill(dev, arena->address, ROOM, KEY, &err) &&
	    !cuda->poison(dev, arena->address + ROOM, ROOM, &err))
		return dev;
	say("%s", err.text);
	return NULL;
}

static const char *heard_moving(const char *environment, gpu_story *story)
{
	of_gpu = story;
	made_ready = ready_to_move;
	return heard(environment, story_on_gpu);
}

/* Behind the gate and to the end; -1 after telling why not. */
static double moved_ns(struct cs_dev *dev, const struct cs_copy *desc)
{
	struct cs_err err = { "" };
	uint32_t seq = page->gate + 1;
	double ns = -1;

	if (cuda->arm(dev, 0, &page->gate, seq, desc, &err)) {
		say("arm: %s", err.text);
		return -1;
	}
	if (cuda->poll(dev, 0, &ns, &err))
		say("it did not wait for the gate");
	open_gate(seq);
	return wait_lane(dev, 0, &ns) > 0 ? ns : -1;
}

/* What flew arrived to the byte, and not one more. */
static int is_exact(struct cs_dev *dev, const struct cs_copy *f)
{
	uint64_t bytes = f->bytes * f->positions;
	struct cs_check in, behind;

	return !cuda->check(dev, f->dst, &CS_EXPECTED(KEY, bytes), 1, &in, NULL) &&
	       !cuda->check(dev, f->dst + bytes, &CS_EXPECTED(KEY, ROOM - bytes), 0,
			    &behind, NULL) &&
	       !in.wrong_words && behind.poison_words == (ROOM - bytes) / 8;
}

static void move_all_ways(struct cs_dev *dev, struct cs_copy f)
{
	uint32_t i, flown = 0, exact = 0;

	for (i = 0; cuda->geometry(dev, &f, i, &f.blocks, &f.threads); i++) {
		flown += moved_ns(dev, &f) > 0;
		exact += (uint32_t)is_exact(dev, &f);
	}
	if (!i || i > 6 || flown != i || exact != i)
		say("%u bytes x %u, kind %u: of %u geometries %u flew, %u exact",
		    (unsigned int)f.bytes, f.positions, f.kind, i, flown, exact);
}

STORY(story_move) {
	static const uint64_t sizes[] = { 16, 48, MIB + 16 };
	static const uint32_t kinds[] = { CS_COPY_SM, CS_COPY_TMA, CS_COPY_SM_WRITE };

	for (int i = 0; i < 18; i++)
		move_all_ways(dev, (struct cs_copy){
					   .dst = arena + ROOM,
					   .src = arena,
					   .bytes = sizes[i % 3],
					   .copies = 4,
					   .key = KEY,
					   .kind = kinds[i / 3 % 3],
					   .positions = i < 9 ? 1 : 3,
				   });
	say("done");
}

HOLDS("kernels move every byte of every size, by every geometry, and no other") {
	t_eq_str(heard_moving("", story_move), "done\n");
	t_eq_str(heard_moving("FAKE_NO_MEMOPS=1", story_move), "done\n");
}

static void say_move(struct cs_dev *dev, struct cs_copy f, const char *what)
{
	double ns;

	f.copies = 5;
	f.positions = 3;
	f.bytes = BUFFER;
	ns = moved_ns(dev, &f);
	if (ns > 0)
		say("%s: time passed, %s", what,
		    is_exact(dev, &f) ? "exact" : "wrong");
}

STORY(story_wrong) {
	struct cs_copy f;

	f = (struct cs_copy){ .dst = arena + ROOM, .src = arena, .key = KEY };
	f.kind = CS_COPY_SM;
	say_move(dev, f, "copy");
	f.kind = CS_COPY_TMA;
	say_move(dev, f, "bulk");
	f.kind = CS_COPY_SM_READ;
	if (moved_ns(dev, &(struct cs_copy){ .src = f.src,
					     .bytes = BUFFER,
					     .copies = 5,
					     .positions = 3,
					     .key = f.key,
					     .kind = f.kind }) > 0)
		say("read: time passed");
}

/* The message without its figures, which are sums and addresses. */
static const char *without_figures(const char *text)
{
	static char out_text[512];
	size_t n = 0;

	for (; *text && n < sizeof(out_text) - 1; out_text[n++] = *text++)
		if (!strncmp(text, "0x", 2))
			text += strspn(text, "0123456789abcdefx");
	out_text[n] = 0;
	return out_text;
}

HOLDS("wrong data of kernels are found") {
	t_eq_str(heard_moving("", story_wrong),
		 "copy: time passed, exact\nbulk: time passed, exact\n"
		 "read: time passed\n");
	t_eq_str(without_figures(heard_moving("FAKE_CORRUPT=0-0:8", story_wrong)),
		 "copy: time passed, wrong\nbulk: time passed, wrong\n"
		 "poll: what was read adds up to , the pattern to \n");
}

/* Page-locked memory of ROOM bytes. */
static void *host_room(struct cs_dev *dev, uint64_t *address)
{
	struct cs_err err = { "" };
	void *at = NULL;

	if (cuda->host_alloc(dev, ROOM, 0, &at, address, &err))
		say("%s", err.text);
	return at;
}

static struct cs_copy both; /* from the host and back to it, by one kernel */
static void *host_from, *host_to;
static gpu_story *of_both;

STORY(story_of_both) {
	both = (struct cs_copy){
		.kind = CS_COPY_SM,
		.bytes = BUFFER,
		.copies = 1,
		.positions = 1,
		.dst = arena + ROOM,
		.back = { .src = arena, .bytes = BUFFER, .copies = 1, .positions = 1 },
	};
	host_from = host_room(dev, &both.src);
	host_to = host_room(dev, &both.back.dst);
	if (!host_from || !host_to)
		return;
	cs_fill_host(host_from, ROOM, KEY);
	cs_poison_host(host_to, ROOM);
	of_both(dev, arena);
}

static const char *heard_both(const char *environment, gpu_story *story)
{
	of_both = story;
	return heard_moving(environment, story_of_both);
}

/* As is_exact(), of what came back; poisons it for the next. */
static int is_back_exact(const struct cs_copy *f)
{
	uint64_t used = f->back.copies < f->back.positions ? f->back.copies :
							     f->back.positions;
	uint64_t bytes = f->back.bytes * used;
	struct cs_check in, behind;

	cs_check_host(host_to, bytes, KEY, 0, &in);
	cs_check_host((char *)host_to + bytes, ROOM - bytes, KEY, 0, &behind);
	cs_poison_host(host_to, ROOM);
	return !in.wrong_words && behind.poison_words == (ROOM - bytes) / 8;
}

/* Of other sizes, copies and positions than what flies there. */
STORY(story_both) {
	static const uint64_t sizes[] = { 16, 48, MIB + 16 };
	uint32_t i, flown, exact, back;
	struct cs_copy f = both;

	for (int s = 0; s < 6; s++) {
		f.bytes = sizes[s % 3];
		f.copies = 4;
		f.positions = s < 3 ? 1 : 3;
		f.back.bytes = sizes[(s + 1) % 3];
		f.back.copies = 2;
		f.back.positions = s < 3 ? 3 : 1;
		flown = exact = back = 0;
		for (i = 0; cuda->geometry(dev, &f, i, &f.blocks, &f.threads); i++) {
			flown += moved_ns(dev, &f) > 0;
			exact += (uint32_t)is_exact(dev, &f);
			back += (uint32_t)is_back_exact(&f);
		}
		if (!i || i > 6 || flown != i || exact != i || back != i)
			say("%d: of %u geometries %u flew, %u exact there, %u back",
			    s, i, flown, exact, back);
	}
	say("done");
}

HOLDS("one kernel moves every byte both ways, by every geometry") {
	t_eq_str(heard_both("", story_both), "done\n");
}

/* The digits that the fake's page gives, of both; and which of them ended it. */
STORY(story_both_times) {
	struct cs_copy f = both;
	double in, back;

	f.blocks = 132;
	f.threads = 1024;
	moved_ns(dev, &f); /* the first takes twice as long */
	for (int i = 0; i < 2; i++) {
		f.back.copies = i ? 1 : 3;
		f.copies = i ? 2 : 1;
		in = moved_ns(dev, &f);
		back = cuda->lasted_back(dev, 0);
		say("%.2f in, %.2f out, the whole as long as %s",
		    f.copies * BUFFER / (in - 2700),
		    f.back.copies * BUFFER / (back - 2700),
		    fabs(cuda->lasted(dev, 0) - (i ? in : back)) < 2 ? "the longer" :
								       "neither");
		say("%s, %s", is_exact(dev, &f) ? "exact" : "wrong",
		    is_back_exact(&f) ? "exact" : "wrong");
	}
	f.threads = 96;
	moved_ns(dev, &f);
	f.threads = 64;
	f.back.bytes = 24;
	moved_ns(dev, &f);
	f.back.bytes = BUFFER;
	f.back.copies = 0; /* of which the fake keeps no time */
	moved_ns(dev, &f);
}

#define BOTH "46.66 in, 46.58 out, the whole as long as the longer\n"
#define NOT_BOTH \
	"arm: 132 blocks of 96 threads move both ways: allowed are 1056, of a " \
	"multiple of 64\n" \
	"arm: kernels move multiples of 16 bytes and follow chains of at least " \
	"128, not 24\n" \
	"poll: the kernel that moves both ways did not report its start\n"

HOLDS("each way has a time of its own, and its wrong data are found") {
	t_eq_str(heard_both("", story_both_times),
		 BOTH "exact, exact\n" BOTH "exact, exact\n" NOT_BOTH);
	t_eq_str(heard_both("FAKE_CORRUPT=h-0:8", story_both_times),
		 BOTH "wrong, exact\n" BOTH "wrong, exact\n" NOT_BOTH);
	t_eq_str(heard_both("FAKE_CORRUPT=0-h:8", story_both_times),
		 BOTH "exact, wrong\n" BOTH "exact, wrong\n" NOT_BOTH);
}

STORY(story_read_other) {
	struct cs_copy f;

	f = (struct cs_copy){ .src = arena,
			      .bytes = BUFFER,
			      .copies = 7,
			      .positions = 3,
			      .key = KEY,
			      .kind = CS_COPY_SM_READ };
	for (int i = 0; i < 4; i++) {
		/* the second position, which only some repetitions read */
		if (i == 2)
			cuda->poison(dev, f.src + BUFFER + 4096, 16, NULL);
		f.key = i == 1 ? KEY + 1 : KEY;
		f.blocks = i == 3 ? 1057 : 0;
		say("%s", moved_ns(dev, &f) > 0 ? "read" : "not read");
	}
}

HOLDS("a read proves that it read the pattern, all positions of it") {
	const char *wrong = "poll: what was read adds up to , the pattern to \n"
			    "not read\n";
	char want[512];

	cs_text(want, sizeof(want),
		"read\n%s%sarm: 1057 blocks read: there is "
		"room for the sums of 1056\nnot read\n",
		wrong, wrong);
	t_eq_str(without_figures(heard_moving("", story_read_other)), want);
}

/* ---- zero-copy ---- */

/* Reads of other words than the pattern's, and what is written, by any number of copies
 * through any number of places. */
STORY(story_zero_copy) {
	struct cs_copy read, write;
	uint32_t blocks = 0, threads = 0;

	read = (struct cs_copy){ .src = arena,
				 .bytes = BUFFER,
				 .copies = 7,
				 .positions = 3,
				 .key = KEY,
				 .kind = CS_COPY_ZERO_READ };
	write = (struct cs_copy){ .dst = arena + ROOM,
				  .bytes = 48,
				  .copies = 5,
				  .positions = 3,
				  .key = KEY,
				  .kind = CS_COPY_ZERO_WRITE };
	for (uint32_t i = 0; cuda->geometry(dev, &read, i, &blocks, &threads); i++)
		say("%u x %u", blocks, threads);
	for (int i = 0; i < 3; i++) {
		if (i == 2) /* in the second place */
			cuda->poison(dev, read.src + BUFFER + 4096, 16, NULL);
		read.key = i == 1 ? KEY + 1 : KEY;
		say("%s", moved_ns(dev, &read) > 0 ? "read" : "not read");
	}
	say("%s", moved_ns(dev, &write) > 0 ? "written" : "not written");
	say("%s", is_exact(dev, &write) ? "exact" : "wrong");
}

HOLDS("zero-copy is 256 x 256 threads, reads all, and writes to the byte") {
	const char *wrong = "poll: what was read adds up to , the pattern to \n"
			    "not read\n";
	const char *dead = "poll: what was read adds up to 0, the pattern to \n"
			   "not read\n";
	char want[512];

	cs_text(want, sizeof(want), "256 x 256\nread\n%s%swritten\nexact\n", wrong,
		wrong);
	t_eq_str(without_figures(heard_moving("", story_zero_copy)), want);
	cs_text(want, sizeof(want), "256 x 256\n%s%s%swritten\nexact\n", dead, dead,
		dead);
	t_eq_str(without_figures(heard_moving("FAKE_DEAD_READS=1", story_zero_copy)),
		 want);
}

/* From its words 1,000 on, there and back again, and from a key that it is not of. */
STORY(story_rekey) {
	struct cs_rekey one = { arena, 8000 + 48, 0, KEY, KEY + 1 };
	struct cs_check found;
	struct cs_err err = { "" };

	for (int i = 0; i < 3; i++) {
		if (cuda->costs->rekey(dev, 0, &one, &err) ||
		    cuda->costs->record(dev, 0, i % 2, &err))
			say("%s", err.text);
		while (!cuda->costs->reached(dev, i % 2, &err))
			;
		if (!cuda->check(dev, arena, &CS_EXPECTED(one.to, 8048), 0, &found,
				 &err))
			say("%d wrong, the first %d", (int)found.wrong_words,
			    found.wrong_words ? (int)found.first_word : -1);
		one = i ? (struct cs_rekey){ arena + 8000, 48, 1000, KEY + 2, KEY } :
			  (struct cs_rekey){ arena + 8000, 48, 1000, KEY + 1, KEY };
	}
}

HOLDS("what works on tiles makes one pattern another, from any word on") {
	t_eq_str(heard_moving("", story_rekey), "0 wrong, the first -1\n"
						"1000 wrong, the first 0\n"
						"1006 wrong, the first 0\n");
}

/* In and out by one kernel, and out and in; the figures are those of the fake's page. */
STORY(story_zero_both) {
	struct cs_copy f = both, in;
	double ns;

	f.kind = CS_COPY_ZERO_READ;
	f.key = f.back.key = KEY;
	in = f;
	for (int i = 0; i < 4; i++) {
		if (i == 2) {
			f = (struct cs_copy){ .kind = CS_COPY_ZERO_WRITE,
					      .dst = in.back.dst,
					      .bytes = BUFFER,
					      .copies = 1,
					      .positions = 1,
					      .key = KEY };
			f.back.src = in.src;
			f.back.bytes = BUFFER;
			f.back.copies = f.back.positions = 1;
			f.back.key = KEY;
		}
		ns = moved_ns(dev, &f);
		if (i == 1 || i == 3)
			say("%.2f, %.2f", BUFFER / (ns - 2700),
			    BUFFER / (cuda->lasted_back(dev, 0) - 2700));
		in.back.bytes = BUFFER;
		say("%s", is_back_exact(&in) ? "exact" : "wrong");
	}
	memset(host_from, 0, 64);
	moved_ns(dev, &f);
}

HOLDS("zero-copy both ways: a time for each, and what was read is proven") {
	t_eq_str(without_figures(heard_both("", story_zero_both)),
		 "exact\n40.44, 43.47\nexact\nexact\n43.47, 40.44\nexact\n"
		 "poll: what was read adds up to , the pattern to \n");
}

/* Of which GB/s only the digits are told that the fake's page gives. */
STORY(story_rates) {
	static const uint32_t kinds[] = {
		CS_COPY_ENGINE,	 CS_COPY_SM,	   CS_COPY_TMA,
		CS_COPY_SM_READ, CS_COPY_SM_WRITE,
	};
	struct cs_copy f;

	for (int i = 0; i < 10; i++) {
		uint32_t kind = kinds[i % 5];
		double ns;

		f = (struct cs_copy){
			.dst = arena + ROOM,
			.src = arena,
			.bytes = BUFFER,
			.copies = 1,
			.key = KEY,
			.kind = kind,
			.blocks = kind == CS_COPY_TMA ? 132 : 264,
			.threads = kind == CS_COPY_TMA ? 1 : 512,
		};
		if (i < 5) { /* the first of each takes twice as long */
			moved_ns(dev, &f);
			continue;
		}
		ns = moved_ns(dev, &f);
		f.blocks *= 2;
		say("%.0f, %.0f", BUFFER / (ns - 2700),
		    BUFFER / (moved_ns(dev, &f) - 2700));
	}
}

HOLDS("kernels take the fake's time, each its own") {
	t_eq_str(heard_moving("", story_rates),
		 "2085, 2085\n1955, 1935\n1971, 1951\n4200, 4158\n"
		 "4000, 3960\n");
}

STORY(story_tma) {
	double ns = -1;
	int flown;

	for (uint32_t kind = CS_COPY_SM; kind <= CS_COPY_CHASE_TMA; kind++) {
		struct cs_copy f = { .dst = arena + ROOM,
				     .src = arena,
				     .bytes = BUFFER,
				     .copies = 1,
				     .kind = kind,
				     .key = KEY };

		if (kind == CS_COPY_CHASE)
			continue;
		flown = moved_ns(dev, &f) > 0;
		say("%u: %d, %d", kind - CS_COPY_SM, flown,
		    cuda->poll(dev, 0, &ns, NULL));
	}
}

HOLDS("below capability 9.0 bulk copies are refused, nothing else") {
	const char *refused =
		"arm: TMA needs compute capability 9.0, this GPU has 8.6\n";
	char want[512];

	cs_text(want, sizeof(want),
		"0: 1, 1\n%s1: 0, 1\n2: 1, 1\n3: 1, 1\n"
		"4: 1, 1\n5: 1, 1\n6: 1, 1\n%s8: 0, 1\n",
		refused, refused);
	t_eq_str(heard_moving("FAKE_CAPABILITY=8.6", story_tma), want);
}

STORY(story_odd) {
	static const struct cs_copy odd[] = {
		{ .kind = CS_COPY_SM, .bytes = 24 },
		{ .kind = CS_COPY_CHASE, .bytes = 112 },
	};

	for (int i = 0; i < 2; i++)
		moved_ns(dev, &odd[i]);
}

HOLDS("what is no multiple of 16 bytes, or no chain, is refused") {
	t_eq_str(heard_moving("", story_odd),
		 "arm: kernels move multiples of 16 bytes and follow chains of at "
		 "least 128, not 24\n"
		 "arm: kernels move multiples of 16 bytes and follow chains of at "
		 "least 128, not 112\n");
}

/* ---- chases ---- */

static double chase(struct cs_dev *dev, uint64_t at, uint64_t seed, int bulk)
{
	struct cs_copy f = {
		.src = at,
		.bytes = BUFFER,
		.copies = 2,
		.key = seed,
		.kind = bulk ? CS_COPY_CHASE_TMA : CS_COPY_CHASE,
	};

	return moved_ns(dev, &f);
}

STORY(story_chase) {
	static const uint64_t seeds[] = { 0, 1, 77 };
	struct cs_err err = { "" };
	uint64_t at = arena + ROOM;

	for (int i = 0; i < 3; i++) {
		if (cuda->chain(dev, at, BUFFER, at, i > 0, seeds[i], &err))
			say("chain: %s", err.text);
		say("%.0f ns", chase(dev, at, seeds[i], 0));
		say("%.0f ns by bulk", chase(dev, at, seeds[i], 1));
	}
	/* of another order than the chain there */
	say("%.0f", chase(dev, at, 1, 0));
}

#define CHASED "280 ns\n630 ns by bulk\n"
#define STRAY "poll: the chase ended at , the chain leads to \n-1"

HOLDS("a chase gives the latency, in any order, and ends where it should") {
	t_eq_str(without_figures(heard_moving("", story_chase)),
		 CHASED CHASED CHASED STRAY "\n");
}

HOLDS("a chase that ends elsewhere names both nodes") {
	const char *told = heard_moving("FAKE_CORRUPT=0-0:0", story_chase);
	unsigned long long found = 0, expected = 0;

	t_eq_int(sscanf(told, "poll: the chase ended at %llx, the chain leads to %llx",
			&found, &expected),
		 2);
	t_eq_int(found - expected, 128); /* the fake's next node */
	t_has(without_figures(told), STRAY " ns by bulk\n");
}

/* GPU 1 follows a chain in memory of GPU 0, and reads there on two lanes. */
static void *peer_copies(void *unused)
{
	struct cs_mapping map = { 0 };
	struct cs_err err = { "" };
	struct cs_dev *dev = ready(1, &shared_arena[1]);
	struct cs_copy f, second;
	double alone, ns = 0;

	(void)unused;
	pthread_barrier_wait(&all_here);
	if (!dev || peer_failed || cuda->import(dev, &shared_arena[0], &map, &err)) {
		say("import: %s", err.text);
		_exit(1);
	}
	f = (struct cs_copy){ .src = map.address,
			      .bytes = BUFFER,
			      .copies = 1,
			      .dst = shared_arena[1].address,
			      .kind = CS_COPY_SM };
	moved_ns(dev, &f);
	alone = moved_ns(dev, &f);
	second = f;
	second.dst += BUFFER;
	if (cuda->arm(dev, 0, &page->gate, page->gate + 1, &f, &err) ||
	    cuda->arm(dev, 1, &page->gate, page->gate + 1, &second, &err))
		say("%s", err.text);
	open_gate(page->gate + 1);
	wait_lane(dev, 1, &ns);
	wait_lane(dev, 0, &ns);
	say("two at once take %.2f times as long", (ns - 2700) / (alone - 2700));
	say("%.0f ns", chase(dev, map.address + BUFFER, 5, 0));
	cuda->unimport(dev, &map);
	cuda->close(dev);
	pthread_barrier_wait(&all_here);
	return NULL;
}

static void story_peer_copies(void)
{
	beside(owner, peer_copies);
}

HOLDS("kernels reach the memory of peers, and share its port") {
	t_eq_str(heard("", story_peer_copies),
		 "two at once take 2.00 times as long\n830 ns\n");
}

/* ---- lanes ---- */

STORY(story_lanes) {
	struct cs_err err = { "" };
	double ns;
	int ended = 0;

	for (int i = 0; i < MANY; i++) {
		struct cs_copy f = { .dst = arena + ROOM + 4096u * (unsigned)i,
				     .src = arena,
				     .bytes = 4096,
				     .copies = 1,
				     .kind = i % 2 ? CS_COPY_SM : 0 };

		if (cuda->arm(dev, i, &page->gate, 1, &f, &err))
			say("%d: %s", i, err.text);
		if (cuda->poll(dev, i, &ns, &err))
			say("%d did not wait", i);
	}
	open_gate(1);
	for (int i = 0; i < MANY; i++)
		ended += wait_lane(dev, i, &ns) > 0;
	say("%d", ended);
}

HOLDS("15 lanes wait and run at the same time") {
	t_eq_str(heard_moving("CUDA_DEVICE_MAX_CONNECTIONS=32", story_lanes), "15\n");
}

HOLDS("a lane is made when it is first used, and given back") {
	heard_on_gpu(logged(""), story_load);
	t_eq_int(calls_of("cuStreamCreate"), 1); /* the auxiliary one */
	heard_on_gpu(logged(""), story_half_armed);
	t_eq_int(calls_of("cuStreamCreate"), 2);
	t_eq_int(calls_of("cuStreamDestroy"), 2);
	t_eq_int(calls_of("cuEventCreate"), calls_of("cuEventDestroy"));
}

/* ---- any call may fail ---- */

static int failing_call; /* 0: none */

/* A device's whole life. */
static int everything(struct cs_err *err)
{
	struct cs_export arena = { .pid = 0 };
	struct cs_copy desc;
	struct cs_check found;
	struct cs_mapping map;
	struct cs_dev *dev = NULL;
	int version, failed, ended = 0;
	double ns;

	if (cuda->start(&version, err) || cuda->open(0, 1, &dev, err))
		return -1;
	failed = cuda->board(dev, page, sizeof(*page), err) ||
		 cuda->arena(dev, ARENA, NULL, -1, &arena, err) ||
		 cuda->import(dev, &arena, &map, err) ||
		 cuda->fill(dev, arena.address, BUFFER, KEY, err) ||
		 cuda->check(dev, arena.address, &CS_EXPECTED(KEY, BUFFER), 1, &found,
			     err);
	desc = (struct cs_copy){ .dst = arena.address + BUFFER,
				 .src = arena.address,
				 .bytes = BUFFER,
				 .copies = 2 };
	failed = failed || cuda->arm(dev, 0, &page->gate, 1, &desc, err);
	open_gate(1u << 30);
	while (!failed && !ended)
		ended = cuda->poll(dev, 0, &ns, err);
	cuda->close(dev);
	return failed || ended < 0 ? -1 : 0;
}

static void story_everything(void)
{
	struct cs_err err = { "" };
	char text[32];

	snprintf(text, sizeof(text), "%d", failing_call);
	setenv("FAKE_FAIL_CALL", text, 1);
	if (!everything(&err))
		say("fine");
	else
		say(err.text[0] ? "error" : "error without a text");
}

/* "fine" is right for calls that the backend can do without.  How many there are
 * depends on the polling; the first 30 come before any of it. */
HOLDS("whichever call fails, there is a text and no hang") {
	int calls, errors = 0;

	t_eq_str(heard(logged(""), story_everything), "fine\n");
	calls = calls_of(NULL);
	if (calls > 200)
		calls = 200;
	for (failing_call = 1; failing_call <= calls; failing_call++) {
		const char *told = heard("", story_everything);

		if (!strcmp(told, "error\n"))
			errors++;
		else if (strcmp(told, "fine\n"))
			t_eq_str(told, "error or fine");
	}
	failing_call = 0;
	t_ok(errors >= 25);
}

/* ---- */

int tap_set_up(void)
{
	const char *folder = getenv("FAKE");
	int fd = memfd_create("cs-test", MFD_CLOEXEC);

	cuda = cs_backend_cuda;
	if (!folder || !cuda)
		t_skip("no fake driver: the variable FAKE is not set");
	snprintf(library, sizeof(library), "%s/libcuda.so.1", folder ? folder : "");
	if (fd < 0 || ftruncate(fd, sizeof(*page)))
		return -1;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? -1 : 0;
}
