/* cell.c - one step of the plan: is it possible, its samples, its rows. */
#include "config.h"

#include "node/coordinator.h"

#include <math.h>
#include <string.h>

#include "base/hints.h"
#include "node/cell.h"
#include "node/stage.h"

#define DRAIN_LIMIT_S 2.0
/* The first tells how many copies fill a sample. */
#define GEOMETRY_SAMPLES 3

/* ---- one cell ---- */

static void add_once(struct cs_crew *crew, int agent)
{
	for (int i = 0; i < crew->n; i++)
		if (crew->agent[i] == agent)
			return;
	crew->agent[crew->n++] = agent;
}

static void crew_of_step(const struct cs_coordinator *co,
			 const struct cs_step *step, struct cs_crew *crew)
{
	crew->n = 0;
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t =
			cs_plan_transfer(co->plan, step, k);

		add_once(crew, t->issuer);
		if (cs_transfer_far(t) >= 0)
			add_once(crew, cs_transfer_far(t));
	}
}

/* Is there room for its ends on the devices? */
static int has_room(struct cs_coordinator *co, const struct cs_transfer *t,
		    struct cs_err *err)
{
	const struct cs_end *end[] = { &t->src, &t->dst };

	for (int i = 0; i < 2; i++) {
		const struct cs_slot *slot;

		if (cs_end_is_numa(end[i]))
			continue;
		slot = cs_board_slot(co->board, end[i]->index);
		if (!slot->no_room[0] || t->bytes <= slot->layout.most)
			continue;
		cs_err_set(err, "%s %s: %s", cs_agent_noun(co),
			   slot->facts.label, slot->no_room);
		return 0;
	}
	return 1;
}

/* The way from its issuer to the other end: there, and of the kind it needs? */
static int has_way(struct cs_coordinator *co, const struct cs_transfer *t,
		   struct cs_err *err)
{
	const struct cs_peer_facts *peer;

	if (cs_transfer_far(t) < 0)
		return 1;
	peer = &cs_board_slot(co->board, t->issuer)->peer[cs_transfer_far(t)];
	if (peer->via == CS_VIA_FAILED) {
		cs_err_set(err, "%s", peer->reason);
		return 0;
	}
	if (t->op == CS_OP_OPEN && peer->via != CS_VIA_PEER &&
	    peer->via != CS_VIA_IPC) {
		cs_err_set(err, "what CUDA IPC and peer access cost is timed; "
			   "this buffer is reached another way: %s",
			   cs_via_text(peer->via));
		return 0;
	}
	if (t->method == CS_METHOD_PEERCOPY && peer->via != CS_VIA_PEER) {
		cs_err_set(err, "cuMemcpyPeerAsync needs pointers of one process: %s",
			   peer->via == CS_VIA_FD && co->plan->set.via ?
			   "not with --via fd" :
			   cs_hint_brief(CS_HINT_TWO_PROCESSES));
		return 0;
	}
	return 1;
}

/* Before anything is tried: is there an agent or a way missing? */
static enum cs_status can_run(struct cs_coordinator *co,
			      const struct cs_step *step,
			      const struct cs_crew *crew, struct cs_err *err)
{
	for (int i = 0; i < crew->n; i++)
		if (co->state[crew->agent[i]] != CS_AGENT_OK) {
			cs_err_set(err, "%s", co->fault[crew->agent[i]]);
			return CS_FAILED;
		}
	for (int i = 0; i < crew->n; i++) {
		const struct cs_slot *slot =
			cs_board_slot(co->board, crew->agent[i]);

		if (!slot->cannot[0])
			continue;
		cs_err_set(err, "%s", slot->cannot);
		return CS_SKIPPED;
	}
	for (int i = 0; i < crew->n && co->skip_in_use; i++) {
		const struct cs_agent_facts *f =
			&cs_board_slot(co->board, crew->agent[i])->facts;

		if (!f->before.known || f->before.others < 1)
			continue;
		cs_in_use_text(f->label, f->before.others, err->text,
			       sizeof(err->text));
		return CS_SKIPPED;
	}
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t =
			cs_plan_transfer(co->plan, step, k);

		if (!has_way(co, t, err) || !has_room(co, t, err))
			return CS_SKIPPED;
	}
	return CS_OK;
}

