/* lost_agents.c - agents that failed or can no longer be used, and the findings about them. */
#include "node/coordinator/agents.h"

#include <string.h>

#define LISTED 8 /* numbers that are named; more are counted */

const char *cs_agent_noun(const struct cs_coordinator *co)
{
	return co->plan->set.backend == CS_BACKEND_CUDA ? "GPU" : "arena";
}

void cs_faults_add(struct cs_faults *faults, int agent, const char *text)
{
	int i = faults->n++;

	faults->agent[i] = agent;
	cs_text(faults->text[i], sizeof(faults->text[i]), "%s", text);
}

/* Agents of one reason. */
struct alike {
	struct cs_coordinator *co;
	int n, agent[CS_MAX_AGENTS];
};

static const struct cs_slot *slot_of(const struct alike *alike, int i)
{
	return cs_board_slot(alike->co->board, alike->agent[i]);
}

/* "GPU 3", "GPUs 0, 2 and 5", "all 8 GPUs". */
static void agents_text(const struct alike *alike, char *to, size_t size)
{
	const char *noun = cs_agent_noun(alike->co);
	int n = alike->n;

	if (n > 1 && n == alike->co->n) {
		cs_all_text(noun, n, to, size);
		return;
	}
	if (n > LISTED) {
		cs_text(to, size, "%d of %d %ss", n, alike->co->n, noun);
		return;
	}
	cs_text(to, size, "%s%s ", noun, n > 1 ? "s" : "");
	for (int i = 0; i < n; i++)
		cs_text_add(to, size, "%s%s",
			    !i	      ? "" :
			    i + 1 < n ? ", " :
					" and ",
			    slot_of(alike, i)->facts.label);
}

/* The owner that agents have in common: their rank, or its process. */
enum owner { RANK, PROCESS };

static long number_of(const struct alike *alike, int i, enum owner owner)
{
	const struct cs_slot *slot = slot_of(alike, i);

	return owner == RANK ? slot->facts.rank : (long)atomic_load(&slot->pid);
}

/* Appends "rank 3", "ranks 0, 1", "16 ranks"; each number once. */
static void owners_text(const struct alike *alike, enum owner owner, char *to,
			size_t size)
{
	static const char *const noun[][2] = {
		[RANK] = { "rank", "ranks" }, [PROCESS] = { "process", "processes" }
	};
	char list[120] = "";
	int n = 0;

	for (int i = 0, k; i < alike->n; i++) {
		long number = number_of(alike, i, owner);

		for (k = 0; k < i && number_of(alike, k, owner) != number; k++)
			;
		if (k < i)
			continue;
		cs_text_add(list, sizeof(list), "%s%ld", n++ ? ", " : "", number);
	}
	if (n > LISTED)
		cs_text_add(to, size, "%d %s", n, noun[owner][1]);
	else
		cs_text_add(to, size, "%s %s", noun[owner][n > 1], list);
}

void cs_fault_find(struct cs_coordinator *co, enum cs_severity severity,
		   enum cs_finding_id id, const char *text)
{
	struct cs_finding f = { .id = id, .severity = severity };

	cs_text(f.text, sizeof(f.text), "%s", text);
	co->hooks->finding(co->hooks->ctx, &f);
}

void cs_fault_of_gpu(const struct cs_coordinator *co, int agent, struct cs_finding *f)
{
	const char *bus_id = cs_board_slot(co->board, agent)->facts.gpu.bus_id;

	if (!bus_id[0])
		return;
	f->drain = f->severity == CS_CRITICAL;
	cs_text(f->part, sizeof(f->part), "gpu");
	cs_text(f->bus_id, sizeof(f->bus_id), "%s", bus_id);
}

/* The same of several. */
static void add_part(const struct alike *alike, struct cs_finding *f)
{
	cs_fault_of_gpu(alike->co, alike->agent[0], f);
	if (alike->n == 1 || !f->part[0])
		return;
	cs_text(f->part, sizeof(f->part), "node");
	f->bus_id[0] = '\0';
}

