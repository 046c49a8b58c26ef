/* rows.c - the rows of a cell: each transfer's figure, the totals, and what holds for
 * all of them. */
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "node/coordinator/cell.h"
#include "system/flush.h"

void cs_cell_emit(struct cs_coordinator *co, struct cs_row *row,
		  const double *samples, uint32_t n, double reach)
{
	row->n_samples = n;
	cs_stats_of(samples, n, &row->stats);
	if (reach > 0)
		cs_stats_reach(&row->stats, reach);
	row->flags |= cs_row_outliers(row, samples);
	co->hooks->row(co->hooks->ctx, row, samples);
}

static void row_init(struct cs_coordinator *co, const struct cs_cell *cell,
		     uint32_t k, struct cs_row *row)
{
	const struct cs_step *step = cell->step;
	const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

	memset(row, 0, sizeof(*row));
	row->node = co->node;
	row->step = cs_plan_step_of(co->plan, cell->first, k);
	row->test = cs_plan_matrix_at(co->plan, t->matrix)->test;
	row->metric = CS_METRIC_RATE;
	row->turn = co->turn;
	row->concurrent = (uint8_t)(step->count - 1);
	row->what = *t;
	row->via = (uint8_t)cs_cell_via(co, t);
	row->flags = cell->repeats | cell->doubt |
		     (step->flags & CS_STEP_CONTROL ? CS_ROW_CONTROL : 0);
	row->overlap = row->first_ms = NAN;
	co->apart = cs_row_apart_unknown;
	row->apart = &co->apart;
	row->t_start_s = cell->began_s - co->began_s;
	row->seconds = cell->repeats & CS_ROW_SHARED ? 0 :
						       cs_clock_s() - cell->began_s;
}

/* The pages' state as the cell's agents reported it. */
static uint32_t where_left(struct cs_coordinator *co, const struct cs_cell *cell,
			   uint32_t k)
{
	uint32_t flags = 0;

	for (int i = 0; i < cell->agents.n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board,
							   cell->agents.agent[i]);

		if (!cs_agent_is_idle(co, cell->agents.agent[i]))
			continue;
		if (slot->not_moved)
			flags |= CS_ROW_NOT_MOVED;
		if (slot->stayed[k])
			flags |= CS_ROW_STAYED;
	}
	return flags;
}

/* Is the transfer of a round missing for a fault of other agents than its own?  It was not
 * measured, which needs no row. */
static int is_of_others(const struct cs_coordinator *co, const struct cs_cell *cell,
			const struct cs_transfer *t)
{
	int far = cs_transfer_far(t);

	return cell->n > 1 && co->state[t->issuer] == CS_AGENT_OK &&
	       (far < 0 || co->state[far] == CS_AGENT_OK) &&
	       CS_ANY(i, cell->agents.n,
		      co->state[cell->agents.agent[i]] != CS_AGENT_OK);
}

void cs_cell_missing(struct cs_coordinator *co, const struct cs_cell *cell,
		     enum cs_status status, const struct cs_err *err)
{
	for (uint32_t k = 0; k < cell->step->count; k++) {
		struct cs_row row;

		const struct cs_transfer *t = cs_plan_transfer(co->plan, cell->step,
							       k);

		if (cs_transfer_is_load(t) || is_of_others(co, cell, t))
			continue;
		row_init(co, cell, k, &row);
		row.status = (uint8_t)status;
		row.flags |= where_left(co, cell, k);
		cs_text(co->reason, sizeof(co->reason), "%s", err->text);
		row.reason = co->reason;
		co->hooks->row(co->hooks->ctx, &row, NULL);
	}
}

static void corrupt(struct cs_coordinator *co, struct cs_row *row,
		    const struct cs_check *check, uint32_t copy)
{
	row->status = CS_CORRUPT;
	co->apart.wrong_bytes = check->wrong_bytes;
	row->reason = co->reason;
	cs_check_text(check, copy, co->reason, sizeof(co->reason));
}

