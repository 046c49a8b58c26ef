/* fake.h - what the parts of the fake libcuda.so.1 share.
 * knobs.c says which variables change what it does.
 *
 *   cuda.c     devices, contexts, modules, look-up of functions
 *   knobs.c    the environment, failing and counting calls
 *   memory.c   device memory, host memory, CUDA IPC
 *   vmm.c      memory apart from its addresses, descriptors
 *   um.c       managed memory: where its pages are, and how they move
 *   signal.c   … touches of them by a CPU
 *   managed.c  … and the driver's calls for it
 *   stream.c   what is put into streams; events, gates
 *   queue.c    … and run there
 *   clock.c    virtual time and the flows that share links
 *   disturb.c  what changes from sample to sample
 *   kernels.c  the kernels of kernels/kernels.cu in C
 *   calls.c    graphs, boxes and other calls whose time counts; the CPU's time
 *
 * Locks, in the order in which they may be taken: the queue lock (queue.c), the
 * lock of ranges (vmm.c), the memory lock (memory.c), the lock of pages (um.c), the lock
 * of a table of flows (clock.c). */
#ifndef CS_FAKE_FAKE_H
#define CS_FAKE_FAKE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/cuda/driver.h"

#include "identity.h"

#define API __attribute__((visibility("default")))
#pragma GCC visibility push(hidden)

#define FAKE_HOST (-1)		/* in the place of a GPU's index */
#define FAKE_PLACES (FAKE_GPUS_MAX + 1)
#define FAKE_NEVER (-1)		/* a fault: the operation never ends */

/* ---- the driver's functions, as the program knows them ---- */

#define DECLARE(name, version, takes) CUresult name takes;
CS_DRIVER_CALLS(DECLARE)
#undef DECLARE
#define DECLARE(member, name, version, takes) CUresult fake_##member takes;
CS_DRIVER_OPTIONAL(DECLARE)
#undef DECLARE
CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute which,
				CUdeviceptr at, size_t bytes);
API CUresult cuGetProcAddress_v2(const char *name, void **entry, int version,
				 uint64_t flags,
				 CUdriverProcAddressQueryResult *found);

/* ---- knobs.c ---- */

#define FAKE_HOST_BUFFERS 64
#define FAKE_SHARED 64

/* Two pairs of GPUs on one link. */
struct fake_shared {
	int src[2], dst[2];
	double keeps; /* of its rate each, when both move */
};

struct fake_config {
	int gpus;		    /* of the machine */
	int visible[FAKE_GPUS_MAX]; /* ordinal to GPU */
	int n_visible;
	uint64_t memory;	/* bytes of each GPU */
	int connections, eager; /* CUDA_DEVICE_MAX_CONNECTIONS, … */
	int no_ipc, ipc_refuse, no_memops, no_vmm, compute_mode, stalls_process;
	int dead_reads;	   /* kernels that only read read nothing */
	int64_t lost_work; /* the kernel on data that does nothing, from 1 on; 0: none */
	double staged;	   /* GB/s */
	double pageable[3];	 /* GB/s into a GPU, out of it, to host memory */
	int numa[FAKE_GPUS_MAX]; /* the driver's word on each GPU */
	int host_numa[FAKE_HOST_BUFFERS]; /* of large host memory, as it comes */
	uint64_t l2_bytes; /* of a cache that chases see, and a load of it; 0: none */
	double l2_ns;
	double compute_takes; /* share of its links' rates, while a GPU computes */
	double host_shared;   /* GB/s of all flows one way; 0: no limit */
	struct fake_shared shared[FAKE_SHARED];
	int n_shared;
	double noise, drift;
	uint64_t staged_piece; /* bytes of a staged copy that take an entry of a queue */
	int64_t submit_ns, open_ns; /* of real time, one after the other */
	/* by [source][destination] GPU; the last place is the host */
	int capability;				    /* 90 is 9.0 */
	double write[FAKE_GPUS_MAX][FAKE_GPUS_MAX]; /* GB/s */
	double slow[FAKE_PLACES][FAKE_PLACES];	    /* factor */
	uint64_t slow_bytes;	     /* that it holds for, alone; 0: any */
	int64_t slow_copies;	     /* that it holds for, of a path; then 1 */
	uint32_t slow_from, slow_to; /* samples that it holds in */
	double corrupt[FAKE_PLACES][FAKE_PLACES]; /* byte, NAN none */
	int64_t corrupt_copy;			 /* the only one, from 1 on; 0: all */
	double astray[FAKE_PLACES][FAKE_PLACES]; /* GPU, NAN none */
	double no_peer[FAKE_PLACES][FAKE_PLACES]; /* NAN: they are */
	/* managed memory */
	int cuda; /* version of the driver */
	int managed, concurrent, pageable_access, integrated;
	int um_density;
	uint64_t um_granule,
		um_limit; /* bytes: of a fault; on each GPU, 0 as it has */
	double fault_us;
	double prefetch[3]; /* GB/s to a GPU, to the host, between GPUs */
	double um_stuck[FAKE_PLACES][FAKE_PLACES];  /* the part that moves, NAN all */
	double um_remote[FAKE_PLACES][FAKE_PLACES]; /* NAN: touches move */
	double um_lost[FAKE_PLACES][FAKE_PLACES];   /* one of how many, NAN none */
	double um_blocks[FAKE_PLACES][FAKE_PLACES]; /* NAN: calls return */
};

