/* probe.c - a cell that the CPU times: rounds of calls, and their rows. */
#include "node/coordinator/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_LIMIT_S CS_PREPARE_LIMIT_S

/* A median has an interval from 6 on; a 99th percentile needs some hundreds. */
#define ROUNDS_OF_CALLS 8u
#define ROUNDS 6u

/* The values measured so far, by transfer; of an OPEN by enum cs_opening, and last
 * the owner's export; of an OVERLAP by enum cs_overlap, of a PREFETCH by enum
 * cs_prefetched. */
struct series {
	uint32_t n[CS_STEP_MAX];
	double x[CS_STEP_MAX][ROUNDS_OF_CALLS * CS_PROBE_MOST];
};

/* Is one round several measurements of one transfer? */
static int has_parts(const struct cs_cell *cell)
{
	return cell->test->how == CS_HOW_OPEN || cell->test->how == CS_HOW_OVERLAP ||
	       cell->test->how == CS_HOW_PREFETCH;
}

static struct cs_slot *issuer_of(const struct cs_coordinator *co,
				 const struct cs_cell *cell, uint32_t k)
{
	const struct cs_transfer *t = cs_plan_transfer(co->plan, cell->step, k);

	return cs_board_slot(co->board, t->issuer);
}

/* ---- one round of each kind ---- */

/* All other agents that can still be used. */
static void others(struct cs_coordinator *co, int agent, struct cs_agents *agents)
{
	int n = 0;

	cs_agents_all_good(co, agents);
	for (int i = 0; i < agents->n; i++)
		if (agents->agent[i] != agent)
			agents->agent[n++] = agents->agent[i];
	agents->n = n;
}

static enum cs_status order(struct cs_coordinator *co, struct cs_agents *agents,
			    uint32_t flags, const char *doing, struct cs_err *err)
{
	if (co->plan->set.verify == CS_VERIFY_OFF)
		flags |= CS_CMD_UNCHECKED;
	return cs_agents_order(co, agents, CS_CMD_PROBE, flags, doing, PROBE_LIMIT_S,
			       err) ?
		       cs_cell_take(co, agents, err) :
		       CS_OK;
}

/* The others' work waits at the gate, which opens when the call has returned, and at
 * the latest CS_HOLD_MS after it began: nothing can wait for ever. */
static enum cs_status hold_up(struct cs_coordinator *co, struct cs_agents *caller,
			      struct cs_agents *held, struct cs_err *err)
{
	int late;

	co->seq++;
	cs_agents_command(co, held, CS_CMD_STAMP, 0);
	if (cs_agents_wait(co, held, cs_agents_armed, CS_SAMPLE_LIMIT_S))
		return cs_cell_cancel(co, held, "arming", CS_SAMPLE_LIMIT_S, err);
	cs_agents_command(co, caller, CS_CMD_PROBE, 0);
	cs_agents_wait(co, caller, cs_agents_answered, 1e-3 * CS_HOLD_MS);
	cs_gate_open(co->board, co->seq);
	late = cs_agents_wait(co, caller, cs_agents_answered, PROBE_LIMIT_S);
	if (late)
		return cs_cell_cancel(co, caller, "calling the driver", PROBE_LIMIT_S,
				      err);
	if (cs_agents_wait(co, held, cs_agents_answered, CS_SAMPLE_LIMIT_S))
		return cs_cell_cancel(co, held, "draining", CS_SAMPLE_LIMIT_S, err);
	return cs_agents_take(co, caller, err) || cs_agents_take(co, held, err) ?
		       CS_FAILED :
		       CS_OK;
}

static enum cs_status stall_round(struct cs_coordinator *co, struct cs_cell *cell,
				  struct cs_err *err)
{
	struct cs_agents held;
	enum cs_status status;

	others(co, cell->agents.agent[0], &held);
	if (!held.n) {
		cs_err_set(err, "there is no other GPU whose work could wait");
		return CS_SKIPPED;
	}
	status = order(co, &cell->agents, CS_CMD_BEFORE, "allocating", err);
	if (status == CS_OK)
		status = hold_up(co, &cell->agents, &held, err);
	if (status == CS_OK)
		status = order(co, &cell->agents, CS_CMD_AFTER, "unloading", err);
	return status;
}

