/* backend.h - how bytes move: one table of functions per kind of memory.
 *
 * Two tables: cs_backend_cuda (CUDA driver API) and cs_backend_cpu (shared host
 * memory).  A struct cs_dev belongs to one agent thread: all calls on it come
 * from that thread, except that start() and probe() come once per process,
 * before any open(), and that a lane may be lent to one other thread, which calls
 * enter(), arm(), poll() and the costs' copy() and mark() for it.  Nothing here knows MPI, plans, ranks, boards or when a
 * sample is enough.
 *
 * Every call returns 0, or -1 with `err` naming the call, the code and a sure
 * hint, and then has changed nothing, unless it says otherwise.
 *
 * While a gate of this process may be closed (between the first arm() of a
 * sample and the end of all armed work) only the calls marked GATED may be
 * made: the others can block until the gate opens (cuMemFree, cuMemFreeHost,
 * cuMemHostUnregister, cuIpcCloseMemHandle, cuModuleLoadData, cuModuleUnload,
 * cuCtxSynchronize: measured on H200, driver 580). */
#ifndef CS_BACKEND_BACKEND_H
#define CS_BACKEND_BACKEND_H

#include <stdint.h>

#include "base/calls.h"
#include "base/err.h"
#include "base/facts.h"
#include "base/fill.h"
#include "base/shape.h"

struct cs_dev;

/* What an owner publishes so that others can reach its arena.  Plain data. */
struct cs_export {
	int64_t pid;
	uint64_t pid_ns;  /* inode of /proc/self/ns/pid */
	uint64_t address; /* valid in the owner's process */
	uint64_t bytes;
	int32_t ordinal;     /* backend's, in the owner's process */
	int32_t fd;	     /* cpu: the memfd in the owner's process; else -1 */
	int32_t has_ipc;     /* ipc[] is valid */
	char ipc_error[160]; /* why it is not */
	unsigned char ipc[64];
	uint64_t fd_bytes;  /* of memory that a descriptor hands over; 0: it
				 * cannot be, */
	char fd_error[160]; /* … because; "" nobody asked for that */
	char socket[8];	    /* where the descriptor is given out */
	/* host memory through which others stage what they send: a memfd */
	uint64_t ring_address; /* the owner device's; 0: there is none */
	uint64_t ring_bytes;
	int32_t ring_fd;
	char uuid[CS_UUID];
};

/* A peer's arena as this agent sees it.  Opaque but for via and address. */
struct cs_mapping {
	int32_t via;	  /* enum cs_via */
	uint64_t address; /* CS_VIA_STAGED: of its ring */
	uint64_t bytes;
};

/* Slots of a ring.  Two suffice to fill one while the other is emptied; then each
 * chunk still waits for the word that its slot is free, a few microseconds on
 * the way through two GPUs and host memory.  A third takes that off the path. */
#define CS_RING_SLOTS 3u

enum cs_copy_kind {
	CS_COPY_ENGINE,	  /* from one address to the other */
	CS_COPY_PEER,	  /* cuda: by cuMemcpyPeerAsync */
	CS_COPY_OUT,	  /* cuda: chunk by chunk to a ring, at dst */
	CS_COPY_IN,	  /* … and from it, at src */
	CS_COPY_PAGEABLE, /* cuda: from or to memory that is not page-locked; its
				 * gate is open, for arm() blocks until it is copied
				 * or will be */
	CS_COPY_PREFETCH, /* cuda: managed memory at dst goes to `to` */
	CS_COPY_TOUCH, /* cuda: each `stride` bytes from dst on the first word becomes that
			   * of the pattern of `key`, with `mark` in it, by a kernel */
	CS_COPY_FAULT, /* … one after the other, by one thread */
	/* cuda: what has a shape, see box: by a driver, … */
	CS_COPY_2D,
	CS_COPY_3D,
	CS_COPY_PACK,	/* … packed, and copied to dst, of which `filled` tells, … */
	CS_COPY_UNPACK, /* … and unpacked to dst, of which `emptied` does, … */
	/* cuda: by kernels; see positions, blocks and threads */
	CS_COPY_SM,	  /* loads and stores of 16 bytes */
	CS_COPY_TMA,	  /* bulk asynchronous copies, capability >= 9.0 */
	CS_COPY_SM_READ,  /* reads src, writes nothing */
	CS_COPY_SM_WRITE, /* writes the fill pattern of `key` to dst */
	CS_COPY_TRIAD, /* writes base/triad.h of src, b and c one after the other, to dst */
	/* … zero-copy: 4 bytes at a time, always 256 blocks of 256 threads */
	CS_COPY_ZERO_READ,  /* reads src, writes nothing */
	CS_COPY_ZERO_WRITE, /* writes the fill pattern of `key` to dst */
	CS_COPY_CHASE,	    /* follows a chain at src, one load after the other */
	CS_COPY_CHASE_TMA,  /* … by bulk copies of 16 bytes */
	/* … that work on data of the host, `element` bytes a thread; see `move` and `page` */
	CS_COPY_CONSUME, /* reads all of it once */
	CS_COPY_PRODUCE, /* writes the fill pattern of `key` there */
	/* … on the chip: nothing but results leaves it */
	CS_COPY_FMA, /* multiply-adds, enum cs_fma in `key`; nothing moves */
	CS_COPY_L2,  /* reads of src as much as the second-level cache holds, … */
	CS_COPY_SHARED, /* … of shared memory, where it is the pattern of `key`: as often as
			 * there are `bytes` in all copies */
	CS_COPY_BOX, /* what has a shape, see box */
};

