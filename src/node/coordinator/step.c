/* step.c - one step of the plan: is it possible, in time, and how it is carried out. */
#include "node/coordinator/coordinator.h"

#include <math.h>

#include "base/hints.h"
#include "node/coordinator/cell.h"

/* Most copies that a process reads out of another of its GPUs: each is several entries
 * of a queue, and 512 copies block the enqueuing thread while the gate is closed
 * (driver 580). */
#define PULLED_MOST 128

/* ---- is it possible? ---- */

/* Is there room for its ends on the devices? */
static int has_room(struct cs_coordinator *co, const struct cs_transfer *t,
		    struct cs_err *err)
{
	const struct cs_endpoint *end[] = { &t->src, &t->dst };

	for (int i = 0; i < 2; i++) {
		const struct cs_slot *slot;

		if (cs_endpoint_is_numa(end[i]) || cs_transfer_is_managed(t))
			continue;
		slot = cs_board_slot(co->board, end[i]->index);
		if (!slot->no_room[0] ||
		    cs_transfer_room(co->plan, t) <= slot->layout.most)
			continue;
		cs_err_set(err, "%s %s: %s", cs_agent_noun(co), slot->facts.label,
			   slot->no_room);
		return 0;
	}
	return 1;
}

/* Managed memory is no other process's. */
static int is_of_one_process(struct cs_coordinator *co, const struct cs_transfer *t,
			     struct cs_err *err)
{
	if (cs_board_slot(co->board, t->src.index)->pid ==
	    cs_board_slot(co->board, t->dst.index)->pid)
		return 1;
	cs_err_set(err, "managed memory needs both GPUs in one process: %s",
		   cs_hint_brief(CS_HINT_TWO_PROCESSES));
	return 0;
}

/* The way from its issuer to the other end: there, and of the kind it needs? */
static int has_way(struct cs_coordinator *co, const struct cs_transfer *t,
		   struct cs_err *err)
{
	const struct cs_peer_facts *peer;

	if (cs_transfer_far(t) < 0)
		return 1;
	if (cs_transfer_is_managed(t))
		return is_of_one_process(co, t, err);
	peer = &cs_board_slot(co->board, t->issuer)->peer[cs_transfer_far(t)];
	if (peer->via == CS_VIA_FAILED) {
		cs_err_set(err, "%s", peer->reason);
		return 0;
	}
	if (t->op == CS_OP_OPEN && peer->via != CS_VIA_PEER &&
	    peer->via != CS_VIA_IPC) {
		cs_err_set(err,
			   "what CUDA IPC and peer access cost is timed; "
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
static enum cs_status can_run(struct cs_coordinator *co, const struct cs_step *step,
			      const struct cs_agents *agents, struct cs_err *err)
{
	for (int i = 0; i < agents->n; i++)
		if (co->state[agents->agent[i]] != CS_AGENT_OK) {
			cs_err_set(err, "%s", co->fault[agents->agent[i]]);
			return co->unavailable[agents->agent[i]] ? CS_SKIPPED :
								   CS_FAILED;
		}
	for (int i = 0; i < agents->n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board,
							   agents->agent[i]);

		if (!slot->cannot[0])
			continue;
		cs_err_set(err, "%s", slot->cannot);
		return CS_SKIPPED;
	}
	for (int i = 0; i < agents->n && co->skip_in_use; i++) {
		const struct cs_agent_facts *f =
			&cs_board_slot(co->board, agents->agent[i])->facts;

		if (!f->before.known || f->before.others < 1)
			continue;
		cs_in_use_text(f->label, f->before.others, err->text,
			       sizeof(err->text));
		return CS_SKIPPED;
	}
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

		if (!has_way(co, t, err) || !has_room(co, t, err))
			return CS_SKIPPED;
	}
	return CS_OK;
}

/* ---- is there time? ---- */

/* Is there that much of the budget left for a step? */
static int budget_fits(const struct cs_coordinator *co, double seconds)
{
	return cs_clock_s() + seconds < co->budget.steps_s;
}

/* Seconds of a step: the longest of its test and size so far, before there is one the
 * longest of all. */
static double expected_s(const struct cs_coordinator *co, const struct cs_step *step)
{
	double most = 0;

	if (co->longest_s[step->matrix] > 0)
		return co->longest_s[step->matrix];
	for (uint32_t v = 0; v < co->plan->n_matrices; v++)
		most = fmax(most, co->longest_s[v]);
	return most;
}

static void step_took(struct cs_coordinator *co, const struct cs_step *step,
		      double seconds)
{
	double *longest = &co->longest_s[step->matrix];

	*longest = fmax(*longest, seconds);
}

/* ---- how it is carried out ---- */

static void limit_pulls(struct cs_coordinator *co, const struct cs_step *step)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

