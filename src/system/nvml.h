/* nvml.h - what the files that call NVIDIA's management library share.
 *
 * The library and each of its functions are optional: they are opened with dlopen,
 * and the few types are declared here (the toolkit does not always ship nvml.h).
 * Only reading calls are made.  The header calls the library thread-safe, but NCCL
 * found bugs there, so one mutex serialises all calls.  A handle is used only if the
 * call that returned it succeeded, because a field query on a bad one crashes. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/call.h"
#include "system/system.h"

/* nvmlReturn_t */
#define NVML_OK 0
#define NVML_INVALID_ARGUMENT 2
#define NVML_NOT_SUPPORTED 3
#define NVML_TIMEOUT 10
#define NVML_NO_FUNCTION 13
#define NVML_LOST 15

struct nvml_field {
	unsigned id, scope;
	int64_t stamp, latency;
	int type, result;
	union {
		double real;
		unsigned u32;
		uint64_t u64;
	} value;
};

struct nvml_pci {
	char legacy[16];
	unsigned domain, bus, device, pci_device, pci_subsystem;
	char bus_id[32];
};

struct nvml_fabric { /* nvmlGpuFabricInfo_v2_t */
	unsigned version;
	unsigned char cluster[16];
	int status;
	unsigned clique;
	unsigned char state;
	unsigned health;
};

struct nvml_repair { /* nvmlRepairStatus_v1_t */
	unsigned version, channel, tpc;
};

struct nvml_sram { /* nvmlEccSramErrorStatus_v1_t */
	unsigned version;
	/* parity, SECDED and corrected, of all its life and since the driver was loaded;
	 * then by unit */
	uint64_t ever[3], now[3], unit[5];
	unsigned exceeded;
};

struct nvml_event { /* nvmlEventData_t */
	void *device;
	uint64_t type, data;
	unsigned gpu_instance, compute_instance;
};

struct nvml_confidential { /* nvmlConfComputeSystemState_t */
	unsigned environment, feature, tools;
};

struct nvml_process {
	unsigned pid;
	uint64_t memory;
	unsigned gpu_instance, compute_instance;
};

/* X(name without "nvml", arguments) */
#define FUNCTIONS(X)                                                          \
	X(InitWithFlags, (unsigned))                                          \
	X(Init_v2, (void))                                                    \
	X(Shutdown, (void))                                                   \
	X(SystemGetDriverVersion, (char *, unsigned))                         \
	X(SystemGetCudaDriverVersion_v2, (int *))                             \
	X(SystemGetConfComputeState, (struct nvml_confidential *))            \
	X(DeviceGetCount_v2, (unsigned *))                                    \
	X(DeviceGetHandleByIndex_v2, (unsigned, void **))                     \
	X(DeviceGetPciInfo_v3, (void *, struct nvml_pci *))                   \
	X(DeviceGetUUID, (void *, char *, unsigned))                          \
	X(DeviceGetName, (void *, char *, unsigned))                          \
	X(DeviceGetComputeMode, (void *, unsigned *))                         \
	X(DeviceGetPersistenceMode, (void *, unsigned *))                     \
	X(DeviceGetMigMode, (void *, unsigned *, unsigned *))                 \
	X(DeviceGetSerial, (void *, char *, unsigned))                        \
	X(DeviceGetBoardPartNumber, (void *, char *, unsigned))               \
	X(DeviceGetVbiosVersion, (void *, char *, unsigned))                  \
	X(DeviceGetInforomImageVersion, (void *, char *, unsigned))           \
	X(DeviceGetModuleId, (void *, unsigned *))                            \
	X(DeviceGetEccMode, (void *, unsigned *, unsigned *))                 \
	X(DeviceGetDefaultEccMode, (void *, unsigned *))                      \
	X(DeviceGetPowerManagementLimit, (void *, unsigned *))                \
	X(DeviceGetPowerManagementDefaultLimit, (void *, unsigned *))         \
	X(DeviceGetMaxClockInfo, (void *, int, unsigned *))                   \
	X(DeviceGetApplicationsClock, (void *, int, unsigned *))              \
	X(DeviceGetDefaultApplicationsClock, (void *, int, unsigned *))       \
	X(DeviceGetGpuFabricInfoV, (void *, struct nvml_fabric *))            \
	X(DeviceGetNvLinkRemoteDeviceType, (void *, unsigned, int *))         \
	X(DeviceGetNvLinkRemotePciInfo_v2,                                    \
	  (void *, unsigned, struct nvml_pci *))                              \
	X(DeviceGetMaxMigDeviceCount, (void *, unsigned *))                   \
	X(DeviceGetMigDeviceHandleByIndex, (void *, unsigned, void **))       \
	X(DeviceGetHandleByUUID, (const char *, void **))                     \
	X(DeviceGetHandleByPciBusId_v2, (const char *, void **))              \
	X(DeviceGetDeviceHandleFromMigDeviceHandle, (void *, void **))        \
	X(DeviceGetNvLinkState, (void *, unsigned, int *))                    \
	X(DeviceGetNvLinkVersion, (void *, unsigned, unsigned *))             \
	X(DeviceGetNvLinkErrorCounter, (void *, unsigned, int, uint64_t *))        \
	X(DeviceGetFieldValues, (void *, int, struct nvml_field *))           \
	X(DeviceGetCurrPcieLinkGeneration, (void *, unsigned *))              \
	X(DeviceGetCurrPcieLinkWidth, (void *, unsigned *))                   \
	X(DeviceGetMaxPcieLinkGeneration, (void *, unsigned *))               \
	X(DeviceGetMaxPcieLinkWidth, (void *, unsigned *))                    \
	X(DeviceGetPcieReplayCounter, (void *, unsigned *))                   \
	X(DeviceGetClockInfo, (void *, int, unsigned *))                      \
	X(DeviceGetTemperature, (void *, int, unsigned *))                    \
	X(DeviceGetPowerUsage, (void *, unsigned *))                          \
	X(DeviceGetCurrentClocksEventReasons, (void *, uint64_t *))                \
	X(DeviceGetCurrentClocksThrottleReasons, (void *, uint64_t *))             \
	X(DeviceGetTotalEccErrors, (void *, int, int, uint64_t *))                 \
	X(DeviceGetRemappedRows,                                              \
	  (void *, unsigned *, unsigned *, unsigned *, unsigned *))           \
	X(DeviceGetRetiredPagesPendingStatus, (void *, unsigned *))           \
	X(DeviceGetRepairStatus, (void *, struct nvml_repair *))              \
	X(DeviceGetSramEccErrorStatus, (void *, struct nvml_sram *))               \
	X(DeviceGetTemperatureThreshold, (void *, int, unsigned *))           \
	X(DeviceGetGpuMaxPcieLinkGeneration, (void *, unsigned *))            \
	X(EventSetCreate, (void **))                                          \
	X(DeviceRegisterEvents, (void *, uint64_t, void *))                   \
	X(EventSetWait_v2, (void *, struct nvml_event *, unsigned))           \
	X(EventSetFree, (void *))                                             \
	X(DeviceGetComputeRunningProcesses_v3,                                \
	  (void *, unsigned *, struct nvml_process *))                        \
	X(DeviceGetComputeRunningProcesses_v2,                                \
	  (void *, unsigned *, struct nvml_process *))