extern struct fake_config fake;

/* One exported function. */
struct fake_site {
	const char *name;
	atomic_long calls;
};

/* Count and log a call.  Returns the error that it must fail with, or 0; does
 * not return when it must hang. */
int fake_call(struct fake_site *site);

/* The fault that this call's operation must end in; 0 none.  Asked once. */
int fake_take_fault(void);

/* A copy or a kernel is submitted; a way to memory of another GPU is opened: return
 * when this process has had the time for it, calls of all its threads in turn. */
void fake_submit(void);
void fake_open(void);

/* ---- cuda.c ---- */

struct fake_stream;

/* The primary context of one GPU. */
struct fake_ctx {
	int gpu;
	atomic_int retained;
	atomic_uint peers; /* bit i: may use memory of GPU i */
	atomic_int sticky; /* error that every call returns */
	unsigned made;	   /* streams so far */
	struct fake_stream *streams;
	struct fake_op *waits[32]; /* of each connection, oldest first */
};

extern __thread struct fake_ctx *fake_current;
/* The virtual time up to which this thread has seen work of a context end. */
extern __thread struct fake_known {
	const struct fake_ctx *ctx;
	uint64_t ps;
} fake_known;

int fake_is_sticky(int code);
/* Can two GPUs reach each other's memory? */
int fake_are_peers(int a, int b);
/* The kernel of a function of the current context; NULL: it is none. */
const struct fake_kernel *fake_function(CUfunction handle);
/* The context behind a handle, while it is there. */
struct fake_ctx *fake_ctx_of(CUcontext handle);

enum fake_needs { FAKE_ANY, FAKE_INIT, FAKE_CTX };
CUresult fake_enter(struct fake_site *site, enum fake_needs needs);

