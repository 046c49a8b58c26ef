#include "node/coordinator/agents.h"

#include <math.h>

#define LEAST_LIMIT_S 0.25
/* An agent that has not answered within its limit hangs, or has no CPU.  For LOOK_S it is
 * looked at: if its process's threads were ready to run, and had no CPU, for half of that
 * or more, the machine is busy, and it gets more time, BUSY_LIMITS limits in all.  Limits
 * below a second are kept as they are. */
#define LOOK_S 0.25
#define BUSY_LIMITS 4

/* ---- commands and answers ---- */

int cs_agents_answered(struct cs_coordinator *co, const struct cs_agents *agents,
		       int i)
{
	return atomic_load(&cs_board_slot(co->board, agents->agent[i])->reply) ==
	       agents->number[i];
}

int cs_agent_is_idle(struct cs_coordinator *co, int agent)
{
	struct cs_slot *slot = cs_board_slot(co->board, agent);

	return atomic_load(&slot->reply) == atomic_load(&slot->command);
}

int cs_agents_armed(struct cs_coordinator *co, const struct cs_agents *agents, int i)
{
	return cs_agents_answered(co, agents, i) ||
	       atomic_load(&cs_board_slot(co->board, agents->agent[i])->armed) ==
		       co->seq;
}

int cs_agents_is(struct cs_coordinator *co, const struct cs_agents *agents,
		 cs_agents_test *is)
{
	return !CS_ANY(i, agents->n,
		       co->state[agents->agent[i]] < CS_AGENT_BROKEN &&
			       !is(co, agents, i));
}

/* Also in the middle of a cell whose waits are all shorter than a slice. */
void cs_agents_watch(struct cs_coordinator *co)
{
	double now = cs_clock_s();

	if (now - co->state_read_s < CS_SLICE_MS * 1e-3)
		return;
	co->state_read_s = now;
	cs_agents_poll(co);
	if (co->hooks->watch(co->hooks->ctx))
		co->stopped = 1;
}

static int slice_ms(double end_s)
{
	double left_ms = 1e3 * (end_s - cs_clock_s());

	return left_ms < CS_SLICE_MS ? (int)left_ms + 1 : CS_SLICE_MS;
}

/* Never so short that an agent could not answer in any case. */
double cs_agents_limit(const struct cs_coordinator *co, double limit_s)
{
	return fmax(cs_within(limit_s, co->budget.waits_s),
		    fmin(limit_s, LEAST_LIMIT_S));
}

/* For how long the processes of those that are waited for had no CPU, s. */
static double waited_for_cpu_s(struct cs_coordinator *co,
			       const struct cs_agents *agents, cs_agents_test *is)
{
	int64_t pid, last = 0;
	double sum = 0;

	for (int i = 0; i < agents->n; i++) {
		if (is(co, agents, i))
			continue;
		pid = atomic_load(&cs_board_slot(co->board, agents->agent[i])->pid);
		if (pid != last) /* the agents of a process follow each other */
			sum += cs_process_waited_s(pid);
		last = pid;
	}
	return sum;
}

int cs_agents_wait(struct cs_coordinator *co, const struct cs_agents *agents,
		   cs_agents_test *is, double limit_s)
{
	const double begin = cs_clock_s();
	const double last =
		begin + cs_agents_limit(co, limit_s * (limit_s < 1 ? 1 : BUSY_LIMITS));
	double end = begin + cs_agents_limit(co, limit_s), before = NAN, waited;
	int lost = co->lost;

	for (;;) {
		uint32_t seen = atomic_load(&co->board->replies);

		cs_agents_watch(co);
		if (cs_agents_is(co, agents, is))
			return co->lost > lost ? -1 : 0;
		if (co->stopped)
			return -1;
		if (cs_clock_s() >= end) {
			waited = end < last ? waited_for_cpu_s(co, agents, is) : 0;
			if (end >= last || waited - before < LOOK_S / 2)
				return -1;
			before = waited;
			end = fmin(end + LOOK_S, last);
		}
		cs_board_wait_reply(co->board, seen, slice_ms(end),
				    !co->workers_use_all_cores);
	}
}

