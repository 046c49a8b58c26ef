/* arms.h - the placements of one node, each as if it were a node of its own:
 * with a board, agents and a coordinator for the same GPUs.
 *
 * One arm, as launched, is the usual case.  With --placement an arm whose division
 * the ranks do not give lives in hosts (host.h).  Whose agent a rank drives, its
 * hosts that rank makes, when the coordinator calls for the arm: one arm opens after
 * the other, so that what opening costs can be compared. */
#ifndef CS_JOB_ARMS_H
#define CS_JOB_ARMS_H

#include "job/host.h"
#include "job/muster.h"
#include "job/placement.h"
#include "job/team.h"
#include "node/coordinator.h"

struct cs_arm_node {
	struct cs_placement placement;
	struct cs_board_map board;
	struct cs_coordinator co;	/* of the node coordinator */
	struct cs_run_node node;	/* likewise: what is known of the arm */
	int made;			/* this rank has made its hosts */
	int over;			/* it has lost a process: the others are ended */
};

struct cs_arms {
	int n;				/* the same on every node; 0: not divided */
	int native;			/* the arm whose agents the ranks hold; -1 */
	struct cs_helper *helper;	/* NULL: no placement was asked for */
	struct cs_arm_node arm[CS_ARMS_MAX];
};

/* Before anything else in the process: the helper, where placements are wanted. */
int cs_arms_begin(struct cs_arms *arms, const struct cs_placements *wanted,
		  struct cs_err *err);
/* Which arms this node has.  A helper that has nothing to make ends. */
int cs_arms_divide(struct cs_arms *arms, const struct cs_placements *wanted,
		   const struct cs_muster *muster, struct cs_err *err);
/* Collective on the node: a board for every arm, attached by all ranks; the native
 * agents obey from now on. */
int cs_arms_share(struct cs_arms *arms, struct cs_team *team,
		  struct cs_muster *muster, const struct cs_plan *plan,
		  uint32_t spin_ns, struct cs_err *err);
/* The coordinator calls for the hosts of an arm ... */
void cs_arms_call(struct cs_arms *arms, int arm);
/* ... every rank makes its own where it is called; what fails is left in the slots
 * of their agents.  Does nothing most times. */
void cs_arms_make(struct cs_arms *arms, struct cs_muster *muster);
/* Has every agent of the arm a process, or a reason why not? */
int cs_arms_called(const struct cs_arms *arms, int arm);

/* An arm that has lost a process: what is left of its hosts is told to end, for it
 * holds GPUs that other arms may need alone.  1 when all are gone. */
int cs_arms_give_up(struct cs_arms *arms, int arm);

/* Whose processes are ours is told to every board, when an arm has its own. */
void cs_arms_tell_kin(struct cs_arms *arms);

/* Let all gates go, and tell all processes how it ends (CS_END_...). */
void cs_arms_let_go(struct cs_arms *arms);
void cs_arms_end(struct cs_arms *arms, uint32_t how);
/* Hosts that have been told to end are waited for; then give all back. */
void cs_arms_release(struct cs_arms *arms);

#endif
