/* stream.c - streams, events and gates.
 *
 * A stream is a thread with a queue.  One lock guards all queues, and whoever
 * waits for another's progress waits on one condition: few threads, short
 * critical sections.
 *
 *     enqueue ──▶ [op op op op] ──▶ thread: its turn? ──▶ run ──▶ take off
 *
 * As on the GPU, streams of a context share a few connections: an operation
 * whose connection has an older wait in it, of whatever stream, waits too. */
#include "config.h"

#include "fake.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/kernels.h"

/* Seen on H200: a stream takes 1,020 copies behind the wait at its head. */
#define DEPTH (1020u + 1)
/* … but not 512 of those that a process reads out of another of its GPUs. */
#define PULL_ENTRIES 4u
/* A copy from pageable memory of at most that much is taken into a buffer of the driver. */
#define BUFFERED (64u << 10)
#define KERNEL_PS 5000000u
#define STACK (256u << 10)

struct fake_event {
	struct fake_ctx *ctx;
	int timed, destroyed;
	uint64_t recorded, completed; /* how often */
	uint64_t ps;		      /* at the last completion */
};

struct fake_op {
	struct fake_op *next;
	enum { OP_WAIT, OP_WRITE, OP_RECORD, OP_COPY, OP_KERNEL, OP_PREFETCH } kind;
	int fault;
	unsigned more;	 /* entries than the one it takes */
	uint64_t ticket; /* order of enqueueing, all streams */
	/* wait */
	struct fake_op *next_wait; /* on the same connection */
	const uint32_t *word;
	struct fake_gate gate; /* of others: the last that they were put behind */
	unsigned condition;    /* CU_STREAM_WAIT_VALUE_… */
	uint64_t limit_ns;
	uint64_t expired; /* address to set to 1 then */
	/* copy, write */
	uint64_t dst, src, bytes;
	uint32_t value;
	struct fake_flow flow;
	/* kernel: both at the same time */
	uint64_t back_bytes;
	struct fake_flow back;
	/* … and the managed memory of these is elsewhere: what will come; src == dst not */
	struct fake_flow come;
	/* record */
	struct fake_event *event;
	/* kernel */
	const struct fake_kernel *kernel;
	unsigned grid;
	unsigned char args[FAKE_ARGS] __attribute__((aligned(16)));
};

