/* cuda.c - devices, contexts, modules, and how functions are found.
 *
 * Refused calls have the driver's code: no cuInit (3), no current context or opening a
 * handle in its own process (201), freed memory, freeing twice, copying beyond an
 * allocation (1), stale handles and the NULL stream (400), no fatbin (200), registering
 * twice (712), unregistering nothing (713), enabling a peer twice (704), disabling one that
 * is not (705).  A kernel that uses freed memory ends in 700.  After a sticky error (214,
 * 220, 226, 700, 702, 710, 714 to 719) every call of that context returns it, and queued
 * work does nothing.  Of a call in two versions (cuMemPrefetchAsync, cuMemAdvise) the newest
 * that request and driver allow is returned. */
#include "fake.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

#define HANDLES 65536u
#define FATBIN_MAGIC 0xBA55ED50u
#define ATTRIBUTES 150		/* a driver knows them from 1 on */
#define SHARED_USUAL (48 << 10)	/* bytes of a block */
#define SHARED_MOST (227 << 10)	/* … that asks for them */

/* By this symbol a program knows that times are not real. */
extern API const int cs_fake_clock_is_virtual;
const int cs_fake_clock_is_virtual = 1;

__thread struct fake_ctx *fake_current;
__thread struct fake_known fake_known;

static atomic_int initialised;
static struct fake_ctx contexts[FAKE_GPUS_MAX]; /* by GPU */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- handles ---- */

/* A handle is a serial number and a slot; odd, so that it is no pointer. */
static struct handle {
	uint64_t value;
	enum fake_kind kind;
	void *object;
} handles[HANDLES];

static struct handle *handle_slot(enum fake_kind kind, const void *handle)
{
	uint64_t value = (uintptr_t)handle;
	struct handle *h = &handles[(value >> 1) % HANDLES];

	return value && h->value == value && h->kind == kind ? h : NULL;
}

void *fake_handle_make(enum fake_kind kind, void *object)
{
	static uint64_t serial;
	struct handle *h = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned tries = 0; tries < HANDLES && (!h || h->value); tries++)
		h = &handles[++serial % HANDLES];
	if (!h || h->value)
		h = NULL;
	else
		*h = (struct handle){ serial << 1 | 1, kind, object };
	pthread_mutex_unlock(&lock);
	return h ? (void *)(uintptr_t)h->value : NULL;
}

void *fake_handle_object(enum fake_kind kind, const void *handle)
{
	struct handle *h;
	void *object;

	pthread_mutex_lock(&lock);
	h = handle_slot(kind, handle);
	object = h ? h->object : NULL;
	pthread_mutex_unlock(&lock);
	return object;
}

void *fake_handle_drop(enum fake_kind kind, const void *handle)
{
	struct handle *h;
	void *object = NULL;

	pthread_mutex_lock(&lock);
	h = handle_slot(kind, handle);
	if (h) {
		object = h->object;
		h->value = 0;
	}
	pthread_mutex_unlock(&lock);
	return object;
}

/* ---- errors ---- */

static const struct {
	int code;
	const char *name;
} errors[] = {
#define E(name, code) { code, #name },
	CS_CUDA_RESULTS(E)
#undef E
};

CUresult cuGetErrorName(CUresult error, const char **name)
{
	ENTER(cuGetErrorName, FAKE_ANY);
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = NULL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == (int)error)
			*name = errors[i].name;
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* After one of these the context only ever returns the same error. */
int fake_is_sticky(int code)
{
	static const int codes[] = { 214, 220, 226, 700, 702, 710,
				     714, 715, 716, 717, 718, 719 };

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i] == code)
			return 1;
	return 0;
}

CUresult fake_enter(struct fake_site *site, enum fake_needs needs)
{
	int code = fake_call(site);

	if (code && fake_current && fake_is_sticky(code))
		fake_current->sticky = code;
	if (code || needs == FAKE_ANY)
		return (CUresult)code;
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (needs == FAKE_INIT)
		return CUDA_SUCCESS;
	if (!fake_current || !fake_current->retained)
		return CUDA_ERROR_INVALID_CONTEXT;
	return (CUresult)fake_current->sticky;
}

/* ---- devices ---- */

