/* conduct.c - a node coordinator's work: its placements open one after the other,
 * take turns at the plan, and report their facts. */
#include "config.h"

#include "job/conduct.h"

#include <stdlib.h>
#include <time.h>

#include "check/bounds/judge.h"
#include "check/cells/cells.h"
#include "job/watch.h"
#include "plan/turns.h"

#define PROCESSES_LIMIT_S 10.0 /* for those of a placement to be there */
#define HOSTS_LIMIT_S 3.0 /* for those of a lost placement to be gone */

static void on_finding(void *ctx, enum cs_severity severity, enum cs_finding_id id,
		       const char *text)
{
	struct side_hooks *hooks = ctx;

	cs_collect_finding(&hooks->job->collect, hooks->index, severity, id, text);
}

/* Does each node re-measure suspicious cells?  Not when placements are compared:
 * their cells are measured in turns. */
static int measures_remeasure(const struct cs_job *job)
{
	return job->sides.n == 1 && job->args->checks & CS_CHECKS_OF_CELLS;
}

/* Keep a row, without samples, to judge this node alone, as number 0. */
static void keep(struct cs_job *job, const struct cs_row *row)
{
	struct cs_row own = *row;
	struct cs_err err;

	if (!measures_remeasure(job))
		return;
	own.node = own.n_samples = 0;
	if (cs_rows_add(&job->own_rows, &own, NULL, &err))
		on_finding(&job->hooks[0], CS_WARNING, CS_FINDING_NOT_REMEASURED,
			   err.text);
}

static void on_row(void *ctx, const struct cs_row *row, const double *samples)
{
	struct side_hooks *hooks = ctx;

	cs_collect_row(&hooks->job->collect, row, samples);
	keep(hooks->job, row);
}

/* Poll the processes of all placements, also of those that wait for their turn. */
static void poll_sides(struct cs_job *job)
{
	for (int k = 0; k < job->sides.n; k++)
		if (!job->sides.side[k].over)
			cs_coordinator_poll(&job->sides.side[k].co);
}

static int on_watch(void *ctx)
{
	struct side_hooks *hooks = ctx;

	poll_sides(hooks->job);
	return cs_job_watch(hooks->job);
}

static void progress(struct cs_job *job, uint32_t done, uint32_t all)
{
	if (job->team.rank == 0)
		job->args->progress(job->args->ctx, done, all);
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	struct side_hooks *hooks = ctx;

	progress(hooks->job, done, all);
}

static void send_nodes(struct cs_job *job)
{
	for (int k = 0; k < job->sides.n; k++) {
		struct cs_side_node *side = &job->sides.side[k];

		cs_coordinator_facts(&side->co, &side->node);
		cs_collect_node(&job->collect, cs_collect_index(&job->collect, k),
				&side->node);
	}
}

/* Report ranks of this machine that cannot share memory and are nodes of their own. */
static void say_apart(struct cs_job *job)
{
	char text[240];

	if (!job->team.apart[0])
		return;
	cs_text(text, sizeof(text),
		"the machine counts as several nodes, which measure at the same time: its ranks %s",
		job->team.apart);
	on_finding(&job->hooks[0], CS_WARNING, CS_FINDING_MACHINE_DIVIDED, text);
}

/* ---- one placement after the other opens ---- */

/* Wait until every agent of a side has a process: a rank, or a host, which this rank
 * and others make. */
static void await_processes(struct cs_job *job, int k)
{
	double end = cs_clock_s() + PROCESSES_LIMIT_S;
	struct timespec nap = { 0, 1000000 };

	if (!job->sides.side[k].placement.native)
		cs_sides_call(&job->sides, k);
	while (!cs_sides_called(&job->sides, k) && cs_clock_s() < end) {
		cs_sides_make(&job->sides, &job->discovery);
		cs_job_watch(job);
		nanosleep(&nap, NULL);
	}
}

static void open_side(struct cs_job *job, int k, struct cs_run_timings *t)
{
	struct cs_side_node *side = &job->sides.side[k];
	int index = cs_collect_index(&job->collect, k);
	double at = cs_clock_s();

	job->hooks[k] = (struct side_hooks){ job,
					     index,
					     { &job->hooks[k], on_row, on_finding,
					       on_watch, on_progress } };
	await_processes(job, k);
	cs_sides_share_kin(&job->sides);
	cs_coordinator_init(&side->co, side->board.at, (uint32_t)index,
			    &job->hooks[k].table);
	side->co.budget = job->args->budget;
	side->co.done = job->done;
	side->co.skip_in_use = job->args->checks != 0;
	if (job->resumed == CS_RESUMED_ALL)
		return;
	cs_coordinator_facts(&side->co, &side->node);
	cs_coordinator_open(&side->co);
	t->open += cs_clock_s() - at;
	at = cs_clock_s();
	cs_coordinator_facts(&side->co, &side->node);
	cs_discovery_facts(&job->discovery, &side->node);
	cs_coordinator_setup(&side->co);
	t->peers += cs_clock_s() - at;
	/* all processes have the same virtual clock */
	if (!job->args->check_only && !job->discovery.backend->clock_is_virtual)
		cs_coordinator_skew(&side->co, &side->node.facts);
	if (job->one_at_a_time)
		cs_coordinator_rest(&side->co);
}

