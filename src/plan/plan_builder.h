/* plan_builder.h - a plan under construction: lists of steps, transfers and
 * matrices, which become a blob at the end.  For the files that make plans. */
#pragma once

#include "base/rng.h"
#include "base/vec.h"
#include "plan/plan.h"

struct cs_plan_builder {
	const struct cs_plan_request *req;
	struct cs_vec steps, transfers, matrices;
	struct cs_rng lot;  /* draws the agents of RANDOM */
	uint32_t n;	    /* agents of the current matrix */
	uint32_t sizes;	    /* matrices of its test: sizes and variants */
	uint64_t bytes;	    /* of its copies */
	uint32_t flags;	    /* of all its transfers */
	uint32_t round;	    /* of the next steps; 0 none */
	uint32_t rounds;    /* so far */
	struct cs_err *err; /* why something returns -1 */
};

struct cs_plan_builder cs_plan_builder_of(const struct cs_plan_request *req,
					  struct cs_err *err);
void cs_plan_builder_release(struct cs_plan_builder *builder);

/* Add a step of the last matrix, without a transfer. */
int cs_plan_builder_add_step(struct cs_plan_builder *builder);
/* Add a transfer to the last step, with the last matrix's test. */
int cs_plan_builder_add_transfer(struct cs_plan_builder *builder,
				 struct cs_endpoint src, struct cs_endpoint dst,
				 uint64_t bytes, uint32_t flags);
/* The same from agent to agent, with the matrix's size. */
int cs_plan_builder_add_copy(struct cs_plan_builder *builder, uint32_t src,
			     uint32_t dst);
/* Add multiply-adds of a GPU as load. */
int cs_plan_builder_add_flops(struct cs_plan_builder *builder, uint32_t agent);
/* The memory of an agent as an end. */
struct cs_endpoint cs_plan_builder_agent_end(const struct cs_plan_builder *builder,
					     uint32_t agent);
/* Add a matrix, which must get steps. */
struct cs_plan_matrix *cs_plan_builder_add_matrix(struct cs_plan_builder *builder);

/* A zeroed blob with header and matrices, and room for all steps and for `more_steps`
 * with `more_transfers`, which are not filled in yet.  NULL: too large, or no
 * memory. */
struct cs_plan *cs_plan_builder_make_plan(const struct cs_plan_builder *builder,
					  uint64_t more_steps,
					  uint64_t more_transfers);
/* Append a step to the blob. */
void cs_plan_builder_put_step(struct cs_plan *plan,
			      const struct cs_plan_builder *builder,
			      const struct cs_step *from, uint32_t flags);

/* After the last step: count those of each matrix, and set the plan's id. */
void cs_plan_builder_finish(struct cs_plan *plan);

/* Add the cells of a test, which is the last matrix's.  In patterns.c. */
int cs_pattern_cells(struct cs_plan_builder *pb, const struct cs_test *test);

/* ---- priority_order.c ---- */

/* The order of the steps of a run that has a budget: first the steps that involve every
 * GPU.
 *
 * For each GPU, one cell from the host, one to the host and one within it; then a
 * ring between GPUs, or, if pairs are in rounds, as many rounds as give each GPU one
 * to send. For each of these it is the first test in the plan that gives rates of
 * cells alone, at its largest size.  Then the rest.  Within each part the steps keep
 * their order, which is random. */

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
