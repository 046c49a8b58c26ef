/* driver.h - the CUDA driver library, opened at run time.
 *
 * The program starts with or without a driver, and the tests put a double in
 * its place.  For src/backend/cuda/ only: nothing else sees cuda.h. */
#ifndef CS_BACKEND_CUDA_DRIVER_H
#define CS_BACKEND_CUDA_DRIVER_H

#include <stdint.h>

#include <cuda.h>
#include <cudaTypedefs.h>

#include "base/call.h"
#include "base/err.h"

/* Every function in use, with the CUDA version that brought this signature: the
 * number behind its PFN_ typedef.  cuda.h defines many of the names as macros
 * (cuMemAlloc is cuMemAlloc_v2 to the compiler), so `name` must be given to #
 * and ## directly, never through a second macro.  Stream functions have the
 * plain typedefs: those of 7000 mean the per-thread default stream. */
#define CS_DRIVER_CALLS(X)                                                     \
	X(cuInit, 2000)                                                        \
	X(cuDriverGetVersion, 2020)                                            \
	X(cuGetErrorName, 6000)                                                \
	X(cuDeviceGetCount, 2000)                                              \
	X(cuDeviceGet, 2000)                                                   \
	X(cuDeviceGetName, 2000)                                               \
	X(cuDeviceGetUuid, 11040)                                              \
	X(cuDeviceGetPCIBusId, 4010)                                           \
	X(cuDeviceGetAttribute, 2000)                                          \
	X(cuDeviceTotalMem, 3020)                                              \
	X(cuDevicePrimaryCtxSetFlags, 11000)                                   \
	X(cuDevicePrimaryCtxRetain, 7000)                                      \
	X(cuDevicePrimaryCtxRelease, 11000)                                    \
	X(cuCtxSetCurrent, 4000)                                               \
	X(cuDeviceCanAccessPeer, 4000)                                         \
	X(cuCtxEnablePeerAccess, 4000)                                         \
	X(cuCtxDisablePeerAccess, 4000)                                        \
	X(cuModuleLoadData, 2000)                                              \
	X(cuModuleGetFunction, 2000)                                           \
	X(cuModuleUnload, 2000)                                                \
	X(cuFuncSetAttribute, 9000)                                            \
	X(cuLaunchKernel, 4000)                                                \
	X(cuStreamCreate, 2000)                                                \
	X(cuStreamDestroy, 4000)                                               \
	X(cuStreamQuery, 2000)                                                 \
	X(cuStreamWaitValue32, 11070)                                          \
	X(cuStreamWriteValue32, 11070)                                         \
	X(cuEventCreate, 2000)                                                 \
	X(cuEventDestroy, 4000)                                                \
	X(cuEventRecord, 2000)                                                 \
	X(cuEventQuery, 2000)                                                  \
	X(cuEventElapsedTime, 2000)                                            \
	X(cuMemGetInfo, 3020)                                                  \
	X(cuMemAlloc, 3020)                                                    \
	X(cuMemFree, 3020)                                                     \
	X(cuMemHostAlloc, 2020)                                                \
	X(cuMemFreeHost, 2000)                                                 \
	X(cuMemHostRegister, 6050)                                             \
	X(cuMemHostUnregister, 4000)                                           \
	X(cuMemHostGetDevicePointer, 3020)                                     \
	X(cuMemcpyAsync, 4000)                                                 \
	X(cuMemcpyPeerAsync, 4000)                                             \
	X(cuMemcpy2DAsync, 3020)                                               \
	X(cuMemcpy3DAsync, 3020)                                               \
	X(cuMemcpy3DPeerAsync, 4000)                                           \
	X(cuMemGetAllocationGranularity, 10020)                                \
	X(cuMemCreate, 10020)                                                  \
	X(cuMemRelease, 10020)                                                 \
	X(cuMemAddressReserve, 10020)                                          \
	X(cuMemAddressFree, 10020)                                             \
	X(cuMemMap, 10020)                                                     \
	X(cuMemUnmap, 10020)                                                   \
	X(cuMemSetAccess, 10020)                                               \
	X(cuMemExportToShareableHandle, 10020)                                 \
	X(cuMemImportFromShareableHandle, 10020)                               \
	X(cuIpcGetMemHandle, 4010)                                             \
	X(cuIpcOpenMemHandle, 11000)                                           \
	X(cuIpcCloseMemHandle, 4010)

/* Functions that a driver may lack: what needs them is not measured then.  The name
 * here, that of the driver, the version, the type: some have two signatures, which headers
 * before CUDA 12.2 do not know both. */
