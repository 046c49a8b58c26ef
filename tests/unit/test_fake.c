/* test_fake.c - the fake driver itself: that it refuses, blocks and times as
 * tests/fake/ says.  story.h says how a story is told. */
#include "story.h"

static char ordinary[2 * BYTES]; /* memory that is not page-locked */

/* ---- look-up, devices ---- */

STORY(story_versions) {
	cs_driver_find_fn find;
	CUdriverProcAddressQueryResult found;
	char path[4096];
	void *library, *entry;

	snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	entry = dlsym(library, "cuGetProcAddress_v2");
	memcpy(&find, &entry, sizeof(find));
	sh->got[0] = find("cuMemAlloc", &entry, 2000, 0, &found);
	sh->got[1] = found;
	sh->got[2] = entry != NULL;
	sh->got[3] = find("cuNothing", &entry, 13000, 0, &found);
	sh->got[4] = found;
	sh->got[5] = find("cuNothing", &entry, 13000, 0, NULL);
	sh->got[6] = dlsym(library, "cs_fake_clock_is_virtual") != NULL;
}

HOLDS("functions are found by name and version, and no others") {
	story("", 1, story_versions);
	t_got(CUDA_SUCCESS, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 0,
	      CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
	      CUDA_ERROR_NOT_FOUND, 1);
}

/* Count, then the last byte of each UUID. */
STORY(story_visible) {
	CUuuid uuid;
	int n = 0;

	sh->got[0] = cu.cuInit(0);
	cu.cuDeviceGetCount(&n);
	sh->got[1] = n;
	for (int i = 0; i < n; i++) {
		must(cu.cuDeviceGetUuid(&uuid, i));
		sh->got[2 + i] = uuid.bytes[15];
	}
}

HOLDS("CUDA_VISIBLE_DEVICES takes indices and UUIDs, in its order, up to the first "
      "bad one") {
	story("FAKE_GPUS=4 CUDA_VISIBLE_DEVICES=3,"
	      "GPU-00000000-0000-0000-0000-000000000001,9,0",
	      1, story_visible);
	t_got(CUDA_SUCCESS, 2, 3, 1);
	story("CUDA_VISIBLE_DEVICES=", 1, story_visible);
	t_eq_int(sh->got[0], CUDA_ERROR_NO_DEVICE);
	story("FAKE_GPUS=16", 1, story_visible);
	t_eq_int(sh->got[1], 16);
}

/* ---- what it refuses ---- */

STORY(story_refusals) {
	size_t unused, total;
	CUmodule module;
	CUdeviceptr at;
	CUstream stream;
	void *given;
	int64_t *got = sh->got;

	*got++ = cu.cuMemAlloc(&at, BYTES);
	must(cu.cuInit(0));
	*got++ = cu.cuMemAlloc(&at, BYTES);
	open_gpu(0);
	stream = stream_new();
	*got++ = cu.cuMemAlloc(&at, 0);
	*got++ = cu.cuMemAlloc(&at, 5 * BYTES);
	at = device_memory();
	*got++ = cu.cuMemcpyAsync(at + 16, at, BYTES, stream);
	*got++ = cu.cuMemcpyAsync(at, at + BYTES / 2, BYTES / 2, stream);
	*got++ = cu.cuMemFree(at + 512);
	must(cu.cuMemFree(at));
	*got++ = cu.cuMemFree(at);
	*got++ = cu.cuMemcpyAsync(at, at, 16, stream);
	must(cu.cuMemGetInfo(&unused, &total));
	*got++ = unused == total && total == 4 * BYTES;
	must(cu.cuStreamDestroy(stream));
	*got++ = cu.cuStreamQuery(stream);
	*got++ = cu.cuStreamQuery((CUstream)(uintptr_t)0xdeadbeef);
	*got++ = cu.cuModuleLoadData(&module, "not an image");
	*got++ = cu.cuMemHostRegister((void *)(uintptr_t)4096, 4096, 0);
	board();
	*got++ = cu.cuMemHostRegister(sh, 4096, 0);
	must(cu.cuMemHostUnregister(sh));
	*got++ = cu.cuMemHostUnregister(sh);
	/* given back to the system while it is registered */
	given = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	must(cu.cuMemHostRegister(given, 4096, 0));
	munmap(given, 4096);
	*got++ = cu.cuMemHostUnregister(given);
}

HOLDS("it refuses what the driver refuses") {
	story("FAKE_MEMORY=0x400000", 1, story_refusals);
	t_got(CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT,
	      CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY,
	      CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE,
	      CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1,
	      CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE,
	      CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_VALUE,
	      CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
	      CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, CUDA_ERROR_ILLEGAL_ADDRESS);
}

STORY(story_foreign) {
	CUcontext other, ctx;
	CUstream stream;
	CUevent event;
	CUdeviceptr at;

	other = open_gpu(1);
	stream = stream_new();
	must(cu.cuEventCreate(&event, 0));
	ctx = open_gpu(0);
	at = device_memory();
	sh->got[0] = cu.cuMemcpyAsync(at, at + 16, 16, stream);
	sh->got[1] = cu.cuEventRecord(event, stream_new());
	sh->got[2] = cu.cuCtxEnablePeerAccess(ctx, 0);
	must(cu.cuCtxEnablePeerAccess(other, 0));
	sh->got[3] = cu.cuCtxEnablePeerAccess(other, 0);
}