/* "…; 0000:3c:00.0, process 77": both are needed to find it. */
static void report_lost(const struct alike *alike, enum cs_agent_state state,
			const char *fault)
{
	struct cs_coordinator *co = alike->co;
	int late = cs_clock_s() >= co->budget.waits_s;
	const char *bus_id = slot_of(alike, 0)->facts.gpu.bus_id;
	/* a wait cut by the budget cannot distinguish hung from slow */
	struct cs_finding f = { .id = state == CS_AGENT_LOST ? CS_FINDING_RANK_LOST :
				      late ? CS_FINDING_CANNOT_TEST :
					     CS_FINDING_AGENT_BROKEN,
				.severity = CS_CRITICAL };
	char *line = f.text;

	cs_text(line, sizeof(f.text), "%s", fault);
	if (alike->n == 1 && bus_id[0])
		cs_text_add(line, sizeof(f.text), "; %s", bus_id);
	if (number_of(alike, 0, PROCESS) > 0) {
		cs_text_add(line, sizeof(f.text),
			    alike->n == 1 && bus_id[0] ? ", " : "; ");
		owners_text(alike, PROCESS, line, sizeof(f.text));
	}
	if (f.id == CS_FINDING_AGENT_BROKEN)
		add_part(alike, &f);
	co->hooks->finding(co->hooks->ctx, &f);
}

/* Agents that could not be opened or had no memory. */
static void report_failed(const struct alike *alike, const char *fault)
{
	struct cs_coordinator *co = alike->co;
	enum cs_blame blame = cs_blame_of(fault);
	struct cs_finding f = { .id = CS_FINDING_AGENT_FAILED,
				.severity = CS_CRITICAL };

	if (blame == CS_BLAME_USE) {
		f.id = CS_FINDING_GPU_UNAVAILABLE;
		f.severity = CS_WARNING;
		for (int i = 0; i < alike->n; i++)
			co->unavailable[alike->agent[i]] = 1;
	}
	if (blame != CS_BLAME_NONE)
		add_part(alike, &f);
	cs_text(f.text, sizeof(f.text), "%s", fault);
	co->hooks->finding(co->hooks->ctx, &f);
}

static void report_alike(const struct alike *alike, enum cs_agent_state state,
			 const char *text)
{
	struct cs_coordinator *co = alike->co;
	char fault[CS_ERR_TEXT];

	agents_text(alike, fault, sizeof(fault));
	cs_text_add(fault, sizeof(fault), " (");
	owners_text(alike, RANK, fault, sizeof(fault));
	cs_text_add(fault, sizeof(fault), "): %s", text);
	for (int i = 0; i < alike->n; i++) {
		co->state[alike->agent[i]] = state;
		memcpy(co->fault[alike->agent[i]], fault, sizeof(fault));
	}
	if (state < CS_AGENT_BROKEN) {
		report_failed(alike, fault);
		return;
	}
	co->stopped = co->lost = 1;
	report_lost(alike, state, fault);
}

void cs_faults_report(struct cs_coordinator *co, const struct cs_faults *faults)
{
	for (int i = 0; i < faults->n; i++) {
		struct alike alike = { .co = co };

		for (int k = i; k < faults->n; k++)
			if (co->state[faults->agent[k]] < faults->state &&
			    !strcmp(faults->text[k], faults->text[i]))
				alike.agent[alike.n++] = faults->agent[k];
		if (alike.n)
			report_alike(&alike, faults->state, faults->text[i]);
	}
}

static int is_made(struct cs_coordinator *co, int agent)
{
	return atomic_load(&cs_board_slot(co->board, agent)->pid) > 0;
}

/* Is there an agent whose process is gone, or has not come? */
static int one_is_missed(struct cs_coordinator *co)
{
	return CS_ANY(i, co->n,
		      co->state[i] < CS_AGENT_LOST &&
			      (!is_made(co, i) || cs_process_gone(&co->process[i])));
}

/* Why it is lost; "" it is not.  The processes of a dead helper die as well, a moment
 * later. */
static void lost_text(struct cs_coordinator *co, int agent, char *to, size_t size)
{
	long helper = (long)cs_board_slot(co->board, agent)->helper;

	to[0] = '\0';
	if (cs_board_lacks_helper(co->board, agent))
		cs_text(to, size,
			is_made(co, agent) ?
				"its process died with its helper (process %ld)" :
				"its helper (process %ld) died before it could make a process",
			helper);
	else if (is_made(co, agent) && cs_process_gone(&co->process[agent]))
		cs_text(to, size, "its process died");
}

void cs_agents_poll(struct cs_coordinator *co)
{
	struct cs_faults faults = { .state = CS_AGENT_LOST };
	char text[100];

	if (!one_is_missed(co))
		return;
	for (int i = 0; i < co->n; i++) {
		if (co->state[i] >= CS_AGENT_LOST)
			continue;
		lost_text(co, i, text, sizeof(text));
		if (text[0])
			cs_faults_add(&faults, i, text);
	}
	cs_faults_report(co, &faults);
}
