#include "node/coordinator/coordinator.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node/coordinator/cell.h"

#define CLOSE_LIMIT_S 10.0 /* the verdict is already printed */
#define SKEW_SAMPLES 15

void cs_coordinator_init(struct cs_coordinator *co, struct cs_board *board,
			 uint32_t node, const struct cs_coordinator_hooks *hooks)
{
	struct cs_faults faults = { .state = CS_AGENT_FAILED };

	memset(co, 0, sizeof(*co));
	for (int v = 0; v < CS_MATRICES_MAX; v++)
		co->concurrent[v].alone = (struct cs_vec)CS_VEC(double);
	co->board = board;
	co->plan = cs_board_plan(board);
	co->shared_rows_sent = calloc(co->plan->n_steps, 1);
	co->hooks = hooks;
	co->node = node;
	co->n = (int)board->n_agents;
	co->began_s = cs_clock_s();
	cs_budget_init(&co->budget, 0, co->began_s, 0);
	co->skew_max_us = NAN;
	for (int i = 0; i < co->n; i++) {
		struct cs_slot *slot = cs_board_slot(board, i);
		int64_t pid = atomic_load(&slot->pid);

		/* an agent without a process: ours is there at least */
		cs_process_open(pid < 0 ? getpid() : pid, &co->process[i]);
		if (pid < 0 && !cs_board_lacks_helper(board, i))
			cs_faults_add(&faults, i, slot->cannot);
	}
	cs_faults_report(co, &faults);
	cs_agents_poll(co);
}

void cs_coordinator_poll(struct cs_coordinator *co)
{
	cs_agents_poll(co);
}

void cs_coordinator_close(struct cs_coordinator *co)
{
	for (int i = 0; i < co->n; i++)
		cs_process_close(&co->process[i]);
	for (uint32_t v = 0; v < CS_MATRICES_MAX; v++)
		cs_vec_release(&co->concurrent[v].alone);
	free(co->shared_rows_sent);
}

/* Order something from all agents; one that fails is out for the whole plan. */
static void order_all(struct cs_coordinator *co, enum cs_command what, uint32_t flags,
		      const char *doing, double limit_s)
{
	struct cs_faults faults = { .state = CS_AGENT_FAILED };
	struct cs_agents agents;
	struct cs_err err;

	cs_agents_all_good(co, &agents);
	if (co->stopped ||
	    !cs_agents_order(co, &agents, what, flags, doing, limit_s, &err))
		return;
	for (int i = 0; i < agents.n; i++) {
		int a = agents.agent[i];
		struct cs_slot *slot = cs_board_slot(co->board, a);

		if (co->state[a] != CS_AGENT_OK ||
		    !cs_agents_answered(co, &agents, i) || slot->state == CS_AGENT_OK)
			continue;
		cs_faults_add(&faults, a, slot->err.text);
	}
	cs_faults_report(co, &faults);
}

void cs_coordinator_open(struct cs_coordinator *co)
{
	const double limit_s = co->plan->set.start_limit_s;
	const int is_whole = cs_agents_limit(co, limit_s) >= limit_s; /* of a budget */

	order_all(co, CS_CMD_OPEN, 0,
		  is_whole ? "opening the device (--set start-limit)" :
			     "opening the device",
		  limit_s);
}

/* Ways between good agents that were refused.  Instances of MIG have none. */
static int refused_ways(struct cs_coordinator *co)
{
	int n = 0;

	for (int i = 0; i < co->n; i++)
		for (int k = 0; k < co->n; k++) {
			const struct cs_slot *a = cs_board_slot(co->board, i);
			const struct cs_slot *b = cs_board_slot(co->board, k);

			n += co->state[i] == CS_AGENT_OK &&
			     co->state[k] == CS_AGENT_OK && a->pid != b->pid &&
			     a->peer[k].via == CS_VIA_FAILED &&
			     !cs_is_mig(a->facts.gpu.uuid) &&
			     !cs_is_mig(b->facts.gpu.uuid);
		}
	return n;
}

/* Host memory is filled and page-locked at 1 GB/s at least, also if others do the same at
 * the same time. */
static double allocating_limit_s(const struct cs_coordinator *co)
{
	uint64_t most[CS_MEMORIES][2] = { { 0 } };
	double seconds = CS_PREPARE_LIMIT_S;
	const struct cs_plan *plan = co->plan;
	const struct cs_transfer *t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);

	for (uint32_t i = 0; i < plan->n_transfers; i++, t++) {
		const struct cs_endpoint *end[] = { &t->src, &t->dst };

		for (int k = 0; k < 2; k++)
			if (cs_endpoint_is_numa(end[k]) &&
			    t->bytes > most[end[k]->memory][k])
				most[end[k]->memory][k] = t->bytes;
	}
	for (int m = 0; m < CS_MEMORIES; m++)
		seconds += 1e-9 * co->n * (double)(most[m][0] + most[m][1]);
	return seconds;
}

