/* nvml.c - state of GPUs, by NVIDIA's management library. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/nvml.h"

#define NVML_FABRIC_V2 0x2000024u /* and its size */
#define NVML_FABRIC_DONE 3
#define NVML_REPAIR_V1 0x100000cu
#define NVML_SRAM_V1 0x1000068u
#define NVML_THRESHOLD_SLOWDOWN 1
#define NVML_FIELD_PCIE_CORRECTABLE 173u
#define NVML_FIELD_PCIE_NON_FATAL 179u
#define NVML_FIELD_PCIE_FATAL 180u
#define NVML_FIELD_RECOVERY 230u
#define NVML_EVENT_XID 8u
#define MAX_PROCESSES 256
#define MAX_EVENTS 64

void cs_nvml_driver(struct cs_nvml *nvml, char driver[32], char cuda[16])
{
	int version = 0;
	char text[96] = ""; /* NVML asks for 80 */

	if (CALL(nvml, SystemGetDriverVersion, text, sizeof(text)) != NVML_OK)
		text[0] = 0;
	cs_text(driver, 32, "%s", text);
	if (CALL(nvml, SystemGetCudaDriverVersion_v2, &version) != NVML_OK ||
	    version <= 0)
		cs_text(cuda, 16, "%s", "");
	else
		cs_text(cuda, 16, "%d.%d", version / 1000, version % 1000 / 10);
}

/* ---- one device ---- */

/* By UUID, by bus id as given, by bus id in NVML's own form.  A MIG instance has
 * no bus id of its own.  With the lock held. */
static int handle_of(struct cs_nvml *nvml, const char *uuid, const char *bus_id,
		     void **device)
{
	unsigned domain, bus, dev;
	char form[32];
	int code = TRY(nvml, DeviceGetHandleByUUID, uuid, device);

	if (code == NVML_OK || cs_is_mig(uuid))
		return code;
	code = TRY(nvml, DeviceGetHandleByPciBusId_v2, bus_id, device);
	if (code == NVML_OK || sscanf(bus_id, "%x:%x:%x", &domain, &bus, &dev) != 3)
		return code;
	cs_text(form, sizeof(form), "%08X:%02X:%02X.0", domain, bus, dev);
	return TRY(nvml, DeviceGetHandleByPciBusId_v2, form, device);
}

/* Start over with all GPUs attached: after NO_ATTACH alone driver 580 finds no
 * device, and a second Init on top changes nothing (seen on H200).  Not when a
 * handle is out, which would not survive it.  With the lock held. */
static void attach(struct cs_nvml *nvml)
{
	if (nvml->attached || nvml->found || !nvml->Shutdown || !nvml->Init_v2)
		return;
	TRY(nvml, Shutdown);
	nvml->up = TRY(nvml, Init_v2) == NVML_OK;
	nvml->attached = 1;
}

static int find_device(struct cs_nvml *nvml, const char *uuid, const char *bus_id,
		       void **device)
{
	int code = cs_nvml_enter(nvml);

	if (code != NVML_OK)
		return code;
	code = handle_of(nvml, uuid, bus_id, device);
	if (code != NVML_OK) {
		attach(nvml);
		code = handle_of(nvml, uuid, bus_id, device);
	}
	nvml->found |= code == NVML_OK;
	pthread_mutex_unlock(&nvml->lock);
	return code;
}

struct cs_nvml_gpu *cs_nvml_find(struct cs_nvml *nvml, const char *uuid,
				 const char *bus_id, struct cs_err *err)
{
	struct cs_nvml_gpu *gpu;
	void *device = NULL;
	char what[128];
	int code = find_device(nvml, uuid, bus_id, &device);

	if (code != NVML_OK || !device) {
		cs_text(what, sizeof(what), "NVML does not find GPU \"%s\" at %s",
			uuid, bus_id);
		cs_nvml_refuse(nvml, what, code, err);
		return NULL;
	}
	gpu = calloc(1, sizeof(*gpu));
	if (!gpu) {
		cs_err_set(err, "no memory for a GPU of NVML");
		return NULL;
	}
	gpu->nvml = nvml;
	gpu->device = gpu->board = device;
	if (cs_is_mig(uuid) && CALL(nvml, DeviceGetDeviceHandleFromMigDeviceHandle,
				    device, &gpu->board) != NVML_OK)
		gpu->board = device;
	return gpu;
}

void cs_nvml_release(struct cs_nvml_gpu *gpu)
{
	if (gpu && gpu->events)
		CALL(gpu->nvml, EventSetFree, gpu->events);
	free(gpu);
}

/* ---- board ---- */

