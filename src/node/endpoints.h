/* endpoints.h - the ends of a step's transfers, whatever memory they lie in: what an agent
 * prepares, and what it checks. */
#ifndef CS_NODE_ENDS_H
#define CS_NODE_ENDS_H

#include "node/memory.h"

/* For the agent's life: what its transfers need. */
int cs_endpoints_open(struct cs_endpoints *ends);
void cs_endpoints_close(struct cs_endpoints *ends);
/* The sources of the agent's own arena. */
int cs_endpoints_source(struct cs_endpoints *ends);

/* Before the samples of slot->step: destinations poisoned (unless `unchecked`),
 * chains built.  slot->refused and an error where an end cannot be had. */
int cs_endpoints_prepare(struct cs_endpoints *ends, int unchecked);
/* Behind the last, or of a cell that failed: what `prepare` made for it alone. */
void cs_endpoints_release(struct cs_endpoints *ends);
/* Before each sample, where its step wants it: memory that moves is brought to where it
 * begins; and when that of all agents is there. */
int cs_endpoints_home(struct cs_endpoints *ends);
int cs_endpoints_settle(struct cs_endpoints *ends);
/* Behind sample `seq`: did what should move?  With `checked` its bytes are compared. */
int cs_endpoints_judge(struct cs_endpoints *ends, uint32_t seq, int checked);

/* Memory of an end of the step's k-th transfer that is the agent's and that CPUs see, and
 * the key of the pattern in a source; bytes 0: there is none. */
struct cs_endpoints_memory {
	void *at;
	uint64_t bytes, key;
};
struct cs_endpoints_memory cs_endpoints_memory(const struct cs_endpoints *ends,
					       uint32_t k, int is_dst);
struct cs_tiles cs_endpoints_tiles(const struct cs_endpoints *ends,
				   const struct cs_transfer *t);

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
