/* nvml.c - a libnvidia-ml.so.1 for the tests: the GPUs of the fake libcuda.so.1
 * with 18 NVLinks of the 4th version, PCIe 5 x16 and nothing wrong, unless the
 * environment says otherwise (README.md).
 *
 * As with driver 580, no device is found after nvmlInitWithFlags(NO_ATTACH)
 * alone.  As the real one, it knows nothing of CUDA_VISIBLE_DEVICES. */
#include "config.h"

#include "identity.h"

#include <string.h>
#include <unistd.h>

/* nvml.h is not in every toolkit: its numbers */
enum {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
};

#define LINK_SPEED 164u		/* field: MB/s of one link */
#define LINK_VERSION_4 6u	/* counts 1.0, 2.0, 2.2, 3.0, 3.1, 4.0 from 1 */
#define UNSIGNED_INT 1
#define OTHER_PID 5000000u	/* above every pid that Linux gives */

struct field {
	unsigned id, scope;
	int64_t stamp, latency;
	int type, result;
	union {
		unsigned u32;
		uint64_t u64;
	} value;
};

struct process {
	unsigned pid;
	uint64_t memory;
	unsigned gpu_instance, compute_instance;
};

static char devices[FAKE_GPUS_MAX];	/* a handle is the address of one */
static int initialised, attached;

/* Declares what it defines: there is no header for these. */
#define EXPORT(type, name, arguments)                                 \
	__attribute__((visibility("default"))) type name arguments;   \
	type name arguments

/* ---- knobs ---- */

/* What a list "GPU:VALUE,GPU:VALUE" of the environment says of a GPU; "" none. */
static void knob(const char *variable, int gpu, char value[32])
{
	const char *at = getenv(variable);
	int of, end;

	value[0] = 0;
	while (at && *at) {
		if (sscanf(at, "%d:%n", &of, &end) != 1 || at[end - 1] != ':')
			fake_bad(variable);
		if (of == gpu && sscanf(at + end, "%31[^,]", value) != 1)
			fake_bad(variable);
		at = strchr(at, ',');
		at += at != NULL;
	}
}

static uint64_t knob_number(const char *variable, int gpu)
{
	char value[32], *end;
	uint64_t number;

	knob(variable, gpu, value);
	number = strtoull(value, &end, 0);
	if (*end)
		fake_bad(variable);
	return number;
}

static void knob_pcie(int gpu, unsigned *gen, unsigned *width)
{
	char value[32];

	*gen = 5;
	*width = 16;
	knob("FAKE_PCIE", gpu, value);
	if (value[0] && sscanf(value, "%ux%u", gen, width) != 2)
		fake_bad("FAKE_PCIE");
}

static unsigned links(void)
{
	return (unsigned)fake_number("FAKE_NVLINKS", 0, 36, 18);
}

/* ---- library ---- */

static int init(int attach)
{
	int code = (int)fake_number("FAKE_NVML_INIT", 0, 999, OK);

	if (code == OK) {
		initialised = 1;
		attached |= attach;
	}
	return code;
}

EXPORT(int, nvmlInit_v2, (void))
{
	return init(1);
}

EXPORT(int, nvmlInitWithFlags, (unsigned flags))
{
	return init(!flags);
}

EXPORT(int, nvmlShutdown, (void))
{
	if (!initialised)
		return UNINITIALIZED;
	initialised = attached = 0;
	return OK;
}

EXPORT(const char *, nvmlErrorString, (int code))
{
	switch (code) {
	case OK:
		return "success";
	case UNINITIALIZED:
		return "uninitialized";
	case INVALID_ARGUMENT:
		return "invalid argument";
	case NOT_SUPPORTED:
		return "not supported";
	case NOT_FOUND:
		return "not found";
	default:
		return "unknown error";
	}
}

