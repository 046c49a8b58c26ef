/* survey.c - the GPUs that the PCI bus and NVML know, and signs of a GPU.
 *
 * The survey runs in a thread that is abandoned if it hangs: NVML may, and so may the
 * opening of a device file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "system/internal.h"
#include "system/nvml.h"

#define PATH 256

static struct cs_gpu_record *find(struct cs_survey *s, const char *bus_id)
{
	for (int i = 0; i < s->n; i++)
		if (!strcmp(s->gpu[i].bus_id, bus_id))
			return &s->gpu[i];
	if (s->n == CS_MAX_AGENTS)
		return NULL;
	cs_gpu_record_init(&s->gpu[s->n]);
	cs_text(s->gpu[s->n].bus_id, CS_BUSID, "%s", bus_id);
	return &s->gpu[s->n++];
}

/* The kernel driver of a PCI device: where its link "driver" leads. */
static void kernel_module(const char *root, struct cs_gpu_record *gpu_record)
{
	char path[PATH], to[PATH];
	const char *name;
	ssize_t n;

	cs_text(path, sizeof(path), "%s/sys/bus/pci/devices/%s/driver", root,
		gpu_record->bus_id);
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		return;
	to[n] = '\0';
	name = strrchr(to, '/');
	cs_text(gpu_record->module, sizeof(gpu_record->module), "%s",
		name ? name + 1 : to);
}

/* May this process open the device file of a GPU that NVML does not show?  Its number
 * comes from the driver.  -1: unknown. */
static int try_device_file(const char *root, const char *bus_id)
{
	FILE *f = cs_sysfile_open(root, "/proc/driver/nvidia/gpus/%s/information",
				  bus_id);
	char path[PATH], line[128];
	int number = -1, fd;

	if (!f)
		return -1;
	while (number < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "Device Minor: %d", &number) != 1)
			number = -1;
	fclose(f);
	if (number < 0)
		return -1;
	cs_text(path, sizeof(path), "%s/dev/nvidia%d", root, number);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Which GPUs are lost and not on the bus?  NVML numbers all that it counts, lost or not,
 * in the order of the bus. */
static void find_lost(const int *code, int n, struct cs_survey *s)
{
	const struct cs_gpu_record *at = s->gpu, *end = at + s->n;

	for (int i = 0; i < n; i++) {
		while (at < end && at->nvml != NVML_OK && at->nvml != NVML_LOST)
			at++;
		if (code[i] != NVML_LOST || (at < end && at->nvml == NVML_LOST))
			at += at < end;
		else if (strlen(s->lost) + sizeof(", 63") <= sizeof(s->lost))
			cs_text_add(s->lost, sizeof(s->lost), "%s%d",
				    s->lost[0] ? ", " : "", i);
	}
}

/* The codes of NVML's GPUs; returns how many these are. */
static int ask_nvml(struct cs_nvml *nvml, struct cs_survey *s, int code[CS_MAX_AGENTS])
{
	int n = cs_nvml_count(nvml);

	n = n > CS_MAX_AGENTS ? CS_MAX_AGENTS : n;
	cs_nvml_driver(nvml, s->driver, s->cuda);
	for (int i = 0; i < n; i++) {
		struct cs_gpu_record seen, *to;

		cs_gpu_record_init(&seen);
		code[i] = cs_nvml_gpu_record(nvml, i, &seen);
		if (code[i] != NVML_OK)
			continue;
		to = find(s, seen.bus_id);
		if (!to)
			continue;
		seen.on_bus = to->on_bus;
		cs_text(seen.module, sizeof(seen.module), "%s", to->module);
		*to = seen;
		s->n_instances += cs_nvml_instances(nvml, i, seen.bus_id,
						    s->instance + s->n_instances,
						    CS_MAX_AGENTS - s->n_instances);
	}
	return n;
}

CS_ORDERING(by_bus_id, struct cs_gpu_record, cs_bus_id_compare(a->bus_id, b->bus_id))

void cs_gpu_survey(struct cs_nvml *nvml, const char *root,
		   const struct cs_pci_gpus *pci, struct cs_survey *out)
{
	int code[CS_MAX_AGENTS], counted = 0;

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < pci->n; i++) {
		struct cs_gpu_record *gpu_record = find(out, pci->bus_id[i]);

		gpu_record->on_bus = 1;
		kernel_module(root, gpu_record);
	}
	if (nvml)
		counted = ask_nvml(nvml, out, code);
	for (int i = 0; i < out->n; i++) {
		struct cs_gpu_record *gpu_record = &out->gpu[i];

		if (gpu_record->nvml == 0)
			continue;
		if (nvml)
			gpu_record->nvml = cs_nvml_ask(nvml, gpu_record->bus_id);
		gpu_record->refused = try_device_file(root, gpu_record->bus_id);
	}
	qsort(out->gpu, (size_t)out->n, sizeof(*out->gpu), by_bus_id);
	find_lost(code, counted, out);
	cs_kmsg_xids(root, out->gpu, out->n);
}

/* ---- signs of a GPU, without a driver call: is the driver missing, or the GPU? ---- */

/* Read the variables that Slurm sets when it grants GPUs.  CUDA_VISIBLE_DEVICES is no
 * grant: users set it themselves, on machines without GPUs too.  GPU_DEVICE_ORDINAL has users
 * outside Slurm. */
void cs_gpu_grant(char *to, size_t size)
{
	static const char *const grant[] = {
		"SLURM_STEP_GPUS",
		"SLURM_JOB_GPUS",
		"GPU_DEVICE_ORDINAL",
	};
	size_t i, n = getenv("SLURM_JOB_ID") ? 3 : 2;

	for (i = 0; i < n; i++) {
		const char *value = getenv(grant[i]);

		if (value && *value) {
			cs_text(to, size, "%s=%s", grant[i], value);
			return;
		}
	}
	cs_text(to, size, "%s", "");
}

void cs_gpu_hint(const struct cs_topo *topo, const char *root, char *hint, size_t size)
{
	static const char *const file[] = {
		"/dev/nvidiactl",
		"/proc/driver/nvidia/version",
	};
	hwloc_obj_t gpu = cs_topo_next_gpu(topo, NULL);
	char bus_id[CS_BUSID];

	if (gpu) {
		cs_pci_text(gpu, bus_id);
		cs_text(hint, size, "PCI device %s", bus_id);
		return;
	}
	for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++) {
		if (cs_sysfile_exists(root, "%s", file[i])) {
			cs_text(hint, size, "%s", file[i]);
			return;
		}
	}
	cs_gpu_grant(hint, size);
}
