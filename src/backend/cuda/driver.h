/* driver.h - the CUDA driver library, opened at run time.
 *
 * The program starts with or without a driver, and the tests put a double in
 * its place.  For src/backend/cuda/ only: nothing else knows the driver. */
#pragma once

#include <stdint.h>

#include "backend/cuda/abi.h"
#include "base/call.h"
#include "base/err.h"

/* The function that finds all others; it alone is found by its name in the library. */
#define CS_DRIVER_FIND "cuGetProcAddress_v2"
typedef CUresult (*cs_driver_find_fn)(const char *name, void **entry, int version,
				      uint64_t flags,
				      CUdriverProcAddressQueryResult *found);

/* Every function in use, the CUDA version that brought this signature, and what it
 * takes: the driver gives the one of that version. */
#define CS_DRIVER_CALLS(X) \
	X(cuInit, 2000, (unsigned flags)) \
	X(cuDriverGetVersion, 2020, (int *version)) \
	X(cuGetErrorName, 6000, (CUresult code, const char **name)) \
	X(cuDeviceGetCount, 2000, (int *count)) \
	X(cuDeviceGet, 2000, (CUdevice *device, int ordinal)) \
	X(cuDeviceGetName, 2000, (char *name, int room, CUdevice device)) \
	X(cuDeviceGetUuid, 11040, (CUuuid *uuid, CUdevice device)) \
	X(cuDeviceGetPCIBusId, 4010, (char *id, int room, CUdevice device)) \
	X(cuDeviceGetAttribute, 2000, \
	  (int *value, CUdevice_attribute which, CUdevice device)) \
	X(cuDeviceTotalMem, 3020, (size_t *bytes, CUdevice device)) \
	X(cuDevicePrimaryCtxSetFlags, 11000, \
	  (CUdevice device, unsigned flags)) \
	X(cuDevicePrimaryCtxRetain, 7000, \
	  (CUcontext *context, CUdevice device)) \
	X(cuDevicePrimaryCtxRelease, 11000, (CUdevice device)) \
	X(cuCtxSetCurrent, 4000, (CUcontext context)) \
	X(cuDeviceCanAccessPeer, 4000, \
	  (int *can, CUdevice device, CUdevice peer)) \
	X(cuCtxEnablePeerAccess, 4000, (CUcontext peer, unsigned flags)) \
	X(cuCtxDisablePeerAccess, 4000, (CUcontext peer)) \
	X(cuModuleLoadData, 2000, (CUmodule *module, const void *image)) \
	X(cuModuleGetFunction, 2000, \
	  (CUfunction *function, CUmodule module, const char *name)) \
	X(cuModuleUnload, 2000, (CUmodule module)) \
	X(cuFuncSetAttribute, 9000, \
	  (CUfunction function, CUfunction_attribute which, int value)) \
	X(cuLaunchKernel, 4000, \
	  (CUfunction function, unsigned grid_x, unsigned grid_y, \
	   unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, \
	   unsigned shared, CUstream stream, void **args, void **extra)) \
	X(cuStreamCreate, 2000, (CUstream *stream, unsigned flags)) \
	X(cuStreamDestroy, 4000, (CUstream stream)) \
	X(cuStreamQuery, 2000, (CUstream stream)) \
	X(cuStreamWaitValue32, 11070, \
	  (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags)) \
	X(cuStreamWriteValue32, 11070, \
	  (CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags)) \
	X(cuEventCreate, 2000, (CUevent *event, unsigned flags)) \
	X(cuEventDestroy, 4000, (CUevent event)) \
	X(cuEventRecord, 2000, (CUevent event, CUstream stream)) \
	X(cuEventQuery, 2000, (CUevent event)) \
	X(cuEventElapsedTime, 2000, (float *ms, CUevent start, CUevent end)) \
	X(cuMemGetInfo, 3020, (size_t *unused, size_t *total)) \
	X(cuMemAlloc, 3020, (CUdeviceptr *at, size_t bytes)) \
	X(cuMemFree, 3020, (CUdeviceptr at)) \
	X(cuMemHostAlloc, 2020, (void **at, size_t bytes, unsigned flags)) \
	X(cuMemFreeHost, 2000, (void *at)) \
	X(cuMemHostRegister, 6050, (void *at, size_t bytes, unsigned flags)) \
	X(cuMemHostUnregister, 4000, (void *at)) \
	X(cuMemHostGetDevicePointer, 3020, \
	  (CUdeviceptr *on_device, void *at, unsigned flags)) \
	X(cuMemcpyAsync, 4000, \
	  (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
	X(cuMemcpyPeerAsync, 4000, \
	  (CUdeviceptr dst, CUcontext of_dst, CUdeviceptr src, CUcontext of_src, \
	   size_t bytes, CUstream stream)) \
	X(cuMemcpy2DAsync, 3020, \
	  (const CUDA_MEMCPY2D *copy, CUstream stream)) \
	X(cuMemcpy3DAsync, 3020, \
	  (const CUDA_MEMCPY3D *copy, CUstream stream)) \
	X(cuMemcpy3DPeerAsync, 4000, \
	  (const CUDA_MEMCPY3D_PEER *copy, CUstream stream)) \
	X(cuMemGetAllocationGranularity, 10020, \
	  (size_t *bytes, const CUmemAllocationProp *what, \
	   CUmemAllocationGranularity_flags which)) \
	X(cuMemCreate, 10020, \
	  (CUmemGenericAllocationHandle *made, size_t bytes, \
	   const CUmemAllocationProp *what, unsigned long long flags)) \
	X(cuMemRelease, 10020, (CUmemGenericAllocationHandle memory)) \
	X(cuMemAddressReserve, 10020, \
	  (CUdeviceptr *at, size_t bytes, size_t alignment, CUdeviceptr wish, \
	   unsigned long long flags)) \
	X(cuMemAddressFree, 10020, (CUdeviceptr at, size_t bytes)) \
	X(cuMemMap, 10020, \
	  (CUdeviceptr at, size_t bytes, size_t offset, \
	   CUmemGenericAllocationHandle memory, unsigned long long flags)) \
	X(cuMemUnmap, 10020, (CUdeviceptr at, size_t bytes)) \
	X(cuMemSetAccess, 10020, \
	  (CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access, \
	   size_t count)) \
	X(cuMemExportToShareableHandle, 10020, \
	  (void *handle, CUmemGenericAllocationHandle memory, \
	   CUmemAllocationHandleType type, unsigned long long flags)) \
	X(cuMemImportFromShareableHandle, 10020, \
	  (CUmemGenericAllocationHandle *memory, void *handle, \
	   CUmemAllocationHandleType type)) \
	X(cuIpcGetMemHandle, 4010, (CUipcMemHandle *handle, CUdeviceptr at)) \
	X(cuIpcOpenMemHandle, 11000, \
	  (CUdeviceptr *at, CUipcMemHandle handle, unsigned flags)) \
	X(cuIpcCloseMemHandle, 4010, (CUdeviceptr at))

/* Functions that a driver may lack: what needs them is not measured then.  The name
 * here, that of the driver, the version, what it takes: some have two signatures. */
#define CS_DRIVER_OPTIONAL(X) \
	X(mem_alloc_managed, cuMemAllocManaged, 6000, \
	  (CUdeviceptr *at, size_t bytes, unsigned flags)) \
	X(mem_prefetch, cuMemPrefetchAsync, 8000, \
	  (CUdeviceptr at, size_t bytes, CUdevice to, CUstream stream)) \
	X(mem_prefetch_numa, cuMemPrefetchAsync, 12020, \
	  (CUdeviceptr at, size_t bytes, CUmemLocation to, unsigned flags, \
	   CUstream stream)) \
	X(mem_advise, cuMemAdvise, 8000, \
	  (CUdeviceptr at, size_t bytes, CUmem_advise advice, CUdevice of)) \
	X(mem_advise_numa, cuMemAdvise, 12020, \
	  (CUdeviceptr at, size_t bytes, CUmem_advise advice, CUmemLocation of)) \
	X(stream_sync, cuStreamSynchronize, 2000, (CUstream stream)) \
	X(event_sync, cuEventSynchronize, 2000, (CUevent event)) \
	X(context_sync, cuCtxSynchronize, 2000, (void)) \
	X(graph_create, cuGraphCreate, 10000, \
	  (CUgraph *graph, unsigned flags)) \
	X(graph_destroy, cuGraphDestroy, 10000, (CUgraph graph)) \
	X(graph_add_kernel, cuGraphAddKernelNode, 10000, \
	  (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, \
	   size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *launch)) \
	X(graph_instantiate, cuGraphInstantiateWithFlags, 11040, \
	  (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
	X(graph_launch, cuGraphLaunch, 10000, \
	  (CUgraphExec exec, CUstream stream)) \
	X(graph_exec_destroy, cuGraphExecDestroy, 10000, (CUgraphExec exec)) \
	X(alloc_async, cuMemAllocAsync, 11020, \
	  (CUdeviceptr *at, size_t bytes, CUstream stream)) \
	X(free_async, cuMemFreeAsync, 11020, \
	  (CUdeviceptr at, CUstream stream)) \
	X(memset_async, cuMemsetD8Async, 3020, \
	  (CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream))

struct cs_driver {
#define CS_DRIVER_FIELD(name, version, takes) CUresult(*name) takes;
	CS_DRIVER_CALLS(CS_DRIVER_FIELD)
#undef CS_DRIVER_FIELD
#define CS_DRIVER_FIELD(member, name, version, takes) CUresult(*member) takes;
	CS_DRIVER_OPTIONAL(CS_DRIVER_FIELD)
#undef CS_DRIVER_FIELD
};

/* The functions, after cs_driver_load(): all of them, of the optional ones those that
 * there are, else NULL. */
extern struct cs_driver cs_cu;

/* Open libcuda.so.1, or the test double that the environment variable
 * CS_LIBCUDA names, and find every function that we need; the library then stays.  Calls
 * of the driver its look-up alone.  *absent: there is no library.  May be called again. */
int cs_driver_load(int *absent, struct cs_err *err);
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
