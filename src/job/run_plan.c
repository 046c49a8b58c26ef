/* run_plan.c - a node coordinator's work: its placements open one after the other,
 * take turns at the plan, and report their facts. */
#include "job/between.h"
#include "job/state.h"

#include <math.h>
#include <stdlib.h>

#include "plan/turns.h"

#define PROCESSES_LIMIT_S 10.0 /* for those of a placement to be there */
#define HOSTS_LIMIT_S 3.0 /* for those of a lost placement to be gone */

static void on_finding(void *ctx, const struct cs_finding *finding)
{
	struct placement_hooks *hooks = ctx;

	cs_collect_add(&hooks->job->collect, hooks->index, finding);
}

static void add_finding(struct cs_job *job, enum cs_severity severity,
			enum cs_finding_id id, const char *text)
{
	cs_collect_finding(&job->collect, job->hooks[0].index, severity, id, text);
}

/* Rows of a further pass have no samples, or a day of passes would fill the memory; repeats
 * of cells are of the first pass alone. */
static void on_row(void *ctx, const struct cs_row *row, const double *samples)
{
	struct placement_hooks *hooks = ctx;
	const int further = hooks->job->args->duration_s > 0 && row->turn > 1;
	struct cs_row kept = *row;

	if (further && row->flags & CS_ROW_REPEATS)
		return;
	if (further)
		kept.n_samples = 0;
	if (hooks->job->args->duration_s > 0 && row->flags & CS_ROW_REPEATS)
		kept.turn = 0;
	cs_collect_row(&hooks->job->collect, &kept, samples);
	cs_job_add_own_row(hooks->job, &kept);
}

static int on_watch(void *ctx)
{
	struct placement_hooks *hooks = ctx;

	cs_placements_poll(&hooks->job->placements);
	return cs_job_watch(hooks->job);
}

static void report_progress(struct cs_job *job, uint32_t done, uint32_t all)
{
	if (job->comm.rank == 0)
		job->args->progress(job->args->ctx, done, all);
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	struct placement_hooks *hooks = ctx;

	report_progress(hooks->job, done, all);
}

static void send_nodes(struct cs_job *job)
{
	for (int k = 0; k < job->placements.n; k++) {
		struct cs_placement_node *at = &job->placements.at[k];

		cs_coordinator_facts(&at->co, &at->node);
		cs_collect_node(&job->collect, cs_collect_index(&job->collect, k),
				&at->node);
	}
}

/* Report ranks of this machine that cannot share memory and are nodes of their own. */
static void report_division(struct cs_job *job)
{
	char text[240];

	if (!job->comm.apart[0])
		return;
	cs_text(text, sizeof(text),
		"the machine counts as several nodes, which measure at the same time: its ranks %s",
		job->comm.apart);
	add_finding(job, CS_WARNING, CS_FINDING_MACHINE_DIVIDED, text);
}

/* ---- one placement after the other opens ---- */

/* Wait until every agent of a placement has a process: a rank, or a host, which this rank
 * and others make. */
static void await_processes(struct cs_job *job, int k)
{
	double end = cs_clock_s() + PROCESSES_LIMIT_S;
	struct timespec nap = { 0, 1000000 };

	if (!job->placements.at[k].placement.native)
		cs_placements_call_hosts(&job->placements, k);
	while (!cs_placements_hosts_made(&job->placements, k) && cs_clock_s() < end) {
		cs_placements_make_hosts(&job->placements, &job->discovery);
		cs_job_watch(job);
		nanosleep(&nap, NULL);
	}
}

static void open_placement(struct cs_job *job, int k, struct cs_run_timings *t)
{
	struct cs_placement_node *at = &job->placements.at[k];
	int index = cs_collect_index(&job->collect, k);
	double began_s = cs_clock_s();

	job->hooks[k] = (struct placement_hooks){ job,
						  index,
						  { &job->hooks[k], on_row, on_finding,
						    on_watch, on_progress } };
	await_processes(job, k);
	cs_placements_share_processes(&job->placements);
	cs_coordinator_init(&at->co, at->board.at, (uint32_t)index,
			    &job->hooks[k].table);
	at->co.budget = job->args->budget;
	at->co.done = job->done;
	at->co.skip_in_use = job->args->checks != 0;
	if (job->resumed == CS_RESUMED_ALL)
		return;
	cs_coordinator_facts(&at->co, &at->node);
	cs_coordinator_open(&at->co);
	t->open += cs_clock_s() - began_s;
	began_s = cs_clock_s();
	cs_coordinator_facts(&at->co, &at->node);
	cs_discovery_facts(&job->discovery, &at->node);
	cs_coordinator_setup(&at->co);
	t->peers += cs_clock_s() - began_s;
	/* all processes have the same virtual clock */
	if (!job->args->check_only && !job->discovery.backend->clock_is_virtual)
		cs_coordinator_skew(&at->co, &at->node.facts);
	if (job->one_at_a_time)
		cs_coordinator_rest(&at->co);
}

