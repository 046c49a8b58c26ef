/* test_um.c - managed memory of the fake driver: that pages are where it says, and
 * take the time that tests/fake/um.c says. */
#include "managed.h"

#include <setjmp.h>
#include <signal.h>

/* ---- the interface ---- */

STORY(story_versions) {
	void *old, *new, *same;

	sh->got[0] = find("cuMemPrefetchAsync", 7050, &old);
	sh->got[1] = find("cuMemPrefetchAsync", 8000, &old);
	sh->got[2] = find("cuMemPrefetchAsync", 12020, &new);
	sh->got[3] = old != new;
	sh->got[4] = find("cuMemAdvise", 12010, &old);
	sh->got[5] = find("cuMemAdvise", 13000, &new);
	sh->got[6] = old != new;
	sh->got[7] = find("cuMemAllocManaged", 6000, &same);
	sh->got[8] = find("cuMemRangeGetAttribute", 8000, &same);
}

HOLDS("calls are found by version; what a driver lacks it has in its old form") {
	story("", 1, story_versions);
	t_eq_int(sh->got[0], 0);
	for (int i = 1; i < 9; i++)
		t_eq_int(sh->got[i], 1);
	story("FAKE_CUDA=12.1", 1, story_versions);
	t_eq_int(sh->got[3], 0); /* the new one is not there: the old one comes */
	t_eq_int(sh->got[6], 0);
}

STORY(story_attributes) {
	static const CUdevice_attribute which[] = { 83, 88, 89, 100, 101 };
	CUdeviceptr at;
	int value;

	open_gpu(0);
	find_all();
	for (int i = 0; i < 5; i++) {
		must(cu.cuDeviceGetAttribute(&value, which[i], 0));
		sh->got[i] = value;
	}
	sh->got[5] = alloc_managed(&at, BYTES, CU_MEM_ATTACH_GLOBAL);
	if (!sh->got[5])
		sh->got[6] = prefetch_old(at, BYTES, 0, stream_new());
}

HOLDS("attributes and calls are as they are told to be") {
	story("", 1, story_attributes);
	t_got(1, 0, 1, 0, 0, CUDA_SUCCESS, CUDA_SUCCESS);
	story("FAKE_MANAGED=0 FAKE_PAGEABLE=2", 1, story_attributes);
	t_got(0, 1, 1, 1, 1, CUDA_ERROR_NOT_SUPPORTED);
	story("FAKE_CONCURRENT=0", 1, story_attributes);
	t_eq_int(sh->got[2], 0);
	t_eq_int(sh->got[6], CUDA_ERROR_INVALID_DEVICE);
}

STORY(story_refusals) {
	CUmemLocation wild = { .id = 9 };
	CUdeviceptr at;
	int value;

	open_gpu(0);
	stream = stream_new();
	at = at_of(managed(BYTES));
	sh->got[0] = alloc_managed(&at, 0, CU_MEM_ATTACH_GLOBAL);
	sh->got[1] = alloc_managed(&at, BYTES, 0);
	sh->got[2] = prefetch_old(at, 2 * BYTES, 0, stream);
	sh->got[3] = prefetch_old(device_memory(), BYTES, 0, stream);
	sh->got[4] = prefetch_old(at, BYTES, 7, stream);
	sh->got[5] = prefetch_new(at, BYTES, wild, 0, stream);
	wild.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	sh->got[6] = prefetch_new(at, BYTES, wild, 1, stream);
	sh->got[7] = prefetch_old(at, BYTES, 0, NULL);
	sh->got[8] = advise_old(at, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, 0);
	sh->got[9] = range_attribute(&value, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
				     at, BYTES);
	sh->got[10] = cu.cuMemFree(at + PAGE);
	must(cu.cuMemFree(at));
	sh->got[11] = cu.cuMemFree(at);
}

HOLDS("it refuses what the driver refuses") {
	story("", 1, story_refusals);
	for (int i = 0; i < 12; i++)
		t_eq_int(sh->got[i], i == 4 ? CUDA_ERROR_INVALID_DEVICE :
				     i == 7 ? CUDA_ERROR_INVALID_HANDLE :
					      CUDA_ERROR_INVALID_VALUE);
}

/* ---- where pages are ---- */

