#include "config.h"

#include "node/crew.h"

#include <math.h>

#define LEAST_LIMIT_S 0.25

/* ---- commands and answers ---- */

int cs_crew_answered(struct cs_coordinator *co, const struct cs_crew *crew,
		     int i)
{
	return atomic_load(&cs_board_slot(co->board, crew->agent[i])->reply) ==
	       crew->number[i];
}

int cs_crew_armed(struct cs_coordinator *co, const struct cs_crew *crew, int i)
{
	return cs_crew_answered(co, crew, i) ||
	       atomic_load(&cs_board_slot(co->board, crew->agent[i])->armed) ==
		       co->seq;
}

int cs_crew_is(struct cs_coordinator *co, const struct cs_crew *crew,
	       cs_crew_test *is)
{
	for (int i = 0; i < crew->n; i++)
		if (co->state[crew->agent[i]] < CS_AGENT_BROKEN &&
		    !is(co, crew, i))
			return 0;
	return 1;
}

/* Also in the middle of a cell whose waits are all shorter than a slice. */
void cs_crew_look(struct cs_coordinator *co)
{
	double now = cs_clock_s();

	if (now - co->looked_s < CS_SLICE_MS * 1e-3)
		return;
	co->looked_s = now;
	cs_agents_look(co);
	if (co->hooks->watch(co->hooks->ctx))
		co->stopped = 1;
}

static int slice_ms(double end_s)
{
	double left_ms = 1e3 * (end_s - cs_clock_s());

	return left_ms < CS_SLICE_MS ? (int)left_ms + 1 : CS_SLICE_MS;
}

/* Never so short that an agent could not answer in any case. */
double cs_crew_limit(const struct cs_coordinator *co, double limit_s)
{
	return fmax(cs_within(limit_s, co->budget.waits_s),
		    fmin(limit_s, LEAST_LIMIT_S));
}

int cs_crew_wait(struct cs_coordinator *co, const struct cs_crew *crew,
		 cs_crew_test *is, double limit_s)
{
	double end = cs_clock_s() + cs_crew_limit(co, limit_s);
	int lost = co->lost;

	for (;;) {
		uint32_t seen = atomic_load(&co->board->replies);

		cs_crew_look(co);
		if (cs_crew_is(co, crew, is))
			return co->lost > lost ? -1 : 0;
		if (co->stopped || cs_clock_s() >= end)
			return -1;
		cs_board_wait_reply(co->board, seen, slice_ms(end));
	}
}

void cs_crew_command(struct cs_coordinator *co, struct cs_crew *crew,
		     enum cs_command what, uint32_t flags)
{
	for (int i = 0; i < crew->n; i++) {
		struct cs_slot *slot = cs_board_slot(co->board, crew->agent[i]);

		slot->what = what;
		slot->flags = flags;
		slot->seq = co->seq;
		crew->number[i] = cs_board_command(co->board, crew->agent[i]);
	}
}

/* The first of a crew that is broken or lost, else, where answers are left out, of
 * the node; -1 none. */
static int first_lost(const struct cs_coordinator *co, const struct cs_crew *crew,
		      int left)
{
	for (int i = 0; i < crew->n; i++)
		if (co->state[crew->agent[i]] >= CS_AGENT_BROKEN)
			return crew->agent[i];
	for (int a = 0; left && a < co->n; a++)
		if (co->state[a] >= CS_AGENT_BROKEN)
			return a;
	return -1;
}

int cs_crew_take(struct cs_coordinator *co, const struct cs_crew *crew,
		 struct cs_err *err)
{
	struct cs_faults faults = { .state = CS_AGENT_BROKEN };
	int rc = 0, left = 0, lost;

	for (int i = 0; i < crew->n; i++) {
		int a = crew->agent[i];
		struct cs_slot *slot = cs_board_slot(co->board, a);
		int answered = cs_crew_answered(co, crew, i);

		if (co->state[a] < CS_AGENT_BROKEN && answered &&
		    slot->state == CS_AGENT_OK)
			continue;
		if (answered && slot->state == CS_AGENT_BROKEN)
			cs_faults_add(&faults, a, slot->err.text);
		left |= !answered;
		if (!rc)
			rc = cs_err_set(err, "%s %s (rank %d): %s",
					cs_agent_noun(co), slot->facts.label,
					slot->facts.rank,
					answered ? slot->err.text : "no answer");
	}
	cs_faults_tell(co, &faults);
	/* others may have failed because of it, or were not waited for */
	lost = first_lost(co, crew, left);
	return lost < 0 ? rc : cs_err_set(err, "%s", co->fault[lost]);
}

void cs_crew_blame(struct cs_coordinator *co, const struct cs_crew *crew,
		   const char *doing, double limit_s)
{
	char text[120 + CS_CALL_NAME], call[CS_CALL_NAME + 8];
	struct cs_faults faults = { .state = CS_AGENT_BROKEN };

	for (int i = 0; i < crew->n; i++) {
		const struct cs_slot *slot =
			cs_board_slot(co->board, crew->agent[i]);

		if (cs_crew_answered(co, crew, i))
			continue;
		cs_text(text, sizeof(text), "no answer within %.3g s while %s%s",
			limit_s, doing, cs_call_text(slot->call, call));
		cs_faults_add(&faults, crew->agent[i], text);
	}
	cs_faults_tell(co, &faults);
}

int cs_crew_order(struct cs_coordinator *co, struct cs_crew *crew,
		  enum cs_command what, uint32_t flags, const char *doing,
		  double limit_s, struct cs_err *err)
{
	limit_s = cs_crew_limit(co, limit_s);
	cs_crew_command(co, crew, what, flags);
	if (cs_crew_wait(co, crew, cs_crew_answered, limit_s)) {
		if (!co->stopped)
			cs_crew_blame(co, crew, doing, limit_s);
		else if (!co->lost)
			return cs_err_set(err, "interrupted while %s", doing);
	}
	return cs_crew_take(co, crew, err);
}

void cs_crew_all_good(struct cs_coordinator *co, struct cs_crew *crew)
{
	crew->n = 0;
	for (int i = 0; i < co->n; i++)
		if (co->state[i] == CS_AGENT_OK)
			crew->agent[crew->n++] = i;
}
