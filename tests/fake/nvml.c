/* nvml.c - a libnvidia-ml.so.1 for the tests: the GPUs of the fake libcuda.so.1
 * with 18 NVLinks of the 4th version, PCIe 5 x16 and nothing wrong, unless the
 * environment says otherwise.
 *
 * As with driver 580, no device is found after nvmlInitWithFlags(NO_ATTACH)
 * alone.  As the real one, it knows nothing of CUDA_VISIBLE_DEVICES.
 *
 * Variables, as those of knobs.c; FAKE_GPUS is common to both:
 *
 *	FAKE_NVML_INIT=CODE: the start of NVML fails with that code
 *	FAKE_DRIVER=TEXT: driver version; 580.159.03
 *	FAKE_NVLINKS=N: NVLinks of each GPU, 0 to 36; 18
 *	FAKE_NVLINK_VERSION=N: their version: 3 at 25000, 4 at 26562 or 5 at 53125
 *		MB/s; 4
 *	FAKE_C2C=N: links by which each GPU reaches the host instead of PCIe; 0
 *	FAKE_NVLINK_MBS=1:3x20000,…, FAKE_NVLINK_CODE=1:3x4: NVLink 3 of GPU 1 at
 *		20000 MB/s; of the version that NVML numbers 4 (3.0); 1:x20000:
 *		all its links
 *	FAKE_NVLINKS_DOWN=2:1,…: one link of GPU 2 is down
 *	FAKE_PCIE=3:4x8,…: GPU 3 runs at generation 4, width 8, of 5 and 16
 *	FAKE_THROTTLE=1:0x8,…: throttle reasons of GPU 1
 *	FAKE_NVML_OTHERS=0:1,…: number of other processes on GPU 0; the caller is
 *		always listed
 *	FAKE_NVML_MEMORY=0:600,…: memory of GPU 0 that the caller uses, in 10⁶
 *		bytes; not available
 *	FAKE_NVML_LATER=0:1,…: number of further processes, from a process's
 *		second query on
 *	FAKE_NVML_HANG=FUNCTION: nvmlInitWithFlags, nvmlInit_v2,
 *		nvmlDeviceGetCount_v2, nvmlDeviceGetComputeRunningProcesses_v3,
 *		nvmlDeviceGetNvLinkErrorCounter or the last nvmlShutdown hangs
 *	FAKE_PERSISTENCE=0: persistence mode is off
 *	FAKE_CONFIDENTIAL=1: confidential computing is on
 *	FAKE_SERIAL=1:TEXT,…, FAKE_PART, FAKE_VBIOS, FAKE_INFOROM: identity of GPU
 *		1; 16500230000NN with the number of the GPU, 900-21010-0040-000,
 *		96.00.A5.00.01, G520.0280.00.04
 *	FAKE_MODULE=0:5,…: module id of GPU 0; its number and 1
 *	FAKE_ECC=1:0,…, FAKE_ECC_PENDING, FAKE_ECC_DEFAULT: ECC mode of GPU 1,
 *		that after a reset (as it is), and by default; 1
 *	FAKE_POWER_LIMIT=2:500,…: power limit of GPU 2 in W; 700, which is the
 *		default limit of all
 *	FAKE_CLOCK_MAX=1:1410,…, FAKE_CLOCK_APP: highest SM clock, and the one set
 *		for applications, whose default is 1980; 1980
 *	FAKE_CLOCK_NOW=1:1410,…: SM clock of GPU 1 now; 1980
 *	FAKE_FABRIC=0:1,…: state of GPU 0's registration with the fabric; 3, done
 *	FAKE_CLIQUE=1:2,…, FAKE_CLUSTER, FAKE_FABRIC_HEALTH=1:0x1a9,…: clique of
 *		GPU 1, the last byte of its cluster's UUID, and its health mask;
 *		1, 1 and 0x1aa, all well
 *	FAKE_ECC_UNCORRECTED=1:2,…, FAKE_ECC_CORRECTED, FAKE_ECC_EVER: uncorrected
 *		and corrected errors of GPU 1 since the driver was loaded,
 *		uncorrected of its life; 0. FAKE_ECC_GROW: uncorrected ones from a
 *		process's second reading on
 *	FAKE_ROWS=1:0+1+0+0,…, FAKE_PAGES=1:1,…: rows remapped for corrected and
 *		uncorrected errors, a remap pending, failed; pages whose
 *		retirement is pending; 0
 *	FAKE_NVLINK_ERRORS=1:3x12,…, FAKE_NVLINK_GROW: NVLink 3 of GPU 1 has
 *		counted 12 errors; 12 more from a process's second reading on. Of
 *		version 5 they are symbol errors
 *	FAKE_PCIE_ERRORS=1:4,…, FAKE_SLOT=1:4,…, FAKE_PCIE_OWN=1:4,…: PCIe errors
 *		of GPU 1 from the second reading on, 0; generation of its slot,
 *		and its own, 5
 *	FAKE_SRAM=1:2+1,…: uncorrected errors of SRAM of GPU 1 since the driver was
 *		loaded, and whether there are more than it allows; 0
 *	FAKE_REPAIR=1:1,…: repairs of GPU 1 that wait for a reset: 1 of a channel
 *		of its memory, 2 of multiprocessors, 3 both; 0
 *	FAKE_RECOVERY=1:2,…, FAKE_XID=1:79,…: action that the driver asks for, 0;
 *		an Xid of GPU 1 after the first reading
 *	FAKE_NVML_FROM=N: what comes from the second reading on, and Xids, come
 *		from a process's N-th reading on
 *	FAKE_TEMPERATURE=1:94,…: temperature of GPU 1, which slows down at 89
 *	FAKE_NVLINK_REMOTE=0:1x6+2x12,…: the first 6 NVLinks of GPU 0 lead to GPU
 *		1, the next 12 to GPU 2; all lead to a switch
 *	FAKE_NVML_LACKS=FUNCTION,…: these functions do not exist (13)
 *	FAKE_NVLINK_COUNTERS=FILE: fields 138 and 139 of all NVLinks (KiB), 197
 *		and 198 of PCIe (bytes up to 2³²); not supported without it */
