/* calls.c - the driver's calls of base/calls.def, in batches: a function each.
 *
 * Every call has a slot in the batch, with the objects of earlier calls and its own.  The
 * objects that are left after a batch are released by their kind, so no call has an undo
 * of its own. */
#include "backend/cuda/dev.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BUFFER_BYTES (2u << 20) /* for memset and copies; the size of a block of cuMemCreate */
#define ROW_BYTES 512u
#define PITCH_BYTES 1024u
#define ROWS 16u /* of a plane */
#define PLANES 8u
#define ARGUMENTS_MOST 4096u

/* The objects of one call of a batch; 0: none. */
struct own {
	CUevent event;
	CUstream stream;
	CUgraphExec exec;
	CUdeviceptr device, managed, async;
	struct cs_vmm vmm;
	void *host; /* of the driver */
	int registered;
};

/* Host memory of ours, touched.  It outlasts a batch, because touching takes longer than
 * what is timed. */
struct pages {
	void *at;
	uint64_t bytes;
};

struct cs_calls {
	struct cs_dev *dev;
	CUstream on; /* a stream that is idle when a batch begins */
	CUgraph graph;
	CUdeviceptr buffer;
	void *pinned;
	uint64_t grain; /* of memory that is mapped */
	/* of the batch */
	enum cs_call_number call;
	uint64_t bytes;
	int lacks; /* the driver has no such call */
	struct cs_err *err;
	struct own own[CS_CALLS_MOST];
	struct pages pages[CS_CALLS_MOST]; /* of each call */
};

static int result_of(struct cs_calls *c, CUresult result, const char *call)
{
	c->lacks |= result == CUDA_ERROR_NOT_SUPPORTED;
	return cs_dev_result(c->dev, result, call, c->err);
}

static int lacks(struct cs_calls *c, const char *call)
{
	c->lacks = 1;
	return cs_err_set(c->err, "the CUDA driver has no %s", call);
}

#define CU(c, call, ...) result_of(c, CS_NAMED_CALL(#call, call, __VA_ARGS__), #call)
#define CU_OPTIONAL(c, member, name, ...)                                            \
	(cs_cu.member ? result_of(c, CS_NAMED_CALL(name, member, __VA_ARGS__), name) : \
			lacks(c, name))
/* Release; an error is ignored, because it could not be handled. */
#define GIVE_BACK(member, name, ...) ((void)CS_NAMED_CALL(name, member, __VA_ARGS__))

/* A call of one line; one that ends what `own` has, which is `was` then. */
#define STEP(name, ...) \
	static int name(struct cs_calls *c, struct own *own) \
	{ \
		(void)c; \
		(void)own; \
		return __VA_ARGS__; \
	}
#define END(name, member, ...) \
	static int name(struct cs_calls *c, struct own *own) \
	{ \
		__typeof__(own->member) was = own->member; \
		own->member = 0; \
		return __VA_ARGS__; \
	}

STEP(nothing, 0)

/* ---- kernels ---- */

/* One without arguments finds none. */
static int launch(struct cs_calls *c, struct own *own)
{
	static unsigned char arguments[ARGUMENTS_MOST];
	enum cs_kernel kernel = CS_KERNEL_args0 + (c->call - CS_CALL_LAUNCH0);

	(void)own;
	return cs_dev_launch(c->dev, kernel, (struct cs_grid){ 1, 1, 0 }, c->on,
			     arguments, c->err);
}

/* ---- events, streams, the context ---- */

STEP(event_create, CU(c, cuEventCreate, &own->event, CU_EVENT_DISABLE_TIMING))
STEP(event_record, CU(c, cuEventRecord, own->event, c->on))

/* The stream is idle when the batch begins. */
STEP(event_reach, event_create(c, own) || event_record(c, own) ? -1 : 0)

STEP(event_query, CU(c, cuEventQuery, own->event))
STEP(event_sync, CU_OPTIONAL(c, event_sync, "cuEventSynchronize", own->event))
END(event_destroy, event, CU(c, cuEventDestroy, was))
STEP(stream_create, CU(c, cuStreamCreate, &own->stream, CU_STREAM_NON_BLOCKING))
END(stream_destroy, stream, CU(c, cuStreamDestroy, was))
STEP(stream_sync, CU_OPTIONAL(c, stream_sync, "cuStreamSynchronize", c->on))

static int context_sync(struct cs_calls *c, struct own *own)
{
	(void)own;
	return cs_cu.context_sync ?
		       result_of(c, CS_NAMED_CALL("cuCtxSynchronize", context_sync),
				 "cuCtxSynchronize") :
		       lacks(c, "cuCtxSynchronize");
}

/* ---- graphs ---- */

