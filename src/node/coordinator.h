/* coordinator.h - carries out a plan on one node, through its board.
 *
 * Runs in the main thread of the node's lowest rank.  It alone waits, always
 * with a deadline; between slices of 50 ms it looks at the processes of its
 * agents and asks `watch` whether to go on.
 *
 * Faults: an agent whose call failed stays (FAILED: its cell has no figure); one
 * that is broken or silent ends the measuring on this node, as does a process
 * that died (LOST).  What was measured has left through `row` before. */
#ifndef CS_NODE_COORDINATOR_H
#define CS_NODE_COORDINATOR_H

#include "node/coordinator_state.h"
#include "result/run.h"

void cs_coordinator_init(struct cs_coordinator *co, struct cs_board *board,
			 uint32_t node, const struct cs_coordinator_hooks *hooks);

/* OPEN: contexts.  Afterwards the slots' facts are filled. */
void cs_coordinator_open(struct cs_coordinator *co);
/* ARENA, MAP and the first LOOK. */
void cs_coordinator_setup(struct cs_coordinator *co);
/* Give the devices back for a while, and take them again: for placements that cannot
 * hold them at the same time. */
void cs_coordinator_rest(struct cs_coordinator *co);
void cs_coordinator_resume(struct cs_coordinator *co);
/* The ways that a step needs, where others are open: what is staged has no peer access. */
void cs_coordinator_ways(struct cs_coordinator *co, const struct cs_step *step);
/* How the gate's release reaches the devices, from empty steps: fills the three
 * fields of *node; leaves them unknown with fewer than two good agents. */
void cs_coordinator_skew(struct cs_coordinator *co, struct cs_node_facts *node);
/* One step of the plan, if it applies to this node and is left to do.  Returns 0;
 * -1 when the measuring has ended before the plan. */
int cs_coordinator_step(struct cs_coordinator *co, uint32_t step, uint32_t block);
/* Every step of the plan that applies to this node and is not done, those of a round at
 * the same time where that changes nothing (concurrency.c).  Returns 1 when all were
 * carried out, 0 when it ended early. */
int cs_coordinator_run(struct cs_coordinator *co);
/* Sources checked, second LOOK: the last facts.  May come again. */
void cs_coordinator_finish(struct cs_coordinator *co);
/* Ways given up by all, then memory given back; the agents end.  Not for a node
 * that has lost an agent: its processes leave by _exit. */
void cs_coordinator_dismiss(struct cs_coordinator *co);
/* Processes of agents that died since the last poll: one finding for all. */
void cs_coordinator_poll(struct cs_coordinator *co);
void cs_coordinator_close(struct cs_coordinator *co);
/* Agents and ways between them, as plain data. */
void cs_coordinator_facts(struct cs_coordinator *co, struct cs_run_node *out);

#endif
