/* coordinator_state.h - what the coordinator of a node knows while it carries out a plan:
 * its files share it, and set it up by coordinator.h. */
#ifndef CS_NODE_COORDINATOR_STATE_H
#define CS_NODE_COORDINATOR_STATE_H

#include "node/alone.h"
#include "node/board.h"
#include "node/budget.h"
#include "node/process.h"
#include "node/sampler.h"
#include "result/finding.h"
#include "result/row.h"

struct cs_coordinator_hooks {
	void *ctx;
	/* A finished row with row->n_samples samples. */
	void (*row)(void *ctx, const struct cs_row *row, const double *samples);
	void (*finding)(void *ctx, enum cs_severity severity, enum cs_finding_id id,
			const char *text);
	/* At least every 50 ms: non-zero ends the measuring. */
	int (*watch)(void *ctx);
	/* Between steps: `done` of `all`. */
	void (*progress)(void *ctx, uint32_t done, uint32_t all);
};

/* What the stages of packed copies took in the last samples, a ring. */
struct cs_stages {
	uint32_t taken;
	double ns[CS_STEP_MAX][CS_STAGES][CS_SAMPLES_MAX];
};

struct cs_coordinator {
	struct cs_board *board;
	const struct cs_plan *plan;
	const struct cs_coordinator_hooks *hooks;
	uint32_t node;	  /* for rows */
	const char *done; /* by step: left out; NULL: none */
	char *told; /* by step: its rows have gone out with another's; NULL: none */
	int n;
	struct cs_process process[CS_MAX_AGENTS];
	enum cs_agent_state state[CS_MAX_AGENTS];
	char fault[CS_MAX_AGENTS][CS_ERR_TEXT]; /* why not OK */
	uint32_t seq;
	int skip_in_use; /* cells of a GPU that others use are not measured */
	int stopped;	 /* measuring has ended before the plan */
	int lost;	 /* an agent is broken or its process dead */
	uint32_t turn;	 /* of the cell at hand; for rows */
	int remeasure;	 /* it is re-measured; for rows */
	int staged;	 /* ways are those of what is staged */
	int crowded;	 /* workers of the cell at hand want every core */
	double began_s, state_read_s;
	struct cs_budget budget;
	/* by matrix: wall time of its longest cell; 0: none was measured */
	double longest_s[CS_MATRICES_MAX];
	double skew_max_us;
	struct cs_guess guess[CS_MATRICES_MAX]; /* by matrix, of the last good cell */
	/* by matrix, the first of a kind, and whether one kernel moves both ways: which
	 * division is the best, 1 the first; 0: not tried yet */
	uint32_t geometry[CS_MATRICES_MAX][2];
	struct cs_concurrency concurrent[CS_MATRICES_MAX]; /* by matrix */
	struct cs_sampler sampler;
	struct cs_stages stages;
};

#endif
