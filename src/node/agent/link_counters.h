/* link_counters.h - the bytes that a GPU's links count while pages move in the first
 * sample of a cell: evidence, besides residency, of where the pages were.
 *
 * The passes that prove residency also read memory, over a link if it is remote.  So
 * the counters are read only around the sample.  They are trusted if they have just
 * counted the pages on their way back. */
#ifndef CS_NODE_AGENT_LINK_COUNTERS_H
#define CS_NODE_AGENT_LINK_COUNTERS_H

#include "node/agent/memory.h"
#include "system/system.h"

struct cs_link_counters {
	int stage; /* of the cell's first sample */
	int mute;  /* this GPU has no working counter */
	struct cs_traffic start, reset, end;
};

/* Called in this order in a cell, before_reset and after_reset around the RESET of its
 * first sample; `nvml` NULL: nothing is known.  The last one
 * returns -1 with the slot's error if fewer bytes were counted than the pages should
 * have moved. */
void cs_link_counters_begin(struct cs_link_counters *c);
void cs_link_counters_before_reset(struct cs_link_counters *c,
				   struct cs_nvml_gpu *nvml,
				   const struct cs_endpoints *e);
void cs_link_counters_after_reset(struct cs_link_counters *c,
				  struct cs_nvml_gpu *nvml);
void cs_link_counters_arm(struct cs_link_counters *c);
int cs_link_counters_judge(struct cs_link_counters *c, struct cs_nvml_gpu *nvml,
			   struct cs_endpoints *e);

#endif
