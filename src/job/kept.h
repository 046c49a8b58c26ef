/* kept.h - a job that goes on with the rows of an earlier one: who may, and which
 * steps are left. */
#ifndef CS_JOB_KEPT_H
#define CS_JOB_KEPT_H

#include "job/muster.h"
#include "job/team.h"
#include "result/run.h"

/* How much of the plan is measured already. */
enum cs_kept { CS_KEPT_NONE, CS_KEPT_SOME, CS_KEPT_ALL };

/* Collective, when all ranks have the plan: *kept of rank 0 goes to all.  With some
 * kept, rank 0's run has the rows that stay and the nodes they are from; a node
 * whose host, placement, GPUs or ranks are others refuses for the job.  *done is, on coordinators, one byte for each step, not 0
 * when this node has its rows; NULL when every step is to be measured; malloc'ed,
 * the caller's. */
int cs_kept_share(struct cs_team *team, const struct cs_muster *muster,
		  const char *placement, const struct cs_plan *plan, const struct cs_run *run,
		  enum cs_kept *kept, char **done, struct cs_err *err);

#endif
