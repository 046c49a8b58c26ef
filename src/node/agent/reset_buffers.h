/* reset_buffers.h - before a sample: brings memory and caches into the state that
 * the variants of its transfers need.
 *
 * All gates of the process are open, so calls may block; only arming happens between
 * this and the gate.  Transfers without a variant do not need it. */
#ifndef CS_NODE_AGENT_RESET_BUFFERS_H
#define CS_NODE_AGENT_RESET_BUFFERS_H

#include "node/agent/cpu_transfer.h"
#include "node/agent/endpoints.h"
#include "system/flush.h"

/* Prepare the agent's part of the step: its host memory and its GPU.  Warm: CPUs of
 * the working NUMA node write the memory once more.  Cold: all host memory is flushed
 * by one of `ways`, with proof on the node of the agent's CPUs, and the GPU's cache
 * is filled with other bytes.  slot->side says what was done. */
int cs_reset_buffers(struct cs_endpoints *ends, struct cs_cpu_transfers *cpu,
		     const struct cs_flush_way *ways);

#endif
