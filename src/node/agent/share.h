/* share.h - what the workers of one transfer between NUMA nodes do to memory.  Each
 * has one contiguous share, as the threads of STREAM have. */
#ifndef CS_NODE_AGENT_SHARE_H
#define CS_NODE_AGENT_SHARE_H

#include "backend/backend.h"
#include "plan/plan.h"

#define CS_SHARE_GRAIN ((uint64_t)4096) /* whole pages, except the last */

struct cs_share {
	char *dst;
	const char *src, *also; /* also: the other source of a triad */
	uint64_t bytes;		/* of each of these */
	uint32_t copies;
	uint64_t value; /* what is written */
	uint64_t *sum;	/* of what is read */
};

/* Bytes of each array that they share. */
uint64_t cs_share_whole(const struct cs_transfer *t);
/* The share of the i-th of n workers; the words that it reads are added to *sum. */
struct cs_share cs_share_of(const struct cs_transfer *t, const struct cs_copy *desc,
			    int i, int n, uint64_t *sum);
/* The function that works on a share, for cs_work. */
int (*cs_share_run(const struct cs_transfer *t))(void *share, struct cs_err *err);

#endif
