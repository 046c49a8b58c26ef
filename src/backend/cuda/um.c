/* um.c - managed memory: ranges whose pages move to the processor that uses them.
 *
 * A prefetch that is enqueued behind a gate returns at once and moves pages when the
 * gate opens; one to the host in an idle stream is carried out inside the call (H200,
 * driver 580). The driver is not asked for the location of pages: it only knows their
 * last requested location. */
#include "backend/cuda/dev.h"

#include <assert.h>
#include <stdlib.h>

#include "backend/cuda/cupti.h"

/* A pass over memory of its own, which compares as well, runs at half of the memory's peak
 * or more, over NVLink at a tenth of it.  What faults takes the first pass 20 us and more
 * for each fault, and the next one nothing; first use of addresses 22 us for 256 MiB. */
#define NEAR_SHARE 0.22	  /* of the peak at least */
#define FAR_SHARE 0.1	  /* … at most, of anything else */
#define PASS_NS 10e3	  /* besides */
#define FAULT_NS 18e3	  /* that the first pass takes longer, at most, … */
#define FIRST_NS 0.1e-3	  /* … and for each byte */
#define PEAK_UNKNOWN 2400 /* bytes per ns */

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
static CUmemLocation location_of(const struct cs_um_place *to)
{
	return (CUmemLocation){ .type = to->device >= 0 ? CU_MEM_LOCATION_TYPE_DEVICE :
					to->numa >= 0 ? CU_MEM_LOCATION_TYPE_HOST_NUMA :
							CU_MEM_LOCATION_TYPE_HOST,
				.id = to->device >= 0 ? to->device :
				      to->numa >= 0   ? to->numa :
							0 };
}

static CUdevice device_of(const struct cs_um_place *to)
{
	return to->device >= 0 ? to->device : CU_DEVICE_CPU;
}

static CUresult prefetch(const struct cs_um_place *to, CUdeviceptr at, uint64_t bytes,
			 CUstream stream)
{
	return cs_cu.mem_prefetch_numa ?
		       CS_NAMED_CALL("cuMemPrefetchAsync", mem_prefetch_numa, at,
				     bytes, location_of(to), 0, stream) :
		       CS_NAMED_CALL("cuMemPrefetchAsync", mem_prefetch, at, bytes,
				     device_of(to), stream);
}

static int um_advise(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		     enum cs_um_advice advice, const struct cs_um_place *of, int on,
		     struct cs_err *err)
{
	static const CUmem_advise advices[][2] = {
		[CS_UM_READ_MOSTLY] = { CU_MEM_ADVISE_UNSET_READ_MOSTLY,
					CU_MEM_ADVISE_SET_READ_MOSTLY },
		[CS_UM_PREFERRED] = { CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
				      CU_MEM_ADVISE_SET_PREFERRED_LOCATION },
		[CS_UM_ACCESSED_BY] = { CU_MEM_ADVISE_UNSET_ACCESSED_BY,
					CU_MEM_ADVISE_SET_ACCESSED_BY },
	};
	/* any CPU may use it, so no NUMA node is named */
	const struct cs_um_place whose = { of->device, advice == CS_UM_ACCESSED_BY ?
							       -1 :
							       of->numa };
	CUmem_advise wanted = advices[advice][on];

	return cs_dev_result(dev,
			     cs_cu.mem_advise_numa ?
				     CS_NAMED_CALL("cuMemAdvise", mem_advise_numa, at,
						   bytes, wanted, location_of(&whose)) :
				     CS_NAMED_CALL("cuMemAdvise", mem_advise, at,
						   bytes, wanted, device_of(&whose)),
			     "cuMemAdvise", err);
}

