/* open.c - a device's life: context, kernels and streams, and their end. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/dev.h"
#include "base/chain.h"

/* A kernel may not run longer on a GPU whose display has a watchdog. */
#define GATE_LIMIT_NS 60000000000u
#define GATE_LIMIT_WATCHDOG_NS 1000000000u

static int open_context(struct cs_dev *dev, struct cs_err *err)
{
	int sms = 0, watchdog = 0, major = 0, minor = 0, cache = 0, shared = 0;

	if (CS_DEV_CU(dev, err, cuDeviceGet, &dev->device, dev->ordinal) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &major,
		      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &minor,
		      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &sms,
		      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &cache,
		      CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &shared,
		      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
		      dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &watchdog,
		      CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, dev->device))
		return -1;
	dev->capability = 10 * major + minor;
	dev->sms = sms > 0 ? (uint32_t)sms : 1;
	dev->l2_bytes = cache > 0 ? (uint64_t)cache : 0;
	dev->shared = (uint32_t)shared;
	/* 8 blocks of 256 threads are all that a multiprocessor holds */
	dev->blocks = dev->sms * 8;
	dev->gate_limit_ns = watchdog ? GATE_LIMIT_WATCHDOG_NS : GATE_LIMIT_NS;

	/* refused while the context is alive already: no harm, nothing here
	 * waits inside the driver */
	CS_CALL(cuDevicePrimaryCtxSetFlags, dev->device, CU_CTX_SCHED_YIELD);
	if (CS_DEV_CU(dev, err, cuDevicePrimaryCtxRetain, &dev->context, dev->device))
		return -1;
	dev->retained = 1;
	return CS_DEV_CU(dev, err, cuCtxSetCurrent, dev->context);
}

static int needs_tma(enum cs_kernel kernel)
{
	return kernel == CS_KERNEL_tma || kernel == CS_KERNEL_chase_tma;
}

/* More than 48 KiB of shared memory have to be asked for. */
static int open_shared(struct cs_dev *dev, enum cs_kernel kernel, uint32_t bytes,
		       struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuFuncSetAttribute, dev->kernel[kernel],
			 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
}

static int open_tma(struct cs_dev *dev, struct cs_err *err)
{
	uint32_t room = dev->shared - CS_TMA_STATIC;

	dev->tma_room = room;
	if (room > CS_TMA_STAGES * CS_TMA_CHUNK)
		room = CS_TMA_STAGES * CS_TMA_CHUNK;
	if (open_shared(dev, CS_KERNEL_tma, room, err))
		return -1;
	dev->tma_shared = room;
	return 0;
}

static int open_kernels(struct cs_dev *dev, struct cs_err *err)
{
	if (cs_dev_load(dev, &dev->module, err))
		return -1;
	for (int i = 0; i < CS_N_KERNELS; i++)
		if (CS_DEV_CU(dev, err, cuModuleGetFunction, &dev->kernel[i],
			      dev->module, cs_kernel_name[i]))
			return cs_err_prefix(err, "%s", cs_kernel_name[i]);
	if (open_shared(dev, CS_KERNEL_matmul, dev->shared, err) ||
	    open_shared(dev, CS_KERNEL_matmul_xl, dev->shared, err))
		return -1;
	return dev->capability >= CS_TMA_CAPABILITY ? open_tma(dev, err) : 0;
}

/* The proofs of the lanes come last, and one more for the auxiliary stream. */
static int open_scratch(struct cs_dev *dev, int lanes, struct cs_err *err)
{
	size_t found = offsetof(struct cs_scratch, found) +
		       dev->blocks * sizeof(struct cs_check);
	size_t bytes = found + ((size_t)lanes + 1) * cs_dev_proof_words(dev) *
				       sizeof(*dev->proof);
	void *at;

	if (CS_DEV_CU(dev, err, cuMemHostAlloc, &at, bytes, CU_MEMHOSTALLOC_DEVICEMAP))
		return -1;
	memset(at, 0, bytes);
	dev->scratch = at;
	if (CS_DEV_CU(dev, err, cuMemHostGetDevicePointer, &dev->scratch_at, at, 0))
		return -1;
	dev->proof = (uint64_t *)(dev->scratch->found + dev->blocks);
	dev->proof_at = dev->scratch_at + found;
	dev->lanes = lanes;
	return 0;
}