/* Skew between processes shortens the overlap that is certain. */
static double least_overlap(struct cs_coordinator *co)
{
	const struct cs_sampler *s = &co->sampler;
	double skew_ns = isnan(co->skew_max_us) ? 0 : co->skew_max_us * 1e3;
	double least = 1;

	for (uint32_t i = 0; i < s->n; i++) {
		double most = 0;

		for (uint32_t k = 0; k < s->n_transfers; k++)
			if (!s->load[k] && !s->chase[k])
				most = fmax(most, (double)s->bytes[k] * s->copies[k] /
							  s->gbs[k][i]);
		least = fmin(least,
			     s->overlap[i] - skew_ns / fmax(most, CS_SAMPLE_NS));
	}
	return fmax(least, 0);
}

/* One more reading of the GPUs' state of a flagged cell. */
static int read_state_again(struct cs_coordinator *co, struct cs_cell *cell)
{
	struct cs_err err;

	return !co->stopped &&
	       !cs_agents_order(co, &cell->agents, CS_CMD_READ_STATE, CS_CMD_BRIEF,
				"reading its state", CS_PREPARE_LIMIT_S, &err);
}

void cs_cell_conclude(struct cs_coordinator *co, struct cs_cell *cell, uint32_t flags)
{
	if (co->plan->set.verify == CS_VERIFY_OFF)
		flags |= CS_ROW_NOT_VERIFIED;
	cell->flags = flags;
	cell->looked = (flags & CS_ROW_NOT_CONVERGED ||
			cs_cell_is_throttled(co, &cell->agents)) &&
		       read_state_again(co, cell);
}

/* The worse of both, of a row's GPUs. */
static void worse_state(struct cs_row_apart *of, const struct cs_gpu_state *now)
{
	if (now->sm_mhz >= 0 && (of->sm_mhz < 0 || now->sm_mhz < of->sm_mhz))
		of->sm_mhz = now->sm_mhz;
	if (now->temperature_c > of->temperature_c)
		of->temperature_c = now->temperature_c;
	of->power_w = fmax(of->power_w, now->power_w);
}

/* Set the state that the agents of one transfer reported. */
static void set_state(struct cs_coordinator *co, const struct cs_cell *cell,
		      uint32_t k, struct cs_row *row)
{
	const struct cs_transfer *t = &row->what;
	const struct cs_endpoint *end[] = { &t->src, &t->dst };
	int agent[3] = { (int)t->issuer, -1, -1 }, i;

	for (i = 0; i < 2; i++) {
		if (cs_endpoint_is_numa(end[i]))
			continue;
		agent[1 + i] = end[i]->index;
		co->apart.throttle_at[i] =
			cs_board_slot(co->board, end[i]->index)->throttle;
	}
	for (i = 0; i < 3; i++) {
		const struct cs_slot *slot =
			agent[i] < 0 ? NULL : cs_board_slot(co->board, agent[i]);

		if (!slot)
			continue;
		co->apart.throttle |= slot->throttle;
		if (slot->unproven)
			row->flags |= CS_ROW_NOT_PROVEN;
		if (slot->stayed[k])
			row->flags |= CS_ROW_STAYED;
		if (slot->side[k].flush[0] &&
		    !cs_flush_is_proven(slot->side[k].warm_ns, slot->side[k].cold_ns))
			row->flags |= CS_ROW_NOT_FLUSHED;
		if (slot->facts.before.known && slot->facts.before.others > 0)
			row->flags |= CS_ROW_IN_USE;
	}
	if (co->apart.throttle & CS_THROTTLE_BAD)
		row->flags |= CS_ROW_THROTTLED;
	if (!(row->flags & (CS_ROW_THROTTLED | CS_ROW_NOT_CONVERGED)))
		return;
	for (i = 0; i < 3 && cell->looked; i++)
		if (agent[i] >= 0)
			worse_state(&co->apart,
				    &cs_board_slot(co->board, agent[i])->state_now);
}

void cs_cell_row(struct cs_coordinator *co, const struct cs_cell *cell, uint32_t k,
		 struct cs_row *row)
{
	const struct cs_slot *checker;

	row_init(co, cell, k, row);
	checker = cs_board_slot(co->board, cs_transfer_checker(&row->what));
	row->flags |= cell->flags;
	row->side = &cs_board_slot(co->board, row->what.issuer)->side[k];
	set_state(co, cell, k, row);
	row->checked = checker->checked[k];
	row->checked_whole = checker->checked_whole[k];
	row->checked_part = checker->checked_part[k];
	if (checker->check[k].wrong_words)
		corrupt(co, row, &checker->check[k], checker->wrong_copy[k]);
}

