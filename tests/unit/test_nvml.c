/* Against the fake libnvidia-ml.so.1 in the folder FAKE. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hints.h"
#include "system/system.h"
#include "tap.h"

#define UUID0 "GPU-00000000-0000-0000-0000-000000000000"
#define UUID1 "GPU-00000000-0000-0000-0000-000000000001"
#define BUS1 "0000:2b:00.0"

static char library[512]; /* the fake; "" none */

int tap_set_up(void)
{
	const char *folder = getenv("FAKE");

	if (folder) {
		cs_text(library, sizeof(library), "%s/libnvidia-ml.so.1", folder);
		setenv("CS_LIBNVML", library, 1);
	}
	return 0;
}

/* The library with one knob of the fake turned; NULL: none. */
static struct cs_nvml *turned(const char *knob, const char *value)
{
	static const char *const knobs[] = {
		"FAKE_GPUS",	    "FAKE_NVLINKS",    "FAKE_NVLINKS_DOWN",
		"FAKE_PCIE",	    "FAKE_THROTTLE",   "FAKE_NVML_OTHERS",
		"FAKE_NVML_INIT",   "FAKE_ECC",	       "FAKE_CONFIDENTIAL",
		"FAKE_POWER_LIMIT", "FAKE_VBIOS",      "FAKE_SERIAL",
		"FAKE_FABRIC",	    "FAKE_NVML_LACKS", "FAKE_NVLINK_REMOTE",
	};
	struct cs_err err = { "" };
	struct cs_nvml *nvml;
	size_t i;

	if (!library[0]) {
		t_skip("FAKE does not name the folder of the fake library");
		return NULL;
	}
	for (i = 0; i < sizeof(knobs) / sizeof(*knobs); i++)
		unsetenv(knobs[i]);
	if (knob)
		setenv(knob, value, 1);
	nvml = cs_nvml_open(&err);
	if (!nvml)
		printf("# %s\n", err.text);
	t_ok(nvml != NULL);
	return nvml;
}

static struct cs_nvml_gpu *find(struct cs_nvml *nvml, const char *uuid,
				const char *bus_id)
{
	struct cs_err err = { "" };
	struct cs_nvml_gpu *gpu = cs_nvml_find(nvml, uuid, bus_id, &err);

	if (!gpu)
		printf("# %s\n", err.text);
	t_ok(gpu != NULL);
	return gpu;
}

/* ---- library ---- */

/* What opening a library that does not serve says. */
static void refused(const char *file, const char *want)
{
	struct cs_err err = { "" };

	setenv("CS_LIBNVML", file, 1);
	t_ok(cs_nvml_open(&err) == NULL);
	if (!t_ok(strstr(err.text, want) != NULL))
		printf("# %s\n", err.text);
	setenv("CS_LIBNVML", library, 1);
}

HOLDS("a library that is not there is named") {
	refused("/no/such/library.so", "/no/such/library.so");
	refused("/no/such/library.so", "; in a container set "
				       "NVIDIA_DRIVER_CAPABILITIES=compute,utility");
}

HOLDS("a library that is not NVML is refused by the function it lacks") {
	refused("libm.so.6", "nvmlInit_v2");
}

HOLDS("a library that does not start gives its code") {
	struct cs_nvml *nvml = turned(NULL, NULL);

	if (!nvml)
		return;
	cs_nvml_close(nvml);
	setenv("FAKE_NVML_INIT", "9", 1);
	refused(library, "(9)");
	unsetenv("FAKE_NVML_INIT");
}

HOLDS("every code of NVML with a sure hint says it") {
	struct cs_nvml *nvml = turned(NULL, NULL);
	int provoked = 0;

	if (!nvml)
		return;
	cs_nvml_close(nvml);
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *hint = cs_hint(id);
		char code[8], want[160];

		if (hint->of != CS_HINT_OF_NVML || !hint->code[0])
			continue;
		cs_text(code, sizeof(code), "%d", hint->code[0]);
		cs_text(want, sizeof(want), " (%s); %s", code, hint->brief);
		setenv("FAKE_NVML_INIT", code, 1);
		refused(library, want);
		provoked++;
	}
	unsetenv("FAKE_NVML_INIT");
	t_eq_int(provoked, 2);
}

HOLDS("driver and CUDA version are text") {
	struct cs_nvml *nvml = turned(NULL, NULL);
	char driver[32] = "", cuda[16] = "";

	if (!nvml)
		return;
	cs_nvml_driver(nvml, driver, cuda);
	t_eq_str(driver, "580.159.03");
	t_eq_str(cuda, "13.0");
	cs_nvml_close(nvml);
}

