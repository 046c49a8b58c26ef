/* agent_reading.h - what an agent reads of its GPU by NVML, and of its own
 * process. */
#ifndef CS_NODE_AGENT_AGENT_READING_H
#define CS_NODE_AGENT_AGENT_READING_H

#include "node/agent/memory.h"
#include "node/agent/starter.h"
#include "system/system.h"

struct cs_agent_reading {
	struct cs_starter *starter; /* for NVML; may be NULL */
	double nvml_end_s;	    /* by cs_clock_s(): the end of waiting for NVML */
	struct cs_nvml_gpu *nvml;   /* NULL: none, or not yet */
	struct cs_usage before;	    /* at the first reading */
};

/* Execute READ_STATE, as slot->flags say.  0, or -1 with the slot's error set. */
int cs_agent_reading_read(struct cs_agent_reading *state, struct cs_endpoints *ends);
/* Add the throttle reasons of now to slot->throttle. */
void cs_agent_reading_throttle(const struct cs_agent_reading *state,
			       struct cs_slot *slot);
void cs_agent_reading_release(struct cs_agent_reading *state);

#endif
