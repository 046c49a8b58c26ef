/* memory.h - the memory that the ends of transfers lie in, as one agent sees it: one file
 * a kind, and what each of them does for a transfer.
 *
 * Device memory is in the arenas, the agent's own and those of peers that it has mapped
 * (memory_device.c).  Host memory is the process's, for agents of other processes have
 * buffers of their own (memory_host.c).  A range of managed memory is both ends of its
 * transfer, and is moved from the one to the other (memory_managed.c); memory as malloc
 * gives it is the same where a GPU may use it (memory_system.c).  A further kind is
 * a file, and a line of cs_memory_of() and of cs_memory_kinds. */
#ifndef CS_NODE_MEMORY_H
#define CS_NODE_MEMORY_H

#include "base/vec.h"
#include "node/board.h"

struct cs_endpoints;

/* Where ranges come from whose pages move.  can(): -1 with the slot's error, why there are
 * none of that kind here. */
struct cs_range_kind {
	int (*can)(struct cs_endpoints *e);
	int (*make)(struct cs_endpoints *e, uint64_t bytes, uint64_t *at);
	void (*free)(struct cs_endpoints *e, uint64_t at, uint64_t bytes);
};
extern const struct cs_range_kind cs_range_system; /* memory_system.c */

/* Managed memory of one transfer, or memory as malloc gives it. */
struct cs_range {
	const struct cs_range_kind *kind;
	uint32_t k; /* of the step */
	uint64_t at, bytes;
	struct cs_touched pattern; /* what is in it */
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
	int uncounted;			 /* it does not count */
	struct cs_vec host;		 /* memory_host.c's buffers */
	struct cs_range range[CS_LANES]; /* memory_managed.c's */
	int n_ranges;
};

/* Buffers of host memory from which tiles come and to which they go back, as the agent's
 * device sees them; what lies in the first; and how many kernels work on each. */
struct cs_tiles {
	uint64_t src, dst, key;
	void *dst_at; /* as CPUs see it */
	uint32_t kernels;
	/* managed memory: both are one range, whose pages go to and fro */
	int managed;
	struct cs_um_place gpu, home;
};

/* What a sample left at a destination. */
struct cs_left {
	struct cs_expected bytes;
	uint64_t offset; /* from where the transfer's destination begins */
	int whole;	 /* all of its copies */
};

/* What is NULL is not needed, or not to be had, in memory of that kind.  0 or -1 with
 * the slot's error; slot->refused with it where the cell cannot be had at all. */
struct cs_memory_kind {
	/* For the agent's life: what its transfers of this plan need.  What is not to be
	 * had is no error: its cells are refused. */
	int (*open)(struct cs_endpoints *e);
	void (*close)(struct cs_endpoints *e);
	/* Are sources as they were filled?  Into slot->check[0]. */
	int (*source)(struct cs_endpoints *e);
	/* For a cell, whatever kind its ends are of; `end` may come without `begin`. */
	int (*begin)(struct cs_endpoints *e);
	void (*end)(struct cs_endpoints *e);
	/* Between samples: was sample `seq` as it should be?  Then back to where samples
	 * begin; and once all agents are so far, what the last of it asks for. */
	int (*judge)(struct cs_endpoints *e, uint32_t seq, int checked);
	int (*home)(struct cs_endpoints *e);
	int (*settle)(struct cs_endpoints *e);

	/* Of a transfer whose source or destination lies in it: its address as the
	 * issuer's device sees it (`offset` behind where the destination begins), as
	 * CPUs see what is the agent's own, the pattern of a source. */
	uint64_t (*address)(const struct cs_endpoints *e, const struct cs_transfer *t,
			    int is_dst, uint64_t offset);
	void *(*cpu_address)(const struct cs_endpoints *e,
			     const struct cs_transfer *t, int is_dst);
	uint64_t (*key)(const struct cs_endpoints *e, const struct cs_transfer *t);
	/* Room for places of copies of their own (places.h). */
	uint64_t (*room)(const struct cs_endpoints *e, const struct cs_transfer *t);
	/* Wherever a sample may write. */
	int (*poison)(struct cs_endpoints *e, const struct cs_transfer *t);
	/* The chain that an issuer will follow, as that sees it. */
	int (*chain)(struct cs_endpoints *e, const struct cs_transfer *t,
		     uint64_t seed);
	/* Is it left so?  In between (not `last`) a part may do, and all is poisoned
	 * again. */
	int (*check)(struct cs_endpoints *e, uint32_t k, const struct cs_left *left,
		     int last);
	/* What a transfer enqueues, and its tiles, where both ends are one. */
	struct cs_copy (*copy)(const struct cs_endpoints *e,
			       const struct cs_transfer *t);
	struct cs_tiles (*tiles)(const struct cs_endpoints *e,
				 const struct cs_transfer *t);
};

extern const struct cs_memory_kind cs_memory_device, cs_memory_host, cs_memory_managed;
/* All, in the order in which they are opened; NULL behind the last. */
extern const struct cs_memory_kind *const cs_memory_kinds[];
/* The one that an end of the transfer lies in. */
const struct cs_memory_kind *cs_memory_of(const struct cs_transfer *t, int is_dst);

/* The step's k-th transfer. */
static inline const struct cs_transfer *
cs_endpoints_transfer(const struct cs_endpoints *e, uint32_t k)
{
	return cs_plan_transfer(e->plan, &e->slot->step, k);
}

#endif