#define CS_DRIVER_OPTIONAL(X)                                                  \
	X(mem_alloc_managed, "cuMemAllocManaged", 6000,                        \
	  PFN_cuMemAllocManaged_v6000)                                         \
	X(mem_prefetch, "cuMemPrefetchAsync", 8000,                            \
	  PFN_cuMemPrefetchAsync_v8000)                                        \
	X(mem_prefetch_numa, "cuMemPrefetchAsync", 12020, cs_prefetch_numa_fn) \
	X(mem_advise, "cuMemAdvise", 8000, PFN_cuMemAdvise_v8000)              \
	X(mem_advise_numa, "cuMemAdvise", 12020, cs_advise_numa_fn)            \
	X(stream_sync, "cuStreamSynchronize", 2000, PFN_cuStreamSynchronize_v2000) \
	X(event_sync, "cuEventSynchronize", 2000, PFN_cuEventSynchronize_v2000) \
	X(context_sync, "cuCtxSynchronize", 2000, PFN_cuCtxSynchronize_v2000)  \
	X(graph_create, "cuGraphCreate", 10000, PFN_cuGraphCreate_v10000)      \
	X(graph_destroy, "cuGraphDestroy", 10000, PFN_cuGraphDestroy_v10000)   \
	X(graph_add_kernel, "cuGraphAddKernelNode", 10000,                     \
	  PFN_cuGraphAddKernelNode_v10000)                                     \
	X(graph_instantiate, "cuGraphInstantiateWithFlags", 11040,             \
	  PFN_cuGraphInstantiateWithFlags_v11040)                              \
	X(graph_launch, "cuGraphLaunch", 10000, PFN_cuGraphLaunch_v10000)      \
	X(graph_exec_destroy, "cuGraphExecDestroy", 10000,                     \
	  PFN_cuGraphExecDestroy_v10000)                                       \
	X(alloc_async, "cuMemAllocAsync", 11020, PFN_cuMemAllocAsync_v11020)   \
	X(free_async, "cuMemFreeAsync", 11020, PFN_cuMemFreeAsync_v11020)      \
	X(memset_async, "cuMemsetD8Async", 3020, PFN_cuMemsetD8Async_v3020)

typedef CUresult(CUDAAPI *cs_prefetch_numa_fn)(CUdeviceptr at, size_t bytes,
					       CUmemLocation to, unsigned int flags,
					       CUstream stream);
typedef CUresult(CUDAAPI *cs_advise_numa_fn)(CUdeviceptr at, size_t bytes,
					     CUmem_advise advice, CUmemLocation of);

struct cs_driver {
#define CS_DRIVER_FIELD(name, version) PFN_##name##_v##version name;
	CS_DRIVER_CALLS(CS_DRIVER_FIELD)
#undef CS_DRIVER_FIELD
#define CS_DRIVER_FIELD(member, name, version, type) type member;
	CS_DRIVER_OPTIONAL(CS_DRIVER_FIELD)
#undef CS_DRIVER_FIELD
};

/* The functions, after cs_driver_load(): all of them, of the optional ones those that
 * there are, else NULL. */
extern struct cs_driver cs_cu;

/* Open libcuda.so.1, or the test double that the environment variable
 * CS_LIBCUDA names, and find every function that we need; the library then stays.  Calls
 * of the driver its look-up alone.  May be called again. */
int cs_driver_load(struct cs_err *err);
/* And those that a driver of that version may have besides. */
void cs_driver_extend(int version);
/* After that: is the library a double that keeps its own time? */
int cs_driver_clock_is_virtual(void);
/* … and the CPU's, in nanoseconds of the calling thread; NULL: it does not. */
uint64_t (*cs_driver_cpu_clock(void))(void);

/* 0 for CUDA_SUCCESS; else -1 and "call: CUDA_ERROR_NAME (code)" and a hint. */
int cs_driver_result(CUresult result, const char *call, struct cs_err *err);

/* Is the process of no more use after this error?  (Every further call of the
 * context, or of all contexts, returns it again.) */
int cs_driver_sticky(CUresult result);

/* Call a driver function, as cs_driver_result(): CS_CU(err, cuInit, 0). */
#define CS_CU(err, call, ...) \
	cs_driver_result(CS_NAMED_CALL(#call, call, __VA_ARGS__), #call, err)

/* Only the call: it has a name while it lasts. */
#define CS_CALL(call, ...) CS_NAMED_CALL(#call, call, __VA_ARGS__)
#define CS_NAMED_CALL(name, call, ...)                                         \
	({                                                                     \
		CUresult result_;                                              \
		cs_call_begin(name);                                           \
		result_ = cs_cu.call(__VA_ARGS__);                             \
		cs_call_end();                                                 \
		result_;                                                       \
	})

#endif
