/* run_plan.h - the work of a node coordinator, between board and end. */
#ifndef CS_JOB_RUN_PLAN_H
#define CS_JOB_RUN_PLAN_H

#include "job/state.h"

/* Measure everything on this node, in all of its placements. */
void cs_job_run_plan(struct cs_job *job);

#endif