STORY(story_places) {
	begin(4 * MIB);
	sh->got[0] = pages_home(p, 4 * MIB);
	for (size_t i = 0; i < 4 * MIB / 8; i++)
		p[i] = i;
	sh->got[1] = pages_home(p, 4 * MIB);
	ms_prefetch(p, 2 * MIB, 0);
	sh->got[2] = pages_home(p, 4 * MIB);
	ms_prefetch(p, 4 * MIB, 1);
	sh->got[3] = pages_home(p, 4 * MIB);
	p[100]++; /* its 64 KiB come */
	sh->got[4] = pages_home(p, 4 * MIB);
	ms_prefetch(p, 4 * MIB, CU_DEVICE_CPU);
	sh->got[5] = pages_home(p, 4 * MIB);
	for (size_t i = 0; i < 4 * MIB / 8; i++)
		sh->got[6] += p[i] != i + (i == 100);
	ms_fill(p, 4 * MIB);
	sh->got[7] = pages_home(p, 4 * MIB);
	for (size_t i = 0; i < 4 * MIB / 8; i++)
		sh->got[8] += p[i] != cs_fill_word(7, i);
	sh->got[9] = pages_home(p, 4 * MIB);
}

HOLDS("pages are where they were sent and touched, as move_pages has it, and keep "
      "their contents") {
	story("", 1, story_places);
	t_got(0, 1024, 512, 0, 16, 1024, 0, 0, 0, 1024);
}

/* ---- time ---- */

STORY(story_times) {
	begin(8 * MIB);
	memset(p, 1, 8 * MIB);
	for (int i = 0; i < 2; i++) { /* the first of each way takes twice as long */
		sh->ms[0] = ms_prefetch(p, 8 * MIB, 0);
		sh->ms[1] = ms_prefetch(p, 8 * MIB, 0);
		sh->ms[2] = ms_prefetch(p, 8 * MIB, 1);
		sh->ms[3] = ms_prefetch(p, 8 * MIB, CU_DEVICE_CPU);
	}
	sh->ms[4] = ms_fill(p, 8 * MIB); /* once, for the fill's own first */
	sh->ms[4] = ms_fill(p, 8 * MIB);
	ms_prefetch(p, 8 * MIB, CU_DEVICE_CPU);
	sh->ms[5] = ms_fill(p, 8 * MIB);
	ms_prefetch(p, 8 * MIB, 1);
	sh->ms[6] = ms_fill(p, 8 * MIB);
}

/* Faults that bring a range: 6 for each 2 MiB, of which half comes by density. */
HOLDS("prefetches and faults take the time of their direction") {
	story("", 1, story_times);
	t_took(2.7e-3 + MS(8 * MIB, 48), 5e-3,
	       2.7e-3 + MS(8 * MIB, 148 * 395.97 / 396),
	       2.7e-3 + MS(8 * MIB, 18 * 55.3 / 55.2));
	t_ms_less(sh->ms[5] - sh->ms[4], 4 * 6 * 20e-3 + MS(8 * MIB, 48));
	t_ms_less(sh->ms[6] - sh->ms[4],
		  4 * 6 * 20e-3 + MS(8 * MIB, 148 * 396.1 / 396));
}

/* ---- contents ---- */

#define WALK (8 * MIB)
#define STEPS 100

static uint64_t walk_state;

static uint64_t dice(uint64_t n)
{
	walk_state = walk_state * 6364136223846793005u + 1442695040888963407u;
	return (walk_state >> 33) % n;
}

/* One step on some pages: a prefetch, a kernel's store, a CPU's, or advice. */
static void walk(uint64_t *shadow, uint64_t step)
{
	uint64_t page = dice(WALK / PAGE), pages = 1 + dice(WALK / PAGE - page);
	uint64_t *at = p + page * PAGE / 8, words = pages * PAGE / 8;
	CUdevice to = (CUdevice)dice(3) - 1;

	switch (dice(4)) {
	case 0:
		must(prefetch_old(at_of(at), words * 8, to, stream));
		break;
	case 1:
		launch("cs_k_fill",
		       &(struct cs_k_fill){ at_of(at), words, step, 1, 1 }, stream);
		for (uint64_t i = 0; i < words; i++)
			shadow[page * PAGE / 8 + i] = cs_fill_word(step, i);
		break;
	case 2:
		must(stream_synchronize(stream));
		for (uint64_t i = dice(PAGE / 8); i < words; i += PAGE / 8)
			shadow[page * PAGE / 8 + i] = at[i] = step;
		break;
	default:
		must(advise_old(at_of(at), words * 8, (CUmem_advise)(1 + dice(6)), to));
	}
}