static int open_aux(struct cs_dev *dev, struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuStreamCreate, &dev->aux, CU_STREAM_NON_BLOCKING) ||
	       CS_DEV_CU(dev, err, cuEventCreate, &dev->aux_start, CU_EVENT_DEFAULT) ||
	       CS_DEV_CU(dev, err, cuEventCreate, &dev->aux_middle, CU_EVENT_DEFAULT) ||
	       CS_DEV_CU(dev, err, cuEventCreate, &dev->aux_end, CU_EVENT_DEFAULT);
}

/* Run every kernel once, on two words: nothing may be loaded for the first time while a
 * gate is closed.  The word of the gate is 0, so it is open. */
static int touch_kernels(struct cs_dev *dev, struct cs_err *err)
{
	CUdeviceptr tiny = cs_dev_scratch(dev, tiny);
	CUdeviceptr word = cs_dev_scratch(dev, word);
	CUdeviceptr proof = dev->proof_at;
	struct cs_k_fill fill = { tiny, 2, 0, 1, 1 };
	struct cs_k_poison poison = { tiny, 2 };
	struct cs_k_check check = { tiny, 2, 0, cs_dev_scratch(dev, found), 2, 1, 1, 0 };
	struct cs_k_gate gate = { word, cs_dev_scratch(dev, expired), 0, 0 };
	struct cs_k_stamp stamp = { word, 0 };
	struct cs_k_copy copy = { tiny, tiny, 0, 1, 1 };
	struct cs_k_read read = { tiny, 0, proof, 1, 1 };
	struct cs_k_sum sum = { 2, 0, proof };
	struct cs_k_tma tma = { tiny, tiny, 0, 1, 1, 16 };
	struct cs_k_chain chain = { tiny, CS_CHAIN_STRIDE, tiny, 0 };
	struct cs_k_chase chase = { tiny, proof, 1, 0, 0 };
	struct cs_k_chase_tma chase_tma = { chase };
	struct cs_k_duplex duplex = { copy, copy, proof };
	struct cs_k_zread zread = { read, 0 };
	struct cs_k_zwrite zwrite = { { tiny, 0, 0, 1, 1 }, 0 };
	struct cs_k_zboth zboth = { read, zwrite.write, proof + 16 };
	struct cs_k_fma fma = { proof, 0, 0 };
	struct cs_k_triad triad = { tiny, tiny, tiny, 0, 1, 1, 1 };
	struct cs_k_l2 l2 = { tiny, 0, 1, proof };
	struct cs_k_shared shared = { 0, 0, proof };
	struct cs_k_touch touch = { tiny, 0, 0, 2, 0 };
	struct cs_k_fault fault = { touch };
	struct cs_k_touched touched = { tiny, 0, 0, 2, 0, cs_dev_scratch(dev, found) };
	struct cs_k_rekey rekey = { tiny, 2, 0, 0, 0 };
	struct cs_k_consume consume = { tiny, 0, proof, 4, 0 };
	struct cs_k_produce produce = { tiny, 0, 0, 4, 0 };
	struct cs_k_box box = { tiny, tiny, 4, 4, 4, 0, 1, 4 };
	struct cs_k_inside inside = { tiny, 0, 0, check.out, { 0, 4, 4, 0, 0 } };
	struct cs_k_matmul matmul = { tiny, tiny, 0, 0, 0 };
	struct cs_k_matmul_xl matmul_xl = { matmul };
	struct cs_k_weigh weigh = { tiny, 0, proof };
	struct cs_k_args4096 most = { { 0 } };
	void *const args[CS_N_KERNELS] = {
		[CS_KERNEL_fill] = &fill,	[CS_KERNEL_poison] = &poison,
		[CS_KERNEL_check] = &check,	[CS_KERNEL_gate] = &gate,
		[CS_KERNEL_stamp] = &stamp,	[CS_KERNEL_copy] = &copy,
		[CS_KERNEL_read] = &read,	[CS_KERNEL_sum] = &sum,
		[CS_KERNEL_tma] = &tma,		[CS_KERNEL_chain] = &chain,
		[CS_KERNEL_chase] = &chase,	[CS_KERNEL_chase_tma] = &chase_tma,
		[CS_KERNEL_duplex] = &duplex,	[CS_KERNEL_zread] = &zread,
		[CS_KERNEL_zwrite] = &zwrite,	[CS_KERNEL_zboth] = &zboth,
		[CS_KERNEL_touch] = &touch,	[CS_KERNEL_fault] = &fault,
		[CS_KERNEL_touched] = &touched, [CS_KERNEL_rekey] = &rekey,
		[CS_KERNEL_consume] = &consume, [CS_KERNEL_produce] = &produce,
		[CS_KERNEL_fma] = &fma,		[CS_KERNEL_triad] = &triad,
		[CS_KERNEL_l2] = &l2,		[CS_KERNEL_shared] = &shared,
		[CS_KERNEL_box] = &box,		[CS_KERNEL_inside] = &inside,
		[CS_KERNEL_matmul] = &matmul,	[CS_KERNEL_matmul_xl] = &matmul_xl,
		[CS_KERNEL_weigh] = &weigh,	[CS_KERNEL_args0] = &most,
		[CS_KERNEL_args16] = &most,	[CS_KERNEL_args256] = &most,
		[CS_KERNEL_args1024] = &most,	[CS_KERNEL_args4096] = &most,
	};

	for (int i = 0; i < CS_N_KERNELS; i++)
		if (!(needs_tma(i) && !dev->tma_shared) &&
		    cs_dev_launch(dev, i, (struct cs_grid){ 1, 1, 0 }, dev->aux,
				  args[i], err))
			return -1;
	return cs_pass_idle(dev, err);
}

