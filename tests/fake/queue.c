/* queue.c - streams run what is in their queues.
 *
 * A stream is a thread with a queue.  One lock guards all queues, and whoever
 * waits for another's progress waits on one condition: few threads, short
 * critical sections.
 *
 *     enqueue ──▶ [op op op op] ──▶ thread: its turn? ──▶ run ──▶ take off
 *
 * As on the GPU, streams of a context share a few connections: an operation
 * whose connection has an older wait in it, of whatever stream, waits too. */
#include "queue.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

/* Seen on H200: a stream takes 1,020 copies behind the wait at its head. */
#define DEPTH (1020u + 1)
#define KERNEL_PS 5000000u
#define STACK (256u << 10)
#define QUERY_NS 200000

/* Held so shortly that who finds it taken does better to try again than to sleep. */
pthread_mutex_t fake_queue_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
pthread_cond_t fake_queue_changed = PTHREAD_COND_INITIALIZER;
static unsigned waits; /* in all queues of this process */
static uint64_t ticket;

/* ---- running ---- */

static int word_passes(uint32_t word, const struct fake_op *op)
{
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
	if (word) {
		__atomic_store_n(word, value, __ATOMIC_RELEASE);
		syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	}
	fake_memory_unlock();
	return word ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* Many closed gates of many ranks must leave the machine to the work: streams here and
 * who opens the program's gate wake those that wait for their word.  For any other who
 * writes one there are naps of 100 us, longer and longer to 1.6 ms. */
static CUresult run_wait(struct fake_stream *s, const struct fake_op *op)
{
	struct timespec nap = { 0, 100000 };
	uint64_t started = now_ns();
	CUresult code = CUDA_SUCCESS;

	uint32_t seen;

	while (seen = __atomic_load_n(op->word, __ATOMIC_ACQUIRE),
	       !word_passes(seen, op) && !s->ctx->sticky) {
		if (now_ns() - started > op->limit_ns) {
			code = word_store(s->ctx, op->expired, 1);
			break;
		}
		syscall(SYS_futex, op->word, FUTEX_WAIT, seen, &nap, NULL, 0);
		if (nap.tv_nsec < 1600000)
			nap.tv_nsec *= 2;
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
	s->ps += fake_copy_ps(&op->flow, s->rate, op->takes ? op->takes : op->bytes);
	fake_flow_count(&op->flow, op->bytes);
}

/* With the lock: the next in the queue is the same, and will write what this one does. */
static int comes_again(const struct fake_op *op)
{
	const struct fake_op *next = op->next;

	if (!next || next->kind != op->kind || next->fault)
		return 0;
	if (op->kind == OP_COPY)
		return !op->rows.width && !next->rows.width && next->dst == op->dst &&
		       next->src == op->src && next->bytes == op->bytes;
	return op->kind == OP_KERNEL && op->kernel->only_stores &&
	       next->kernel == op->kernel &&
	       !memcmp(next->args, op->args, op->kernel->args);
}

static CUresult run_copy(struct fake_stream *s, const struct fake_op *op)
{
	CUresult code;

	fake_um_begin(&op->gate);
	fake_memory_lock();
	fake_memory_kernel(s->ctx, op->src, op->bytes, FAKE_LOADS);
	fake_memory_kernel(s->ctx, op->dst, op->bytes, FAKE_STORES);
	code = op->rows.width ?
		       fake_memory_move_rows(op->dst, op->src, &op->rows) :
		       fake_memory_move(op->dst, op->src, op->bytes, op->again);
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
	code = op->again ? CUDA_SUCCESS : kernel->run(s->ctx, op->args, op->grid);
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

void fake_event_release(struct fake_event *event)
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
		fake_event_release(op->event);
	}
	s->first = op->next;
	if (!s->first)
		s->last = &s->first;
	s->depth -= 1 + op->more;
	if (op->kind == OP_WAIT || op->kind == OP_RECORD || !s->depth || s->held)
		pthread_cond_broadcast(&fake_queue_changed);
	free(op);
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
	pthread_cond_broadcast(&fake_queue_changed);
}

static void *stream_main(void *arg)
{
	struct fake_stream *s = arg;
	struct fake_op *op;
	CUresult code;

	pthread_mutex_lock(&fake_queue_lock);
	for (;;) {
		while (!s->first && !s->closing)
			pthread_cond_wait(&s->work, &fake_queue_lock);
		op = s->first;
		if (!op)
			break;
		while (!is_turn(s, op))
			pthread_cond_wait(&fake_queue_changed, &fake_queue_lock);
		op->again = comes_again(op);
		if (s->ps < op->not_before_ps)
			s->ps = s->seen_ps = op->not_before_ps;
		pthread_mutex_unlock(&fake_queue_lock);
		code = s->ctx->sticky ? CUDA_SUCCESS : run(s, op);
		if (code)
			s->ctx->sticky = (int)code;
		pthread_mutex_lock(&fake_queue_lock);
		finish(s, op);
	}
	stream_free(s);
	pthread_mutex_unlock(&fake_queue_lock);
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
	if (word_passes(__atomic_load_n(op->word, __ATOMIC_ACQUIRE), op))
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
	if (op->kind == OP_KERNEL && op->kernel->computes)
		fake_flow_add(&(struct fake_flow){ .gate = s->gate,
						   .src = s->ctx->gpu,
						   .dst = s->ctx->gpu,
						   .issuer = FAKE_COMPUTES },
			      s->tag);
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

CUresult fake_enqueue(struct fake_stream *s, const struct fake_op *filled)
{
	struct fake_op *op = malloc(sizeof(*op));
	int first;

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = *filled;
	op->fault = fake_take_fault();
	pthread_mutex_lock(&fake_queue_lock);
	while (s->depth && s->depth + op->more >= DEPTH) {
		s->held++;
		pthread_cond_wait(&fake_queue_changed, &fake_queue_lock);
		s->held--;
	}
	op->ticket = ticket++;
	op->not_before_ps = fake_known.ctx == s->ctx ? fake_known.ps : 0;
	if (op->kind == OP_WAIT)
		wait_append(s, op);
	if (op->kind == OP_COPY || op->kind == OP_KERNEL || op->kind == OP_PREFETCH)
		flow_append(s, op);
	if (op->kind == OP_RECORD)
		op->event->recorded++;
	first = !s->first;
	*s->last = op;
	s->last = &op->next;
	s->depth += 1 + op->more;
	pthread_mutex_unlock(&fake_queue_lock);
	if (first)
		pthread_cond_signal(&s->work);
	return CUDA_SUCCESS;
}

struct fake_stream *fake_stream_of(CUstream handle)
{
	struct fake_stream *s = fake_handle_object(FAKE_STREAM, handle);

	return s && s->ctx == fake_current ? s : NULL;
}

CUresult fake_stream_wait(struct fake_stream *s)
{
	pthread_mutex_lock(&fake_queue_lock);
	while (s->depth)
		pthread_cond_wait(&fake_queue_changed, &fake_queue_lock);
	pthread_mutex_unlock(&fake_queue_lock);
	return (CUresult)s->ctx->sticky;
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

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
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
	pthread_mutex_lock(&fake_queue_lock);
	s->connection = s->ctx->made++ % (unsigned)fake.connections;
	s->next = s->ctx->streams;
	s->ctx->streams = s;
	if (thread_start(s)) {
		fake_handle_drop(FAKE_STREAM, handle);
		stream_free(s);
		handle = NULL;
	}
	pthread_mutex_unlock(&fake_queue_lock);
	if (!handle)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*stream = handle;
	return CUDA_SUCCESS;
}

/* Returns at once; what is in the queue still runs. */
CUresult cuStreamDestroy(CUstream stream)
{
	struct fake_stream *s;

	ENTER(cuStreamDestroy, FAKE_CTX);
	s = fake_handle_drop(FAKE_STREAM, stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&fake_queue_lock);
	s->closing = 1;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&fake_queue_lock);
	return CUDA_SUCCESS;
}

static int is_gated(const struct fake_ctx *ctx)
{
	for (size_t i = 0; i < sizeof(ctx->waits) / sizeof(*ctx->waits); i++)
		if (ctx->waits[i])
			return 1;
	return 0;
}

/* With the lock: until the queues change or the moment is over. */
static int await_change(const struct timespec *end)
{
	return pthread_cond_timedwait(&fake_queue_changed, &fake_queue_lock, end);
}

static struct timespec moment_end(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += QUERY_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return end;
}

static void queue_await(const struct fake_stream *s)
{
	struct timespec end = moment_end();

	while (s->depth && !s->waits && !await_change(&end))
		;
}

void fake_event_await(const struct fake_event *e)
{
	struct timespec end = moment_end();

	while (e->recorded != e->completed && !is_gated(e->ctx) && !await_change(&end))
		;
}

CUresult cuStreamQuery(CUstream stream)
{
	struct fake_stream *s;
	unsigned depth;

	ENTER(cuStreamQuery, FAKE_CTX);
	s = fake_stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&fake_queue_lock);
	queue_await(s);
	depth = s->depth;
	if (!depth)
		s->seen_ps = s->ps;
	pthread_mutex_unlock(&fake_queue_lock);
	return depth ? CUDA_ERROR_NOT_READY : (CUresult)s->ctx->sticky;
}

/* Who waits has the time of all that it waited for, whatever it did meanwhile. */
CUresult fake_stream_sync(CUstream stream)
{
	struct fake_stream *s;
	CUresult code;

	ENTER(cuStreamSynchronize, FAKE_CTX);
	s = fake_stream_of(stream);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	code = fake_stream_wait(s);
	fake_cpu_wait(s->ps - s->seen_ps);
	s->seen_ps = s->ps;
	return code;
}

void fake_gates_wait(const struct fake_ctx *ctx)
{
	pthread_mutex_lock(&fake_queue_lock);
	while (ctx && !fake.stalls_process ? is_gated(ctx) : waits > 0)
		pthread_cond_wait(&fake_queue_changed, &fake_queue_lock);
	pthread_mutex_unlock(&fake_queue_lock);
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
	pthread_mutex_lock(&fake_queue_lock);
	while (ctx_busy(ctx))
		pthread_cond_wait(&fake_queue_changed, &fake_queue_lock);
	pthread_mutex_unlock(&fake_queue_lock);
}
