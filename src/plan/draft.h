/* draft.h - a plan that grows: steps, transfers and matrices one behind another, made into
 * a blob at the end.  For the files that make plans. */
#ifndef CS_PLAN_DRAFT_H
#define CS_PLAN_DRAFT_H

#include "base/rng.h"
#include "base/vec.h"
#include "plan/plan.h"

struct cs_draft {
	const struct cs_plan_request *req;
	struct cs_vec steps, transfers, matrices;
	struct cs_rng lot;  /* who is drawn for RANDOM */
	uint32_t n;	    /* agents that the matrix is of */
	uint64_t bytes;	    /* of its copies */
	uint32_t flags;	    /* of all its transfers */
	uint32_t round;	    /* of the steps to come; 0 none */
	uint32_t rounds;    /* so far */
	struct cs_err *err; /* why something returns -1 */
};

struct cs_draft cs_draft_of(const struct cs_plan_request *req, struct cs_err *err);
void cs_draft_release(struct cs_draft *draft);

/* A step of the last matrix, without a transfer. */
int cs_draft_step(struct cs_draft *draft);
/* A transfer of the last step, by the last matrix's test. */
int cs_draft_between(struct cs_draft *draft, struct cs_endpoint src,
		     struct cs_endpoint dst, uint64_t bytes, uint32_t flags);
/* The same from agent to agent, of the matrix's size. */
int cs_draft_way(struct cs_draft *draft, uint32_t src, uint32_t dst);
/* Multiply-adds of a GPU as load. */
int cs_draft_flops(struct cs_draft *draft, uint32_t agent);
/* The memory of an agent as an end. */
struct cs_endpoint cs_draft_agent(const struct cs_draft *draft, uint32_t agent);
/* One more matrix, which is to have steps. */
struct cs_plan_matrix *cs_draft_matrix(struct cs_draft *draft);

/* A zeroed blob with header and matrices, and room for all steps and for `more_steps` with
 * `more_transfers`; they are still to come.  NULL: it would be too large, or memory is. */
struct cs_plan *cs_draft_plan(const struct cs_draft *draft, uint64_t more_steps,
			      uint64_t more_transfers);
/* The next step of the blob. */
void cs_draft_put(struct cs_plan *plan, const struct cs_draft *draft,
		  const struct cs_step *from, uint32_t flags);

/* When all are there: counts those of each matrix, and gives the plan its id. */
void cs_draft_end(struct cs_plan *plan);

/* The cells of a test: patterns.c.  It is the last matrix's. */
int cs_pattern_cells(struct cs_draft *draft, const struct cs_test *test);

#endif
