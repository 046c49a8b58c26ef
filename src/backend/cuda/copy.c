/* copy.c - what waits at the gate: copies between two marks, and stamps.
 *
 *     lane:  wait *gate >= seq | start | copy ... copy | end
 *     stamp: wait *gate >= seq | *word = seq           | end
 *
 * A copy through a ring is two copies, of two processes as a rule; chunk n of a
 * sample, counted from 1, is
 *
 *     OUT: wait *emptied >= base + n - slots | copy to slot   | *filled = base + n
 *     IN:  wait *filled >= base + n          | copy from slot | *emptied = base + n
 *
 * What is packed goes through one buffer of each side:
 *
 *     PACK:   wait *emptied >= base + n - 1 | pack, copy | *filled = base + n
 *     UNPACK: wait *filled >= base + n      | unpack     | *emptied = base + n
 *
 * Everything here is enqueued and queried, nothing waits; but a copy of pageable memory
 * holds up who enqueues it, which is why a thread of its own does. */
#include "backend/cuda/dev.h"

#include <assert.h>

static CUdeviceptr on_board(const struct cs_dev *dev, const void *word)
{
	uint64_t at = (uint64_t)((const char *)word - dev->board);

	assert(dev->board && at < dev->board_bytes);
	return dev->board_at + at;
}

static int enqueue_wait(struct cs_dev *dev, int lane, const uint32_t *word,
			uint32_t seq, struct cs_err *err)
{
	struct cs_k_gate args = {
		.gate = on_board(dev, word),
		.expired = cs_dev_scratch(dev, expired) +
			   (unsigned int)lane * sizeof(uint32_t),
		.limit_ns = dev->gate_limit_ns,
		.seq = seq,
	};

	return cs_dev_wait(dev, dev->lane[lane].stream, &args, err);
}

/* By default the driver puts a system-wide fence before the store, so that the copy
 * before it is visible with it. */
static int enqueue_store(struct cs_dev *dev, int lane, uint32_t *word, uint32_t value,
			 struct cs_err *err)
{
	struct cs_k_stamp args = { on_board(dev, word), value };
	CUstream stream = dev->lane[lane].stream;

	if (dev->memops)
		return CS_DEV_CU(dev, err, cuStreamWriteValue32, stream, args.word,
				 value, CU_STREAM_WRITE_VALUE_DEFAULT);
	return cs_dev_launch(dev, CS_KERNEL_stamp, (struct cs_grid){ 1, 1, 0 },
			     stream, &args, err);
}

/* The i-th of its copies. */
static struct cs_copy nth_copy(const struct cs_copy *f, uint32_t i)
{
	struct cs_copy one = *f;

	if (f->positions > 1)
		one.dst += i % f->positions * f->stride;
	return one;
}

static int enqueue_copy(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
			struct cs_err *err)
{
	if (f->kind == CS_COPY_PREFETCH)
		return cs_um_prefetch(dev, stream, f, err);
	if (f->kind == CS_COPY_TOUCH || f->kind == CS_COPY_FAULT)
		return cs_um_touch(dev, stream, f, err);
	if (f->kind == CS_COPY_2D || f->kind == CS_COPY_3D)
		return cs_box_enqueue(dev, stream, f, err);
	if (f->kind == CS_COPY_PEER)
		return CS_DEV_CU(dev, err, cuMemcpyPeerAsync, f->dst,
				 cs_peer_context(dev, f->dst), f->src,
				 cs_peer_context(dev, f->src), f->bytes, stream);
	return CS_DEV_CU(dev, err, cuMemcpyAsync, f->dst, f->src, f->bytes, stream);
}

