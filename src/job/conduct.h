/* conduct.h - what a node coordinator does in the middle of a job. */
#ifndef CS_JOB_CONDUCT_H
#define CS_JOB_CONDUCT_H

#include "job/state.h"

/* Measure everything on this node, in all of its placements. */
void cs_job_conduct(struct cs_job *job);

#endif
