/* backend.h - how bytes move: one table of functions per kind of memory.
 *
 * There are two tables: cs_backend_cuda (CUDA driver API) and cs_backend_cpu (shared
 * host memory).  A struct cs_dev belongs to one agent thread, which makes all calls
 * on it. Exceptions: start() and probe() are called once per process, before any
 * open(); a lane may be lent to one other thread, which calls enter(), arm(), poll()
 * and the costs' copy() and mark() for it.  Nothing here knows MPI, plans, ranks,
 * boards or when there are enough samples.
 *
 * Unless stated otherwise, every call returns 0; or -1, having changed nothing, with
 * `err` naming the call, the code and, if there is a certain one, a hint.
 *
 * While a gate of this process may be closed (between the first arm() of a
 * sample and the end of all armed work) only the calls marked GATED may be
 * made: the others can block until the gate opens (cuMemFree, cuMemFreeHost,
 * cuMemHostUnregister, cuIpcCloseMemHandle, cuModuleLoadData, cuModuleUnload,
 * cuCtxSynchronize: measured on H200, driver 580). */
#pragma once

#include <stdint.h>

#include "base/call.h"
#include "base/err.h"
#include "base/facts.h"
#include "base/fill.h"
#include "base/shape.h"

struct cs_dev;

/* Published by an owner, so that others can reach its arena.  Plain data. */
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
	uint64_t fd_bytes;  /* of memory shared by descriptor; 0: impossible */
	char fd_error[160]; /* why it is impossible; "" not tried */
	char socket[8];	    /* from which others get the descriptor */
	/* host memory through which others stage what they send here: a memfd */
	uint64_t ring_address; /* for the owner's device; 0: none */
	uint64_t ring_bytes;
	int32_t ring_fd;
	char uuid[CS_UUID];
};

/* A peer's arena as this agent sees it.  Callers read only via and address. */
struct cs_mapping {
	int32_t via;	  /* enum cs_via */
	uint64_t address; /* CS_VIA_STAGED: of its ring */
	uint64_t bytes;
};

/* Slots of a ring.  With two, one is filled while the other is emptied, but each
 * chunk still waits a few microseconds until the message that its slot is free has
 * passed two GPUs and host memory.  A third slot avoids this wait. */
#define CS_RING_SLOTS 3u

enum cs_copy_kind {
	CS_COPY_ENGINE,	  /* from one address to the other */
	CS_COPY_PEER,	  /* cuda: by cuMemcpyPeerAsync */
	CS_COPY_OUT,	  /* cuda: chunk by chunk to a ring, at dst */
	CS_COPY_IN,	  /* cuda: chunk by chunk from a ring, at src */
	CS_COPY_PAGEABLE, /* cuda: from or to memory that is not page-locked; its
				 * gate must be open, because arm() blocks until the
				 * copy is made or certain */
	CS_COPY_PREFETCH, /* cuda: managed memory at dst goes to `to` */
	CS_COPY_TOUCH, /* cuda: a kernel sets the first word of every `stride` bytes from dst
			   * on to that of the pattern of `key`, with `mark` in it */
	CS_COPY_FAULT, /* the same, one word after the other, by one thread */
	/* cuda: copies with a shape, see box; 2D and 3D by the driver */
	CS_COPY_2D,
	CS_COPY_3D,
	CS_COPY_PACK,	/* packed, then copied to dst; `filled` announces it */
	CS_COPY_UNPACK, /* unpacked to dst; `emptied` announces it */
	/* cuda: by kernels; see positions, blocks and threads */
	CS_COPY_SM,	  /* loads and stores of 16 bytes */
	CS_COPY_TMA,	  /* bulk asynchronous copies, capability >= 9.0 */
	CS_COPY_SM_READ,  /* reads src, writes nothing */
	CS_COPY_SM_WRITE, /* writes the fill pattern of `key` to dst */
	CS_COPY_TRIAD,	  /* src has b, then c; writes base/triad.h of these to dst */
	/* zero-copy kernels: 4 bytes at a time, always 256 blocks of 256 threads */
	CS_COPY_ZERO_READ,  /* reads src, writes nothing */
	CS_COPY_ZERO_WRITE, /* writes the fill pattern of `key` to dst */
	CS_COPY_CHASE,	    /* follows a chain at src, one load after the other */
	CS_COPY_CHASE_TMA,  /* the same by bulk copies of 16 bytes */
	/* kernels that work on host data, `element` bytes per thread; see `move` and
	 * `page` */
	CS_COPY_CONSUME, /* reads all of it once */
	CS_COPY_PRODUCE, /* writes the fill pattern of `key` there */
	/* kernels on the chip: only results leave it */
	CS_COPY_FMA, /* multiply-adds, enum cs_fma in `key`; nothing moves */
	CS_COPY_L2, /* reads the part of src that fits the second-level cache, repeatedly */
	CS_COPY_SHARED, /* reads shared memory, which has the pattern of `key`, until `bytes`
			 * of all copies are read */
	CS_COPY_MATMUL, /* base/matmul.h: the product of the matrices at src to dst */
	CS_COPY_BOX,	/* copies with a shape, see box */
};