#include "identity.h"

/* nvml.h is not in every toolkit: its numbers */
enum {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	TIMEOUT = 10,
	INSUFFICIENT_SIZE = 7,
	FUNCTION_NOT_FOUND = 13,
	GPU_IS_LOST = 15,
};

#define LINK_SPEED 164u		/* field: MB/s of one link */
#define DATA_SENT 138u		/* fields: KiB over all links */
#define DATA_RECEIVED 139u
#define PCIE_SENT 197u		/* bytes */
#define PCIE_RECEIVED 198u
#define RECOVERY_ACTION 230u
#define PCIE_CORRECTABLE 173u
#define SYMBOL_ERRORS 221u	/* of the link named by scope */
#define XID_EVENT 8u
#define ALL_LINKS 0xffffffffu
#define UNSIGNED_LONG_LONG 3
#define C2C_LINKS 170u		/* field */
#define UNSIGNED_INT 1
#define FABRIC_V2 0x2000024u
#define REPAIR_V1 0x100000cu
#define SRAM_V1 0x1000068u
#define REMOTE_GPU 0
#define REMOTE_SWITCH 2
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

struct pci {
	char legacy[16];
	unsigned domain, bus, device, pci_device, pci_subsystem;
	char bus_id[32];
};

struct fabric {
	unsigned version;
	unsigned char cluster[16];
	int status;
	unsigned clique;
	unsigned char state;
	unsigned health;
};

struct repair {
	unsigned version, channel, tpc;
};

struct sram { /* 0 to 10: errors by lifetime, kind and unit */
	unsigned version;
	uint64_t errors[11];
	unsigned exceeded;
};

struct event {
	void *device;
	uint64_t type, data;
	unsigned gpu_instance, compute_instance;
};

struct process {
	unsigned pid;
	uint64_t memory;
	unsigned gpu_instance, compute_instance;
};

static char devices[FAKE_GPUS_MAX]; /* a handle is the address of one */
static char instances[FAKE_GPUS_MAX][FAKE_GPUS_MAX]; /* of MIG, by GPU */
static int initialised, attached;

/* Declares what it defines: there is no header for these. */
#define EXPORT(type, name, arguments)                                 \
	__attribute__((visibility("default"))) type name arguments;   \
	type name arguments

/* ---- knobs ---- */

static uint64_t number_in(const char *value, const char *variable)
{
	char *end;
	uint64_t number = strtoull(value, &end, 0);

	if (*end)
		fake_bad(variable);
	return number;
}

static uint64_t knob_number(const char *variable, int gpu)
{
	char value[32];

	fake_knob(variable, gpu, value);
	return number_in(value, variable);
}

static unsigned knob_or(const char *variable, int gpu, unsigned usual)
{
	char value[32];

	fake_knob(variable, gpu, value);
	return value[0] ? (unsigned)number_in(value, variable) : usual;
}

/* The reading from which on there is what comes after the first one. */
static int from(void)
{
	return (int)fake_number("FAKE_NVML_FROM", 2, 1 << 20, 2);
}

static int has_come(atomic_int *readings)
{
	return ++*readings >= from();
}