/* First line of every exported function. */
#define ENTER(function, needs)                                         \
	do {                                                           \
		static struct fake_site site_ = { #function, 0 };      \
		CUresult code_ = fake_enter(&site_, needs);            \
		if (code_)                                             \
			return code_;                                  \
	} while (0)

/* Handles are numbers, looked up at each use: a stale or wild one is an error
 * and never a crash. */
enum fake_kind {
	FAKE_STREAM = 1,
	FAKE_EVENT,
	FAKE_MODULE,
	FAKE_FUNCTION,
	FAKE_PHYSICAL,
	FAKE_GRAPH,
	FAKE_EXEC
};
void *fake_handle_make(enum fake_kind kind, void *object);
void *fake_handle_object(enum fake_kind kind, const void *handle);
void *fake_handle_drop(enum fake_kind kind, const void *handle);

/* The GPU behind a device number of this process, -1 none; and the other way. */
int fake_gpu_of(CUdevice device);
CUdevice fake_device_of(int gpu);

/* ---- memory.c, vmm.c ---- */

/* Rows at a distance: bytes of a row, rows of a plane, planes, and from one to the next. */
struct fake_rows {
	uint64_t width, rows, planes;
	uint64_t dst_pitch, src_pitch, dst_plane, src_plane;
};

struct fake_physical;
struct fake_um;

/* One allocation, import, or registered range of host memory. */
struct fake_memory {
	struct fake_memory *next;
	enum {
		FAKE_DEVICE,
		FAKE_IMPORT,
		FAKE_MAPPED,
		FAKE_MANAGED,
		FAKE_SYSTEM,
		FAKE_HOST_ALLOC,
		FAKE_REGISTERED
	} kind;
	uint64_t at, bytes;   /* the address that the program sees */
	char *map;	      /* where the bytes are */
	int gpu;	      /* or FAKE_HOST */
	struct fake_ctx *ctx; /* that made it */
	int fd;		      /* of the memfd, or -1 */
	dev_t dev;	      /* file behind it; ino 0: none */
	ino_t ino;
	uint64_t offset;		/* of `at` in the file */
	int opens;			/* of an import */
	unsigned access;		/* mapped; bit i: GPU i may use it */
	int numa, wc;			/* of the host: NUMA node; write-combined */
	struct fake_physical *physical; /* mapped: what */
	struct fake_um *um;		/* managed: its pages */
};

void fake_memory_lock(void); /* nothing is freed until unlock */
void fake_memory_unlock(void);

/* Under the lock.  Finds what [at, at+bytes) lies in: NULL with 0 when it is
 * ordinary host memory, else NULL with an error. */
struct fake_memory *fake_memory_find(uint64_t at, uint64_t bytes, CUresult *code);

/* May kernels and copy engines of `ctx` touch it without staging? */
int fake_memory_reaches(const struct fake_ctx *ctx, const struct fake_memory *m);

/* What a kernel or a copy is about to do with [at, at + bytes): all of it by
 * neighbouring threads, with a stride one touch each so many bytes by threads that
 * are not. */
enum fake_use { FAKE_LOADS, FAKE_STORES };
struct fake_touch {
	uint64_t at, bytes, stride;
	enum fake_use use;
};

/* Under the lock: where `ctx` finds it, or NULL.  Managed pages move or are mapped, in
 * time that the operation takes longer; see fake_um_begin(). */
void *fake_memory_touch(const struct fake_ctx *ctx, const struct fake_touch *touch);
/* The same without a stride. */
void *fake_memory_kernel(const struct fake_ctx *ctx, uint64_t at, uint64_t bytes,
			 enum fake_use use);
/* The GPU that it is taken to be on by a kernel or copy of `ctx`, or FAKE_HOST: of
 * managed memory its own. */
int fake_memory_place(const struct fake_ctx *ctx, const struct fake_memory *m);
/* Under the lock: the first, the next one; NULL none. */
struct fake_memory *fake_memory_next(const struct fake_memory *m);
/* Under the lock: bytes of a GPU that are not taken by other than managed memory. */
uint64_t fake_memory_left(int gpu);
CUresult fake_memory_manage(uint64_t *at, uint64_t bytes); /* a new managed range */
/* Memory of malloc that a GPU is to use: from now on its pages move as managed ones do,
 * for as long as the program has it. */
CUresult fake_memory_adopt(uint64_t at, uint64_t bytes);
/* Has the program still got it? */
int fake_memory_is_there(const struct fake_memory *m);

/* For vmm.c.  Count bytes of a GPU in (1) or out (-1); -1: there are no more. */
int fake_memory_count(int gpu, uint64_t bytes, int sign);
uint64_t fake_memory_address(uint64_t bytes); /* never given out before */
int fake_memory_is_mapped(uint64_t at, uint64_t bytes);
CUresult fake_memory_map(uint64_t at, uint64_t bytes, int fd, int gpu,
			 struct fake_physical *physical);
CUresult fake_memory_allow(uint64_t at, uint64_t bytes, int gpu);
/* What was mapped at exactly that range; NULL: nothing. */
struct fake_physical *fake_memory_unmap(uint64_t at, uint64_t bytes);

/* Under the lock.  `again`: the same follows, so that bytes that nothing disturbs need
 * not move yet. */
CUresult fake_memory_move(uint64_t dst, uint64_t src, uint64_t bytes, int again);
/* The same of rows: one copy, with one place for what FAKE_CORRUPT and FAKE_ASTRAY do. */
CUresult fake_memory_move_rows(uint64_t dst, uint64_t src,
			       const struct fake_rows *rows);
/* From the first byte to behind the last. */
uint64_t fake_rows_span(const struct fake_rows *rows, uint64_t pitch, uint64_t plane);
/* Under the lock: where FAKE_CORRUPT has a bit flipped by this copy between two places of
 * its tables, NAN nowhere, below 0 if nothing is to be written. */
double fake_memory_corrupt(int src, int dst);
/* Under the lock: does FAKE_CORRUPT hold for what comes from there to that GPU? */
int fake_memory_corrupts(uint64_t src, int gpu);
/* … and do it to what a kernel of that GPU has just written there. */
void fake_memory_spoil(uint64_t dst, uint64_t bytes, int gpu);
void fake_memory_drop(const struct fake_ctx *ctx); /* all of a context */

/* Device memory of the current context, for whichever call. */
CUresult fake_device_alloc(CUdeviceptr *at, size_t bytes);
CUresult fake_device_free(CUdeviceptr at);

/* ---- calls.c ---- */

/* The CPU's time: an element of FAKE_CALL_NS, 0 or -1; the thread calls that function; it
 * is of that many bytes; it has waited so long. */
int fake_cpu_rule(const char *element);
void fake_cpu_call(const char *function);
void fake_cpu_bytes(uint64_t bytes);
/* FAKE_CALLS has how much host memory was allocated. */
void fake_pins(uint64_t bytes);
void fake_cpu_wait(uint64_t ps);
/* ---- clock.c ---- */

struct fake_flows; /* table of flows, shared by all users of one gate page */

/* A gate word and the value that opens it; flows NULL: no gate. */
struct fake_gate {
	struct fake_flows *flows;
	uint64_t offset;
	uint32_t value;
};

/* What moves the bytes of a flow. */
enum fake_engine {
	FAKE_CE,
	FAKE_SM,
	FAKE_TMA,
	FAKE_READ,
	FAKE_WRITE,
	FAKE_ZERO_READ,
	FAKE_ZERO_WRITE,
	FAKE_PREFETCH, /* managed pages, by call, … */
	FAKE_FAULTS,   /* … by touch, … */
	FAKE_FAR,      /* … or used where they are */
	FAKE_BOX,      /* rows at a distance, by a kernel */
	FAKE_ENGINES
};

/* Bytes moving from src to dst, at the request of issuer. */
#define FAKE_COMPUTES (-2) /* the issuer of what moves nothing, and disturbs what does */
struct fake_flow {
	struct fake_gate gate;
	int src, dst, issuer;
	int staged; /* through host memory */
	enum fake_engine engine;
	uint64_t threads; /* of a kernel, in all */
	int numa, wc;	  /* of the end that is the host */
	int pageable;	  /* an end is ordinary host memory */
};

CUresult fake_gate_find(const struct fake_memory *memory, uint64_t at, uint32_t value,
			struct fake_gate *gate);
/* A stream, known by its tag, has armed the flow behind its closed gate. */
void fake_flow_add(const struct fake_flow *flow, uint64_t tag);
/* … and has passed the gate. */
void fake_flow_pass(const struct fake_gate *gate, uint64_t tag);
/* GB/s (10^9), given all flows behind the same gate and value. */
double fake_flow_rate(const struct fake_flow *flow);
/* Nanoseconds that a GPU waits for an answer out of memory there. */
double fake_latency_ns(int gpu, int memory, enum fake_engine engine);
/* A number for its engine and ends. */
unsigned fake_path(const struct fake_flow *flow);
/* Picoseconds that one copy takes at that rate. */
uint64_t fake_copy_ps(const struct fake_flow *flow, double rate, uint64_t bytes);

/* It has moved that much: for NVLink's counters. */
void fake_flow_count(const struct fake_flow *flow, uint64_t bytes);

/* ---- um.c ---- */

#define FAKE_UM_HOME FAKE_GPUS_MAX /* the host in the place of a GPU's index */
#define FAKE_UM_NOWHERE (-1)

/* All that is not said otherwise is under the memory lock. */

/* Not yet in the list; the second at an address of the program's.  0 or -1. */
int fake_um_make(struct fake_memory *m);
int fake_um_adopt(struct fake_memory *m);
void fake_um_drop(struct fake_memory *m);
/* Without the lock: a CPU has touched that address, whose page comes; -1: it is not
 * managed. */
int fake_um_home(uint64_t address);

/* Other memory of that GPU has been allocated: managed pages leave to make room. */
void fake_um_yield(int gpu);
uint64_t fake_um_used(int gpu); /* bytes of managed pages there */

/* The touch of a kernel or copy of that GPU. */
void fake_um_access(struct fake_memory *m, int gpu, const struct fake_touch *touch);
/* FAKE_UM_LOST: does the store there of a touching kernel get lost?  After the access. */
int fake_um_loses(uint64_t at, int gpu);

/* An operation behind that gate begins in this thread: what it touches is metered. */
void fake_um_begin(const struct fake_gate *gate);
/* Nanoseconds that managed memory has cost since then, if that many bytes were moved: what
 * is used from afar costs each time. */
double fake_um_ns(uint64_t bytes);
/* … faults and what they moved alone. */
struct fake_um_meter {
	struct fake_gate gate;
	double fault_ns, far_ns;
	uint64_t most; /* bytes of the largest touch */
};
extern __thread struct fake_um_meter fake_um_meter;

/* Carry out a prefetch to flow->dst; picoseconds. */
uint64_t fake_um_prefetch(uint64_t at, uint64_t bytes, const struct fake_flow *flow);
/* What would flow if the page there came to that place now. */
struct fake_flow fake_um_flow(struct fake_memory *m, uint64_t at, int place);

void fake_um_advise(uint64_t at, uint64_t bytes, CUmem_advise advice, int place);
/* What holds for all of it; places as above. */
struct fake_um_advised {
	int read_mostly, preferred, prefetched;
	uint32_t accessed_by;
};
struct fake_um_advised fake_um_advised(uint64_t at, uint64_t bytes);

/* ---- what CUPTI counts (cupti.c) ---- */

/* One record of a counter (enum cs_cupti_counter), if it is on. */
void fake_cupti_record(uint32_t counter, uint64_t address, uint64_t value, double ns,
		       uint32_t why);
int fake_cupti_is_on(void);

/* ---- signal.c ---- */

/* CPUs that touch pages which are away are caught from now on. */
void fake_um_catch(void);

/* ---- disturb.c ---- */

void fake_disturb_read(void);
/* How many times as long its copies take in this sample. */
double fake_disturbance(const struct fake_flow *flow);

/* ---- kernels.c ---- */

/* What a kernel moves; bytes 0: nothing to speak of. */
struct fake_moves {
	enum fake_engine engine;
	uint64_t dst, src; /* 0: none */
	uint64_t bytes;
};

struct fake_kernel {
	const char *name;
	int computes;	 /* all the while, on all of its GPU */
	int only_stores; /* what it leaves does not depend on what was there */
	unsigned args;	 /* bytes of its one argument */
	CUresult (*run)(const struct fake_ctx *ctx, const void *args,
			unsigned grid); /* NULL: the gate */
	/* What it moves by its arguments; NULL: nothing. */
	struct fake_moves (*moves)(const void *args);
	/* … for as long as so many bytes in one piece; NULL: these. */
	uint64_t (*takes)(const void *args);
	/* … and at the same time, another way. */
	struct fake_moves (*moves_back)(const void *args);
	/* Nanoseconds that it takes beside that; under the memory lock, after it
	 * has run.  NULL: those of any kernel. */
	double (*ns)(const struct fake_ctx *ctx, const void *args, unsigned grid);
	/* It keeps time itself where it moves both: it has begun then, and they took
	 * so long.  Under the memory lock. */
	void (*took)(const struct fake_ctx *ctx, const void *args, uint64_t begin_ps,
		     const uint64_t took_ps[2]);
};

#define FAKE_ARGS 80
#define FAKE_N_KERNELS 36
extern const struct fake_kernel fake_kernels[FAKE_N_KERNELS];

/* ---- stream.c, queue.c ---- */

CUresult fake_launch(CUstream stream, const struct fake_ctx *owner,
		     const struct fake_kernel *kernel, const void *args,
		     unsigned grid, unsigned threads);
/* To a GPU or FAKE_HOST, NUMA node `numa` of it, of managed memory that is there. */
CUresult fake_prefetch(CUstream stream, uint64_t at, uint64_t bytes, int gpu,
		       int numa);
/* Blocks while a stream of that context, NULL of this process, has a gate before
 * it; with FAKE_STALLS=process always the second. */
void fake_gates_wait(const struct fake_ctx *ctx);
/* Blocks until all streams of the context are empty. */
void fake_ctx_drain(struct fake_ctx *ctx);

#pragma GCC visibility pop
#endif