/* Stop a sample that will not end by itself: open its gate, let it drain.  When an
 * agent is lost nobody waits for those beside it, whom that may hold up: a launcher
 * leaves 1 s to save what there is. */
static void cancel(struct cs_coordinator *co, struct cs_crew *crew,
		   const char *doing, double limit_s)
{
	double end = cs_clock_s() + cs_crew_limit(co, DRAIN_LIMIT_S);

	cs_gate_void(co->board, co->seq);
	if (co->lost)
		return;
	while (!cs_crew_is(co, crew, cs_crew_answered) && cs_clock_s() < end) {
		for (int i = 0; i < crew->n; i++)
			cs_ring_release(co->board, crew->agent[i], co->seq);
		cs_board_wait_reply(co->board, atomic_load(&co->board->replies),
				    CS_SLICE_MS);
		cs_crew_look(co);
	}
	if (!co->stopped || co->lost)
		cs_crew_blame(co, crew, doing, limit_s);
}

/* The way that a transfer takes; none where host memory is an end. */
static int via_of(const struct cs_coordinator *co, const struct cs_transfer *t)
{
	int far = cs_transfer_far(t);

	return far < 0 ? CS_VIA_NONE :
			 cs_board_slot(co->board, t->issuer)->peer[far].via;
}

/* Each end's share of what a sample has moved, to be held against the counters of
 * the links. */
static void count_bytes(struct cs_coordinator *co, const struct cs_step *step)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t =
			cs_plan_transfer(co->plan, step, k);
		int64_t bytes = (int64_t)(t->bytes * co->sampler.copies[k]);

		if (!cs_via_crosses(via_of(co, t)) ||
		    t->method == CS_METHOD_CHASE)
			continue;
		cs_board_slot(co->board, t->src.index)->sent_bytes += bytes;
		cs_board_slot(co->board, t->dst.index)->received_bytes += bytes;
	}
}

enum cs_status cs_cell_cancel(struct cs_coordinator *co, struct cs_crew *crew,
			      const char *doing, double limit_s,
			      struct cs_err *err)
{
	cancel(co, crew, doing, limit_s);
	if (cs_crew_take(co, crew, err) && co->lost)
		return CS_FAILED;
	if (co->stopped)
		cs_err_set(err, "interrupted while %s", doing);
	else
		cs_err_set(err, "not ended within %.3g s while %s; cancelled",
			   limit_s, doing);
	return CS_TIMEOUT;
}

/* What they answered: all is well, it failed, or it cannot be done here. */
static enum cs_status take(struct cs_coordinator *co, const struct cs_crew *crew,
			   struct cs_err *err)
{
	int failed = 0, refused = 0;
	const char *why = "";

	if (!cs_crew_take(co, crew, err))
		return CS_OK;
	for (int i = 0; i < crew->n; i++) {
		const struct cs_slot *slot =
			cs_board_slot(co->board, crew->agent[i]);

		/* the row says of whom: equal reasons are one */
		if (slot->refused && !refused++)
			why = slot->err.text;
		failed += !slot->refused && slot->state != CS_AGENT_OK;
	}
	if (failed || !refused || co->lost)
		return CS_FAILED;
	cs_err_set(err, "%s", why);
	return CS_SKIPPED;
}

