/* validate.h - the rules for valid requests, each written once. */
#ifndef CS_PLAN_VALIDATE_H
#define CS_PLAN_VALIDATE_H

#include "plan/plan.h"

/* Are the number of agents and the settings valid? */
int cs_request_check(int64_t n_agents, const struct cs_settings *set,
		     struct cs_err *err);
/* Is the test possible with the backend and the --via of these settings? */
int cs_test_check(const struct cs_test *test, const struct cs_settings *set,
		  struct cs_err *err);
/* Is the name of a step valid?  "" is no name. */
int cs_step_name_is_sound(const char *name);
/* The first step that cannot run beside the others of its round; n_steps: all can. */
uint32_t cs_plan_bad_round(const struct cs_plan *plan);

#endif
