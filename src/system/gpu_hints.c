/* gpu_hints.c - does this machine or this job have an NVIDIA GPU?  Answered without a
 * driver call, so that a missing driver is told apart from a missing GPU. */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "system/internal.h"

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
	char bus_id[CS_BUSID], path[CS_FILE_PATH];
	size_t i;

	if (gpu) {
		cs_pci_text(gpu, bus_id);
		cs_text(hint, size, "PCI device %s", bus_id);
		return;
	}
	for (i = 0; i < sizeof(file) / sizeof(*file); i++) {
		cs_text(path, sizeof(path), "%s%s", root, file[i]);
		if (access(path, F_OK) == 0) {
			cs_text(hint, size, "%s", file[i]);
			return;
		}
	}
	cs_gpu_grant(hint, size);
}