/* A place of managed memory: a device of this process; or (device -1) a NUMA node of
 * the host, -1: any. */
struct cs_um_place {
	int32_t device, numa;
};

/* Advice for managed memory; the last two need a place. */
enum cs_um_advice { CS_UM_READ_MOSTLY, CS_UM_PREFERRED, CS_UM_ACCESSED_BY };

/* One transfer of one sample, on one lane (one stream).  Addresses are as this
 * agent sees them: inside its arena or a mapping. */
struct cs_copy {
	uint64_t dst, src, bytes;
	uint32_t copies;
	uint32_t kind; /* enum cs_copy_kind */
	/* copy i goes to position i % positions; kernels, for which positions are
	 * `bytes` apart, also read from such a position; 0 means 1 */
	uint32_t positions;
	uint64_t stride; /* between positions; not for kernels */
	/* kernels: from geometry(), 0: its first; TRIAD: for each of its copies */
	uint32_t blocks, threads;
	uint64_t key; /* of the pattern: SM_READ, ZERO_READ: at src; SM_WRITE,
				 * ZERO_WRITE: to write.  CHASE: the seed of the random
				 * chain at src, 0: stride */
	/* SM: a second copy, which the same kernel makes at the same time in the
	 * opposite direction, between host memory and the GPU; ZERO_READ, ZERO_WRITE:
	 * the other of the two, with as many blocks; bytes 0: none */
	struct {
		uint64_t dst, src, bytes, key;
		uint32_t copies, positions;
	} back;
	/* ZERO_READ, ZERO_WRITE without `back`: by how many; 0: as Comm|Scope */
	struct {
		uint32_t blocks, threads, access; /* enum cs_access */
	} zero;
	/* OUT and IN: words on the board that count chunks from `base` on; OUT
	 * writes `filled` and waits for `emptied`, IN the reverse */
	uint32_t base;
	uint64_t chunk_bytes; /* also the size of a slot */
	uint32_t *filled, *emptied;
	/* MATMUL: rows of a block, 0: none.
	 * CONSUME, PRODUCE: element: bytes that a thread takes at a time, 4, 8, 16;
	 * page: bytes that a warp takes at a time, 0: neighbouring threads take
	 * neighbours; move: how the data come to the kernel */
	uint32_t element, page;
	enum cs_move {
		CS_MOVE_NOT,	  /* it reads src, or writes dst, in place */
		CS_MOVE_COPY,	  /* src is copied to dst before, if that works */
		CS_MOVE_PREFETCH, /* dst is prefetched to `to` before */
	} move;
	struct cs_um_place to; /* PREFETCH */
	uint64_t mark;	       /* TOUCH */
	/* for copies with a shape: it begins at dst and src */
	struct cs_extent box;
	uint64_t packed; /* PACK, UNPACK: this agent's buffer for packed bytes */
	int lent;	 /* not the agent's thread but another arms it, on a lane lent
				 * to that */
};

/* A kernel changes the pattern of key `from`, which begins with its word `word`, to
 * that of key `to`. */
struct cs_rekey {
	uint64_t address, bytes, word, from, to;
};
#define CS_EVENTS 2	   /* of record(); … */
#define CS_EVENTS_TIMED 769 /* … and, after them, those with a time */

/* Single driver calls, timed by the caller; no clock is read here.  All are GATED,
 * except free(), load() and unload(). */
struct cs_backend_costs {
	/* Bytes of the device's memory in use, by anyone. */
	int (*memory)(struct cs_dev *dev, int64_t *used, struct cs_err *err);

