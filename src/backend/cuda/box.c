/* box.c - copies of what has a shape: by a kernel, by calls of the driver, or packed. */
#include "backend/cuda/dev.h"

/* The largest unit that all of these are multiples of. */
static uint32_t unit_of(const struct cs_k_box *a)
{
	const uint64_t all = a->dst | a->src | a->dst_pitch | a->src_pitch | a->width;

	return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : 4;
}

/* As many blocks as there is work for, at most as many as run at the same time. */
static int launch(struct cs_dev *dev, CUstream stream, struct cs_k_box *a,
		  struct cs_err *err)
{
	uint64_t blocks;

	a->unit = unit_of(a);
	blocks = (a->width * a->rows / a->unit + CS_KERNEL_THREADS - 1) /
		 CS_KERNEL_THREADS;
	return cs_dev_launch(dev, CS_KERNEL_box,
			     (struct cs_grid){ blocks < dev->blocks ? (uint32_t)blocks :
								      dev->blocks,
					       CS_KERNEL_THREADS, 0 },
			     stream, a, err);
}

int cs_box_launch(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		  struct cs_err *err)
{
	struct cs_k_box args = { f->dst,       f->src,
				 f->box.pitch, f->box.pitch,
				 f->box.width, f->box.rows,
				 f->copies,    0 };

	return launch(dev, stream, &args, err);
}

static int enqueue_2d(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		      struct cs_err *err)
{
	const CUDA_MEMCPY2D args = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
		.srcDevice = f->src,
		.srcPitch = f->box.pitch,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
		.dstDevice = f->dst,
		.dstPitch = f->box.pitch,
		.WidthInBytes = f->box.width,
		.Height = f->box.rows,
	};

	return CS_DEV_CU(dev, err, cuMemcpy2DAsync, &args, stream);
}

/* Between two GPUs of one process the call that names both contexts: without, the driver
 * goes by the addresses. */
static int enqueue_3d(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		      struct cs_err *err)
{
	const CUDA_MEMCPY3D args = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
		.srcDevice = f->src,
		.srcPitch = f->box.grid.pitch,
		.srcHeight = f->box.grid.tall,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
		.dstDevice = f->dst,
		.dstPitch = f->box.grid.pitch,
		.dstHeight = f->box.grid.tall,
		.WidthInBytes = f->box.grid.bytes,
		.Height = f->box.grid.height,
		.Depth = f->box.grid.planes,
	};
	const CUDA_MEMCPY3D_PEER peer = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = f->src,
		.srcContext = cs_peer_context(dev, f->src),
		.srcPitch = args.srcPitch,
		.srcHeight = args.srcHeight,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = f->dst,
		.dstContext = cs_peer_context(dev, f->dst),
		.dstPitch = args.dstPitch,
		.dstHeight = args.dstHeight,
		.WidthInBytes = args.WidthInBytes,
		.Height = args.Height,
		.Depth = args.Depth,
	};

	if (cs_peer_is_near(dev, f->dst))
		return CS_DEV_CU(dev, err, cuMemcpy3DPeerAsync, &peer, stream);
	return CS_DEV_CU(dev, err, cuMemcpy3DAsync, &args, stream);
}

/* Into the buffer of what is packed, or out of it. */
static int enqueue_pack(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
			struct cs_err *err)
{
	struct cs_k_box pack = { f->packed,
				 f->src,
				 f->box.width,
				 f->box.pitch,
				 f->box.width,
				 f->box.rows,
				 1,
				 0 };
	struct cs_k_box unpack = { f->dst,
				   f->packed,
				   f->box.pitch,
				   f->box.width,
				   f->box.width,
				   f->box.rows,
				   1,
				   0 };

	return launch(dev, stream, f->kind == CS_COPY_PACK ? &pack : &unpack, err);
}

int cs_box_enqueue(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		   struct cs_err *err)
{
	switch (f->kind) {
	case CS_COPY_2D:
		return enqueue_2d(dev, stream, f, err);
	case CS_COPY_3D:
		return enqueue_3d(dev, stream, f, err);
	default:
		return enqueue_pack(dev, stream, f, err);
	}
}
