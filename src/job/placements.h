/* placements.h - the placements of one node.  Each is treated as a separate node: it has
 * its own board, agents and coordinator, for the same GPUs.
 *
 * Usually there is one, as launched.  With --placement, a placement whose division the
 * ranks do not provide has its agents in hosts (host.h).  The rank that drives a GPU
 * makes the host for it, when the coordinator calls for the placement: they open one
 * after the other, so that the costs of opening can be compared. */
#pragma once

#include "job/host.h"
#include "job/discovery.h"
#include "job/division.h"
#include "job/mpi_comm.h"
#include "node/coordinator/coordinator.h"

struct cs_placement_node {
	struct cs_placement placement;
	struct cs_board_map board;
	struct cs_coordinator co; /* of the node coordinator */
	struct cs_run_node node; /* also of the coordinator: facts of the placement */
	int hosts_made;		 /* this rank has made its hosts */
	int given_up;		 /* it has lost a process; its others are ended */
};

struct cs_placements {
	int n;	    /* the same on every node; 0: not divided */
	int native; /* the one whose agents are in the ranks; -1: none */
	struct cs_helper *helper; /* NULL: no placement was requested */
	struct cs_placement_node at[CS_PLACEMENTS_MAX];
};

/* Start the helper, if placements were requested.  Call it before anything else. */
int cs_placements_start_helper(struct cs_placements *placements,
			       const struct cs_placement_list *wanted,
			       struct cs_err *err);
/* Find the placements of this node.  A helper that is not needed ends. */
int cs_placements_find(struct cs_placements *placements,
		       const struct cs_placement_list *wanted,
		       const struct cs_discovery *discovery, struct cs_err *err);
/* Collective on the node: make a board for every placement, and attach all ranks.  The
 * native agents obey from now on. */
int cs_placements_share_boards(struct cs_placements *placements, struct cs_comm *comm,
			       struct cs_discovery *discovery,
			       const struct cs_plan *plan, uint32_t spin_ns,
			       struct cs_err *err);
/* Coordinator: call for the hosts of a placement. */
void cs_placements_call_hosts(struct cs_placements *placements, int placement);
/* Every rank: make its hosts for the placements that were called; failures are written to
 * the slots of their agents.  Usually there is nothing to do. */
void cs_placements_make_hosts(struct cs_placements *placements,
			      struct cs_discovery *discovery);
/* Does every agent of the placement have a process, or a reason why not? */
int cs_placements_hosts_made(const struct cs_placements *placements, int placement);

/* Poll the processes of all placements, also of those that wait for their turn. */
void cs_placements_poll(struct cs_placements *placements);

/* A placement has lost a process: end the rest of its hosts, because others may need
 * their GPUs exclusively.  1 when all are gone. */
int cs_placements_give_up(struct cs_placements *placements, int k);

/* Write to every board which processes belong to this job, when a placement has its
 * processes. */
void cs_placements_share_processes(struct cs_placements *placements);

/* Open all gates for ever. */
void cs_placements_open_gates(struct cs_placements *placements);
/* Announce the end on all boards: how the run ended (CS_STOP_…). */
void cs_placements_end(struct cs_placements *placements, uint32_t how);
/* Wait for hosts whose board has ended; then free everything. */
void cs_placements_release(struct cs_placements *placements);