/* Read a text of NVML; `to` is unchanged if there is none.  Unset texts are "N/A". */
#define READ_TEXT(gpu, name, to)                                              \
	do {                                                                  \
		char text_[96] = "";                                          \
		if (CALL((gpu)->nvml, name, (gpu)->board, text_,              \
			 sizeof(text_)) == NVML_OK && strcmp(text_, "N/A"))   \
			cs_text(to, sizeof(to), "%s", text_);                 \
	} while (0)

static double watt(int32_t milliwatt)
{
	return milliwatt >= 0 ? milliwatt / 1e3 : NAN;
}

static void fabric(struct cs_nvml_gpu *gpu, struct cs_board_facts *out)
{
	struct nvml_fabric info = { .version = NVML_FABRIC_V2 };

	if (CALL(gpu->nvml, DeviceGetGpuFabricInfoV, gpu->board, &info) != NVML_OK)
		return;
	out->fabric = info.state;
	if (info.state != NVML_FABRIC_DONE)
		return;
	out->fabric_status = info.status;
	out->clique = info.clique;
	for (int i = 0; i < 16; i++)
		cs_text_add(out->cluster, sizeof(out->cluster), "%s%02x",
			    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			    info.cluster[i]);
	if (strspn(out->cluster, "0-") == strlen(out->cluster))
		out->cluster[0] = '\0';
	out->fabric_health = info.health;
}

static int64_t ecc_errors(struct cs_nvml_gpu *gpu, int type, int counter)
{
	uint64_t value = 0;

	return CALL(gpu->nvml, DeviceGetTotalEccErrors, gpu->board, type, counter,
		    &value) == NVML_OK ?
		       (int64_t)value :
		       -1;
}

/* The past of the GPU, and what the driver asks for. */
static void health(struct cs_nvml_gpu *gpu, struct cs_board_facts *out)
{
	static const unsigned recovery = NVML_FIELD_RECOVERY;
	struct nvml_repair repair = { .version = NVML_REPAIR_V1 };
	struct nvml_sram sram = { .version = NVML_SRAM_V1 };
	unsigned n[4] = { 0 };

	out->ecc_ever_corrected = ecc_errors(gpu, 0, 1);
	out->ecc_ever_uncorrected = ecc_errors(gpu, 1, 1);
	if (CALL(gpu->nvml, DeviceGetRemappedRows, gpu->board, &n[0], &n[1], &n[2],
		 &n[3]) == NVML_OK) {
		out->rows_corrected = (int32_t)n[0];
		out->rows_uncorrected = (int32_t)n[1];
		out->rows_pending = n[2] != 0;
		out->rows_failed = n[3] != 0;
	}
	out->pages_pending = READ(gpu, DeviceGetRetiredPagesPendingStatus);
	if (CALL(gpu->nvml, DeviceGetRepairStatus, gpu->board, &repair) == NVML_OK) {
		out->channel_pending = repair.channel != 0;
		out->tpc_pending = repair.tpc != 0;
	}
	if (CALL(gpu->nvml, DeviceGetSramEccErrorStatus, gpu->board, &sram) ==
	    NVML_OK) {
		out->sram_uncorrected = (int64_t)(sram.now[0] + sram.now[1]);
		out->sram_exceeded = sram.exceeded != 0;
	}
	out->recovery = (int32_t)cs_nvml_field_sum(gpu, 0, &recovery, 1);
	out->slowdown_c = READ(gpu, DeviceGetTemperatureThreshold,
			       NVML_THRESHOLD_SLOWDOWN);
	out->pcie_gen_own = READ(gpu, DeviceGetGpuMaxPcieLinkGeneration);
}

static void board_facts(struct cs_nvml_gpu *gpu, struct cs_board_facts *out)
{
	struct nvml_confidential mode = { 0 };
	unsigned ecc = 0, pending = 0;

	READ_TEXT(gpu, DeviceGetSerial, out->serial);
	READ_TEXT(gpu, DeviceGetBoardPartNumber, out->part);
	READ_TEXT(gpu, DeviceGetVbiosVersion, out->vbios);
	READ_TEXT(gpu, DeviceGetInforomImageVersion, out->inforom);
	out->module_id = READ(gpu, DeviceGetModuleId);
	if (CALL(gpu->nvml, DeviceGetEccMode, gpu->board, &ecc, &pending) == NVML_OK) {
		out->ecc = ecc == 1;
		out->ecc_pending = pending == 1;
	}
	out->ecc_default = READ(gpu, DeviceGetDefaultEccMode);
	/* of all GPUs that the driver has: it does not run some in this mode */
	if (CALL(gpu->nvml, SystemGetConfComputeState, &mode) == NVML_OK)
		out->confidential = mode.feature == 1;
	out->power_limit_w = watt(READ(gpu, DeviceGetPowerManagementLimit));
	out->power_default_w = watt(READ(gpu, DeviceGetPowerManagementDefaultLimit));
	out->sm_mhz_max = READ(gpu, DeviceGetMaxClockInfo, 1);
	out->mem_mhz_max = READ(gpu, DeviceGetMaxClockInfo, 2);
	out->sm_mhz_app = READ(gpu, DeviceGetApplicationsClock, 1);
	out->mem_mhz_app = READ(gpu, DeviceGetApplicationsClock, 2);
	out->sm_mhz_default = READ(gpu, DeviceGetDefaultApplicationsClock, 1);
	fabric(gpu, out);
	health(gpu, out);
	cs_nvml_link_ends(gpu, &out->nvlink);
}

