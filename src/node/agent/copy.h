/* copy.h - what an agent enqueues for a transfer, and what that leaves in memory. */
#ifndef CS_NODE_AGENT_COPY_H
#define CS_NODE_AGENT_COPY_H

#include "node/agent/memory.h"

/* Does the agent enqueue anything for it? */
int cs_copy_is_mine(const struct cs_endpoints *ends, const struct cs_transfer *t);
/* What it enqueues, with `copies` copies; `uncounted`: the sample does not count. */
struct cs_copy cs_copy_of(const struct cs_endpoints *ends,
			  const struct cs_transfer *t, uint32_t copies, int uncounted);
/* The kind of copy, which depends on the transport to the other end. */
uint32_t cs_copy_kind(const struct cs_endpoints *ends, const struct cs_transfer *t);
/* The seed of a chain's order; 0: one node after the other. */
uint64_t cs_copy_chain_seed(const struct cs_endpoints *ends,
			    const struct cs_transfer *t);
/* What the last sample left of the step's k-th transfer. */
struct cs_left cs_copy_left(const struct cs_endpoints *ends, uint32_t k);

#endif
