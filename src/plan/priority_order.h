/* priority_order.h - the order of the steps of a run that has a budget: first the
 * steps that involve every GPU.
 *
 * For each GPU, one cell from the host, one to the host and one within it; then a
 * ring between GPUs, or, if pairs are in rounds, as many rounds as give each GPU one
 * to send. For each of these it is the first test in the plan that gives rates of
 * cells alone, at its largest size.  Then the rest.  Within each part the steps keep
 * their order, which is random. */
#ifndef CS_PLAN_PRIORITY_ORDER_H
#define CS_PLAN_PRIORITY_ORDER_H

#include "plan/plan.h"

/* The steps to order. */
struct cs_priority_steps {
	int n_agents;
	const struct cs_step *step;
	uint32_t n_steps;
	/* The first steps of units that stay together: a step, or the steps of a
	 * round. */
	const uint32_t *head;
	uint32_t n_heads;
	const struct cs_transfer *transfer; /* of all steps, step->first on */
	const struct cs_plan_matrix *matrix;
	uint32_t n_matrices;
};

/* Put the indices of the heads into order[], in this order.  -1: no memory. */
int cs_priority_order(const struct cs_priority_steps *all, uint32_t *order,
		      struct cs_err *err);

#endif
