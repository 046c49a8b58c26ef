/* managed.c - the driver's calls for managed memory; um.c has its pages. */
#include "fake.h"

#include <sys/syscall.h>
#include <unistd.h>

#define NODES 1024

CUresult fake_mem_alloc_managed(CUdeviceptr *at, size_t bytes, unsigned flags)
{
	uint64_t made = 0;
	CUresult code;

	ENTER(cuMemAllocManaged, FAKE_CTX);
	fake_cpu_bytes(bytes);
	if (!fake.managed)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!at || !bytes ||
	    (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	fake_um_catch();
	code = fake_memory_manage(&made, bytes);
	*at = made;
	return code;
}

/* Memory of malloc becomes so when it is first asked for. */
static int is_managed(uint64_t at, uint64_t bytes)
{
	const struct fake_memory *m;
	CUresult code;
	int is;

	if (!bytes)
		return 0;
	fake_memory_lock();
	m = fake_memory_find(at, bytes, &code);
	is = m && m->um;
	fake_memory_unlock();
	if (m || code || !fake.pageable_access)
		return is;
	fake_um_catch();
	return !fake_memory_adopt(at, bytes);
}

/* The GPU, or FAKE_HOST and its NUMA node, -1 any, that a location names. */
static CUresult find_location(CUmemLocation location, int *gpu, int *numa)
{
	unsigned node = 0;

	*gpu = FAKE_HOST;
	*numa = -1;
	switch ((int)location.type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		*gpu = fake_gpu_of(location.id);
		return *gpu < 0 || !fake.concurrent ? CUDA_ERROR_INVALID_DEVICE :
						      CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
		*numa = location.id;
		return location.id < 0 || location.id >= NODES ?
			       CUDA_ERROR_INVALID_VALUE :
			       CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		syscall(SYS_getcpu, NULL, &node, NULL);
		*numa = (int)node;
		return CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST:
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUmemLocation location_of(CUdevice device)
{
	CUmemLocation location = { .id = device };

	location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST :
						  CU_MEM_LOCATION_TYPE_DEVICE;
	return location;
}

/* ---- prefetch ---- */

static CUresult prefetch(CUdeviceptr at, size_t bytes, CUmemLocation location,
			 CUstream stream)
{
	int gpu, numa;
	CUresult code = find_location(location, &gpu, &numa);

	if (!code && !fake.concurrent)
		code = CUDA_ERROR_INVALID_DEVICE;
	if (!code && !is_managed(at, bytes))
		code = CUDA_ERROR_INVALID_VALUE;
	return code ? code : fake_prefetch(stream, at, bytes, gpu, numa);
}

CUresult fake_mem_prefetch(CUdeviceptr at, size_t bytes, CUdevice device,
			   CUstream stream)
{
	ENTER(cuMemPrefetchAsync, FAKE_CTX);
	return prefetch(at, bytes, location_of(device), stream);
}

CUresult fake_mem_prefetch_numa(CUdeviceptr at, size_t bytes, CUmemLocation location,
				unsigned flags, CUstream stream)
{
	ENTER(cuMemPrefetchAsync, FAKE_CTX);
	return flags ? CUDA_ERROR_INVALID_VALUE :
		       prefetch(at, bytes, location, stream);
}

/* ---- advice ---- */

static CUresult advise(CUdeviceptr at, size_t bytes, CUmem_advise advice,
		       CUmemLocation location)
{
	CUresult code = CUDA_SUCCESS;
	int gpu = FAKE_HOST, numa;

	if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
	    advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
		return CUDA_ERROR_INVALID_VALUE;
	if (advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
	    advice >= CU_MEM_ADVISE_SET_ACCESSED_BY)
		code = find_location(location, &gpu, &numa);
	if (!code && !is_managed(at, bytes))
		code = CUDA_ERROR_INVALID_VALUE;
	if (code)
		return code;
	fake_memory_lock();
	fake_um_advise(at, bytes, advice, gpu);
	fake_memory_unlock();
	return CUDA_SUCCESS;
}

CUresult fake_mem_advise(CUdeviceptr at, size_t bytes, CUmem_advise advice,
			 CUdevice device)
{
	ENTER(cuMemAdvise, FAKE_CTX);
	return advise(at, bytes, advice, location_of(device));
}

CUresult fake_mem_advise_numa(CUdeviceptr at, size_t bytes, CUmem_advise advice,
			      CUmemLocation location)
{
	ENTER(cuMemAdvise, FAKE_CTX);
	return advise(at, bytes, advice, location);
}

/* ---- what is known ---- */

static int device_at(int place)
{
	if (place == FAKE_UM_NOWHERE)
		return CU_DEVICE_INVALID;
	return place == FAKE_UM_HOME ? CU_DEVICE_CPU : fake_device_of(place);
}

/* Those that all pages were advised of, then none. */
static void list_users(uint32_t accessed_by, int *device, size_t n)
{
	size_t found = 0;

	for (int place = 0; place <= FAKE_UM_HOME && found < n; place++)
		if (accessed_by >> place & 1)
			device[found++] = device_at(place);
	while (found < n)
		device[found++] = CU_DEVICE_INVALID;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute which,
				CUdeviceptr at, size_t bytes)
{
	struct fake_um_advised all;

	ENTER(cuMemRangeGetAttribute, FAKE_CTX);
	if (!data || size < sizeof(int) || size % sizeof(int) ||
	    !is_managed(at, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	fake_memory_lock();
	all = fake_um_advised(at, bytes);
	fake_memory_unlock();
	switch (which) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		*(int *)data = all.read_mostly;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		*(int *)data = device_at(all.preferred);
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		list_users(all.accessed_by, data, size / sizeof(int));
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		*(int *)data = device_at(all.prefetched);
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}