enum cs_status cs_cell_fire(struct cs_coordinator *co, struct cs_crew *crew,
			    enum cs_command what, uint32_t flags,
			    double limit_s, struct cs_err *err)
{
	enum cs_status status;

	limit_s = cs_crew_limit(co, limit_s);
	co->seq++;
	cs_crew_command(co, crew, what, flags);
	if (cs_crew_wait(co, crew, cs_crew_armed, limit_s))
		return cs_cell_cancel(co, crew, "arming", limit_s, err);
	for (int i = 0; i < crew->n; i++)
		if (cs_crew_answered(co, crew, i) &&
		    cs_board_slot(co->board, crew->agent[i])->state !=
			    CS_AGENT_OK) {
			cancel(co, crew, "draining", DRAIN_LIMIT_S);
			return take(co, crew, err);
		}
	cs_gate_open(co->board, co->seq);
	if (cs_crew_wait(co, crew, cs_crew_answered, limit_s))
		return cs_cell_cancel(co, crew, "copying", limit_s, err);
	status = take(co, crew, err);
	if (status != CS_OK)
		return status;
	/* somebody let all gates go for good: nothing was held back any more */
	if (atomic_load(&co->board->released)) {
		co->stopped = 1;
		cs_err_set(err, "interrupted while copying");
		return CS_TIMEOUT;
	}
	return CS_OK;
}

/* Arm, open the gate, wait: ns[k] of every transfer.  Returns CS_OK, or what the
 * cell has become, with the reason. */
static enum cs_status sample(struct cs_coordinator *co, struct cs_cell *cell,
			     uint32_t flags, double *ns, double *load_ns,
			     struct cs_err *err)
{
	double limit = CS_SAMPLE_LIMIT_S +
		       10e-9 * cs_sampler_expected_ns(&co->sampler);
	const struct cs_step *step = cell->step;
	enum cs_status status;

	for (int i = 0; i < cell->crew.n; i++) {
		struct cs_slot *slot =
			cs_board_slot(co->board, cell->crew.agent[i]);

		memcpy(slot->copies, co->sampler.copies, sizeof(slot->copies));
		slot->geometry = cell->geometry;
	}
	status = cs_cell_fire(co, &cell->crew, CS_CMD_ARM, flags, limit, err);
	if (status != CS_OK)
		return status;
	count_bytes(co, step);
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_slot *slot = cs_board_slot(
			co->board,
			cs_stage_timer(co->board,
				       cs_plan_transfer(co->plan, step, k)));

		ns[k] = slot->ns[k];
		load_ns[k] = slot->load_ns[k];
	}
	return CS_OK;
}

enum cs_status cs_cell_order(struct cs_coordinator *co, struct cs_cell *cell,
			     enum cs_command what, struct cs_err *err)
{
	uint32_t off = co->plan->set.verify == CS_VERIFY_OFF ?
			       CS_CMD_UNCHECKED : 0;
	const char *doing = what == CS_CMD_CHECK ? "checking a cell" :
						   "preparing a cell";

	return cs_crew_order(co, &cell->crew, what, off, doing,
			     CS_PREPARE_LIMIT_S, err) ?
		       take(co, &cell->crew, err) : CS_OK;
}

/* The samples of one cell.  CS_OK with the sampler full, or what went wrong. */
static enum cs_status take_samples(struct cs_coordinator *co,
				   struct cs_cell *cell,
				   enum cs_sampler_answer *answer,
				   struct cs_err *err)
{
	uint32_t off = co->plan->set.verify == CS_VERIFY_ALL ?
			       0 : CS_CMD_UNCHECKED;
	double began = cs_clock_s(), ns[CS_STEP_MAX], load_ns[CS_STEP_MAX];
	enum cs_status status = cs_cell_order(co, cell, CS_CMD_PREPARE, err);