struct cs_nvml {
	pthread_mutex_t lock;
	int up;		 /* initialised */
	int attached;	 /* by the full Init */
	int found;	 /* a handle is out */
	atomic_int hung; /* a call does not return */
	const char *(*ErrorString)(int);
#define X(name, arguments) int (*name) arguments;
	FUNCTIONS(X)
#undef X
};

struct cs_nvml_gpu {
	struct cs_nvml *nvml;
	void *device;  /* what was asked for: a GPU or a MIG instance */
	void *board;   /* the whole GPU, which has links and clocks */
	void *events;  /* its set of events; NULL none */
	char xids[32]; /* that it had since the first reading */
};

/* Call one function, with the lock held; a missing one is an error. */
#define TRY(nvml, name, ...)                                                  \
	({                                                                    \
		int tried_ = NVML_NO_FUNCTION;                                \
		cs_call_begin("nvml" #name);                                  \
		if ((nvml)->name)                                             \
			tried_ = (nvml)->name(__VA_ARGS__);                   \
		cs_call_end();                                                \
		tried_;                                                       \
	})

#define CALL(nvml, name, ...)                                                 \
	({                                                                    \
		int result_ = cs_nvml_enter(nvml);                                    \
		if (result_ == NVML_OK) {                                     \
			result_ = TRY(nvml, name, ##__VA_ARGS__);             \
			pthread_mutex_unlock(&(nvml)->lock);                  \
		}                                                             \
		result_;                                                      \
	})

/* nvmllib.c. Take the lock: NVML_OK, or NVML_TIMEOUT. If it is not free within some
 * seconds, a call hangs: later callers do not wait. */
int cs_nvml_enter(struct cs_nvml *nvml);
/* The error for a code of NVML; -1. */
int cs_nvml_refuse(struct cs_nvml *nvml, const char *what, int code,
		   struct cs_err *err);

/* -1 when the call failed. */
static inline int32_t cs_nvml_known(int code, unsigned value)
{
	return code == NVML_OK && value <= INT32_MAX ? (int32_t)value : -1;
}

#define READ(gpu, name, ...)                                                  \
	({                                                                    \
		unsigned value_ = 0;                                          \
		int code_ = CALL((gpu)->nvml, name, (gpu)->board,             \
				 ##__VA_ARGS__, &value_);                     \
		cs_nvml_known(code_, value_);                                         \
	})

/* ---- links: nvmllink.c ---- */

/* Find the ends of the links that are up; unknown ones are left as they are in
 * `out`. */
void cs_nvml_link_ends(struct cs_nvml_gpu *gpu, struct cs_nvlink_ends *out);
/* The sum of those of n fields, of a link or 0, that the driver has; -1 none. */
int64_t cs_nvml_field_sum(struct cs_nvml_gpu *gpu, unsigned scope, const unsigned *id,
			  int n);
/* Payload of all links since the driver loaded; -1: no link counts. */
int64_t cs_nvml_sent_kib(struct cs_nvml_gpu *gpu);
int64_t cs_nvml_received_kib(struct cs_nvml_gpu *gpu);
