/* dev.c - what a device that is open is used by: kernels, streams, results. */
#include "backend/cuda/dev.h"

#include <assert.h>

/* The image of kernels/kernels.cu, by bin2c. */
extern const unsigned long long cs_kernels_fatbin[];

const char *const cs_kernel_name[CS_N_KERNELS] = {
#define KERNEL_NAME(name) "cs_k_" #name,
	CS_KERNELS(KERNEL_NAME) CS_KERNELS_ARGS(KERNEL_NAME)
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
	if (CS_DEV_CU(dev, err, cuLaunchKernel, dev->kernel[kernel], grid.blocks, 1,
		      1, grid.threads, 1, 1, grid.shared, stream, (void *[]){ args },
		      NULL))
		return cs_err_prefix(err, "%s", cs_kernel_name[kernel]);
	return 0;
}

int cs_dev_load(struct cs_dev *dev, CUmodule *module, struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuModuleLoadData, module, cs_kernels_fatbin);
}

struct cs_lane *cs_dev_lane(struct cs_dev *dev, int lane, struct cs_err *err)
{
	struct cs_lane *on;

	assert(lane >= 0 && lane < dev->lanes);
	on = &dev->lane[lane];
	if (on->stream)
		return on;
	if ((!on->start &&
	     CS_DEV_CU(dev, err, cuEventCreate, &on->start, CU_EVENT_DEFAULT)) ||
	    (!on->end &&
	     CS_DEV_CU(dev, err, cuEventCreate, &on->end, CU_EVENT_DEFAULT)) ||
	    CS_DEV_CU(dev, err, cuStreamCreate, &on->stream, CU_STREAM_NON_BLOCKING))
		return NULL;
	return on;
}

int cs_dev_mark(struct cs_dev *dev, struct cs_lane *on, struct cs_err *err)
{
	CUevent *event = &on->part[on->parts];

	assert(on->parts < CS_PARTS);
	if (!*event && CS_DEV_CU(dev, err, cuEventCreate, event, CU_EVENT_DEFAULT))
		return -1;
	on->parts++;
	return CS_DEV_CU(dev, err, cuEventRecord, *event, on->stream);
}

int cs_dev_enter(struct cs_dev *dev, struct cs_err *err)
{
	return CS_DEV_CU(dev, err, cuCtxSetCurrent, dev->context);
}

int cs_dev_broken(const struct cs_dev *dev)
{
	return dev->sticky;
}

int cs_dev_wait(struct cs_dev *dev, CUstream stream, struct cs_k_gate *word,
		struct cs_err *err)
{
	if (dev->memops)
		return CS_DEV_CU(dev, err, cuStreamWaitValue32, stream, word->gate,
				 word->seq, CU_STREAM_WAIT_VALUE_GEQ);
	return cs_dev_launch(dev, CS_KERNEL_gate, (struct cs_grid){ 1, 1, 0 }, stream,
			     word, err);
}