struct fake_stream {
	struct fake_stream *next; /* of the context */
	struct fake_ctx *ctx;
	unsigned connection;
	uint64_t tag; /* of this stream on this node */
	struct fake_op *first, **last;
	unsigned depth;
	int closing;
	pthread_cond_t work;	/* the queue is not empty, or closing */
	uint64_t ps;		/* virtual time of what has run */
	unsigned waits;		/* in the queue */
	struct fake_gate gate;	/* of the last wait enqueued */
	struct fake_flow added; /* last flow put behind that gate */
	struct fake_flow timed; /* flow of the last copy run … */
	double rate;		/* … and its rate; 0 unknown */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned waits; /* in all queues of this process */
static uint64_t ticket;

/* ---- running ---- */

static void sleep_ps(uint64_t ps)
{
	struct timespec t = { (time_t)(ps / 1000000000000u),
			      (long)(ps / 1000 % 1000000000u) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static int word_passes(const struct fake_op *op)
{
	uint32_t word = __atomic_load_n(op->word, __ATOMIC_ACQUIRE);

	switch (op->condition) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return (int32_t)(word - op->gate.value) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return word == op->gate.value;
	case CU_STREAM_WAIT_VALUE_AND:
		return (word & op->gate.value) != 0;
	default:
		return ~(word | op->gate.value) != 0;
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The word as streams write it: all of it, and not before what went before. */
static CUresult word_store(const struct fake_ctx *ctx, uint64_t at, uint32_t value)
{
	uint32_t *word;

	fake_memory_lock();
	word = fake_memory_kernel(ctx, at, sizeof(*word), FAKE_STORES);
	if (word)
		__atomic_store_n(word, value, __ATOMIC_RELEASE);
	fake_memory_unlock();
	return word ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* Naps of 20 us, longer and longer to 400 us: many closed gates of many ranks
 * must leave the machine to the work. */
static CUresult run_wait(struct fake_stream *s, const struct fake_op *op)
{
	struct timespec nap = { 0, 20000 };
	uint64_t started = now_ns();
	CUresult code = CUDA_SUCCESS;

	while (!word_passes(op) && !s->ctx->sticky) {
		if (now_ns() - started > op->limit_ns) {
			code = word_store(s->ctx, op->expired, 1);
			break;
		}
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 400000)
			nap.tv_nsec += nap.tv_nsec / 4;
	}
	fake_flow_pass(&op->gate, s->tag);
	s->rate = 0; /* another gate, another group */
	return code;
}

static int flow_same(const struct fake_flow *a, const struct fake_flow *b)
{
	return a->gate.flows == b->gate.flows && a->gate.offset == b->gate.offset &&
	       a->gate.value == b->gate.value && a->src == b->src &&
	       a->dst == b->dst && a->issuer == b->issuer && a->staged == b->staged &&
	       a->engine == b->engine && a->threads == b->threads &&
	       a->numa == b->numa && a->wc == b->wc && a->pageable == b->pageable;
}

/* The time of op->bytes of its flow. */
static void pass_flow(struct fake_stream *s, const struct fake_op *op)
{
	if (!s->rate || !flow_same(&s->timed, &op->flow)) {
		s->timed = op->flow;
		s->rate = fake_flow_rate(&op->flow);
	}
	s->ps += fake_copy_ps(&op->flow, s->rate, op->bytes);
	fake_flow_count(&op->flow, op->bytes);
}

static CUresult run_copy(struct fake_stream *s, const struct fake_op *op)
{
	CUresult code;

	fake_um_begin(&op->gate);
	fake_memory_lock();
	fake_memory_kernel(s->ctx, op->src, op->bytes, FAKE_LOADS);
	fake_memory_kernel(s->ctx, op->dst, op->bytes, FAKE_STORES);
	code = fake_memory_move(op->dst, op->src, op->bytes);
	fake_memory_unlock();
	pass_flow(s, op);
	s->ps += (uint64_t)(fake_um_ns(op->bytes) * 1e3);
	return code;
}

/* A kernel that moves both ways ends with the later of both. */
static void pass_both(struct fake_stream *s, const struct fake_op *op)
{
	uint64_t begin = s->ps, took[2];

	pass_flow(s, op);
	took[0] = s->ps - begin;
	took[1] = fake_copy_ps(&op->back, fake_flow_rate(&op->back), op->back_bytes);
	if (took[1] > took[0])
		s->ps = begin + took[1];
	fake_memory_lock();
	op->kernel->took(s->ctx, op->args, begin, took);
	fake_memory_unlock();
}

static CUresult run_kernel(struct fake_stream *s, const struct fake_op *op)
{
	const struct fake_kernel *kernel = op->kernel;
	CUresult code;
	double ns = 0;

	fake_um_begin(&op->gate);
	fake_memory_lock();
	code = kernel->run(s->ctx, op->args, op->grid);
	if (kernel->ns && !code)
		ns = kernel->ns(s->ctx, op->args, op->grid);
	fake_memory_unlock();
	if (op->back_bytes)
		pass_both(s, op);
	else if (op->bytes)
		pass_flow(s, op);
	else
		s->ps += KERNEL_PS + (uint64_t)(ns * 1e3);
	s->ps += (uint64_t)(fake_um_ns(op->bytes) * 1e3);
	return code;
}

static CUresult run_prefetch(struct fake_stream *s, const struct fake_op *op)
{
	uint64_t ps;

	fake_um_begin(&op->gate);
	fake_memory_lock();
	ps = fake_um_prefetch(op->dst, op->bytes, &op->flow);
	fake_memory_unlock();
	s->ps += ps ? ps : KERNEL_PS;
	return CUDA_SUCCESS;
}

/* Without the lock. */
static CUresult run(struct fake_stream *s, struct fake_op *op)
{
	while (op->fault == FAKE_NEVER)
		pause();
	if (op->fault)
		return (CUresult)op->fault;
	switch (op->kind) {
	case OP_WAIT:
		return run_wait(s, op);
	case OP_WRITE:
		return word_store(s->ctx, op->dst, op->value);
	case OP_COPY:
		return run_copy(s, op);
	case OP_KERNEL:
		return run_kernel(s, op);
	case OP_PREFETCH:
		return run_prefetch(s, op);
	default:
		return CUDA_SUCCESS;
	}
}

/* An event goes with its handle or its last record, whichever is later. */
static void event_release(struct fake_event *event)
{
	if (event->destroyed && event->recorded == event->completed)
		free(event);
}

/* With the lock: an operation has run. */
static void finish(struct fake_stream *s, struct fake_op *op)
{
	if (op->kind == OP_WAIT) {
		s->ctx->waits[s->connection] = op->next_wait;
		s->waits--;
		waits--;
	}
	if (op->kind == OP_RECORD) {
		op->event->completed++;
		op->event->ps = s->ps;
		event_release(op->event);
	}
	s->first = op->next;
	if (!s->first)
		s->last = &s->first;
	s->depth -= 1 + op->more;
	free(op);
	pthread_cond_broadcast(&changed);
}

/* With the lock: is no older wait on the connection? */
static int is_turn(const struct fake_stream *s, const struct fake_op *op)
{
	const struct fake_op *oldest = s->ctx->waits[s->connection];

	return !oldest || oldest->ticket >= op->ticket;
}

static void stream_free(struct fake_stream *s)
{
	struct fake_stream **at = &s->ctx->streams;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	pthread_cond_destroy(&s->work);
	free(s);
	pthread_cond_broadcast(&changed);
}

static void *stream_main(void *arg)
{
	struct fake_stream *s = arg;
	struct fake_op *op;
	CUresult code;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (!s->first && !s->closing)
			pthread_cond_wait(&s->work, &lock);
		op = s->first;
		if (!op)
			break;
		while (!is_turn(s, op))
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		code = s->ctx->sticky ? CUDA_SUCCESS : run(s, op);
		if (code)
			s->ctx->sticky = (int)code;
		pthread_mutex_lock(&lock);
		finish(s, op);
	}
	stream_free(s);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---- enqueueing ---- */

static void wait_append(struct fake_stream *s, struct fake_op *op)
{
	struct fake_op **at = &s->ctx->waits[s->connection];

	while (*at)
		at = &(*at)->next_wait;
	*at = op;
	s->gate = op->gate;
	if (word_passes(op))
		s->gate.flows = NULL;
	memset(&s->added, 0, sizeof(s->added));
	s->waits++;
	waits++;
}

/* A copy behind a closed gate is a flow of the gate's group; one armed when the
 * gate was open is alone. */
static void flow_append(struct fake_stream *s, struct fake_op *op)
{
	if (!s->waits || !s->gate.flows)
		return;
	op->gate = op->flow.gate = s->gate;
	if (op->bytes && !flow_same(&s->added, &op->flow)) {
		s->added = op->flow;
		fake_flow_add(&op->flow, s->tag);
	}
	if (op->come.src != op->come.dst) {
		op->come.gate = s->gate;
		fake_flow_add(&op->come, s->tag);
	}
	if (op->back_bytes) {
		op->back.gate = s->gate;
		fake_flow_add(&op->back, s->tag);
	}
}

/* Takes a filled operation on the stack to the queue; blocks while it is full. */
static CUresult enqueue(struct fake_stream *s, const struct fake_op *filled)
{
	struct fake_op *op = malloc(sizeof(*op));

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = *filled;
	op->fault = fake_take_fault();
	pthread_mutex_lock(&lock);
	while (s->depth + op->more >= DEPTH)
		pthread_cond_wait(&changed, &lock);
	op->ticket = ticket++;
	if (op->kind == OP_WAIT)
		wait_append(s, op);
	if (op->kind == OP_COPY || op->kind == OP_KERNEL || op->kind == OP_PREFETCH)
		flow_append(s, op);
	if (op->kind == OP_RECORD)
		op->event->recorded++;
	*s->last = op;
	s->last = &op->next;
	s->depth += 1 + op->more;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

/* The stream behind a handle, if it is of the current context. */
static struct fake_stream *stream_of(CUstream handle)
{
	struct fake_stream *s = fake_handle_object(FAKE_STREAM, handle);

	return s && s->ctx == fake_current ? s : NULL;
}

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
	return code ? code : enqueue(s, op);
}

API CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr at,
					 cuuint32_t value, unsigned flags)
{
	struct fake_op op = { .condition = flags, .limit_ns = UINT64_MAX };
	struct fake_stream *s;

	ENTER(cuStreamWaitValue32, FAKE_CTX);
	s = stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	if (fake.no_memops)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (flags > CU_STREAM_WAIT_VALUE_NOR)
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue_wait(s, at, value, &op);
}

API CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr at,
					  cuuint32_t value, unsigned flags)
{
	struct fake_op op = { .kind = OP_WRITE, .dst = at, .value = value };
	struct fake_memory *memory;
	struct fake_stream *s;
	CUresult code;

	ENTER(cuStreamWriteValue32, FAKE_CTX);
	s = stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	if (fake.no_memops)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
		return CUDA_ERROR_INVALID_VALUE;
	fake_memory_lock();
	code = word_find(at, &memory);
	fake_memory_unlock();
	return code ? code : enqueue(s, &op);
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

/* What is not page-locked goes through the driver's hands: who asks for it is held up
 * until it has been copied, and so by a gate of the stream. */
static CUresult wait_idle(struct fake_stream *s)
{
	pthread_mutex_lock(&lock);
	while (s->depth)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return (CUresult)s->ctx->sticky;
}

/* With `to` and `from` the contexts that memory must be of; NULL: any. */
static CUresult enqueue_copy(CUstream stream, struct fake_op *op,
			     const struct fake_ctx *to, const struct fake_ctx *from)
{
	const struct fake_memory *d, *s;
	struct fake_stream *on = stream_of(stream);
	CUresult code, code_from;

	fake_submit();
	if (!on)
		return CUDA_ERROR_INVALID_HANDLE;
	fake_memory_lock();
	d = fake_memory_find(op->dst, op->bytes, &code);
	s = fake_memory_find(op->src, op->bytes, &code_from);
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
	if ((to && op->flow.dst != to->gpu) || (from && op->flow.src != from->gpu))
		code = CUDA_ERROR_INVALID_VALUE;
	fake_memory_unlock();
	if (code)
		return CUDA_ERROR_INVALID_VALUE;
	op->kind = OP_COPY;
	if (!op->bytes)
		return CUDA_SUCCESS;
	code = enqueue(on, op);
	return code || !op->flow.pageable || (d && op->bytes <= BUFFERED) ?
		       code :
		       wait_idle(on);
}

API CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
				   CUstream stream)
{
	struct fake_op op = { .dst = dst, .src = src, .bytes = bytes };

	ENTER(cuMemcpyAsync, FAKE_CTX);
	return enqueue_copy(stream, &op, NULL, NULL);
}

API CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx,
				       CUdeviceptr src, CUcontext src_ctx,
				       size_t bytes, CUstream stream)
{
	struct fake_op op = { .dst = dst, .src = src, .bytes = bytes };
	const struct fake_ctx *to = fake_ctx_of(dst_ctx);
	const struct fake_ctx *from = fake_ctx_of(src_ctx);

	ENTER(cuMemcpyPeerAsync, FAKE_CTX);
	if (!to || !from)
		return CUDA_ERROR_INVALID_CONTEXT;
	return enqueue_copy(stream, &op, to, from);
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
	struct fake_stream *s = stream_of(stream);
	struct cs_k_gate gate;

	if (!s || s->ctx != owner)
		return CUDA_ERROR_INVALID_HANDLE;
	if (kernel->run) {
		memcpy(op.args, args, kernel->args);
		if (kernel->moves)
			kernel_flows(s, &op, (uint64_t)grid * threads);
		return enqueue(s, &op);
	}
	memcpy(&gate, args, sizeof(gate));
	op.condition = CU_STREAM_WAIT_VALUE_GEQ;
	op.limit_ns = gate.limit_ns;
	op.expired = gate.expired;
	return enqueue_wait(s, gate.gate, gate.seq, &op);
}

/* Brings pages home before it returns where nothing is before it in the stream, and
 * takes as long as the work (seen on H200); with FAKE_PREFETCH_BLOCKS waits for a gate. */
CUresult fake_prefetch(CUstream stream, uint64_t at, uint64_t bytes, int gpu, int numa)
{
	struct fake_op op = { .kind = OP_PREFETCH, .dst = at, .bytes = bytes };
	struct fake_stream *s = stream_of(stream);
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
	pthread_mutex_lock(&lock);
	idle = !s->depth;
	gated = s->waits > 0;
	before = s->ps;
	pthread_mutex_unlock(&lock);
	code = enqueue(s, &op);
	if (code || !(idle ? gpu == FAKE_HOST : gated && blocks))
		return code;
	code = wait_idle(s);
	if (idle)
		sleep_ps(s->ps - before);
	return code;
}

/* ---- streams ---- */

static int thread_start(struct fake_stream *s)
{
	sigset_t every, before;
	pthread_attr_t attr;
	pthread_t thread;
	int failed;

	sigfillset(&every);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	failed = pthread_create(&thread, &attr, stream_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return failed;
}

API CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned flags)
{
	struct fake_stream *s;
	void *handle;

	ENTER(cuStreamCreate, FAKE_CTX);
	if (!stream || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	s = calloc(1, sizeof(*s));
	handle = s ? fake_handle_make(FAKE_STREAM, s) : NULL;
	if (!handle) {
		free(s);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	pthread_cond_init(&s->work, NULL);
	s->ctx = fake_current;
	s->last = &s->first;
	s->tag = (uint64_t)getpid() << 32 | (uint32_t)(uintptr_t)handle;
	pthread_mutex_lock(&lock);
	s->connection = s->ctx->made++ % (unsigned)fake.connections;
	s->next = s->ctx->streams;
	s->ctx->streams = s;
	if (thread_start(s)) {
		fake_handle_drop(FAKE_STREAM, handle);
		stream_free(s);
		handle = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (!handle)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*stream = handle;
	return CUDA_SUCCESS;
}

/* Returns at once; what is in the queue still runs. */
API CUresult CUDAAPI cuStreamDestroy(CUstream stream)
{
	struct fake_stream *s;

	ENTER(cuStreamDestroy, FAKE_CTX);
	s = fake_handle_drop(FAKE_STREAM, stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	s->closing = 1;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

API CUresult CUDAAPI cuStreamQuery(CUstream stream)
{
	struct fake_stream *s;
	unsigned depth;

	ENTER(cuStreamQuery, FAKE_CTX);
	s = stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	depth = s->depth;
	pthread_mutex_unlock(&lock);
	return depth ? CUDA_ERROR_NOT_READY : (CUresult)s->ctx->sticky;
}

API CUresult CUDAAPI cuStreamSynchronize(CUstream stream)
{
	struct fake_stream *s;

	ENTER(cuStreamSynchronize, FAKE_CTX);
	s = stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	return wait_idle(s);
}

static int is_gated(const struct fake_ctx *ctx)
{
	for (size_t i = 0; i < sizeof(ctx->waits) / sizeof(*ctx->waits); i++)
		if (ctx->waits[i])
			return 1;
	return 0;
}

void fake_gates_wait(const struct fake_ctx *ctx)
{
	pthread_mutex_lock(&lock);
	while (ctx && !fake.stalls_process ? is_gated(ctx) : waits > 0)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static int ctx_busy(const struct fake_ctx *ctx)
{
	for (const struct fake_stream *s = ctx->streams; s; s = s->next)
		if (s->depth)
			return 1;
	return 0;
}

void fake_ctx_drain(struct fake_ctx *ctx)
{
	pthread_mutex_lock(&lock);
	while (ctx_busy(ctx))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* ---- events ---- */

API CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned flags)
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

API CUresult CUDAAPI cuEventDestroy(CUevent event)
{
	struct fake_event *e;

	ENTER(cuEventDestroy, FAKE_CTX);
	e = fake_handle_drop(FAKE_EVENT, event);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	e->destroyed = 1;
	event_release(e);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

API CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream)
{
	struct fake_op op = { .kind = OP_RECORD };
	struct fake_stream *s;

	ENTER(cuEventRecord, FAKE_CTX);
	s = stream_of(stream);
	op.event = fake_handle_object(FAKE_EVENT, event);
	if (!s || !op.event || op.event->ctx != s->ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	return enqueue(s, &op);
}

/* Success for an event that was never recorded, as the driver has it. */
API CUresult CUDAAPI cuEventQuery(CUevent event)
{
	const struct fake_event *e;
	int pending;

	ENTER(cuEventQuery, FAKE_CTX);
	e = fake_handle_object(FAKE_EVENT, event);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	pending = e->recorded != e->completed;
	pthread_mutex_unlock(&lock);
	return pending ? CUDA_ERROR_NOT_READY : (CUresult)e->ctx->sticky;
}

API CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent start, CUevent end)
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
	pthread_mutex_lock(&lock);
	if (!s->recorded || !e->recorded)
		code = CUDA_ERROR_INVALID_HANDLE;
	else if (s->recorded != s->completed || e->recorded != e->completed)
		code = CUDA_ERROR_NOT_READY;
	else
		*ms = (float)((double)(int64_t)(e->ps - s->ps) / 1e9);
	pthread_mutex_unlock(&lock);
	return code;
}