/* Bytes that count for the total: not those of a latency. */
static int is_rate(const struct cs_coordinator *co, const struct cs_cell *cell,
		   uint32_t k)
{
	return cs_transfer_test(co->plan, cs_plan_transfer(co->plan, cell->step, k))
		       ->unit == CS_UNIT_GBS;
}

/* All bytes over the time until the last has ended.  A sum of rates takes each as
 * constant; if they share a link, the rest speed up when one has ended, and the sum is
 * more than the link carries.  CPU transfers continue untimed after their end, so that
 * none runs alone; their untimed bytes are not counted. */
static double total_of(const struct cs_coordinator *co, const struct cs_cell *cell,
		       uint32_t first, uint32_t end, uint32_t i)
{
	const struct cs_sampler *s = &co->sampler;
	double bytes = 0, longest = 0, sum = 0;

	for (uint32_t k = first; k < end; k++) {
		double moved = (double)s->bytes[k] * s->copies[k];

		if (s->load[k] || !is_rate(co, cell, k))
			continue;
		bytes += moved;
		longest = fmax(longest, moved / s->gbs[k][i]);
		sum += s->gbs[k][i];
	}
	return s->goes_on ? sum : bytes / longest;
}

/* The total of the transfers from first to end - 1. */
static void emit_total(struct cs_coordinator *co, const struct cs_cell *cell,
		       uint32_t first, uint32_t end, const struct cs_row *like)
{
	const struct cs_sampler *s = &co->sampler;
	double total[CS_SAMPLES_MAX] = { 0 };
	struct cs_row_apart apart = *like->apart;
	struct cs_row row = *like;

	for (uint32_t i = 0; i < s->n; i++)
		total[i] = total_of(co, cell, first, end, i);
	row.metric = CS_METRIC_TOTAL;
	row.flags &= ~CS_ROW_OUTLIERS;
	row.checked = row.checked_whole = row.checked_part = 0;
	memset(apart.throttle_at, 0, sizeof(apart.throttle_at));
	for (int i = 0; i < CS_STAGES; i++)
		apart.stage_us[i] = NAN;
	row.apart = &apart;
	row.side = NULL;
	cs_cell_emit(co, &row, total, s->n, s->reach);
}

/* The k-th transfer's rates; or, by its unit, the time of one copy in microseconds or of
 * one load, or operations in that time. */
static void emit_series(struct cs_coordinator *co, uint32_t k, struct cs_row *row)
{
	const struct cs_sampler *s = &co->sampler;
	enum cs_unit unit = cs_transfer_test(co->plan, &row->what)->unit;
	double x[CS_SAMPLES_MAX];

	for (uint32_t i = 0; i < s->n; i++)
		x[i] = unit == CS_UNIT_US ? 1e-3 * (double)s->bytes[k] / s->gbs[k][i] :
		       unit == CS_UNIT_NS     ? (double)s->bytes[k] / s->gbs[k][i] :
		       unit == CS_UNIT_GFLOPS ? s->gbs[k][i] / (double)s->bytes[k] :
						s->gbs[k][i];
	cs_cell_emit(co, row, x, s->n, s->reach);
}

/* Medians of the counted samples, which are the last. */
static void set_stages(struct cs_coordinator *co, uint32_t k, struct cs_row *row)
{
	const uint32_t n = co->sampler.n, taken = co->stages.taken;
	double x[CS_SAMPLES_MAX];

	for (int s = 0; s < CS_STAGES && row->what.method == CS_METHOD_PACK; s++) {
		for (uint32_t i = 0; i < n; i++)
			x[i] = co->stages.ns[k][s][(taken - 1 - i) % CS_SAMPLES_MAX];
		co->apart.stage_us[s] = 1e-3 * cs_median(x, n);
	}
}

/* How its kernel was divided, if it was one. */
static void set_kernel(struct cs_coordinator *co, struct cs_row *row)
{
	const struct cs_slot *slot = cs_board_slot(co->board, row->what.issuer);

	co->apart.grid_blocks = slot->blocks;
	co->apart.block_threads = slot->threads;
}

static void emit_transfer(struct cs_coordinator *co, struct cs_cell *cell, uint32_t k,
			  struct cs_row *row)
{
	const struct cs_sampler *s = &co->sampler;

