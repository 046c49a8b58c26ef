/* remeasure.h - suspicious cells of this node are measured again, after the plan.
 *
 * Not if placements are compared, whose cells are measured in turns.  First the node
 * chooses by its own rows; then rank 0 chooses by the rows of all nodes, and sends
 * each node its steps. */
#ifndef CS_JOB_REMEASURE_H
#define CS_JOB_REMEASURE_H

#include "job/state.h"

/* Keep a row, without samples, to choose by; the node is number 0 in it. */
void cs_job_add_own_row(struct cs_job *job, const struct cs_row *row);
/* Choose and measure again.  All nodes take part, also one that has stopped. */
void cs_job_remeasure(struct cs_job *job);

#endif