/* Where pages of managed memory are: on a device of this process; or (device -1) on a
 * NUMA node of the host, -1: any. */
struct cs_um_place {
	int32_t device, numa;
};

/* What is said of managed memory; the last two with a place. */
enum cs_um_advice { CS_UM_READ_MOSTLY, CS_UM_PREFERRED, CS_UM_ACCESSED_BY };

/* One transfer of one sample, on one lane (one stream).  Addresses are as this
 * agent sees them: inside its arena or a mapping. */
struct cs_copy {
	uint64_t dst, src, bytes;
	uint32_t copies;
	uint32_t kind; /* enum cs_copy_kind */
	/* copy i goes to position i % positions of that many; of kernels, where they are
	 * `bytes` apart, from such a one too; 0 means 1 */
	uint32_t positions;
	uint64_t stride; /* of positions; not of kernels */
	uint32_t blocks,
		threads; /* kernels: of geometry(); 0: its first; TRIAD: of each of
				   * its copies */
	uint64_t key;	 /* SM_READ, ZERO_READ: of what is at src; SM_WRITE,
				 * ZERO_WRITE; CHASE: the seed of the random chain at src,
				 * 0: stride */
	/* SM: another copy, which the same kernel makes at the same time: between
	 * host memory and the GPU, the other way; ZERO_READ, ZERO_WRITE: the other of
	 * both, by as many blocks; bytes 0: none */
	struct {
		uint64_t dst, src, bytes, key;
		uint32_t copies, positions;
	} back;
	/* OUT and IN: words on the board that count chunks from `base` on; OUT
	 * writes `filled` and waits for `emptied`, IN the other way round */
	uint32_t base;
	uint64_t chunk_bytes; /* and of a slot */
	uint32_t *filled, *emptied;
	/* CONSUME, PRODUCE: bytes that a thread takes at a time, 4, 8, 16; that a warp takes
	 * at a time, 0: neighbours take neighbours; and how the data come to the kernel */
	uint32_t element, page;
	enum cs_move {
		CS_MOVE_NOT,	  /* it reads src, or writes dst, where that is */
		CS_MOVE_COPY,	  /* src is copied to dst before, where it works */
		CS_MOVE_PREFETCH, /* dst is prefetched to `to` before */
	} move;
	struct cs_um_place to; /* PREFETCH */
	uint64_t mark;	       /* TOUCH */
	/* of what has a shape: dst and src are where it begins */
	struct cs_extent box;
	uint64_t packed; /* PACK, UNPACK: this agent's buffer of what is packed */
	int lent;	 /* another thread than the agent's arms it, on a lane that
				 * is lent to it */
};

/* What is the pattern of `from`, beginning with its word `word`, becomes that of `to`. */
struct cs_rekey {
	uint64_t address, bytes, word, from, to;
};
#define CS_EVENTS 2 /* of record() */

/* Single calls of a driver, to be timed by who makes them; no clock is read
 * here.  All but free(), load() and unload() are GATED. */
