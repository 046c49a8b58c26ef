/* crossed.h - what the links of an agent's GPU count while pages move in the first sample of
 * a cell: evidence beside residency for where they lay.
 *
 * The passes that prove residency read as well, and over a link what is not there: so the
 * counters are read around the sample alone.  They are believed where they have counted the
 * pages' way home just before. */
#ifndef CS_NODE_CROSSED_H
#define CS_NODE_CROSSED_H

#include "node/memory.h"
#include "place/place.h"

struct cs_crossed {
	int stage; /* of the cell's first sample */
	int mute;  /* no counter of this GPU says anything */
	struct cs_traffic start, home, end;
};

/* In the order of a cell; `nvml` NULL: nothing is known.  The last one: -1 with the slot's
 * error where fewer bytes have come than pages should have moved. */
void cs_crossed_prepare(struct cs_crossed *c);
void cs_crossed_leave(struct cs_crossed *c, struct cs_nvml_gpu *nvml,
		      const struct cs_endpoints *e);
void cs_crossed_home(struct cs_crossed *c, struct cs_nvml_gpu *nvml);
void cs_crossed_arm(struct cs_crossed *c);
int cs_crossed_judge(struct cs_crossed *c, struct cs_nvml_gpu *nvml,
		     struct cs_endpoints *e);

#endif