	/* A further buffer besides the arena; close() frees it if it was not freed.
	 * alloc_rdma(): one more, created as GPUDirect-RDMA capable; free() frees both.
	 * export() turns *of, a copy of the arena's export with the address and bytes
	 * of the buffer, into an export of the buffer. */
	int (*alloc)(struct cs_dev *dev, uint64_t bytes, uint64_t *address,
		     struct cs_err *err);
	int (*alloc_rdma)(struct cs_dev *dev, uint64_t bytes, uint64_t *address,
			  struct cs_err *err);
	int (*export)(struct cs_dev *dev, struct cs_export *of, struct cs_err *err);
	int (*free)(struct cs_dev *dev, struct cs_err *err);

	/* Load the kernels once more, as a separate module. */
	int (*load)(struct cs_dev *dev, struct cs_err *err);
	int (*unload)(struct cs_dev *dev, struct cs_err *err);

	/* Enqueue on `lane`, without a gate and without marks.  copy(): desc->copies
	 * copies, one call each; launch(): one kernel that does nothing; mark():
	 * poll() then reports the end of all that. */
	int (*copy)(struct cs_dev *dev, int lane, const struct cs_copy *desc,
		    struct cs_err *err);
	int (*launch)(struct cs_dev *dev, int lane, struct cs_err *err);
	int (*mark)(struct cs_dev *dev, int lane, struct cs_err *err);
	/* Wait in the driver for the end of all that; 1: not possible. */
	int (*finish)(struct cs_dev *dev, int lane, struct cs_err *err);

	/* rekey(): the same with a kernel that works on data.  After record(),
	 * reached() reports the end of the work before it on the lane: 1, 0 not yet,
	 * -1; elapsed(): the time between two that were reached. */
	int (*rekey)(struct cs_dev *dev, int lane, const struct cs_rekey *what,
		     struct cs_err *err);
	int (*record)(struct cs_dev *dev, int lane, int event, struct cs_err *err);
	int (*reached)(struct cs_dev *dev, int event, struct cs_err *err);
	int (*elapsed)(struct cs_dev *dev, int from, int to, float *ms,
		       struct cs_err *err);
};

/* Batches of driver calls, timed by the caller.  No gate may be closed. */
struct cs_batch {
	enum cs_call_number call; /* a call of the driver */
	uint32_t n;		  /* up to CS_CALLS_MOST */
	uint64_t bytes;		  /* that each call allocates, frees, … */
};

/* Each returns 1 with `err` if this driver or device has no such call.  Before make()
 * and after undo() nothing runs on the device.  undo() frees everything, also after
 * an error. */
struct cs_backend_calls {
	int (*prepare)(struct cs_dev *dev, const struct cs_batch *batch,
		       struct cs_err *err);
	int (*make)(struct cs_dev *dev, const struct cs_batch *batch,
		    struct cs_err *err);
	int (*undo)(struct cs_dev *dev, struct cs_err *err);
};

/* Memory that CPU and GPU share by moving its pages.  None of these may be called
 * while a gate is closed; moves of pages behind a gate are armed. */
struct cs_backend_um {
	/* Can it be measured on this device?  -1: no, with the reason. */
	int (*can)(struct cs_dev *dev, struct cs_err *err);
	/* Free bytes of the device's memory. */
	int (*room)(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err);

	/* Make a range, whose pages are nowhere yet.  Its address is valid on all
	 * devices of the process and on the CPU.  close() frees it if it was not
	 * freed. */
	int (*make)(struct cs_dev *dev, uint64_t bytes, uint64_t *at,
		    struct cs_err *err);
	void (*free)(struct cs_dev *dev, uint64_t at);

	/* Prefetch pages, and wait until that has ended. */
	int (*bring)(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		     const struct cs_um_place *to, struct cs_err *err);

	/* Give advice about pages, or (not `on`) withdraw it. */
	int (*advise)(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		      enum cs_um_advice advice, const struct cs_um_place *of, int on,
		      struct cs_err *err);

	/* Count what the driver does to the pages of a range, until counted(), which
	 * also ends it.  -1: it cannot be counted, or not all of it was. */
	int (*count)(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		     struct cs_err *err);
	int (*counted)(struct cs_dev *dev, uint64_t at, struct cs_um_counts *out,
		       struct cs_err *err);

	/* Compare with the expected contents, by a kernel of this device. *is_near:
	 * by the kernel's read rate, was all of it in the device's own memory? 1, 0;
	 * -1: too few bytes to decide. */
	int (*check)(struct cs_dev *dev, uint64_t at, uint64_t bytes,
		     const struct cs_touched *pattern, struct cs_check *out,
		     int *is_near, struct cs_err *err);
};

enum cs_absent {
	CS_ABSENT_NOTHING,
	CS_ABSENT_DEVICE, /* the driver counts none */
	CS_ABSENT_LIBRARY /* of the driver */
};