/* Close all ways, remake the arenas that the flag concerns, open all ways again. */
static void map_again(struct cs_coordinator *co, uint32_t flag)
{
	order_all(co, CS_CMD_UNMAP, 0, "closing peer buffers", CS_PREPARE_LIMIT_S);
	order_all(co, CS_CMD_ARENA, flag, "allocating and filling buffers",
		  allocating_limit_s(co));
	order_all(co, CS_CMD_MAP, 0, "opening peer buffers", CS_PREPARE_LIMIT_S);
}

/* If CUDA IPC is refused, descriptors may work.  They are tried only then, because
 * buffers have to be made for them.  If more is refused than before, go back. */
static void open_usual(struct cs_coordinator *co)
{
	int before;

	order_all(co, CS_CMD_MAP, 0, "opening peer buffers", CS_PREPARE_LIMIT_S);
	if (co->stopped || co->plan->set.via != CS_TRANSPORT_AUTO ||
	    co->plan->set.backend != CS_BACKEND_CUDA)
		return;
	before = refused_ways(co);
	if (!before)
		return;
	map_again(co, CS_CMD_BY_FD);
	if (refused_ways(co) > before)
		map_again(co, CS_CMD_USUAL);
}

static void open_ways(struct cs_coordinator *co)
{
	co->staged = co->plan->set.via == CS_TRANSPORT_STAGED;
	if (co->staged)
		order_all(co, CS_CMD_MAP, CS_CMD_STAGED, "opening ways to stage",
			  CS_PREPARE_LIMIT_S);
	else
		open_usual(co);
}

/* Peer access is taken back (and so are buffers made for descriptors, for these have it
 * of their own); the usual ways are kept for the facts. */
static void open_staged(struct cs_coordinator *co)
{
	for (int i = 0; i < co->n; i++) {
		struct cs_slot *slot = cs_board_slot(co->board, i);

		memcpy(slot->usual, slot->peer, sizeof(slot->usual));
		memset(slot->peer, 0, sizeof(slot->peer));
	}
	order_all(co, CS_CMD_UNMAP, CS_CMD_STAGED, "taking peer access back",
		  CS_PREPARE_LIMIT_S);
	order_all(co, CS_CMD_ARENA, CS_CMD_USUAL, "allocating and filling buffers",
		  allocating_limit_s(co));
	order_all(co, CS_CMD_MAP, CS_CMD_STAGED, "opening ways to stage",
		  CS_PREPARE_LIMIT_S);
	co->staged = 1;
}

static void close_staged(struct cs_coordinator *co)
{
	for (int i = 0; i < co->n; i++)
		memset(cs_board_slot(co->board, i)->peer, 0,
		       sizeof(cs_board_slot(co->board, i)->peer));
	order_all(co, CS_CMD_UNMAP, 0, "closing ways to stage", CS_PREPARE_LIMIT_S);
	open_ways(co);
}

void cs_coordinator_ways(struct cs_coordinator *co, const struct cs_step *step)
{
	const struct cs_transfer *t = cs_plan_transfer(co->plan, step, 0);
	int staged = 0, far = 0;

	for (uint32_t k = 0; k < step->count; k++) {
		far |= cs_transfer_far(&t[k]) >= 0;
		staged |= t[k].method == CS_METHOD_STAGED;
	}
	if (!far || staged == co->staged || co->stopped)
		return;
	if (staged)
		open_staged(co);
	else
		close_staged(co);
}

/* Later than that, all cells will be left out. */
static int is_too_late(const struct cs_coordinator *co)
{
	return cs_clock_s() > co->budget.start_s;
}

static void open_buffers(struct cs_coordinator *co)
{
	order_all(co, CS_CMD_ARENA, 0, "allocating and filling buffers",
		  allocating_limit_s(co));
	open_ways(co);
}

void cs_coordinator_setup(struct cs_coordinator *co)
{
	if (is_too_late(co))
		return;
	open_buffers(co);
	order_all(co, CS_CMD_READ_STATE, CS_CMD_FIRST, "reading its state under load",
		  CS_PREPARE_LIMIT_S);
}

void cs_coordinator_read_state(struct cs_coordinator *co)
{
	order_all(co, CS_CMD_READ_STATE, 0, "reading its state", CS_PREPARE_LIMIT_S);
}

void cs_coordinator_finish(struct cs_coordinator *co)
{
	if (cs_clock_s() > co->budget.waits_s)
		return;
	order_all(co, CS_CMD_SOURCE, 0, "checking its source", CS_PREPARE_LIMIT_S);
	for (int i = 0; i < co->n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board, i);
		const struct cs_check *check = &slot->check[0];
		struct cs_finding f = { .id = CS_FINDING_SOURCE_CHANGED,
					.severity = CS_CRITICAL };

		if (co->state[i] != CS_AGENT_OK || !cs_agent_is_idle(co, i) ||
		    !check->wrong_words)
			continue;
		cs_text(f.text, sizeof(f.text),
			"%s %s: %" PRIu64
			" byte%s of its source buffer changed during the run, the first at %" PRIu64,
			cs_agent_noun(co), slot->facts.label, check->wrong_bytes,
			check->wrong_bytes == 1 ? "" : "s",
			cs_first_wrong_byte(check));
		cs_fault_of_gpu(co, i, &f);
		co->hooks->finding(co->hooks->ctx, &f);
	}
	cs_coordinator_read_state(co);
}