/* Chunk n, which begins at byte `at` of the transfer. */
static int enqueue_chunk(struct cs_dev *dev, int lane, const struct cs_copy *f,
			 uint32_t n, uint64_t at, struct cs_err *err)
{
	uint64_t slot = (n - 1) % CS_RING_SLOTS * f->chunk_bytes;
	uint64_t left = f->bytes - at;
	struct cs_copy one = {
		.dst = f->dst + (f->kind == CS_COPY_OUT ? slot : at),
		.src = f->src + (f->kind == CS_COPY_OUT ? at : slot),
		.bytes = left < f->chunk_bytes ? left : f->chunk_bytes,
	};
	int out = f->kind == CS_COPY_OUT;

	if (!out && enqueue_wait(dev, lane, f->filled, f->base + n, err))
		return -1;
	if (out && n > CS_RING_SLOTS &&
	    enqueue_wait(dev, lane, f->emptied, f->base + n - CS_RING_SLOTS, err))
		return -1;
	if (enqueue_copy(dev, dev->lane[lane].stream, &one, err))
		return -1;
	return enqueue_store(dev, lane, out ? f->filled : f->emptied, f->base + n,
			     err);
}

static int mark_if(int marked, struct cs_dev *dev, int lane, struct cs_err *err)
{
	return marked ? cs_dev_mark(dev, &dev->lane[lane], err) : 0;
}

/* The n-th of what is packed, from 1 on: one buffer, which is not packed again before it
 * was unpacked.  Stages of the last are marked. */
static int enqueue_packed(struct cs_dev *dev, int lane, const struct cs_copy *f,
			  uint32_t n, struct cs_err *err)
{
	const uint32_t packs = f->kind == CS_COPY_PACK;
	const int last = n == f->copies;
	CUstream stream = dev->lane[lane].stream;

	if ((!packs || n > 1) && enqueue_wait(dev, lane, packs ? f->emptied : f->filled,
					      f->base + n - packs, err))
		return -1;
	if (mark_if(last, dev, lane, err) || cs_box_enqueue(dev, stream, f, err) ||
	    mark_if(last, dev, lane, err))
		return -1;
	if (packs &&
	    (CS_DEV_CU(dev, err, cuMemcpyAsync, f->dst, f->packed, f->bytes, stream) ||
	     mark_if(last, dev, lane, err)))
		return -1;
	return enqueue_store(dev, lane, packs ? f->filled : f->emptied, f->base + n,
			     err);
}

int cs_copy_enqueue(struct cs_dev *dev, int lane, const struct cs_copy *desc,
		    struct cs_err *err)
{
	int chunked = desc->kind == CS_COPY_OUT || desc->kind == CS_COPY_IN;
	int packed = desc->kind == CS_COPY_PACK || desc->kind == CS_COPY_UNPACK;
	const struct cs_lane *on = cs_dev_lane(dev, lane, err);
	uint32_t n = 0;

	if (!on)
		return -1;
	for (uint32_t i = 0; i < desc->copies; i++) {
		struct cs_copy one = nth_copy(desc, i);

		if (packed && enqueue_packed(dev, lane, &one, i + 1, err))
			return -1;
		if (!chunked && !packed && enqueue_copy(dev, on->stream, &one, err))
			return -1;
		for (uint64_t at = 0; chunked && at < desc->bytes;
		     at += desc->chunk_bytes)
			if (enqueue_chunk(dev, lane, &one, ++n, at, err))
				return -1;
	}
	return 0;
}

int cs_copy_mark(struct cs_dev *dev, int lane, struct cs_err *err)
{
	struct cs_lane *on = cs_dev_lane(dev, lane, err);

	if (!on)
		return -1;
	on->timed = 0;
	on->desc.kind = CS_COPY_ENGINE;
	return CS_DEV_CU(dev, err, cuEventRecord, on->end, on->stream);
}

int cs_copy_arm(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		const struct cs_copy *desc, struct cs_err *err)
{
	int by_kernel = desc->kind >= CS_COPY_SM;
	struct cs_lane *on = cs_dev_lane(dev, lane, err);

	if (!on)
		return -1;
	on->timed = on->parts = 0;
	on->desc.kind = CS_COPY_ENGINE;
	on->is_lent = desc->lent;
	if (by_kernel && cs_sm_prepare(dev, lane, desc, err))
		return -1;
	if (enqueue_wait(dev, lane, gate, seq, err) ||
	    CS_DEV_CU(dev, err, cuEventRecord, on->start, on->stream) ||
	    (by_kernel ? cs_sm_launch(dev, lane, err) :
			 cs_copy_enqueue(dev, lane, desc, err)) ||
	    CS_DEV_CU(dev, err, cuEventRecord, on->end, on->stream))
		goto out;
	on->timed = 1;
	on->seq = seq;
	return 0;
out:
	/* what is on the lane cannot be taken back: let poll() see its end */
	CS_CALL(cuEventRecord, on->end, on->stream);
	return -1;
}

