/* file.h - plans as text: comma-separated lines, for people and spreadsheets
 * (doc/PLANS.md).
 *
 * Reading back a written file gives the same plan, if backend, number of agents and
 * settings are the same. */
#pragma once

#include <stdio.h>

#include "plan/plan.h"

/* Read a plan from a text; errors begin with `name`, line and column.  Of the request
 * the agents and settings are used, `chosen` is not. */
int cs_plan_file_read(const char *text, const char *name,
		      const struct cs_plan_request *req, struct cs_plan **out,
		      struct cs_err *err);

/* Check a text for errors that do not depend on the number of agents; of the request
 * the settings are used. */
int cs_plan_file_check(const char *text, const char *name,
		       const struct cs_plan_request *req, struct cs_err *err);

int cs_plan_file_write(FILE *to, const struct cs_plan *plan);
/* The same as a string, malloc'ed; NULL without memory. */
char *cs_plan_file_text(const struct cs_plan *plan);

/* The name of the step in a file. */
void cs_step_name(const struct cs_plan *plan, const struct cs_step *step, char *to,
		  size_t size);
