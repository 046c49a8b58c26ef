/* sides.h - the placements of one node, each as if it were a node of its own:
 * with a board, agents and a coordinator for the same GPUs.
 *
 * One side, as launched, is the usual case.  With --placement a side whose division
 * the ranks do not give lives in hosts (host.h).  Whose agent a rank drives, its
 * hosts that rank makes, when the coordinator calls for the side: one side opens after
 * the other, so that what opening costs can be compared. */
#ifndef CS_JOB_SIDES_H
#define CS_JOB_SIDES_H

#include "job/host.h"
#include "job/discovery.h"
#include "job/placement.h"
#include "job/team.h"
#include "node/coordinator.h"

struct cs_side_node {
	struct cs_placement placement;
	struct cs_board_map board;
	struct cs_coordinator co; /* of the node coordinator */
	struct cs_run_node node;  /* likewise: what is known of the side */
	int made;		  /* this rank has made its hosts */
	int over;		  /* it has lost a process: the others are ended */
};

struct cs_sides {
	int n;			  /* the same on every node; 0: not divided */
	int native;		  /* the side whose agents the ranks hold; -1 */
	struct cs_helper *helper; /* NULL: no placement was asked for */
	struct cs_side_node side[CS_SIDES_MAX];
};

/* Before anything else in the process: the helper, where placements are wanted. */
int cs_sides_begin(struct cs_sides *sides, const struct cs_placements *wanted,
		   struct cs_err *err);
/* Which sides this node has.  A helper that has nothing to make ends. */
int cs_sides_divide(struct cs_sides *sides, const struct cs_placements *wanted,
		    const struct cs_discovery *discovery, struct cs_err *err);
/* Collective on the node: a board for every side, attached by all ranks; the native
 * agents obey from now on. */
int cs_sides_share(struct cs_sides *sides, struct cs_team *team,
		   struct cs_discovery *discovery, const struct cs_plan *plan,
		   uint32_t spin_ns, struct cs_err *err);
/* The coordinator calls for the hosts of a side ... */
void cs_sides_call(struct cs_sides *sides, int side);
/* ... every rank makes its own where it is called; what fails is left in the slots
 * of their agents.  Does nothing most times. */
void cs_sides_make(struct cs_sides *sides, struct cs_discovery *discovery);
/* Has every agent of the side a process, or a reason why not? */
int cs_sides_called(const struct cs_sides *sides, int side);

/* A side that has lost a process: what is left of its hosts is told to end, for it
 * holds GPUs that other sides may need alone.  1 when all are gone. */
int cs_sides_give_up(struct cs_sides *sides, int k);

/* Whose processes are ours is told to every board, when a side has its own. */
void cs_sides_share_kin(struct cs_sides *sides);

/* Let all gates go, and tell all processes how it ends (CS_ENDPOINT_...). */
void cs_sides_let_go(struct cs_sides *sides);
void cs_sides_end(struct cs_sides *sides, uint32_t how);
/* Hosts that have been told to end are waited for; then give all back. */
void cs_sides_release(struct cs_sides *sides);

#endif
