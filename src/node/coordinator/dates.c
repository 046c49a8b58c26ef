/* dates.c - dates errors that GPUs count during a run of many passes.  The facts of a
 * run have the first and the last reading only; readings after each pass show in which
 * pass it was. */
#include "node/coordinator/coordinator.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "node/coordinator/agents.h"

#define DATED_MOST 5 /* passes of a GPU that have a note each */

/* "3 PCIe replays, Xid 79": the errors counted between two readings; "" none. */
static void counted_text(const struct cs_conditions *was,
			 const struct cs_conditions *is, char *text, size_t size)
{
	size_t known = strlen(was->xids);

	text[0] = '\0';
	for (int c = 0; c < CS_COUNTERS; c++) {
		int64_t before = cs_counter_of(was, c), after = cs_counter_of(is, c);

		if (before >= 0 && after > before)
			cs_text_add(text, size, "%s%" PRId64 " %s",
				    text[0] ? ", " : "", after - before,
				    cs_counter_text(c));
	}
	if (strlen(is->xids) > known)
		cs_text_add(text, size, "%sXid %s", text[0] ? ", " : "",
			    is->xids + known + (known && is->xids[known] == ' '));
}

static void date(struct cs_coordinator *co, int agent)
{
	const struct cs_agent_facts *facts = &cs_board_slot(co->board, agent)->facts;
	struct cs_dated *dated = &co->dated[agent];
	const struct cs_conditions was = dated->last.known ? dated->last :
							     facts->before;
	struct cs_finding f = { .id = CS_FINDING_COUNTED_IN_PASS,
				.severity = CS_NOTE };
	char text[200], time[32];
	struct timespec now;

	dated->last = facts->after;
	if (!was.known || !facts->after.known || dated->n == DATED_MOST)
		return;
	counted_text(&was, &facts->after, text, sizeof(text));
	if (!text[0])
		return;
	dated->n++;
	clock_gettime(CLOCK_REALTIME, &now);
	cs_time_text(&now, time, sizeof(time));
	cs_text(f.text, sizeof(f.text),
		"%s %s (%s): %s in pass %" PRIu32 ", until %s", cs_agent_noun(co),
		facts->label, facts->gpu.bus_id, text, co->turn, time);
	cs_fault_of_gpu(co, agent, &f);
	co->hooks->finding(co->hooks->ctx, &f);
}

void cs_coordinator_date(struct cs_coordinator *co)
{
	cs_coordinator_read_state(co);
	for (int i = 0; i < co->n; i++)
		if (co->state[i] == CS_AGENT_OK && cs_agent_is_idle(co, i))
			date(co, i);
}
