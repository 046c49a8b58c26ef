/* consume.c - a kernel that reads, or writes, data of the host, which it finds in one of
 * several ways.
 *
 *     lane: wait *gate >= seq | start | (copy or prefetch) kernel | end
 *
 * A kernel whose data is in its GPU's memory reads hundreds of bytes a nanosecond, one that
 * faults 10 to 15 (H200), so a prefetch that moved nothing is noticed.
 *
 * The kernel adds up the data that it reads; the sum is proven as for other kernels that
 * read (sm.c). */
#include "backend/cuda/dev.h"

#define FOUND_RATE 100.0 /* bytes per ns, at least */
#define FOUND_NS 50e3	 /* besides */

static uint64_t at_of(const struct cs_copy *f)
{
	return f->kind == CS_COPY_PRODUCE || f->move != CS_MOVE_NOT ? f->dst : f->src;
}

static int bring(struct cs_dev *dev, struct cs_lane *on, struct cs_err *err)
{
	const struct cs_copy *f = &on->desc;

	if (f->move == CS_MOVE_COPY)
		return CS_DEV_CU(dev, err, cuMemcpyAsync, f->dst, f->src, f->bytes,
				 on->stream);
	if (f->move == CS_MOVE_PREFETCH)
		return cs_rc(cs_um_prefetch(dev, on->stream, f, err) ||
			     cs_dev_mark(dev, on, err));
	return 0;
}

int cs_consume_launch(struct cs_dev *dev, int lane, struct cs_err *err)
{
	struct cs_lane *on = &dev->lane[lane];
	const struct cs_copy *f = &on->desc;
	const struct cs_k_consume read = { at_of(f), f->bytes,
					   cs_dev_proof_at(dev, lane), f->element,
					   f->page };
	const struct cs_k_produce write = { at_of(f), f->bytes, f->key, f->element,
					    f->page };
	const struct cs_grid grid = { f->blocks, f->threads, 0 };

	if (bring(dev, on, err))
		return -1;
	if (f->kind == CS_COPY_CONSUME)
		return cs_dev_launch(dev, CS_KERNEL_consume, grid, on->stream,
				     (void *)&read, err);
	return cs_dev_launch(dev, CS_KERNEL_produce, grid, on->stream, (void *)&write,
			     err);
}

int cs_consume_prove(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	float ms = 0;

	if (on->desc.move != CS_MOVE_PREFETCH)
		return 0;
	if (CS_DEV_CU(dev, err, cuEventElapsedTime, &ms, on->part[0], on->end))
		return -1;
	if (1e6 * (double)ms <= (double)on->desc.bytes / FOUND_RATE + FOUND_NS)
		return 0;
	return cs_err_set(
		err,
		"the prefetch did not move the pages: the kernel after it took %.3g ms, as long as faults do",
		(double)ms);
}