static void knob_pcie(int gpu, unsigned *gen, unsigned *width)
{
	char value[32];

	*gen = 5;
	*width = 16;
	fake_knob("FAKE_PCIE", gpu, value);
	if (value[0] && sscanf(value, "%ux%u", gen, width) != 2)
		fake_bad("FAKE_PCIE");
}

/* Of all of a kind, the one call that FAKE_NVML_HANG names never returns. */
static void may_hang(const char *function)
{
	const char *name = getenv("FAKE_NVML_HANG");

	while (name && !strcmp(name, function))
		pause();
}

/* Is a function one that this driver does not have? */
static int lacks(const char *function)
{
	const char *list = getenv("FAKE_NVML_LACKS");
	size_t length = strlen(function);

	while (list && *list) {
		if (!strncmp(list, function, length) && strchr(",", list[length]))
			return 1;
		list = strchr(list, ',');
		list += list != NULL;
	}
	return 0;
}

static unsigned links(void)
{
	return (unsigned)fake_number("FAKE_NVLINKS", 0, 36, 18);
}

/* ---- library ---- */

static int init(int attach)
{
	int code = (int)fake_number("FAKE_NVML_INIT", 0, 999, OK);

	may_hang(attach ? "nvmlInit_v2" : "nvmlInitWithFlags");
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
	if (attached) /* the last one, not that before attaching */
		may_hang("nvmlShutdown");
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
	case GPU_IS_LOST:
		return "GPU is lost";
	default:
		return "unknown error";
	}
}

static int give_text(char *to, unsigned size, const char *text)
{
	if (!to || strlen(text) >= size)
		return to ? INSUFFICIENT_SIZE : INVALID_ARGUMENT;
	snprintf(to, size, "%s", text);
	return OK;
}

EXPORT(int, nvmlSystemGetDriverVersion, (char *text, unsigned size))
{
	if (!initialised)
		return UNINITIALIZED;
	return give_text(text, size, fake_driver());
}

EXPORT(int, nvmlSystemGetCudaDriverVersion_v2, (int *version))
{
	if (!version)
		return INVALID_ARGUMENT;
	*version = FAKE_CUDA_VERSION;
	return OK;
}

EXPORT(int, nvmlSystemGetConfComputeState, (unsigned state[3]))
{
	int on = (int)fake_number("FAKE_CONFIDENTIAL", 0, 1, 0);

	if (!state)
		return INVALID_ARGUMENT;
	state[0] = 2u * (unsigned)on;
	state[1] = (unsigned)on;
	state[2] = 0;
	return OK;
}

/* ---- devices ---- */

static int find_gpu(int gpu, void **device)
{
	if (!initialised)
		return UNINITIALIZED;
	if (gpu < 0 || !attached)
		return NOT_FOUND;
	if (fake_is_lost(gpu))
		return GPU_IS_LOST;
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
		for (int k = 0; k < fake_mig(); k++) {
			fake_mig_uuid(i, k, text);
			if (strcmp(uuid, text))
				continue;
			*device = &instances[i][k];
			return initialised && attached ? OK : UNINITIALIZED;
		}
	}
	return find_gpu(gpu, device);
}

EXPORT(int, nvmlDeviceGetCount_v2, (unsigned *n))
{
	may_hang("nvmlDeviceGetCount_v2");
	if (!initialised || !n)
		return initialised ? INVALID_ARGUMENT : UNINITIALIZED;
	*n = attached ? (unsigned)fake_gpus() : 0;
	return OK;
}