	cs_sampler_init(&co->sampler, co->plan, cell->step,
			co->guess[cell->step->view]);
	do {
		if (status == CS_OK)
			status = sample(co, cell, off, ns, load_ns, err);
		if (status != CS_OK)
			return status;
		for (uint32_t k = 0; k < cell->step->count; k++)
			if (!(ns[k] > 0)) {
				cs_err_set(err, "the time of a sample is 0");
				return CS_FAILED;
			}
		*answer =
			cs_sampler_feed(&co->sampler, ns, load_ns,
					cs_clock_s() - began);
		if (*answer == CS_SAMPLE_MORE && !cs_budget_fits(co, 0)) {
			cs_err_set(err, CS_LEFT_OUT);
			return CS_SKIPPED;
		}
	} while (*answer == CS_SAMPLE_MORE);
	return cs_cell_order(co, cell, CS_CMD_CHECK, err);
}

/* ---- rows ---- */

static uint32_t outlier_flag(const struct cs_row *row, const double *x)
{
	for (uint32_t i = 0; i < row->n_samples; i++)
		if (row->stats.mad > 0 && fabs(x[i] - row->stats.median) >
						  5 * 1.4826 * row->stats.mad)
			return CS_ROW_OUTLIERS;
	return 0;
}

void cs_cell_emit(struct cs_coordinator *co, struct cs_row *row,
		  const double *samples, uint32_t n)
{
	row->n_samples = n;
	cs_stats_of(samples, n, &row->stats);
	row->flags |= outlier_flag(row, samples);
	co->hooks->row(co->hooks->ctx, row, samples);
}

static int is_load(const struct cs_coordinator *co, const struct cs_cell *cell,
		   uint32_t k)
{
	return cs_transfer_is_load(cs_plan_transfer(co->plan, cell->step, k));
}

static void row_init(struct cs_coordinator *co, const struct cs_cell *cell,
		     uint32_t k, struct cs_row *row)
{
	const struct cs_step *step = cell->step;
	const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

	memset(row, 0, sizeof(*row));
	row->node = co->node;
	row->step = cs_plan_step_of(co->plan, cell->first, k);
	row->test = cs_plan_view(co->plan, t->view)->test;
	row->metric = CS_METRIC_RATE;
	row->block = co->block;
	row->company = (uint8_t)(step->count - 1);
	row->what = *t;
	row->via = (uint8_t)via_of(co, t);
	row->flags = cell->repeats |
		     (step->flags & CS_STEP_CONTROL ? CS_ROW_CONTROL : 0);
	row->overlap = row->first_ms = NAN;
	row->sm_mhz = row->temperature_c = -1;
	row->power_w = NAN;
	row->t_start_s = cell->began_s - co->began_s;
	row->seconds = cs_clock_s() - cell->began_s;
}

static void emit_missing(struct cs_coordinator *co, const struct cs_cell *cell,
			 enum cs_status status, const struct cs_err *err)
{
	for (uint32_t k = 0; k < cell->step->count; k++) {
		struct cs_row row;

		if (is_load(co, cell, k))
			continue;
		row_init(co, cell, k, &row);
		row.status = (uint8_t)status;
		cs_text(row.reason, sizeof(row.reason), "%s", err->text);
		co->hooks->row(co->hooks->ctx, &row, NULL);
	}
}

static void corrupt(struct cs_row *row, const struct cs_check *check)
{
	row->status = CS_CORRUPT;
	row->wrong_words = check->wrong_words;
	cs_text(row->reason, sizeof(row->reason),
		"%lu of %lu 8-byte words wrong, first at byte %lu: expected %016lx, found %016lx%s",
		(unsigned long)check->wrong_words,
		(unsigned long)(row->what.bytes / 8),
		(unsigned long)check->first_word * 8,
		(unsigned long)check->expected, (unsigned long)check->found,
		check->poison_words == check->wrong_words ? "; never written"
		: check->poison_words ? "; partly never written"
				      : "");
}

/* Skew between processes takes from what is surely common. */
static double least_overlap(struct cs_coordinator *co)
{
	const struct cs_sampler *s = &co->sampler;
	double skew_ns = isnan(co->skew_max_us) ? 0 : co->skew_max_us * 1e3;
	double least = 1;

	for (uint32_t i = 0; i < s->n; i++) {
		double most = 0;

		for (uint32_t k = 0; k < s->n_transfers; k++)
			if (!s->load[k] && !s->chase[k])
				most = fmax(most, (double)s->bytes[k] *
							  s->copies[k] /
							  s->gbs[k][i]);
		least = fmin(least, s->overlap[i] -
					    skew_ns / fmax(most, CS_SAMPLE_NS));
	}
	return fmax(least, 0);
}

