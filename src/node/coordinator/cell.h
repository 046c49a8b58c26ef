/* cell.h - the parts that all cells have, those sampled at the gate (cell.c) and those
 * timed by the CPU (probe.c).  step.c executes a cell.
 *
 * Private to the coordinator and its cells. */
#pragma once

#include "node/coordinator/agents.h"

struct cs_concurrency;

/* One step during its execution, or several steps of a round as one. */
struct cs_cell {
	uint32_t first, n; /* steps of the plan */
	const struct cs_step *step;
	uint32_t repeats; /* CS_ROW_CONTROL, …, for its rows */
	const struct cs_test *test;
	struct cs_agents agents; /* those that take part */
	double began_s;
	uint32_t geometry; /* division of its kernels */
	/* known at the end */
	uint32_t flags; /* CS_ROW_..., of all its rows */
	int looked;	/* the state of its GPUs was read after it */
	const struct cs_concurrency *judge; /* steps that it doubts are repeated; NULL: none */
	uint32_t doubt; /* CS_ROW_CONCURRENT, for the step whose rows are sent */
	struct cs_rates rates;
};

/* After a cell: are all agents alive, and should the measurement continue? */
void cs_coordinator_watch(struct cs_coordinator *co);

/* Find its agents and give them the step. */
void cs_cell_hand_out(struct cs_coordinator *co, struct cs_cell *cell);
/* Must this node still execute the step? */
int cs_cell_is_left(const struct cs_coordinator *co, uint32_t step);
/* The transport of a transfer; none if one end is host memory. */
int cs_cell_via(const struct cs_coordinator *co, const struct cs_transfer *t);

/* CS_CMD_UNCHECKED if nothing is to be verified, else 0. */
uint32_t cs_cell_unchecked(const struct cs_coordinator *co);
/* PREPARE or CHECK: a command to all agents of the cell.  Returns the cell's
 * status. */
enum cs_status cs_cell_order(struct cs_coordinator *co, struct cs_cell *cell,
			     enum cs_command what, struct cs_err *err);
/* Take the answers: CS_OK, failed, or cannot be done here. */
enum cs_status cs_cell_take(struct cs_coordinator *co, const struct cs_agents *agents,
			    struct cs_err *err);
/* A command that ends after the gate: wait until all have armed the next sample, open
 * the gate, wait for the answers; at most `limit_s` for each wait. */
enum cs_status cs_cell_fire(struct cs_coordinator *co, struct cs_agents *agents,
			    enum cs_command what, uint32_t flags, double limit_s,
			    struct cs_err *err);
/* Arm, open the gate, wait.  Fills ns[k] of every transfer, for a chase also
 * load_ns[k]. Returns CS_OK, or the cell's status with the reason. */
enum cs_status cs_cell_sample(struct cs_coordinator *co, struct cs_cell *cell,
			      uint32_t flags, double *ns, double *load_ns,
			      struct cs_err *err);
/* Each end's share of what copies have moved, to be compared with the counters of the
 * links. */
void cs_cell_count_copies(struct cs_coordinator *co, const struct cs_transfer *t,
			  uint32_t copies);
/* For work that will not end by itself: open its gate, let it drain, and return the
 * resulting status. */
enum cs_status cs_cell_cancel(struct cs_coordinator *co, struct cs_agents *agents,
			      const char *doing, double limit_s, struct cs_err *err);

/* Was one of the agents' GPUs throttled before or after the cell? */
int cs_cell_is_throttled(const struct cs_coordinator *co,
			 const struct cs_agents *agents);

/* Set cell->geometry, the division of its kernels; geometry.c. */
enum cs_status cs_cell_geometry(struct cs_coordinator *co, struct cs_cell *cell,
				struct cs_err *err);

/* rows.c.  Send all rows for the coordinator's sampler, with `flags`. */
void cs_cell_rows(struct cs_coordinator *co, struct cs_cell *cell, uint32_t flags);
/* Send the rows of a cell without figures, with the reason. */
void cs_cell_missing(struct cs_coordinator *co, const struct cs_cell *cell,
		     enum cs_status status, const struct cs_err *err);
/* Set the fields that all rows share, `flags` included.  If the samples did not settle
 * or a GPU was throttled, read the GPUs' state once more. */
void cs_cell_conclude(struct cs_coordinator *co, struct cs_cell *cell, uint32_t flags);
/* The row of the k-th transfer, without figures, with the state of its own GPUs. It
 * is corrupt if the owner of the destination found an error. */
void cs_cell_row(struct cs_coordinator *co, const struct cs_cell *cell, uint32_t k,
		 struct cs_row *row);
/* Put the statistics and samples of one series into the row, and send it.  Its interval
 * reaches at least that share of the median. */
void cs_cell_emit(struct cs_coordinator *co, struct cs_row *row,
		  const double *samples, uint32_t n, double reach);

/* ---- step.c ---- */

/* Execute n steps of the plan from `first` on, at the same time, and send their rows.
 * Rows are marked with `repeats`, or as concurrent if `judge` (or NULL) doubts the
 * step.  Returns CS_OK with the rates of its transfers (NULL: not wanted), or the status.
 * If several steps could not be executed together, no rows are sent, unless the
 * measurement has stopped. */
enum cs_status cs_cell_run(struct cs_coordinator *co, uint32_t first, uint32_t n,
			   uint32_t repeats, const struct cs_concurrency *judge,
			   struct cs_rates *rates);

/* ---- probe.c ---- */

/* Execute a step whose test the CPU times, and send its rows. */
enum cs_status cs_probe_step(struct cs_coordinator *co, struct cs_cell *cell,
			     struct cs_err *err);
