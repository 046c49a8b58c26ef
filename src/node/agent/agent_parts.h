/* agent_parts.h - the parts of an agent, for agent.c.  Functions that return int execute
 * the command in the slot, and return 0, or -1 with the slot's error set. */
#pragma once

#include <pthread.h>

#include "node/agent/cost.h"
#include "node/agent/cpu_transfer.h"
#include "node/agent/endpoints.h"
#include "node/agent/memory.h"
#include "node/agent/starter.h"
#include "system/flush.h"
#include "system/system.h"

/* ---- its arena, its ring, and the arenas of peers that it maps ---- */

struct cs_agent_arena {
	struct cs_hostmem host; /* cpu backend's arena; cuda: the ring */
	struct cs_mapping map[CS_MAX_AGENTS];
};

int cs_agent_arena_make(struct cs_agent_arena *arena, struct cs_endpoints *ends);
/* A peer that refuses is a fact about the pair, not a failure of the agent. */
int cs_agent_arena_map(struct cs_agent_arena *arena, struct cs_endpoints *ends);
void cs_agent_arena_unmap(struct cs_agent_arena *arena, struct cs_endpoints *ends);

/* ---- readings of its GPU by NVML, and of its own process ---- */

struct cs_agent_reading {
	struct cs_starter *starter; /* for NVML; may be NULL */
	double nvml_end_s;	    /* by cs_clock_s(): the end of waiting for NVML */
	struct cs_nvml_gpu *nvml;   /* NULL: none, or not yet */
	struct cs_usage before;	    /* at the first reading */
	/* counts the errors of NVLinks before the run, while the first cells are measured */
	pthread_t counter;
	int counts;
	_Atomic int has_counted; /* the counter has ended */
	int patience_ms;	 /* how long cells may still wait for it */
	struct cs_conditions counted;
};

int cs_agent_reading_read(struct cs_agent_reading *state, struct cs_endpoints *ends);
/* Of a GPU that is broken: its Xids, all that can still be known of its state. */
void cs_agent_reading_broken(const struct cs_agent_reading *state,
			     struct cs_agent_facts *facts);
/* The GPU for NVML while cells run; NULL: none, or its errors are still being counted.
 * NVML takes one call at a time, and no cell waits for one that does not return. */
struct cs_nvml_gpu *cs_agent_reading_gpu(struct cs_agent_reading *state);
/* Add the throttle reasons of now to slot->throttle. */
void cs_agent_reading_throttle(struct cs_agent_reading *state, struct cs_slot *slot);
void cs_agent_reading_release(struct cs_agent_reading *state);

/* ---- messages between nodes ---- */

struct cs_agent_net {
	void *rings;			 /* here; NULL: none */
	uint64_t rings_at;		 /* for the device */
	uint64_t bytes[CS_NET_MEMORIES]; /* of a window; 0: there is none */
};

/* Execute slot->net. */
int cs_agent_net(struct cs_agent_net *net, struct cs_endpoints *ends);

/* ---- link counters ---- */

/* The bytes that a GPU's links count while pages move in the first sample of a cell are
 * evidence, besides residency, of where the pages were.
 *
 * The passes that prove residency also read memory, over a link if it is remote.  So
 * the counters are read only around the sample.  They are trusted if they have just
 * counted the pages on their way back. */

struct cs_link_counters {
	int stage; /* of the cell's first sample */
	int mute;  /* this GPU has no working counter */
	struct cs_traffic start, reset, end;
};

/* Called in this order in a cell, before_reset and after_reset around the RESET of its
 * first sample; `nvml` NULL: nothing is known.  The last one fails if fewer bytes were counted than the
 * pages should have moved. */
void cs_link_counters_begin(struct cs_link_counters *c);
void cs_link_counters_before_reset(struct cs_link_counters *c,
				   struct cs_nvml_gpu *nvml,
				   const struct cs_endpoints *e);
void cs_link_counters_after_reset(struct cs_link_counters *c,
				  struct cs_nvml_gpu *nvml);
void cs_link_counters_arm(struct cs_link_counters *c);
int cs_link_counters_judge(struct cs_link_counters *c, struct cs_nvml_gpu *nvml,
			   struct cs_endpoints *e);

/* ---- reset buffers ---- */

/* Before a sample, bring the agent's host memory and the caches of its GPU into the
 * state that the variants of its transfers need.  All gates of the process are open, so
 * calls may block; only arming happens between this and the gate.  Warm: CPUs of the
 * working NUMA node write the memory once more.  Cold: all host memory is flushed by one
 * of `ways`, with proof on the node of the agent's CPUs, and the GPU's cache is filled
 * with other bytes.  slot->side records that. */
int cs_reset_buffers(struct cs_endpoints *ends, struct cs_cpu_transfers *cpu,
		     const struct cs_flush_way *ways);

/* ---- a cell: the agent prepares, enqueues after the gate, waits, checks ---- */

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
/* Record when its stream passes the gate. */
int cs_agent_cell_stamp(struct cs_endpoints *ends);
