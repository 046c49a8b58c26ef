/* coordinator.h - executes a plan on one node, through its board.
 *
 * Runs in the main thread of the node's lowest rank.  Nobody else waits for agents.
 * Each wait has a deadline; between slices of 50 ms the coordinator checks the
 * processes of its agents and asks `watch` whether to continue.
 *
 * Faults: an agent whose call failed continues (FAILED: its cell has no figure).  An
 * agent that is broken or silent (BROKEN), or whose process died (LOST), ends the
 * measurement on this node.  Earlier results have already been passed to `row`. */
#pragma once

#include "node/coordinator/coordinator_state.h"
#include "result/run.h"

void cs_coordinator_init(struct cs_coordinator *co, struct cs_board *board,
			 uint32_t node, const struct cs_coordinator_hooks *hooks);

/* OPEN: open the contexts.  Afterwards the slots' facts are filled. */
void cs_coordinator_open(struct cs_coordinator *co);
/* ARENA, MAP and the first READ_STATE. */
void cs_coordinator_setup(struct cs_coordinator *co);
/* Release the devices for a while, and open them again: for placements that cannot
 * hold them at the same time. */
void cs_coordinator_rest(struct cs_coordinator *co);
void cs_coordinator_resume(struct cs_coordinator *co);
/* Switch to the transports that a step needs: staged tests have no peer access. */
void cs_coordinator_ways(struct cs_coordinator *co, const struct cs_step *step);
/* Measure, with empty steps, how far apart the devices pass the gate: fills the three
 * fields of *node, which stay unknown with fewer than two good agents. */
void cs_coordinator_skew(struct cs_coordinator *co, struct cs_node_facts *node);
/* Execute one step of the plan, if it applies to this node and is not done.  Returns
 * 0; -1 if the measurement has ended before the plan. */
int cs_coordinator_step(struct cs_coordinator *co, uint32_t step);
/* Execute every step of the plan that applies to this node and is not done; steps of
 * a round at the same time if that changes no figure (concurrency.c).  Returns 1 if
 * all were executed, 0 if the measurement ended early.  Repeats of a cell, which show
 * drift, are left out of further turns (co->turn): these show it too. */
int cs_coordinator_run(struct cs_coordinator *co);
/* Execute each step with managed memory once more, untimed, and count what the driver does
 * to its pages.  After all others: no figure is
 * of a process whose driver counts. */
void cs_coordinator_count(struct cs_coordinator *co);
/* Read the state of the GPUs once more: the last facts. */
void cs_coordinator_read_state(struct cs_coordinator *co);
/* The same after a pass; a note for each GPU that counted errors in it. */
void cs_coordinator_date(struct cs_coordinator *co);
/* Check the sources, second READ_STATE: the last facts.  May be called again. */
void cs_coordinator_finish(struct cs_coordinator *co);
/* All agents unmap their peers, then free their memory and end.  Not for a node that
 * has lost an agent: its processes leave by _exit. */
void cs_coordinator_dismiss(struct cs_coordinator *co);
/* Report the agents' processes that died since the last poll, in one finding. */
void cs_coordinator_poll(struct cs_coordinator *co);
void cs_coordinator_close(struct cs_coordinator *co);
/* Agents and the transports between them, as plain data.  An agent that has not
 * answered keeps what *out has of it: call it before all that can hang, too. */
void cs_coordinator_facts(struct cs_coordinator *co, struct cs_run_node *out);
