/* stream.c - what is put into streams: gates, copies, kernels, prefetches; events. */
#include "queue.h"

#include <math.h>
#include <sys/syscall.h>
#include <time.h>

#include "backend/cuda/kernels.h"

/* Not 512 of those that a process reads out of another of its GPUs fit into a stream. */
#define PULL_ENTRIES 4u
/* A copy from pageable memory of at most that much is taken into a buffer of the driver. */
#define BUFFERED (64u << 10)

/* ---- gates and copies ---- */

/* Under the memory lock: a 32-bit word that streams can wait for or write. */
static CUresult word_find(uint64_t at, struct fake_memory **memory)
{
	CUresult code;

	*memory = fake_memory_find(at, 4, &code);
	return *memory && !(at & 3) && fake_memory_reaches(fake_current, *memory) ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_INVALID_VALUE;
}

static CUresult enqueue_wait(struct fake_stream *s, uint64_t at, uint32_t value,
			     struct fake_op *op)
{
	struct fake_memory *memory;
	CUresult code;

	op->kind = OP_WAIT;
	fake_memory_lock();
	code = word_find(at, &memory);
	if (!code) {
		op->word = (const uint32_t *)(const void *)(memory->map +
							    (at - memory->at));
		code = fake_gate_find(memory, at, value, &op->gate);
	}
	fake_memory_unlock();
	return code ? code : fake_enqueue(s, op);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr at, uint32_t value,
			     unsigned flags)
{
	struct fake_op op = { .condition = flags, .limit_ns = UINT64_MAX };
	struct fake_stream *s;

	ENTER(cuStreamWaitValue32, FAKE_CTX);
	s = fake_stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	if (fake.no_memops)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (flags > CU_STREAM_WAIT_VALUE_NOR)
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue_wait(s, at, value, &op);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr at, uint32_t value,
			      unsigned flags)
{
	struct fake_op op = { .kind = OP_WRITE, .dst = at, .value = value };
	struct fake_memory *memory;
	struct fake_stream *s;
	CUresult code;

	ENTER(cuStreamWriteValue32, FAKE_CTX);
	s = fake_stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	if (fake.no_memops)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
		return CUDA_ERROR_INVALID_VALUE;
	fake_memory_lock();
	code = word_find(at, &memory);
	fake_memory_unlock();
	return code ? code : fake_enqueue(s, &op);
}

/* Memory of cuMemCreate is never staged: without access it cannot be used. */
static int is_staged(const struct fake_ctx *ctx, const struct fake_memory *m,
		     CUresult *code)
{
	if (fake_memory_reaches(ctx, m))
		return 0;
	if (m->kind == FAKE_MAPPED)
		*code = CUDA_ERROR_INVALID_VALUE;
	return 1;
}

/* The NUMA node of ordinary memory, by the kernel; 0 where it does not say. */
static int numa_of(uint64_t at)
{
	void *page = (void *)(uintptr_t)(at & ~4095ull);
	int node = -1;

	if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0))
		return 0;
	return node < 0 ? 0 : node;
}

static uint64_t dst_span(const struct fake_op *op)
{
	const struct fake_rows *r = &op->rows;

	return r->width ? fake_rows_span(r, r->dst_pitch, r->dst_plane) : op->bytes;
}

static uint64_t src_span(const struct fake_op *op)
{
	const struct fake_rows *r = &op->rows;

	return r->width ? fake_rows_span(r, r->src_pitch, r->src_plane) : op->bytes;
}

/* What is not page-locked goes through the driver's hands: who asks for it is held up
 * until it has been copied, and so by a gate of the stream.  `to` and `from` are the
 * contexts that memory must be of; NULL: any. */
