/* test_um.c - managed memory of the fake driver: that pages are where it says, and
 * take the time that tests/fake/README.md says. */
#include "config.h"

#include "story.h"

#define PAGE 4096u
#define MIB ((size_t)1 << 20)
#define PAGES_MOST 4096

static PFN_cuMemAllocManaged_v6000 alloc_managed;
static CUresult (*prefetch_old)(CUdeviceptr, size_t, CUdevice, CUstream);
static CUresult (*prefetch_new)(CUdeviceptr, size_t, CUmemLocation, unsigned,
				CUstream);
static CUresult (*advise_old)(CUdeviceptr, size_t, CUmem_advise, CUdevice);
static PFN_cuMemRangeGetAttribute_v8000 range_attribute;

static int find(const char *name, int version, void *to)
{
	PFN_cuGetProcAddress_v12000 look_up;
	CUdriverProcAddressQueryResult found;
	char path[4096];
	void *entry;

	snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	entry = dlsym(dlopen(path, RTLD_NOW | RTLD_LOCAL), "cuGetProcAddress_v2");
	memcpy(&look_up, &entry, sizeof(look_up));
	must(look_up(name, &entry, version, 0, &found));
	memcpy(to, &entry, sizeof(entry));
	return found == CU_GET_PROC_ADDRESS_SUCCESS;
}

static void find_all(void)
{
	find("cuMemAllocManaged", 6000, &alloc_managed);
	find("cuMemPrefetchAsync", 8000, &prefetch_old);
	find("cuMemPrefetchAsync", 12020, &prefetch_new);
	find("cuMemAdvise", 8000, &advise_old);
	find("cuMemRangeGetAttribute", 8000, &range_attribute);
}

static uint64_t *managed(size_t bytes)
{
	CUdeviceptr at;

	find_all();
	must(alloc_managed(&at, bytes, CU_MEM_ATTACH_GLOBAL));
	return (uint64_t *)(uintptr_t)at;
}

static CUdeviceptr at_of(const void *p)
{
	return (uintptr_t)p;
}

/* Pages that are in memory of the host, as the kernel has it. */
static int pages_home(const void *at, size_t bytes)
{
	static void *page[PAGES_MOST];
	static int node[PAGES_MOST];
	size_t n = bytes / PAGE, home = 0;

	for (size_t i = 0; i < n; i++)
		page[i] = (char *)(uintptr_t)at + i * PAGE;
	if (syscall(SYS_move_pages, 0, n, page, NULL, node, 0))
		_exit(3);
	for (size_t i = 0; i < n; i++)
		home += node[i] >= 0;
	return (int)home;
}

/* Milliseconds of the device's clock for what `work` enqueues. */
static double ms_of(CUstream stream, void (*work)(CUstream, void *), void *arg)
{
	CUevent start, end;
	float ms = -1;

	must(cu.cuEventCreate(&start, 0));
	must(cu.cuEventCreate(&end, 0));
	must(cu.cuEventRecord(start, stream));
	work(stream, arg);
	must(cu.cuEventRecord(end, stream));
	must(stream_synchronize(stream));
	must(cu.cuEventElapsedTime(&ms, start, end));
	return ms;
}

struct move {
	void *at;
	size_t bytes;
	CUdevice to;
};

static void work_prefetch(CUstream stream, void *arg)
{
	const struct move *m = arg;

	must(prefetch_old(at_of(m->at), m->bytes, m->to, stream));
}

static double ms_prefetch(CUstream stream, void *at, size_t bytes, CUdevice to)
{
	return ms_of(stream, work_prefetch, &(struct move){ at, bytes, to });
}

static void work_fill(CUstream stream, void *arg)
{
	const struct move *m = arg;

	launch("cs_k_fill",
	       &(struct cs_k_fill){ at_of(m->at), m->bytes / 8, 7, 1, 1 }, stream);
}

static double ms_fill(CUstream stream, void *at, size_t bytes)
{
	return ms_of(stream, work_fill, &(struct move){ at, bytes, 0 });
}

/* ---- the interface ---- */

