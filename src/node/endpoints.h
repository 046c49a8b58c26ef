/* endpoints.h - where the ends of a step's transfers lie as one agent sees them: what it
 * enqueues, what it prepares, and what it checks.
 *
 * Device memory is in the arenas, the agent's own and those of peers that it has
 * mapped.  Host memory is the process's (hostbuf.h), for agents of other processes
 * have buffers of their own. */
#ifndef CS_NODE_ENDS_H
#define CS_NODE_ENDS_H

#include "base/vec.h"
#include "node/board.h"

/* Managed memory of one transfer. */
struct cs_range {
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
	struct cs_vec host;		 /* struct host_place */
	struct cs_range range[CS_LANES]; /* managed.h */
	int n_ranges;
};

void cs_endpoints_init(struct cs_endpoints *ends);
/* The host buffers that the agent's transfers need.  One that cannot be had is no
 * error: its cells are refused. */
int cs_endpoints_host(struct cs_endpoints *ends);
void cs_endpoints_release(struct cs_endpoints *ends);

/* The sources of the agent's own arena. */
int cs_endpoints_fill(struct cs_endpoints *ends);
int cs_endpoints_source(struct cs_endpoints *ends);

/* Does the agent enqueue anything for it? */
int cs_endpoints_is_mine(const struct cs_endpoints *ends, const struct cs_transfer *t);
/* What that is, `copies` of it; of a sample that does not count, or one that does. */
struct cs_copy cs_endpoints_copy(const struct cs_endpoints *ends,
				 const struct cs_transfer *t, uint32_t copies,
				 int uncounted);

/* Before the samples of slot->step: destinations poisoned (unless `unchecked`),
 * chains built.  slot->refused and an error where an end cannot be had. */
int cs_endpoints_prepare(struct cs_endpoints *ends, int unchecked);
/* Memory of an end of the step's k-th transfer that is the agent's and that CPUs see, and
 * the key of the pattern in a source; bytes 0: there is none. */
struct cs_endpoints_memory {
	void *at;
	uint64_t bytes, key;
};
struct cs_endpoints_memory cs_endpoints_memory(const struct cs_endpoints *ends,
					       uint32_t k, int is_dst);
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
struct cs_tiles cs_endpoints_tiles(const struct cs_endpoints *ends,
				   const struct cs_transfer *t);
/* The step's k-th transfer. */
const struct cs_transfer *cs_endpoints_transfer(const struct cs_endpoints *ends,
						uint32_t k);

/* What the last sample wrote (`copies` of it), into slot->check and checked.  In between (not `last`)
 * loads are left out, of host memory a part is looked at, and all is poisoned
 * again. */
int cs_endpoints_check(struct cs_endpoints *ends, int last);
/* The same of one transfer's bytes at an address of the agent's own. */
int cs_endpoints_check_at(struct cs_endpoints *ends, uint32_t k, uint64_t address);
/* Transfer k has been carried out: what a kernel only reads was right, by its sum, and
 * counts as checked. */
void cs_endpoints_read(struct cs_endpoints *ends, uint32_t k);

#endif
