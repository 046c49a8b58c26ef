#include "config.h"

#include "backend/cuda/driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct cs_driver cs_cu;

static const struct {
	const char *name;
	int version;
	size_t at;
} calls[] = {
#define CALL(name, version) { #name, version, offsetof(struct cs_driver, name) },
	CS_DRIVER_CALLS(CALL)
#undef CALL
};

/* What an error is sure to mean, for one call or (NULL) for all of them. */
static const struct {
	int code;
	const char *call, *text;
} hints[] = {
	{ CUDA_ERROR_INVALID_VALUE, "cuIpcOpenMemHandle",
	  "if the peer's GPU is hidden from this task, ask Slurm for "
	  "--gpu-bind=none" },
	{ CUDA_ERROR_INVALID_DEVICE, "cuIpcOpenMemHandle",
	  "if the peer's GPU is hidden from this task, ask Slurm for "
	  "--gpu-bind=none" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "cuDevicePrimaryCtxRetain",
	  "no memory left for a context: who else uses this GPU?" },
	{ CUDA_ERROR_STUB_LIBRARY, NULL,
	  "this is the stub library of the CUDA toolkit: take its folder "
	  "lib64/stubs out of LD_LIBRARY_PATH" },
	{ CUDA_ERROR_DEVICE_UNAVAILABLE, NULL,
	  "another process holds the GPU, or its compute mode forbids this "
	  "one: see nvidia-smi -q -d COMPUTE" },
	{ CUDA_ERROR_NO_DEVICE, NULL,
	  "no GPU is visible: see CUDA_VISIBLE_DEVICES and what the launcher "
	  "granted" },
	{ CUDA_ERROR_NO_BINARY_FOR_GPU, NULL,
	  "built without code for this GPU: set NVCC_GENCODE at configure" },
	{ CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, NULL,
	  "these two GPUs cannot reach each other's memory" },
	{ CUDA_ERROR_UNSUPPORTED_PTX_VERSION, NULL,
	  "the driver is older than the CUDA toolkit of this program" },
	{ CUDA_ERROR_TOO_MANY_PEERS, NULL,
	  "the GPU takes no more peers at the same time" },
	{ CUDA_ERROR_SYSTEM_NOT_READY, NULL,
	  "is nvidia-fabricmanager running?" },
	{ CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, NULL,
	  "libcuda.so.1 and the loaded kernel module are of different driver "
	  "versions" },
	{ CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, NULL,
	  "take the cuda-compat library out of LD_LIBRARY_PATH" },
};

static int driver_find(void *library, struct cs_driver *into, struct cs_err *err)
{
	PFN_cuGetProcAddress_v12000 find;
	CUdriverProcAddressQueryResult found; /* a null entry says as much */
	void *entry = dlsym(library, "cuGetProcAddress_v2");

	if (!entry)
		return cs_err_set(err, "the CUDA driver is too old: it has no "
				  "cuGetProcAddress_v2; CUDA 12.0 (driver 525) "
				  "or newer is needed");
	memcpy(&find, &entry, sizeof(find));
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		entry = NULL;
		if (find(calls[i].name, &entry, calls[i].version,
			 CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) || !entry)
			return cs_err_set(err, "the CUDA driver has no %s of "
					  "version %d", calls[i].name,
					  calls[i].version);
		memcpy((char *)into + calls[i].at, &entry, sizeof(entry));
	}
	return 0;
}

int cs_driver_load(int *clock_is_virtual, struct cs_err *err)
{
	static void *library;
	const char *name = secure_getenv("CS_LIBCUDA");
	struct cs_driver driver;
	void *opened;

	if (!name || !*name)
		name = "libcuda.so.1";
	if (!library) {
		opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (!opened)
			return cs_err_set(err, "cannot load %s: %s", name,
					  dlerror());
		if (driver_find(opened, &driver, err)) {
			dlclose(opened);
			return -1;
		}
		cs_cu = driver;
		library = opened;
	}
	*clock_is_virtual = dlsym(library, "cs_fake_clock_is_virtual") != NULL;
	return 0;
}

static const char *driver_hint(CUresult result, const char *call)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (hints[i].code == (int)result &&
		    (!hints[i].call || !strcmp(hints[i].call, call)))
			return hints[i].text;
	return NULL;
}

int cs_driver_result(CUresult result, const char *call, struct cs_err *err)
{
	const char *name = NULL, *hint;

	if (result == CUDA_SUCCESS)
		return 0;
	if (cs_cu.cuGetErrorName(result, &name) || !name)
		name = "unknown error";
	hint = driver_hint(result, call);
	return cs_err_set(err, "%s: %s (%d)%s%s", call, name, (int)result,
			  hint ? "; " : "", hint ? hint : "");
}

int cs_driver_sticky(CUresult result)
{
	switch ((int)result) {
	case CUDA_ERROR_DEINITIALIZED:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_NVLINK_UNCORRECTABLE:
	case 226: /* CUDA_ERROR_CONTAINED, CUDA 12.8 and later */
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_MPS_CLIENT_TERMINATED:
		return 1;
	default:
		return 0;
	}
}
