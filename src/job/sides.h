/* sides.h - the placements of one node.  Each is treated as a separate node: it has
 * its own board, agents and coordinator, for the same GPUs.
 *
 * Usually there is one side, as launched.  With --placement, a side whose division
 * the ranks do not provide has its agents in hosts (host.h).  The rank that drives a
 * GPU makes the host for it, when the coordinator calls for the side: one side opens
 * after the other, so that the costs of opening can be compared. */
#ifndef CS_JOB_SIDES_H
#define CS_JOB_SIDES_H

#include "job/host.h"
#include "job/discovery.h"
#include "job/placement.h"
#include "job/team.h"
#include "node/coordinator/coordinator.h"

struct cs_side_node {
	struct cs_placement placement;
	struct cs_board_map board;
	struct cs_coordinator co; /* of the node coordinator */
	struct cs_run_node node;  /* also of the coordinator: facts of the side */
	int made;		  /* this rank has made its hosts */
	int over;		  /* it has lost a process; its others are ended */
};

struct cs_sides {
	int n;	    /* the same on every node; 0: not divided */
	int native; /* the side whose agents are in the ranks; -1: none */
	struct cs_helper *helper; /* NULL: no placement was requested */
	struct cs_side_node side[CS_SIDES_MAX];
};

/* Start the helper, if placements were requested.  Call it before anything else. */
int cs_sides_begin(struct cs_sides *sides, const struct cs_placements *wanted,
		   struct cs_err *err);
/* Find the sides of this node.  A helper that is not needed ends. */
int cs_sides_divide(struct cs_sides *sides, const struct cs_placements *wanted,
		    const struct cs_discovery *discovery, struct cs_err *err);
/* Collective on the node: make a board for every side, and attach all ranks.  The
 * native agents obey from now on. */
int cs_sides_share(struct cs_sides *sides, struct cs_team *team,
		   struct cs_discovery *discovery, const struct cs_plan *plan,
		   uint32_t spin_ns, struct cs_err *err);
/* Coordinator: call for the hosts of a side. */
void cs_sides_call(struct cs_sides *sides, int side);
/* Every rank: make its hosts for the sides that were called; failures are written to
 * the slots of their agents.  Usually there is nothing to do. */
void cs_sides_make(struct cs_sides *sides, struct cs_discovery *discovery);
/* Does every agent of the side have a process, or a reason why not? */
int cs_sides_called(const struct cs_sides *sides, int side);

/* A side has lost a process: end the rest of its hosts, because other sides may need
 * their GPUs exclusively.  1 when all are gone. */
int cs_sides_give_up(struct cs_sides *sides, int k);

/* Write to every board which processes belong to this job, when a side has its
 * processes. */
void cs_sides_share_kin(struct cs_sides *sides);

/* Open all gates for ever. */
void cs_sides_let_go(struct cs_sides *sides);
/* Announce the end on all boards: how the run ended (CS_STOP_…). */
void cs_sides_end(struct cs_sides *sides, uint32_t how);
/* Wait for hosts whose board has ended; then free everything. */
void cs_sides_release(struct cs_sides *sides);

#endif
