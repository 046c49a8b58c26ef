/* file_step.h - lines of a plan file that form one step, and whether they may. */
#ifndef CS_PLAN_FILE_STEP_H
#define CS_PLAN_FILE_STEP_H

#include "plan/file_line.h"

/* Add the line to the last step, or begin a new one.  0, or -1 with the error. */
int cs_plan_step_add(struct cs_plan_reader *r, const struct cs_plan_line *item);
/* End the last step, if there is one. */
int cs_plan_step_end(struct cs_plan_reader *r);

#endif
