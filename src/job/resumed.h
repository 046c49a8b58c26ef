/* resumed.h - a job that continues with the rows of an earlier one: whether it may,
 * and which steps are left. */
#pragma once

#include "job/discovery.h"
#include "job/mpi_comm.h"
#include "result/run.h"

/* How much of the plan is measured already. */
enum cs_resumed { CS_RESUMED_NONE, CS_RESUMED_SOME, CS_RESUMED_ALL };

/* Collective, when all ranks have the plan: sends rank 0's *resumed to all.  Unless
 * it is NONE, rank 0's run has the old rows and their nodes; the job fails if a node
 * has another host, placement, GPUs or ranks.  On coordinators *done is one byte per
 * step, not 0 if this node has its rows; NULL if every step must be measured; the
 * caller frees it. */
int cs_resumed_share(struct cs_comm *comm, const struct cs_discovery *discovery,
		     const char *placement, const struct cs_plan *plan,
		     const struct cs_run *run, enum cs_resumed *resumed, char **done,
		     struct cs_err *err);