EXPORT(int, nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **device))
{
	if (!device || index >= (unsigned)fake_gpus())
		return INVALID_ARGUMENT;
	return find_gpu((int)index, device);
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

/* The GPU behind a handle, for a call that answers into `to`; -1 with the error in
 * *code. */
static int gpu_of(const void *device, const void *to, int *code)
{
	*code = initialised ? INVALID_ARGUMENT : UNINITIALIZED;
	if (initialised && to)
		for (int i = 0; i < fake_gpus(); i++)
			if (device == &devices[i]) {
				*code = OK;
				return i;
			}
	return -1;
}

static int device_index(const void *device)
{
	int code;

	return gpu_of(device, device, &code);
}

/* Give `number` of a device. */
static int give(const void *device, unsigned *to, unsigned number)
{
	int code, gpu = gpu_of(device, to, &code);

	if (gpu >= 0)
		*to = number;
	return code;
}

/* A function that gives a number of a GPU. */
#define GIVES(name, number)                                           \
	EXPORT(int, name, (void *device, unsigned *to))               \
	{                                                             \
		return give(device, to, (unsigned)(number));          \
	}

/* Of a GPU or of an instance. */
EXPORT(int, nvmlDeviceGetUUID, (void *device, char *to, unsigned size))
{
	int code, gpu = gpu_of(device, to, &code);
	char uuid[48];

	for (int i = 0; i < fake_gpus(); i++)
		for (int k = 0; k < fake_mig(); k++)
			if (device == &instances[i][k]) {
				fake_mig_uuid(i, k, uuid);
				return give_text(to, size, uuid);
			}
	if (gpu < 0)
		return code;
	fake_uuid(gpu, uuid);
	return give_text(to, size, uuid);
}

EXPORT(int, nvmlDeviceGetName, (void *device, char *to, unsigned size))
{
	int code, gpu = gpu_of(device, to, &code);
	char name[96];

	if (gpu < 0)
		return code;
	fake_name(gpu, name, sizeof(name));
	return give_text(to, size, name);
}

EXPORT(int, nvmlDeviceGetPciInfo_v3, (void *device, struct pci *pci))
{
	int code, gpu = gpu_of(device, pci, &code);

	if (gpu < 0)
		return code;
	memset(pci, 0, sizeof(*pci));
	pci->bus = fake_bus(gpu);
	snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
	return OK;
}

GIVES(nvmlDeviceGetComputeMode, fake_number("FAKE_COMPUTE_MODE", 0, 3, 0))
GIVES(nvmlDeviceGetPersistenceMode, fake_number("FAKE_PERSISTENCE", 0, 1, 1))

/* ---- board ---- */

static int knob_of(const char *function, const void *device, const void *to,
		   const char *variable, char value[32])
{
	int code, gpu = gpu_of(device, to, &code);

	if (lacks(function))
		return FUNCTION_NOT_FOUND;
	if (gpu >= 0)
		fake_knob(variable, gpu, value);
	return code;
}

/* The knob's text for a GPU, else the usual one. */
static int give_knob(const char *function, const void *device, char *to,
		     unsigned size, const char *variable, const char *usual)
{
	char value[32];
	int code = knob_of(function, device, to, variable, value);

	return code == OK ? give_text(to, size, value[0] ? value : usual) : code;
}

/* … its number, `unit` of them each, else the usual one. */
static int give_knob_number(const char *function, const void *device, unsigned *to,
			    const char *variable, unsigned unit, unsigned usual)
{
	char value[32];
	int code = knob_of(function, device, to, variable, value);

	if (code == OK)
		*to = value[0] ? unit * (unsigned)number_in(value, variable) : usual;
	return code;
}

/* Functions that give these. */
#define GIVES_KNOB(name, variable, usual)                              \
	EXPORT(int, name, (void *device, char *to, unsigned size))     \
	{                                                              \
		return give_knob(__func__, device, to, size, variable, \
				 usual);                               \
	}
#define GIVES_KNOB_NUMBER(name, variable, unit, usual)                 \
	EXPORT(int, name, (void *device, unsigned *to))                \
	{                                                              \
		return give_knob_number(__func__, device, to, variable, unit, \
					(unsigned)(usual));            \
	}

EXPORT(int, nvmlDeviceGetSerial, (void *device, char *to, unsigned size))
{
	char usual[32];

	snprintf(usual, sizeof(usual), "16500230000%02d", device_index(device));
	return give_knob(__func__, device, to, size, "FAKE_SERIAL", usual);
}

GIVES_KNOB(nvmlDeviceGetBoardPartNumber, "FAKE_PART", "900-21010-0040-000")
GIVES_KNOB(nvmlDeviceGetVbiosVersion, "FAKE_VBIOS", "96.00.A5.00.01")
GIVES_KNOB(nvmlDeviceGetInforomImageVersion, "FAKE_INFOROM", "G520.0280.00.04")
GIVES_KNOB_NUMBER(nvmlDeviceGetModuleId, "FAKE_MODULE", 1, 1 + device_index(device))
GIVES_KNOB_NUMBER(nvmlDeviceGetPowerManagementLimit, "FAKE_POWER_LIMIT", 1000, 700000)
GIVES_KNOB_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "", 1, 700000)

EXPORT(int, nvmlDeviceGetEccMode, (void *device, unsigned *now, unsigned *pending))
{
	int code = give_knob_number(__func__, device, now, "FAKE_ECC", 1, 1);

	return code == OK ? give_knob_number(__func__, device, pending,
					     "FAKE_ECC_PENDING", 1, *now) :
			    code;
}

GIVES_KNOB_NUMBER(nvmlDeviceGetDefaultEccMode, "FAKE_ECC_DEFAULT", 1, 1)

