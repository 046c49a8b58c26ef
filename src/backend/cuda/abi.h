/* abi.h - the types and constants of the CUDA driver's interface, for cuda/ and the
 * tests' double of the driver.
 *
 * Our own mirror, as system/nvml.h has one of NVML, so that a build needs no header of
 * NVIDIA's.  The interface is stable: names, values and layouts are those of every driver
 * since 12.0, and tests/abi.t compares them with cuda.h where there is one.  Only what is
 * used is here.  Names are the driver's, as its documents and other programs have them. */
#ifndef CS_BACKEND_CUDA_ABI_H
#define CS_BACKEND_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* ---- handles ---- */

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;

#define CU_DEVICE_CPU ((CUdevice)-1)
#define CU_DEVICE_INVALID ((CUdevice)-2)

/* ---- results ---- */

#define CS_CUDA_RESULTS(X)                               \
	X(CUDA_SUCCESS, 0)                               \
	X(CUDA_ERROR_INVALID_VALUE, 1)                   \
	X(CUDA_ERROR_OUT_OF_MEMORY, 2)                   \
	X(CUDA_ERROR_NOT_INITIALIZED, 3)                 \
	X(CUDA_ERROR_DEINITIALIZED, 4)                   \
	X(CUDA_ERROR_STUB_LIBRARY, 34)                   \
	X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)             \
	X(CUDA_ERROR_NO_DEVICE, 100)                     \
	X(CUDA_ERROR_INVALID_DEVICE, 101)                \
	X(CUDA_ERROR_INVALID_IMAGE, 200)                 \
	X(CUDA_ERROR_INVALID_CONTEXT, 201)               \
	X(CUDA_ERROR_MAP_FAILED, 205)                    \
	X(CUDA_ERROR_ALREADY_MAPPED, 208)                \
	X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)             \
	X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)             \
	X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)       \
	X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)          \
	X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)       \
	X(CUDA_ERROR_CONTAINED, 226)                     \
	X(CUDA_ERROR_OPERATING_SYSTEM, 304)              \
	X(CUDA_ERROR_INVALID_HANDLE, 400)                \
	X(CUDA_ERROR_NOT_FOUND, 500)                     \
	X(CUDA_ERROR_NOT_READY, 600)                     \
	X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)               \
	X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)       \
	X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                \
	X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)   \
	X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705)       \
	X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708)        \
	X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)          \
	X(CUDA_ERROR_ASSERT, 710)                        \
	X(CUDA_ERROR_TOO_MANY_PEERS, 711)                \
	X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712) \
	X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)    \
	X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)          \
	X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)           \
	X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)            \
	X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)         \
	X(CUDA_ERROR_INVALID_PC, 718)                    \
	X(CUDA_ERROR_LAUNCH_FAILED, 719)                 \
	X(CUDA_ERROR_NOT_PERMITTED, 800)                 \
	X(CUDA_ERROR_NOT_SUPPORTED, 801)                 \
	X(CUDA_ERROR_SYSTEM_NOT_READY, 802)              \
	X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)        \
	X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804) \
	X(CUDA_ERROR_MPS_CONNECTION_FAILED, 805)         \
	X(CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)         \
	X(CUDA_ERROR_UNKNOWN, 999)

typedef enum {
#define CS_RESULT(name, value) name = value,
	CS_CUDA_RESULTS(CS_RESULT)
#undef CS_RESULT
} CUresult;

/* ---- how functions are found ---- */

typedef enum {
	CU_GET_PROC_ADDRESS_SUCCESS = 0,
	CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
	CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
} CUdriverProcAddressQueryResult;

enum { CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1 };

/* ---- devices, contexts, functions ---- */

typedef struct {
	char bytes[16];
} CUuuid;

typedef enum {
	CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
	CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
	CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
	CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
	CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
	CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
	CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
	CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
	CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
	CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
	CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
	CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
	CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
	CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
	CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
	CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
	CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
	CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
	CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
	CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
	CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122,
	CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
	CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
	CU_DEVICE_ATTRIBUTE_NUMA_CONFIG = 130,
	CU_DEVICE_ATTRIBUTE_NUMA_ID = 131,
	CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
	CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134,
} CUdevice_attribute;

enum {
	CU_COMPUTEMODE_PROHIBITED = 2,
	CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};

enum {
	CU_CTX_SCHED_YIELD = 0x02,
	CU_CTX_FLAGS_MASK = 0xff,
};

typedef enum {
	CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
} CUfunction_attribute;

/* ---- streams and events ---- */

enum { CU_STREAM_NON_BLOCKING = 0x1 };

enum {
	CU_EVENT_DEFAULT = 0x0,
	CU_EVENT_DISABLE_TIMING = 0x2,
};

enum {
	CU_STREAM_WAIT_VALUE_GEQ = 0x0,
	CU_STREAM_WAIT_VALUE_EQ = 0x1,
	CU_STREAM_WAIT_VALUE_AND = 0x2,
	CU_STREAM_WAIT_VALUE_NOR = 0x3,
};

enum {
	CU_STREAM_WRITE_VALUE_DEFAULT = 0x0,
	CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 0x1,
};

/* ---- memory ---- */

#define CU_MEMHOSTALLOC_PORTABLE 0x01
#define CU_MEMHOSTALLOC_DEVICEMAP 0x02
#define CU_MEMHOSTALLOC_WRITECOMBINED 0x04
#define CU_MEMHOSTREGISTER_PORTABLE 0x01
#define CU_MEMHOSTREGISTER_DEVICEMAP 0x02

typedef struct {
	char reserved[64];
} CUipcMemHandle;

enum { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 0x1 };

typedef enum {
	CU_MEMORYTYPE_DEVICE = 2,
	CU_MEMORYTYPE_UNIFIED = 4,
} CUmemorytype;

typedef struct {
	size_t srcXInBytes, srcY;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	size_t srcPitch;
	size_t dstXInBytes, dstY;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	size_t dstPitch;
	size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *reserved0;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *reserved1;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	CUcontext srcContext;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	CUcontext dstContext;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;

/* ---- memory apart from its addresses ---- */

typedef enum {
	CU_MEM_LOCATION_TYPE_DEVICE = 1,
	CU_MEM_LOCATION_TYPE_HOST = 2,
	CU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
	CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4,
} CUmemLocationType;

typedef struct {
	CUmemLocationType type;
	int id;
} CUmemLocation;

typedef enum { CU_MEM_ALLOCATION_TYPE_PINNED = 1 } CUmemAllocationType;

typedef enum {
	CU_MEM_HANDLE_TYPE_NONE = 0,
	CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
} CUmemAllocationHandleType;

typedef enum {
	CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
	CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
} CUmemAllocationGranularity_flags;

typedef enum { CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 } CUmemAccess_flags;

typedef struct {
	CUmemAllocationType type;
	CUmemAllocationHandleType requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType, gpuDirectRDMACapable;
		unsigned short usage;
		unsigned char reserved[4];
	} allocFlags;
} CUmemAllocationProp;

typedef struct {
	CUmemLocation location;
	CUmemAccess_flags flags;
} CUmemAccessDesc;

/* ---- managed memory ---- */

enum {
	CU_MEM_ATTACH_GLOBAL = 0x1,
	CU_MEM_ATTACH_HOST = 0x2,
};

typedef enum {
	CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
	CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
	CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
	CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
	CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
	CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
} CUmem_advise;

typedef enum {
	CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
	CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
	CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
	CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
} CUmem_range_attribute;

/* ---- graphs ---- */

typedef struct {
	CUfunction func;
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

#endif