/* One more look at the GPUs of a flagged cell. */
static void look_again(struct cs_coordinator *co, struct cs_cell *cell)
{
	struct cs_err err;

	if (co->stopped || cs_crew_order(co, &cell->crew, CS_CMD_LOOK,
					 CS_CMD_BRIEF, "reading its state",
					 CS_PREPARE_LIMIT_S, &err))
		return;
	for (int i = 0; i < cell->crew.n; i++) {
		const struct cs_gpu_state *now =
			&cs_board_slot(co->board, cell->crew.agent[i])->state_now;
		struct cs_gpu_state *worst = &cell->state;

		if (now->sm_mhz >= 0 &&
		    (worst->sm_mhz < 0 || now->sm_mhz < worst->sm_mhz))
			worst->sm_mhz = now->sm_mhz;
		if (now->temperature_c > worst->temperature_c)
			worst->temperature_c = now->temperature_c;
		worst->power_w = fmax(worst->power_w, now->power_w);
	}
}

void cs_cell_conclude(struct cs_coordinator *co, struct cs_cell *cell,
		      uint32_t flags)
{
	if (co->plan->set.verify == CS_VERIFY_OFF)
		flags |= CS_ROW_NOT_VERIFIED;
	cell->throttle = 0;
	for (int i = 0; i < cell->crew.n; i++) {
		struct cs_slot *slot =
			cs_board_slot(co->board, cell->crew.agent[i]);

		cell->throttle |= slot->throttle;
		if (slot->unproven)
			flags |= CS_ROW_NOT_PROVEN;
		if (slot->facts.before.known && slot->facts.before.others > 0)
			flags |= CS_ROW_IN_USE;
	}
	if (cell->throttle & CS_THROTTLE_BAD)
		flags |= CS_ROW_THROTTLED;
	cell->flags = flags;
	if (flags & (CS_ROW_THROTTLED | CS_ROW_NOT_CONVERGED))
		look_again(co, cell);
}

void cs_cell_row(struct cs_coordinator *co, const struct cs_cell *cell, uint32_t k,
		 struct cs_row *row)
{
	const struct cs_slot *checker;

	row_init(co, cell, k, row);
	checker = cs_board_slot(co->board, cs_transfer_checker(&row->what));
	row->flags |= cell->flags;
	row->throttle = cell->throttle;
	row->sm_mhz = cell->state.sm_mhz;
	row->temperature_c = cell->state.temperature_c;
	row->power_w = cell->state.power_w;
	row->checked = checker->checked[k];
	if (checker->check[k].wrong_words)
		corrupt(row, &checker->check[k]);
}

/* Bytes that count for the total: not those of a latency. */
static int is_rate(const struct cs_coordinator *co, const struct cs_cell *cell,
		   uint32_t k)
{
	return cs_transfer_test(co->plan, cs_plan_transfer(co->plan, cell->step, k))
		       ->unit == CS_UNIT_GBS;
}

/* Inside the window that all have in common each transfer's own rate is taken as
 * constant.  Transfers that hardly met have no such window: all bytes over the longest
 * time. */
static double total_of(const struct cs_coordinator *co, const struct cs_cell *cell,
		       uint32_t first, uint32_t end, uint32_t i)
{
	const struct cs_sampler *s = &co->sampler;
	double rates = 0, bytes = 0, longest = 0;

	for (uint32_t k = first; k < end; k++) {
		double moved = (double)s->bytes[k] * s->copies[k];

		if (s->load[k] || !is_rate(co, cell, k))
			continue;
		rates += s->gbs[k][i];
		bytes += moved;
		longest = fmax(longest, moved / s->gbs[k][i]);
	}
	return s->overlap[i] >= CS_OVERLAP_MIN ? rates : bytes / longest;
}