static CUresult enqueue_copy(CUstream stream, struct fake_op *op,
			     const struct fake_ctx *to, const struct fake_ctx *from)
{
	const struct fake_memory *d, *s;
	struct fake_stream *on = fake_stream_of(stream);
	CUresult code, code_from;

	fake_submit();
	if (!on)
		return CUDA_ERROR_INVALID_HANDLE;
	fake_memory_lock();
	d = fake_memory_find(op->dst, dst_span(op), &code);
	s = fake_memory_find(op->src, src_span(op), &code_from);
	code = code ? code : code_from;
	op->flow.dst = fake_memory_place(on->ctx, d);
	op->flow.src = fake_memory_place(on->ctx, s);
	op->flow.issuer = on->ctx->gpu;
	for (int i = 0; i < 2; i++) {
		const struct fake_memory *host = i ? s : d;

		if (host && fake_memory_place(on->ctx, host) == FAKE_HOST) {
			op->flow.numa = host->numa;
			op->flow.wc = host->wc;
		}
		if (!host && !(i ? code_from : code)) {
			op->flow.numa = numa_of(i ? op->src : op->dst);
			op->flow.pageable = 1;
		}
	}
	op->flow.staged = is_staged(on->ctx, d, &code) | is_staged(on->ctx, s, &code);
	op->more = s && s->kind == FAKE_DEVICE && s->gpu != on->ctx->gpu ?
			   PULL_ENTRIES - 1 :
			   0;
	if (op->flow.staged)
		op->more = (unsigned)(op->bytes / fake.staged_piece);
	if ((to && op->flow.dst != to->gpu) || (from && op->flow.src != from->gpu))
		code = CUDA_ERROR_INVALID_VALUE;
	fake_memory_unlock();
	if (code)
		return CUDA_ERROR_INVALID_VALUE;
	op->kind = OP_COPY;
	if (!op->bytes)
		return CUDA_SUCCESS;
	code = fake_enqueue(on, op);
	return code || !op->flow.pageable || (d && op->bytes <= BUFFERED) ?
		       code :
		       fake_stream_wait(on);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	struct fake_op op = { .dst = dst, .src = src, .bytes = bytes };

	ENTER(cuMemcpyAsync, FAKE_CTX);
	return enqueue_copy(stream, &op, NULL, NULL);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src,
			   CUcontext src_ctx, size_t bytes, CUstream stream)
{
	struct fake_op op = { .dst = dst, .src = src, .bytes = bytes };
	const struct fake_ctx *to = fake_ctx_of(dst_ctx);
	const struct fake_ctx *from = fake_ctx_of(src_ctx);

	ENTER(cuMemcpyPeerAsync, FAKE_CTX);
	if (!to || !from)
		return CUDA_ERROR_INVALID_CONTEXT;
	return enqueue_copy(stream, &op, to, from);
}

/* Each row takes as long as so many bytes more, each plane as some rows of none. */
#define ROW_BYTES 48u
#define PLANE_ROWS 4u

static int is_address(CUmemorytype type)
{
	return type == CU_MEMORYTYPE_UNIFIED || type == CU_MEMORYTYPE_DEVICE;
}

static CUresult enqueue_rows(CUstream stream, struct fake_op *op,
			     const struct fake_ctx *to, const struct fake_ctx *from)
{
	const struct fake_rows *r = &op->rows;

	if (!r->width || !r->rows || !r->planes || r->width > r->dst_pitch ||
	    r->width > r->src_pitch || r->rows * r->dst_pitch > r->dst_plane ||
	    r->rows * r->src_pitch > r->src_plane)
		return CUDA_ERROR_INVALID_VALUE;
	op->bytes = r->width * r->rows * r->planes;
	op->takes = (r->rows * (r->width + ROW_BYTES) + PLANE_ROWS * ROW_BYTES) *
		    r->planes;
	return enqueue_copy(stream, op, to, from);
}