/* Every agent gets both orders, also one that failed: it may hold resources. */
static void close_all(struct cs_coordinator *co, uint32_t flags)
{
	struct cs_agents agents = { .n = 0 };
	struct cs_err err;

	co->budget.waits_s = co->budget.close_s;
	for (int i = 0; i < co->n; i++)
		if (atomic_load(&cs_board_slot(co->board, i)->pid) > 0)
			agents.agent[agents.n++] = i;
	cs_agents_order(co, &agents, CS_CMD_UNMAP, 0, "closing peer buffers",
			CLOSE_LIMIT_S, &err);
	cs_agents_order(co, &agents, CS_CMD_CLOSE, flags, "closing", CLOSE_LIMIT_S,
			&err);
}

void cs_coordinator_dismiss(struct cs_coordinator *co)
{
	cs_gate_release(co->board);
	close_all(co, 0);
}

void cs_coordinator_rest(struct cs_coordinator *co)
{
	if (!co->stopped)
		close_all(co, CS_CMD_STAY);
}

void cs_coordinator_resume(struct cs_coordinator *co)
{
	cs_coordinator_open(co);
	open_buffers(co);
}

/* ---- release of the gate ---- */

/* One empty sample: the times from the store to each agent's stamp, in
 * microseconds.  -1 when one did not come. */
static int stamp_once(struct cs_coordinator *co, struct cs_agents *agents, double *us)
{
	uint64_t opened;
	int left = agents->n;

	co->seq++;
	cs_agents_command(co, agents, CS_CMD_STAMP, 0);
	if (cs_agents_wait(co, agents, cs_agents_armed, CS_SAMPLE_LIMIT_S)) {
		cs_gate_void(co->board, co->seq);
		return -1;
	}
	for (int i = 0; i < agents->n; i++)
		us[i] = NAN;
	opened = cs_clock_ns();
	cs_gate_open(co->board, co->seq);
	while (left && cs_clock_ns() - opened < 100000000u)
		for (int i = 0; i < agents->n; i++)
			if (isnan(us[i]) &&
			    atomic_load(&co->board->stamp[agents->agent[i]].word) ==
				    co->seq) {
				us[i] = (double)(cs_clock_ns() - opened) * 1e-3;
				left--;
			}
	return cs_rc(cs_agents_wait(co, agents, cs_agents_answered, CS_SAMPLE_LIMIT_S) ||
		     left);
}

void cs_coordinator_skew(struct cs_coordinator *co, struct cs_node_facts *node)
{
	double us[CS_MAX_AGENTS], first[SKEW_SAMPLES], spread[SKEW_SAMPLES];
	struct cs_stats stats;
	struct cs_agents agents;

	cs_agents_all_good(co, &agents);
	if (agents.n < 2 || co->stopped || is_too_late(co))
		return;
	/* one uncounted sample in front: the first release is the slowest */
	for (int s = -1; s < SKEW_SAMPLES; s++) {
		struct cs_err err;
		double low, high;

		if (stamp_once(co, &agents, us)) {
			if (!co->stopped)
				cs_agents_blame(co, &agents, "stamping",
						CS_SAMPLE_LIMIT_S);
			cs_agents_take(co, &agents, &err);
			return;
		}
		low = high = us[0];
		for (int i = 1; i < agents.n; i++) {
			low = fmin(low, us[i]);
			high = fmax(high, us[i]);
		}
		if (s < 0)
			continue;
		first[s] = low;
		spread[s] = high - low;
	}
	cs_stats_of(first, SKEW_SAMPLES, &stats);
	node->release_us = stats.median;
	cs_stats_of(spread, SKEW_SAMPLES, &stats);
	node->skew_us = stats.median;
	node->skew_max_us = co->skew_max_us = stats.max;
}

/* Take the facts that an agent has found, and the ways that it has opened. */
static void take_facts(struct cs_coordinator *co, int agent, struct cs_run_node *out)
{
	const struct cs_slot *slot = cs_board_slot(co->board, agent);

	out->agent[agent] = slot->facts;
	for (int k = 0; k < co->n && out->ways; k++) {
		const struct cs_peer_facts *peer = slot->usual[k].via ?
							 &slot->usual[k] :
							 &slot->peer[k];

		/* without memory the way stays as it was */
		cs_node_set_way(out, agent, k,
				&(struct cs_way){ peer->via, peer->open_ms,
						  peer->reason },
				NULL);
	}
}

void cs_coordinator_facts(struct cs_coordinator *co, struct cs_run_node *out)
{
	out->facts.n_agents = co->n;
	if (!out->ways)
		cs_node_make_ways(out, NULL);
	for (int i = 0; i < co->n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board, i);

		if (cs_agent_is_idle(co, i))
			take_facts(co, i, out);
		out->agent[i].sent_bytes = slot->sent_bytes;
		out->agent[i].received_bytes = slot->received_bytes;
	}
}