EXPORT(int, nvmlDeviceGetDefaultApplicationsClock,
       (void *device, int clock, unsigned *mhz))
{
	return give_knob_number(__func__, device, mhz, "", 1,
				clock == 2 ? 3201 : 1980);
}

EXPORT(int, nvmlDeviceGetMaxClockInfo, (void *device, int clock, unsigned *mhz))
{
	if (clock == 2)
		return give_knob_number(__func__, device, mhz, "", 1, 3201);
	return give_knob_number(__func__, device, mhz, "FAKE_CLOCK_MAX", 1, 1980);
}

EXPORT(int, nvmlDeviceGetApplicationsClock, (void *device, int clock, unsigned *mhz))
{
	return give_knob_number(__func__, device, mhz,
				clock == 1 ? "FAKE_CLOCK_APP" : "", 1,
				clock == 2 ? 3201 : 1980);
}

EXPORT(int, nvmlDeviceGetGpuFabricInfoV, (void *device, struct fabric *info))
{
	unsigned state;
	int code = give_knob_number(__func__, device, &state, "FAKE_FABRIC", 1, 3);

	if (code == OK && (!info || info->version != FABRIC_V2))
		return INVALID_ARGUMENT;
	if (code == OK) {
		info->state = (unsigned char)state;
		info->status = OK;
		info->clique = knob_or("FAKE_CLIQUE", device_index(device), 1);
		memset(info->cluster, 0, sizeof(info->cluster));
		info->cluster[15] = (unsigned char)knob_or("FAKE_CLUSTER",
							   device_index(device), 1);
		info->health = knob_or("FAKE_FABRIC_HEALTH", device_index(device),
				       0x1aa);
	}
	return code;
}

/* ---- memory ---- */

EXPORT(int, nvmlDeviceGetRemappedRows,
       (void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
	unsigned *failed))
{
	char value[32];
	int code = knob_of(__func__, device, corrected, "FAKE_ROWS", value);

	if (code != OK)
		return code;
	*corrected = *uncorrected = *pending = *failed = 0;
	if (value[0] && sscanf(value, "%u+%u+%u+%u", corrected, uncorrected, pending,
			       failed) != 4)
		fake_bad("FAKE_ROWS");
	return OK;
}

/* FAKE_REPAIR: bit 0 of a channel, bit 1 of a TPC */
EXPORT(int, nvmlDeviceGetRepairStatus, (void *device, struct repair *status))
{
	unsigned pending;
	int code = give_knob_number(__func__, device, &pending, "FAKE_REPAIR", 1, 0);

	if (code == OK && (!status || status->version != REPAIR_V1))
		return INVALID_ARGUMENT;
	if (code == OK) {
		status->channel = pending & 1;
		status->tpc = pending >> 1 & 1;
	}
	return code;
}

/* "ERRORS+EXCEEDED": uncorrected by SECDED since the driver was loaded */
EXPORT(int, nvmlDeviceGetSramEccErrorStatus, (void *device, struct sram *status))
{
	unsigned errors = 0, exceeded = 0;
	char value[32];
	int code = knob_of(__func__, device, status, "FAKE_SRAM", value);

	if (code != OK || status->version != SRAM_V1)
		return code == OK ? INVALID_ARGUMENT : code;
	if (value[0] && sscanf(value, "%u+%u", &errors, &exceeded) != 2)
		fake_bad("FAKE_SRAM");
	memset(status->errors, 0, sizeof(status->errors));
	status->errors[4] = errors;
	status->exceeded = exceeded;
	return OK;
}

GIVES_KNOB_NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, "FAKE_PAGES", 1, 0)
GIVES_KNOB_NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, "FAKE_PCIE_OWN", 1, 5)

EXPORT(int, nvmlDeviceGetTemperatureThreshold,
       (void *device, int of, unsigned *celsius))
{
	return give_knob_number(__func__, device, celsius, "", 1, of == 1 ? 89 : 95);
}

/* ---- MIG ---- */

EXPORT(int, nvmlDeviceGetMigMode, (void *device, unsigned *now, unsigned *pending))
{
	int code = give(device, now, fake_mig() > 0);

	return code == OK ? give(device, pending, fake_mig() > 0) : code;
}

GIVES(nvmlDeviceGetMaxMigDeviceCount, fake_mig() ? 7 : 0)

EXPORT(int, nvmlDeviceGetMigDeviceHandleByIndex,
       (void *device, unsigned index, void **instance))
{
	int code, gpu = gpu_of(device, instance, &code);

	if (gpu < 0)
		return code;
	if (index >= (unsigned)fake_mig())
		return NOT_FOUND;
	*instance = &instances[gpu][index];
	return OK;
}