static int graph_make(struct cs_calls *c)
{
	static unsigned char arguments[16];
	void *parameters[] = { arguments };
	const CUDA_KERNEL_NODE_PARAMS_v1 kernel = {
		.func = c->dev->kernel[CS_KERNEL_args16],
		.gridDimX = 1,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = 1,
		.blockDimY = 1,
		.blockDimZ = 1,
		.kernelParams = parameters,
	};
	CUgraphNode node;

	return cs_rc(CU_OPTIONAL(c, graph_create, "cuGraphCreate", &c->graph, 0) ||
		     CU_OPTIONAL(c, graph_add_kernel, "cuGraphAddKernelNode", &node,
				 c->graph, NULL, 0, &kernel));
}

STEP(graph_instantiate,
     CU_OPTIONAL(c, graph_instantiate, "cuGraphInstantiateWithFlags", &own->exec,
		 c->graph, 0))
END(graph_destroy, exec, CU_OPTIONAL(c, graph_exec_destroy, "cuGraphExecDestroy", was))

/* All of a batch launch the instance of the first. */
STEP(graph_launch,
     CU_OPTIONAL(c, graph_launch, "cuGraphLaunch", c->own[0].exec, c->on))

/* The first launch takes the graph to the GPU. */
static int graph_ready(struct cs_calls *c, struct own *own)
{
	if (own != c->own)
		return 0;
	return graph_instantiate(c, own) || graph_launch(c, own) ? -1 : 0;
}

/* ---- what is enqueued ---- */

STEP(memset_async,
     CU_OPTIONAL(c, memset_async, "cuMemsetD8Async", c->buffer, 0, c->bytes, c->on))

static int copy2d(struct cs_calls *c, struct own *own)
{
	const CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = c->buffer,
		.srcPitch = PITCH_BYTES,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = c->buffer + BUFFER_BYTES / 2,
		.dstPitch = PITCH_BYTES,
		.WidthInBytes = ROW_BYTES,
		.Height = ROWS * PLANES,
	};

	(void)own;
	return CU(c, cuMemcpy2DAsync, &copy, c->on);
}

static int copy3d(struct cs_calls *c, struct own *own)
{
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = c->buffer,
		.srcPitch = PITCH_BYTES,
		.srcHeight = ROWS,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = c->buffer + BUFFER_BYTES / 2,
		.dstPitch = PITCH_BYTES,
		.dstHeight = ROWS,
		.WidthInBytes = ROW_BYTES,
		.Height = ROWS,
		.Depth = PLANES,
	};

	(void)own;
	return CU(c, cuMemcpy3DAsync, &copy, c->on);
}

static int copy3d_peer(struct cs_calls *c, struct own *own)
{
	const CUDA_MEMCPY3D_PEER copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = c->buffer,
		.srcContext = c->dev->context,
		.srcPitch = PITCH_BYTES,
		.srcHeight = ROWS,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = c->buffer + BUFFER_BYTES / 2,
		.dstContext = c->dev->context,
		.dstPitch = PITCH_BYTES,
		.dstHeight = ROWS,
		.WidthInBytes = ROW_BYTES,
		.Height = ROWS,
		.Depth = PLANES,
	};

	(void)own;
	return CU(c, cuMemcpy3DPeerAsync, &copy, c->on);
}

STEP(copy_h2d, CU(c, cuMemcpyAsync, c->buffer, (CUdeviceptr)(uintptr_t)c->pinned,
		  c->bytes, c->on))
STEP(copy_d2h, CU(c, cuMemcpyAsync, (CUdeviceptr)(uintptr_t)c->pinned, c->buffer,
		  c->bytes, c->on))

/* ---- memory ---- */

STEP(device_alloc, CU(c, cuMemAlloc, &own->device, c->bytes))
END(device_free, device, CU(c, cuMemFree, was))
STEP(host_alloc, CU(c, cuMemHostAlloc, &own->host, c->bytes, 0))
END(host_free, host, CU(c, cuMemFreeHost, was))
STEP(managed_alloc, CU_OPTIONAL(c, mem_alloc_managed, "cuMemAllocManaged",
				&own->managed, c->bytes, CU_MEM_ATTACH_GLOBAL))
END(managed_free, managed, CU(c, cuMemFree, was))
STEP(async_alloc,
     CU_OPTIONAL(c, alloc_async, "cuMemAllocAsync", &own->async, c->bytes, c->on))
END(async_free, async, CU_OPTIONAL(c, free_async, "cuMemFreeAsync", was, c->on))

/* ---- memory apart from its addresses ---- */

static CUmemAllocationProp ordinary(const struct cs_calls *c)
{
	return (CUmemAllocationProp){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE,
			      .id = c->dev->device },
	};
}