/* The native side opens first: its agents have started already. */
static void open_sides(struct cs_job *job, struct cs_run_timings *t)
{
	struct cs_sides *sides = &job->sides;

	t->open = t->peers = 0;
	job->one_at_a_time = sides->n > 1 && cs_discovery_exclusive(&job->discovery);
	if (sides->native >= 0)
		open_side(job, sides->native, t);
	for (int k = 0; k < sides->n; k++)
		if (k != sides->native)
			open_side(job, k, t);
	for (int k = 1; k < sides->n; k++)
		sides->side[k].co.began_s = sides->side[0].co.began_s;
	if (job->resumed != CS_RESUMED_ALL)
		say_apart(job);
}

/* ---- measuring ---- */

/* The steps at which sides take turns; no control cells, because turns show drift. */
static uint32_t steps_of(const struct cs_plan *plan, int n_agents, uint32_t *step)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < plan->n_steps; s++)
		if (!(cs_plan_step(plan, s)->flags & CS_STEP_CONTROL) &&
		    cs_step_applies(plan, cs_plan_step(plan, s), n_agents))
			step[n++] = s;
	return n;
}

/* End the other hosts of lost sides, and wait for them.  Ranks stay. */
static void give_up_lost(struct cs_job *job)
{
	double end = cs_clock_s() + HOSTS_LIMIT_S;
	struct timespec nap = { 0, 1000000 };

	for (int k = 0; k < job->sides.n; k++) {
		const struct cs_side_node *side = &job->sides.side[k];

		if (!side->co.lost || side->placement.native || side->over)
			continue;
		while (!cs_sides_give_up(&job->sides, k) && cs_clock_s() < end) {
			cs_job_watch(job);
			nanosleep(&nap, NULL);
		}
	}
}

/* Take a turn of one side: one cell or, if only one side can hold the GPUs, all
 * cells. Turns of a lost side are skipped. */
static void take_turn(struct cs_job *job, const struct cs_turn *turn,
		      const uint32_t *step, uint32_t n_steps, uint32_t block)
{
	struct cs_coordinator *co = &job->sides.side[turn->side].co;

	give_up_lost(job);
	if (!job->one_at_a_time) {
		cs_coordinator_step(co, step[turn->cell], block);
		return;
	}
	cs_coordinator_resume(co);
	for (uint32_t s = 0; s < n_steps; s++)
		if (cs_coordinator_step(co, step[s], block))
			return;
	cs_coordinator_finish(co);
	cs_coordinator_rest(co);
}

/* All sides, cell by cell, in the order of plan/turns.h. */
static int take_turns(struct cs_job *job, const uint32_t *step, uint32_t n_steps,
		      uint32_t *blocks, struct cs_err *err)
{
	struct cs_turns turns = { .sides = (uint32_t)job->sides.n,
				  .cells = job->one_at_a_time ? 1 : n_steps,
				  .visits = CS_TURNS_VISITS };
	size_t n = cs_turns_count(&turns);
	struct cs_turn *order = calloc(n, sizeof(*order));
	struct cs_rng rng = { job->plan->set.seed };
	int rc = order ? cs_turns_order(&turns, &rng, order, err) :
			 cs_err_set(err, "no memory");

	for (size_t i = 0; i < n && !rc; i++) {
		uint32_t *block =
			&blocks[(size_t)order[i].cell * CS_SIDES_MAX + order[i].side];

		take_turn(job, &order[i], step, n_steps, ++*block);
		progress(job, (uint32_t)i + 1, (uint32_t)n);
	}
	free(order);
	return rc;
}