	cs_cell_row(co, cell, k, row);
	/* not every cell of a round is as uncertain as the worst */
	if (cell->n > 1 && cell->rates.margin[k] <= s->precision)
		row->flags &= ~(uint32_t)CS_ROW_NOT_CONVERGED;
	set_kernel(co, row);
	set_stages(co, k, row);
	row->copies = s->copies[k];
	row->discarded = s->discarded;
	if (cell->step->count > 1) {
		row->overlap = least_overlap(co);
		if (row->overlap < CS_OVERLAP_MIN &&
		    !cs_test_goes_in_rounds_within(cell->test))
			row->flags |= CS_ROW_LOW_OVERLAP;
	}
	row->first_ms = s->chase[k] ? NAN :
				      (s->first_ns[k] -
				       (double)s->bytes[k] * s->first_copies[k] /
					       cell->rates.median[k]) *
					      1e-6;
	emit_series(co, k, row);
}

static void find_medians(struct cs_coordinator *co, struct cs_cell *cell)
{
	const struct cs_sampler *s = &co->sampler;
	struct cs_stats rates;

	for (uint32_t k = 0; k < s->n_transfers; k++) {
		if (s->load[k])
			continue;
		cs_stats_of(s->gbs[k], s->n, &rates);
		cell->rates.median[k] = rates.median;
		cell->rates.margin[k] = fmax(cs_stats_margin(&rates), s->reach);
	}
}

/* Merge the state of one of several transfers into that of their total. */
static void merge_state(struct cs_row_apart *all, const struct cs_row_apart *one)
{
	const struct cs_gpu_state state = { one->sm_mhz, one->temperature_c,
					    one->power_w };

	all->throttle |= one->throttle;
	worse_state(all, &state);
}

/* The rows of the cell's transfers from first to end - 1, which are a step's.  Returns
 * whether none is corrupt. */
static int emit_step(struct cs_coordinator *co, struct cs_cell *cell, uint32_t first,
		     uint32_t end)
{
	struct cs_row_apart all = cs_row_apart_unknown;
	uint32_t measured = 0, flags = 0;
	struct cs_row row;
	int sound = 1;

	cell->doubt = 0;
	for (uint32_t k = first; k < end && cell->judge; k++)
		if (cs_concurrency_doubts(cell->judge, &cell->rates, k,
					  cell->step->count))
			cell->doubt = CS_ROW_CONCURRENT;
	for (uint32_t k = first; k < end; k++) {
		if (co->sampler.load[k])
			continue;
		measured += is_rate(co, cell, k) != 0;
		emit_transfer(co, cell, k, &row);
		sound &= row.status == CS_OK;
		flags |= row.flags;
		merge_state(&all, row.apart);
	}
	if (measured > 1 && sound) {
		row.flags |= flags;
		merge_state(&co->apart, &all);
		emit_total(co, cell, first, end, &row);
	}
	return sound;
}

/* Send the figure as that of other patterns, too, that make the same transfers. */
static void emit_alike(struct cs_coordinator *co, const struct cs_cell *cell)
{
	for (uint32_t s = cell->first + 1;
	     co->shared_rows_sent && s < co->plan->n_steps; s++) {
		struct cs_cell alike = *cell;

		alike.step = cs_plan_step(co->plan, s);
		if (!cs_steps_are_alike(co->plan, cell->step, alike.step) ||
		    !cs_cell_is_left(co, s))
			continue;
		alike.first = s;
		alike.test = cs_plan_test(co->plan, alike.step);
		alike.repeats = CS_ROW_SHARED;
		emit_step(co, &alike, 0, alike.step->count);
		co->shared_rows_sent[s] = 1;
	}
}

void cs_cell_rows(struct cs_coordinator *co, struct cs_cell *cell, uint32_t flags)
{
	uint32_t first = 0, end;
	int sound = 1;

	find_medians(co, cell);
	cs_sampler_guess(&co->sampler, co->plan, cell->step,
			 &co->guess[cell->step->matrix]);
	cs_cell_conclude(co, cell, flags);
	for (uint32_t s = cell->first; s < cell->first + cell->n; s++, first = end) {
		end = first + cs_plan_step(co->plan, s)->count;
		sound &= emit_step(co, cell, first, end);
	}
	if (sound && cell->n == 1 && !cell->repeats && co->plan->set.placements <= 1)
		emit_alike(co, cell);
}
