/* coordinator_state.h - the state of a node's coordinator while it executes a plan.
 * Shared by its files; coordinator.h initialises it. */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "node/board/board.h"
#include "node/board/budget.h"
#include "node/board/process.h"
#include "node/coordinator/sampler.h"
#include "result/finding.h"
#include "result/row.h"

struct cs_coordinator_hooks {
	void *ctx;
	/* A finished row with row->n_samples samples. */
	void (*row)(void *ctx, const struct cs_row *row, const double *samples);
	void (*finding)(void *ctx, const struct cs_finding *finding);
	/* Called at least every 50 ms; non-zero ends the measurement. */
	int (*watch)(void *ctx);
	/* Between steps: `done` of `all`. */
	void (*progress)(void *ctx, uint32_t done, uint32_t all);
};

/* The times of the stages of packed copies in the last samples, a ring. */
struct cs_stages {
	uint32_t taken;
	double ns[CS_STEP_MAX][CS_STAGES][CS_SAMPLES_MAX];
};

/* Does concurrency change the figures of a matrix?  Compared with pairs that were
 * measured alone. */
struct cs_concurrency {
	/* that were measured both alone and concurrently; within GPUs 1 if one was
	 * measured alone */
	uint32_t rounds;
	int matters;
	uint32_t remeasure; /* doubtful transfers that were also measured alone */
	struct cs_vec alone; /* double: GB/s of transfers measured alone, in no order */
	double median;	     /* of these */
};

/* The state of a GPU after the last pass (dates.c), and the notes that it has. */
struct cs_dated {
	struct cs_conditions last;
	int n;
};

struct cs_coordinator {
	struct cs_board *board;
	const struct cs_plan *plan;
	const struct cs_coordinator_hooks *hooks;
	uint32_t node;		/* for rows */
	const char *done;	/* by step: skip it; NULL: none */
	char *shared_rows_sent; /* by step: its rows were sent with another's; NULL: none */
	int n;
	struct cs_process process[CS_MAX_AGENTS];
	enum cs_agent_state state[CS_MAX_AGENTS];
	char fault[CS_MAX_AGENTS][CS_ERR_TEXT]; /* why not OK */
	char unavailable[CS_MAX_AGENTS];	/* … for others use it: no fault */
	uint32_t seq;
	int skip_in_use; /* do not measure cells of a GPU that others use */
	int uncounted;	 /* a note says why managed memory is not counted */
	uint8_t counts[CS_MAX_AGENTS]; /* CUPTI has begun in its process */
	int stopped;		       /* the measurement has ended before the plan */
	int lost;		       /* an agent is broken or its process dead */
	uint32_t turn; /* for rows: 0, or from 1 on if cells are measured again and again */
	char reason[CS_REASON];	   /* of the row that is sent */
	struct cs_row_apart apart; /* the same */
	int remeasure;		   /* the current cell is re-measured; for rows */
	int staged; /* the current transports are those of staged tests */
	int workers_use_all_cores; /* workers of the current cell need every core */
	struct cs_dated dated[CS_MAX_AGENTS];
	double began_s, state_read_s;
	struct cs_budget budget;
	/* by matrix: wall time of its longest cell; 0: none measured */
	double longest_s[CS_MATRICES_MAX];
	double skew_max_us;
	struct cs_guess guess[CS_MATRICES_MAX]; /* by matrix, of the last good cell */
	/* the best division of kernels, counted from 1; 0: not tried yet.  By matrix
	 * (the first of its kind), and by whether one kernel moves both ways */
	uint32_t geometry[CS_MATRICES_MAX][2];
	struct cs_concurrency concurrent[CS_MATRICES_MAX]; /* by matrix */
	struct cs_sampler sampler;
	struct cs_stages stages;
};

/* ---- concurrency_check.c ---- */

/* Of each transfer of a cell: the median of its rates, NAN none, and its uncertainty, as
 * a share of it; INFINITY: it has no interval. */
struct cs_rates {
	double median[CS_STEP_MAX], margin[CS_STEP_MAX];
};

/* A larger relative difference counts: the default precision of a cell. */
#define CS_CONCURRENCY_MATTERS 0.005
/* Add n figures that were measured alone, NAN none.  If there is no memory for them,
 * nothing is known, and pairs are measured one at a time. */
void cs_concurrency_learn(struct cs_concurrency *concurrent, const double *alone,
			  uint32_t n);
/* Is the k-th of n concurrent rates lower than the results measured alone can confirm, or,
 * if there are none, than the others? */
int cs_concurrency_doubts(const struct cs_concurrency *concurrent,
			  const struct cs_rates *rates, uint32_t k, uint32_t n);