static enum cs_status open_round(struct cs_coordinator *co, struct cs_cell *cell,
				 struct cs_err *err)
{
	const struct cs_transfer *t = cs_plan_transfer(co->plan, cell->step, 0);
	struct cs_agents owner = { .n = 1, .agent = { t->dst.index } };
	struct cs_agents opener = { .n = 1, .agent = { t->issuer } };
	enum cs_status status = order(co, &owner, CS_CMD_BEFORE, "exporting a buffer",
				      err);

	if (status != CS_OK)
		return status;
	status = order(co, &opener, 0, "opening a peer's buffer", err);
	if (status != CS_OK) {
		struct cs_err other;

		/* if the opener still answers, it has closed the buffer */
		if (co->state[t->issuer] < CS_AGENT_BROKEN)
			order(co, &owner, CS_CMD_AFTER, "freeing", &other);
		return status;
	}
	return order(co, &owner, CS_CMD_AFTER, "freeing a buffer", err);
}

static enum cs_status batch_round(struct cs_coordinator *co, struct cs_cell *cell,
				  uint32_t round, struct cs_err *err)
{
	uint32_t first = round <= CS_BATCHES_TRIED ? CS_CMD_FIRST : 0;
	enum cs_status status = order(co, &cell->agents, CS_CMD_BEFORE | first,
				      "preparing a batch of calls", err);

	return status == CS_OK ? cs_cell_fire(co, &cell->agents, CS_CMD_PROBE, 0,
					      PROBE_LIMIT_S, err) :
				 status;
}

/* Release the objects of the last batch; keeps a bad `status`. */
static enum cs_status end_batches(struct cs_coordinator *co, struct cs_cell *cell,
				  enum cs_status status, struct cs_err *err)
{
	struct cs_err other;
	enum cs_status undone;

	if (cell->test->how != CS_HOW_BATCHES || co->stopped || co->lost)
		return status;
	undone = order(co, &cell->agents, CS_CMD_AFTER, "undoing a batch of calls",
		       status == CS_OK ? err : &other);
	return status == CS_OK ? undone : status;
}

static enum cs_status one_round(struct cs_coordinator *co, struct cs_cell *cell,
				uint32_t round, struct cs_err *err)
{
	const uint32_t off = cs_cell_unchecked(co);

	switch (cell->test->how) {
	case CS_HOW_STALL:
		return stall_round(co, cell, err);
	case CS_HOW_OPEN:
		return open_round(co, cell, err);
	case CS_HOW_BATCHES:
		return batch_round(co, cell, round, err);
	case CS_HOW_PREFETCH: /* it may block until its stream has got on */
		return cs_cell_fire(co, &cell->agents, CS_CMD_PROBE, off,
				    CS_SAMPLE_LIMIT_S, err);
	default:
		return cs_cell_fire(co, &cell->agents, CS_CMD_PROBE, off,
				    PROBE_LIMIT_S, err);
	}
}

/* ---- all of them ---- */

static void add(struct series *all, uint32_t i, const double *x, uint32_t n)
{
	memcpy(all->x[i] + all->n[i], x, n * sizeof(*x));
	all->n[i] += n;
}

static void gather(struct cs_coordinator *co, const struct cs_cell *cell,
		   struct series *all)
{
	const struct cs_transfer *t = cs_plan_transfer(co->plan, cell->step, 0);
	const struct cs_slot *slot;

	for (uint32_t k = 0; !has_parts(cell) && k < cell->step->count; k++) {
		slot = issuer_of(co, cell, k);
		add(all, k, slot->value, slot->n_values);
	}
	if (!has_parts(cell))
		return;
	slot = issuer_of(co, cell, 0);
	for (uint32_t k = 0; k < slot->n_values; k++)
		add(all, k, &slot->value[k], 1);
	if (cell->test->how != CS_HOW_OPEN)
		return;
	add(all, CS_OPENINGS, cs_board_slot(co->board, t->dst.index)->value, 1);
}

