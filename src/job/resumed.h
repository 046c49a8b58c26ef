/* resumed.h - a job that goes on with the rows of an earlier one: who may, and which
 * steps are left. */
#ifndef CS_JOB_RESUMED_H
#define CS_JOB_RESUMED_H

#include "job/discovery.h"
#include "job/team.h"
#include "result/run.h"

/* How much of the plan is measured already. */
enum cs_resumed { CS_RESUMED_NONE, CS_RESUMED_SOME, CS_RESUMED_ALL };

/* Collective, when all ranks have the plan: *kept of rank 0 goes to all.  With some
 * kept, rank 0's run has the rows that stay and the nodes they are from; a node
 * whose host, placement, GPUs or ranks are others refuses for the job.  *done is, on coordinators, one byte for each step, not 0
 * when this node has its rows; NULL when every step is to be measured; malloc'ed,
 * the caller's. */
int cs_resumed_share(struct cs_team *team, const struct cs_discovery *discovery,
		     const char *placement, const struct cs_plan *plan,
		     const struct cs_run *run, enum cs_resumed *resumed, char **done,
		     struct cs_err *err);

#endif
