/* dev.c - a device's life: context, kernels, streams, board, arena. */
#include "config.h"

#include "backend/cuda/dev.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/shared.h"
#include "base/chain.h"

/* cuMemAlloc cuts smaller pieces from blocks of 2 MiB, and CUDA IPC maps whole
 * blocks: a multiple shares its blocks with nobody. */
#define ARENA_BLOCK ((uint64_t)2 << 20)

/* A kernel may not run longer where a watchdog guards a display. */
#define GATE_LIMIT_NS 60000000000u
#define GATE_LIMIT_WATCHDOG_NS 1000000000u

/* The image of kernels/kernels.cu, by bin2c. */
extern const unsigned long long cs_kernels_fatbin[];

static const char *const kernel_name[] = {
#define KERNEL_NAME(name) "cs_k_" #name,
	CS_KERNELS(KERNEL_NAME)
#undef KERNEL_NAME
};

int cs_dev_result(struct cs_dev *dev, CUresult result, const char *call,
		  struct cs_err *err)
{
	if (cs_driver_sticky(result))
		dev->sticky = 1;
	return cs_driver_result(result, call, err);
}

int cs_dev_launch(struct cs_dev *dev, enum cs_kernel kernel, struct cs_grid grid,
		  CUstream stream, void *args, struct cs_err *err)
{
	if (CS_DEV_CU(dev, err, cuLaunchKernel, dev->kernel[kernel], grid.blocks,
		      1, 1, grid.threads, 1, 1, grid.shared, stream,
		      (void *[]){ args }, NULL))
		return cs_err_prefix(err, "%s", kernel_name[kernel]);
	return 0;
}

static int open_context(struct cs_dev *dev, struct cs_err *err)
{
	int sms = 0, watchdog = 0, major = 0, minor = 0;

	if (CS_DEV_CU(dev, err, cuDeviceGet, &dev->device, dev->ordinal) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &major,
		      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
		      dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &minor,
		      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
		      dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &sms,
		      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev->device) ||
	    CS_DEV_CU(dev, err, cuDeviceGetAttribute, &watchdog,
		      CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, dev->device))
		return -1;
	dev->capability = 10 * major + minor;
	dev->sms = sms > 0 ? (uint32_t)sms : 1;
	/* 8 blocks of 256 threads are all that a multiprocessor holds */
	dev->blocks = dev->sms * 8;
	dev->gate_limit_ns = watchdog ? GATE_LIMIT_WATCHDOG_NS : GATE_LIMIT_NS;

	/* refused while the context is alive already: no harm, nothing here
	 * waits inside the driver */
	CS_CALL(cuDevicePrimaryCtxSetFlags, dev->device, CU_CTX_SCHED_YIELD);
	if (CS_DEV_CU(dev, err, cuDevicePrimaryCtxRetain, &dev->context,
		      dev->device))
		return -1;
	dev->retained = 1;
	return CS_DEV_CU(dev, err, cuCtxSetCurrent, dev->context);
}

int cs_dev_load(struct cs_dev *dev, CUmodule *module, struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuModuleLoadData, module, cs_kernels_fatbin);
}

static int needs_tma(enum cs_kernel kernel)
{
	return kernel == CS_KERNEL_tma || kernel == CS_KERNEL_chase_tma;
}

/* More than 48 KiB of shared memory have to be asked for. */
static int open_tma(struct cs_dev *dev, struct cs_err *err)
{
	int room = 0;

	if (CS_DEV_CU(dev, err, cuDeviceGetAttribute, &room,
		      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
		      dev->device))
		return -1;
	room -= CS_TMA_STATIC;
	dev->tma_room = (uint32_t)room;
	if (room > (int)(CS_TMA_STAGES * CS_TMA_CHUNK))
		room = CS_TMA_STAGES * CS_TMA_CHUNK;
	if (CS_DEV_CU(dev, err, cuFuncSetAttribute, dev->kernel[CS_KERNEL_tma],
		      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, room))
		return -1;
	dev->tma_shared = (uint32_t)room;
	return 0;
}

static int open_kernels(struct cs_dev *dev, struct cs_err *err)
{
	if (cs_dev_load(dev, &dev->module, err))
		return -1;
	for (int i = 0; i < CS_N_KERNELS; i++)
		if (CS_DEV_CU(dev, err, cuModuleGetFunction, &dev->kernel[i],
			      dev->module, kernel_name[i]))
			return cs_err_prefix(err, "%s", kernel_name[i]);
	return dev->capability >= CS_TMA_CAPABILITY ? open_tma(dev, err) : 0;
}