static int ask_grain(struct cs_calls *c)
{
	const CUmemAllocationProp prop = ordinary(c);
	size_t grain = 0;

	if (CU(c, cuMemGetAllocationGranularity, &grain, &prop,
	       CU_MEM_ALLOC_GRANULARITY_MINIMUM))
		return -1;
	c->grain = grain;
	return 0;
}

/* Memory that is mapped lives on without its handle. */
static int vmm_map(struct cs_calls *c, CUdeviceptr at, uint64_t bytes)
{
	const CUmemAllocationProp prop = ordinary(c);
	CUmemGenericAllocationHandle handle;
	int rc;

	if (CU(c, cuMemCreate, &handle, bytes, &prop, 0))
		return -1;
	rc = CU(c, cuMemMap, at, bytes, 0, handle, 0);
	GIVE_BACK(cuMemRelease, "cuMemRelease", handle);
	if (rc || !cs_vmm_reach(c->dev, at, bytes, c->err))
		return rc;
	GIVE_BACK(cuMemUnmap, "cuMemUnmap", at, bytes);
	return -1;
}

static int vmm_alloc(struct cs_calls *c, struct own *own)
{
	uint64_t bytes = (c->bytes + c->grain - 1) / c->grain * c->grain;
	CUdeviceptr at = 0;

	if (CU(c, cuMemAddressReserve, &at, bytes, 0, 0, 0))
		return -1;
	if (vmm_map(c, at, bytes)) {
		GIVE_BACK(cuMemAddressFree, "cuMemAddressFree", at, bytes);
		return -1;
	}
	own->vmm = (struct cs_vmm){ at, bytes };
	return 0;
}

static int vmm_free(struct cs_calls *c, struct own *own)
{
	const struct cs_vmm vmm = own->vmm;

	own->vmm = (struct cs_vmm){ 0 };
	return cs_rc(CU(c, cuMemUnmap, vmm.at, vmm.bytes) ||
		     CU(c, cuMemAddressFree, vmm.at, vmm.bytes));
}

/* ---- memory of ours ---- */

static struct pages *pages_of(struct cs_calls *c, const struct own *own)
{
	return &c->pages[own - c->own];
}

static void pages_give_back(struct pages *pages)
{
	if (pages->at)
		munmap(pages->at, pages->bytes);
	*pages = (struct pages){ 0 };
}

static void all_pages_give_back(struct cs_calls *c)
{
	for (uint32_t i = 0; i < CS_CALLS_MOST; i++)
		pages_give_back(&c->pages[i]);
}

static int pages_touch(struct cs_calls *c, struct own *own)
{
	struct pages *pages = pages_of(c, own);
	void *at;

	if (pages->bytes == c->bytes)
		return 0;
	pages_give_back(pages);
	at = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		  -1, 0);
	if (at == MAP_FAILED)
		return cs_err_set(c->err, "no memory");
	pages->at = at;
	pages->bytes = c->bytes;
	memset(at, 1, c->bytes);
	return 0;
}

static int pages_register(struct cs_calls *c, struct own *own)
{
	own->registered = !CU(c, cuMemHostRegister, pages_of(c, own)->at, c->bytes, 0);
	return own->registered ? 0 : -1;
}

STEP(pages_registered, pages_touch(c, own) || pages_register(c, own) ? -1 : 0)

static int pages_unregister(struct cs_calls *c, struct own *own)
{
	own->registered = 0;
	return CU(c, cuMemHostUnregister, pages_of(c, own)->at);
}

static int ipc_get(struct cs_calls *c, struct own *own)
{
	CUipcMemHandle handle;

	(void)own;
	return CU(c, cuIpcGetMemHandle, &handle, c->buffer);
}

/* ---- a batch ---- */

