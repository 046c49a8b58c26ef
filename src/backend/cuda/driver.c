#include "backend/cuda/driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/hints.h"

struct cs_driver cs_cu;

static const struct {
	const char *name;
	int version, optional;
	size_t at;
} calls[] = {
#define CALL(name, version, takes) { #name, version, 0, offsetof(struct cs_driver, name) },
	CS_DRIVER_CALLS(CALL)
#undef CALL
#define CALL(member, name, version, takes) \
	{ #name, version, 1, offsetof(struct cs_driver, member) },
		CS_DRIVER_OPTIONAL(CALL)
#undef CALL
};

static cs_driver_find_fn find;

/* Optional functions are requested by the version of the driver, because an older
 * driver has an older signature. */
static int find_calls(int optional, int version, struct cs_driver *into,
		      struct cs_err *err)
{
	CUdriverProcAddressQueryResult found; /* a null entry means the same */

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		void *entry = NULL;
		CUresult result;

		if (calls[i].optional != optional ||
		    (optional && calls[i].version > version))
			continue;
		cs_call_begin(CS_DRIVER_FIND);
		result = find(calls[i].name, &entry, calls[i].version,
			      CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
		cs_call_end();
		if ((result || !entry) && !optional)
			return cs_err_set(err,
					  "the CUDA driver has no %s of version %d",
					  calls[i].name, calls[i].version);
		memcpy((char *)into + calls[i].at, &entry, sizeof(entry));
	}
	return 0;
}

static int driver_find(void *library, struct cs_driver *into, struct cs_err *err)
{
	void *entry = dlsym(library, CS_DRIVER_FIND);

	if (!entry)
		return cs_err_set(err,
				  "the CUDA driver is too old: it has no " CS_DRIVER_FIND
				  "; CUDA 12.0 (driver 525) or newer is needed");
	memcpy(&find, &entry, sizeof(find));
	memset(into, 0, sizeof(*into));
	return find_calls(0, 0, into, err);
}

void cs_driver_extend(int version)
{
	struct cs_err none;

	find_calls(1, version, &cs_cu, &none);
}

static void *library;
static int clock_is_virtual;

int cs_driver_load(int *absent, struct cs_err *err)
{
	const char *name = secure_getenv("CS_LIBCUDA");
	struct cs_driver driver;
	void *opened;

	if (!name || !*name)
		name = "libcuda.so.1";
	if (!library) {
		cs_call_begin("dlopen");
		opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		cs_call_end();
		*absent = !opened;
		if (!opened)
			return cs_err_set(err, "cannot load %s: %s", name, dlerror());
		if (driver_find(opened, &driver, err)) {
			dlclose(opened);
			return -1;
		}
		cs_cu = driver;
		library = opened;
	}
	clock_is_virtual = dlsym(library, "cs_fake_clock_is_virtual") != NULL;
	return 0;
}

int cs_driver_clock_is_virtual(void)
{
	return clock_is_virtual;
}

uint64_t (*cs_driver_cpu_clock(void))(void)
{
	uint64_t (*clock)(void) = NULL;
	void *found = library ? dlsym(library, "cs_fake_cpu_ns") : NULL;

	memcpy(&clock, &found, sizeof(clock));
	return clock;
}

int cs_driver_result(CUresult result, const char *call, struct cs_err *err)
{
	const char *name = NULL, *hint;

	if (result == CUDA_SUCCESS)
		return 0;
	if (cs_cu.cuGetErrorName(result, &name) || !name)
		name = "unknown error";
	hint = cs_hint_cuda((int)result, call);
	return cs_err_set(err, "%s: %s (%d)%s%s", call, name, (int)result,
			  hint ? "; " : "", hint ? hint : "");
}

int cs_driver_sticky(CUresult result)
{
	switch ((int)result) {
	case CUDA_ERROR_DEINITIALIZED:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_NVLINK_UNCORRECTABLE:
	case CUDA_ERROR_CONTAINED:
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