/* ---- all boards ---- */

int cs_nvml_count(struct cs_nvml *nvml)
{
	unsigned n = 0;
	int code = cs_nvml_enter(nvml);

	if (code != NVML_OK)
		return -1;
	attach(nvml);
	code = TRY(nvml, DeviceGetCount_v2, &n);
	pthread_mutex_unlock(&nvml->lock);
	return cs_nvml_known(code, n);
}

/* The GPU itself, without a struct cs_nvml_gpu of its own; the code of NVML. */
static int board(struct cs_nvml *nvml, int i, struct cs_nvml_gpu *gpu)
{
	int code = cs_nvml_enter(nvml);

	if (code != NVML_OK)
		return code;
	code = TRY(nvml, DeviceGetHandleByIndex_v2, (unsigned)i, &gpu->device);
	nvml->found |= code == NVML_OK;
	pthread_mutex_unlock(&nvml->lock);
	gpu->nvml = nvml;
	gpu->board = gpu->device;
	return code == NVML_OK && !gpu->device ? NVML_INVALID_ARGUMENT : code;
}

int cs_nvml_gpu_record(struct cs_nvml *nvml, int i, struct cs_gpu_record *gpu_record)
{
	struct cs_nvml_gpu gpu = { 0 };
	struct nvml_pci pci;
	unsigned mig = 0, pending;
	char text[CS_NAME];
	int code = board(nvml, i, &gpu);

	memset(&pci, 0, sizeof(pci));
	if (code == NVML_OK)
		code = CALL(nvml, DeviceGetPciInfo_v3, gpu.board, &pci);
	if (code != NVML_OK)
		return code;
	cs_text(gpu_record->bus_id, CS_BUSID, "%04x:%02x:%02x.0", pci.domain, pci.bus,
		pci.device);
	if (CALL(nvml, DeviceGetUUID, gpu.board, text, CS_UUID) == NVML_OK)
		cs_text(gpu_record->uuid, CS_UUID, "%s", text);
	if (CALL(nvml, DeviceGetName, gpu.board, text, CS_NAME) == NVML_OK)
		cs_text(gpu_record->name, CS_NAME, "%s", text);
	gpu_record->nvml = NVML_OK;
	gpu_record->compute_mode = READ(&gpu, DeviceGetComputeMode);
	gpu_record->persistence = READ(&gpu, DeviceGetPersistenceMode);
	if (CALL(nvml, DeviceGetMigMode, gpu.board, &mig, &pending) == NVML_OK)
		gpu_record->mig = mig == 1;
	if (gpu_record->mig == 1)
		gpu_record->instances = cs_nvml_instances(nvml, i, "", NULL, 0);
	board_facts(&gpu, &gpu_record->board);
	return NVML_OK;
}

int cs_nvml_instances(struct cs_nvml *nvml, int i, const char *bus_id,
		      struct cs_mig_instance *to, int room)
{
	struct cs_nvml_gpu gpu = { 0 };
	int most, n = 0;

	if (board(nvml, i, &gpu))
		return 0;
	most = READ(&gpu, DeviceGetMaxMigDeviceCount);
	for (int k = 0; k < most && (!to || n < room); k++) {
		void *instance = NULL;

		if (CALL(nvml, DeviceGetMigDeviceHandleByIndex, gpu.board,
			 (unsigned)k, &instance) != NVML_OK)
			continue;
		if (to && CALL(nvml, DeviceGetUUID, instance, to[n].uuid, CS_UUID) !=
				  NVML_OK)
			continue;
		if (to) {
			cs_text(to[n].bus_id, CS_BUSID, "%s", bus_id);
			to[n].number = k;
		}
		n++;
	}
	return n;
}

int cs_nvml_ask(struct cs_nvml *nvml, const char *bus_id)
{
	void *device;

	return find_device(nvml, "", bus_id, &device);
}

/* ---- conditions ---- */

/* Processes on the GPU that are not `mine`, -1 unknown, and the memory of the first
 * `counted` of those.  Inside a PID namespace NVML may name pids of another one: then none of `mine` is listed although they
 * have contexts there, and the list cannot be compared. */