EXPORT(int, nvmlSystemGetDriverVersion, (char *text, unsigned size))
{
	if (!initialised)
		return UNINITIALIZED;
	if (!text || size < sizeof(FAKE_DRIVER))
		return text ? INSUFFICIENT_SIZE : INVALID_ARGUMENT;
	snprintf(text, size, "%s", FAKE_DRIVER);
	return OK;
}

EXPORT(int, nvmlSystemGetCudaDriverVersion_v2, (int *version))
{
	if (!version)
		return INVALID_ARGUMENT;
	*version = FAKE_CUDA_VERSION;
	return OK;
}

/* ---- devices ---- */

static int find_gpu(int gpu, void **device)
{
	if (!initialised)
		return UNINITIALIZED;
	if (gpu < 0 || !attached)
		return NOT_FOUND;
	*device = &devices[gpu];
	return OK;
}

EXPORT(int, nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))
{
	char text[48];
	int gpu = -1;

	if (!uuid || !device)
		return INVALID_ARGUMENT;
	for (int i = 0; i < fake_gpus(); i++) {
		fake_uuid(i, text);
		if (!strcmp(uuid, text))
			gpu = i;
	}
	return find_gpu(gpu, device);
}

EXPORT(int, nvmlDeviceGetHandleByPciBusId_v2, (const char *id, void **device))
{
	unsigned domain, bus, slot;
	int gpu = -1;

	if (!id || !device || sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3)
		return INVALID_ARGUMENT;
	for (int i = 0; i < fake_gpus(); i++)
		if (!domain && bus == fake_bus(i) && !slot)
			gpu = i;
	return find_gpu(gpu, device);
}

/* The GPU behind a handle; -1 with the error in *code. */
static int gpu_of(const void *device, int *code)
{
	*code = initialised ? INVALID_ARGUMENT : UNINITIALIZED;
	if (initialised)
		for (int i = 0; i < fake_gpus(); i++)
			if (device == &devices[i]) {
				*code = OK;
				return i;
			}
	return -1;
}

/* Give `number` of a device. */
static int give(const void *device, unsigned *to, unsigned number)
{
	int code, gpu = gpu_of(device, &code);

	if (gpu >= 0 && !to)
		return INVALID_ARGUMENT;
	if (gpu >= 0)
		*to = number;
	return code;
}

/* ---- links ---- */

static int link_code(const void *device, unsigned link, int *gpu)
{
	int code;

	*gpu = gpu_of(device, &code);
	if (code == OK && !links())
		code = NOT_SUPPORTED;
	if (code == OK && link >= links())
		code = INVALID_ARGUMENT;
	return code;
}

/* The last links are the ones that are down. */
EXPORT(int, nvmlDeviceGetNvLinkState, (void *device, unsigned link, int *up))
{
	int gpu, code = link_code(device, link, &gpu);

	if (code == OK && !up)
		return INVALID_ARGUMENT;
	if (code == OK)
		*up = link + knob_number("FAKE_NVLINKS_DOWN", gpu) < links();
	return code;
}

EXPORT(int, nvmlDeviceGetNvLinkVersion,
       (void *device, unsigned link, unsigned *version))
{
	int gpu, code = link_code(device, link, &gpu);

	return code == OK ? give(device, version, LINK_VERSION_4) : code;
}

EXPORT(int, nvmlDeviceGetNvLinkErrorCounter,
       (void *device, unsigned link, int counter, uint64_t *errors))
{
	int gpu, code = link_code(device, link, &gpu);

	if (code == OK && (!errors || counter < 0 || counter > 4))
		return INVALID_ARGUMENT;
	if (code == OK)
		*errors = 0;
	return code;
}

EXPORT(int, nvmlDeviceGetFieldValues,
       (void *device, int n, struct field *fields))
{
	int gpu, code;

	gpu_of(device, &code);
	if (code != OK || n < 1 || !fields)
		return code != OK ? code : INVALID_ARGUMENT;
	for (int i = 0; i < n; i++) {
		struct field *f = &fields[i];

		f->result = f->id == LINK_SPEED
				    ? link_code(device, f->scope, &gpu)
				    : NOT_SUPPORTED;
		f->type = UNSIGNED_INT;
		f->value.u64 = 0;
		f->value.u32 = f->result == OK ? 26562 : 0;
	}
	return OK;
}

