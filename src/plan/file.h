/* file.h - plans as text: lines of values with commas between them, for people and
 * spreadsheets (doc/PLANS.md).
 *
 * What is written is read back as the same plan, where backend, number of agents and
 * settings are the same. */
#ifndef CS_PLAN_FILE_H
#define CS_PLAN_FILE_H

#include <stdio.h>

#include "plan/plan.h"

/* The plan of that text; `name` is what errors call it, they say line and column.
 * Of the request the agents and settings are read, `chosen` is not. */
int cs_plan_file_read(const char *text, const char *name,
		      const struct cs_plan_request *req, struct cs_plan **out,
		      struct cs_err *err);

/* What is wrong in it whatever the number of agents is; of the request the settings
 * are read. */
int cs_plan_file_check(const char *text, const char *name,
		       const struct cs_plan_request *req, struct cs_err *err);

int cs_plan_file_write(FILE *to, const struct cs_plan *plan);
/* The same as a string, malloc'ed; NULL without memory. */
char *cs_plan_file_text(const struct cs_plan *plan);

/* What a file calls the step. */
void cs_step_name(const struct cs_plan *plan, const struct cs_step *step, char *to,
		  size_t size);

#endif
