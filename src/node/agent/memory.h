/* memory.h - the kinds of memory at the ends of transfers, as one agent sees them,
 * and the functions that each kind has.  Each kind is one file.
 *
 * Device memory is in the arenas: the agent's own, and those of peers that it has
 * mapped (memory_device.c).  Host memory belongs to the process; agents of other
 * processes have their own buffers (memory_host.c).  A range of managed memory is
 * both ends of its transfer: its pages move from one to the other (memory_managed.c).
 * Memory of malloc works in the same way if a GPU may use it (memory_system.c).  A
 * further kind is a file, and a line of cs_memory_of() and of cs_memory_kinds. */
#pragma once

#include "base/vec.h"
#include "node/board/board.h"

struct cs_endpoints;

/* Allocates ranges whose pages move.  can(): 0, or -1 with the slot's error if this
 * kind is not available. */
struct cs_range_kind {
	int (*can)(struct cs_endpoints *e);
	int (*make)(struct cs_endpoints *e, uint64_t bytes, uint64_t *at);
	void (*free)(struct cs_endpoints *e, uint64_t at, uint64_t bytes);
};
extern const struct cs_range_kind cs_range_system; /* memory_system.c */

/* Managed memory of one transfer, or memory of malloc. */
struct cs_range {
	const struct cs_range_kind *kind;
	uint32_t k; /* of the step */
	uint64_t at, bytes;
	struct cs_touched pattern; /* its contents */
	int counted; /* the driver's moves of its pages are being counted */
	int owed;    /* its contents are still to be checked, back at the source */
};

struct cs_endpoints {
	const struct cs_backend *backend;
	struct cs_dev *dev;
	struct cs_board *board;
	const struct cs_plan *plan;
	struct cs_slot *slot;	      /* the agent's */
	const struct cs_mapping *map; /* of peers, by agent */
	int me;
	uint32_t copies[CS_STEP_MAX];	 /* of the last sample, by transfer */
	int uncounted;			 /* the last sample does not count */
	struct cs_vec host;		 /* memory_host.c's buffers */
	struct cs_range range[CS_LANES]; /* memory_managed.c's */
	int n_ranges;
};

/* The host buffers from which tiles come and to which they go back, as the agent's
 * device sees them; the key of the pattern in the first; the number of kernels for
 * each tile. */
struct cs_tiles {
	uint64_t src, dst, key;
	void *dst_at; /* as CPUs see it */
	uint32_t kernels;
	uint64_t bytes; /* of a tile; 0: of a 16th */
	/* managed memory: both are one range, whose pages move back and forth */
	int managed;
	struct cs_um_place gpu, home;
};

/* The contents of a destination after a sample. */
struct cs_left {
	struct cs_expected bytes;
	uint64_t offset; /* from where the transfer's destination begins */
	int whole;	 /* all of its copies */
};

/* NULL members are not needed, or not possible, for memory of that kind.  Functions
 * return 0, or -1 with the slot's error; also slot->refused if the cell is impossible
 * here. */
struct cs_memory_kind {
	/* For the whole life of the agent: what its transfers of this plan need.  If
	 * something is not available that is no error: its cells are refused. */
	int (*open)(struct cs_endpoints *e);
	void (*close)(struct cs_endpoints *e);
	/* Are sources unchanged?  The result is in slot->check[0]. */
	int (*source)(struct cs_endpoints *e);
	/* For each cell, of any kind; `end` may be called without `begin`. */
	int (*begin)(struct cs_endpoints *e);
	void (*end)(struct cs_endpoints *e);
	/* Between samples: judge() checks sample `seq`, reset() restores the state in
	 * which samples begin, settle() follows when all agents have done that. */
	int (*judge)(struct cs_endpoints *e, uint32_t seq, int checked);
	int (*reset)(struct cs_endpoints *e);
	int (*settle)(struct cs_endpoints *e);
	/* Count what the driver does to its pages in the sample that follows, or (not
	 * `on`) end that; what cannot be counted is in slot->uncounted. */
	void (*count)(struct cs_endpoints *e, int on);

	/* For a transfer whose source or destination is in this memory: its address
	 * as the issuer's device sees it (plus `offset`, for a destination), the
	 * agent's own memory as CPUs see it, and the key of a source's pattern. */
	uint64_t (*address)(const struct cs_endpoints *e, const struct cs_transfer *t,
			    int is_dst, uint64_t offset);
	void *(*cpu_address)(const struct cs_endpoints *e,
			     const struct cs_transfer *t, int is_dst);
	uint64_t (*key)(const struct cs_endpoints *e, const struct cs_transfer *t);
	/* Bytes for separate places of copies (copy_offsets.h). */
	uint64_t (*room)(const struct cs_endpoints *e, const struct cs_transfer *t);
	/* Poison all that a sample may write. */
	int (*poison)(struct cs_endpoints *e, const struct cs_transfer *t);
	/* Build the chain that an issuer will follow, with the issuer's addresses. */
	int (*chain)(struct cs_endpoints *e, const struct cs_transfer *t,
		     uint64_t seed);
	/* Compare the destination with `left`.  Between samples (not `last`) a part
	 * is enough, and all is poisoned again. */
	int (*check)(struct cs_endpoints *e, uint32_t k, const struct cs_left *left,
		     int last);
	/* The copy of a transfer, and its tiles, if both ends are one range. */
	struct cs_copy (*copy)(const struct cs_endpoints *e,
			       const struct cs_transfer *t);
	struct cs_tiles (*tiles)(const struct cs_endpoints *e,
				 const struct cs_transfer *t);
};

extern const struct cs_memory_kind cs_memory_device, cs_memory_host, cs_memory_managed;
/* All, in the order in which they are opened; NULL after the last. */
extern const struct cs_memory_kind *const cs_memory_kinds[];
/* The kind of memory at one end of the transfer. */
const struct cs_memory_kind *cs_memory_of(const struct cs_transfer *t, int is_dst);

/* The step's k-th transfer. */
static inline const struct cs_transfer *
cs_endpoints_transfer(const struct cs_endpoints *e, uint32_t k)
{
	return cs_plan_transfer(e->plan, &e->slot->step, k);
}