static struct fake_rows rows_of(size_t width, size_t height, size_t depth,
				size_t dst_pitch, size_t src_pitch, size_t dst_height,
				size_t src_height)
{
	return (struct fake_rows){
		width,
		height,
		depth,
		dst_pitch,
		src_pitch,
		dst_height * dst_pitch,
		src_height * src_pitch,
	};
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *a, CUstream stream)
{
	struct fake_op op = { .kind = OP_COPY };

	ENTER(cuMemcpy2DAsync, FAKE_CTX);
	if (!a || !is_address(a->srcMemoryType) || !is_address(a->dstMemoryType) ||
	    a->srcXInBytes || a->srcY || a->dstXInBytes || a->dstY ||
	    a->srcPitch > INT32_MAX || a->dstPitch > INT32_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	op.dst = a->dstDevice;
	op.src = a->srcDevice;
	op.rows = rows_of(a->WidthInBytes, a->Height, 1, a->dstPitch, a->srcPitch,
			  a->Height, a->Height);
	return enqueue_rows(stream, &op, NULL, NULL);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *a, CUstream stream)
{
	struct fake_op op = { .kind = OP_COPY };

	ENTER(cuMemcpy3DAsync, FAKE_CTX);
	if (!a || !is_address(a->srcMemoryType) || !is_address(a->dstMemoryType) ||
	    a->srcXInBytes || a->srcY || a->srcZ || a->dstXInBytes || a->dstY ||
	    a->dstZ || a->srcLOD || a->dstLOD)
		return CUDA_ERROR_INVALID_VALUE;
	op.dst = a->dstDevice;
	op.src = a->srcDevice;
	op.rows = rows_of(a->WidthInBytes, a->Height, a->Depth, a->dstPitch,
			  a->srcPitch, a->dstHeight, a->srcHeight);
	return enqueue_rows(stream, &op, NULL, NULL);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *a, CUstream stream)
{
	struct fake_op op = { .kind = OP_COPY };
	const struct fake_ctx *to, *from;

	ENTER(cuMemcpy3DPeerAsync, FAKE_CTX);
	if (!a || a->srcMemoryType != CU_MEMORYTYPE_DEVICE ||
	    a->dstMemoryType != CU_MEMORYTYPE_DEVICE || a->srcXInBytes || a->srcY ||
	    a->srcZ || a->dstXInBytes || a->dstY || a->dstZ || a->srcLOD || a->dstLOD)
		return CUDA_ERROR_INVALID_VALUE;
	to = fake_ctx_of(a->dstContext);
	from = fake_ctx_of(a->srcContext);
	if (!to || !from)
		return CUDA_ERROR_INVALID_CONTEXT;
	op.dst = a->dstDevice;
	op.src = a->srcDevice;
	op.rows = rows_of(a->WidthInBytes, a->Height, a->Depth, a->dstPitch,
			  a->srcPitch, a->dstHeight, a->srcHeight);
	return enqueue_rows(stream, &op, to, from);
}

/* Under the memory lock: whose memory it is; none: this GPU's. */
static int gpu_at(const struct fake_ctx *ctx, uint64_t at)
{
	const struct fake_memory *m;
	CUresult code;

	if (!at)
		return ctx->gpu;
	m = fake_memory_find(at, 1, &code);
	return fake_memory_place(ctx, m);
}

/* Under the memory lock: what will come when a kernel touches managed memory there. */
static void come_find(const struct fake_ctx *ctx, uint64_t at, struct fake_flow *come)
{
	CUresult code;
	struct fake_memory *m = fake_memory_find(at, 1, &code);

	if (m && m->um)
		*come = fake_um_flow(m, at, ctx->gpu);
}

/* Of as many bytes as it returns. */
static uint64_t kernel_flow(const struct fake_stream *s,
			    const struct fake_moves *moves, uint64_t threads,
			    struct fake_flow *flow)
{
	fake_memory_lock();
	flow->src = gpu_at(s->ctx, moves->src);
	flow->dst = gpu_at(s->ctx, moves->dst);
	flow->issuer = s->ctx->gpu;
	flow->engine = moves->engine;
	flow->threads = threads;
	fake_memory_unlock();
	return moves->bytes;
}

static void kernel_flows(const struct fake_stream *s, struct fake_op *op,
			 uint64_t threads)
{
	struct fake_moves moves = op->kernel->moves(op->args);

	op->bytes = kernel_flow(s, &moves, threads, &op->flow);
	op->takes = op->kernel->takes ? op->kernel->takes(op->args) : 0;
	fake_memory_lock();
	come_find(s->ctx, moves.dst ? moves.dst : moves.src, &op->come);
	fake_memory_unlock();
	if (!op->kernel->moves_back)
		return;
	moves = op->kernel->moves_back(op->args);
	op->back_bytes = kernel_flow(s, &moves, threads, &op->back);
}

/* The gate kernel is a wait with a limit. */
CUresult fake_launch(CUstream stream, const struct fake_ctx *owner,
		     const struct fake_kernel *kernel, const void *args,
		     unsigned grid, unsigned threads)
{
	struct fake_op op = { .kind = OP_KERNEL, .kernel = kernel, .grid = grid };
	struct fake_stream *s = fake_stream_of(stream);
	struct cs_k_gate gate;

	if (!s || s->ctx != owner)
		return CUDA_ERROR_INVALID_HANDLE;
	if (kernel->run) {
		memcpy(op.args, args, kernel->args);
		if (kernel->moves)
			kernel_flows(s, &op, (uint64_t)grid * threads);
		return fake_enqueue(s, &op);
	}
	memcpy(&gate, args, sizeof(gate));
	op.condition = CU_STREAM_WAIT_VALUE_GEQ;
	op.limit_ns = gate.limit_ns;
	op.expired = gate.expired;
	return enqueue_wait(s, gate.gate, gate.seq, &op);
}

static void sleep_ps(uint64_t ps)
{
	struct timespec t = { (time_t)(ps / 1000000000000u),
			      (long)(ps / 1000 % 1000000000u) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Brings pages home before it returns where nothing is before it in the stream, and
 * takes as long as the work (seen on H200); with FAKE_PREFETCH_BLOCKS waits for a gate. */
CUresult fake_prefetch(CUstream stream, uint64_t at, uint64_t bytes, int gpu, int numa)
{
	struct fake_op op = { .kind = OP_PREFETCH, .dst = at, .bytes = bytes };
	struct fake_stream *s = fake_stream_of(stream);
	int place = gpu == FAKE_HOST ? FAKE_UM_HOME : gpu;
	int idle, gated, blocks = 0;
	struct fake_memory *m;
	uint64_t before;
	CUresult code;

	fake_submit();
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	fake_memory_lock();
	m = fake_memory_find(at, bytes, &code);
	if (m && m->um) {
		op.flow = fake_um_flow(m, at, place);
		op.flow.engine = FAKE_PREFETCH;
		if (gpu == FAKE_HOST)
			op.flow.numa = numa;
		blocks = !isnan(fake.um_blocks[op.flow.src == FAKE_HOST ?
						       FAKE_UM_HOME :
						       op.flow.src][place]);
	}
	fake_memory_unlock();
	if (!m || !m->um)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&fake_queue_lock);
	idle = !s->depth;
	gated = s->waits > 0;
	before = idle ? s->ps : 0; /* while it runs, its thread writes it */
	pthread_mutex_unlock(&fake_queue_lock);
	code = fake_enqueue(s, &op);
	if (code || !(idle ? gpu == FAKE_HOST : gated && blocks))
		return code;
	code = fake_stream_wait(s);
	if (idle)
		sleep_ps(s->ps - before);
	return code;
}

/* ---- events ---- */

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
	struct fake_event *e;
	void *handle;

	ENTER(cuEventCreate, FAKE_CTX);
	if (!event || flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	e = calloc(1, sizeof(*e));
	handle = e ? fake_handle_make(FAKE_EVENT, e) : NULL;
	if (!handle) {
		free(e);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	e->ctx = fake_current;
	e->timed = !(flags & CU_EVENT_DISABLE_TIMING);
	*event = handle;
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
	struct fake_event *e;

	ENTER(cuEventDestroy, FAKE_CTX);
	e = fake_handle_drop(FAKE_EVENT, event);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&fake_queue_lock);
	e->destroyed = 1;
	fake_event_release(e);
	pthread_mutex_unlock(&fake_queue_lock);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	struct fake_op op = { .kind = OP_RECORD };
	struct fake_stream *s;

	ENTER(cuEventRecord, FAKE_CTX);
	s = fake_stream_of(stream);
	op.event = fake_handle_object(FAKE_EVENT, event);
	if (!s || !op.event || op.event->ctx != s->ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	return fake_enqueue(s, &op);
}

/* Success for an event that was never recorded, as the driver has it. */
CUresult cuEventQuery(CUevent event)
{
	const struct fake_event *e;
	int pending;

	ENTER(cuEventQuery, FAKE_CTX);
	e = fake_handle_object(FAKE_EVENT, event);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&fake_queue_lock);
	fake_event_await(e);
	pending = e->recorded != e->completed;
	if (!pending && (fake_known.ctx != e->ctx || fake_known.ps < e->ps))
		fake_known = (struct fake_known){ e->ctx, e->ps };
	pthread_mutex_unlock(&fake_queue_lock);
	return pending ? CUDA_ERROR_NOT_READY : (CUresult)e->ctx->sticky;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	const struct fake_event *s, *e;
	CUresult code = CUDA_SUCCESS;

	ENTER(cuEventElapsedTime, FAKE_CTX);
	s = fake_handle_object(FAKE_EVENT, start);
	e = fake_handle_object(FAKE_EVENT, end);
	if (!ms)
		return CUDA_ERROR_INVALID_VALUE;
	if (!s || !e || s->ctx != e->ctx || !s->timed || !e->timed)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&fake_queue_lock);
	if (!s->recorded || !e->recorded)
		code = CUDA_ERROR_INVALID_HANDLE;
	else if (s->recorded != s->completed || e->recorded != e->completed)
		code = CUDA_ERROR_NOT_READY;
	else
		*ms = (float)((double)(int64_t)(e->ps - s->ps) / 1e9);
	pthread_mutex_unlock(&fake_queue_lock);
	return code;
}