/* The proofs of the lanes come last, and one more for the auxiliary stream. */
static int open_scratch(struct cs_dev *dev, int lanes, struct cs_err *err)
{
	size_t found = sizeof(struct cs_scratch) +
		       dev->blocks * sizeof(struct cs_check);
	size_t bytes = found + ((size_t)lanes + 1) * cs_dev_proof_words(dev) *
				       sizeof(*dev->proof);
	void *at;

	if (CS_DEV_CU(dev, err, cuMemHostAlloc, &at, bytes,
		      CU_MEMHOSTALLOC_DEVICEMAP))
		return -1;
	memset(at, 0, bytes);
	dev->scratch = at;
	if (CS_DEV_CU(dev, err, cuMemHostGetDevicePointer, &dev->scratch_at, at,
		      0))
		return -1;
	dev->proof = (uint64_t *)(dev->scratch->found + dev->blocks);
	dev->proof_at = dev->scratch_at + found;
	dev->lanes = lanes;
	return 0;
}

static int open_aux(struct cs_dev *dev, struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuStreamCreate, &dev->aux,
		      CU_STREAM_NON_BLOCKING) ||
	    CS_DEV_CU(dev, err, cuEventCreate, &dev->aux_start,
		      CU_EVENT_DEFAULT) ||
	    CS_DEV_CU(dev, err, cuEventCreate, &dev->aux_end, CU_EVENT_DEFAULT);
}

struct cs_lane *cs_dev_lane(struct cs_dev *dev, int lane, struct cs_err *err)
{
	struct cs_lane *on;

	assert(lane >= 0 && lane < dev->lanes);
	on = &dev->lane[lane];
	if (on->stream)
		return on;
	if ((!on->start && CS_DEV_CU(dev, err, cuEventCreate, &on->start,
				     CU_EVENT_DEFAULT)) ||
	    (!on->end && CS_DEV_CU(dev, err, cuEventCreate, &on->end,
				   CU_EVENT_DEFAULT)) ||
	    CS_DEV_CU(dev, err, cuStreamCreate, &on->stream,
		      CU_STREAM_NON_BLOCKING))
		return NULL;
	return on;
}

/* Nothing may be loaded for the first time behind a closed gate: every kernel
 * runs once, on two words.  The word of the gate is 0, so it is open. */