/* Of the transfers from first to end - 1. */
static void emit_total(struct cs_coordinator *co, const struct cs_cell *cell,
		       uint32_t first, uint32_t end, const struct cs_row *like)
{
	const struct cs_sampler *s = &co->sampler;
	double total[CS_SAMPLES_MAX] = { 0 };
	struct cs_row row = *like;

	for (uint32_t i = 0; i < s->n; i++)
		total[i] = total_of(co, cell, first, end, i);
	row.metric = CS_METRIC_TOTAL;
	row.flags &= ~CS_ROW_OUTLIERS;
	row.checked = 0;
	cs_cell_emit(co, &row, total, s->n);
}

/* The k-th transfer's rates; or, where that is what is asked for, the time of one
 * copy in microseconds. */
static void emit_series(struct cs_coordinator *co, uint32_t k, struct cs_row *row)
{
	const struct cs_sampler *s = &co->sampler;
	enum cs_unit unit = cs_transfer_test(co->plan, &row->what)->unit;
	double x[CS_SAMPLES_MAX];

	for (uint32_t i = 0; i < s->n; i++)
		x[i] = unit == CS_UNIT_US ?
			       1e-3 * (double)s->bytes[k] / s->gbs[k][i] :
		       unit == CS_UNIT_NS ?
			       (double)s->bytes[k] / s->gbs[k][i] :
			       s->gbs[k][i];
	cs_cell_emit(co, row, x, s->n);
}

/* How its kernel was divided, if it was one. */
static void set_kernel(struct cs_coordinator *co, struct cs_row *row)
{
	const struct cs_slot *slot = cs_board_slot(co->board, row->what.issuer);

	row->blocks = slot->blocks;
	row->threads = slot->threads;
}

static void emit_transfer(struct cs_coordinator *co, struct cs_cell *cell,
			  uint32_t k, struct cs_row *row)
{
	const struct cs_sampler *s = &co->sampler;

	cs_cell_row(co, cell, k, row);
	set_kernel(co, row);
	row->copies = s->copies[k];
	row->discarded = s->discarded;
	if (cell->step->count > 1) {
		row->overlap = least_overlap(co);
		if (row->overlap < CS_OVERLAP_MIN)
			row->flags |= CS_ROW_LOW_OVERLAP;
	}
	row->first_ms = s->chase[k] ? NAN :
		(s->first_ns[k] - (double)s->bytes[k] * s->first_copies[k] /
					  cell->median[k]) * 1e-6;
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
		cell->median[k] = rates.median;
		if (rates.median < cell->least)
			cell->repeats |= CS_ROW_COMPANY;
	}
}

/* The rows of the cell's transfers from first to end - 1, which are a step's. */
static void emit_step(struct cs_coordinator *co, struct cs_cell *cell,
		      uint32_t first, uint32_t end)
{
	uint32_t measured = 0, k;
	struct cs_row row;
	int sound = 1;

	for (k = first; k < end; k++) {
		if (co->sampler.load[k])
			continue;
		measured += is_rate(co, cell, k) != 0;
		emit_transfer(co, cell, k, &row);
		sound &= row.status == CS_OK;
	}
	if (measured > 1 && sound)
		emit_total(co, cell, first, end, &row);
}

static void emit_cell(struct cs_coordinator *co, struct cs_cell *cell,
		      enum cs_sampler_answer answer)
{
	uint32_t s, first = 0, end;

	find_medians(co, cell);
	cs_sampler_guess(&co->sampler, co->plan, cell->step,
			 &co->guess[cell->step->view]);
	cs_cell_conclude(co, cell, answer == CS_SAMPLE_LIMIT ?
					   CS_ROW_NOT_CONVERGED : 0);
	for (s = cell->first; s < cell->first + cell->n; s++, first = end) {
		end = first + cs_plan_step(co->plan, s)->count;
		emit_step(co, cell, first, end);
	}
}