/* Do stream memory operations work here?  No attribute speaks of those of 32
 * bits, and MPS and old drivers refuse them. */
static int try_memops(struct cs_dev *dev, struct cs_err *err)
{
	CUdeviceptr word = cs_dev_scratch(dev, word);

	dev->memops = !CS_CALL(cuStreamWaitValue32, dev->aux, word, 0,
			       CU_STREAM_WAIT_VALUE_GEQ) &&
		      !CS_CALL(cuStreamWriteValue32, dev->aux, word, 0,
			       CU_STREAM_WRITE_VALUE_DEFAULT);
	return cs_pass_idle(dev, err);
}

int cs_dev_open(int ordinal, int lanes, struct cs_dev **dev, struct cs_err *err)
{
	struct cs_dev *new;

	if (lanes < 1 || lanes > CS_CUDA_LANES)
		return cs_err_set(err,
				  "%d streams: a context runs 1 to %d independently",
				  lanes, CS_CUDA_LANES);
	new = calloc(1, sizeof(*new));
	if (!new)
		return cs_err_set(err, "no memory");
	new->ordinal = ordinal;
	if (open_context(new, err) || open_kernels(new, err) ||
	    open_scratch(new, lanes, err) || open_aux(new, err) ||
	    touch_kernels(new, err) || try_memops(new, err)) {
		cs_dev_close(new);
		return -1;
	}
	*dev = new;
	return 0;
}

static void close_lane(struct cs_lane *lane)
{
	if (lane->stream)
		CS_CALL(cuStreamDestroy, lane->stream);
	if (lane->start)
		CS_CALL(cuEventDestroy, lane->start);
	for (int i = 0; i < CS_PARTS; i++)
		if (lane->part[i])
			CS_CALL(cuEventDestroy, lane->part[i]);
	if (lane->end)
		CS_CALL(cuEventDestroy, lane->end);
}

/* Also takes a device that open() left half made.  Results are ignored:
 * nothing can be done about them. */
void cs_dev_close(struct cs_dev *dev)
{
	if (!dev)
		return;
	if (dev->retained)
		CS_CALL(cuCtxSetCurrent, dev->context);
	cs_peer_release_all(dev);
	cs_calls_release(dev);
	for (int i = 0; i < CS_CUDA_LANES; i++)
		close_lane(&dev->lane[i]);
	close_lane(&(struct cs_lane){
		.stream = dev->aux, .start = dev->aux_start, .end = dev->aux_end });
	if (dev->aux_middle)
		CS_CALL(cuEventDestroy, dev->aux_middle);
	for (int i = 0; i < CS_EVENTS + CS_EVENTS_TIMED; i++)
		if (dev->event[i])
			CS_CALL(cuEventDestroy, dev->event[i]);
	cs_dev_disarena(dev);
	cs_um_free_all(dev);
	if (dev->other)
		CS_CALL(cuMemFree, dev->other);
	cs_vmm_release(&dev->spare_rdma);
	if (dev->spare)
		CS_CALL(cuMemFree, dev->spare);
	if (dev->again)
		CS_CALL(cuModuleUnload, dev->again);
	if (dev->scratch)
		CS_CALL(cuMemFreeHost, dev->scratch);
	if (dev->module)
		CS_CALL(cuModuleUnload, dev->module);
	if (dev->ring)
		cs_pages_unregister(dev->ring);
	if (dev->board)
		cs_pages_unregister(dev->board);
	if (dev->retained) {
		CS_CALL(cuCtxSetCurrent, NULL);
		CS_CALL(cuDevicePrimaryCtxRelease, dev->device);
	}
	free(dev);
}
