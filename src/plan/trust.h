/* trust.h - what may be asked for, each rule once. */
#ifndef CS_PLAN_TRUST_H
#define CS_PLAN_TRUST_H

#include "plan/plan.h"

/* That many agents, and these settings? */
int cs_request_check(int64_t n_agents, const struct cs_settings *set,
		     struct cs_err *err);
/* A test, by the backend and the --via of these settings? */
int cs_test_check(const struct cs_test *test, const struct cs_settings *set,
		  struct cs_err *err);
/* May a step have this name?  "" is none. */
int cs_step_name_is_sound(const char *name);
/* The first step that cannot run beside the others of its round; n_steps: all can. */
uint32_t cs_plan_bad_round(const struct cs_plan *plan);

#endif