static void count_copies(struct cs_coordinator *co, const struct cs_cell *cell)
{
	const enum cs_how how = cell->test->how;

	for (uint32_t k = 0; k < cell->step->count; k++)
		cs_cell_count_copies(
			co, cs_plan_transfer(co->plan, cell->step, k),
			how == CS_HOW_BURST ? CS_BURST :
			how == CS_HOW_OPEN  ? 2 : /* the first and the next */
			how == CS_HOW_CALLS || how == CS_HOW_ONCE ?
					      issuer_of(co, cell, k)->n_values :
					      0);
}

/* For another round, of single calls: that there are so many is enough. */
static int has_room(const struct cs_cell *cell, const struct series *all)
{
	return CS_ALL(k, cell->step->count,
		      all->n[k] + CS_PROBE_MOST <= ROUNDS_OF_CALLS * CS_PROBE_MOST);
}

/* The rounds that count: the default, the number of --samples, or that of a turn. */
static uint32_t rounds_of(const struct cs_coordinator *co, const struct cs_cell *cell)
{
	const uint32_t asked = co->plan->set.turn_samples;

	if (asked)
		return asked < CS_SAMPLES_MAX ? asked : CS_SAMPLES_MAX;
	return cell->test->how == CS_HOW_STALL || has_parts(cell) ? ROUNDS :
								    ROUNDS_OF_CALLS;
}

/* One more round, of the node's first GPU: what it shows is alike on all, and four
 * timelines are as long as ten rows. */
static enum cs_status time_tiles(struct cs_coordinator *co, struct cs_cell *cell,
				 struct cs_err *err)
{
	if (cell->test->how != CS_HOW_OVERLAP || cell->repeats || co->turn > 1 ||
	    co->node || cs_plan_transfer(co->plan, cell->step, 0)->issuer)
		return CS_OK;
	return cs_cell_fire(co, &cell->agents, CS_CMD_PROBE,
			    cs_cell_unchecked(co) | CS_CMD_COUNT, PROBE_LIMIT_S, err);
}

/* The first round loads and maps what the others then use; the first of batches chooses
 * their length. */
static enum cs_status take_rounds(struct cs_coordinator *co, struct cs_cell *cell,
				  struct series *all, struct cs_err *err)
{
	const uint32_t rounds = rounds_of(co, cell);
	uint32_t uncounted = cell->test->how == CS_HOW_BATCHES ? CS_BATCHES_TRIED : 1;
	enum cs_status status = cs_cell_order(co, cell, CS_CMD_PREPARE, err);

	for (uint32_t r = 0;
	     status == CS_OK && r < uncounted + rounds && has_room(cell, all); r++) {
		status = one_round(co, cell, r, err);
		if (status == CS_OK)
			count_copies(co, cell);
		if (status == CS_OK && r >= uncounted)
			gather(co, cell, all);
	}
	status = end_batches(co, cell, status, err);
	if (status == CS_OK)
		status = time_tiles(co, cell, err);
	return status == CS_OK ? cs_cell_order(co, cell, CS_CMD_CHECK, err) : status;
}

/* ---- rows ---- */

static void emit_metric(struct cs_coordinator *co, const struct cs_row *like,
			enum cs_metric metric, const double *x, uint32_t n)
{
	struct cs_row row = *like;

	row.metric = (uint8_t)metric;
	if (n && !isnan(x[0]))
		cs_cell_emit(co, &row, x, n, 0);
}

/* The parts before the whole, by which the step is known to be there. */
static void emit_opening(struct cs_coordinator *co, const struct cs_row *like,
			 const struct series *all)
{
	static const enum cs_metric metric[] = {
		[CS_FIRST_COPY] = CS_METRIC_FIRST_COPY,
		[CS_NEXT_COPY] = CS_METRIC_NEXT_COPY,
		[CS_CLOSED] = CS_METRIC_CLOSE,
		[CS_REOPENED] = CS_METRIC_REOPEN,
		[CS_OPENINGS] = CS_METRIC_EXPORT,
	};
	const struct cs_slot *slot = cs_board_slot(co->board, like->what.issuer);
	double first_us = 1e3 * slot->peer[like->what.dst.index].open_ms;

	/* it was there once, however often the cell comes */
	if (like->turn < 2)
		emit_metric(co, like, CS_METRIC_FIRST_OPEN, &first_us, 1);
	for (uint32_t i = CS_FIRST_COPY; i <= CS_OPENINGS; i++)
		emit_metric(co, like, metric[i], all->x[i], all->n[i]);
}