struct cs_backend {
	const char *name;     /* "cuda", "cpu" */
	int clock_is_virtual; /* set by start(): the fake driver keeps the time */
	uint64_t (*cpu_clock)(void); /* its clock of the calling thread, in
				      * nanoseconds; NULL: use the machine's */
	int host_arena;		     /* arena() is given host memory */
	int absent; /* once start() has returned, enum cs_absent: did it fail for that? */

	/* Once per process: load and initialise the driver; may take seconds, may
	 * hang.  `driver_version` gets e.g. 13000, or 0. */
	int (*start)(int *driver_version, struct cs_err *err);

	/* Facts of the devices that this process sees, at most `room`, in the
	 * driver's order.  cpu: always 0 devices; arenas are made, not found. */
	int (*probe)(struct cs_gpu_facts *gpus, int room, int *n, struct cs_err *err);

	/* Open a context on device `ordinal` (cpu: ignored), load the kernels, make
	 * `lanes` streams with their events.  Called by the agent's own thread, which
	 * is already bound to its CPUs. */
	int (*open)(int ordinal, int lanes, struct cs_dev **dev, struct cs_err *err);

	/* Register the page with the gate word and the stamp words, mapped in this
	 * process; whole pages.  It must stay mapped until close(). */
	int (*board)(struct cs_dev *dev, void *page, uint64_t bytes,
		     struct cs_err *err);

	/* Make the arena.  cuda: allocates `bytes` of device memory, host and fd are
	 * ignored.  cpu: uses the memory at `host`, a mapping of memfd `fd` that the
	 * caller still owns.  Fills *out for publishing. */
	int (*arena)(struct cs_dev *dev, uint64_t bytes, void *host, int fd,
		     struct cs_export *out, struct cs_err *err);

	/* Only cuda from here to rearena(); NULL elsewhere.
	 * The largest arena for which there is memory. */
	int (*left)(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err);

	/* Set the transports that arena() and import() use; AUTO at first.  After
	 * STAGED, unimport() disables peer access, until another transport is set. */
	void (*via)(struct cs_dev *dev, enum cs_transport transport);

	/* Set the ring of CS_RING_SLOTS slots through which others stage what they
	 * send here: `bytes` at `host`, a mapping of memfd `fd` that the caller still
	 * owns. Called before arena(), which publishes it. */
	int (*ring)(struct cs_dev *dev, void *host, uint64_t bytes, int fd,
		    struct cs_err *err);

	/* Make the arena again, of memory that can be shared by descriptor, or (by_fd
	 * 0) of the usual memory.  No peer may have it mapped; its contents are lost.
	 * After an error there is no arena. */
	int (*rearena)(struct cs_dev *dev, uint64_t bytes, int by_fd,
		       struct cs_export *out, struct cs_err *err);

	/* Map a peer's arena. Tries the allowed transports, best first, without
	 * asking the driver whether they work; out->via is the one that worked.
	 * Touches no byte of the arena. */
	int (*import)(struct cs_dev *dev, const struct cs_export *peer,
		      struct cs_mapping *out, struct cs_err *err);
	void (*unimport)(struct cs_dev *dev, struct cs_mapping *mapping);

	/* Page-locked host memory for all devices of this process; NULL: the backend
	 * does not need it.  `address` is valid on this device. alloc() places memory
	 * by the caller's memory policy; register() page-locks memory that the caller
	 * still owns, or returns the address of either kind to a further user.  Each
	 * call, in any thread, needs a release() on the same device; the last one
	 * frees or unregisters. */
	int (*host_alloc)(struct cs_dev *dev, uint64_t bytes, int write_combined,
			  void **at, uint64_t *address, struct cs_err *err);
	int (*host_register)(struct cs_dev *dev, void *at, uint64_t bytes,
			     uint64_t *address, struct cs_err *err);
	void (*host_release)(struct cs_dev *dev, void *at);

	/* For own memory; finished on return.  GATED. */
	int (*fill)(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		    uint64_t key, struct cs_err *err);
	int (*poison)(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		      struct cs_err *err);
	/* Compare with the expected contents; `poison`: then poison everything from
	 * the first place to the end of the last. */
	int (*check)(struct cs_dev *dev, uint64_t address,
		     const struct cs_expected *pattern, int poison,
		     struct cs_check *out, struct cs_err *err);

