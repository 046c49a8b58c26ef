/* file_step.h - lines of a plan as text that are one step: may they be? */
#ifndef CS_PLAN_FILE_STEP_H
#define CS_PLAN_FILE_STEP_H

#include "plan/file_line.h"

/* The line joins the last step, or begins one.  0, or -1 with the error. */
int cs_plan_step_add(struct cs_plan_reader *r, const struct cs_plan_line *item);
/* No more lines come for the last step, if there is one. */
int cs_plan_step_end(struct cs_plan_reader *r);

#endif
