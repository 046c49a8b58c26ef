/* cell.c - the parts of a cell: commands to its agents, and samples that start at the
 * gate. */
#include "node/coordinator/cell.h"

#include <string.h>

#include "node/board/stage.h"

#define DRAIN_LIMIT_S 2.0
static void add_once(struct cs_agents *agents, int agent)
{
	for (int i = 0; i < agents->n; i++)
		if (agents->agent[i] == agent)
			return;
	agents->agent[agents->n++] = agent;
}

void cs_cell_hand_out(struct cs_coordinator *co, struct cs_cell *cell)
{
	const struct cs_step *step = cell->step;
	struct cs_agents *agents = &cell->agents;

	agents->n = 0;
	co->workers_use_all_cores = 0;
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

		co->workers_use_all_cores |= cs_transfer_is_by_all_cores(t);

		add_once(agents, t->issuer);
		if (cs_transfer_far(t) >= 0)
			add_once(agents, cs_transfer_far(t));
	}
	for (int i = 0; i < agents->n; i++)
		cs_board_slot(co->board, agents->agent[i])->step = *step;
}

/* Stop a sample that will not end by itself: open its gate, let it drain.  After
 * an agent is lost the others are not waited for, because they may be blocked by it: a
 * launcher leaves 1 s to save the results. */
static void cancel(struct cs_coordinator *co, struct cs_agents *agents,
		   const char *doing, double limit_s)
{
	double end = cs_clock_s() + cs_agents_limit(co, DRAIN_LIMIT_S);

	cs_gate_void(co->board, co->seq);
	if (co->lost)
		return;
	while (!cs_agents_is(co, agents, cs_agents_answered) && cs_clock_s() < end) {
		for (int i = 0; i < agents->n; i++)
			cs_ring_release(co->board, agents->agent[i], co->seq);
		cs_board_wait_reply(co->board, atomic_load(&co->board->replies),
				    CS_SLICE_MS, !co->workers_use_all_cores);
		cs_agents_watch(co);
	}
	if (!co->stopped || co->lost)
		cs_agents_blame(co, agents, doing, limit_s);
}

int cs_cell_via(const struct cs_coordinator *co, const struct cs_transfer *t)
{
	int far = cs_transfer_is_managed(t) ? -1 : cs_transfer_far(t);

	return far < 0 ? CS_VIA_NONE :
			 cs_board_slot(co->board, t->issuer)->peer[far].via;
}

/* Pages between GPUs take the link without a way that we opened. */
static int crosses(const struct cs_coordinator *co, const struct cs_transfer *t)
{
	if (cs_transfer_is_managed(t))
		return cs_transfer_far(t) >= 0;
	return cs_via_crosses(cs_cell_via(co, t)) && t->method != CS_METHOD_CHASE;
}

static void count_way(struct cs_coordinator *co, const struct cs_endpoint *from,
		      const struct cs_endpoint *to, uint64_t bytes)
{
	cs_board_slot(co->board, from->index)->sent_bytes += (int64_t)bytes;
	cs_board_slot(co->board, to->index)->received_bytes += (int64_t)bytes;
}

void cs_cell_count_copies(struct cs_coordinator *co, const struct cs_transfer *t,
			  uint32_t copies)
{
	if (crosses(co, t))
		count_way(co, &t->src, &t->dst, t->bytes * copies);
}

/* Count the bytes of managed memory that a reset moves back.  Before the first sample all of
 * it is on its issuer. */
static void count_returns(struct cs_coordinator *co, const struct cs_step *step,
			  int first)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

		if (cs_transfer_is_managed(t) && crosses(co, t) &&
		    (!first || t->issuer == t->dst.index))
			count_way(co, &t->dst, &t->src, t->bytes);
	}
}

enum cs_status cs_cell_cancel(struct cs_coordinator *co, struct cs_agents *agents,
			      const char *doing, double limit_s, struct cs_err *err)
{
	cancel(co, agents, doing, limit_s);
	if (cs_agents_take(co, agents, err) && co->lost)
		return CS_FAILED;
	if (co->stopped)
		cs_err_set(err, "interrupted while %s", doing);
	else
		cs_err_set(err, "not ended within %.3g s while %s; cancelled",
			   limit_s, doing);
	return CS_TIMEOUT;
}

enum cs_status cs_cell_take(struct cs_coordinator *co, const struct cs_agents *agents,
			    struct cs_err *err)
{
	int failed = 0, refused = 0;
	const char *why = "";

	if (!cs_agents_take(co, agents, err))
		return CS_OK;
	for (int i = 0; i < agents->n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board,
							   agents->agent[i]);

		if (!cs_agent_is_idle(co, agents->agent[i])) {
			failed++;
			continue;
		}
		/* the row names the agent; equal reasons are listed once */
		if (slot->refused && !refused++)
			why = slot->err.text;
		failed += !slot->refused && slot->state != CS_AGENT_OK;
	}
	if (failed || !refused || co->lost)
		return CS_FAILED;
	cs_err_set(err, "%s", why);
	return CS_SKIPPED;
}

enum cs_status cs_cell_fire(struct cs_coordinator *co, struct cs_agents *agents,
			    enum cs_command what, uint32_t flags, double limit_s,
			    struct cs_err *err)
{
	enum cs_status status;

