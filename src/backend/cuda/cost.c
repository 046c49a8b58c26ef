/* cost.c - single calls of the driver, for what they cost. */
#include "backend/cuda/dev.h"

static int cost_memory(struct cs_dev *dev, int64_t *used, struct cs_err *err)
{
	size_t unused, total;

	if (CS_DEV_CU(dev, err, cuMemGetInfo, &unused, &total))
		return -1;
	*used = (int64_t)(total - unused);
	return 0;
}

/* Freed or not, a second try would do no better. */
static int cost_free(struct cs_dev *dev, struct cs_err *err)
{
	CUdeviceptr at = dev->spare;

	dev->spare = 0;
	cs_vmm_release(&dev->spare_rdma);
	return CS_DEV_CU(dev, err, cuMemFree, at);
}

static int cost_alloc(struct cs_dev *dev, uint64_t bytes, uint64_t *address,
		      struct cs_err *err)
{
	/* of a cell that ended early */
	if (dev->spare && cost_free(dev, err))
		return -1;
	if (cs_dev_alloc(dev, bytes, &dev->spare, err))
		return -1;
	*address = dev->spare;
	return 0;
}

static int cost_alloc_rdma(struct cs_dev *dev, uint64_t bytes, uint64_t *address,
			   struct cs_err *err)
{
	cs_vmm_release(&dev->spare_rdma);
	if (cs_vmm_create_rdma(dev, bytes, &dev->spare_rdma, err))
		return -1;
	*address = dev->spare_rdma.at;
	return 0;
}

static int cost_export(struct cs_dev *dev, struct cs_export *of, struct cs_err *err)
{
	/* a handle alone: descriptors are of the arena */
	of->fd_bytes = 0;
	of->socket[0] = '\0';
	cs_dev_export(dev, of);
	return of->has_ipc ? 0 : cs_err_set(err, "%s", of->ipc_error);
}

static int cost_unload(struct cs_dev *dev, struct cs_err *err)
{
	CUmodule module = dev->again;

	dev->again = NULL;
	return CS_DEV_CU(dev, err, cuModuleUnload, module);
}

static int cost_load(struct cs_dev *dev, struct cs_err *err)
{
	if (dev->again && cost_unload(dev, err))
		return -1;
	return cs_dev_load(dev, &dev->again, err);
}

/* The stamp's kernel, on a word of the agent's own. */
static int cost_launch(struct cs_dev *dev, int lane, struct cs_err *err)
{
	struct cs_k_stamp args = { cs_dev_scratch(dev, word), 0 };
	const struct cs_lane *on = cs_dev_lane(dev, lane, err);

	if (!on)
		return -1;
	return cs_dev_launch(dev, CS_KERNEL_stamp, (struct cs_grid){ 1, 1, 0 },
			     on->stream, &args, err);
}

static int cost_finish(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = cs_dev_lane(dev, lane, err);

	if (!on)
		return -1;
	if (!cs_cu.stream_sync) {
		cs_err_set(err, "the CUDA driver has no cuStreamSynchronize");
		return 1;
	}
	return cs_dev_result(dev,
			     CS_NAMED_CALL("cuStreamSynchronize", stream_sync,
					   on->stream),
			     "cuStreamSynchronize", err);
}

/* All threads that there are. */
static int cost_rekey(struct cs_dev *dev, int lane, const struct cs_rekey *what,
		      struct cs_err *err)
{
	struct cs_k_rekey args = { what->address, what->bytes / 8, what->word,
				   what->from, what->to };
	const struct cs_lane *on = cs_dev_lane(dev, lane, err);
	const struct cs_grid grid = { 2 * dev->sms, CS_KERNEL_THREADS_MOST, 0 };

	if (!on)
		return -1;
	return cs_dev_launch(dev, CS_KERNEL_rekey, grid, on->stream, &args, err);
}

static int cost_record(struct cs_dev *dev, int lane, int event, struct cs_err *err)
{
	const struct cs_lane *on = cs_dev_lane(dev, lane, err);

	if (!on || (!dev->event[event] &&
		    CS_DEV_CU(dev, err, cuEventCreate, &dev->event[event],
			      event < CS_EVENTS ? CU_EVENT_DISABLE_TIMING :
						  CU_EVENT_DEFAULT)))
		return -1;
	return CS_DEV_CU(dev, err, cuEventRecord, dev->event[event], on->stream);
}

static int cost_reached(struct cs_dev *dev, int event, struct cs_err *err)
{
	CUresult result = CS_CALL(cuEventQuery, dev->event[event]);

	if (result == CUDA_ERROR_NOT_READY)
		return 0;
	return cs_dev_result(dev, result, "cuEventQuery", err) ? -1 : 1;
}

static int cost_elapsed(struct cs_dev *dev, int from, int to, float *ms,
			struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuEventElapsedTime, ms, dev->event[from],
			 dev->event[to]);
}

const struct cs_backend_costs cs_cuda_costs = {
	.memory = cost_memory,
	.alloc = cost_alloc,
	.alloc_rdma = cost_alloc_rdma,
	.export = cost_export,
	.free = cost_free,
	.load = cost_load,
	.unload = cost_unload,
	.copy = cs_copy_enqueue,
	.launch = cost_launch,
	.mark = cs_copy_mark,
	.finish = cost_finish,
	.rekey = cost_rekey,
	.record = cost_record,
	.reached = cost_reached,
	.elapsed = cost_elapsed,
};
