/* Against the fake libnvidia-ml.so.1 in the folder FAKE. */
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

static struct cs_nvml *nvml; /* until the next is opened */
static struct cs_nvml_gpu *gpu;

static void close_all(void)
{
	cs_nvml_release(gpu);
	cs_nvml_close(nvml);
	gpu = NULL;
	nvml = NULL;
}

int tap_tear_down(void)
{
	close_all();
	return 0;
}

/* Open the library with one knob of the fake turned; 0: there is none. */
static int turned(const char *knob, const char *value)
{
	static const char *const knobs[] = {
		"FAKE_GPUS",	       "FAKE_NVLINKS",
		"FAKE_NVLINKS_DOWN",   "FAKE_PCIE",
		"FAKE_THROTTLE",       "FAKE_NVML_OTHERS",
		"FAKE_NVML_INIT",      "FAKE_ECC",
		"FAKE_CONFIDENTIAL",   "FAKE_POWER_LIMIT",
		"FAKE_VBIOS",	       "FAKE_SERIAL",
		"FAKE_FABRIC",	       "FAKE_NVML_LACKS",
		"FAKE_NVLINK_REMOTE",  "FAKE_C2C",
		"FAKE_NVLINK_VERSION",
	};
	struct cs_err err = { "" };

	close_all();
	if (!library[0]) {
		t_skip("FAKE does not name the folder of the fake library");
		return 0;
	}
	for (size_t i = 0; i < sizeof(knobs) / sizeof(*knobs); i++)
		unsetenv(knobs[i]);
	if (knob)
		setenv(knob, value, 1);
	nvml = cs_nvml_open(&err);
	if (!nvml)
		printf("# %s\n", err.text);
	return t_ok(nvml != NULL);
}

/* Likewise, and find a GPU. */
static int has_gpu(const char *knob, const char *value, const char *uuid,
		   const char *bus_id)
{
	struct cs_err err = { "" };

	if (!turned(knob, value))
		return 0;
	gpu = cs_nvml_find(nvml, uuid, bus_id, &err);
	if (!gpu)
		printf("# %s\n", err.text);
	return t_ok(gpu != NULL);
}

/* ---- library ---- */

/* What opening a library that does not serve says. */
static void refused(const char *file, const char *want)
{
	struct cs_err err = { "" };

	setenv("CS_LIBNVML", file, 1);
	t_ok(cs_nvml_open(&err) == NULL);
	t_has(err.text, want);
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
	if (!turned(NULL, NULL))
		return;
	close_all();
	setenv("FAKE_NVML_INIT", "9", 1);
	refused(library, "(9)");
	unsetenv("FAKE_NVML_INIT");
}

HOLDS("every code of NVML with a sure hint says it") {
	int provoked = 0;

	if (!turned(NULL, NULL))
		return;
	close_all();
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
	char driver[32] = "", cuda[16] = "";

	if (!turned(NULL, NULL))
		return;
	cs_nvml_driver(nvml, driver, cuda);
	t_eq_str(driver, "580.159.03");
	t_eq_str(cuda, "13.0");
}

HOLDS("closing nothing is harmless") {
	cs_nvml_close(NULL);
	cs_nvml_release(NULL);
	t_ok(1);
}

/* ---- finding ---- */

/* The fake's GPU i has 41 + i degrees. */
static int temperature(void)
{
	struct cs_conditions now;

	cs_nvml_conditions(gpu, NULL, 0, 0, &now);
	return now.temperature_c;
}

static void t_finds(const char *uuid, const char *bus_id, int want)
{
	if (has_gpu(NULL, NULL, uuid, bus_id))
		t_eq_int(temperature(), want);
}

HOLDS("a GPU is found by UUID though none is attached at first, else by bus id") {
	t_finds(UUID1, "0000:ff:00.0", 42);
	t_finds("GPU-unknown", BUS1, 42);
}

HOLDS("a GPU found by neither is an error that names both") {
	struct cs_err err = { "" };

	if (!turned(NULL, NULL))
		return;
	t_ok(cs_nvml_find(nvml, "GPU-unknown", "0000:ff:00.0", &err) == NULL);
	t_has(err.text, "\"GPU-unknown\" at 0000:ff:00.0");
	t_has(err.text, "(6)");
}

HOLDS("a MIG instance is not mistaken for the GPU at its bus id") {
	if (!turned(NULL, NULL))
		return;
	t_ok(cs_nvml_find(nvml, "MIG-unknown", BUS1, NULL) == NULL);
}

HOLDS("a GPU found stays valid when another is sought in vain") {
	if (has_gpu(NULL, NULL, UUID0, BUS1)) {
		cs_nvml_find(nvml, "GPU-unknown", "0000:ff:00.0", NULL);
		t_eq_int(temperature(), 41);
	}
}

/* ---- links ---- */