struct cs_backend_costs {
	/* Bytes of the device's memory in use, by anyone. */
	int (*memory)(struct cs_dev *dev, int64_t *used, struct cs_err *err);

	/* Another buffer beside the arena; what was not freed, close() frees.
	 * export() makes a copy of the arena's export, with the address and the
	 * bytes of that buffer, one of the buffer. */
	int (*alloc)(struct cs_dev *dev, uint64_t bytes, uint64_t *address,
		     struct cs_err *err);
	int (*export)(struct cs_dev *dev, struct cs_export *of, struct cs_err *err);
	int (*free)(struct cs_dev *dev, struct cs_err *err);

	/* The kernels once more, as a module of their own. */
	int (*load)(struct cs_dev *dev, struct cs_err *err);
	int (*unload)(struct cs_dev *dev, struct cs_err *err);

	/* Enqueue on `lane`, without a gate and without marks: flight->copies
	 * copies, one call each; one kernel that does nothing.  mark() makes
	 * poll() tell the end of all that. */
	int (*copy)(struct cs_dev *dev, int lane, const struct cs_copy *desc,
		    struct cs_err *err);
	int (*launch)(struct cs_dev *dev, int lane, struct cs_err *err);
	int (*mark)(struct cs_dev *dev, int lane, struct cs_err *err);
	/* The end of all that, waited for in the driver; 1: it cannot be. */
	int (*finish)(struct cs_dev *dev, int lane, struct cs_err *err);

	/* The same of a kernel that works on data.  record() makes reached() tell the
	 * end of what stands before it on the lane: 1, 0 not yet, -1. */
	int (*rekey)(struct cs_dev *dev, int lane, const struct cs_rekey *what,
		     struct cs_err *err);
	int (*record)(struct cs_dev *dev, int lane, int event, struct cs_err *err);
	int (*reached)(struct cs_dev *dev, int event, struct cs_err *err);
};

/* Calls of a driver in batches, to be timed by who makes them.  No gate is closed. */
struct cs_batch {
	enum cs_call_number call; /* of the driver's */
	uint32_t n;		  /* up to CS_CALLS_MOST */
	uint64_t bytes;		  /* of memory that each allocates, frees, … */
};

/* Each returns 1 with `err` where this driver or device has no such call.  Nothing is
 * left running on the device before make() and after undo(), which gives back what there
 * is, also behind an error. */
struct cs_backend_calls {
	int (*prepare)(struct cs_dev *dev, const struct cs_batch *batch,
		       struct cs_err *err);
	int (*make)(struct cs_dev *dev, const struct cs_batch *batch,
		    struct cs_err *err);
	int (*undo)(struct cs_dev *dev, struct cs_err *err);
};

/* Memory that CPU and GPU share by moving its pages.  While a gate is closed nothing of
 * it may be called; what moves pages behind a gate is armed. */
struct cs_backend_um {
	/* Can it be measured on this device?  -1: why not. */
	int (*can)(struct cs_dev *dev, struct cs_err *err);
	/* Bytes of the device's memory that nobody uses. */
	int (*room)(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err);

	/* A range, whose pages are nowhere yet.  Its address is that of all devices of the
	 * process and of the CPU.  What was not freed, close() frees. */
	int (*make)(struct cs_dev *dev, uint64_t bytes, uint64_t *at,
		    struct cs_err *err);
	void (*free)(struct cs_dev *dev, uint64_t at);

	/* Prefetch pages, and wait until that has ended. */
	int (*bring)(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		     const struct cs_um_place *to, struct cs_err *err);

	/* Say something of pages, or (not `on`) take it back. */
	int (*advise)(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		      enum cs_um_advice advice, const struct cs_um_place *of, int on,
		      struct cs_err *err);

	/* Compare with what should be there, by a kernel of this device, and say by how
	 * fast it read whether all of it lay in the device's own memory: 1, 0; -1: it is
	 * too little to tell. */
	int (*check)(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		     const struct cs_touched *pattern, struct cs_check *out,
		     int *is_near, struct cs_err *err);
};

struct cs_backend {
	const char *name;     /* "cuda", "cpu" */
	int clock_is_virtual; /* set by start(): a test double keeps the time, … */
	uint64_t (*cpu_clock)(void); /* … and that of the thread that calls it, in
				      * nanoseconds; NULL: the machine does */
	int host_arena;		     /* arena() is given host memory */
	int absent; /* set by a start() that failed: there is no driver,
				 * or it says that there is no device */

