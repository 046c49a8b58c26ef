/* claim.c - host memory that is about available.
 *
 * The kernel counts pages only when they exist.  Several processes that ask at the same
 * time would all see enough free memory, and the kernel would then kill one.  So bytes are claimed first, where all processes of the node see it, and given
 * when there is room for them beside all other claims.  Of a claim that is being filled
 * the kernel counts a part already: where there seems to be too little room beside
 * claims, they are waited for; what is found then is so. */
#include "config.h"

#include <stdatomic.h>
#include <time.h>

#include "system/internal.h"

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