static int compare_sides(struct cs_job *job, struct cs_err *err)
{
	size_t room = job->plan->n_steps;
	uint32_t *step = calloc(room, sizeof(*step));
	uint32_t *blocks = calloc(room * CS_SIDES_MAX, sizeof(*blocks));
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

/* Counters of links count the copies of all sides, so each side gets the sum. */
static void share_counts(struct cs_sides *sides)
{
	for (int i = 0; i < sides->side[0].co.n; i++) {
		int64_t sent = 0, received = 0;

		for (int k = 0; k < sides->n; k++) {
			struct cs_slot *slot = cs_board_slot(sides->side[k].board.at,
							     i);

			sent += slot->sent_bytes;
			received += slot->received_bytes;
		}
		for (int k = 0; k < sides->n; k++) {
			struct cs_slot *slot = cs_board_slot(sides->side[k].board.at,
							     i);

			slot->sent_bytes = sent;
			slot->received_bytes = received;
		}
	}
}

static void measure_sides(struct cs_job *job)
{
	struct cs_err err;

	if (job->sides.n == 1)
		cs_coordinator_run(&job->sides.side[0].co);
	else if (compare_sides(job, &err)) {
		on_finding(&job->hooks[0], CS_CRITICAL, CS_FINDING_NO_ORDER, err.text);
		job->sides.side[0].co.stopped = 1;
	}
}

static void carry_out_remeasured(struct cs_coordinator *co, const uint32_t *step,
				 size_t n)
{
	co->remeasure = 1;
	for (size_t i = 0; i < n; i++)
		if (cs_coordinator_step(co, step[i], 0))
			break;
	co->remeasure = 0;
}

/* Re-measure suspicious cells and their neighbours, and cells beyond a bound. */
static void remeasure(struct cs_job *job)
{
	struct cs_side_node *side = &job->sides.side[0];
	struct cs_run seen = { .backend = job->discovery.backend->name,
			       .virtual_clock =
				       job->discovery.backend->clock_is_virtual,
			       .plan = job->plan,
			       .node = &side->node,
			       .n_nodes = 1,
			       .rows = job->own_rows,
			       .checks = job->args->checks,
			       .margin = job->run->margin };
	uint32_t step[CS_REMEASURE_MOST];
	struct cs_err err;
	int n;

	if (!measures_remeasure(job) || side->co.stopped)
		return;
	cs_coordinator_facts(&side->co, &side->node);
	cs_criteria_apply(job->args->criteria, &seen);
	n = cs_cells_remeasure(&seen, step, CS_REMEASURE_MOST, &err);
	if (n >= 0)
		n = cs_bounds_remeasure(&seen, step, n, CS_REMEASURE_MOST, &err);
	cs_rows_unindex(&seen.rows);
	if (n < 0)
		on_finding(&job->hooks[0], CS_WARNING, CS_FINDING_NOT_REMEASURED,
			   err.text);
	else
		carry_out_remeasured(&side->co, step, (size_t)n);
}

/* Wait until `is_so`, the node has to end, or it is too late to begin a step. */
static void wait_until(struct cs_job *job, int (*is_so)(const struct cs_collect *c))
{
	struct cs_coordinator *co = &job->sides.side[0].co;
	struct timespec nap = { 0, 1000000 };

	while (!is_so(&job->collect) && !co->stopped &&
	       cs_clock_s() < co->budget.steps_s) {
		poll_sides(job);
		if (cs_job_watch(job))
			co->stopped = 1;
		nanosleep(&nap, NULL);
	}
}

static int remeasure_came(const struct cs_collect *c)
{
	return c->remeasure_came || c->end;
}

/* Rank 0: choose by the rows of all nodes.  Each node gets an answer, even if this
 * one has stopped. */
static void say_remeasure(struct cs_job *job)
{
	struct cs_vec remeasure = CS_VEC(struct cs_remeasure);
	struct cs_err err;

	wait_until(job, cs_collect_all_measured);
	if (!job->sides.side[0].co.stopped &&
	    cs_fleet_remeasure(job->run, &remeasure, &err)) {
		on_finding(&job->hooks[0], CS_WARNING, CS_FINDING_NOT_REMEASURED,
			   err.text);
		remeasure.n = 0;
	}
	cs_collect_remeasure(&job->collect, remeasure.data, remeasure.n);
	cs_vec_release(&remeasure);
}

/* Re-measure cells that only a comparison of nodes makes suspicious. */
static void remeasure_together(struct cs_job *job)
{
	struct cs_collect *c = &job->collect;

	if (!measures_remeasure(job) || job->team.n_nodes < 2)
		return;
	cs_collect_measured(c);
	if (job->team.rank == 0)
		say_remeasure(job);
	else
		wait_until(job, remeasure_came);
	carry_out_remeasured(&job->sides.side[0].co, c->remeasure.data,
			     c->remeasure.n);
}

static void carry_out(struct cs_job *job, struct cs_run_timings *t)
{
	struct cs_sides *sides = &job->sides;

	send_nodes(job);
	job->measuring_s = cs_clock_s();
	measure_sides(job);
	remeasure(job);
	remeasure_together(job);
	t->measure = cs_clock_s() - job->measuring_s;
	job->measuring_s = 0;
	share_counts(sides);
	for (int k = 0; k < sides->n; k++)
		if (!sides->side[k].co.stopped && !job->one_at_a_time)
			cs_coordinator_finish(&sides->side[k].co);
	send_nodes(job);
}

void cs_job_conduct(struct cs_job *job)
{
	struct cs_run_timings *t = &job->run->timings;
	int stopped = 0;

	t->start = cs_clock_s() - job->began_s;
	open_sides(job, t);
	if (job->resumed == CS_RESUMED_ALL) {
		cs_collect_done(&job->collect, CS_NODE_COMPLETE);
		return;
	}
	if (job->args->check_only)
		send_nodes(job);
	else
		carry_out(job, t);
	poll_sides(job);
	for (int k = 0; k < job->sides.n; k++) {
		job->lost |= job->sides.side[k].co.lost;
		stopped |= job->sides.side[k].co.stopped;
	}
	cs_collect_done(&job->collect, stopped ? CS_NODE_EARLY : CS_NODE_COMPLETE);
}