static int throttled(struct cs_coordinator *co, const struct cs_crew *crew)
{
	uint64_t seen = 0;

	for (int i = 0; i < crew->n; i++)
		seen |= cs_board_slot(co->board, crew->agent[i])->throttle;
	return (seen & CS_THROTTLE_BAD) != 0;
}

/* ---- kernels ---- */

/* Time per byte of the last sample, summed over the measured transfers. */
static double pace(const struct cs_sampler *s)
{
	double sum = 0;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (!s->load[k])
			sum += 1 / s->last_gbs[k];
	return sum;
}

static enum cs_status try_geometry(struct cs_coordinator *co,
				   struct cs_cell *cell, uint32_t flags,
				   double *worst, struct cs_err *err)
{
	double ns[CS_STEP_MAX], load_ns[CS_STEP_MAX];

	*worst = 0;
	for (int i = 0; i < GEOMETRY_SAMPLES; i++) {
		enum cs_status status = sample(co, cell, flags, ns, load_ns, err);

		if (status != CS_OK)
			return status;
		cs_sampler_feed(&co->sampler, ns, load_ns, 0);
		/* a division that is fast now and then is not */
		if (i)
			*worst = fmax(*worst, pace(&co->sampler));
	}
	return CS_OK;
}

/* The transfer that the kernel of what the step measures first moves back; 0: none. */
static uint32_t back_of_first(const struct cs_coordinator *co,
			      const struct cs_step *step)
{
	const struct cs_transfer *first = cs_plan_transfer(co->plan, step, 0);
	uint32_t k;

	for (k = 1; k < step->count; k++)
		if (cs_transfers_are_twins(first, cs_plan_transfer(co->plan, step,
								   k)))
			return k;
	return 0;
}

/* Where the choice for this kind of link, direction and size is kept: in the first
 * view of that kind. */
static uint32_t *kept_geometry(struct cs_coordinator *co,
			       const struct cs_cell *cell)
{
	const struct cs_test *test = cell->test, *other;
	uint32_t v;
	size_t n;

	for (v = 0; v < cell->step->view; v++) {
		const struct cs_view *view = cs_plan_view(co->plan, v);

		other = &cs_catalogue(&n)[view->test];
		if (other->path == test->path && other->method == test->method &&
		    other->op == test->op && other->memory == test->memory &&
		    view->bytes == cs_plan_view(co->plan, cell->step->view)->bytes)
			break;
	}
	return &co->geometry[v][back_of_first(co, cell->step) > 0];
}

static void hand_out(struct cs_coordinator *co, const struct cs_cell *cell)
{
	for (int i = 0; i < cell->crew.n; i++)
		cs_board_slot(co->board, cell->crew.agent[i])->step = *cell->step;
}

static enum cs_status fastest_geometry(struct cs_coordinator *co,
				       struct cs_cell *cell, uint32_t *best,
				       struct cs_err *err)
{
	enum cs_status status = cs_cell_order(co, cell, CS_CMD_PREPARE, err);
	double least = INFINITY, at;
	uint32_t n = 1;

	for (uint32_t g = 0; status == CS_OK && g < n; g++) {
		cell->geometry = g;
		cs_sampler_init(&co->sampler, co->plan, cell->step,
				co->guess[cell->step->view]);
		status = try_geometry(co, cell, CS_CMD_UNCHECKED, &at, err);
		n = cs_board_slot(co->board, cell->crew.agent[0])->geometries;
		if (status == CS_OK && at < least) {
			least = at;
			*best = g;
		}
	}
	return status;
}

/* The first cell of a kind tries all divisions that the backend has for its kernels,
 * and all others take the fastest: which it is depends on the link.  It tries them
 * with nothing beside its first kernel, whatever the cell has there. */
