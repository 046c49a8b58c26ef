/* dev.h - one GPU as one agent drives it: what the parts of this folder share.
 *
 * All calls on a device come from the thread that opened it, whose current
 * context is the device's primary context from open to close; but a lane may be lent
 * to another thread, which enters first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/kernels.h"

/* A context runs at most 32 streams independently, with
 * CUDA_DEVICE_MAX_CONNECTIONS=32; two are left for other work. */
#define CS_CUDA_LANES 30

enum cs_kernel {
#define CS_KERNEL_ENUM(name) CS_KERNEL_##name,
	CS_KERNELS(CS_KERNEL_ENUM) CS_KERNELS_ARGS(CS_KERNEL_ENUM)
#undef CS_KERNEL_ENUM
		CS_N_KERNELS
};

/* A PACK has two stages, after a wait. */
#define CS_PARTS 3

/* One stream, and the marks around what was armed on it last. */
struct cs_lane {
	CUstream stream; /* NULL until its first use */
	CUevent start, end;
	CUevent part[CS_PARTS]; /* between its parts; NULL until their first use */
	int parts;		/* how many were marked */
	int timed;		/* copies, not a stamp */
	uint32_t seq;		/* of the gate, that it waited for */
	int is_lent;		/* armed by another thread than the agent's */
	struct cs_copy desc;	/* by kernels, with its geometry; else of kind
				 * COPY */
	uint64_t expected;	/* of its proof */
	uint64_t fma_sum;	/* of CS_FMA_LANES threads, … */
	uint32_t fma_rounds, fma_type; /* … after that many rounds */
	struct cs_product {
		uint64_t key, rows, sum;
	} product;	  /* the weights of the product of that pattern */
	double lasted_ns; /* e - s of what was polled last */
	double back_ns;	  /* and its copy back */
};

struct cs_grid {
	uint32_t blocks, threads, shared; /* bytes */
};

/* Host memory that kernels write: pinned, mapped on the device. */
struct cs_scratch {
	_Alignas(16) uint64_t tiny[2]; /* all kernels are tried on it */
	uint32_t word;
	uint32_t hold, hold_expired;	      /* of the auxiliary stream: see um.c */
	uint32_t expired[CS_CUDA_LANES];      /* by the gate kernel */
	_Alignas(16) struct cs_check found[]; /* cs_dev.blocks of them */
};

struct cs_peer;
struct cs_hand;
struct cs_um;
struct cs_calls;

/* Memory with addresses of its own; at 0: none. */
struct cs_vmm {
	CUdeviceptr at;
	uint64_t bytes;
};

struct cs_dev {
	CUdevice device;
	int ordinal;
	int retained; /* the primary context is ours to release */
	CUcontext context;
	CUmodule module;
	CUfunction kernel[CS_N_KERNELS];
	int capability;	   /* 90 is 9.0 */
	uint32_t sms;	   /* multiprocessors */
	uint64_t l2_bytes; /* of the second-level cache; 0: unknown, … */
#define CS_NO_L2 "the driver does not say how large the GPU's cache is"
	uint32_t blocks;	/* the largest grid of fill, poison and check */
	uint32_t shared;	/* bytes of a block, the most */
	uint32_t tma_shared;	/* bytes that a block of tma may have; 0: there is
				 * no such kernel */
	uint32_t tma_room;	/* … that all blocks of a multiprocessor have */
	uint64_t gate_limit_ns; /* of the gate kernel */
	int memops;		/* stream memory operations work, as tried */
	_Atomic int sticky; /* a call failed with an error after which the context is lost */

	CUstream aux; /* fill, poison, check, load */
	CUevent aux_start, aux_middle, aux_end;
	uint32_t held;				    /* how often it was */
	CUevent event[CS_EVENTS + CS_EVENTS_TIMED]; /* NULL until their first use */
	int lanes;
	struct cs_lane lane[CS_CUDA_LANES];