HOLDS("handles of another context are refused") {
	story("", 1, story_foreign);
	t_got(CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE,
	      CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
}

/* ---- kernels and ordinary memory ---- */

STORY(story_kernels) {
	static uint64_t words[BYTES / 8];
	struct cs_check *found;
	CUdeviceptr at;
	CUstream stream;

	open_gpu(0);
	at = device_memory();
	stream = stream_new();
	must(cu.cuMemHostAlloc((void **)&found, 3 * sizeof(*found), 0));
	launch("cs_k_fill", &(struct cs_k_fill){ at, BYTES / 8, 7, 1, 1 }, stream);
	must(cu.cuMemcpyAsync((uintptr_t)words, at, BYTES, stream));
	must(stream_synchronize(stream));
	sh->got[0] = words[1000] == cs_fill_word(7, 1000);
	words[100000]++;
	must(cu.cuMemcpyAsync(at, (uintptr_t)words, BYTES, stream));
	launch("cs_k_check",
	       &(struct cs_k_check){ at, BYTES / 8, 7, (uintptr_t)found, BYTES / 8, 1,
				     3, 0 },
	       stream);
	must(stream_synchronize(stream));
	for (int i = 0; i < 3; i++)
		sh->got[1] += (int64_t)found[i].wrong_words;
	sh->got[2] = (int64_t)found[2].first_word;
	launch("cs_k_poison", &(struct cs_k_poison){ at, BYTES / 8 }, stream);
	must(cu.cuMemcpyAsync((uintptr_t)words, at, BYTES, stream));
	must(stream_synchronize(stream));
	sh->got[3] = words[0] == CS_POISON64 && words[BYTES / 8 - 1] == CS_POISON64;
	sh->got[4] = cu.cuMemcpyAsync(4096, at, BYTES, stream);
	sh->got[5] = cu.cuMemFree(at);
}

HOLDS("kernels run on its memory; a wild address breaks the context") {
	story("", 1, story_kernels);
	t_got(1, 1, 100000, 1, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* ---- time ---- */

STORY(story_alone) {
	CUdeviceptr a, b;
	CUcontext ctx[2];
	struct timed t = { 0 }, u = { 0 };

	ctx[1] = open_gpu(1);
	b = arena_new();
	ctx[0] = open_gpu(0);
	a = arena_new();
	sh->ms[0] = timed_copy(&t, b, a); /* staged, first */
	sh->ms[1] = timed_copy(&t, b, a); /* staged */
	sh->got[0] = cu.cuCtxDisablePeerAccess(ctx[1]);
	must(cu.cuCtxEnablePeerAccess(ctx[1], 0));
	must(cu.cuCtxDisablePeerAccess(ctx[1]));
	sh->ms[5] = timed_copy(&t, b, a); /* staged again */
	must(cu.cuCtxEnablePeerAccess(ctx[1], 0));
	sh->ms[2] = timed_copy(&t, b, a); /* 0 writes to 1 */
	timed_copy(&t, a, b);
	sh->ms[3] = timed_copy(&t, a, b); /* 0 reads from 1 */
	must(cu.cuCtxSetCurrent(ctx[1]));
	must(cu.cuCtxEnablePeerAccess(ctx[0], 0));
	sh->ms[4] = timed_copy(&u, a, b); /* 1 writes to 0 */
}

HOLDS("a copy takes 2.7 us and bytes by the rate of its direction") {
	story("", 1, story_alone);
	t_eq_int(sh->got[0], CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	t_ok(sh->ms[5] == sh->ms[1]); /* as if it had never been enabled */
	t_took(2 * ms_at(37.5), ms_at(37.5), ms_at(396.0 - 0.03), ms_at(396.1 - 2.2),
	       ms_at(396.1));
	story("FAKE_SLOW=0-1:0.5,1-0:0.25", 1, story_alone);
	t_ms(sh->ms[2], ms_at((396.0 - 0.03) / 2));
	t_ms(sh->ms[4], ms_at(396.1 / 4));
	story("FAKE_SLOW=1-0:0.25 FAKE_SLOW_COPIES=2", 1, story_alone);
	t_ms(sh->ms[3], ms_at((396.1 - 2.2) / 4));
	t_ms(sh->ms[4], ms_at(396.1));
	story("FAKE_NOISE=0.01", 1, story_alone);
	t_near(sh->ms[2], ms_at(396.0 - 0.03), ms_at(396.0) * 0.011);
	t_ok(sh->ms[2] != ms_at(396.0 - 0.03));
}

/* Each path twice, for the first is slower. */
STORY(story_pageable) {
	CUdeviceptr words = (uintptr_t)ordinary, page;
	struct timed t = { 0 };
	CUdeviceptr a;
	void *host;

	open_gpu(1);
	a = arena_new();
	must(cu.cuMemHostAlloc(&host, 2 * BYTES, 0));
	page = (uintptr_t)host;
	memset(ordinary, 1, sizeof(ordinary)); /* it is somewhere */
	for (int i = 0; i < 2; i++) {
		sh->ms[0] = timed_copy(&t, a, words);
		sh->ms[1] = timed_copy(&t, words, a);
		sh->ms[2] = timed_copy(&t, page, words);
		sh->ms[3] = timed_copy(&t, a, page);
	}
}

HOLDS("memory that is not page-locked is slow, and slower from afar") {
	story("", 1, story_pageable);
	t_took(ms_at(6.8 * 1.01), ms_at(15 * 1.01), ms_at(8.5), ms_at(55.4));
	story("FAKE_NUMA=0,1 FAKE_PAGEABLE_GBS=4,5,6", 1, story_pageable);
	t_took(ms_at(4 * 1.01 / 1.1), ms_at(5 * 1.01 / 1.1), ms_at(6));
}

/* Copies of two paths, by turns, behind one gate value after the other. */
STORY(story_samples) {
	CUdeviceptr a, b;
	CUcontext ctx[2];
	struct timed t = { 0 };

	ctx[1] = open_gpu(1);
	b = arena_new();
	ctx[0] = open_gpu(0);
	a = arena_new();
	must(cu.cuCtxEnablePeerAccess(ctx[1], 0));
	board();
	timed_copy(&t, b, a);
	timed_copy(&t, a, b);
	for (uint32_t i = 0; i < 16; i++) {
		timed_arm(&t, i + 1, i % 2 ? a : b, i % 2 ? b : a);
		store(&sh->gate, i + 1);
		sh->ms[i] = timed_end(&t);
	}
}

HOLDS("noise, drift and slowness come by sample, by seed") {
	double write = 396.0 - 0.03, read = 396.1 - 2.2, seen[16];
	int same = 1, other = 0;

	story("FAKE_DRIFT=0.01 FAKE_SLOW=0-1:0.5 FAKE_SLOW_SAMPLES=3-4", 1,
	      story_samples);
	t_took(1.01 * ms_at(write), 1.02 * ms_at(read), 1.03 * ms_at(write / 2));
	t_ms(sh->ms[4], 1.05 * ms_at(write));
	t_ms(sh->ms[15], 1.16 * ms_at(read));
	story("FAKE_SAMPLE_NOISE=uniform:0.1 FAKE_SEED=7", 1, story_samples);
	memcpy(seen, sh->ms, sizeof(seen));
	for (int i = 0; i < 16; i++)
		t_near(seen[i] / ms_at(i % 2 ? read : write), 1, 0.1 * 1.8);
	t_ok(seen[0] != seen[2] && seen[2] != seen[4]);
	story("FAKE_SAMPLE_NOISE=uniform:0.1 FAKE_SEED=7", 1, story_samples);
	for (int i = 0; i < 16; i++)
		same &= sh->ms[i] == seen[i];
	t_ok(same);
	story("FAKE_SAMPLE_NOISE=uniform:0.1 FAKE_SEED=8", 1, story_samples);
	for (int i = 0; i < 16; i++)
		other |= sh->ms[i] != seen[i];
	t_ok(other);
}

static void three_gpus(CUdeviceptr memory[3])
{
	CUcontext ctx[3];

	for (int i = 2; i >= 0; i--) {
		ctx[i] = open_gpu(i);
		memory[i] = arena_new();
	}
	must(cu.cuCtxEnablePeerAccess(ctx[1], 0));
	must(cu.cuCtxEnablePeerAccess(ctx[2], 0));
	board();
}

/* GPU 0 writes to 1, and also to 2 or from 1, behind one gate. */
STORY(story_shared_port) {
	CUdeviceptr m[3];
	struct timed t = { 0 }, u = { 0 };

	three_gpus(m);
	timed_arm(&t, 1, m[1], m[0]);
	timed_arm(&u, 1, m[2], m[0]);
	store(&sh->gate, 1);
	sh->ms[0] = timed_end(&t);
	sh->ms[1] = timed_end(&u);
	timed_arm(&t, 2, m[1], m[0]); /* alone again */
	store(&sh->gate, 2);
	sh->ms[2] = timed_end(&t);
	timed_arm(&t, 3, m[1], m[0]);
	timed_arm(&u, 3, m[0], m[1]);
	store(&sh->gate, 3);
	sh->ms[3] = timed_end(&t);
	timed_end(&u);
	store(&sh->gate, 0); /* value 3 once more: no ghosts */
	timed_arm(&t, 3, m[1], m[0]);
	store(&sh->gate, 3);
	sh->ms[4] = timed_end(&t);
}

HOLDS("flows behind the same value of a gate share ports") {
	story("FAKE_GPUS=3", 1, story_shared_port);
	/* the first touch takes twice as long */
	t_took(2 * ms_at((396.0 - 0.03) / 2), 2 * ms_at((396.0 - 0.06) / 2),
	       ms_at(396.0 - 0.03), ms_at((396.0 - 0.03) / 2), ms_at(396.0 - 0.03));
}

/* ---- the host's links ---- */

static CUdeviceptr host_memory(unsigned flags)
{
	void *at;

	must(cu.cuMemHostAlloc(&at, 2 * BYTES, flags));
	return (uintptr_t)at;
}

/* The second of two copies: the first on a path takes longer. */
static double second(struct timed *t, CUdeviceptr to, CUdeviceptr from)
{
	timed_copy(t, to, from);
	return timed_copy(t, to, from);
}

/* GPU 1 with pinned, write-combined and registered memory, in this order. */
STORY(story_host_links) {
	void *pages = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CUdeviceptr m, pinned, wc;
	struct timed t = { 0 };

	open_gpu(1);
	m = arena_new();
	pinned = host_memory(CU_MEMHOSTALLOC_PORTABLE);
	wc = host_memory(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED);
	must(cu.cuMemHostRegister(pages, 2 * BYTES, 0));
	sh->ms[0] = second(&t, m, pinned);
	sh->ms[1] = second(&t, m, wc);
	sh->ms[2] = second(&t, m, (uintptr_t)pages);
	sh->ms[3] = second(&t, pinned, m);
	sh->ms[4] = second(&t, wc, m);
	sh->ms[5] = second(&t, (uintptr_t)pages, m);
	sh->got[0] = cu.cuMemHostAlloc(&(void *){ NULL }, 4096, 8);
}

HOLDS("host memory has its rate by NUMA node, GPU, direction and kind") {
	story("", 1, story_host_links);
	t_took(ms_at(55.4), ms_at(55.6), ms_at(55.4), ms_at(55.3), ms_at(55.3));
	t_eq_int(sh->got[0], CUDA_ERROR_INVALID_VALUE);
	story("FAKE_NUMA=0,1 FAKE_HOST_NUMA=0,1,20", 1, story_host_links);
	t_took(ms_at(55.4 - 3), ms_at(55.6), ms_at(10), ms_at(55.3 - 5), ms_at(55.3),
	       ms_at(10));
}

/* What two copies behind one gate take; both have been made before. */
static void both(uint32_t seq, const CUdeviceptr at[4], double ms[2])
{
	struct timed t = { 0 }, u = { 0 };

	timed_copy(&t, at[1], at[0]);
	timed_copy(&u, at[3], at[2]);
	timed_arm(&t, seq, at[1], at[0]);
	timed_arm(&u, seq, at[3], at[2]);
	store(&sh->gate, seq);
	ms[0] = timed_end(&t);
	ms[1] = timed_end(&u);
}

STORY(story_host_shared) {
	CUdeviceptr m[3], host;

	three_gpus(m);
	host = host_memory(0);
	/* to either half: two copies at the same time must not write the same bytes */
	both(1, (CUdeviceptr[]){ host, m[1], host, m[2] }, sh->ms);
	both(2, (CUdeviceptr[]){ m[1], host, m[2], host - BYTES }, sh->ms + 2);
	both(3, (CUdeviceptr[]){ host, m[1], m[1], host }, sh->ms + 4);
	both(4, (CUdeviceptr[]){ host, m[1], m[0], m[1] - BYTES }, sh->ms + 6);
	both(5, (CUdeviceptr[]){ host, m[1], host, m[1] - BYTES }, sh->ms + 8);
}

HOLDS("copies from and to the host share what they are told to share") {
	story("FAKE_GPUS=3", 1, story_host_shared);
	t_took(ms_at(55.4), ms_at(55.5));
	t_ms(sh->ms[4], ms_at(55.4 * 0.9));
	t_ms(sh->ms[5], ms_at(55.3 * 0.9));
	t_ms(sh->ms[6], ms_at(55.4)); /* not the link between GPUs */
	t_ms(sh->ms[7], ms_at(396.0 - 0.03));
	t_ms(sh->ms[8], ms_at(55.4 / 2));
	story("FAKE_GPUS=3 FAKE_HOST_SHARED=60", 1, story_host_shared);
	for (int i = 0; i < 4; i++)
		t_ms(sh->ms[i], ms_at(30));
	t_ms(sh->ms[4], ms_at(55.4 * 0.9)); /* one each way */
	t_ms(sh->ms[6], ms_at(55.4));
	t_ms(sh->ms[8], ms_at(55.4 / 2));
}

/* GPU 0 to 1 beside 2 to 0; 1 to 0 beside 2 to 1. */
STORY(story_peer_shared) {
	CUdeviceptr m[3];

	three_gpus(m);
	both(1, (CUdeviceptr[]){ m[0], m[1], m[2], m[0] }, sh->ms);
	both(2, (CUdeviceptr[]){ m[1], m[0], m[2], m[1] }, sh->ms + 2);
}

HOLDS("pairs on one link get half when both are at work") {
	story("FAKE_GPUS=3 FAKE_PEER_SHARED=0-1:2-0", 1, story_peer_shared);
	/* another pair gets no less */
	t_took(ms_at((396.0 - 0.03) / 2), ms_at((396.2 - 2.2) / 2),
	       ms_at(396.1 - 2.2), ms_at(396.2 - 0.03 - 2.2));
	story("FAKE_GPUS=3", 1, story_peer_shared);
	t_ms(sh->ms[0], ms_at(396.0 - 0.03));
}

/* Two processes push to each other. */
STORY(story_pair) {
	static uint64_t words[BYTES / 8];
	CUdeviceptr own, peer, again;
	struct timed t = { 0 };

	open_gpu(who);
	own = arena_new();
	sh->address[who] = own;
	must(cu.cuIpcGetMemHandle(&sh->handle[who], own));
	meet(0);
	sh->got[who] = cu.cuIpcOpenMemHandle(&peer, sh->handle[who], 1);
	must(cu.cuIpcOpenMemHandle(&peer, sh->handle[!who], 1));
	must(cu.cuIpcOpenMemHandle(&again, sh->handle[!who], 1));
	sh->got[2 + who] = peer == again && peer != sh->address[!who];
	board();
	for (size_t i = 0; i < BYTES / 8; i++)
		words[i] = i * 3 + (unsigned)who;
	must(cu.cuMemcpyAsync(own, (uintptr_t)words, BYTES, stream_new()));
	must(ctx_synchronize());
	for (uint32_t seq = 1; seq <= 2; seq++) {
		timed_arm(&t, seq, peer, own);
		meet((int)seq);
		store(&sh->gate, seq);
		sh->ms[4 * who + (int)seq] = timed_end(&t);
	}
	meet(3);
	must(cu.cuMemcpyAsync((uintptr_t)words, own + BYTES, BYTES, t.stream));
	must(ctx_synchronize());
	sh->got[4 + who] = (int64_t)words[1000] - 3000;
	must(cu.cuIpcCloseMemHandle(peer));
	must(cu.cuMemcpyAsync(own, peer, 16, t.stream));
	must(ctx_synchronize());
	must(cu.cuIpcCloseMemHandle(peer));
	sh->got[6 + who] = cu.cuMemcpyAsync(own, peer, 16, t.stream);
	sh->got[8 + who] = cu.cuIpcCloseMemHandle(peer);
	meet(4);
	must(cu.cuMemFree(own));
	meet(5);
	sh->got[10 + who] = cu.cuIpcOpenMemHandle(&peer, sh->handle[!who], 1);
}

HOLDS("two processes pushing to each other get 0.988 of the rate each") {
	story("", 2, story_pair);
	/* of each: 4 and 5 are the other's bytes */
	t_got(CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, 1, 1, 1, 0,
	      CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE,
	      CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE,
	      CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
	t_ms(sh->ms[1], 2 * ms_at((396.0 - 0.03) * 0.988));
	t_ms(sh->ms[2], ms_at((396.0 - 0.03) * 0.988));
	t_ms(sh->ms[5], 2 * ms_at(396.1 * 0.988));
	t_ms(sh->ms[6], ms_at(396.1 * 0.988));
}

STORY(pair_one_way) {
	CUdeviceptr own, peer;
	CUstream stream;

	open_gpu(who);
	own = device_memory();
	must(cu.cuIpcGetMemHandle(&sh->handle[who], own));
	stream = stream_new();
	launch("cs_k_fill",
	       &(struct cs_k_fill){ own, BYTES / 8, 10 + (unsigned)who, 1, 1 },
	       stream);
	must(ctx_synchronize());
	meet(0);
	if (!who) {
		must(cu.cuIpcOpenMemHandle(&peer, sh->handle[1], 1));
		must(cu.cuMemcpyAsync(peer, own, BYTES, stream));
		must(ctx_synchronize());
		must(cu.cuIpcCloseMemHandle(peer));
	}
	meet(1);
	if (who) {
		struct cs_check *found;

		must(cu.cuMemHostAlloc((void **)&found, 3 * sizeof(*found), 0));
		launch("cs_k_check",
		       &(struct cs_k_check){ own, BYTES / 8, 10, (uintptr_t)found,
					     BYTES / 8, 1, 3, 0 },
		       stream);
		must(ctx_synchronize());
		for (int i = 0; i < 3; i++)
			sh->got[0] += (int64_t)found[i].wrong_words;
		sh->got[1] = (int64_t)found[0].first_word;
		sh->got[2] = (int64_t)(found[0].expected ^ found[0].found);
	}
}

HOLDS("bytes really travel, and are corrupted where asked") {
	story("", 2, pair_one_way);
	t_eq_int(sh->got[0], 0);
	story("FAKE_CORRUPT=0-1:801", 2, pair_one_way);
	t_got(1, 100, 256);
	story("FAKE_CORRUPT=0-1:-1", 2, pair_one_way);
	t_eq_int(sh->got[0], BYTES / 8);
	story("FAKE_ASTRAY=0-1:0", 2, pair_one_way);
	t_eq_int(sh->got[0], BYTES / 8);
}

/* The same copy, and the same poisoning of its source, three times in a row. */
STORY(story_again) {
	struct cs_k_poison over = { .words = BYTES / 8 };
	CUfunction poison;
	CUdeviceptr from, to;
	CUstream stream;
	uint64_t *words;

	open_gpu(0);
	over.address = from = device_memory();
	to = device_memory();
	stream = stream_new();
	poison = kernel("cs_k_poison");
	launch_it(poison, &over, stream); /* the first would wait for the gate */
	board();
	must(cu.cuMemHostAlloc((void **)&words, 2 * BYTES, 0));
	launch("cs_k_fill", &(struct cs_k_fill){ from, BYTES / 8, 7, 1, 1 }, stream);
	must(gated(stream, &sh->gate, 1));
	for (int i = 0; i < 3; i++)
		must(cu.cuMemcpyAsync(to, from, BYTES, stream));
	for (int i = 0; i < 3; i++)
		launch_it(poison, &over, stream);
	must(cu.cuMemcpyAsync((uintptr_t)words, to, BYTES, stream));
	must(cu.cuMemcpyAsync((uintptr_t)words + BYTES, from, BYTES, stream));
	store(&sh->gate, 1);
	must(stream_synchronize(stream));
	sh->got[0] = (int64_t)(words[0] ^ cs_fill_word(7, 0));
	sh->got[1] = words[BYTES / 8 - 1] == cs_fill_word(7, BYTES / 8 - 1);
	sh->got[2] = words[BYTES / 8] == CS_POISON64;
	sh->got[3] = words[BYTES / 4 - 1] == CS_POISON64;
}

HOLDS("what is done again and again is done before what follows, and spoilt as alone") {
	story("", 1, story_again);
	t_got(0, 1, 1, 1);
	story("FAKE_CORRUPT=0-0:0 FAKE_CORRUPT_COPY=2", 1, story_again);
	t_got(0, 1, 1, 1); /* the third writes over it */
	story("FAKE_CORRUPT=0-0:0 FAKE_CORRUPT_COPY=3", 1, story_again);
	t_got(1, 1, 1, 1);
	story("FAKE_CORRUPT=0-0:-1 FAKE_CORRUPT_COPY=3", 1, story_again);
	t_got(0, 1, 1, 1); /* the second has written it */
}

/* ---- real time ---- */

#define SUBMITS 4
#define SUBMIT_MS 20

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void *submit(void *gpu)
{
	CUstream stream;
	CUdeviceptr at;

	open_gpu((int)(intptr_t)gpu);
	stream = stream_new();
	at = arena_new();
	for (int i = 0; i < SUBMITS; i++)
		must(cu.cuMemcpyAsync(at, at + BYTES, BYTES, stream));
	must(stream_synchronize(stream));
	return NULL;
}

/* Two threads of one process, each with a GPU of its own. */
STORY(two_threads) {
	double from = now_ms();
	pthread_t other;

	if (pthread_create(&other, NULL, submit, (void *)(intptr_t)1))
		_exit(3);
	submit(NULL);
	pthread_join(other, NULL);
	sh->got[0] = (int)(now_ms() - from);
}

HOLDS("submissions take their time, those of a process in turn") {
	story("FAKE_SUBMIT_NS=20000000", 1, two_threads);
	t_ok(sh->got[0] >= 2 * SUBMITS * SUBMIT_MS - 1);
}

/* ---- blocking behind a closed gate ---- */

static CUresult make_free(struct call *c)
{
	return cu.cuMemFree(c->at);
}

static CUresult make_free_host(struct call *c)
{
	return cu.cuMemFreeHost(c->p);
}

static CUresult make_unregister(struct call *c)
{
	return cu.cuMemHostUnregister(c->p);
}

static CUresult make_load(struct call *c)
{
	return cu.cuModuleLoadData(&c->module, image);
}

static CUresult make_unload(struct call *c)
{
	return cu.cuModuleUnload(c->module);
}

static CUresult make_synchronize(struct call *c)
{
	(void)c;
	return ctx_synchronize();
}

static CUresult make_launch(struct call *c)
{
	CUfunction function;
	struct cs_k_poison args = { c->at, 2 };

	must(cu.cuModuleGetFunction(&function, c->module, "cs_k_poison"));
	return cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, c->stream,
				 (void *[]){ &args }, NULL);
}

static CUresult make_pageable_in(struct call *c)
{
	return cu.cuMemcpyAsync(c->at, (uintptr_t)ordinary, BYTES, c->stream);
}

static CUresult make_pageable_out(struct call *c)
{
	return cu.cuMemcpyAsync((uintptr_t)ordinary, c->at, 4096, c->stream);
}

static CUresult make_pageable_small(struct call *c)
{
	must(cu.cuMemcpyAsync(c->at, (uintptr_t)ordinary, 64 << 10, c->stream));
	return cu.cuStreamQuery(c->stream);
}

/* All that must not block: in turn, each with its result. */
static CUresult make_others(struct call *c)
{
	CUstream stream = stream_new();
	CUdeviceptr at = device_memory();
	CUevent event;
	void *host;

	must(cu.cuMemHostAlloc(&host, 4096, 0));
	must(cu.cuMemHostRegister(c->p, 4096, 0));
	must(cu.cuEventCreate(&event, 0));
	must(cu.cuMemcpyAsync(at, c->at, BYTES, stream));
	must(cu.cuMemcpyAsync((uintptr_t)host, at, 4096, stream));
	must(cu.cuEventRecord(event, stream));
	must(stream_synchronize(stream));
	must(cu.cuEventQuery(event));
	must(cu.cuIpcGetMemHandle(&sh->handle[0], at));
	must(cu.cuEventDestroy(event));
	must(cu.cuStreamDestroy(stream));
	return cu.cuStreamQuery(c->stream);
}

/* Behind a gate, make one call.  One that `must_block` was asleep until the gate
 * opened (got[0]); another has ended before.  Its result: got[1]. */
static void behind_gate(CUresult (*make)(struct call *), int must_block)
{
	struct call c = { .make = make };
	void *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	c.ctx = open_gpu(0);
	board();
	c.at = device_memory();
	c.stream = stream_new();
	c.p = other;
	if (make == make_free_host)
		must(cu.cuMemHostAlloc(&c.p, 4096, 0));
	if (make == make_unregister)
		must(cu.cuMemHostRegister(c.p, 4096, 0));
	if (make == make_unload || make == make_launch)
		must(cu.cuModuleLoadData(&c.module, image));
	must(gated(c.stream, &sh->gate, 1));
	call_start(&c);
	if (must_block) {
		sh->got[0] = call_sleeps(&c);
		store(&sh->gate, 1);
	}
	sh->got[1] = call_join(&c);
}

static CUresult (*behind)(struct call *);

STORY(story_blocks) {
	behind_gate(behind, 1);
}

STORY(story_ends) {
	behind_gate(behind, 0);
}

HOLDS("the calls that block behind a closed gate do, until it opens") {
	static CUresult (*const makes[])(struct call *) = {
		make_free,   make_free_host,   make_unregister,
		make_load,   make_unload,      make_synchronize,
		make_launch, make_pageable_in, make_pageable_out,
	};

	for (size_t i = 0; i < sizeof(makes) / sizeof(*makes); i++) {
		behind = makes[i];
		story("", 1, story_blocks);
		t_got(1, CUDA_SUCCESS);
	}
}

HOLDS("the other calls do not") {
	behind = make_others;
	story("", 1, story_ends);
	t_eq_int(sh->got[1], CUDA_ERROR_NOT_READY);
	behind = make_pageable_small;
	story("", 1, story_ends);
	t_eq_int(sh->got[1], CUDA_ERROR_NOT_READY);
	behind = make_launch;
	story("CUDA_MODULE_LOADING=EAGER", 1, story_ends);
	t_eq_int(sh->got[1], CUDA_SUCCESS);
}

static CUresult make_close(struct call *c)
{
	return cu.cuIpcCloseMemHandle(c->at);
}

STORY(story_ipc_close) {
	struct call c = { .make = make_close };

	c.ctx = open_gpu(who);
	board();
	if (!who) {
		must(cu.cuIpcGetMemHandle(&sh->handle[0], device_memory()));
		must(gated(stream_new(), &sh->gate, 1));
	}
	meet(0);
	if (who) {
		must(cu.cuIpcOpenMemHandle(&c.at, sh->handle[0], 1));
		call_start(&c); /* the gate is the exporter's */
		sh->got[0] = call_join(&c);
		must(cu.cuIpcOpenMemHandle(&c.at, sh->handle[0], 1));
		must(gated(stream_new(), &sh->gate, 1));
		call_start(&c);
		sh->got[1] = call_sleeps(&c);
		store(&sh->gate, 1);
		sh->got[2] = call_join(&c);
	}
	meet(1);
}

HOLDS("closing an import waits for gates of its own process alone") {
	story("", 2, story_ipc_close);
	t_got(CUDA_SUCCESS, 1, CUDA_SUCCESS);
}

/* Enqueue copies until the call blocks. */
static CUresult make_copies(struct call *c)
{
	while (!cu.cuMemcpyAsync(c->at, c->at + 64, 64, c->stream))
		__atomic_add_fetch(&sh->got[0], 1, __ATOMIC_SEQ_CST);
	return CUDA_ERROR_UNKNOWN;
}

STORY(story_depth) {
	struct call c = { .make = make_copies };

	c.ctx = open_gpu(0);
	board();
	c.at = device_memory();
	c.stream = stream_new();
	must(gated(c.stream, &sh->gate, 1));
	call_start(&c);
	while (__atomic_load_n(&sh->got[0], __ATOMIC_SEQ_CST) < 1020)
		sched_yield();
	sh->got[1] = call_sleeps(&c);
}

HOLDS("a stream takes 1,020 copies behind a closed gate") {
	story("", 1, story_depth);
	t_got(1020, 1);
}

/* 9 streams, each with a word of its own; the last is opened first. */
STORY(story_connections) {
	CUstream stream[9];

	open_gpu(0);
	board();
	for (int i = 0; i < 9; i++) {
		stream[i] = stream_new();
		must(gated(stream[i], &sh->word[i], 1));
	}
	store(&sh->word[8], 1);
	if (getenv("CUDA_DEVICE_MAX_CONNECTIONS")) {
		must(stream_synchronize(stream[8]));
		return;
	}
	for (int i = 1; i < 8; i++) {
		store(&sh->word[i], 1);
		must(stream_synchronize(stream[i]));
	}
	sh->got[0] = cu.cuStreamQuery(stream[8]);
	store(&sh->word[0], 1);
	must(stream_synchronize(stream[8]));
}

HOLDS("a ninth gated stream waits behind the first, but not with 32 connections") {
	story("", 1, story_connections);
	t_eq_int(sh->got[0], CUDA_ERROR_NOT_READY);
	story("CUDA_DEVICE_MAX_CONNECTIONS=32", 1, story_connections);
}

STORY(story_cyclic) {
	CUstream stream;

	open_gpu(0);
	board();
	stream = stream_new();
	store(&sh->gate, UINT32_MAX);
	must(gated(stream, &sh->gate, 2));
	sh->got[0] = cu.cuStreamQuery(stream);
	store(&sh->gate, 1);
	sh->got[1] = cu.cuStreamQuery(stream);
	store(&sh->gate, 2 + (1u << 30));
	must(cu.cuStreamWriteValue32(stream, board_at(&sh->word[0]), 77, 0));
	must(stream_synchronize(stream));
	sh->got[2] = sh->word[0];
	sh->got[3] = cu.cuStreamWaitValue32(stream, board_at(&sh->gate) + 1, 0, 0);
	sh->got[4] = cu.cuStreamWaitValue32(stream, (uintptr_t)&stream, 0, 0);
}

HOLDS("a gate compares cyclically, on registered words alone") {
	story("", 1, story_cyclic);
	t_got(CUDA_ERROR_NOT_READY, CUDA_ERROR_NOT_READY, 77,
	      CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
}

STORY(story_events) {
	CUevent a, b, untimed;
	CUstream stream;
	float ms;

	open_gpu(0);
	board();
	stream = stream_new();
	must(cu.cuEventCreate(&a, 0));
	must(cu.cuEventCreate(&b, 0));
	must(cu.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
	must(cu.cuEventQuery(a));
	sh->got[0] = cu.cuEventElapsedTime(&ms, a, b);
	must(cu.cuEventRecord(a, stream));
	must(cu.cuEventRecord(untimed, stream));
	must(gated(stream, &sh->gate, 1));
	must(cu.cuEventRecord(b, stream));
	sh->got[1] = cu.cuEventQuery(b);
	sh->got[2] = cu.cuEventElapsedTime(&ms, a, b);
	sh->got[3] = cu.cuEventElapsedTime(&ms, a, untimed);
	store(&sh->gate, 1);
	must(stream_synchronize(stream));
	must(cu.cuEventElapsedTime(&ms, a, b));
	must(cu.cuEventRecord(b, stream));
	must(cu.cuEventDestroy(b));
	sh->got[4] = cu.cuEventQuery(b);
}

HOLDS("events tell pending, untimed and destroyed apart") {
	story("", 1, story_events);
	t_got(CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_NOT_READY, CUDA_ERROR_NOT_READY,
	      CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE);
}

/* ---- faults ---- */

/* Three allocations, then a copy and its end. */
STORY(story_faults) {
	CUdeviceptr at = 0;
	CUstream stream;

	open_gpu(0);
	stream = stream_new();
	for (int i = 0; i < 3; i++)
		sh->got[i] = cu.cuMemAlloc(&at, BYTES);
	sh->got[3] = cu.cuMemcpyAsync(at, at + 64, 64, stream);
	sh->got[4] = stream_synchronize(stream);
	sh->got[5] = cu.cuMemFree(at);
}

#define faults_are(environment, ...) \
	(story(environment, 1, story_faults), t_got(__VA_ARGS__))

HOLDS("the k-th call fails as asked, sticky errors for ever") {
	faults_are("FAKE_FAIL=cuMemAlloc:2,cuMemFree:1=1", 0, 999, 0, 0, 0, 1);
	faults_are("FAKE_FAIL=cuMemAlloc:3=719", 0, 0, 719, 719, 719, 719);
	faults_are("FAKE_FAULT=cuMemcpyAsync:1=700", 0, 0, 0, 0, 700, 700);
	faults_are("FAKE_FAIL=cuMemAlloc:2 FAKE_FAIL_RANK=1", 0, 0, 0, 0, 0, 0);
	faults_are("FAKE_FAIL=cuMemAlloc:2 FAKE_FAIL_RANK=1 OMPI_COMM_WORLD_RANK=1",
		   0, 999, 0, 0, 0, 0);
}

static CUresult make_alloc(struct call *c)
{
	return cu.cuMemAlloc(&c->at, BYTES);
}

STORY(story_hang) {
	struct call c = { .make = make_alloc }, d = { .make = make_synchronize };
	CUdeviceptr at;

	c.ctx = d.ctx = open_gpu(0);
	at = device_memory();
	call_start(&c);
	sh->got[0] = call_sleeps(&c);
	must(cu.cuMemcpyAsync(at, at + 64, 64, stream_new()));
	call_start(&d);
	sh->got[1] = call_sleeps(&d);
}

HOLDS("a call and an operation that must hang, hang") {
	story("FAKE_HANG=cuMemAlloc:2 FAKE_FAULT=cuMemcpyAsync:1=0", 1, story_hang);
	t_got(1, 1);
}

STORY(story_ipc) {
	CUipcMemHandle handle = { { 0 } };
	CUdeviceptr at;

	open_gpu(who);
	at = device_memory();
	sh->got[who] = cu.cuIpcGetMemHandle(&sh->handle[who], at);
	meet(0);
	sh->got[2 + who] = cu.cuIpcOpenMemHandle(&at, sh->handle[!who], 1);
	sh->got[4 + who] = cu.cuIpcOpenMemHandle(&at, handle, 1);
	meet(1);
}

HOLDS("CUDA IPC is refused as asked") {
	story("FAKE_IPC_REFUSE=801", 2, story_ipc);
	t_eq_int(sh->got[2], CUDA_ERROR_NOT_SUPPORTED);
	t_eq_int(sh->got[4], CUDA_ERROR_INVALID_VALUE);
	story("FAKE_NO_PEER=1-0", 2, story_ipc);
	t_eq_int(sh->got[2], CUDA_SUCCESS);
	t_eq_int(sh->got[3], CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
	story("FAKE_NO_IPC=1", 2, story_ipc);
	t_eq_int(sh->got[0], CUDA_ERROR_NOT_SUPPORTED);
	t_eq_int(sh->got[2], CUDA_ERROR_INVALID_VALUE);
}

/* ---- memory apart from its addresses ---- */

#define GRAIN ((size_t)2 << 20)

static CUmemAllocationProp shareable(int device)
{
	return (CUmemAllocationProp){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device },
	};
}

static CUresult allow(CUdeviceptr at, int device)
{
	CUmemAccessDesc access = {
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	return cu.cuMemSetAccess(at, GRAIN, &access, 1);
}

static CUresult copy_now(CUstream stream, CUdeviceptr to, CUdeviceptr from)
{
	CUresult code = cu.cuMemcpyAsync(to, from, 64, stream);

	return code ? code : stream_synchronize(stream);
}

STORY(story_vmm) {
	CUmemAllocationProp prop = shareable(0);
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at, usual;
	size_t before, after, total, grain;
	CUstream stream;

	open_gpu(0);
	stream = stream_new();
	usual = device_memory();
	must(cu.cuMemGetInfo(&before, &total));
	must(cu.cuMemGetAllocationGranularity(&grain, &prop, 0));
	sh->got[0] = (int64_t)grain;
	sh->got[1] = cu.cuMemCreate(&handle, GRAIN + 4096, &prop, 0);
	must(cu.cuMemCreate(&handle, GRAIN, &prop, 0));
	must(cu.cuMemAddressReserve(&at, GRAIN, 0, 0, 0));
	sh->got[2] = cu.cuMemMap(at + GRAIN, GRAIN, 0, handle, 0);
	must(cu.cuMemMap(at, GRAIN, 0, handle, 0));
	sh->got[3] = cu.cuMemMap(at, GRAIN, 0, handle, 0);
	sh->got[4] = copy_now(stream, at, usual);
	sh->got[5] = allow(at, 7);
	must(allow(at, 0));
	sh->got[6] = copy_now(stream, at, usual);
	sh->got[7] = cu.cuMemAddressFree(at, GRAIN);
	must(cu.cuMemRelease(handle));
	sh->got[8] = cu.cuMemRelease(handle);
	must(cu.cuMemGetInfo(&after, &total));
	sh->got[9] = (int64_t)(before - after);
	sh->got[10] = cu.cuMemUnmap(at, GRAIN / 2);
	must(cu.cuMemUnmap(at, GRAIN));
	sh->got[11] = cu.cuMemUnmap(at, GRAIN);
	sh->got[12] = copy_now(stream, at, usual);
	must(cu.cuMemAddressFree(at, GRAIN));
	sh->got[13] = cu.cuMemAddressFree(at, GRAIN);
	must(cu.cuMemGetInfo(&after, &total));
	sh->got[14] = (int64_t)(before - after);
}

HOLDS("memory is mapped once, used by whom it is allowed, and counted until all of "
      "it is given back") {
	story("", 1, story_vmm);
	t_got(GRAIN, 1, 1, 1, 1, CUDA_ERROR_INVALID_DEVICE, 0, 1, 1, GRAIN, 1, 1, 1,
	      1, 0);
}

/* Within one process, as the driver allows: by two descriptors, or none. */
STORY(story_descriptor) {
	CUmemAllocationProp prop = shareable(0);
	CUmemGenericAllocationHandle handle, again;
	CUdeviceptr at, usual;
	char path[64], text[64] = "";
	CUstream stream;
	int fd, copy;

	open_gpu(0);
	stream = stream_new();
	usual = device_memory();
	must(cu.cuMemCreate(&handle, GRAIN, &prop, 0));
	must(cu.cuMemExportToShareableHandle(&fd, handle,
					     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					     0));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	sh->got[0] = open(path, O_RDWR);
	copy = dup(fd);
	close(fd);
	sh->got[1] = cu.cuMemImportFromShareableHandle(
		&again, (void *)(uintptr_t)STDERR_FILENO,
		CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	for (int i = 0; i < 2; i++) { /* it is not used up */
		must(cu.cuMemImportFromShareableHandle(
			&again, (void *)(uintptr_t)copy,
			CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
		must(cu.cuMemAddressReserve(&at, GRAIN, 0, 0, 0));
		must(cu.cuMemMap(at, GRAIN, 0, again, 0));
		must(cu.cuMemRelease(again));
		must(allow(at, 0));
		if (!i) {
			must(cu.cuMemcpyAsync(usual, (uintptr_t)"hello", 6, stream));
			must(cu.cuMemcpyAsync(at, usual, 6, stream));
		} else {
			must(cu.cuMemcpyAsync((uintptr_t)text, at, 6, stream));
		}
		must(stream_synchronize(stream));
	}
	sh->got[2] = strcmp(text, "hello");
	must(cu.cuMemRelease(handle));
}

HOLDS("a descriptor opens its memory as often as asked, but not through /proc, and "
      "no other does") {
	story("", 1, story_descriptor);
	t_got(-1, CUDA_ERROR_INVALID_VALUE, 0);
}

STORY(story_no_vmm) {
	CUmemAllocationProp prop = shareable(0);
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;
	int yes = 1;

	open_gpu(0);
	must(cu.cuDeviceGetAttribute(
		&yes, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
	sh->got[0] = yes;
	sh->got[1] = cu.cuMemCreate(&handle, GRAIN, &prop, 0);
	sh->got[2] = cu.cuMemAddressReserve(&at, GRAIN, 0, 0, 0);
}

HOLDS("there is no such memory where that is asked") {
	story("FAKE_NO_VMM=1", 1, story_no_vmm);
	t_got(0, CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
}

/* ---- cuMemcpyPeerAsync ---- */

static double timed_peer_copy(struct timed *t, CUdeviceptr to, CUcontext to_ctx,
			      CUdeviceptr from, CUcontext from_ctx)
{
	must(cu.cuEventRecord(t->start, t->stream));
	must(cu.cuMemcpyPeerAsync(to + BYTES, to_ctx, from, from_ctx, BYTES,
				  t->stream));
	must(cu.cuEventRecord(t->end, t->stream));
	return timed_end(t);
}

STORY(story_peer_copy) {
	CUcontext one, zero;
	CUdeviceptr to, from;
	struct timed t = { NULL, NULL, NULL };

	one = open_gpu(1);
	to = arena_new();
	zero = open_gpu(0);
	from = arena_new();
	timed_copy(&t, from, from);
	timed_peer_copy(&t, to, one, from, zero); /* the first one is slow */
	sh->ms[0] = timed_peer_copy(&t, to, one, from, zero);
	must(cu.cuCtxEnablePeerAccess(one, 0));
	sh->ms[1] = timed_peer_copy(&t, to, one, from, zero);
	sh->got[0] = cu.cuMemcpyPeerAsync(to, zero, from, zero, 64, t.stream);
	sh->got[1] = cu.cuMemcpyPeerAsync(to, NULL, from, zero, 64, t.stream);
}

HOLDS("cuMemcpyPeerAsync is staged until peer access is enabled, and wants the right "
      "contexts") {
	story("FAKE_STAGED_GBS=20", 1, story_peer_copy);
	t_took(ms_at(20), ms_at(395.97));
	t_got(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_CONTEXT);
}
