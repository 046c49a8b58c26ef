/* memory_available.c - the host memory that is left, and claims on it. */
#include <inttypes.h>
#include <stdatomic.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/units.h"
#include "system/internal.h"

/* A line of a NUMA node's meminfo; 0 unknown. */
static uint64_t numa_bytes(const char *root, unsigned numa, const char *key)
{
	uint64_t bytes = cs_sysfile_bytes(key, root,
					  "/sys/devices/system/node/node%u/meminfo",
					  numa);

	return bytes == UINT64_MAX ? 0 : bytes;
}

/* A virtual machine that gets memory on first touch shows less on its NUMA nodes than it
 * has; then their figures are not used. */
uint64_t cs_numa_left(const char *root, int numa)
{
	hwloc_bitmap_t nodes = cs_memory_numa(root);
	uint64_t total = cs_sysfile_bytes("MemTotal", root, "/proc/meminfo");
	uint64_t sum = 0;
	unsigned i;

	hwloc_bitmap_foreach_begin(i, nodes) sum += numa_bytes(root, i, "MemTotal");
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(nodes);
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

/* ---- claims ---- */

/* The kernel counts pages only when they exist.  Several processes that ask at the same
 * time would all see enough free memory, and the kernel would then kill one.  So bytes
 * are claimed first, in a place that all processes of the node see, and granted if there
 * is room for them besides all other claims.  The kernel already counts a part of a claim
 * that is being filled, so if there seems to be too little room, claims are waited for
 * before the request is refused. */

#define WAIT_S 10.0 /* a process fills its claim within CS_PREPARE_LIMIT_S */
#define NAP_NS 2000000

static _Atomic uint64_t own;
static _Atomic uint64_t *_Atomic counter = &own;

void cs_hostmem_count_in(_Atomic uint64_t *claimed)
{
	counter = claimed ? claimed : &own;
}

/* Later processes see the claim, so none of several that do not fit together gets bytes
 * that another will use; granted bytes stay reserved until they are settled. */
int cs_claim(_Atomic uint64_t *claimed, uint64_t bytes, uint64_t (*left)(void *),
	     void *ctx)
{
	const struct timespec nap = { 0, NAP_NS };
	int naps = (int)(WAIT_S * 1e9 / NAP_NS);

	while (bytes <= left(ctx)) {
		if (atomic_fetch_add(claimed, bytes) + bytes <= left(ctx))
			return 0;
		atomic_fetch_sub(claimed, bytes);
		if (!naps--)
			break;
		nanosleep(&nap, NULL);
	}
	return -1;
}

/* The least that is left on the node, in this job's cgroup and on the NUMA node. */
static uint64_t bytes_left(void *numa)
{
	uint64_t left = cs_meminfo("MemAvailable");
	uint64_t of_group = cs_cgroup_left("");
	uint64_t of_numa = cs_numa_left("", *(const int *)numa);

	left = of_group < left ? of_group : left;
	return of_numa < left ? of_numa : left;
}

int cs_hostmem_claim(uint64_t bytes, int numa, struct cs_err *err)
{
	return cs_claim(counter, bytes, bytes_left, &numa) ?
		       cs_memory_short(bytes, numa, err) :
		       0;
}

void cs_hostmem_settle(uint64_t bytes)
{
	atomic_fetch_sub(counter, bytes);
}