EXPORT(int, nvmlDeviceGetDeviceHandleFromMigDeviceHandle,
       (void *instance, void **device))
{
	if (!initialised || !device)
		return initialised ? INVALID_ARGUMENT : UNINITIALIZED;
	for (int i = 0; i < fake_gpus(); i++)
		if ((char *)instance >= instances[i] &&
		    (char *)instance < instances[i] + FAKE_GPUS_MAX) {
			*device = &devices[i];
			return OK;
		}
	return INVALID_ARGUMENT;
}

/* ---- links ---- */

/* The GPU of a link, for a call that answers into `to`. */
static int link_code(const void *device, unsigned link, const void *to, int *gpu)
{
	int code;

	*gpu = gpu_of(device, to, &code);
	if (code == OK && !links())
		code = NOT_SUPPORTED;
	if (code == OK && link >= links())
		code = INVALID_ARGUMENT;
	return code;
}

/* NVML's code counts 1.0, 2.0, 2.2, 3.0, 3.1, 4.0, 5.0 from 1. */
static const struct nvlinks {
	unsigned code, mbs;
} *nvlinks(void)
{
	static const struct nvlinks of[] = { { 4, 25000 }, { 6, 26562 }, { 7, 53125 } };

	return &of[fake_number("FAKE_NVLINK_VERSION", 3, 5, 4) - 3];
}

/* "GPU:LINKxNUMBER", "GPU:xNUMBER" of all its links; 0 of another link */
static unsigned link_knob(const char *variable, int gpu, unsigned link)
{
	unsigned of = link, number;
	char value[32];

	fake_knob(variable, gpu, value);
	if (value[0] && sscanf(value, "%ux%u", &of, &number) != 2 &&
	    sscanf(value, "x%u", &number) != 1)
		fake_bad(variable);
	return value[0] && of == link ? number : 0;
}

/* The last links are the ones that are down. */
EXPORT(int, nvmlDeviceGetNvLinkState, (void *device, unsigned link, int *up))
{
	int gpu, code = link_code(device, link, up, &gpu);

	if (code == OK)
		*up = link + knob_number("FAKE_NVLINKS_DOWN", gpu) < links();
	return code;
}

EXPORT(int, nvmlDeviceGetNvLinkVersion,
       (void *device, unsigned link, unsigned *version))
{
	int gpu, code = link_code(device, link, version, &gpu);
	unsigned own = code == OK ? link_knob("FAKE_NVLINK_CODE", gpu, link) : 0;

	return code == OK ? give(device, version, own ? own : nvlinks()->code) : code;
}

/* Of one kind of error; the others are 0. */
static unsigned link_errors(int gpu, unsigned link)
{
	static atomic_int link_read[FAKE_GPUS_MAX][36];

	return link_knob("FAKE_NVLINK_ERRORS", gpu, link) +
	       (has_come(&link_read[gpu][link]) ?
			link_knob("FAKE_NVLINK_GROW", gpu, link) :
			0);
}

/* Links of version 5 count by fields instead. */
EXPORT(int, nvmlDeviceGetNvLinkErrorCounter,
       (void *device, unsigned link, int counter, uint64_t *errors))
{
	int gpu, code = link_code(device, link, errors, &gpu);

	may_hang("nvmlDeviceGetNvLinkErrorCounter");
	if (code == OK && (counter < 0 || counter > 4))
		return INVALID_ARGUMENT;
	if (code == OK && nvlinks()->code > 6)
		return NOT_SUPPORTED;
	if (code == OK)
		*errors = counter ? 0 : link_errors(gpu, link);
	return code;
}

/* What FAKE_NVLINK_REMOTE says of a link, "GPUxLINKS+GPUxLINKS" in the order of
 * links: a GPU, -1 a switch, -2 nothing. */
static int link_remote(int gpu, unsigned link)
{
	unsigned to, n, end = 0, all = 0;
	char value[32], *at = value;
	int used;

	fake_knob("FAKE_NVLINK_REMOTE", gpu, value);
	if (!value[0])
		return -1;
	for (; *at; at += used + (at[used] == '+'), all = end) {
		used = 0;
		if (sscanf(at, "%ux%u%n", &to, &n, &used) != 2 ||
		    (at[used] && at[used] != '+'))
			fake_bad("FAKE_NVLINK_REMOTE");
		end = all + n;
		if (link < end)
			return (int)to;
	}
	return -2;
}

