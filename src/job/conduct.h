/* conduct.h - the work of a node coordinator, between board and end. */
#ifndef CS_JOB_CONDUCT_H
#define CS_JOB_CONDUCT_H

#include "job/state.h"

/* Measure everything on this node, in all of its placements. */
void cs_job_conduct(struct cs_job *job);

#endif
