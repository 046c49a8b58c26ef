/* copy.h - what an agent enqueues for a transfer, and so what that leaves. */
#ifndef CS_NODE_COPY_H
#define CS_NODE_COPY_H

#include "node/memory.h"

/* Does the agent enqueue anything for it? */
int cs_copy_is_mine(const struct cs_endpoints *ends, const struct cs_transfer *t);
/* What that is, `copies` of it; of a sample that does not count, or one that does. */
struct cs_copy cs_copy_of(const struct cs_endpoints *ends,
			  const struct cs_transfer *t, uint32_t copies, int uncounted);
/* Its kind: by the way that there is to the other end. */
uint32_t cs_copy_kind(const struct cs_endpoints *ends, const struct cs_transfer *t);
/* Of the order of a chain; 0: one node after the other. */
uint64_t cs_copy_chain_seed(const struct cs_endpoints *ends,
			    const struct cs_transfer *t);
/* What the last sample left of the step's k-th transfer. */
struct cs_left cs_copy_left(const struct cs_endpoints *ends, uint32_t k);

#endif