/* The links of GPU 1, NVLink and PCIe; compared with nothing when there is no fake. */
static void links_are(const char *knob, const char *value, const char *want)
{
	struct cs_link_facts l;
	char text[100];

	if (!has_gpu(knob, value, UUID1, BUS1))
		return;
	cs_nvml_link(gpu, &l);
	cs_text(text, sizeof(text), "%d of %d of version %d at %.3f, %d x%d of %d x%d",
		l.nvlinks_up, l.nvlinks_max, l.nvlink_version, l.nvlink_raw_gbs,
		l.pcie_gen, l.pcie_width, l.pcie_gen_max, l.pcie_width_max);
	t_eq_str(text, want);
}

HOLDS("links have number, version, speed and PCIe") {
	links_are(NULL, NULL, "18 of 18 of version 4 at 26.562, 5 x16 of 5 x16");
	links_are("FAKE_NVLINKS", "36",
		  "36 of 36 of version 4 at 26.562, 5 x16 of 5 x16");
	/* PCIe below its best shows both */
	links_are("FAKE_PCIE", "1:4x8",
		  "18 of 18 of version 4 at 26.562, 4 x8 of 5 x16");
	links_are("FAKE_NVLINK_VERSION", "3",
		  "18 of 18 of version 3 at 25.000, 5 x16 of 5 x16");
	links_are("FAKE_NVLINK_VERSION", "5",
		  "18 of 18 of version 5 at 53.125, 5 x16 of 5 x16");
	/* a GPU on C2C has no PCIe that counts */
	links_are("FAKE_C2C", "10", "18 of 18 of version 4 at 26.562, 0 x0 of 0 x0");
}

HOLDS("links that are down count among the possible ones; without one up version and speed "
      "are unknown") {
	links_are("FAKE_NVLINKS_DOWN", "1:2",
		  "16 of 18 of version 4 at 26.562, 5 x16 of 5 x16");
	links_are("FAKE_NVLINKS_DOWN", "1:18",
		  "0 of 18 of version -1 at nan, 5 x16 of 5 x16");
	links_are("FAKE_NVLINKS", "0", "0 of 0 of version -1 at nan, 5 x16 of 5 x16");
}

/* ---- board ---- */

/* GPU 1 as the survey sees it; 0 when there is no fake. */
static int gpu_record(const char *knob, const char *value, struct cs_gpu_record *out)
{
	cs_gpu_record_init(out);
	return turned(knob, value) && t_eq_int(cs_nvml_count(nvml), 2) &&
	       t_eq_int(cs_nvml_gpu_record(nvml, 1, out), 0);
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

/* The conditions of GPU 1; compared with nothing when there is no fake. */
static void conditions_are(const char *knob, const char *value, const char *want)
{
	struct cs_conditions now;
	char text[200];

	if (has_gpu(knob, value, UUID1, BUS1)) {
		cs_nvml_conditions(gpu, NULL, 0, 0, &now);
		cs_nvml_link_errors(gpu, &now);
		cs_text(text, sizeof(text),
			"%d: %d MHz, memory %d MHz, %d C, %.1f W, throttle %#jx, ECC "
			"%jd + %jd, NVLink %jd, PCIe %jd",
			(int)now.known, (int)now.sm_mhz, (int)now.mem_mhz,
			(int)now.temperature_c, now.power_w, (uintmax_t)now.throttle,
			(intmax_t)now.ecc_corrected, (intmax_t)now.ecc_uncorrected,
			(intmax_t)now.nvlink_errors, (intmax_t)now.pcie_replays);
		t_eq_str(text, want);
	}
}

/* Processes on GPU 1 that are not among `mine`; compared likewise. */
static void others_are(const char *value, const int64_t *mine, int n_mine, int want)
{
	struct cs_conditions now;

	if (has_gpu(value ? "FAKE_NVML_OTHERS" : NULL, value, UUID1, BUS1)) {
		cs_nvml_conditions(gpu, mine, n_mine, n_mine, &now);
		t_eq_int(now.others, want);
	}
}

#define USUAL "1: 1980 MHz, memory 3201 MHz, 42 C, 121.0 W, throttle 0, ECC 0 + 0, "

HOLDS("conditions have the units of their names; a counter that is not supported is -1") {
	conditions_are(NULL, NULL, USUAL "NVLink 0, PCIe 0");
	conditions_are("FAKE_NVLINKS", "0", USUAL "NVLink -1, PCIe 0");
}

HOLDS("throttle reasons are passed on") {
	if (has_gpu("FAKE_THROTTLE", "1:0x44", UUID1, BUS1))
		t_eq_int(cs_nvml_throttle(gpu), 0x44);
}

HOLDS("processes of others are counted, without our own") {
	others_are(NULL, (int64_t[]){ 1, getpid() }, 2, 0);
	others_are("1:2", (int64_t[]){ 1, getpid() }, 2, 2);
	others_are("1:2", NULL, 0, 3);
}

HOLDS("pids that cannot be ours to compare make the count unknown") {
	others_are("1:2", (int64_t[]){ 1, 2 }, 2, -1);
	/* as do more than can be listed */
	others_are("1:1000", (int64_t[]){ getpid() }, 1, -1);
}