HOLDS("closing nothing is harmless") {
	cs_nvml_close(NULL);
	cs_nvml_release(NULL);
	t_ok(1);
}

/* ---- finding ---- */

/* The fake's GPU i has 41 + i degrees. */
static int temperature(struct cs_nvml_gpu *gpu)
{
	struct cs_conditions now;

	cs_nvml_conditions(gpu, NULL, 0, 0, &now);
	return now.temperature_c;
}

static void t_finds(const char *uuid, const char *bus_id, int want)
{
	struct cs_nvml *nvml = turned(NULL, NULL);
	struct cs_nvml_gpu *gpu = nvml ? find(nvml, uuid, bus_id) : NULL;

	if (gpu)
		t_eq_int(temperature(gpu), want);
	cs_nvml_release(gpu);
	cs_nvml_close(nvml);
}

HOLDS("a GPU is found by UUID though none is attached at first") {
	t_finds(UUID1, "0000:ff:00.0", 42);
}

HOLDS("a GPU of unknown UUID is found by bus id") {
	t_finds("GPU-unknown", BUS1, 42);
}

HOLDS("a GPU found by neither is an error that names both") {
	struct cs_nvml *nvml = turned(NULL, NULL);
	struct cs_err err = { "" };

	if (!nvml)
		return;
	t_ok(cs_nvml_find(nvml, "GPU-unknown", "0000:ff:00.0", &err) == NULL);
	t_ok(strstr(err.text, "\"GPU-unknown\" at 0000:ff:00.0") != NULL);
	t_ok(strstr(err.text, "(6)") != NULL);
	cs_nvml_close(nvml);
}

HOLDS("a MIG instance is not mistaken for the GPU at its bus id") {
	struct cs_nvml *nvml = turned(NULL, NULL);

	if (!nvml)
		return;
	t_ok(cs_nvml_find(nvml, "MIG-unknown", BUS1, NULL) == NULL);
	cs_nvml_close(nvml);
}

HOLDS("a GPU found stays valid when another is sought in vain") {
	struct cs_nvml *nvml = turned(NULL, NULL);
	struct cs_nvml_gpu *gpu = nvml ? find(nvml, UUID0, BUS1) : NULL;

	if (gpu) {
		cs_nvml_find(nvml, "GPU-unknown", "0000:ff:00.0", NULL);
		t_eq_int(temperature(gpu), 41);
	}
	cs_nvml_release(gpu);
	cs_nvml_close(nvml);
}

/* ---- links ---- */

/* The links of GPU 1; 0 when there is no fake. */
static int links(const char *knob, const char *value, struct cs_link_facts *link)
{
	struct cs_nvml *nvml = turned(knob, value);
	struct cs_nvml_gpu *gpu = nvml ? find(nvml, UUID1, BUS1) : NULL;
	int found = gpu != NULL;

	if (gpu)
		cs_nvml_link(gpu, link);
	cs_nvml_release(gpu);
	cs_nvml_close(nvml);
	return found;
}

HOLDS("links tell number, version, speed and PCIe") {
	struct cs_link_facts link;

	if (!links(NULL, NULL, &link))
		return;
	t_eq_int(link.nvlinks_up, 18);
	t_eq_int(link.nvlinks_max, 18);
	t_eq_int(link.nvlink_version, 4);
	t_near(link.nvlink_raw_gbs, 26.562, 1e-9);
	t_eq_int(link.pcie_gen, 5);
	t_eq_int(link.pcie_width, 16);
	t_eq_int(link.pcie_gen_max, 5);
	t_eq_int(link.pcie_width_max, 16);
}

HOLDS("links that are down count among the possible ones") {
	struct cs_link_facts link;

	if (!links("FAKE_NVLINKS_DOWN", "1:2", &link))
		return;
	t_eq_int(link.nvlinks_up, 16);
	t_eq_int(link.nvlinks_max, 18);
	t_eq_int(link.nvlink_version, 4);
}

HOLDS("with all links down version and speed are unknown") {
	struct cs_link_facts link;

	if (!links("FAKE_NVLINKS_DOWN", "1:18", &link))
		return;
	t_eq_int(link.nvlinks_up, 0);
	t_eq_int(link.nvlinks_max, 18);
	t_eq_int(link.nvlink_version, -1);
	t_near(link.nvlink_raw_gbs, NAN, 0);
}

