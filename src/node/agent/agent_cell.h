/* agent_cell.h - an agent's part of a cell: what it prepares, enqueues behind the
 * gate, waits for and checks.  Each function executes the command in its slot, and
 * returns 0, or -1 with the slot's error set. */
#ifndef CS_NODE_AGENT_AGENT_CELL_H
#define CS_NODE_AGENT_AGENT_CELL_H

#include "node/agent/batch.h"
#include "node/agent/cpu_transfer.h"
#include "node/agent/endpoints.h"
#include "system/flush.h"

struct cs_agent_cell {
	struct cs_cpu_transfers cpu;
	const struct cs_flush_way *flush; /* ways to flush caches; NULL: the machine's */
	struct cs_host_calls host_calls;
	uint32_t filled_seq; /* the sample that wrote this agent's destination; 0 none */
};

int cs_agent_cell_prepare(struct cs_agent_cell *cell, struct cs_endpoints *ends);
int cs_agent_cell_reset(struct cs_agent_cell *cell, struct cs_endpoints *ends);
int cs_agent_cell_arm(struct cs_agent_cell *cell, struct cs_endpoints *ends);
int cs_agent_cell_probe(struct cs_agent_cell *cell, struct cs_endpoints *ends);
int cs_agent_cell_check(struct cs_agent_cell *cell, struct cs_endpoints *ends);
/* Record when its stream sees the gate open. */
int cs_agent_cell_stamp(struct cs_endpoints *ends);

#endif
