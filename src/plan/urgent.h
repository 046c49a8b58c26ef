/* urgent.h - the order of the steps of a run that has a budget: first those by which
 * every GPU is touched.
 *
 * One cell of each GPU from the host, one to the host, one within it, then a ring
 * between GPUs, or where pairs stand in rounds that many that each GPU sends: of each the first test that gives rates of cells alone, as far as it
 * is in the plan, at its largest size.  Then the rest.  Within each part the steps
 * keep the order that they came in, which is a draw. */
#ifndef CS_PLAN_URGENT_H
#define CS_PLAN_URGENT_H

#include "plan/plan.h"

struct cs_urgent {
	int n_agents;
	const struct cs_step *step;
	uint32_t n_steps;
	/* What stays together, a step or the steps of a round, begins there. */
	const uint32_t *head;
	uint32_t n_heads;
	const struct cs_transfer *transfer; /* of all steps, step->first on */
	const struct cs_plan_matrix *matrix;
	uint32_t n_matrices;
};

/* Put the numbers of the heads in order[] so.  -1: no memory. */
int cs_urgent_order(const struct cs_urgent *all, uint32_t *order, struct cs_err *err);

#endif
