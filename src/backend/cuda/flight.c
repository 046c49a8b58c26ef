/* flight.c - what waits at the gate: copies between two marks, and stamps.
 *
 *     lane:  wait *gate >= seq | start | copy ... copy | end
 *     stamp: wait *gate >= seq | *word = seq           | end
 *
 * Everything here is enqueued and queried, nothing waits. */
#include "config.h"

#include "backend/cuda/dev.h"

#include <assert.h>

static struct cs_lane *lane_of(struct cs_dev *dev, int lane)
{
	assert(lane >= 0 && lane < dev->lanes);
	return &dev->lane[lane];
}

static CUdeviceptr on_board(const struct cs_dev *dev, const void *word)
{
	uint64_t at = (uint64_t)((const char *)word - dev->board);

	assert(dev->board && at < dev->board_bytes);
	return dev->board_at + at;
}

static int enqueue_gate(struct cs_dev *dev, int lane, const uint32_t *gate,
			uint32_t seq, struct cs_err *err)
{
	struct cs_k_gate args = {
		.gate = on_board(dev, gate),
		.expired = cs_dev_scratch(dev, expired) +
			   (unsigned int)lane * sizeof(uint32_t),
		.limit_ns = dev->gate_limit_ns,
		.seq = seq,
	};

	if (dev->memops)
		return CS_DEV_CU(dev, err, cuStreamWaitValue32,
				 dev->lane[lane].stream, args.gate, seq,
				 CU_STREAM_WAIT_VALUE_GEQ);
	return cs_dev_launch(dev, CS_KERNEL_gate, 1, 1, dev->lane[lane].stream,
			     &args, err);
}

int cs_flight_copy(struct cs_dev *dev, int lane, const struct cs_flight *flight,
		   struct cs_err *err)
{
	CUstream stream = lane_of(dev, lane)->stream;

	for (uint32_t i = 0; i < flight->copies; i++)
		if (CS_DEV_CU(dev, err, cuMemcpyAsync, flight->dst, flight->src,
			      flight->bytes, stream))
			return -1;
	return 0;
}

int cs_flight_mark(struct cs_dev *dev, int lane, struct cs_err *err)
{
	struct cs_lane *on = lane_of(dev, lane);

	on->timed = 0;
	return CS_DEV_CU(dev, err, cuEventRecord, on->end, on->stream);
}

int cs_flight_arm(struct cs_dev *dev, int lane, const uint32_t *gate,
		  uint32_t seq, const struct cs_flight *flight,
		  struct cs_err *err)
{
	struct cs_lane *on = lane_of(dev, lane);

	on->timed = 0;
	if (enqueue_gate(dev, lane, gate, seq, err) ||
	    CS_DEV_CU(dev, err, cuEventRecord, on->start, on->stream))
		goto out;
	if (cs_flight_copy(dev, lane, flight, err) ||
	    CS_DEV_CU(dev, err, cuEventRecord, on->end, on->stream))
		goto out;
	on->timed = 1;
	return 0;
out:
	/* what is on the lane cannot be taken back: let poll() see its end */
	CS_CALL(cuEventRecord, on->end, on->stream);
	return -1;
}

int cs_flight_stamp(struct cs_dev *dev, int lane, const uint32_t *gate,
		    uint32_t seq, uint32_t *word, struct cs_err *err)
{
	struct cs_lane *on = lane_of(dev, lane);
	struct cs_k_stamp args = { on_board(dev, word), seq };

	on->timed = 0;
	if (enqueue_gate(dev, lane, gate, seq, err))
		return -1;
	if (dev->memops ? CS_DEV_CU(dev, err, cuStreamWriteValue32, on->stream,
				    args.word, seq,
				    CU_STREAM_WRITE_VALUE_DEFAULT) :
			  cs_dev_launch(dev, CS_KERNEL_stamp, 1, 1, on->stream,
					&args, err))
		goto out;
	return CS_DEV_CU(dev, err, cuEventRecord, on->end, on->stream);
out:
	CS_CALL(cuEventRecord, on->end, on->stream);
	return -1;
}

int cs_flight_poll(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	struct cs_lane *on = lane_of(dev, lane);
	CUresult result = CS_CALL(cuEventQuery, on->end);
	uint32_t *expired = &dev->scratch->expired[lane];
	float ms = 0;

	if (result == CUDA_ERROR_NOT_READY)
		return 0;
	if (cs_dev_result(dev, result, "cuEventQuery", err))
		return -1;
	if (*expired) {
		*expired = 0;
		return cs_err_set(err, "the gate kernel gave up waiting after "
				  "%.0f s", dev->gate_limit_ns / 1e9);
	}
	if (on->timed && CS_DEV_CU(dev, err, cuEventElapsedTime, &ms, on->start,
				   on->end))
		return -1;
	*ns = ms * 1e6;
	return 1;
}