	/* Once per process: load and initialise the driver; may take seconds, may
	 * hang.  `driver_version` gets e.g. 13000, or 0. */
	int (*start)(int *driver_version, struct cs_err *err);

	/* Facts on the devices that this process sees, at most `room`, in the
	 * driver's order.  cpu: always 0 devices; arenas are made, not found. */
	int (*probe)(struct cs_gpu_facts *gpus, int room, int *n, struct cs_err *err);

	/* Context on device `ordinal` (cpu: ignored), kernels loaded and touched,
	 * `lanes` streams with their events.  Called by the agent's own thread,
	 * already bound to its CPUs. */
	int (*open)(int ordinal, int lanes, struct cs_dev **dev, struct cs_err *err);

	/* The page with the gate word and the stamp words, mapped in this process;
	 * whole pages.  Must stay mapped until close(). */
	int (*board)(struct cs_dev *dev, void *page, uint64_t bytes,
		     struct cs_err *err);

	/* The arena.  cuda: allocates `bytes` of device memory, host and fd
	 * ignored.  cpu: takes the memory at `host`, a mapping of memfd `fd`
	 * that stays the caller's.  Fills *out for publishing. */
	int (*arena)(struct cs_dev *dev, uint64_t bytes, void *host, int fd,
		     struct cs_export *out, struct cs_err *err);

	/* Only cuda from here to rearena(); NULL elsewhere.
	 * How large an arena there is memory for. */
	int (*left)(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err);

	/* The transports that arena() and import() take; AUTO until it is said.  From STAGED on
	 * unimport() takes peer access back, until another is said. */
	void (*via)(struct cs_dev *dev, enum cs_transport transport);

	/* Before arena(), which publishes it: the ring of CS_RING_SLOTS slots
	 * through which others stage what they send here, `bytes` at `host`, a
	 * mapping of memfd `fd`, that stays the caller's. */
	int (*ring)(struct cs_dev *dev, void *host, uint64_t bytes, int fd,
		    struct cs_err *err);

	/* The arena anew, where that can be: of memory that a descriptor hands
	 * over, or (by_fd 0) of the usual.  No peer has it mapped; what was in it
	 * is gone.  An error leaves none. */
	int (*rearena)(struct cs_dev *dev, uint64_t bytes, int by_fd,
		       struct cs_export *out, struct cs_err *err);

	/* A way to a peer's arena; tried, not asked for.  Takes the best there is
	 * of those allowed and says which in out->via.  Touches no byte of it. */
	int (*import)(struct cs_dev *dev, const struct cs_export *peer,
		      struct cs_mapping *out, struct cs_err *err);
	void (*unimport)(struct cs_dev *dev, struct cs_mapping *mapping);

	/* Page-locked host memory for all devices of this process; NULL: the
	 * backend has no use for it.  `address` is this device's.
	 * alloc() leaves to the caller's memory policy where it lies; register()
	 * makes memory that stays the caller's such memory, or gives another user
	 * of either kind its address.  Each of both, in whatever thread, needs a
	 * release() on the same device; the last one frees or unregisters. */
	int (*host_alloc)(struct cs_dev *dev, uint64_t bytes, int write_combined,
			  void **at, uint64_t *address, struct cs_err *err);
	int (*host_register)(struct cs_dev *dev, void *at, uint64_t bytes,
			     uint64_t *address, struct cs_err *err);
	void (*host_release)(struct cs_dev *dev, void *at);

	/* Own memory; finished on return.  GATED. */
	int (*fill)(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		    uint64_t key, struct cs_err *err);
	int (*poison)(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		      struct cs_err *err);
	/* Compare with what should be there and, if asked, poison all from the first
	 * place to the last behind it. */
	int (*check)(struct cs_dev *dev, uint64_t address,
		     const struct cs_expected *pattern, int poison,
		     struct cs_check *out, struct cs_err *err);

	/* Only cuda; NULL elsewhere.  Own memory: a chain (base/chain.h) in
	 * `bytes` at `address`, for somebody who sees its first node at `base`;
	 * random: in the order of `seed`, which is not 0.  GATED. */
	int (*chain)(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		     uint64_t base, int random, uint64_t seed, struct cs_err *err);