static const struct {
	int (*prepare)(struct cs_calls *c, struct own *own);
	int (*call)(struct cs_calls *c, struct own *own);
} table[CS_CALLS] = {
#define CS_DRIVER_CALL(ENUM, name, bytes, prepare, call, says) \
	[CS_CALL_##ENUM] = { prepare, call },
#define CS_HOST_CALL(ENUM, name, bytes, prepare, call, says)
#include "base/calls.def"
};

/* Make, once, what all calls of a kind need. */
static int calls_open(struct cs_dev *dev, struct cs_err *err)
{
	const struct cs_lane *lane = cs_dev_lane(dev, 0, err);
	struct cs_calls *c;

	if (!lane)
		return -1;
	c = calloc(1, sizeof(*c));
	if (!c)
		return cs_err_set(err, "no memory");
	c->dev = dev;
	c->on = lane->stream;
	dev->calls = c;
	return CS_DEV_CU(dev, err, cuMemAlloc, &c->buffer, BUFFER_BYTES);
}

static int ready(struct cs_calls *c)
{
	if (c->call != CS_CALL_REGISTER && c->call != CS_CALL_UNREGISTER)
		all_pages_give_back(c);
	if (c->call >= CS_CALL_GRAPH_INSTANTIATE &&
	    c->call <= CS_CALL_GRAPH_DESTROY && !c->graph && graph_make(c))
		return -1;
	if ((c->call == CS_CALL_VMM_ALLOC || c->call == CS_CALL_VMM_FREE) &&
	    !c->grain && ask_grain(c))
		return -1;
	if ((c->call == CS_CALL_COPY_H2D || c->call == CS_CALL_COPY_D2H) &&
	    !c->pinned && CU(c, cuMemHostAlloc, &c->pinned, c->bytes, 0))
		return -1;
	return 0;
}

/* By polling, as nothing that has to return may wait in the driver. */
static int drain(struct cs_calls *c)
{
	CUresult result;

	do
		result = CS_NAMED_CALL("cuStreamQuery", cuStreamQuery, c->on);
	while (result == CUDA_ERROR_NOT_READY);
	return result_of(c, result, "cuStreamQuery");
}

static int answer(const struct cs_calls *c, int rc)
{
	return rc && c->lacks ? 1 : rc;
}

static int calls_prepare(struct cs_dev *dev, const struct cs_batch *batch,
			 struct cs_err *err)
{
	struct cs_calls *c;
	int rc;

	if (!dev->calls && calls_open(dev, err))
		return -1;
	c = dev->calls;
	c->call = batch->call;
	c->bytes = batch->bytes;
	c->err = err;
	c->lacks = 0;
	rc = ready(c);
	for (uint32_t i = 0; i < batch->n && !rc; i++)
		rc = table[c->call].prepare(c, &c->own[i]);
	return answer(c, rc || drain(c) ? -1 : 0);
}

static int calls_make(struct cs_dev *dev, const struct cs_batch *batch,
		      struct cs_err *err)
{
	struct cs_calls *c = dev->calls;
	int rc = 0;

	c->err = err;
	for (uint32_t i = 0; i < batch->n && !rc; i++)
		rc = table[c->call].call(c, &c->own[i]);
	return answer(c, rc);
}

static void give_back(struct cs_calls *c, const struct own *own)
{
	if (own->event)
		GIVE_BACK(cuEventDestroy, "cuEventDestroy", own->event);
	if (own->stream)
		GIVE_BACK(cuStreamDestroy, "cuStreamDestroy", own->stream);
	if (own->exec && cs_cu.graph_exec_destroy)
		GIVE_BACK(graph_exec_destroy, "cuGraphExecDestroy", own->exec);
	if (own->device)
		GIVE_BACK(cuMemFree, "cuMemFree", own->device);
	if (own->managed)
		GIVE_BACK(cuMemFree, "cuMemFree", own->managed);
	if (own->async && cs_cu.free_async)
		GIVE_BACK(free_async, "cuMemFreeAsync", own->async, c->on);
	if (own->vmm.at)
		cs_vmm_release(&(struct cs_vmm){ own->vmm.at, own->vmm.bytes });
	if (own->host)
		GIVE_BACK(cuMemFreeHost, "cuMemFreeHost", own->host);
	if (own->registered)
		GIVE_BACK(cuMemHostUnregister, "cuMemHostUnregister",
			  pages_of(c, own)->at);
}

static int calls_undo(struct cs_dev *dev, struct cs_err *err)
{
	struct cs_calls *c = dev->calls;
	int rc;

	if (!c)
		return 0;
	c->err = err;
	rc = drain(c);
	for (uint32_t i = 0; i < CS_CALLS_MOST; i++)
		give_back(c, &c->own[i]);
	memset(c->own, 0, sizeof(c->own));
	return rc || drain(c) ? -1 : 0;
}

void cs_calls_release(struct cs_dev *dev)
{
	struct cs_calls *c = dev->calls;

	if (!c)
		return;
	for (uint32_t i = 0; i < CS_CALLS_MOST; i++)
		give_back(c, &c->own[i]);
	all_pages_give_back(c);
	if (c->graph && cs_cu.graph_destroy)
		GIVE_BACK(graph_destroy, "cuGraphDestroy", c->graph);
	if (c->buffer)
		GIVE_BACK(cuMemFree, "cuMemFree", c->buffer);
	if (c->pinned)
		GIVE_BACK(cuMemFreeHost, "cuMemFreeHost", c->pinned);
	free(c);
	dev->calls = NULL;
}

const struct cs_backend_calls cs_cuda_calls = {
	.prepare = calls_prepare,
	.make = calls_make,
	.undo = calls_undo,
};