int cs_um_prefetch(struct cs_dev *dev, CUstream stream, const struct cs_copy *desc,
		   struct cs_err *err)
{
	return cs_dev_result(dev, prefetch(&desc->to, desc->dst, desc->bytes, stream),
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
int cs_um_touch(struct cs_dev *dev, CUstream stream, const struct cs_copy *desc,
		struct cs_err *err)
{
	struct cs_k_touch args = { desc->dst, desc->bytes / 8, desc->key,
				   desc->stride / 8, desc->mark };

	struct cs_k_fault one = { args };

	if (desc->kind == CS_COPY_FAULT)
		return cs_dev_launch(dev, CS_KERNEL_fault,
				     (struct cs_grid){ 1, 1, 0 }, stream, &one, err);
	return cs_dev_launch(dev, CS_KERNEL_touch,
			     (struct cs_grid){ CS_ZERO_BLOCKS, CS_ZERO_THREADS, 0 },
			     stream, &args, err);
}

/* The peak rate of the device's memory, in bytes per nanosecond. */
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

/* Were these two passes over the GPU's own memory?  -1: they were too short to
 * decide. */
static int is_near(struct cs_dev *dev, uint64_t bytes, double first_ns, double next_ns)
{
	double at_peak = (double)bytes / peak(dev);
	double most = at_peak / NEAR_SHARE + PASS_NS;

	if (first_ns - next_ns > FAULT_NS + FIRST_NS * (double)bytes)
		return 0;
	return at_peak / FAR_SHARE > most ? next_ns <= most : -1;
}

/* Hold the lane until everything is enqueued; else the time of a pass includes enqueueing. */
static int hold(struct cs_dev *dev, struct cs_err *err)
{
	struct cs_k_gate args = { cs_dev_scratch(dev, hold),
				  cs_dev_scratch(dev, hold_expired),
				  dev->gate_limit_ns, ++dev->held };

	return cs_dev_wait(dev, dev->aux, &args, err);
}

static void let_go(struct cs_dev *dev)
{
	__atomic_store_n(&dev->scratch->hold, dev->held, __ATOMIC_RELEASE);
}

static int enqueue_two(struct cs_dev *dev, struct cs_grid grid,
		       struct cs_k_touched *args, struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuEventRecord, dev->aux_start, dev->aux) ||
	       cs_dev_launch(dev, CS_KERNEL_touched, grid, dev->aux, args, err) ||
	       CS_DEV_CU(dev, err, cuEventRecord, dev->aux_middle, dev->aux) ||
	       cs_dev_launch(dev, CS_KERNEL_touched, grid, dev->aux, args, err) ||
	       CS_DEV_CU(dev, err, cuEventRecord, dev->aux_end, dev->aux);
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
	float first = 0, next = 0;
	int rc;

	assert(at % 16 == 0 && bytes % 16 == 0);
	rc = hold(dev, err) || enqueue_two(dev, grid, &args, err);
	let_go(dev);
	if (rc || cs_pass_idle(dev, err) ||
	    CS_DEV_CU(dev, err, cuEventElapsedTime, &first, dev->aux_start,
		      dev->aux_middle) ||
	    CS_DEV_CU(dev, err, cuEventElapsedTime, &next, dev->aux_middle,
		      dev->aux_end))
		return -1;
	*out = cs_pass_found(dev, grid.blocks);
	*near = is_near(dev, bytes, 1e6 * (double)first, 1e6 * (double)next);
	return 0;
}

static int um_count(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		    struct cs_err *err)
{
	(void)dev;
	return cs_cupti_count(at, bytes, err);
}

static int um_counted(struct cs_dev *dev, uint64_t at, struct cs_um_counts *out,
		      struct cs_err *err)
{
	/* CUPTI has all records only after the work of the context has ended */
	if (cs_cu.context_sync &&
	    cs_dev_result(dev, CS_CALL(context_sync), "cuCtxSynchronize", err))
		return -1;
	return cs_cupti_counted(at, out, err);
}

const struct cs_backend_um cs_cuda_um = {
	.can = um_can,
	.room = um_room,
	.make = um_make,
	.free = um_free,
	.bring = um_bring,
	.advise = um_advise,
	.count = um_count,
	.counted = um_counted,
	.check = um_check,
};