static int pcie(const void *device, unsigned *to, int want_width)
{
	unsigned gen, width;
	int code, gpu = gpu_of(device, &code);

	if (gpu < 0)
		return code;
	knob_pcie(gpu, &gen, &width);
	return give(device, to, want_width ? width : gen);
}

EXPORT(int, nvmlDeviceGetCurrPcieLinkGeneration, (void *device, unsigned *gen))
{
	return pcie(device, gen, 0);
}

EXPORT(int, nvmlDeviceGetCurrPcieLinkWidth, (void *device, unsigned *width))
{
	return pcie(device, width, 1);
}

EXPORT(int, nvmlDeviceGetMaxPcieLinkGeneration, (void *device, unsigned *gen))
{
	return give(device, gen, 5);
}

EXPORT(int, nvmlDeviceGetMaxPcieLinkWidth, (void *device, unsigned *width))
{
	return give(device, width, 16);
}

EXPORT(int, nvmlDeviceGetPcieReplayCounter, (void *device, unsigned *replays))
{
	return give(device, replays, 0);
}

/* ---- conditions ---- */

EXPORT(int, nvmlDeviceGetClockInfo, (void *device, int clock, unsigned *mhz))
{
	static const unsigned of[] = { 1980, 1980, 3201 }; /* graphics, SM, memory */

	if (clock < 0 || clock > 2)
		return INVALID_ARGUMENT;
	return give(device, mhz, of[clock]);
}

EXPORT(int, nvmlDeviceGetTemperature,
       (void *device, int sensor, unsigned *celsius))
{
	int code, gpu = gpu_of(device, &code);

	if (gpu < 0 || sensor)
		return gpu < 0 ? code : INVALID_ARGUMENT;
	return give(device, celsius, 41 + (unsigned)gpu);
}

EXPORT(int, nvmlDeviceGetPowerUsage, (void *device, unsigned *milliwatt))
{
	int code, gpu = gpu_of(device, &code);

	return gpu < 0 ? code
		       : give(device, milliwatt, 120000 + 1000 * (unsigned)gpu);
}

EXPORT(int, nvmlDeviceGetCurrentClocksEventReasons,
       (void *device, uint64_t *reasons))
{
	int code, gpu = gpu_of(device, &code);

	if (gpu >= 0 && !reasons)
		return INVALID_ARGUMENT;
	if (gpu >= 0)
		*reasons = knob_number("FAKE_THROTTLE", gpu);
	return code;
}

EXPORT(int, nvmlDeviceGetTotalEccErrors,
       (void *device, int type, int counter, uint64_t *errors))
{
	int code, gpu = gpu_of(device, &code);

	if (gpu >= 0 && (!errors || type < 0 || type > 1 || counter < 0 ||
			 counter > 1))
		return INVALID_ARGUMENT;
	if (gpu >= 0)
		*errors = 0;
	return code;
}

/* The caller is always there, whether it has a context yet or not. */
EXPORT(int, nvmlDeviceGetComputeRunningProcesses_v3,
       (void *device, unsigned *n, struct process *list))
{
	int code, gpu = gpu_of(device, &code);
	unsigned count, room;

	if (gpu < 0 || !n)
		return gpu < 0 ? code : INVALID_ARGUMENT;
	count = 1 + (unsigned)knob_number("FAKE_NVML_OTHERS", gpu);
	room = *n;
	*n = count;
	if (room < count)
		return INSUFFICIENT_SIZE;
	if (!list)
		return INVALID_ARGUMENT;
	memset(list, 0, count * sizeof(*list));
	list[0].pid = (unsigned)getpid();
	for (unsigned i = 1; i < count; i++)
		list[i].pid = OTHER_PID + i;
	return OK;
}