/* The native placement opens first: its agents have started already. */
static void open_placements(struct cs_job *job, struct cs_run_timings *t)
{
	struct cs_placements *placements = &job->placements;

	t->open = t->peers = 0;
	job->one_at_a_time = placements->n > 1 &&
			     cs_discovery_exclusive(&job->discovery);
	if (placements->native >= 0)
		open_placement(job, placements->native, t);
	for (int k = 0; k < placements->n; k++)
		if (k != placements->native)
			open_placement(job, k, t);
	for (int k = 1; k < placements->n; k++)
		placements->at[k].co.began_s = placements->at[0].co.began_s;
	if (job->resumed != CS_RESUMED_ALL)
		report_division(job);
}

/* ---- measuring ---- */

/* The steps at which placements take turns; no control cells, because turns show drift. */
static uint32_t steps_of(const struct cs_plan *plan, int n_agents, uint32_t *step)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < plan->n_steps; s++)
		if (!(cs_plan_step(plan, s)->flags & CS_STEP_CONTROL) &&
		    cs_step_applies(plan, cs_plan_step(plan, s), n_agents))
			step[n++] = s;
	return n;
}

/* End the other hosts of lost placements, and wait for them.  Ranks stay. */
static void give_up_lost(struct cs_job *job)
{
	double end = cs_clock_s() + HOSTS_LIMIT_S;
	struct timespec nap = { 0, 1000000 };

	for (int k = 0; k < job->placements.n; k++) {
		const struct cs_placement_node *at = &job->placements.at[k];

		if (!at->co.lost || at->placement.native || at->given_up)
			continue;
		while (!cs_placements_give_up(&job->placements, k) &&
		       cs_clock_s() < end) {
			cs_job_watch(job);
			nanosleep(&nap, NULL);
		}
	}
}

/* Take a turn of one placement: one cell or, if only one placement can hold the GPUs, all
 * cells. Turns of a lost placement are skipped. */
static void take_turn(struct cs_job *job, const struct cs_turn *turn,
		      const uint32_t *step, uint32_t n_steps, uint32_t block)
{
	struct cs_coordinator *co = &job->placements.at[turn->placement].co;

	give_up_lost(job);
	co->turn = block;
	if (!job->one_at_a_time) {
		cs_coordinator_step(co, step[turn->cell]);
		return;
	}
	cs_coordinator_resume(co);
	for (uint32_t s = 0; s < n_steps; s++)
		if (cs_coordinator_step(co, step[s]))
			return;
	cs_coordinator_finish(co);
	cs_coordinator_rest(co);
}

/* All placements, cell by cell, in the order of plan/turns.h. */
static int take_turns(struct cs_job *job, const uint32_t *step, uint32_t n_steps,
		      uint32_t *blocks, struct cs_err *err)
{
	struct cs_turns turns = { .placements = (uint32_t)job->placements.n,
				  .cells = job->one_at_a_time ? 1 : n_steps,
				  .visits = CS_TURNS_VISITS };
	size_t n = cs_turns_count(&turns);
	struct cs_turn *order = calloc(n, sizeof(*order));
	struct cs_rng rng = { job->plan->set.seed };
	int rc = order ? cs_turns_order(&turns, &rng, order, err) :
			 cs_err_set(err, "no memory");

	for (size_t i = 0; i < n && !rc; i++) {
		uint32_t *block = &blocks[(size_t)order[i].cell * CS_PLACEMENTS_MAX +
					  order[i].placement];

		take_turn(job, &order[i], step, n_steps, ++*block);
		report_progress(job, (uint32_t)i + 1, (uint32_t)n);
	}
	free(order);
	return rc;
}