static void story_versions(int who)
{
	void *old, *new, *same;

	(void)who;
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

static void versions(void)
{
	story("", 1, story_versions);
	t_eq_int(sh->got[0], 0);
	for (int i = 1; i < 9; i++)
		t_eq_int(sh->got[i], 1);
	story("FAKE_CUDA=12.1", 1, story_versions);
	t_eq_int(sh->got[3], 0); /* the new one is not there: the old one comes */
	t_eq_int(sh->got[6], 0);
}

static void story_attributes(int who)
{
	static const CUdevice_attribute which[] = { 83, 88, 89, 100, 101 };
	CUdeviceptr at;
	int value;

	(void)who;
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

static void attributes(void)
{
	story("", 1, story_attributes);
	t_eq_int(sh->got[0], 1);
	t_eq_int(sh->got[1], 0);
	t_eq_int(sh->got[2], 1);
	t_eq_int(sh->got[3], 0);
	t_eq_int(sh->got[4], 0);
	t_eq_int(sh->got[5], CUDA_SUCCESS);
	t_eq_int(sh->got[6], CUDA_SUCCESS);
	story("FAKE_MANAGED=0 FAKE_PAGEABLE=2", 1, story_attributes);
	t_eq_int(sh->got[0], 0);
	t_eq_int(sh->got[1], 1);
	t_eq_int(sh->got[3], 1);
	t_eq_int(sh->got[4], 1);
	t_eq_int(sh->got[5], CUDA_ERROR_NOT_SUPPORTED);
	story("FAKE_CONCURRENT=0", 1, story_attributes);
	t_eq_int(sh->got[2], 0);
	t_eq_int(sh->got[6], CUDA_ERROR_INVALID_DEVICE);
}

static void story_refusals(int who)
{
	CUmemLocation wild = { .id = 9 };
	CUdeviceptr at;
	CUstream stream;
	int value;

	(void)who;
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

static void refusals(void)
{
	story("", 1, story_refusals);
	for (int i = 0; i < 12; i++)
		t_eq_int(sh->got[i], i == 4 ? CUDA_ERROR_INVALID_DEVICE :
				     i == 7 ? CUDA_ERROR_INVALID_HANDLE :
					      CUDA_ERROR_INVALID_VALUE);
}

/* ---- where pages are ---- */

static void story_places(int who)
{
	CUstream stream;
	uint64_t *p;

	(void)who;
	open_gpu(0);
	stream = stream_new();
	p = managed(4 * MIB);
	sh->got[0] = pages_home(p, 4 * MIB);
	for (size_t i = 0; i < 4 * MIB / 8; i++)
		p[i] = i;
	sh->got[1] = pages_home(p, 4 * MIB);
	ms_prefetch(stream, p, 2 * MIB, 0);
	sh->got[2] = pages_home(p, 4 * MIB);
	ms_prefetch(stream, p, 4 * MIB, 1);
	sh->got[3] = pages_home(p, 4 * MIB);
	p[100]++; /* its 64 KiB come */
	sh->got[4] = pages_home(p, 4 * MIB);
	ms_prefetch(stream, p, 4 * MIB, CU_DEVICE_CPU);
	sh->got[5] = pages_home(p, 4 * MIB);
	for (size_t i = 0; i < 4 * MIB / 8; i++)
		sh->got[6] += p[i] != i + (i == 100);
	ms_fill(stream, p, 4 * MIB);
	sh->got[7] = pages_home(p, 4 * MIB);
	for (size_t i = 0; i < 4 * MIB / 8; i++)
		sh->got[8] += p[i] != cs_fill_word(7, i);
	sh->got[9] = pages_home(p, 4 * MIB);
}

static void places(void)
{
	static const int want[] = { 0, 1024, 512, 0, 16, 1024, 0, 0, 0, 1024 };

	story("", 1, story_places);
	for (int i = 0; i < 10; i++)
		t_eq_int(sh->got[i], want[i]);
}

/* ---- time ---- */

static void story_times(int who)
{
	CUstream stream;
	uint64_t *p;

	(void)who;
	open_gpu(0);
	stream = stream_new();
	p = managed(8 * MIB);
	memset(p, 1, 8 * MIB);
	for (int i = 0; i < 2; i++) { /* the first of each way takes twice as long */
		sh->ms[0] = ms_prefetch(stream, p, 8 * MIB, 0);
		sh->ms[1] = ms_prefetch(stream, p, 8 * MIB, 0);
		sh->ms[2] = ms_prefetch(stream, p, 8 * MIB, 1);
		sh->ms[3] = ms_prefetch(stream, p, 8 * MIB, CU_DEVICE_CPU);
	}
	sh->ms[4] = ms_fill(stream, p, 8 * MIB); /* once, for the fill's own first */
	sh->ms[4] = ms_fill(stream, p, 8 * MIB);
	ms_prefetch(stream, p, 8 * MIB, CU_DEVICE_CPU);
	sh->ms[5] = ms_fill(stream, p, 8 * MIB);
	ms_prefetch(stream, p, 8 * MIB, 1);
	sh->ms[6] = ms_fill(stream, p, 8 * MIB);
}

#define t_ms_less(got, want) t_near(got, want, 1e-6) /* of two floats */
#define MS(bytes, rate) ((double)(bytes) / (rate) / 1e6)

/* Faults that bring a range: 6 for each 2 MiB, of which half comes by density. */
static void times(void)
{
	story("", 1, story_times);
	t_ms(sh->ms[0], 2.7e-3 + MS(8 * MIB, 48));
	t_ms(sh->ms[1], 5e-3);
	t_ms(sh->ms[2], 2.7e-3 + MS(8 * MIB, 148 * 395.97 / 396));
	t_ms(sh->ms[3], 2.7e-3 + MS(8 * MIB, 18 * 55.3 / 55.2));
	t_ms_less(sh->ms[5] - sh->ms[4], 4 * 6 * 20e-3 + MS(8 * MIB, 48));
	t_ms_less(sh->ms[6] - sh->ms[4],
		  4 * 6 * 20e-3 + MS(8 * MIB, 148 * 396.1 / 396));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "calls are found by version; what a driver lacks it has in its old "
		  "form",
		  versions },
		{ "attributes and calls are as they are told to be", attributes },
		{ "it refuses what the driver refuses", refusals },
		{ "pages are where they were sent and touched, as move_pages has it, and "
		  "keep their contents",
		  places },
		{ "prefetches and faults take the time of their direction", times },
		{ NULL, NULL }
	};

	folder = getenv("FAKE");
	if (!folder) {
		puts("1..0 # SKIP no fake driver: the variable FAKE is not set");
		return 0;
	}
	return tap_main("um", make_board, NULL, tests);
}
