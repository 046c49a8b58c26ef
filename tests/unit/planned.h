/* planned.h - plans for tests, as a list of tests and a request give them. */
#ifndef CS_TESTS_PLANNED_H
#define CS_TESTS_PLANNED_H

#include "plan/choose.h"
#include "plan/plan.h"
#include "tap.h"

/* Freed after the test; NULL if it could not be built. */
static inline struct cs_plan *planned(struct cs_plan_request request,
				      const char *tests)
{
	struct cs_choices chosen = { .n = 0 };
	struct cs_plan *plan = NULL;
	struct cs_err err = { "" };

	request.chosen = &chosen;
	t_eq_int(cs_tests_choose(tests, request.set.backend,
				 (enum cs_transport)request.set.via, &chosen, &err),
		 0);
	if (!t_eq_int(cs_plan_build(&request, &plan, &err), 0))
		t_eq_str(err.text, "");
	return t_free_later(plan);
}

#endif