int cs_copy_stamp(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		  uint32_t *word, struct cs_err *err)
{
	struct cs_lane *on = cs_dev_lane(dev, lane, err);

	if (!on)
		return -1;
	on->timed = 0;
	on->desc.kind = CS_COPY_ENGINE;
	if (enqueue_wait(dev, lane, gate, seq, err))
		return -1;
	if (enqueue_store(dev, lane, word, seq, err))
		goto out;
	return CS_DEV_CU(dev, err, cuEventRecord, on->end, on->stream);
out:
	CS_CALL(cuEventRecord, on->end, on->stream);
	return -1;
}

/* The time from the first start of all lanes that waited for the same value of the
 * gate: copies that one engine makes in turn were meant to run together, and a start
 * after another's end would hide that.  Lanes that have not started yet start no
 * earlier.  A virtual clock belongs to one stream; so does the start of a lane that a
 * thread of its own armed, which reads no other lane. */
static double since_first_start(const struct cs_dev *dev, const struct cs_lane *on,
				float own_ms)
{
	float most = own_ms, ms;

	if (on->is_lent || cs_driver_clock_is_virtual())
		return most * 1e6;
	for (int i = 0; i < dev->lanes; i++) {
		const struct cs_lane *other = &dev->lane[i];

		if (other != on && !other->is_lent && other->stream && other->timed &&
		    other->seq == on->seq &&
		    !CS_CALL(cuEventElapsedTime, &ms, other->start, on->end) &&
		    ms > most)
			most = ms;
	}
	return most * 1e6;
}

int cs_copy_poll(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	struct cs_lane *on = &dev->lane[lane];
	uint32_t *expired = &dev->scratch->expired[lane];
	float ms = 0;
	CUresult result = CS_CALL(cuEventQuery, on->end);

	if (result == CUDA_ERROR_NOT_READY)
		return 0;
	if (cs_dev_result(dev, result, "cuEventQuery", err))
		return -1;
	if (*expired) {
		*expired = 0;
		return cs_err_set(err, "the gate kernel gave up waiting after %.0f s",
				  dev->gate_limit_ns / 1e9);
	}
	if (on->timed &&
	    CS_DEV_CU(dev, err, cuEventElapsedTime, &ms, on->start, on->end))
		return -1;
	*ns = on->lasted_ns = on->timed ? since_first_start(dev, on, ms) : 0;
	if (on->desc.kind != CS_COPY_ENGINE && on->timed &&
	    cs_sm_prove(dev, lane, ns, err))
		return -1;
	return 1;
}

double cs_copy_lasted(const struct cs_dev *dev, int lane)
{
	return dev->lane[lane].lasted_ns;
}

double cs_copy_lasted_back(const struct cs_dev *dev, int lane)
{
	return dev->lane[lane].back_ns;
}

static int part_ns(struct cs_dev *dev, const struct cs_lane *on, int i, double *ns,
		   struct cs_err *err)
{
	float ms;

	if (CS_DEV_CU(dev, err, cuEventElapsedTime, &ms, on->part[i], on->part[i + 1]))
		return -1;
	*ns = (double)ms * 1e6;
	return 0;
}

int cs_copy_stages(struct cs_dev *dev, int lane, double ns[CS_STAGES],
		   struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];

	if (!on->timed) /* it was not enqueued whole */
		return 0;
	if (on->parts < CS_PARTS)
		return part_ns(dev, on, 0, &ns[CS_STAGE_UNPACK], err);
	return cs_rc(part_ns(dev, on, 0, &ns[CS_STAGE_PACK], err) ||
		     part_ns(dev, on, 1, &ns[CS_STAGE_TRANSFER], err));
}