static int touch_kernels(struct cs_dev *dev, struct cs_err *err)
{
	CUdeviceptr tiny = cs_dev_scratch(dev, tiny);
	CUdeviceptr word = cs_dev_scratch(dev, word);
	CUdeviceptr proof = dev->proof_at;
	struct cs_k_fill fill = { tiny, 2, 0, 1, 1 };
	struct cs_k_poison poison = { tiny, 2 };
	struct cs_k_check check = { tiny, 2, 0, cs_dev_scratch(dev, found), 2, 1,
				    1 };
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
	void *const args[CS_N_KERNELS] = {
		[CS_KERNEL_fill] = &fill, [CS_KERNEL_poison] = &poison,
		[CS_KERNEL_check] = &check, [CS_KERNEL_gate] = &gate,
		[CS_KERNEL_stamp] = &stamp, [CS_KERNEL_copy] = &copy,
		[CS_KERNEL_read] = &read, [CS_KERNEL_sum] = &sum,
		[CS_KERNEL_tma] = &tma, [CS_KERNEL_chain] = &chain,
		[CS_KERNEL_chase] = &chase, [CS_KERNEL_chase_tma] = &chase_tma,
		[CS_KERNEL_duplex] = &duplex,
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
		return cs_err_set(err, "%d streams asked for, a context runs 1 "
				  "to %d independently", lanes, CS_CUDA_LANES);
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

int cs_dev_board(struct cs_dev *dev, void *page, uint64_t bytes,
		 struct cs_err *err)
{
	assert(!dev->board);
	if (cs_pages_map(dev, page, bytes, &dev->board_at, err))
		return -1;
	dev->board = page;
	dev->board_bytes = bytes;
	return 0;
}

void cs_dev_export(struct cs_dev *dev, struct cs_export *of)
{
	CUipcMemHandle handle;
	struct cs_err why;

	_Static_assert(sizeof(of->ipc) == sizeof(handle), "IPC handle");
	of->has_ipc = !CS_DEV_CU(dev, &why, cuIpcGetMemHandle, &handle,
				 of->address);
	if (of->has_ipc)
		memcpy(of->ipc, &handle, sizeof(of->ipc));
	else
		cs_text(of->ipc_error, sizeof(of->ipc_error), "%s", why.text);
}

void cs_dev_via(struct cs_dev *dev, enum cs_way way)
{
	dev->via = way;
}

int cs_dev_ring(struct cs_dev *dev, void *host, uint64_t bytes, int fd,
		struct cs_err *err)
{
	assert(!dev->ring);
	if (cs_pages_map(dev, host, bytes, &dev->ring_at, err))
		return -1;
	dev->ring = host;
	dev->ring_bytes = bytes;
	dev->ring_fd = fd;
	return 0;
}

static void arena_free(struct cs_dev *dev)
{
	if (dev->arena)
		CS_CALL(cuMemFree, dev->arena);
	cs_hand_close(dev->hand);
	cs_vmm_release(&dev->vmm);
	dev->arena = 0;
	dev->hand = NULL;
}

/* Memory that a descriptor hands over; that it cannot be had is for those to
 * report who need it. */
static void arena_shareable(struct cs_dev *dev, uint64_t bytes,
			    struct cs_export *out)
{
	struct cs_err why;
	int fd;

	if (!cs_vmm_create(dev, bytes, &dev->vmm, &fd, &why)) {
		dev->hand = cs_hand_open(fd, out->socket, &why);
		if (dev->hand) {
			out->address = dev->vmm.at;
			out->fd_bytes = dev->vmm.bytes;
			return;
		}
		cs_vmm_release(&dev->vmm);
	}
	cs_text(out->fd_error, sizeof(out->fd_error), "%s", why.text);
}

/* Whole blocks, as they are allocated; too much is said before the driver says it. */
static int round_up(struct cs_dev *dev, uint64_t bytes, uint64_t *whole,
		    struct cs_err *err)
{
	size_t unused, total;

	*whole = (bytes + ARENA_BLOCK - 1) / ARENA_BLOCK * ARENA_BLOCK;
	if (CS_DEV_CU(dev, err, cuMemGetInfo, &unused, &total))
		return -1;
	if (*whole > unused)
		return cs_err_set(err, "the buffers need %.2f GB, but of the "
				  "GPU's %.2f GB only %.2f are free",
				  *whole / 1e9, total / 1e9, unused / 1e9);
	return 0;
}

int cs_dev_left(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err)
{
	size_t unused, total;

	if (CS_DEV_CU(dev, err, cuMemGetInfo, &unused, &total))
		return -1;
	*bytes = unused / ARENA_BLOCK * ARENA_BLOCK;
	return 0;
}

int cs_dev_alloc(struct cs_dev *dev, uint64_t bytes, CUdeviceptr *at,
		 struct cs_err *err)
{
	uint64_t whole;

	return round_up(dev, bytes, &whole, err) ||
	       CS_DEV_CU(dev, err, cuMemAlloc, at, whole) ? -1 : 0;
}

/* The usual memory; likewise. */
static int arena_plain(struct cs_dev *dev, uint64_t bytes, struct cs_export *out,
		       struct cs_err *err)
{
	if (CS_DEV_CU(dev, err, cuMemAlloc, &dev->arena, bytes))
		return -1;
	dev->arena_bytes = bytes;
	out->address = dev->arena;
	cs_dev_export(dev, out);
	return 0;
}

static int arena_make(struct cs_dev *dev, uint64_t bytes, int by_fd,
		      struct cs_export *out, struct cs_err *err)
{
	struct cs_export made = {
		.pid = getpid(), .pid_ns = cs_pid_namespace(), .bytes = bytes,
		.ordinal = dev->ordinal, .fd = -1,
		.ring_address = dev->ring_at, .ring_bytes = dev->ring_bytes,
		.ring_fd = dev->ring_fd,
	};
	struct cs_gpu_facts facts;
	uint64_t whole;

	if (cs_probe_gpu(dev->ordinal, &facts, err) ||
	    round_up(dev, bytes, &whole, err))
		return -1;
	memcpy(made.uuid, facts.uuid, sizeof(made.uuid));
	if (by_fd)
		arena_shareable(dev, whole, &made);
	if (!made.fd_bytes && arena_plain(dev, whole, &made, err))
		return -1;
	*out = made;
	return 0;
}

int cs_dev_arena(struct cs_dev *dev, uint64_t bytes, void *host, int fd,
		 struct cs_export *out, struct cs_err *err)
{
	(void)host;
	(void)fd;
	assert(!dev->arena && !dev->vmm.at && bytes);
	return arena_make(dev, bytes, dev->via == CS_WAY_FD, out, err);
}

int cs_dev_rearena(struct cs_dev *dev, uint64_t bytes, int by_fd,
		   struct cs_export *out, struct cs_err *err)
{
	if (by_fd && !cs_vmm_supported(dev))
		return 0;
	arena_free(dev);
	return arena_make(dev, bytes, by_fd, out, err);
}

int cs_dev_broken(const struct cs_dev *dev)
{
	return dev->sticky;
}

static void close_lane(struct cs_lane *lane)
{
	if (lane->stream)
		CS_CALL(cuStreamDestroy, lane->stream);
	if (lane->start)
		CS_CALL(cuEventDestroy, lane->start);
	if (lane->end)
		CS_CALL(cuEventDestroy, lane->end);
}

/* Also takes a device that open() left half made.  Results are of no interest:
 * nobody could act on them. */
void cs_dev_close(struct cs_dev *dev)
{
	if (!dev)
		return;
	if (dev->retained)
		CS_CALL(cuCtxSetCurrent, dev->context);
	cs_peer_release_all(dev);
	for (int i = 0; i < CS_CUDA_LANES; i++)
		close_lane(&dev->lane[i]);
	close_lane(&(struct cs_lane){ .stream = dev->aux,
				      .start = dev->aux_start,
				      .end = dev->aux_end });
	arena_free(dev);
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
