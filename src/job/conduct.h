/* conduct.h - what a node coordinator does in the middle of a job. */
#ifndef CS_JOB_CONDUCT_H
#define CS_JOB_CONDUCT_H

#include "job/state.h"

/* All that this node measures, in all of its placements. */
void cs_job_conduct(struct cs_job *job);

#endif
