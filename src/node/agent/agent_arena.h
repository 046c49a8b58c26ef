/* agent_arena.h - the arena of an agent, its ring, and the arenas of peers that it
 * maps. */
#ifndef CS_NODE_AGENT_AGENT_ARENA_H
#define CS_NODE_AGENT_AGENT_ARENA_H

#include "node/agent/endpoints.h"
#include "system/system.h"

struct cs_agent_arena {
	struct cs_hostmem host; /* cpu backend's arena; cuda: the ring */
	struct cs_mapping map[CS_MAX_AGENTS];
};

/* Execute a command, as slot->flags say.  0, or -1 with the slot's error set. */
int cs_agent_arena_make(struct cs_agent_arena *arena, struct cs_endpoints *ends);
/* A peer that refuses is a fact about the pair, not a failure of the agent. */
int cs_agent_arena_map(struct cs_agent_arena *arena, struct cs_endpoints *ends);
void cs_agent_arena_unmap(struct cs_agent_arena *arena, struct cs_endpoints *ends);

#endif