	limit_s = cs_agents_limit(co, limit_s);
	co->seq++;
	cs_agents_command(co, agents, what, flags);
	if (cs_agents_wait(co, agents, cs_agents_armed, limit_s))
		return cs_cell_cancel(co, agents, "arming", limit_s, err);
	for (int i = 0; i < agents->n; i++)
		if (cs_agents_answered(co, agents, i) &&
		    cs_board_slot(co->board, agents->agent[i])->state != CS_AGENT_OK) {
			cancel(co, agents, "draining", DRAIN_LIMIT_S);
			return cs_cell_take(co, agents, err);
		}
	cs_gate_open(co->board, co->seq);
	if (cs_agents_wait(co, agents, cs_agents_answered, limit_s))
		return cs_cell_cancel(co, agents, "copying", limit_s, err);
	status = cs_cell_take(co, agents, err);
	if (status != CS_OK)
		return status;
	/* all gates are open for good: the copies did not wait */
	if (atomic_load(&co->board->released)) {
		co->stopped = 1;
		cs_err_set(err, "interrupted while copying");
		return CS_TIMEOUT;
	}
	return CS_OK;
}

static enum cs_status reset_buffers(struct cs_coordinator *co, struct cs_cell *cell,
				    uint32_t flags, struct cs_err *err)
{
	static const char doing[] = "bringing buffers home";
	const int twice = cs_step_resets_twice(co->plan, cell->step);
	const uint32_t counts = flags & CS_CMD_COUNT;

	if (!cs_step_resets_buffers(co->plan, cell->step))
		return CS_OK;
	if (cs_agents_order(co, &cell->agents, CS_CMD_RESET,
			    (flags & CS_CMD_UNCHECKED) | (twice ? 0 : counts), doing,
			    CS_PREPARE_LIMIT_S, err) ||
	    (twice &&
	     cs_agents_order(co, &cell->agents, CS_CMD_RESET, CS_CMD_AFTER | counts,
			     doing, CS_PREPARE_LIMIT_S, err)))
		return cs_cell_take(co, &cell->agents, err);
	count_returns(co, cell->step, (flags & CS_CMD_FIRST) != 0);
	return CS_OK;
}

/* Take the times of a sample's steps: the source has packing and transfer, the
 * destination the rest. */
static void take_stages(struct cs_coordinator *co, const struct cs_step *step)
{
	const uint32_t at = co->stages.taken++ % CS_SAMPLES_MAX;

	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);
		const double *sent = cs_board_slot(co->board, t->issuer)->stage_ns[k];
		const double *got = cs_board_slot(co->board,
						  cs_stage_timer(co->board, t))
					    ->stage_ns[k];
		double(*to)[CS_SAMPLES_MAX] = co->stages.ns[k];

		if (t->method != CS_METHOD_PACK)
			continue;
		to[CS_STAGE_PACK][at] = sent[CS_STAGE_PACK];
		to[CS_STAGE_TRANSFER][at] = sent[CS_STAGE_TRANSFER];
		to[CS_STAGE_UNPACK][at] = got[CS_STAGE_UNPACK];
	}
}

enum cs_status cs_cell_sample(struct cs_coordinator *co, struct cs_cell *cell,
			      uint32_t flags, double *ns, double *load_ns,
			      struct cs_err *err)
{
	double limit = CS_SAMPLE_LIMIT_S +
		       10e-9 * cs_sampler_expected_ns(&co->sampler);
	const struct cs_step *step = cell->step;
	enum cs_status status;

	for (int i = 0; i < cell->agents.n; i++) {
		struct cs_slot *slot = cs_board_slot(co->board, cell->agents.agent[i]);

		memcpy(slot->copies, co->sampler.copies, sizeof(slot->copies));
		slot->geometry = cell->geometry;
	}
	status = reset_buffers(co, cell, flags, err);
	if (status == CS_OK)
		status = cs_cell_fire(co, &cell->agents, CS_CMD_ARM, flags, limit,
				      err);
	if (status != CS_OK)
		return status;
	take_stages(co, step);
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);
		const struct cs_slot *slot =
			cs_board_slot(co->board, cs_stage_timer(co->board, t));

		cs_cell_count_copies(co, t, co->sampler.copies[k]);
		ns[k] = slot->ns[k];
		load_ns[k] = slot->load_ns[k];
	}
	return CS_OK;
}

uint32_t cs_cell_unchecked(const struct cs_coordinator *co)
{
	return co->plan->set.verify == CS_VERIFY_OFF ? CS_CMD_UNCHECKED : 0;
}

enum cs_status cs_cell_order(struct cs_coordinator *co, struct cs_cell *cell,
			     enum cs_command what, struct cs_err *err)
{
	const char *doing = what == CS_CMD_CHECK ? "checking a cell" :
						   "preparing a cell";

	return cs_agents_order(co, &cell->agents, what, cs_cell_unchecked(co), doing,
			       CS_PREPARE_LIMIT_S, err) ?
		       cs_cell_take(co, &cell->agents, err) :
		       CS_OK;
}

int cs_cell_is_throttled(const struct cs_coordinator *co,
			 const struct cs_agents *agents)
{
	uint64_t seen = 0;

	for (int i = 0; i < agents->n; i++)
		seen |= cs_board_slot(co->board, agents->agent[i])->throttle;
	return (seen & CS_THROTTLE_BAD) != 0;
}

int cs_cell_is_left(const struct cs_coordinator *co, uint32_t s)
{
	return cs_step_applies(co->plan, cs_plan_step(co->plan, s), co->n) &&
	       !(co->done && co->done[s]) &&
	       !(co->shared_rows_sent && co->shared_rows_sent[s] && !co->remeasure);
}