/* A repeat, whose samples are the times. */
static void emit_times(struct cs_coordinator *co, const struct cs_row *like,
		       enum cs_overlap schedule, enum cs_metric metric)
{
	struct cs_slot *slot = cs_board_slot(co->board, like->what.issuer);
	struct cs_tile_times *times = &slot->tile_times[schedule];
	struct cs_row row = *like;

	if (!times->tiles)
		return;
	row.metric = (uint8_t)metric;
	row.flags |= CS_ROW_TIMELINE;
	/* with the cell's other rounds */
	row.checked = row.checked_whole = row.checked_part = 0;
	row.t_start_s = times->began_s - co->began_s;
	row.seconds = 1e-3 * slot->value[schedule];
	row.n_samples = times->tiles * CS_TILE_TIMES;
	cs_stats_of(&slot->value[schedule], 1, &row.stats);
	co->hooks->row(co->hooks->ctx, &row, times->ms[0]);
	times->tiles = 0;
}

static void emit_overlap(struct cs_coordinator *co, const struct cs_row *like,
			 const struct series *all)
{
	static const enum cs_metric metric[CS_OVERLAPS] = {
		[CS_OVERLAP_SERIAL] = CS_METRIC_SERIAL,
		[CS_OVERLAP_STREAMS] = CS_METRIC_STREAMS,
		[CS_OVERLAP_TILES] = CS_METRIC_TILES,
		[CS_OVERLAP_KERNELS] = CS_METRIC_KERNELS,
		[CS_OVERLAP_MOVES] = CS_METRIC_MOVES,
		[CS_OVERLAP_IDEAL] = CS_METRIC_IDEAL,
	};

	for (uint32_t i = CS_OVERLAP_SERIAL; i < CS_OVERLAPS; i++)
		emit_metric(co, like, metric[i], all->x[i], all->n[i]);
	for (enum cs_overlap i = 0; i < CS_OVERLAP_SCHEDULES; i++)
		emit_times(co, like, i, metric[i]);
}

static void emit_rows(struct cs_coordinator *co, struct cs_cell *cell,
		      const struct series *all)
{
	struct cs_row row;

	cs_cell_conclude(co, cell, 0);
	for (uint32_t k = 0; k < cell->step->count; k++) {
		const struct cs_slot *slot = issuer_of(co, cell, k);

		cs_cell_row(co, cell, k, &row);
		row.copies = cell->test->how == CS_HOW_BURST   ? CS_BURST :
			     cell->test->how == CS_HOW_BATCHES ? slot->calls :
								 1;
		row.discarded = has_parts(cell)			  ? 1 :
				cell->test->how == CS_HOW_BATCHES ? CS_BATCHES_TRIED :
								    slot->n_values;
		if (cell->test->how == CS_HOW_OPEN && row.status == CS_OK)
			emit_opening(co, &row, all);
		if (cell->test->how == CS_HOW_OVERLAP && row.status == CS_OK)
			emit_overlap(co, &row, all);
		if (cell->test->how == CS_HOW_PREFETCH && row.status == CS_OK)
			emit_metric(co, &row, CS_METRIC_DONE, all->x[CS_PREFETCH_DONE],
				    all->n[CS_PREFETCH_DONE]);
		cs_cell_emit(co, &row, all->x[k], all->n[k], 0);
	}
}

enum cs_status cs_probe_step(struct cs_coordinator *co, struct cs_cell *cell,
			     struct cs_err *err)
{
	struct series *all = calloc(1, sizeof(*all));
	enum cs_status status = CS_FAILED;

	if (!all)
		cs_err_set(err, "no memory");
	else
		status = take_rounds(co, cell, all, err);
	if (status == CS_OK)
		emit_rows(co, cell, all);
	free(all);
	return status;
}