	struct cs_scratch *scratch;
	CUdeviceptr scratch_at; /* the same on the device */
	uint64_t *proof; /* there, of each lane and of aux: see cs_dev_proof() */
	CUdeviceptr proof_at;
	char *board; /* on the host */
	uint64_t board_bytes;
	CUdeviceptr board_at;  /* on the device */
	enum cs_transport via; /* the transports that are allowed */
	CUdeviceptr arena;     /* by cuMemAlloc, that many bytes, … */
	uint64_t arena_bytes;
	struct cs_vmm vmm;    /* … or this one, … */
	struct cs_hand *hand; /* … which is given out there */
	void *ring;	      /* on the host */
	CUdeviceptr ring_at;  /* on the device */
	uint64_t ring_bytes;
	int ring_fd;
	CUdeviceptr other; /* what takes the cache from other memory; 0: not
				 * wanted yet, … */
	uint64_t other_bytes;
	CUdeviceptr spare;	  /* another buffer, for what its calls cost, … */
	struct cs_vmm spare_rdma; /* … and one for messages between nodes */
	CUmodule again;		  /* the module once more, likewise */
	struct cs_peer *peers;	  /* mappings that are open */
	struct cs_um *um;	  /* ranges of managed memory */
	struct cs_calls *calls;	  /* what batches of calls need; NULL: none yet */
};

/* cs_driver_result(), and remembers a sticky error. */
int cs_dev_result(struct cs_dev *dev, CUresult result, const char *call,
		  struct cs_err *err);