STORY(story_walk) {
	static uint64_t shadow[WALK / 8];
	CUstream of_gpu[2];

	open_gpu(1);
	of_gpu[1] = stream_new();
	open_gpu(0);
	of_gpu[0] = stream_new();
	p = managed(WALK);
	walk_state = 19;
	for (uint64_t step = 0; step < STEPS; step++) {
		int gpu = (int)dice(2);

		open_gpu(gpu);
		stream = of_gpu[gpu];
		walk(shadow, step);
		must(stream_synchronize(stream));
		if (step % 20 == 19)
			sh->got[0] += memcmp(p, shadow, WALK) != 0;
	}
	sh->got[1] = STEPS;
}

HOLDS("contents survive any order of moves, stores and advice, whatever the driver "
      "does") {
	static const char *const settings[] = {
		"",
		"FAKE_UM_GRANULE=4096 FAKE_UM_DENSITY=0",
		"FAKE_UM_EVICT=3145728",
		"FAKE_UM_STUCK=all:0.5 FAKE_UM_REMOTE=all",
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		story(settings[i], 1, story_walk);
		t_eq_int(sh->got[0], 0);
		t_eq_int(sh->got[1], STEPS);
	}
}

/* ---- touches by CPUs ---- */

#define THREADS 4

static struct toucher {
	uint64_t *p;
	size_t bytes;
	int number;
	atomic_int *stop;
} toucher[THREADS];