/* Stream threads run this code: it may never be unmapped. */
static void stay(void)
{
	Dl_info info;

	if (dladdr(handles, &info))
		dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

static void number_contexts(void)
{
	for (int i = 0; i < FAKE_GPUS_MAX; i++)
		contexts[i].gpu = i;
}

CUresult cuInit(unsigned flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	ENTER(cuInit, FAKE_ANY);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake.n_visible)
		return CUDA_ERROR_NO_DEVICE;
	pthread_once(&once, number_contexts);
	stay();
	initialised = 1;
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	ENTER(cuDriverGetVersion, FAKE_ANY);
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = fake.cuda;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	ENTER(cuDeviceGetCount, FAKE_INIT);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = fake.n_visible;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER(cuDeviceGet, FAKE_INIT);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (ordinal < 0 || ordinal >= fake.n_visible)
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

int fake_gpu_of(CUdevice device)
{
	return device >= 0 && device < fake.n_visible ? fake.visible[device] : -1;
}

CUdevice fake_device_of(int gpu)
{
	CUdevice device = 0;

	while (device < fake.n_visible && fake.visible[device] != gpu)
		device++;
	return device;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
	int gpu = fake_gpu_of(device);
	char model[96];

	ENTER(cuDeviceGetName, FAKE_INIT);
	if (!name || size < 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (gpu < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	fake_name(fake_board(gpu), model, sizeof(model));
	snprintf(name, (size_t)size, "%s%s", model, fake_mig() ? " MIG 1g.18gb" : "");
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	ENTER(cuDeviceGetUuid, FAKE_INIT);
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_gpu_of(device) < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	memset(uuid, 0, sizeof(*uuid));
	uuid->bytes[15] = (char)fake_board(fake_gpu_of(device));
	if (fake_mig())
		uuid->bytes[9] = (char)(15 - fake_instance(fake_gpu_of(device)));
	return CUDA_SUCCESS;
}

/* Upper case, as the driver has it. */
CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
	ENTER(cuDeviceGetPCIBusId, FAKE_INIT);
	if (!id || size < 13)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_gpu_of(device) < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(id, (size_t)size, "0000:%02X:00.0",
		 fake_bus(fake_board(fake_gpu_of(device))));
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	ENTER(cuDeviceTotalMem, FAKE_INIT);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_gpu_of(device) < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = fake.memory;
	return CUDA_SUCCESS;
}

static int attribute_of(int gpu, CUdevice_attribute attribute)
{
	switch ((int)attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return fake.capability / 10;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		return fake.capability % 10;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		return fake.capability < 80 ? 64 << 10 : SHARED_MOST;
	case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
		return FAKE_BUS_BITS;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		return FAKE_SMS;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		return 1024;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		return 32;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
		return fake.compute_mode;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		return (int)fake_bus(fake_board(gpu));
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
		return 4 << 20; /* less than any has: to displace it takes no time */
	case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
		return 3;
	case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
		return !fake.no_ipc;
	case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
	case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
		return !fake.no_memops;
	case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
		return !fake.no_vmm;
	case CU_DEVICE_ATTRIBUTE_INTEGRATED:
		return fake.integrated;
	case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
		return fake.managed;
	case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
		return fake.concurrent;
	case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
		return fake.pageable_access > 0;
	case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
	case CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:
		return fake.pageable_access > 1;
	case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
		return fake.numa[gpu];
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
	case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
		return 1;
	default:
		return 0;
	}
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	ENTER(cuDeviceGetAttribute, FAKE_INIT);
	if (!value || (int)which < 1 || which >= ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_gpu_of(device) < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	*value = attribute_of(fake_gpu_of(device), which);
	return CUDA_SUCCESS;
}

int fake_are_peers(int a, int b)
{
	return a != b && !fake_mig() && isnan(fake.no_peer[a][b]);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	ENTER(cuDeviceCanAccessPeer, FAKE_INIT);
	if (!can)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_gpu_of(device) < 0 || fake_gpu_of(peer) < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	*can = fake_are_peers(fake_gpu_of(device), fake_gpu_of(peer));
	return CUDA_SUCCESS;
}

/* ---- contexts ---- */

struct fake_ctx *fake_ctx_of(CUcontext handle)
{
	for (int i = 0; i < FAKE_GPUS_MAX; i++)
		if ((void *)handle == &contexts[i] && contexts[i].retained)
			return &contexts[i];
	return NULL;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
	ENTER(cuDevicePrimaryCtxSetFlags, FAKE_INIT);
	if (fake_gpu_of(device) < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	return flags & ~(unsigned)CU_CTX_FLAGS_MASK ? CUDA_ERROR_INVALID_VALUE :
						      CUDA_SUCCESS;
}

/* In mode 3 one process has a GPU at a time: a lock on a byte of a file of the machine,
 * which ends with the process. */
static int gpu_lock[FAKE_GPUS_MAX];

static int take_gpu(int gpu)
{
	struct flock byte = { .l_type = F_WRLCK, .l_start = gpu, .l_len = 1 };
	const char *file = getenv("FAKE_MACHINE");
	Dl_info info;

	if (fake.compute_mode != CU_COMPUTEMODE_EXCLUSIVE_PROCESS)
		return 0;
	if (!file && !dladdr(gpu_lock, &info))
		return -1;
	gpu_lock[gpu] = open(file ? file : info.dli_fname, O_RDWR | O_CLOEXEC);
	if (gpu_lock[gpu] >= 0 && !fcntl(gpu_lock[gpu], F_OFD_SETLK, &byte))
		return 0;
	close(gpu_lock[gpu]);
	return -1;
}

static void leave_gpu(int gpu)
{
	if (fake.compute_mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS)
		close(gpu_lock[gpu]);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
	int gpu;

	ENTER(cuDevicePrimaryCtxRetain, FAKE_INIT);
	gpu = fake_gpu_of(device);
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (gpu < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	if (fake.compute_mode == CU_COMPUTEMODE_PROHIBITED)
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&lock);
	if (!contexts[gpu].retained && take_gpu(gpu)) {
		pthread_mutex_unlock(&lock);
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	}
	contexts[gpu].retained++;
	pthread_mutex_unlock(&lock);
	*ctx = (CUcontext)(void *)&contexts[gpu];
	return CUDA_SUCCESS;
}

/* The last release ends all work of the context and frees its memory. */
CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	struct fake_ctx *ctx;
	int left;

	ENTER(cuDevicePrimaryCtxRelease, FAKE_INIT);
	if (fake_gpu_of(device) < 0)
		return CUDA_ERROR_INVALID_DEVICE;
	ctx = &contexts[fake_gpu_of(device)];
	pthread_mutex_lock(&lock);
	left = ctx->retained ? --ctx->retained : -1;
	pthread_mutex_unlock(&lock);
	if (left < 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!left) {
		fake_ctx_drain(ctx);
		fake_memory_drop(ctx);
		ctx->peers = 0;
		ctx->sticky = 0;
		leave_gpu(fake_gpu_of(device));
	}
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
	struct fake_ctx *ctx = fake_ctx_of(handle);

	ENTER(cuCtxSetCurrent, FAKE_INIT);
	if (handle && !ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	fake_current = ctx;
	return CUDA_SUCCESS;
}

CUresult fake_context_sync(void)
{
	ENTER(cuCtxSynchronize, FAKE_CTX);
	fake_gates_wait(NULL);
	fake_ctx_drain(fake_current);
	return (CUresult)fake_current->sticky;
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
	struct fake_ctx *peer = fake_ctx_of(handle);

	ENTER(cuCtxEnablePeerAccess, FAKE_CTX);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (peer == fake_current)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!fake_are_peers(fake_current->gpu, peer->gpu))
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (fake_current->peers >> peer->gpu & 1)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	fake_open();
	fake_current->peers |= 1u << peer->gpu;
	return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext handle)
{
	struct fake_ctx *peer = fake_ctx_of(handle);

	ENTER(cuCtxDisablePeerAccess, FAKE_CTX);
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!(fake_current->peers >> peer->gpu & 1))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	fake_current->peers &= ~(1u << peer->gpu);
	return CUDA_SUCCESS;
}

/* ---- modules ---- */

struct module {
	struct fake_ctx *ctx;
	struct function {
		struct fake_ctx *ctx;
		const struct fake_kernel *kernel;
		void *handle;
		atomic_int loaded;
		atomic_int shared; /* it asked for that many bytes */
	} function[FAKE_N_KERNELS];
};

CUresult cuModuleLoadData(CUmodule *handle, const void *image)
{
	uint32_t magic = 0;
	struct module *m;
	void *made;

	ENTER(cuModuleLoadData, FAKE_CTX);
	if (!handle || !image)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&magic, image, sizeof(magic));
	if (magic != FATBIN_MAGIC)
		return CUDA_ERROR_INVALID_IMAGE;
	fake_gates_wait(fake_current);
	m = calloc(1, sizeof(*m));
	made = m ? fake_handle_make(FAKE_MODULE, m) : NULL;
	if (!made) {
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	m->ctx = fake_current;
	for (int i = 0; i < FAKE_N_KERNELS; i++)
		m->function[i] = (struct function){ m->ctx, &fake_kernels[i], NULL,
						    fake.eager, SHARED_USUAL };
	*handle = made;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name)
{
	struct function *f = NULL;
	struct module *m;

	ENTER(cuModuleGetFunction, FAKE_CTX);
	m = fake_handle_object(FAKE_MODULE, handle);
	if (!function || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	for (int i = 0; i < FAKE_N_KERNELS; i++)
		if (!strcmp(fake_kernels[i].name, name))
			f = &m->function[i];
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	if (!f->handle)
		f->handle = fake_handle_make(FAKE_FUNCTION, f);
	*function = f->handle;
	return f->handle ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

const struct fake_kernel *fake_function(CUfunction handle)
{
	const struct function *f = fake_handle_object(FAKE_FUNCTION, handle);

	return f && f->ctx == fake_current ? f->kernel : NULL;
}

CUresult cuModuleUnload(CUmodule handle)
{
	struct module *m;

	ENTER(cuModuleUnload, FAKE_CTX);
	fake_gates_wait(NULL);
	m = fake_handle_drop(FAKE_MODULE, handle);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	fake_ctx_drain(m->ctx);
	for (int i = 0; i < FAKE_N_KERNELS; i++)
		fake_handle_drop(FAKE_FUNCTION, m->function[i].handle);
	free(m);
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value)
{
	struct function *f;

	ENTER(cuFuncSetAttribute, FAKE_CTX);
	f = fake_handle_object(FAKE_FUNCTION, handle);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
	    value > SHARED_MOST)
		return CUDA_ERROR_INVALID_VALUE;
	f->shared = value;
	return CUDA_SUCCESS;
}

/* Without CUDA_MODULE_LOADING=EAGER the first launch loads the kernel, which
 * blocks while a gate is closed. */
CUresult cuLaunchKernel(CUfunction handle, unsigned grid_x, unsigned grid_y,
			unsigned grid_z, unsigned block_x, unsigned block_y,
			unsigned block_z, unsigned shared, CUstream stream,
			void **args, void **extra)
{
	struct function *f;
	uint64_t threads = (uint64_t)block_x * block_y * block_z;

	ENTER(cuLaunchKernel, FAKE_CTX);
	f = fake_handle_object(FAKE_FUNCTION, handle);
	if (!f || f->ctx != fake_current)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid_x || grid_x > INT32_MAX || grid_y != 1 || grid_z != 1 || !threads ||
	    threads > 1024 || shared > (unsigned)f->shared || !args || !args[0] ||
	    extra)
		return CUDA_ERROR_INVALID_VALUE;
	fake_submit();
	if (!f->loaded)
		fake_gates_wait(NULL);
	f->loaded = 1;
	return fake_launch(stream, f->ctx, f->kernel, args[0], grid_x,
			   (unsigned)threads);
}

/* ---- look-up ---- */

/* Every function that the product uses, the later of two versions last; and one that
 * tests use. */
static const struct {
	const char *name;
	int version;
	void *entry;
} functions[] = {
#define F(name, version, takes) { #name, version, (void *)name },
	CS_DRIVER_CALLS(F)
#undef F
#define F(member, name, version, takes) { #name, version, (void *)fake_##member },
		CS_DRIVER_OPTIONAL(F)
#undef F
			{ "cuMemRangeGetAttribute", 8000,
			  (void *)cuMemRangeGetAttribute },
};

/* Is it one of FAKE_LACKS? */
static int is_lacking(const char *name)
{
	const char *list = getenv("FAKE_LACKS");
	size_t length = strlen(name);

	while (list && *list) {
		if (!strncmp(list, name, length) && strchr(",", list[length]))
			return 1;
		list = strchr(list, ',');
		list += list != NULL;
	}
	return 0;
}

CUresult cuGetProcAddress_v2(const char *name, void **entry, int version,
			     uint64_t flags, CUdriverProcAddressQueryResult *found)
{
	CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

	ENTER(cuGetProcAddress, FAKE_ANY);
	if (!name || !entry || flags & ~3ull)
		return CUDA_ERROR_INVALID_VALUE;
	*entry = NULL;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strcmp(functions[i].name, name) || is_lacking(name) ||
		    functions[i].version > fake.cuda)
			continue;
		if (!*entry)
			result = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
		if (version >= functions[i].version) {
			*entry = functions[i].entry;
			result = CU_GET_PROC_ADDRESS_SUCCESS;
		}
	}
	if (found)
		*found = result;
	return *entry || found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