	/* Only cuda; NULL elsewhere.  For own memory: build a chain (base/chain.h) in
	 * `bytes` at `address`, for an agent that sees its first node at `base`;
	 * random: in the order of `seed`, which is not 0.  GATED. */
	int (*chain)(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		     uint64_t base, int random, uint64_t seed, struct cs_err *err);

	/* Only cuda; NULL elsewhere.  Fill the device's cache with bytes that belong
	 * to neither arenas nor host memory; finished on return.  1: there is no
	 * memory for them. */
	int (*displace)(struct cs_dev *dev, struct cs_err *err);

	/* The i-th way to divide a copy by kernels into blocks and threads, best
	 * guess first; returns 0 if there are no more, and for copies that are not
	 * divided. */
	int (*geometry)(struct cs_dev *dev, const struct cs_copy *desc, uint32_t i,
			uint32_t *blocks, uint32_t *threads);
	/* Can this device make such a copy at all?  If not, arm() refuses it too, and
	 * that is no fault.  NULL: it can. */
	int (*can)(const struct cs_dev *dev, const struct cs_copy *desc,
		   struct cs_err *err);

	/* Only cuda; NULL elsewhere.  Allow the calling thread to use a lane of the
	 * device that no other thread uses.  GATED. */
	int (*enter)(struct cs_dev *dev, struct cs_err *err);

	/* Enqueue on `lane`: wait until *gate >= seq (cyclic), mark s, the copies,
	 * mark e.  `gate` points into the board.  Returns without waiting.  After an
	 * error the lane may hold a part of this, which runs when the gate opens and
	 * whose end poll() reports.  Kernels copy multiples of 16 bytes.  GATED. */
	int (*arm)(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		   const struct cs_copy *desc, struct cs_err *err);

	/* Enqueue on `lane`: wait for the gate, then store seq to *word, which is on
	 * the board: this shows when the device sees the gate open.  Errors as with
	 * arm(). GATED. */
	int (*arm_stamp)(struct cs_dev *dev, int lane, const uint32_t *gate,
			 uint32_t seq, uint32_t *word, struct cs_err *err);

	/* Has the work armed on `lane` ended?  1: yes, with its time in *ns; 0: not
	 * yet; -1: error, also if a read has not read the pattern, or a chase ended
	 * at a wrong node. *ns is e - s; 0 for a stamp.  By the kernel's clock are:
	 * CHASE: the mean time of one load over `copies` rounds, in which each
	 * multiprocessor in turn makes some of the loads alone, after all of the
	 * chain was read once, uncounted; FMA: the time of one operation; with a copy
	 * back: the time from this copy's beginning to its end. It does not block,
	 * except in the cpu backend, which makes the copy here: that returns 0 at
	 * least every 10 ms while the gate is closed.  GATED. */
	int (*poll)(struct cs_dev *dev, int lane, double *ns, struct cs_err *err);

	/* Only cuda; NULL elsewhere.  e - s in nanoseconds of the work whose end
	 * poll() reported last, also for a CHASE.  GATED. */
	double (*lasted)(const struct cs_dev *dev, int lane);
	/* The time of its copy back, by the kernel's clock. */
	double (*lasted_back)(const struct cs_dev *dev, int lane);
	/* For a PACK or an UNPACK: the time of each of its stages in the last copy;
	 * the stages of the other side are not changed. */
	int (*stages)(struct cs_dev *dev, int lane, double ns[CS_STAGES],
		      struct cs_err *err);

	/* Enqueue about `ms` milliseconds of memory traffic in the agent's own
	 * destination buffer, so that link and clocks can be read under load;
	 * idle() waits for its end.  No gate may be closed. */
	int (*load)(struct cs_dev *dev, uint64_t address, uint64_t bytes, int ms,
		    struct cs_err *err);
	int (*idle)(struct cs_dev *dev, struct cs_err *err);

	/* Is the last error of this device sticky, so that the process cannot use
	 * CUDA any more?  (220, 226, 700, 702, 716-719 …) */
	int (*broken)(const struct cs_dev *dev);

	/* Free all that open(), board() and arena() made.  All importers of this
	 * arena must have called unimport() before. */
	void (*close)(struct cs_dev *dev);

	const struct cs_backend_costs *costs; /* NULL: no driver */
	const struct cs_backend_um *um;	      /* NULL: no such memory */
	const struct cs_backend_calls *calls; /* NULL: no driver */
};

/* NULL when the program was built without CUDA. */
extern const struct cs_backend *const cs_backend_cuda;
extern const struct cs_backend cs_backend_cpu;