/* A word of its own in each page, and one that all add to. */
static void *touch_all(void *arg)
{
	const struct toucher *t = arg;

	for (size_t page = 0; page < t->bytes / PAGE; page++) {
		uint64_t *word = t->p + page * PAGE / 8;

		word[1 + t->number] += page;
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

STORY(story_threads) {
	pthread_t thread[THREADS];

	begin(8 * MIB);
	for (int round = 0; round < 10; round++) {
		must(prefetch_old(at_of(p), 8 * MIB, 0, stream));
		must(stream_synchronize(stream));
		for (int i = 0; i < THREADS; i++) {
			toucher[i] = (struct toucher){ p, 8 * MIB, i, NULL };
			pthread_create(&thread[i], NULL, touch_all, &toucher[i]);
		}
		for (int i = 0; i < 8; i++) /* beside them */
			must(prefetch_old(at_of(p), 8 * MIB, 0, stream));
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		must(stream_synchronize(stream));
	}
	for (size_t page = 0; page < 8 * MIB / PAGE; page++) {
		const uint64_t *word = p + page * PAGE / 8;

		sh->got[0] += word[0] != 10 * THREADS;
		for (int i = 0; i < THREADS; i++)
			sh->got[1] += word[1 + i] != 10 * page;
	}
	sh->got[2] = pages_home(p, 8 * MIB);
}

HOLDS("CPUs that touch the same pages at once, beside prefetches, find all of them") {
	story("", 1, story_threads);
	t_got(0, 0, 2048);
}

static sigjmp_buf back;

static void jump(int number)
{
	siglongjmp(back, number);
}

/* In a child: does a touch of an address that is nobody's end it? */
static int dies(volatile int *nobody)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		managed(BYTES);
		*nobody = 1;
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

STORY(story_other_faults) {
	volatile int *nobody = mmap(NULL, PAGE, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	open_gpu(0);
	signal(SIGSEGV, jump);
	p = managed(BYTES);
	stream = stream_new();
	if (!sigsetjmp(back, 1))
		*nobody = 1;
	else
		sh->got[0] = 1;
	ms_prefetch(p, BYTES, 0);
	p[0] = 5;
	sh->got[1] = p[0] == 5 && pages_home(p, BYTES) == 16;
	sh->got[2] = dies(nobody);
}

HOLDS("faults elsewhere go to whoever had them before") {
	story("", 1, story_other_faults);
	t_got(1, 1, 1);
}

/* How many pages are home after one granule after the other was touched. */
STORY(story_density) {
	int at = 0;

	begin(2 * MIB);
	ms_prefetch(p, 2 * MIB, 0);
	for (int granule = 0; granule < 32; granule++) {
		int before = pages_home(p, 2 * MIB);

		p[(size_t)granule * (64 << 10) / 8]++;
		if (pages_home(p, 2 * MIB) != before)
			sh->got[at++] = pages_home(p, 2 * MIB);
	}
	p = managed(3 * PAGE + 5); /* an odd end */
	ms_prefetch(p, 3 * PAGE + 5, 0);
	p[0]++;
	sh->got[40] = pages_home(p, (size_t)4 * PAGE);
}

HOLDS("a touch brings 64 KiB, and 2 MiB when half of them are there") {
	story("", 1, story_density);
	t_got(16, 32, 64, 128, 256, 512, 0);
	t_eq_int(sh->got[40], 4);
	story("FAKE_UM_DENSITY=0", 1, story_density);
	for (int i = 0; i < 32; i++)
		t_eq_int(sh->got[i], 16 * (i + 1));
	story("FAKE_UM_DENSITY=0 FAKE_UM_GRANULE=4096", 1, story_density);
	for (int i = 0; i < 32; i++)
		t_eq_int(sh->got[i], i + 1);
	t_eq_int(sh->got[40], 1);
}

/* ---- prefetches and gates ---- */

STORY(story_deferred) {
	CUstream other;
	CUdeviceptr spare;

	begin(2 * MIB);
	board();
	spare = device_memory();
	other = stream_new();
	memset(p, 1, 2 * MIB);
	must(gated(stream, &sh->gate, 1));
	must(prefetch_old(at_of(p), 2 * MIB, 0, stream));
	sh->got[0] = pages_home(p, 2 * MIB);
	p[0]++; /* and CPUs and other streams are not held up */
	must(cu.cuMemcpyAsync(at_of(p), spare, MIB, other));
	must(stream_synchronize(other));
	sh->got[1] = pages_home(p, 2 * MIB);
	must(prefetch_old(at_of(p), 2 * MIB, CU_DEVICE_CPU, other));
	sh->got[2] = pages_home(p, 2 * MIB); /* carried out in the call */
	must(prefetch_old(at_of(p), MIB, CU_DEVICE_CPU, stream));
	sh->got[3] = cu.cuStreamQuery(stream);
	store(&sh->gate, 1);
	must(stream_synchronize(stream));
	sh->got[4] = pages_home(p, 2 * MIB);
}

HOLDS("a prefetch behind a gate waits for it, one home in an idle stream is done in "
      "the call") {
	story("", 1, story_deferred);
	t_got(512, 256, 512, CUDA_ERROR_NOT_READY, 256);
}

static CUresult make_prefetch(struct call *c)
{
	return prefetch_old(c->at, BYTES, 0, c->stream);
}

STORY(story_blocks) {
	struct call c = { .make = make_prefetch };

	c.ctx = open_gpu(0);
	board();
	c.stream = stream_new();
	c.at = at_of(managed(BYTES));
	memset((void *)(uintptr_t)c.at, 1, BYTES);
	must(gated(c.stream, &sh->gate, 1));
	call_start(&c);
	sh->got[0] = call_sleeps(&c);
	store(&sh->gate, 1);
	sh->got[1] = call_join(&c);
}

HOLDS("a prefetch behind a gate blocks where that is asked") {
	story("FAKE_PREFETCH_BLOCKS=h-0", 1, story_blocks);
	t_got(1, CUDA_SUCCESS);
	story("FAKE_PREFETCH_BLOCKS=all", 1, story_blocks);
	t_eq_int(sh->got[0], 1);
}

/* ---- moves at once ---- */

/* One move on a GPU, behind the gate, between two marks. */
struct side {
	CUcontext ctx;
	CUstream stream;
	CUevent start, end;
	CUfunction fill;
	struct move move;
};

static void side_open(struct side *s, int gpu, CUdevice from, CUdevice to)
{
	CUmodule module;

	s->ctx = open_gpu(gpu);
	s->stream = stream = stream_new();
	s->move = (struct move){ managed(2 * MIB), 2 * MIB, to };
	must(cu.cuEventCreate(&s->start, 0));
	must(cu.cuEventCreate(&s->end, 0));
	must(cu.cuModuleLoadData(&module, image));
	must(cu.cuModuleGetFunction(&s->fill, module, "cs_k_fill"));
	memset(s->move.at, 1, 2 * MIB);
	for (int i = 0; i < 3; i++) /* both ways, and leave it where it begins */
		ms_prefetch(s->move.at, 2 * MIB, i == 1 ? to : from);
}

static void side_arm(struct side *s, int demand)
{
	struct cs_k_fill fill = { at_of(s->move.at), 2 * MIB / 8, 7, 1, 1 };

	must(cu.cuCtxSetCurrent(s->ctx));
	must(gated(s->stream, &sh->gate, 1));
	must(cu.cuEventRecord(s->start, s->stream));
	if (demand)
		must(cu.cuLaunchKernel(s->fill, 3, 1, 1, 256, 1, 1, 0, s->stream,
				       (void *[]){ &fill }, NULL));
	else
		must(prefetch_old(at_of(s->move.at), s->move.bytes, s->move.to,
				  s->stream));
	must(cu.cuEventRecord(s->end, s->stream));
}

static double side_end(struct side *s)
{
	float ms = -1;

	must(cu.cuCtxSetCurrent(s->ctx));
	must(stream_synchronize(s->stream));
	must(cu.cuEventElapsedTime(&ms, s->start, s->end));
	return ms;
}

static void at_once(const CUdevice from[2], const CUdevice to[2], int demand)
{
	struct side side[2];

	open_gpu(0);
	board();
	for (int i = 0; i < 2; i++)
		side_open(&side[i], i, from[i], to[i]);
	for (int i = 0; i < 2; i++)
		side_arm(&side[i], demand);
	store(&sh->gate, 1);
	for (int i = 0; i < 2; i++)
		sh->ms[i] = side_end(&side[i]);
}

STORY(story_both_ways) {
	at_once((CUdevice[]){ CU_DEVICE_CPU, 0 }, (CUdevice[]){ 0, CU_DEVICE_CPU }, 0);
}

STORY(story_peers) {
	at_once((CUdevice[]){ 0, 1 }, (CUdevice[]){ 1, 0 }, 0);
}

STORY(story_all_fault) {
	at_once((CUdevice[]){ CU_DEVICE_CPU, CU_DEVICE_CPU }, (CUdevice[]){ 0, 1 }, 1);
}

HOLDS("moves behind one gate share links as copies do, and are slowed as they are") {
	story("", 1, story_both_ways);
	t_took(2.7e-3 + MS(2 * MIB, 48 * 0.9), 2.7e-3 + MS(2 * MIB, 18 * 0.9));
	story("", 1, story_peers);
	t_took(2.7e-3 + MS(2 * MIB, 148 / 396. * 395.97 * 0.988),
	       2.7e-3 + MS(2 * MIB, 148 / 396. * 396.1 * 0.988));
	story("FAKE_HOST_SHARED=40 CUDA_MODULE_LOADING=EAGER", 1, story_all_fault);
	t_ms_less(sh->ms[0], 2 * FILLED + 6 * 20e-3 + MS(2 * MIB, 20));
	t_ms_less(sh->ms[1], sh->ms[0]);
	story("FAKE_DRIFT=0.5 FAKE_SLOW=h-0:0.5 CUDA_MODULE_LOADING=EAGER", 1,
	      story_all_fault);
	t_ms_less(sh->ms[0] - sh->ms[1],
		  1.5 * MS(2 * MIB, 24) - 1.5 * MS(2 * MIB, 48 * 55.4 / 55.3));
}

STORY(story_nodes) {
	CUmemLocation node = { .id = 1 };

	begin(2 * MIB);
	memset(p, 1, 2 * MIB);
	node.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	for (int i = 0; i < 2; i++) {
		sh->ms[0] = ms_prefetch(p, 2 * MIB, 0);
		must(prefetch_new(at_of(p), 2 * MIB, node, 0, stream));
	}
	sh->ms[1] = ms_prefetch(p, 2 * MIB, 0);
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	ms_fill(p, 2 * MIB);
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	sh->ms[2] = ms_fill(p, 2 * MIB);
}

HOLDS("figures know the NUMA node that pages were sent to") {
	story("", 1, story_nodes);
	t_ms(sh->ms[0], 2.7e-3 + MS(2 * MIB, 48 * 52.3 / 55.3));
	t_ms(sh->ms[1], sh->ms[0]);
	t_ms_less(sh->ms[2], FILLED + 6 * 20e-3 + MS(2 * MIB, 48 * 52.3 / 55.3));
	story("FAKE_NUMA=1,1", 1, story_nodes);
	t_ms(sh->ms[0], 2.7e-3 + MS(2 * MIB, 48));
}

/* Bytes that NVLink carried: KiB of NVML, here of the counters' file. */
STORY(story_counted) {
	begin(2 * MIB);
	memset(p, 1, 2 * MIB);
	ms_prefetch(p, 2 * MIB, 0);
	ms_prefetch(p, 2 * MIB, 1);
	ms_fill(p, MIB); /* half of it comes by touch */
}

HOLDS("pages that go from GPU to GPU are counted on NVLink") {
	char path[] = "/tmp/cs-um-XXXXXX", set[64];
	uint64_t bytes[8] = { 0 }; /* of each GPU: NVLink out, in; PCIe out, in */
	static const int of[8] = { 2, 1, 0, 2, 1, 2, 0, 0 };
	int fd = mkstemp(path);

	snprintf(set, sizeof(set), "FAKE_NVLINK_COUNTERS=%s", path);
	story(set, 1, story_counted);
	t_eq_int(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	for (int i = 0; i < 8; i++)
		t_eq_int((int64_t)bytes[i], (int64_t)of[i] * MIB);
	close(fd);
	unlink(path);
}

/* ---- the rest ---- */

static int lines_with(const char *path, const char *text)
{
	FILE *in = fopen(path, "re");
	char line[512];
	int n = 0;

	while (in && fgets(line, sizeof(line), in))
		n += strstr(line, text) != NULL;
	if (in)
		fclose(in);
	return n;
}

STORY(story_nothing_left) {

	open_gpu(0);
	stream = stream_new();
	for (int i = 0; i < 20; i++) {
		p = managed(4 * MIB);
		memset(p, 1, 4 * MIB);
		ms_prefetch(p, MIB, 0);
		sh->got[0] += lines_with("/proc/self/maps", "fake-managed-memory") > 0;
		must(cu.cuMemFree(at_of(p)));
	}
	sh->got[1] = lines_with("/proc/self/maps", "fake-managed-memory");
	managed(BYTES);
	must(cu.cuDevicePrimaryCtxRelease(0));
	sh->got[2] = lines_with("/proc/self/maps", "fake-managed-memory");
}

HOLDS("nothing is left of a range") {
	story("", 1, story_nothing_left);
	t_got(20, 0, 0);
}

/* As a program has it that gives memory back and gets the same addresses again. */
STORY(story_system) {
	const size_t bytes = 4 * MIB;
	const int prot = PROT_READ | PROT_WRITE;

	p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	open_gpu(0);
	find_all();
	stream = stream_new();
	p[5] = 17;
	sh->got[0] = prefetch_old(at_of(p), bytes, 0, stream);
	if (sh->got[0])
		return;
	must(stream_synchronize(stream));
	sh->got[1] = pages_home(p, bytes);
	sh->got[2] = (int)p[5]; /* comes home, and what is near it */
	sh->got[3] = pages_home(p, bytes);
	ms_fill(p, bytes);
	sh->got[4] = pages_home(p, bytes);
	p[5] = 1;
	munmap(p, bytes);
	sh->got[5] = mmap(p, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			  0) == p;
	sh->got[6] = p[5] == 0;
	memset(p, 3, bytes);
	sh->got[7] = pages_home(p, bytes);
	sh->got[8] = prefetch_old(at_of(p), bytes, 0, stream);
	must(stream_synchronize(stream));
	sh->got[9] = pages_home(p, bytes);
	sh->got[10] = ((char *)p)[bytes - 1];
}

HOLDS("memory of malloc moves likewise where a GPU may use it, until it is given back") {
	story("FAKE_PAGEABLE=1", 1, story_system);
	t_got(CUDA_SUCCESS, 0, 17, 16, 0, 1, 1, 1024, CUDA_SUCCESS, 0, 3);
	story("FAKE_PAGEABLE=2", 1, story_system);
	t_eq_int(sh->got[1], 0);
	t_eq_int(sh->got[3], 16);
	t_eq_int(sh->got[4], 16); /* the kernel used them where they were */
	story("", 1, story_system);
	t_eq_int(sh->got[0], CUDA_ERROR_INVALID_VALUE);
}
