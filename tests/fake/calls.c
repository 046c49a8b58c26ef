/* calls.c - what is there to be timed: waiting, graphs, memory by stream, boxes; and the
 * time of the CPU, which each call takes as FAKE_CALL_NS says. */
#include "queue.h"

/* ---- the CPU's time ---- */

#define CALL_NS 1000.0
#define RULES 64

static struct rule {
	char function[48];
	double ns, mib_ns;
} rules[RULES];
static int n_rules;

/* Of this thread; and what a MiB costs in the call that it is in. */
static __thread double cpu_ns, mib_ns;

/* "cuMemAlloc:25000" or "cuMemAlloc:25000+500": for each MiB as much more. */
int fake_cpu_rule(const char *element)
{
	struct rule *r = &rules[n_rules];
	int end = -1;

	if (n_rules == RULES ||
	    sscanf(element, "%47[A-Za-z0-9_]:%lf%n+%lf%n", r->function, &r->ns, &end,
		   &r->mib_ns, &end) < 2 ||
	    element[end] || !(r->ns >= 0) || !(r->mib_ns >= 0))
		return -1;
	n_rules++;
	return 0;
}

void fake_cpu_call(const char *function)
{
	mib_ns = 0;
	for (const struct rule *r = rules; r < rules + n_rules; r++)
		if (!strcmp(r->function, function)) {
			cpu_ns += r->ns;
			mib_ns = r->mib_ns;
			return;
		}
	cpu_ns += CALL_NS;
}

void fake_cpu_bytes(uint64_t bytes)
{
	cpu_ns += mib_ns * (double)bytes / (1 << 20);
}

void fake_cpu_wait(uint64_t ps)
{
	cpu_ns += 1e-3 * (double)ps;
}

/* By this symbol a program has the time of its thread. */
extern API uint64_t cs_fake_cpu_ns(void);
uint64_t cs_fake_cpu_ns(void)
{
	return (uint64_t)cpu_ns;
}

/* ---- waiting ---- */

CUresult fake_event_sync(CUevent event)
{
	const struct fake_event *e;

	ENTER(cuEventSynchronize, FAKE_CTX);
	e = fake_handle_object(FAKE_EVENT, event);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&fake_queue_lock);
	while (e->recorded != e->completed)
		pthread_cond_wait(&fake_queue_changed, &fake_queue_lock);
	pthread_mutex_unlock(&fake_queue_lock);
	return (CUresult)e->ctx->sticky;
}

/* ---- graphs of one kernel without effect ---- */

struct graph {
	const struct fake_kernel *kernel; /* NULL: none yet */
};

CUresult fake_graph_create(CUgraph *graph, unsigned flags)
{
	struct graph *g;

	ENTER(cuGraphCreate, FAKE_CTX);
	if (!graph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	g = calloc(1, sizeof(*g));
	*graph = g ? fake_handle_make(FAKE_GRAPH, g) : NULL;
	return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_graph_add_kernel(CUgraphNode *node, CUgraph graph,
			       const CUgraphNode *after, size_t n,
			       const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	struct graph *g;

	ENTER(cuGraphAddKernelNode, FAKE_CTX);
	g = fake_handle_object(FAKE_GRAPH, graph);
	if (!node || !g || after || n || !params || !params->kernelParams)
		return CUDA_ERROR_INVALID_VALUE;
	g->kernel = fake_function(params->func);
	*node = (CUgraphNode)graph;
	return g->kernel && !g->kernel->args ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_graph_instantiate(CUgraphExec *exec, CUgraph graph,
				unsigned long long flags)
{
	const struct graph *g;
	struct graph *e;

	ENTER(cuGraphInstantiateWithFlags, FAKE_CTX);
	g = fake_handle_object(FAKE_GRAPH, graph);
	if (!exec || !g || flags)
		return CUDA_ERROR_INVALID_VALUE;
	e = calloc(1, sizeof(*e));
	if (e)
		*e = *g;
	*exec = e ? fake_handle_make(FAKE_EXEC, e) : NULL;
	return *exec ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_graph_launch(CUgraphExec exec, CUstream stream)
{
	const struct graph *e;

	ENTER(cuGraphLaunch, FAKE_CTX);
	e = fake_handle_object(FAKE_EXEC, exec);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	return fake_launch(stream, fake_current, e->kernel, "", 1, 1);
}

CUresult fake_graph_exec_destroy(CUgraphExec exec)
{
	void *e;

	ENTER(cuGraphExecDestroy, FAKE_CTX);
	e = fake_handle_drop(FAKE_EXEC, exec);
	free(e);
	return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult fake_graph_destroy(CUgraph graph)
{
	void *g;

	ENTER(cuGraphDestroy, FAKE_CTX);
	g = fake_handle_drop(FAKE_GRAPH, graph);
	free(g);
	return g ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- memory in the order of a stream ---- */

CUresult fake_alloc_async(CUdeviceptr *at, size_t bytes, CUstream stream)
{
	ENTER(cuMemAllocAsync, FAKE_CTX);
	fake_cpu_bytes(bytes);
	if (!fake_stream_of(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	return fake_device_alloc(at, bytes);
}

CUresult fake_free_async(CUdeviceptr at, CUstream stream)
{
	ENTER(cuMemFreeAsync, FAKE_CTX);
	if (!fake_stream_of(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	return fake_device_free(at);
}

/* ---- what is enqueued ---- */

struct set {
	uint64_t at, bytes;
	unsigned char value;
};

static CUresult run_set(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct set *a = args;
	void *p = fake_memory_kernel(ctx, a->at, a->bytes, FAKE_STORES);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	memset(p, a->value, a->bytes);
	return CUDA_SUCCESS;
}

CUresult fake_memset_async(CUdeviceptr at, unsigned char value, size_t bytes,
			   CUstream stream)
{
	static const struct fake_kernel kernel = { .name = "memset",
						   .args = sizeof(struct set),
						   .run = run_set };
	const struct set set = { at, bytes, value };

	ENTER(cuMemsetD8Async, FAKE_CTX);
	return fake_launch(stream, fake_current, &kernel, &set, 1, 1);
}