static enum cs_status choose_geometry(struct cs_coordinator *co,
				      struct cs_cell *cell, struct cs_err *err)
{
	uint32_t *chosen = kept_geometry(co, cell), best = 0;
	struct cs_step alone = *cell->step;
	struct cs_cell trial = *cell;
	enum cs_status status = CS_OK;

	if (!cs_method_is_kernel(cell->test->method))
		return CS_OK;
	if (!*chosen) {
		alone.count = back_of_first(co, &alone) + 1;
		trial.step = &alone;
		crew_of_step(co, &alone, &trial.crew);
		hand_out(co, &trial);
		status = fastest_geometry(co, &trial, &best, err);
		hand_out(co, cell);
		if (status == CS_OK)
			*chosen = best + 1;
	}
	cell->geometry = *chosen - 1;
	return status;
}

static enum cs_status sample_step(struct cs_coordinator *co,
				  struct cs_cell *cell, struct cs_err *err)
{
	enum cs_sampler_answer answer = CS_SAMPLE_LIMIT;
	enum cs_status status = choose_geometry(co, cell, err);

	if (status == CS_OK)
		status = take_samples(co, cell, &answer, err);

	/* a throttled cell gets a second chance, then the flag */
	if (status == CS_OK && throttled(co, &cell->crew) && !co->stopped)
		status = take_samples(co, cell, &answer, err);
	if (status == CS_OK)
		emit_cell(co, cell, answer);
	return status;
}

static enum cs_status run_cell(struct cs_coordinator *co, struct cs_cell *cell)
{
	struct cs_err err = { "" };
	enum cs_status status;

	crew_of_step(co, cell->step, &cell->crew);
	hand_out(co, cell);
	if (cs_budget_fits(co, cs_step_expected_s(co, cell->step))) {
		status = can_run(co, cell->step, &cell->crew, &err);
	} else {
		cs_err_set(&err, CS_LEFT_OUT);
		status = CS_SKIPPED;
	}
	if (status == CS_OK)
		status = cell->test->how == CS_HOW_GATED ?
				 sample_step(co, cell, &err) :
				 cs_probe_step(co, cell, &err);
	if (status == CS_OK)
		cs_step_took(co, cell->step, cs_clock_s() - cell->began_s);
	else if (cell->n == 1 || co->stopped)
		emit_missing(co, cell, status, &err);
	return status;
}

enum cs_status cs_cell_run(struct cs_coordinator *co, uint32_t first, uint32_t n,
			   uint32_t repeats, double least, double *median)
{
	const struct cs_step step = cs_plan_together(co->plan, first, n);
	struct cs_cell cell = { .first = first, .n = n, .step = &step,
				.repeats = repeats, .least = least,
				.test = cs_plan_test(co->plan, &step),
				.began_s = cs_clock_s(),
				.state = { -1, -1, NAN } };
	enum cs_status status;

	for (uint32_t k = 0; k < step.count; k++)
		cell.median[k] = NAN;
	status = run_cell(co, &cell);
	if (median)
		memcpy(median, cell.median, step.count * sizeof(*median));
	return status;
}

void cs_cell_look(struct cs_coordinator *co)
{
	cs_agents_look(co);
	if (co->hooks->watch(co->hooks->ctx))
		co->stopped = 1;
}

int cs_cell_is_left(const struct cs_coordinator *co, uint32_t s)
{
	return cs_step_applies(co->plan, cs_plan_step(co->plan, s), co->n) &&
	       !(co->done && co->done[s]);
}

int cs_coordinator_step(struct cs_coordinator *co, uint32_t s, uint32_t block)
{
	if (co->stopped)
		return -1;
	co->block = block;
	if (cs_cell_is_left(co, s))
		cs_cell_run(co, s, 1, co->again ? CS_ROW_AGAIN : 0, 0, NULL);
	cs_cell_look(co);
	return co->stopped ? -1 : 0;
}