HOLDS("a card without NVLink has 0 of 0") {
	struct cs_link_facts link;

	if (!links("FAKE_NVLINKS", "0", &link))
		return;
	t_eq_int(link.nvlinks_up, 0);
	t_eq_int(link.nvlinks_max, 0);
	t_near(link.nvlink_raw_gbs, NAN, 0);
}

HOLDS("36 links are counted") {
	struct cs_link_facts link;

	if (links("FAKE_NVLINKS", "36", &link))
		t_eq_int(link.nvlinks_up, 36);
}

HOLDS("a PCIe link below its best shows both") {
	struct cs_link_facts link;

	if (!links("FAKE_PCIE", "1:4x8", &link))
		return;
	t_eq_int(link.pcie_gen, 4);
	t_eq_int(link.pcie_width, 8);
	t_eq_int(link.pcie_gen_max, 5);
	t_eq_int(link.pcie_width_max, 16);
}

/* ---- board ---- */

/* GPU 1 as the survey sees it; 0 when there is no fake. */
static int gpu_record(const char *knob, const char *value, struct cs_gpu_record *out)
{
	struct cs_nvml *nvml = turned(knob, value);
	int found = nvml && cs_nvml_count(nvml) == 2;

	cs_gpu_record_init(out);
	if (nvml)
		t_ok(found && cs_nvml_gpu_record(nvml, 1, out) == 0);
	cs_nvml_close(nvml);
	return found;
}

HOLDS("a board has serial, part number, versions, position and settings") {
	struct cs_gpu_record s;

	if (!gpu_record(NULL, NULL, &s))
		return;
	t_eq_str(s.board.serial, "1650023000001");
	t_eq_str(s.board.part, "900-21010-0040-000");
	t_eq_str(s.board.vbios, "96.00.A5.00.01");
	t_eq_str(s.board.inforom, "G520.0280.00.04");
	t_eq_int(s.board.module_id, 2);
	t_eq_int(s.board.ecc, 1);
	t_eq_int(s.board.confidential, 0);
	t_near(s.board.power_limit_w, 700, 1e-9);
	t_near(s.board.power_default_w, 700, 1e-9);
	t_eq_int(s.board.sm_mhz_max, 1980);
	t_eq_int(s.board.mem_mhz_max, 3201);
	t_eq_int(s.board.sm_mhz_app, 1980);
	t_eq_int(s.board.fabric, 3);
	t_eq_int(s.board.fabric_status, 0);
	t_eq_int(s.board.nvlink.to_switch, 18);
	t_eq_int(s.board.nvlink.to_other, 0);
	t_eq_int(s.board.nvlink.n_gpus, 0);
}

HOLDS("… as they are set, and no text for one that is not") {
	struct cs_gpu_record s;

	if (gpu_record("FAKE_ECC", "1:0", &s))
		t_eq_int(s.board.ecc, 0);
	if (gpu_record("FAKE_CONFIDENTIAL", "1", &s))
		t_eq_int(s.board.confidential, 1);
	if (gpu_record("FAKE_POWER_LIMIT", "1:450", &s))
		t_near(s.board.power_limit_w, 450, 1e-9);
	if (gpu_record("FAKE_VBIOS", "1:96.00.B1.00.02", &s))
		t_eq_str(s.board.vbios, "96.00.B1.00.02");
	if (gpu_record("FAKE_SERIAL", "1:N/A", &s))
		t_eq_str(s.board.serial, "");
	if (!gpu_record("FAKE_FABRIC", "1:2", &s))
		return;
	t_eq_int(s.board.fabric, 2);
	t_eq_int(s.board.fabric_status, -1);
}

HOLDS("what the driver has no function for is unknown, not 0") {
	struct cs_gpu_record s;

	if (!gpu_record("FAKE_NVML_LACKS",
			"nvmlDeviceGetSerial,nvmlDeviceGetEccMode,"
			"nvmlDeviceGetPowerManagementLimit,nvmlDeviceGetModuleId,"
			"nvmlDeviceGetGpuFabricInfoV,nvmlDeviceGetMaxClockInfo,"
			"nvmlDeviceGetNvLinkRemoteDeviceType",
			&s))
		return;
	t_eq_str(s.board.serial, "");
	t_eq_str(s.board.vbios, "96.00.A5.00.01");
	t_eq_int(s.board.module_id, -1);
	t_eq_int(s.board.ecc, -1);
	t_near(s.board.power_limit_w, NAN, 0);
	t_eq_int(s.board.sm_mhz_max, -1);
	t_eq_int(s.board.fabric, -1);
	t_eq_int(s.board.nvlink.to_switch, -1);
	t_eq_int(s.board.nvlink.n_gpus, -1);
}