/* Call a driver function: CS_DEV_CU(dev, err, cuMemFree, address). */
#define CS_DEV_CU(dev, err, call, ...) \
	cs_dev_result(dev, CS_NAMED_CALL(#call, call, __VA_ARGS__), \
		      #call, err)

/* Launch with the kernel's one argument. */
int cs_dev_launch(struct cs_dev *dev, enum cs_kernel kernel, struct cs_grid grid,
		  CUstream stream, void *args, struct cs_err *err);

/* The end of the next part of what is enqueued there. */
int cs_dev_mark(struct cs_dev *dev, struct cs_lane *on, struct cs_err *err);
/* The lane, made on its first use: neither streams nor events wait for gates.
 * NULL: error. */
struct cs_lane *cs_dev_lane(struct cs_dev *dev, int lane, struct cs_err *err);

/* The device's address of a scratch field. */
#define cs_dev_scratch(dev, field) \
	((dev)->scratch_at + offsetof(struct cs_scratch, field))

/* Words in which a kernel on a lane, or on aux as the last of them, leaves a proof:
 * two spans of each block are the most; or what zero-copy both ways leaves, the sums
 * first, then a span of each of its blocks. */
static inline uint64_t cs_dev_proof_words(const struct cs_dev *dev)
{
	const uint64_t span = sizeof(struct cs_k_span) / 8;
	const uint64_t zero = CS_ZERO_BLOCKS * (1 + 2 * span);

	_Static_assert(CS_ZERO_BLOCKS_MOST <= CS_ZERO_BLOCKS * 5,
		       "the sums of one way fit as well");
	return dev->blocks * 2 * span > zero ? dev->blocks * 2 * span : zero;
}

static inline uint64_t *cs_dev_proof(const struct cs_dev *dev, int lane)
{
	return dev->proof + (uint64_t)lane * cs_dev_proof_words(dev);
}

static inline CUdeviceptr cs_dev_proof_at(const struct cs_dev *dev, int lane)
{
	return dev->proof_at + (uint64_t)lane * cs_dev_proof_words(dev) * 8;
}

/* consume.c: CONSUME and PRODUCE. */
int cs_consume_launch(struct cs_dev *dev, int lane, struct cs_err *err);
/* Had what was prefetched come before the kernel that works on it? */
int cs_consume_prove(struct cs_dev *dev, int lane, struct cs_err *err);

/* matmul.c: MATMUL, as sm.c has it of other kinds. */
int cs_matmul_geometry(const struct cs_copy *f, uint32_t i, uint32_t *blocks,
		       uint32_t *threads);
int cs_matmul_can(const struct cs_dev *dev, const struct cs_copy *f,
		  struct cs_err *err);
int cs_matmul_prepare(struct cs_dev *dev, int lane, struct cs_err *err);
int cs_matmul_launch(struct cs_dev *dev, const struct cs_lane *on, struct cs_err *err);
int cs_matmul_prove(struct cs_dev *dev, int lane, double *ns, struct cs_err *err);

/* box.c: what has a shape, by a kernel, or by a driver or packed. */
int cs_box_launch(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		  struct cs_err *err);
int cs_box_enqueue(struct cs_dev *dev, CUstream stream, const struct cs_copy *f,
		   struct cs_err *err);

/* Facts on one device. */
int cs_probe_gpu(int ordinal, struct cs_gpu_facts *gpu, struct cs_err *err);

/* The functions of the table, by file: see backend.h. */
int cs_dev_open(int ordinal, int lanes, struct cs_dev **dev, struct cs_err *err);
int cs_dev_board(struct cs_dev *dev, void *page, uint64_t bytes, struct cs_err *err);
int cs_dev_arena(struct cs_dev *dev, uint64_t bytes, void *host, int fd,
		 struct cs_export *out, struct cs_err *err);
void cs_dev_via(struct cs_dev *dev, enum cs_transport transport);
int cs_dev_ring(struct cs_dev *dev, void *host, uint64_t bytes, int fd,
		struct cs_err *err);
int cs_dev_rearena(struct cs_dev *dev, uint64_t bytes, int by_fd,
		   struct cs_export *out, struct cs_err *err);
int cs_dev_enter(struct cs_dev *dev, struct cs_err *err);
int cs_dev_broken(const struct cs_dev *dev);
void cs_dev_close(struct cs_dev *dev);

int cs_peer_import(struct cs_dev *dev, const struct cs_export *peer,
		   struct cs_mapping *out, struct cs_err *err);
void cs_peer_unimport(struct cs_dev *dev, struct cs_mapping *mapping);
void cs_peer_release_all(struct cs_dev *dev);
/* The context that owns an address: a peer's of this process, or our own; and whether it
 * is of this process. */
CUcontext cs_peer_context(const struct cs_dev *dev, uint64_t address);
int cs_peer_is_near(const struct cs_dev *dev, uint64_t address);
/* Is the address in memory of a peer's GPU? */
int cs_peer_has(const struct cs_dev *dev, uint64_t address);

/* Can memory be handed over by a descriptor here? */
int cs_vmm_supported(struct cs_dev *dev);
/* Make memory of at least that many bytes, and its descriptor. */
int cs_vmm_create(struct cs_dev *dev, uint64_t bytes, struct cs_vmm *out, int *fd,
		  struct cs_err *err);
/* The same without one, GPUDirect-RDMA capable. */
int cs_vmm_create_rdma(struct cs_dev *dev, uint64_t bytes, struct cs_vmm *out,
		       struct cs_err *err);
/* Import such memory of another process; `fd` stays the caller's. */
int cs_vmm_import(struct cs_dev *dev, int fd, uint64_t bytes, struct cs_vmm *out,
		  struct cs_err *err);
/* Let this GPU use such memory of this process. */
int cs_vmm_reach(struct cs_dev *dev, uint64_t at, uint64_t bytes, struct cs_err *err);
void cs_vmm_release(struct cs_vmm *vmm);

/* Give `fd`, which is the hand's from now on (closed on failure), to processes of
 * this user that ask at `name`, until it is closed. */
struct cs_hand *cs_hand_open(int fd, char name[8], struct cs_err *err);
void cs_hand_close(struct cs_hand *hand);
/* Ask a peer for its own: a descriptor to be closed, or -1. */
int cs_hand_take(const struct cs_export *peer, struct cs_err *err);

int cs_pass_fill(struct cs_dev *dev, uint64_t address, uint64_t bytes, uint64_t key,
		 struct cs_err *err);
int cs_pass_poison(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		   struct cs_err *err);
int cs_pass_check(struct cs_dev *dev, uint64_t address,
		  const struct cs_expected *pattern, int poison, struct cs_check *out,
		  struct cs_err *err);
int cs_pass_chain(struct cs_dev *dev, uint64_t address, uint64_t bytes, uint64_t base,
		  int random, uint64_t seed, struct cs_err *err);
/* The sum of the first words of a pattern. */
int cs_pass_sum(struct cs_dev *dev, uint64_t words, uint64_t key, uint64_t *sum,
		struct cs_err *err);
int cs_pass_load(struct cs_dev *dev, uint64_t address, uint64_t bytes, int ms,
		 struct cs_err *err);
int cs_pass_displace(struct cs_dev *dev, struct cs_err *err);
int cs_pass_idle(struct cs_dev *dev, struct cs_err *err);

/* Blocks for a pass over that many words, and what those of one found. */
struct cs_grid cs_pass_grid(const struct cs_dev *dev, uint64_t words);
struct cs_check cs_pass_found(const struct cs_dev *dev, uint32_t blocks);

/* um.c: managed memory.  A prefetch and a touch of a lane, and the end of all ranges. */
extern const struct cs_backend_um cs_cuda_um;
int cs_um_prefetch(struct cs_dev *dev, CUstream stream, const struct cs_copy *desc,
		   struct cs_err *err);
int cs_um_touch(struct cs_dev *dev, CUstream stream, const struct cs_copy *desc,
		struct cs_err *err);
void cs_um_free_all(struct cs_dev *dev);

/* Enqueue on `stream` a wait for the word, by a memory operation or the gate kernel. */
int cs_dev_wait(struct cs_dev *dev, CUstream stream, struct cs_k_gate *word,
		struct cs_err *err);

int cs_copy_arm(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		const struct cs_copy *desc, struct cs_err *err);
int cs_copy_stamp(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		  uint32_t *word, struct cs_err *err);
/* Without a gate; poll() recognises the end by mark(). */
int cs_copy_enqueue(struct cs_dev *dev, int lane, const struct cs_copy *desc,
		    struct cs_err *err);
int cs_copy_mark(struct cs_dev *dev, int lane, struct cs_err *err);
int cs_sm_can(const struct cs_dev *dev, const struct cs_copy *f, struct cs_err *err);
int cs_sm_geometry(struct cs_dev *dev, const struct cs_copy *desc, uint32_t i,
		   uint32_t *blocks, uint32_t *threads);
/* A copy by kernels, in three steps: what must be known before it (on the lane
 * stays the copy as it will be made), the launches, and what they left as proof
 * of it: an error where that is wrong.  Prove sets *ns where kernels know the time. */
int cs_sm_prepare(struct cs_dev *dev, int lane, const struct cs_copy *desc,
		  struct cs_err *err);
int cs_sm_launch(struct cs_dev *dev, int lane, struct cs_err *err);
int cs_sm_prove(struct cs_dev *dev, int lane, double *ns, struct cs_err *err);

double cs_copy_lasted(const struct cs_dev *dev, int lane);
double cs_copy_lasted_back(const struct cs_dev *dev, int lane);
int cs_copy_stages(struct cs_dev *dev, int lane, double ns[CS_STAGES],
		   struct cs_err *err);
int cs_copy_poll(struct cs_dev *dev, int lane, double *ns, struct cs_err *err);

/* cost.c */
extern const struct cs_backend_costs cs_cuda_costs;

/* calls.c */
extern const struct cs_backend_calls cs_cuda_calls;
void cs_calls_release(struct cs_dev *dev);

/* The handle by which another process opens of->address.  That there is none is for those
 * to report who need it: threads of this process do not. */
void cs_dev_export(struct cs_dev *dev, struct cs_export *of);

/* As functions of the module are called, by enum cs_kernel. */
extern const char *const cs_kernel_name[CS_N_KERNELS];
/* The module of our kernels. */
int cs_dev_load(struct cs_dev *dev, CUmodule *module, struct cs_err *err);

/* How many bytes cs_dev_alloc() can have. */
int cs_dev_left(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err);
/* Gives the arena back, and what it was shared by. */
void cs_dev_disarena(struct cs_dev *dev);
/* As cuMemAlloc, in whole blocks that hold nothing else. */
int cs_dev_alloc(struct cs_dev *dev, uint64_t bytes, CUdeviceptr *at,
		 struct cs_err *err);

/* Register the pages with CUDA, for all contexts of the process, and return their
 * address for the device; the first of several calls does it, and the last release
 * undoes it, in another context. */
int cs_pages_map(struct cs_dev *dev, void *page, uint64_t bytes, CUdeviceptr *at,
		 struct cs_err *err);
void cs_pages_unregister(void *page);

/* pages.c: see backend.h. */
int cs_host_alloc(struct cs_dev *dev, uint64_t bytes, int write_combined, void **at,
		  uint64_t *address, struct cs_err *err);
int cs_host_register(struct cs_dev *dev, void *at, uint64_t bytes, uint64_t *address,
		     struct cs_err *err);
void cs_host_release(struct cs_dev *dev, void *at);
