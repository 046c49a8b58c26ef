/* cell.h - what a cell is made of, whichever way it is measured: sampled behind the
 * gate (cell.c), or timed by the CPU (probe.c); step.c carries one out.
 *
 * Private to the coordinator and its cells. */
#ifndef CS_NODE_CELL_H
#define CS_NODE_CELL_H

#include "node/agents.h"

struct cs_concurrency;

/* One step as it is carried out, or several of a round as one. */
struct cs_cell {
	uint32_t first, n; /* steps of the plan */
	const struct cs_step *step;
	uint32_t repeats; /* CS_ROW_CONTROL, … of its rows */
	const struct cs_test *test;
	struct cs_agents agents; /* who takes part */
	double began_s;
	uint32_t geometry; /* division of its kernels: the one to take */
	/* known at the end */
	uint32_t flags;			    /* CS_ROW_..., of all its rows */
	int looked;			    /* its GPUs' state was read behind it */
	const struct cs_concurrency *judge; /* steps that it doubts repeat theirs; NULL: none */
	uint32_t doubt; /* CS_ROW_CONCURRENT, of the step whose rows go out */
	double median[CS_STEP_MAX]; /* rate of each transfer; NAN none */
};

/* Its agents: who takes part gets the step. */
void cs_cell_hand_out(struct cs_coordinator *co, struct cs_cell *cell);
/* Is it a step that this node carries out and has not yet? */
int cs_cell_is_left(const struct cs_coordinator *co, uint32_t step);
/* The way that a transfer takes; none where host memory is an end. */
int cs_cell_via(const struct cs_coordinator *co, const struct cs_transfer *t);

/* PREPARE, CHECK: a command to all who take part, or what the cell has become. */
enum cs_status cs_cell_order(struct cs_coordinator *co, struct cs_cell *cell,
			     enum cs_command what, struct cs_err *err);
/* What they answered: all is well, it failed, or it cannot be done here. */
enum cs_status cs_cell_take(struct cs_coordinator *co, const struct cs_agents *agents,
			    struct cs_err *err);
/* A command that ends behind the gate: when all have armed the next sample it is
 * opened, and the answers are waited for, at most `limit_s` each time. */
enum cs_status cs_cell_fire(struct cs_coordinator *co, struct cs_agents *agents,
			    enum cs_command what, uint32_t flags, double limit_s,
			    struct cs_err *err);
/* Arm, open the gate, wait: ns[k] of every transfer, of a chase load_ns[k] too.
 * Returns CS_OK, or what the cell has become, with the reason. */
enum cs_status cs_cell_sample(struct cs_coordinator *co, struct cs_cell *cell,
			      uint32_t flags, double *ns, double *load_ns,
			      struct cs_err *err);
/* Open the gate of what will not end by itself, let it drain, and say what became
 * of it. */
enum cs_status cs_cell_cancel(struct cs_coordinator *co, struct cs_agents *agents,
			      const char *doing, double limit_s, struct cs_err *err);

/* Was one of them slowed down around it? */
int cs_cell_is_throttled(const struct cs_coordinator *co,
			 const struct cs_agents *agents);

/* The division of its kernels into cell->geometry; geometry.c. */
enum cs_status cs_cell_geometry(struct cs_coordinator *co, struct cs_cell *cell,
				struct cs_err *err);

/* rows.c.  All rows of what the coordinator's sampler holds, with `flags`. */
void cs_cell_rows(struct cs_coordinator *co, struct cs_cell *cell, uint32_t flags);
/* Rows of a cell that has no figures, with the reason. */
void cs_cell_missing(struct cs_coordinator *co, const struct cs_cell *cell,
		     enum cs_status status, const struct cs_err *err);
/* What holds for all rows, `flags` among it; one more reading of the GPUs' state where they did
 * not settle or one was throttled. */
void cs_cell_conclude(struct cs_coordinator *co, struct cs_cell *cell, uint32_t flags);
/* The row of the k-th transfer, without its figures, with the state of its own GPUs;
 * corrupt where its destination's owner says so. */
void cs_cell_row(struct cs_coordinator *co, const struct cs_cell *cell, uint32_t k,
		 struct cs_row *row);
/* Statistics and samples of one series into the row; sends the row. */
void cs_cell_emit(struct cs_coordinator *co, struct cs_row *row,
		  const double *samples, uint32_t n);

/* ---- step.c ---- */

/* Carry out n steps of the plan from `first` on, at the same time; rows go out, marked
 * with `repeats`, or as concurrent those of a step that `judge` (or NULL) doubts.
 * Returns CS_OK with `median` of each transfer (NULL: not wanted), or
 * what has become of it.  Of several steps that could not be carried out together
 * there are no rows, unless measuring has stopped. */
enum cs_status cs_cell_run(struct cs_coordinator *co, uint32_t first, uint32_t n,
			   uint32_t repeats, const struct cs_concurrency *judge,
			   double *median);

/* After a cell: is everybody alive, is measuring to go on? */
void cs_cell_read_state(struct cs_coordinator *co);

/* ---- probe.c ---- */

/* Carry out a step whose test the CPU times, rows included. */
enum cs_status cs_probe_step(struct cs_coordinator *co, struct cs_cell *cell,
			     struct cs_err *err);

#endif