	/* Only cuda; NULL elsewhere.  The device's cache holds other bytes than those
	 * of arenas and host memory; finished on return.  1: there is no memory for
	 * these. */
	int (*displace)(struct cs_dev *dev, struct cs_err *err);

	/* The i-th way to divide a copy by kernels among blocks and threads,
	 * best guess first; returns 0 when there are no more, and for copies of
	 * which nothing is divided. */
	int (*geometry)(struct cs_dev *dev, const struct cs_copy *desc, uint32_t i,
			uint32_t *blocks, uint32_t *threads);
	/* Can this device do such a copy at all?  Else arm() refuses it too, and it is
	 * nobody's fault.  NULL: it can. */
	int (*can)(const struct cs_dev *dev, const struct cs_copy *desc,
		   struct cs_err *err);

	/* Only cuda; NULL elsewhere.  The calling thread may drive a lane of the
	 * device, once no other does.  GATED. */
	int (*enter)(struct cs_dev *dev, struct cs_err *err);

	/* Enqueue on `lane`: wait until *gate >= seq (cyclic), mark s, the copies,
	 * mark e.  `gate` points into the board.  Returns without waiting.  After an
	 * error the lane may hold a part of it, which runs out when the gate opens
	 * and whose end poll() tells.  Copies by kernels: of multiples of 16
	 * bytes.  GATED. */
	int (*arm)(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		   const struct cs_copy *desc, struct cs_err *err);

	/* Enqueue on `lane`: wait for the gate, then store seq to *word, which lies
	 * in the board: the release of the gate as the device sees it.  Errors as
	 * with arm().  GATED. */
	int (*arm_stamp)(struct cs_dev *dev, int lane, const uint32_t *gate,
			 uint32_t seq, uint32_t *word, struct cs_err *err);

	/* 1: what was armed on `lane` has ended, and *ns = e - s (0 for a stamp;
	 * CHASE: the mean of one load, by the kernel's clock, over `copies` rounds
	 * in which each multiprocessor in turn makes some of them alone; FMA: of one
	 * operation; all of the
	 * chain is read once before, uncounted; with a copy back: from where this
	 * one began to where it ended, by that clock); 0: not yet; -1: error, also where
	 * a read has not read the pattern, or a chase ended at a wrong node.
	 * Does not block but where the CPU copies (cpu), for this is where the copy
	 * is made: there it returns 0 at least every 10 ms while the gate is closed.
	 * GATED. */
	int (*poll)(struct cs_dev *dev, int lane, double *ns, struct cs_err *err);

	/* Only cuda; NULL elsewhere.  e - s of what poll() has told the end of last,
	 * in nanoseconds: of a CHASE too.  GATED. */
	double (*lasted)(const struct cs_dev *dev, int lane);
	/* … and how long its copy back took, by the kernel's clock. */
	double (*lasted_back)(const struct cs_dev *dev, int lane);
	/* … of a PACK, or an UNPACK, what each of its stages took in the last copy; those
	 * of the other side are left as they are. */
	int (*stages)(struct cs_dev *dev, int lane, double ns[CS_STAGES],
		      struct cs_err *err);

	/* Enqueue about `ms` milliseconds of memory traffic in the agent's own
	 * destination buffer, so that link and clocks can be read under load;
	 * idle() waits for its end.  No gate may be closed. */
	int (*load)(struct cs_dev *dev, uint64_t address, uint64_t bytes, int ms,
		    struct cs_err *err);
	int (*idle)(struct cs_dev *dev, struct cs_err *err);

	/* Is the last error of this device sticky: is the process of no more use?
	 * (CUDA 220, 226, 700, 702, 716-719 …) */
	int (*broken)(const struct cs_dev *dev);

	/* Free all that open(), board() and arena() made.  All importers of this
	 * arena have called unimport() before. */
	void (*close)(struct cs_dev *dev);

	const struct cs_backend_costs *costs; /* NULL: there is no driver */
	const struct cs_backend_um *um;	      /* NULL: there is no such memory */
	const struct cs_backend_calls *calls; /* NULL: there is no driver */
};

/* NULL when the program was built without CUDA. */
extern const struct cs_backend *const cs_backend_cuda;
extern const struct cs_backend cs_backend_cpu;

#endif
