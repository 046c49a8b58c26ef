/* consume.c - a kernel that reads, or writes, data of the host, which it finds in one of
 * several ways.
 *
 *     lane: wait *gate >= seq | start | (copy or prefetch) kernel | end
 *
 * What is read is added up, and the sum is proven as that of other kernels that read
 * (sm.c). */
#include "config.h"

#include "backend/cuda/dev.h"

uint64_t cs_consume_at(const struct cs_copy *f)
{
	return f->kind == CS_COPY_PRODUCE || f->move != CS_MOVE_NOT ? f->dst : f->src;
}

static int bring(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		 struct cs_err *err)
{
	if (f->move == CS_MOVE_COPY)
		return CS_DEV_CU(dev, err, cuMemcpyAsync, f->dst, f->src, f->bytes,
				 stream);
	return 0;
}

int cs_consume_launch(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	const struct cs_copy *f = &on->desc;
	const struct cs_k_consume read = { cs_consume_at(f), f->bytes,
					   cs_dev_proof_at(dev, lane), f->element,
					   f->page };
	const struct cs_k_produce write = { cs_consume_at(f), f->bytes,	  f->key,
					    f->mark,	      f->element, f->page };
	const struct cs_grid grid = { f->blocks, f->threads, 0 };

	if (bring(dev, on->stream, f, err))
		return -1;
	if (f->kind == CS_COPY_CONSUME)
		return cs_dev_launch(dev, CS_KERNEL_consume, grid, on->stream,
				     (void *)&read, err);
	return cs_dev_launch(dev, CS_KERNEL_produce, grid, on->stream, (void *)&write,
			     err);
}