void cs_agents_command(struct cs_coordinator *co, struct cs_agents *agents,
		       enum cs_command what, uint32_t flags)
{
	for (int i = 0; i < agents->n; i++) {
		struct cs_slot *slot = cs_board_slot(co->board, agents->agent[i]);

		slot->what = what;
		slot->flags = flags;
		slot->seq = co->seq;
		agents->number[i] = cs_board_command(co->board, agents->agent[i]);
	}
}

/* The first of them that is broken or lost; if answers are missing, the first of the
 * node; -1: none. */
static int first_lost(const struct cs_coordinator *co, const struct cs_agents *agents,
		      int left)
{
	for (int i = 0; i < agents->n; i++)
		if (co->state[agents->agent[i]] >= CS_AGENT_BROKEN)
			return agents->agent[i];
	for (int a = 0; left && a < co->n; a++)
		if (co->state[a] >= CS_AGENT_BROKEN)
			return a;
	return -1;
}

int cs_agents_take(struct cs_coordinator *co, const struct cs_agents *agents,
		   struct cs_err *err)
{
	struct cs_faults faults = { .state = CS_AGENT_BROKEN };
	int rc = 0, left = 0, lost;

	for (int i = 0; i < agents->n; i++) {
		int a = agents->agent[i];
		struct cs_slot *slot = cs_board_slot(co->board, a);
		int answered = cs_agents_answered(co, agents, i);

		if (co->state[a] < CS_AGENT_BROKEN && answered &&
		    slot->state == CS_AGENT_OK)
			continue;
		if (answered && slot->state == CS_AGENT_BROKEN)
			cs_faults_add(&faults, a, slot->err.text);
		left |= !answered;
		if (!rc)
			rc = cs_err_set(err, "%s %s (rank %d): %s", cs_agent_noun(co),
					slot->facts.label, slot->facts.rank,
					answered ? slot->err.text : "no answer");
	}
	cs_faults_report(co, &faults);
	/* others may have failed because of it, or were not waited for */
	lost = first_lost(co, agents, left);
	return lost < 0 ? rc : cs_err_set(err, "%s", co->fault[lost]);
}

void cs_agents_blame(struct cs_coordinator *co, const struct cs_agents *agents,
		     const char *doing, double limit_s)
{
	char text[120 + CS_CALL_NAME], call[CS_CALL_NAME + 8];
	struct cs_faults faults = { .state = CS_AGENT_BROKEN };

	for (int i = 0; i < agents->n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board,
							   agents->agent[i]);

		if (cs_agents_answered(co, agents, i))
			continue;
		cs_text(text, sizeof(text), "no answer within %.3g s while %s%s",
			limit_s, doing, cs_call_text(slot->call, call));
		cs_faults_add(&faults, agents->agent[i], text);
	}
	cs_faults_report(co, &faults);
}

int cs_agents_order(struct cs_coordinator *co, struct cs_agents *agents,
		    enum cs_command what, uint32_t flags, const char *doing,
		    double limit_s, struct cs_err *err)
{
	limit_s = cs_agents_limit(co, limit_s);
	cs_agents_command(co, agents, what, flags);
	if (cs_agents_wait(co, agents, cs_agents_answered, limit_s)) {
		if (!co->stopped)
			cs_agents_blame(co, agents, doing, limit_s);
		else if (!co->lost)
			return cs_err_set(err, "interrupted while %s", doing);
	}
	return cs_agents_take(co, agents, err);
}

void cs_agents_all_good(struct cs_coordinator *co, struct cs_agents *agents)
{
	agents->n = 0;
	for (int i = 0; i < co->n; i++)
		if (co->state[i] == CS_AGENT_OK)
			agents->agent[agents->n++] = i;
}
