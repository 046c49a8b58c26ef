/* memory_available.c - how much host memory is left, and saying that it is too
 * little. */
#include "config.h"

#include <inttypes.h>
#include <sys/statvfs.h>

#include "base/units.h"
#include "system/internal.h"

/* Of a NUMA node below `root`; 0 unknown. */
static uint64_t numa_bytes(const char *root, unsigned numa, const char *key)
{
	char path[200];
	uint64_t bytes;

	cs_text(path, sizeof(path), "%s/sys/devices/system/node/node%u/meminfo", root,
		numa);
	bytes = cs_kernel_bytes(path, key);
	return bytes == UINT64_MAX ? 0 : bytes;
}

/* A virtual machine that gets memory on first touch shows less on its NUMA nodes than it
 * has; then their figures are not used. */
uint64_t cs_numa_left(const char *root, int numa)
{
	hwloc_bitmap_t nodes = cs_memory_numa(root);
	uint64_t sum = 0, total;
	char path[200];
	unsigned i;

	hwloc_bitmap_foreach_begin(i, nodes) sum += numa_bytes(root, i, "MemTotal");
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(nodes);
	cs_text(path, sizeof(path), "%s/proc/meminfo", root);
	total = cs_kernel_bytes(path, "MemTotal");
	if (numa < 0 || total == UINT64_MAX || sum < total / 100 * 99)
		return UINT64_MAX;
	return numa_bytes(root, (unsigned)numa, "MemFree") +
	       numa_bytes(root, (unsigned)numa, "Active(file)") +
	       numa_bytes(root, (unsigned)numa, "Inactive(file)") +
	       numa_bytes(root, (unsigned)numa, "SReclaimable");
}

uint64_t cs_shm_left(void)
{
	struct statvfs shm;

	return statvfs("/dev/shm", &shm) ? UINT64_MAX : shm.f_bavail * shm.f_frsize;
}

int cs_memory_short(uint64_t bytes, int numa, struct cs_err *err)
{
	char want[24], have[24] = "unknown", part[24], where[40] = "", less[80] = "";
	const uint64_t left = cs_meminfo("MemAvailable");
	const uint64_t of_group = cs_cgroup_left("");
	const uint64_t of_numa = cs_numa_left("", numa);

	cs_size_text(bytes, want, sizeof(want));
	if (left != UINT64_MAX)
		cs_size_text(left >> 20 << 20, have, sizeof(have));
	if (numa >= 0)
		cs_text(where, sizeof(where), " on NUMA node %d", numa);
	if (of_group < left && of_group <= of_numa) {
		cs_size_text(of_group >> 20 << 20, part, sizeof(part));
		cs_text(less, sizeof(less), ", %s to the cgroup of this job", part);
	} else if (of_numa < left) {
		cs_size_text(of_numa >> 20 << 20, part, sizeof(part));
		cs_text(less, sizeof(less), ", %s on that NUMA node", part);
	}
	return cs_err_set(err,
			  "not enough host memory%s: %s wanted (%" PRIu64
			  " bytes), %s available on the node%s; choose a smaller --size",
			  where, want, bytes, have, less);
}