static int compare_placements(struct cs_job *job, struct cs_err *err)
{
	size_t room = job->plan->n_steps;
	uint32_t *step = calloc(room, sizeof(*step));
	uint32_t *blocks = calloc(room * CS_PLACEMENTS_MAX, sizeof(*blocks));
	uint32_t n;
	int rc = 0;

	if (!step || !blocks)
		rc = cs_err_set(err, "no memory");
	else if ((n = steps_of(job->plan, job->discovery.n_agents, step)))
		rc = take_turns(job, step, n, blocks, err);
	free(step);
	free(blocks);
	return rc;
}

/* Counters of links count the copies of all placements, so each placement gets the sum. */
static void share_counts(struct cs_placements *placements)
{
	for (int i = 0; i < placements->at[0].co.n; i++) {
		int64_t sent = 0, received = 0;

		for (int k = 0; k < placements->n; k++) {
			struct cs_slot *slot =
				cs_board_slot(placements->at[k].board.at, i);

			sent += slot->sent_bytes;
			received += slot->received_bytes;
		}
		for (int k = 0; k < placements->n; k++) {
			struct cs_slot *slot =
				cs_board_slot(placements->at[k].board.at, i);

			slot->sent_bytes = sent;
			slot->received_bytes = received;
		}
	}
}

/* Passes of the plan.  One begins only if it will end in time, judging by the longest. */
static void measure_passes(struct cs_job *job)
{
	struct cs_coordinator *co = &job->placements.at[0].co;
	double end_s = fmin(cs_clock_s() + job->args->duration_s, co->budget.steps_s);
	double longest_s = 0, began_s;

	do {
		began_s = cs_clock_s();
		co->turn++;
		cs_job_forget_own_rows(job);
		if (!cs_coordinator_run(co))
			return;
		cs_coordinator_date(co);
		longest_s = fmax(longest_s, cs_clock_s() - began_s);
	} while (!co->stopped && cs_clock_s() + longest_s < end_s);
}

static void measure_placements(struct cs_job *job)
{
	struct cs_err err;

	if (job->args->duration_s > 0)
		measure_passes(job);
	else if (job->placements.n == 1)
		cs_coordinator_run(&job->placements.at[0].co);
	else if (compare_placements(job, &err)) {
		add_finding(job, CS_CRITICAL, CS_FINDING_NO_ORDER, err.text);
		job->placements.at[0].co.stopped = 1;
	}
}

static void run_plan(struct cs_job *job, struct cs_run_timings *t)
{
	struct cs_placements *placements = &job->placements;

	send_nodes(job);
	job->measuring_s = cs_clock_s();
	report_progress(job, 0, job->plan->n_steps);
	cs_between_run(job);
	measure_placements(job);
	cs_job_remeasure(job);
	for (int k = 0; k < placements->n && job->args->why; k++)
		if (!job->one_at_a_time)
			cs_coordinator_count(&placements->at[k].co);
	t->measure = cs_clock_s() - job->measuring_s;
	job->measuring_s = 0;
	share_counts(placements);
	for (int k = 0; k < placements->n; k++)
		cs_discovery_count(&job->discovery, &placements->at[k].node);
	for (int k = 0; k < placements->n; k++)
		if (!placements->at[k].co.stopped && !job->one_at_a_time)
			cs_coordinator_finish(&placements->at[k].co);
	send_nodes(job);
}

void cs_job_run_plan(struct cs_job *job)
{
	struct cs_run_timings *t = &job->run->timings;
	int stopped = 0;

	t->start = cs_clock_s() - job->began_s;
	open_placements(job, t);
	if (job->resumed == CS_RESUMED_ALL) {
		cs_collect_done(&job->collect, CS_NODE_COMPLETE);
		return;
	}
	if (job->args->check_only)
		send_nodes(job);
	else
		run_plan(job, t);
	cs_placements_poll(&job->placements);
	for (int k = 0; k < job->placements.n; k++) {
		job->lost |= job->placements.at[k].co.lost;
		stopped |= job->placements.at[k].co.stopped;
	}
	cs_collect_done(&job->collect, stopped ? CS_NODE_EARLY : CS_NODE_COMPLETE);
}