EXPORT(int, nvmlDeviceGetNvLinkRemoteDeviceType,
       (void *device, unsigned link, int *type))
{
	int gpu, code = link_code(device, link, type, &gpu);

	if (lacks(__func__))
		return FUNCTION_NOT_FOUND;
	if (code == OK && link_remote(gpu, link) == -2)
		return NOT_SUPPORTED;
	if (code == OK)
		*type = link_remote(gpu, link) < 0 ? REMOTE_SWITCH : REMOTE_GPU;
	return code;
}

EXPORT(int, nvmlDeviceGetNvLinkRemotePciInfo_v2,
       (void *device, unsigned link, struct pci *pci))
{
	int gpu, code = link_code(device, link, pci, &gpu), remote;

	if (lacks(__func__))
		return FUNCTION_NOT_FOUND;
	if (code != OK)
		return code;
	remote = link_remote(gpu, link);
	if (remote < 0 || remote >= fake_gpus())
		return NOT_SUPPORTED;
	memset(pci, 0, sizeof(*pci));
	pci->bus = fake_bus(remote);
	return OK;
}

static atomic_int pcie_read[FAKE_GPUS_MAX];

EXPORT(int, nvmlDeviceGetFieldValues, (void *device, int n, struct field *fields))
{
	int code, gpu = gpu_of(device, fields, &code);

	if (gpu < 0 || n < 1)
		return gpu < 0 ? code : INVALID_ARGUMENT;
	for (int i = 0; i < n; i++) {
		struct field *f = &fields[i];
		uint64_t counter;

		f->result = f->id == LINK_SPEED ?
				    link_code(device, f->scope, f, &gpu) :
				    NOT_SUPPORTED;
		f->type = UNSIGNED_INT;
		f->value.u64 = 0;
		f->value.u32 = f->result == OK ?
				       link_knob("FAKE_NVLINK_MBS", gpu, f->scope) :
				       0;
		if (f->result == OK && !f->value.u32)
			f->value.u32 = nvlinks()->mbs;
		if (f->id == SYMBOL_ERRORS && nvlinks()->code > 6)
			f->result = link_code(device, f->scope, f, &gpu);
		if (f->id == SYMBOL_ERRORS && f->result == OK)
			f->value.u32 = link_errors(gpu, f->scope);
		if (f->id == C2C_LINKS) {
			f->value.u32 = (unsigned)fake_number("FAKE_C2C", 0, 64, 0);
			f->result = f->value.u32 ? OK : NOT_SUPPORTED;
		}
		if (f->id == RECOVERY_ACTION || f->id == PCIE_CORRECTABLE) {
			f->result = lacks("nvmlDeviceGetFieldValues") ? NOT_SUPPORTED :
									OK;
			f->value.u32 = f->id == RECOVERY_ACTION ?
					       knob_or("FAKE_RECOVERY", gpu, 0) :
				       has_come(&pcie_read[gpu]) ?
					       knob_or("FAKE_PCIE_ERRORS", gpu, 0) :
					       0;
		}
		if (!fake_counters())
			continue;
		if ((f->id == DATA_SENT || f->id == DATA_RECEIVED) &&
		    f->scope == ALL_LINKS)
			counter = fake_counters()[gpu][f->id - DATA_SENT] >> 10;
		else if (f->id == PCIE_SENT || f->id == PCIE_RECEIVED)
			counter = (uint32_t)fake_counters()[gpu][2 + f->id - PCIE_SENT];
		else
			continue;
		f->result = OK;
		f->type = UNSIGNED_LONG_LONG;
		f->value.u64 = counter;
	}
	return OK;
}

static unsigned pcie(const void *device, int want_width)
{
	int gpu = device_index(device);
	unsigned gen = 0, width = 0;

	if (gpu >= 0)
		knob_pcie(gpu, &gen, &width);
	return want_width ? width : gen;
}

GIVES(nvmlDeviceGetCurrPcieLinkGeneration, pcie(device, 0))
GIVES(nvmlDeviceGetCurrPcieLinkWidth, pcie(device, 1))
GIVES_KNOB_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "FAKE_SLOT", 1, 5)
GIVES(nvmlDeviceGetMaxPcieLinkWidth, 16)
GIVES(nvmlDeviceGetPcieReplayCounter, 0)

/* ---- conditions ---- */

EXPORT(int, nvmlDeviceGetClockInfo, (void *device, int clock, unsigned *mhz))
{
	static const unsigned of[] = { 1980, 1980, 3201 }; /* graphics, SM, memory */

	if (clock < 0 || clock > 2)
		return INVALID_ARGUMENT;
	return give_knob_number(__func__, device, mhz,
				clock == 1 ? "FAKE_CLOCK_NOW" : "", 1, of[clock]);
}