		if (t->op == CS_OP_READ && cs_cell_via(co, t) == CS_VIA_PEER &&
		    !cs_method_is_kernel(t->method))
			cs_sampler_limit(&co->sampler, k, PULLED_MOST);
	}
}

/* The samples of one cell.  CS_OK with the sampler full, or what went wrong. */
static enum cs_status take_samples(struct cs_coordinator *co, struct cs_cell *cell,
				   enum cs_sampler_answer *answer, struct cs_err *err)
{
	uint32_t off = co->plan->set.verify == CS_VERIFY_ALL ? 0 : CS_CMD_UNCHECKED,
		 first = CS_CMD_FIRST;
	double began = cs_clock_s(), ns[CS_STEP_MAX], load_ns[CS_STEP_MAX];
	enum cs_status status = cs_cell_order(co, cell, CS_CMD_PREPARE, err);

	cs_sampler_init(&co->sampler, co->plan, cell->step,
			co->guess[cell->step->matrix]);
	limit_pulls(co, cell->step);
	do {
		if (status == CS_OK)
			status = cs_cell_sample(co, cell, off | first, ns, load_ns,
						err);
		first = 0;
		if (status != CS_OK)
			return status;
		for (uint32_t k = 0; k < cell->step->count; k++)
			if (!(ns[k] > 0)) {
				cs_err_set(err, "the time of a sample is 0");
				return CS_FAILED;
			}
		*answer = cs_sampler_feed(&co->sampler, ns, load_ns,
					  cs_clock_s() - began);
		if (*answer == CS_SAMPLE_MORE && !budget_fits(co, 0)) {
			cs_err_set(err, CS_LEFT_OUT);
			return CS_SKIPPED;
		}
	} while (*answer == CS_SAMPLE_MORE);
	return cs_cell_order(co, cell, CS_CMD_CHECK, err);
}

static enum cs_status sample_step(struct cs_coordinator *co, struct cs_cell *cell,
				  struct cs_err *err)
{
	enum cs_sampler_answer answer = CS_SAMPLE_LIMIT;
	enum cs_status status = CS_OK;

	if (cs_method_is_divided(cell->test->method))
		status = cs_cell_geometry(co, cell, err);
	if (status == CS_OK)
		status = take_samples(co, cell, &answer, err);

	/* a throttled cell gets a second chance, then the flag */
	if (status == CS_OK && cs_cell_is_throttled(co, &cell->agents) && !co->stopped)
		status = take_samples(co, cell, &answer, err);
	if (status == CS_OK)
		cs_cell_rows(co, cell,
			     answer == CS_SAMPLE_LIMIT ? CS_ROW_NOT_CONVERGED : 0);
	return status;
}

static enum cs_status run_cell(struct cs_coordinator *co, struct cs_cell *cell)
{
	struct cs_err err = { "" };
	enum cs_status status;

	cs_cell_hand_out(co, cell);
	if (budget_fits(co, expected_s(co, cell->step))) {
		status = can_run(co, cell->step, &cell->agents, &err);
	} else {
		cs_err_set(&err, CS_LEFT_OUT);
		status = CS_SKIPPED;
	}
	if (status == CS_OK)
		status = cell->test->how == CS_HOW_GATED ?
				 sample_step(co, cell, &err) :
				 cs_probe_step(co, cell, &err);
	if (status == CS_OK)
		step_took(co, cell->step, cs_clock_s() - cell->began_s);
	else if (cell->n == 1 || co->stopped)
		cs_cell_missing(co, cell, status, &err);
	return status;
}

enum cs_status cs_cell_run(struct cs_coordinator *co, uint32_t first, uint32_t n,
			   uint32_t repeats, const struct cs_concurrency *judge,
			   struct cs_rates *rates)
{
	const struct cs_step step = cs_plan_together(co->plan, first, n);
	struct cs_cell cell = { .first = first,
				.n = n,
				.step = &step,
				.repeats = repeats,
				.judge = judge,
				.test = cs_plan_test(co->plan, &step) };
	enum cs_status status;

	if (budget_fits(co, expected_s(co, &step)))
		cs_coordinator_ways(co, &step);
	cell.began_s = cs_clock_s();
	for (uint32_t k = 0; k < step.count; k++)
		cell.rates.median[k] = NAN;
	status = run_cell(co, &cell);
	if (rates)
		*rates = cell.rates;
	return status;
}

void cs_coordinator_watch(struct cs_coordinator *co)
{
	cs_agents_poll(co);
	if (co->hooks->watch(co->hooks->ctx))
		co->stopped = 1;
}

