/* endpoints.h - the two ends of a step's transfers, in any kind of memory: how an
 * agent prepares and checks them. */
#pragma once

#include "node/agent/memory.h"

/* For the whole life of the agent: open what its transfers need. */
int cs_endpoints_open(struct cs_endpoints *ends);
void cs_endpoints_close(struct cs_endpoints *ends);
/* Check the sources in the agent's own arena. */
int cs_endpoints_source(struct cs_endpoints *ends);

/* Before the samples of slot->step: poison destinations (unless `unchecked`), build
 * chains.  Sets slot->refused and an error if an end is not available. */
int cs_endpoints_prepare(struct cs_endpoints *ends, int unchecked);
/* After the last sample, or a failure: free what `prepare` made for this cell. */
void cs_endpoints_release(struct cs_endpoints *ends);
/* Before each sample, if its step needs it: bring movable memory to its starting
 * place. The second function follows when all agents have done that. */
int cs_endpoints_reset(struct cs_endpoints *ends);
int cs_endpoints_settle(struct cs_endpoints *ends);
/* Count what the driver does to managed memory, until the second call. */
void cs_endpoints_count(struct cs_endpoints *ends, int on);
/* After sample `seq`: did the pages move as they should?  `checked`: compare the
 * bytes. */
int cs_endpoints_judge(struct cs_endpoints *ends, uint32_t seq, int checked);

/* The agent's own, CPU-visible memory at an end of the step's k-th transfer, and the
 * key of the pattern in a source; bytes 0: there is none. */
struct cs_endpoints_memory {
	void *at;
	uint64_t bytes, key;
};
struct cs_endpoints_memory cs_endpoints_memory(const struct cs_endpoints *ends,
					       uint32_t k, int is_dst);
struct cs_tiles cs_endpoints_tiles(const struct cs_endpoints *ends,
				   const struct cs_transfer *t);

/* Check the data that the last sample wrote; results go to slot->check and checked.
 * Between samples (not `last`) loads are skipped, only a part of host memory is checked,
 * and all is poisoned again. */
int cs_endpoints_check(struct cs_endpoints *ends, int last);
/* The same for one transfer's bytes at an address of the agent. */
int cs_endpoints_check_at(struct cs_endpoints *ends, uint32_t k, uint64_t address);
/* Transfer k is done.  If its kernel only reads, its sum was right: count it as
 * checked. */
void cs_endpoints_read(struct cs_endpoints *ends, uint32_t k);
