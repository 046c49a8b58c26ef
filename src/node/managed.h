/* managed.h - managed memory of a step: ranges, each of one transfer and its issuer, that
 * have two places, the transfer's source and its destination.
 *
 * A range lives as long as its cell.  Before each sample its pages are brought to the
 * source, by a prefetch and never by touching, and after it they are looked for at the
 * destination: the kernel says which are in host memory, and a GPU's own is what its pass
 * reads as fast.  A sample whose pages were not where they should have been fails, and
 * slot->not_moved says so. */
#ifndef CS_NODE_MANAGED_H
#define CS_NODE_MANAGED_H

#include "node/endpoints.h"

/* PREPARE: the ranges that the agent issues, filled; none where more than is allowed would
 * come to its GPU. */
int cs_managed_make(struct cs_endpoints *ends);
/* What its transfer enqueues. */
struct cs_copy cs_managed_copy(const struct cs_endpoints *ends,
			       const struct cs_transfer *t);
/* Tiles of the range of a transfer. */
struct cs_tiles cs_managed_tiles(const struct cs_endpoints *ends,
				 const struct cs_transfer *t);
/* Behind sample `seq`: are all pages there?  With `checked` all bytes are compared. */
int cs_managed_judge(struct cs_endpoints *ends, uint32_t seq, int checked);
/* To their sources, and are they there? */
int cs_managed_home(struct cs_endpoints *ends);
/* The advice of their variants, behind all proofs; at home nothing of it holds. */
int cs_managed_advise(struct cs_endpoints *ends);
/* The same question of ranges of others of this process, which lie on the agent's GPU. */
int cs_managed_prove(struct cs_endpoints *ends);
/* Faults of a transfer that chases them. */
uint64_t cs_managed_faults(const struct cs_transfer *t);
/* Nothing moves: no ranges. */
void cs_managed_release(struct cs_endpoints *ends);

#endif