HOLDS("links to other GPUs are counted by GPU") {
	struct cs_gpu_record s;

	if (!gpu_record("FAKE_NVLINK_REMOTE", "1:0x12", &s))
		return;
	t_eq_int(s.board.nvlink.to_switch, 0);
	t_eq_int(s.board.nvlink.n_gpus, 1);
	t_eq_str(s.board.nvlink.gpu[0].bus_id, "0000:1b:00.0");
	t_eq_int(s.board.nvlink.gpu[0].links, 12);
	t_eq_int(s.board.nvlink.to_other, 6); /* nobody says where */
}

HOLDS("links that are down lead nowhere") {
	struct cs_gpu_record s;

	if (gpu_record("FAKE_NVLINKS_DOWN", "1:2", &s))
		t_eq_int(s.board.nvlink.to_switch, 16);
	if (!gpu_record("FAKE_NVLINKS", "0", &s))
		return;
	t_eq_int(s.board.nvlink.to_switch, 0);
	t_eq_int(s.board.nvlink.n_gpus, 0);
}

/* ---- conditions ---- */

/* The conditions of GPU 1; 0 when there is no fake. */
static int conditions(const char *knob, const char *value, const int64_t *mine,
		      int n_mine, struct cs_conditions *now)
{
	struct cs_nvml *nvml = turned(knob, value);
	struct cs_nvml_gpu *gpu = nvml ? find(nvml, UUID1, BUS1) : NULL;
	int found = gpu != NULL;

	if (gpu)
		cs_nvml_conditions(gpu, mine, n_mine, n_mine, now);
	cs_nvml_release(gpu);
	cs_nvml_close(nvml);
	return found;
}

HOLDS("conditions have the units of their names") {
	struct cs_conditions now;

	if (!conditions(NULL, NULL, NULL, 0, &now))
		return;
	t_eq_int(now.known, 1);
	t_eq_int(now.sm_mhz, 1980);
	t_eq_int(now.mem_mhz, 3201);
	t_eq_int(now.temperature_c, 42);
	t_near(now.power_w, 121, 1e-9);
	t_eq_int(now.throttle, 0);
	t_eq_int(now.ecc_corrected, 0);
	t_eq_int(now.ecc_uncorrected, 0);
	t_eq_int(now.nvlink_errors, 0);
	t_eq_int(now.pcie_replays, 0);
}

HOLDS("a counter that is not supported is -1") {
	struct cs_conditions now;

	if (conditions("FAKE_NVLINKS", "0", NULL, 0, &now))
		t_eq_int(now.nvlink_errors, -1);
}

HOLDS("throttle reasons are passed on") {
	struct cs_nvml *nvml = turned("FAKE_THROTTLE", "1:0x44");
	struct cs_nvml_gpu *gpu = nvml ? find(nvml, UUID1, BUS1) : NULL;

	if (gpu)
		t_eq_int(cs_nvml_throttle(gpu), 0x44);
	cs_nvml_release(gpu);
	cs_nvml_close(nvml);
}

HOLDS("our own process is none of the others") {
	const int64_t mine[] = { 1, getpid() };
	struct cs_conditions now;

	if (conditions(NULL, NULL, mine, 2, &now))
		t_eq_int(now.others, 0);
}

HOLDS("processes of others are counted") {
	const int64_t mine[] = { 1, getpid() };
	struct cs_conditions now;

	if (conditions("FAKE_NVML_OTHERS", "1:2", mine, 2, &now))
		t_eq_int(now.others, 2);
}

HOLDS("pids that cannot be ours to compare make the count unknown") {
	const int64_t mine[] = { 1, 2 };
	struct cs_conditions now;

	if (conditions("FAKE_NVML_OTHERS", "1:2", mine, 2, &now))
		t_eq_int(now.others, -1);
}

HOLDS("when none is ours all are others") {
	struct cs_conditions now;

	if (conditions("FAKE_NVML_OTHERS", "1:2", NULL, 0, &now))
		t_eq_int(now.others, 3);
}

HOLDS("more processes than can be listed make the count unknown") {
	const int64_t mine[] = { getpid() };
	struct cs_conditions now;

	if (conditions("FAKE_NVML_OTHERS", "1:1000", mine, 1, &now))
		t_eq_int(now.others, -1);
}
