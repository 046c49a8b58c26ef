/* coordinator.h - carries out a plan on one node, through its board.
 *
 * Runs in the main thread of the node's lowest rank.  It alone waits, always
 * with a deadline; between slices of 50 ms it looks at the processes of its
 * agents and asks `watch` whether to go on.
 *
 * Faults: an agent whose call failed stays (FAILED: its cell has no figure); one
 * that is broken or silent ends the measuring on this node, as does a process
 * that died (LOST).  What was measured has left through `row` before. */
#ifndef CS_NODE_COORDINATOR_H
#define CS_NODE_COORDINATOR_H

#include "node/board.h"
#include "node/budget.h"
#include "node/process.h"
#include "node/sampler.h"
#include "result/row.h"
#include "result/run.h"

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

/* Whether concurrency changes the figures of a matrix. */
struct cs_concurrency {
	uint32_t rounds; /* that were carried out both ways */
	int matters;
	uint32_t remeasure;  /* transfers measured alone as well, being in doubt */
	struct cs_vec alone; /* double: GB/s of what was measured alone, in no order */
	double median;	     /* of these */
};

/* alone.c.  As the precision of a cell. */
#define CS_CONCURRENCY_MATTERS 0.005
/* n figures that were measured alone, NAN none.  Without memory for them nothing is
 * known, and pairs go one at a time. */
void cs_concurrency_learn(struct cs_concurrency *concurrent, const double *alone,
			  uint32_t n);
/* Is a concurrent rate too low for what was measured alone to vouch for it? */
int cs_concurrency_doubts(const struct cs_concurrency *concurrent, double gbs);

struct cs_coordinator {
	struct cs_board *board;
	const struct cs_plan *plan;
	const struct cs_coordinator_hooks *hooks;
	uint32_t node;	  /* for rows */
	const char *done; /* by step: left out; NULL: none */
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
};

void cs_coordinator_init(struct cs_coordinator *co, struct cs_board *board,
			 uint32_t node, const struct cs_coordinator_hooks *hooks);

/* OPEN: contexts.  Afterwards the slots' facts are filled. */
void cs_coordinator_open(struct cs_coordinator *co);
/* ARENA, MAP and the first LOOK. */
void cs_coordinator_setup(struct cs_coordinator *co);
/* Give the devices back for a while, and take them again: for placements that cannot
 * hold them at the same time. */
void cs_coordinator_rest(struct cs_coordinator *co);
void cs_coordinator_resume(struct cs_coordinator *co);
/* The ways that a step needs, where others are open: what is staged has no peer access. */
void cs_coordinator_ways(struct cs_coordinator *co, const struct cs_step *step);
/* How the gate's release reaches the devices, from empty steps: fills the three
 * fields of *node; leaves them unknown with fewer than two good agents. */
void cs_coordinator_skew(struct cs_coordinator *co, struct cs_node_facts *node);
/* One step of the plan, if it applies to this node and is left to do.  Returns 0;
 * -1 when the measuring has ended before the plan. */
int cs_coordinator_step(struct cs_coordinator *co, uint32_t step, uint32_t block);
/* Every step of the plan that applies to this node and is not done, those of a round at
 * the same time where that changes nothing (concurrency.c).  Returns 1 when all were
 * carried out, 0 when it ended early. */
int cs_coordinator_run(struct cs_coordinator *co);
/* Sources checked, second LOOK: the last facts.  May come again. */
void cs_coordinator_finish(struct cs_coordinator *co);
/* Ways given up by all, then memory given back; the agents end.  Not for a node
 * that has lost an agent: its processes leave by _exit. */
void cs_coordinator_dismiss(struct cs_coordinator *co);
/* Processes of agents that died since the last poll: one finding for all. */
void cs_coordinator_poll(struct cs_coordinator *co);
void cs_coordinator_close(struct cs_coordinator *co);
/* Agents and ways between them, as plain data. */
void cs_coordinator_facts(struct cs_coordinator *co, struct cs_run_node *out);

#endif