static int32_t other_processes(struct cs_nvml_gpu *gpu, const int64_t *mine,
			       int n_mine, int counted, int64_t *ours_bytes)
{
	struct nvml_process list[MAX_PROCESSES];
	unsigned n = MAX_PROCESSES;
	int32_t others = 0, ours = 0;
	uint64_t bytes = 0;
	int k, code;

	*ours_bytes = -1;
	code = CALL(gpu->nvml, DeviceGetComputeRunningProcesses_v3, gpu->device, &n,
		    list);
	if (code == NVML_NO_FUNCTION) {
		n = MAX_PROCESSES;
		code = CALL(gpu->nvml, DeviceGetComputeRunningProcesses_v2,
			    gpu->device, &n, list);
	}
	if (code != NVML_OK || n > MAX_PROCESSES)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		for (k = 0; k < n_mine && mine[k] != (int64_t)list[i].pid; k++)
			;
		if (k == n_mine) {
			others++;
			continue;
		}
		ours++;
		if (k >= counted)
			continue;
		/* once unknown (all ones), for ever */
		if (bytes > INT64_MAX || list[i].memory > INT64_MAX)
			bytes = UINT64_MAX;
		else
			bytes += list[i].memory;
	}
	if (ours && bytes && bytes <= INT64_MAX)
		*ours_bytes = (int64_t)bytes;
	return n_mine > 0 && ours == 0 ? -1 : others;
}

/* The driver queues what is registered, so asking is enough. */
const char *cs_nvml_xids(struct cs_nvml_gpu *gpu)
{
	char *to = gpu->xids;
	struct nvml_event event;

	if (!gpu->events) {
		if (CALL(gpu->nvml, EventSetCreate, &gpu->events) != NVML_OK)
			gpu->events = NULL;
		else
			CALL(gpu->nvml, DeviceRegisterEvents, gpu->board,
			     (uint64_t)NVML_EVENT_XID, gpu->events);
		return to;
	}
	for (int i = 0; i < MAX_EVENTS; i++) {
		char number[24];

		if (CALL(gpu->nvml, EventSetWait_v2, gpu->events, &event, 0u) !=
		    NVML_OK)
			break;
		cs_text(number, sizeof(number), "%s%llu", to[0] ? " " : "",
			(unsigned long long)event.data);
		if (event.type == NVML_EVENT_XID && !strstr(to, number) &&
		    strlen(to) + strlen(number) < sizeof(gpu->xids))
			cs_text_add(to, sizeof(gpu->xids), "%s", number);
	}
	return to;
}

void cs_nvml_state(struct cs_nvml_gpu *gpu, struct cs_gpu_state *out)
{
	out->sm_mhz = READ(gpu, DeviceGetClockInfo, 1);
	out->temperature_c = READ(gpu, DeviceGetTemperature, 0);
	out->power_w = watt(READ(gpu, DeviceGetPowerUsage));
}

void cs_nvml_conditions(struct cs_nvml_gpu *gpu, const int64_t *mine, int n_mine,
			int n_counted, struct cs_conditions *out)
{
	static const unsigned pcie_errors[] = { NVML_FIELD_PCIE_CORRECTABLE,
						NVML_FIELD_PCIE_NON_FATAL,
						NVML_FIELD_PCIE_FATAL };
	int64_t ours_bytes;
	const int32_t others = other_processes(gpu, mine, n_mine, n_counted,
					       &ours_bytes);
	struct cs_gpu_state state;

	cs_nvml_state(gpu, &state);
	*out = (struct cs_conditions){
		.known = 1,
		.sm_mhz = state.sm_mhz,
		.mem_mhz = READ(gpu, DeviceGetClockInfo, 2),
		.temperature_c = state.temperature_c,
		.power_w = state.power_w,
		.throttle = cs_nvml_throttle(gpu),
		.ecc_corrected = ecc_errors(gpu, 0, 0),
		.ecc_uncorrected = ecc_errors(gpu, 1, 0),
		.pcie_replays = READ(gpu, DeviceGetPcieReplayCounter),
		.others = others,
		.ours_bytes = ours_bytes,
		.persistence = READ(gpu, DeviceGetPersistenceMode),
		.nvlink_sent_kib = cs_nvml_sent_kib(gpu),
		.nvlink_received_kib = cs_nvml_received_kib(gpu),
		.pcie_errors = cs_nvml_field_sum(gpu, 0, pcie_errors, 3),
		.bridge_errors = -1,
		.nvlink_errors = -1,
	};
	cs_text(out->xids, sizeof(out->xids), "%s", cs_nvml_xids(gpu));
}

uint64_t cs_nvml_throttle(struct cs_nvml_gpu *gpu)
{
	uint64_t reasons = 0;

	if (CALL(gpu->nvml, DeviceGetCurrentClocksEventReasons, gpu->board,
		 &reasons) == NVML_OK ||
	    CALL(gpu->nvml, DeviceGetCurrentClocksThrottleReasons, gpu->board,
		 &reasons) == NVML_OK)
		return reasons;
	return 0;
}
