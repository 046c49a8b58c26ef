/* managed.h - stories about managed memory: where its pages are, and what moving them
 * takes. */
#ifndef CS_TESTS_MANAGED_H
#define CS_TESTS_MANAGED_H

#include "story.h"

#define PAGE 4096u
#define MIB ((size_t)1 << 20)
#define PAGES_MOST 4096

static CUresult (*alloc_managed)(CUdeviceptr *, size_t, unsigned);
static CUresult (*prefetch_old)(CUdeviceptr, size_t, CUdevice, CUstream);
static CUresult (*prefetch_new)(CUdeviceptr, size_t, CUmemLocation, unsigned,
				CUstream);
static CUresult (*advise_old)(CUdeviceptr, size_t, CUmem_advise, CUdevice);
static CUresult (*range_attribute)(void *, size_t, CUmem_range_attribute, CUdeviceptr,
				   size_t);

/* Of a story: a stream of its GPU, and its managed memory. */
static CUstream stream;
static uint64_t *p;

static inline int find(const char *name, int version, void *to)
{
	cs_driver_find_fn look_up;
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

static inline void find_all(void)
{
	find("cuMemAllocManaged", 6000, &alloc_managed);
	find("cuMemPrefetchAsync", 8000, &prefetch_old);
	find("cuMemPrefetchAsync", 12020, &prefetch_new);
	find("cuMemAdvise", 8000, &advise_old);
	find("cuMemRangeGetAttribute", 8000, &range_attribute);
}

static inline uint64_t *managed(size_t bytes)
{
	CUdeviceptr at;

	find_all();
	must(alloc_managed(&at, bytes, CU_MEM_ATTACH_GLOBAL));
	return (uint64_t *)(uintptr_t)at;
}

static inline void begin(size_t bytes)
{
	open_gpu(0);
	stream = stream_new();
	p = managed(bytes);
}

static inline CUdeviceptr at_of(const void *at)
{
	return (uintptr_t)at;
}

/* Pages that are in memory of the host, as the kernel has it. */
static inline int pages_home(const void *at, size_t bytes)
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
static inline double ms_of(void (*work)(void *), void *arg)
{
	CUevent start, end;
	float ms = -1;

	must(cu.cuEventCreate(&start, 0));
	must(cu.cuEventCreate(&end, 0));
	must(cu.cuEventRecord(start, stream));
	work(arg);
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

static inline void work_prefetch(void *arg)
{
	const struct move *m = arg;

	must(prefetch_old(at_of(m->at), m->bytes, m->to, stream));
}

static inline double ms_prefetch(void *at, size_t bytes, CUdevice to)
{
	return ms_of(work_prefetch, &(struct move){ at, bytes, to });
}

static inline void work_fill(void *arg)
{
	const struct move *m = arg;

	launch("cs_k_fill",
	       &(struct cs_k_fill){ at_of(m->at), m->bytes / 8, 7, 1, 1 }, stream);
}

static inline double ms_fill(void *at, size_t bytes)
{
	return ms_of(work_fill, &(struct move){ at, bytes, 0 });
}

/* Of a GPU that are taken. */
static inline uint64_t available(void)
{
	size_t left, total;

	must(cu.cuMemGetInfo(&left, &total));
	return total - left;
}

#define t_ms_less(got, want) t_near(got, want, 1e-6) /* of two floats */
#define MS(bytes, rate) ((double)(bytes) / (rate) / 1e6)

/* A fill of what is there takes that long. */
#define FILLED (2.7e-3 + MS(2 * MIB, 4000 * (1 - 0.01 * LOG_OF_GRID)))
#define LOG_OF_GRID 7.459431618637297 /* log2(132 * 1024 / (3 * 256)) */

#endif