EXPORT(int, nvmlDeviceGetTemperature, (void *device, int sensor, unsigned *celsius))
{
	return sensor ? INVALID_ARGUMENT :
			give_knob_number(__func__, device, celsius, "FAKE_TEMPERATURE",
					 1, 41 + (unsigned)device_index(device));
}

GIVES(nvmlDeviceGetPowerUsage, 120000 + 1000 * device_index(device))

EXPORT(int, nvmlDeviceGetCurrentClocksEventReasons, (void *device, uint64_t *reasons))
{
	int code, gpu = gpu_of(device, reasons, &code);

	if (gpu >= 0)
		*reasons = knob_number("FAKE_THROTTLE", gpu);
	return code;
}

static atomic_int ecc_read[FAKE_GPUS_MAX];

EXPORT(int, nvmlDeviceGetTotalEccErrors,
       (void *device, int type, int counter, uint64_t *errors))
{
	int code, gpu = gpu_of(device, errors, &code);

	if (gpu >= 0 && (type < 0 || type > 1 || counter < 0 || counter > 1))
		return INVALID_ARGUMENT;
	if (gpu >= 0)
		*errors = knob_number(type    ? counter ? "FAKE_ECC_EVER" :
							  "FAKE_ECC_UNCORRECTED" :
				      counter ? "" :
						"FAKE_ECC_CORRECTED",
				      gpu);
	if (gpu >= 0 && type && !counter && has_come(&ecc_read[gpu]))
		*errors += knob_number("FAKE_ECC_GROW", gpu);
	return code;
}

/* ---- events: a set is of one GPU ---- */

static atomic_int event_sets, event_gpu[FAKE_GPUS_MAX * 16];

EXPORT(int, nvmlEventSetCreate, (void **set))
{
	if (lacks(__func__) || event_sets >= FAKE_GPUS_MAX * 16)
		return lacks(__func__) ? FUNCTION_NOT_FOUND : INSUFFICIENT_SIZE;
	*set = &event_gpu[event_sets++];
	return OK;
}

EXPORT(int, nvmlDeviceRegisterEvents, (void *device, uint64_t types, void *set))
{
	int code, gpu = gpu_of(device, set, &code);

	if (code == OK && types != XID_EVENT)
		return INVALID_ARGUMENT;
	if (code == OK)
		*(atomic_int *)set = 1 + gpu;
	return code;
}

/* The Xids of FAKE_XID=GPU:NUMBER are queued when the set is first asked. */
EXPORT(int, nvmlEventSetWait_v2, (void *set, struct event *event, unsigned ms))
{
	static atomic_int asked[FAKE_GPUS_MAX];
	const int of = *(atomic_int *)set - 1;
	/* it is asked from the second reading on */
	const int gpu = of >= 0 && ++asked[of] + 1 >= from() ?
				atomic_exchange((atomic_int *)set, 0) - 1 :
				-1;
	const unsigned xid = gpu < 0 ? 0 : knob_or("FAKE_XID", gpu, 0);

	(void)ms;
	if (!xid)
		return TIMEOUT;
	*event = (struct event){ .device = &devices[gpu],
				 .type = XID_EVENT,
				 .data = xid };
	return OK;
}

EXPORT(int, nvmlEventSetFree, (void *set))
{
	*(atomic_int *)set = 0;
	return OK;
}

static atomic_int looked[FAKE_GPUS_MAX];

/* The caller is always there, whether it has a context yet or not. */
EXPORT(int, nvmlDeviceGetComputeRunningProcesses_v3,
       (void *device, unsigned *n, struct process *list))
{
	int code, gpu = gpu_of(device, n, &code);
	unsigned count, room;

	may_hang("nvmlDeviceGetComputeRunningProcesses_v3");
	if (gpu < 0)
		return code;
	count = 1 + (unsigned)knob_number("FAKE_NVML_OTHERS", gpu);
	/* they come after the first reading */
	if (looked[gpu]++)
		count += (unsigned)knob_number("FAKE_NVML_LATER", gpu);
	room = *n;
	*n = count;
	if (room < count)
		return INSUFFICIENT_SIZE;
	if (!list)
		return INVALID_ARGUMENT;
	memset(list, 0, count * sizeof(*list));
	list[0].pid = (unsigned)getpid();
	/* not available, as in some virtual machines */
	list[0].memory = UINT64_MAX;
	if (knob_number("FAKE_NVML_MEMORY", gpu))
		list[0].memory = 1000000ull *
				 (uint64_t)knob_number("FAKE_NVML_MEMORY", gpu);
	for (unsigned i = 1; i < count; i++)
		list[i].pid = OTHER_PID + i;
	return OK;
}
