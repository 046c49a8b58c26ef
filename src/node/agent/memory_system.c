/* memory_system.c - ranges of memory as malloc gives it: pages of the process that a GPU may
 * use as well, and that move to it by faults (HMM) or by page tables that it shares with
 * the CPU (ATS).  All else is as of managed memory. */
#include <sys/mman.h>

#include "node/agent/memory.h"

/* As large blocks of the driver's own memory begin, so that a range has no more of them
 * than it needs. */
#define ALIGN ((uint64_t)2 << 20)

static int can(struct cs_endpoints *e)
{
	if (e->slot->facts.gpu.pageable != 1)
		return cs_err_set(&e->slot->err,
				  "pageableMemoryAccess is 0: this GPU cannot use memory of "
				  "malloc (neither HMM nor ATS)");
	return e->backend->um->can(e->dev, &e->slot->err);
}

/* Not from the heap, whose freed memory stays mapped with its pages. */
static int make(struct cs_endpoints *e, uint64_t bytes, uint64_t *at)
{
	char *all = mmap(NULL, bytes + ALIGN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t before;

	if (all == MAP_FAILED)
		return cs_err_set(&e->slot->err, "no memory for a range of %llu bytes",
				  (unsigned long long)bytes);
	before = -(uint64_t)(uintptr_t)all % ALIGN;
	if (before)
		munmap(all, before);
	if (before < ALIGN)
		munmap(all + before + bytes, ALIGN - before);
	*at = (uintptr_t)all + before;
	return 0;
}

static void give_back(struct cs_endpoints *e, uint64_t at, uint64_t bytes)
{
	(void)e;
	munmap((void *)(uintptr_t)at, bytes);
}

const struct cs_range_kind cs_range_system = { can, make, give_back };