int cs_coordinator_step(struct cs_coordinator *co, uint32_t s)
{
	if (co->stopped)
		return -1;
	if (cs_cell_is_left(co, s))
		cs_cell_run(co, s, 1, co->remeasure ? CS_ROW_REMEASURED : 0, NULL,
			    NULL);
	cs_coordinator_watch(co);
	return co->stopped ? -1 : 0;
}

/* ---- what the driver does to managed memory ---- */

/* The figures are of a driver that counts, which is slow: a repeat, which is not judged. */
static void emit_counts(struct cs_coordinator *co, const struct cs_cell *cell,
			const double *ns, const double *load_ns)
{
	for (uint32_t k = 0; k < cell->step->count; k++) {
		struct cs_row row;
		double x;

		cs_cell_row(co, cell, k, &row);
		if (row.side->um.moves < 0)
			continue;
		x = cell->test->unit == CS_UNIT_NS ? load_ns[k] :
						     (double)row.what.bytes / ns[k];
		row.copies = 1;
		cs_cell_emit(co, &row, &x, 1, 0);
	}
}

/* Note the first failure to count. */
static void note_uncounted(struct cs_coordinator *co, const struct cs_cell *cell)
{
	char text[CS_ERR_TEXT];

	for (int i = 0; i < cell->agents.n && !co->uncounted; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board,
							   cell->agents.agent[i]);

		if (!slot->uncounted[0])
			continue;
		co->uncounted = 1;
		cs_text(text, sizeof(text), "--why: %s", slot->uncounted);
		cs_fault_find(co, CS_NOTE, CS_FINDING_NOT_COUNTED, text);
	}
}

static int64_t process_of(const struct cs_coordinator *co, int agent)
{
	return cs_board_slot(co->board, agent)->facts.pid;
}

/* CUPTI's own thread begins with the first sample that it counts in a process, and has no
 * records of that sample (CUDA 13.0): is it the first of a process of these agents? */
static int begins_counting(struct cs_coordinator *co, const struct cs_agents *agents)
{
	int begins = 0;

	for (int i = 0; i < agents->n; i++) {
		const int agent = agents->agent[i];

		begins |= !CS_ANY(other, co->n,
				  co->counts[other] && process_of(co, other) ==
							       process_of(co, agent));
	}
	for (int i = 0; i < agents->n; i++)
		co->counts[agents->agent[i]] = 1;
	return begins;
}

static enum cs_status sample_counted(struct cs_coordinator *co, struct cs_cell *cell,
				     double *ns, double *load_ns, struct cs_err *err)
{
	enum cs_status status = cs_cell_order(co, cell, CS_CMD_PREPARE, err);

	if (status == CS_OK)
		status = cs_cell_sample(co, cell, cs_cell_unchecked(co) | CS_CMD_COUNT,
					ns, load_ns, err);
	return status == CS_OK ? cs_cell_order(co, cell, CS_CMD_CHECK, err) : status;
}

/* One sample.  A cell that fails here failed when it was measured, or is not counted. */
static void count_step(struct cs_coordinator *co, uint32_t s)
{
	const struct cs_step *step = cs_plan_step(co->plan, s);
	struct cs_cell cell = { .first = s,
				.n = 1,
				.step = step,
				.repeats = CS_ROW_COUNTED,
				.test = cs_plan_test(co->plan, step),
				.began_s = cs_clock_s() };
	double ns[CS_STEP_MAX], load_ns[CS_STEP_MAX];
	struct cs_err err;

	cs_cell_hand_out(co, &cell);
	if (!budget_fits(co, expected_s(co, step)) ||
	    can_run(co, step, &cell.agents, &err) != CS_OK)
		return;
	cs_sampler_init(&co->sampler, co->plan, step, co->guess[step->matrix]);
	if ((begins_counting(co, &cell.agents) &&
	     sample_counted(co, &cell, ns, load_ns, &err) != CS_OK) ||
	    sample_counted(co, &cell, ns, load_ns, &err) != CS_OK)
		return;
	note_uncounted(co, &cell);
	cs_cell_conclude(co, &cell, 0);
	emit_counts(co, &cell, ns, load_ns);
}

void cs_coordinator_count(struct cs_coordinator *co)
{
	co->turn = 0;
	for (uint32_t s = 0; s < co->plan->n_steps && !co->stopped; s++) {
		const struct cs_step *step = cs_plan_step(co->plan, s);

		if (cs_plan_test(co->plan, step)->how != CS_HOW_GATED ||
		    step->flags & CS_STEP_CONTROL ||
		    !cs_step_applies(co->plan, step, co->n) ||
		    !CS_ANY(k, step->count,
			    cs_transfer_is_managed(cs_plan_transfer(co->plan, step,
								    k))))
			continue;
		count_step(co, s);
		cs_coordinator_watch(co);
	}
}
