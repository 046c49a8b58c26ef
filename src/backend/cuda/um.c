/* um.c - managed memory: ranges whose pages move to who uses them.
 *
 * A prefetch that is enqueued behind a gate returns at once and moves pages when the gate
 * opens; one to the host in an idle stream is carried out inside the call (H200, driver
 * 580).  Where pages are is not asked of the driver: it says where they were sent last. */
#include "config.h"

#include "backend/cuda/dev.h"

#include <assert.h>
#include <stdlib.h>

/* In CUDA since 12.2. */
#define LOCATION_DEVICE ((CUmemLocationType)1)
#define LOCATION_HOST ((CUmemLocationType)2)
#define LOCATION_HOST_NUMA ((CUmemLocationType)3)

/* A pass over memory of its own takes a GPU hardly longer than the memory's peak allows,
 * over NVLink about ten times as long, and what faults far longer.  A launch and a first
 * use of addresses cost some more. */
#define NEAR_SHARE 0.25 /* of the peak at least */
#define FAR_SHARE 0.1	/* … at most, of anything else */
#define PASS_NS 10e3
#define PEAK_UNKNOWN 2.4 /* bytes per ns */

/* A range of managed memory. */
struct cs_um {
	struct cs_um *next;
	CUdeviceptr at;
};

static int um_can(struct cs_dev *dev, struct cs_err *err)
{
	int managed = 0, concurrent = 0;

	if (!cs_cu.mem_alloc_managed || !cs_cu.mem_prefetch || !cs_cu.mem_advise)
		return cs_err_set(err, "the CUDA driver has no managed memory");
	CS_CALL(cuDeviceGetAttribute, &managed, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
		dev->device);
	CS_CALL(cuDeviceGetAttribute, &concurrent,
		CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, dev->device);
	if (managed != 1)
		return cs_err_set(err, "this GPU has no managed memory");
	if (concurrent != 1)
		return cs_err_set(err,
				  "concurrentManagedAccess is 0: the driver moves whole "
				  "ranges when a kernel starts, and no pages on demand");
	return 0;
}

static int um_room(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err)
{
	size_t left = 0, all = 0;

	if (CS_DEV_CU(dev, err, cuMemGetInfo, &left, &all))
		return -1;
	*bytes = left;
	return 0;
}

static int um_make(struct cs_dev *dev, uint64_t bytes, uint64_t *at,
		   struct cs_err *err)
{
	struct cs_um *new = calloc(1, sizeof(*new));

	if (!new)
		return cs_err_set(err, "no memory");
	if (cs_dev_result(dev,
			  CS_NAMED_CALL("cuMemAllocManaged", mem_alloc_managed,
					&new->at, bytes, CU_MEM_ATTACH_GLOBAL),
			  "cuMemAllocManaged", err)) {
		free(new);
		return -1;
	}
	new->next = dev->um;
	dev->um = new;
	*at = new->at;
	return 0;
}

static void um_free(struct cs_dev *dev, uint64_t at)
{
	struct cs_um **of = &dev->um, *old;

	while (*of && (*of)->at != at)
		of = &(*of)->next;
	old = *of;
	if (!old)
		return;
	*of = old->next;
	CS_CALL(cuMemFree, old->at);
	free(old);
}

void cs_um_free_all(struct cs_dev *dev)
{
	while (dev->um)
		um_free(dev, dev->um->at);
}

/* Before 12.2 no NUMA node can be asked for. */
static CUresult prefetch(const struct cs_um_place *to, CUdeviceptr at, uint64_t bytes,
			 CUstream stream)
{
	CUmemLocation location = { .type = to->device >= 0 ? LOCATION_DEVICE :
					   to->numa >= 0   ? LOCATION_HOST_NUMA :
							     LOCATION_HOST,
				   .id = to->device >= 0 ? to->device :
					 to->numa >= 0	 ? to->numa :
							   0 };

	return cs_cu.mem_prefetch_numa ?
		       CS_NAMED_CALL("cuMemPrefetchAsync", mem_prefetch_numa, at,
				     bytes, location, 0, stream) :
		       CS_NAMED_CALL("cuMemPrefetchAsync", mem_prefetch, at, bytes,
				     to->device >= 0 ? to->device : CU_DEVICE_CPU,
				     stream);
}

int cs_um_prefetch(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		   struct cs_err *err)
{
	return cs_dev_result(dev, prefetch(&f->to, f->dst, f->bytes, stream),
			     "cuMemPrefetchAsync", err);
}

static int um_bring(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		    const struct cs_um_place *to, struct cs_err *err)
{
	if (cs_dev_result(dev, prefetch(to, at, bytes, dev->aux),
			  "cuMemPrefetchAsync", err))
		return -1;
	return cs_pass_idle(dev, err);
}

/* As Comm|Scope has it: 256 blocks of 256 threads, a page a warp. */
int cs_um_touch(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		struct cs_err *err)
{
	struct cs_k_touch args = { f->dst, f->bytes / 8, f->key, f->stride / 8,
				   f->mark };

	return cs_dev_launch(dev, CS_KERNEL_touch,
			     (struct cs_grid){ CS_ZERO_BLOCKS, CS_ZERO_THREADS, 0 },
			     stream, &args, err);
}

/* Of the device's memory, in bytes per nanosecond. */
static double peak(struct cs_dev *dev)
{
	int khz = 0, bits = 0;

	if (CS_CALL(cuDeviceGetAttribute, &khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
		    dev->device) ||
	    CS_CALL(cuDeviceGetAttribute, &bits,
		    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, dev->device) ||
	    khz <= 0 || bits <= 0)
		return PEAK_UNKNOWN;
	return 2e-6 * khz * bits / 8;
}

/* Was that a pass over memory of its own?  -1: it is over too soon to tell. */
static int is_near(struct cs_dev *dev, uint64_t bytes, double ns)
{
	double at_peak = (double)bytes / peak(dev);
	double most = at_peak / NEAR_SHARE + PASS_NS;

	return at_peak / FAR_SHARE > most ? ns <= most : -1;
}

static int um_check(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		    const struct cs_touched *pattern, struct cs_check *out, int *near,
		    struct cs_err *err)
{
	struct cs_k_touched args = { at,
				     bytes / 8,
				     pattern->key,
				     pattern->page / 8,
				     pattern->mark,
				     cs_dev_scratch(dev, found) };
	struct cs_grid grid = cs_pass_grid(dev, args.words);
	float ms = 0;

	assert(at % 16 == 0 && bytes % 16 == 0);
	if (CS_DEV_CU(dev, err, cuEventRecord, dev->aux_start, dev->aux) ||
	    cs_dev_launch(dev, CS_KERNEL_touched, grid, dev->aux, &args, err) ||
	    CS_DEV_CU(dev, err, cuEventRecord, dev->aux_end, dev->aux) ||
	    cs_pass_idle(dev, err) ||
	    CS_DEV_CU(dev, err, cuEventElapsedTime, &ms, dev->aux_start, dev->aux_end))
		return -1;
	*out = cs_pass_found(dev, grid.blocks);
	*near = is_near(dev, bytes, 1e6 * (double)ms);
	return 0;
}

const struct cs_backend_um cs_cuda_um = {
	.can = um_can,
	.room = um_room,
	.make = um_make,
	.free = um_free,
	.bring = um_bring,
	.check = um_check,
};
