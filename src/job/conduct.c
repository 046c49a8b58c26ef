/* conduct.c - a node coordinator's work: its placements open one after the other, take
 * turns at the plan, and give their facts. */
#include "config.h"

#include "job/internal.h"

#include <stdlib.h>
#include <time.h>

#include "check/bounds/bound.h"
#include "check/cells/cells.h"
#include "plan/turns.h"

#define PROCESSES_LIMIT_S 10.0 /* for those of a placement to be there */
#define HOSTS_LIMIT_S 3.0 /* for those of a lost placement to be gone */

static void on_finding(void *ctx, enum cs_severity severity,
		       enum cs_finding_id id, const char *text)
{
	struct arm_hooks *hooks = ctx;

	cs_collect_finding(&hooks->job->collect, hooks->index, severity, id,
			   text);
}

/* Does each node measure again what is suspicious?  Placements that are compared were
 * looked at in turns. */
static int measures_again(const struct cs_job *job)
{
	return job->arms.n == 1 && job->args->checks & CS_CHECKS_OF_CELLS;
}

/* The node that judges its own rows is number 0. */
static void keep(struct cs_job *job, const struct cs_row *row)
{
	struct cs_row own = *row;
	struct cs_err err;

	if (!measures_again(job))
		return;
	own.node = own.n_samples = 0;
	if (cs_rows_add(&job->seen, &own, NULL, &err))
		on_finding(&job->hooks[0], CS_WARNING, CS_FINDING_NO_SECOND_LOOK, err.text);
}

static void on_row(void *ctx, const struct cs_row *row, const double *samples)
{
	struct arm_hooks *hooks = ctx;

	cs_collect_row(&hooks->job->collect, row, samples);
	keep(hooks->job, row);
}

/* Processes of all placements, also of those that wait for their turn. */
static void look_at_arms(struct cs_job *job)
{
	for (int k = 0; k < job->arms.n; k++)
		if (!job->arms.arm[k].over)
			cs_coordinator_look(&job->arms.arm[k].co);
}

static int on_watch(void *ctx)
{
	struct arm_hooks *hooks = ctx;

	look_at_arms(hooks->job);
	return cs_job_watch(hooks->job);
}

static void progress(struct cs_job *job, uint32_t done, uint32_t all)
{
	if (job->team.rank == 0)
		job->args->progress(job->args->ctx, done, all);
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	struct arm_hooks *hooks = ctx;

	progress(hooks->job, done, all);
}

static void send_nodes(struct cs_job *job)
{
	for (int k = 0; k < job->arms.n; k++) {
		struct cs_arm_node *arm = &job->arms.arm[k];

		cs_coordinator_facts(&arm->co, &arm->node);
		cs_collect_node(&job->collect,
				cs_collect_index(&job->collect, k), &arm->node);
	}
}

/* Ranks that cannot share memory are nodes of their own, of the same hardware. */
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

/* Until every agent of an arm has its process: a rank that attaches it, or a host,
 * which this rank and others make. */
static void await_processes(struct cs_job *job, int k)
{
	double end = cs_clock_s() + PROCESSES_LIMIT_S;
	struct timespec nap = { 0, 1000000 };

	if (!job->arms.arm[k].placement.native)
		cs_arms_call(&job->arms, k);
	while (!cs_arms_called(&job->arms, k) && cs_clock_s() < end) {
		cs_arms_make(&job->arms, &job->muster);
		cs_job_watch(job);
		nanosleep(&nap, NULL);
	}
}

static void open_arm(struct cs_job *job, int k, struct cs_run_timings *t)
{
	struct cs_arm_node *arm = &job->arms.arm[k];
	int index = cs_collect_index(&job->collect, k);
	double at = cs_clock_s();

	job->hooks[k] = (struct arm_hooks){
		job, index,
		{ &job->hooks[k], on_row, on_finding, on_watch, on_progress }
	};
	await_processes(job, k);
	cs_arms_tell_kin(&job->arms);
	cs_coordinator_init(&arm->co, arm->board.at, (uint32_t)index,
			    &job->hooks[k].table);
	arm->co.budget = job->args->budget;
	arm->co.done = job->done;
	arm->co.skip_in_use = job->args->checks != 0;
	if (job->kept == CS_KEPT_ALL)
		return;
	cs_coordinator_open(&arm->co);
	t->open += cs_clock_s() - at;
	at = cs_clock_s();
	cs_muster_facts(&job->muster, &arm->node);
	cs_coordinator_setup(&arm->co);
	t->peers += cs_clock_s() - at;
	/* a virtual clock knows no skew between processes */
	if (!job->args->look_only && !job->muster.backend->clock_is_virtual)
		cs_coordinator_skew(&arm->co, &arm->node.facts);
	if (job->one_at_a_time)
		cs_coordinator_rest(&arm->co);
}

/* The arm that the ranks give opens first: its agents have begun already. */
static void open_arms(struct cs_job *job, struct cs_run_timings *t)
{
	struct cs_arms *arms = &job->arms;

	t->open = t->peers = 0;
	job->one_at_a_time = arms->n > 1 && cs_muster_exclusive(&job->muster);
	if (arms->native >= 0)
		open_arm(job, arms->native, t);
	for (int k = 0; k < arms->n; k++)
		if (k != arms->native)
			open_arm(job, k, t);
	for (int k = 1; k < arms->n; k++)
		arms->arm[k].co.began_s = arms->arm[0].co.began_s;
	if (job->kept != CS_KEPT_ALL)
		say_apart(job);
}

/* ---- measuring ---- */

/* The steps that arms take turns in: no control cells, for turns show drift. */
static uint32_t steps_of(const struct cs_plan *plan, int n_agents, uint32_t *step)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < plan->n_steps; s++)
		if (!(cs_plan_step(plan, s)->flags & CS_STEP_CONTROL) &&
		    cs_step_applies(plan, cs_plan_step(plan, s), n_agents))
			step[n++] = s;
	return n;
}

/* Hosts are ended, ranks are not. */
static void give_up_lost(struct cs_job *job)
{
	double end = cs_clock_s() + HOSTS_LIMIT_S;
	struct timespec nap = { 0, 1000000 };

	for (int k = 0; k < job->arms.n; k++) {
		const struct cs_arm_node *arm = &job->arms.arm[k];

		if (!arm->co.lost || arm->placement.native || arm->over)
			continue;
		while (!cs_arms_give_up(&job->arms, k) && cs_clock_s() < end) {
			cs_job_watch(job);
			nanosleep(&nap, NULL);
		}
	}
}

/* A turn of one arm: one cell or, where it has to take the GPUs for it, all of them.
 * A lost arm leaves its turns to nobody. */
static void take_turn(struct cs_job *job, const struct cs_turn *turn,
		      const uint32_t *step, uint32_t n_steps, uint32_t block)
{
	struct cs_coordinator *co = &job->arms.arm[turn->arm].co;

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

/* All arms, cell by cell, in the order of plan/turns.h. */
static int take_turns(struct cs_job *job, const uint32_t *step, uint32_t n_steps,
		      uint32_t *blocks, struct cs_err *err)
{
	struct cs_turns turns = { .arms = (uint32_t)job->arms.n,
				  .cells = job->one_at_a_time ? 1 : n_steps,
				  .visits = CS_TURNS_VISITS };
	size_t n = cs_turns_count(&turns);
	struct cs_turn *order = calloc(n, sizeof(*order));
	struct cs_rng rng = { job->plan->set.seed };
	int rc = order ? cs_turns_order(&turns, &rng, order, err) :
			 cs_err_set(err, "no memory");

	for (size_t i = 0; i < n && !rc; i++) {
		uint32_t *block = &blocks[(size_t)order[i].cell *
					  CS_ARMS_MAX + order[i].arm];

		take_turn(job, &order[i], step, n_steps, ++*block);
		progress(job, (uint32_t)i + 1, (uint32_t)n);
	}
	free(order);
	return rc;
}

static int compare_arms(struct cs_job *job, struct cs_err *err)
{
	size_t room = job->plan->n_steps;
	uint32_t *step = calloc(room, sizeof(*step));
	uint32_t *blocks = calloc(room * CS_ARMS_MAX, sizeof(*blocks));
	uint32_t n;
	int rc = 0;

	if (!step || !blocks)
		rc = cs_err_set(err, "no memory");
	else if ((n = steps_of(job->plan, job->muster.n_agents, step)))
		rc = take_turns(job, step, n, blocks, err);
	free(step);
	free(blocks);
	return rc;
}

/* What one arm moved, the counters of the links in the other's two looks saw. */
static void share_counts(struct cs_arms *arms)
{
	for (int i = 0; i < arms->arm[0].co.n; i++) {
		int64_t sent = 0, received = 0;

		for (int k = 0; k < arms->n; k++) {
			struct cs_slot *slot =
				cs_board_slot(arms->arm[k].board.at, i);

			sent += slot->sent_bytes;
			received += slot->received_bytes;
		}
		for (int k = 0; k < arms->n; k++) {
			struct cs_slot *slot =
				cs_board_slot(arms->arm[k].board.at, i);

			slot->sent_bytes = sent;
			slot->received_bytes = received;
		}
	}
}

static void measure_arms(struct cs_job *job)
{
	struct cs_err err;

	if (job->arms.n == 1)
		cs_coordinator_run(&job->arms.arm[0].co);
	else if (compare_arms(job, &err)) {
		on_finding(&job->hooks[0], CS_CRITICAL, CS_FINDING_NO_ORDER, err.text);
		job->arms.arm[0].co.stopped = 1;
	}
}

static void carry_out_again(struct cs_coordinator *co, const uint32_t *step, size_t n)
{
	co->again = 1;
	for (size_t i = 0; i < n; i++)
		if (cs_coordinator_step(co, step[i], 0))
			break;
	co->again = 0;
}

/* What is suspicious and what stands beside it, and what is beyond a bound. */
static void look_again(struct cs_job *job)
{
	struct cs_arm_node *arm = &job->arms.arm[0];
	struct cs_run seen = { .backend = job->muster.backend->name,
			       .virtual_clock =
				       job->muster.backend->clock_is_virtual,
			       .plan = job->plan, .node = &arm->node,
			       .n_nodes = 1, .rows = job->seen,
			       .checks = job->args->checks,
			       .margin = job->run->margin };
	uint32_t step[CS_AGAIN_MOST];
	struct cs_err err;
	int n;

	if (!measures_again(job) || arm->co.stopped)
		return;
	cs_coordinator_facts(&arm->co, &arm->node);
	cs_criteria_apply(job->args->criteria, &seen);
	n = cs_cells_again(&seen, step, CS_AGAIN_MOST, &err);
	if (n >= 0)
		n = cs_bounds_again(&seen, step, n, CS_AGAIN_MOST, &err);
	cs_rows_unindex(&seen.rows);
	if (n < 0)
		on_finding(&job->hooks[0], CS_WARNING, CS_FINDING_NO_SECOND_LOOK, err.text);
	else
		carry_out_again(&arm->co, step, (size_t)n);
}

/* Until it is so, this node has to end, or no step would be begun any more. */
static void wait_until(struct cs_job *job, int (*is_so)(const struct cs_collect *c))
{
	struct cs_coordinator *co = &job->arms.arm[0].co;
	struct timespec nap = { 0, 1000000 };

	while (!is_so(&job->collect) && !co->stopped &&
	       cs_clock_s() < co->budget.steps_s) {
		look_at_arms(job);
		if (cs_job_watch(job))
			co->stopped = 1;
		nanosleep(&nap, NULL);
	}
}

static int again_came(const struct cs_collect *c)
{
	return c->again_came || c->end;
}

/* Rank 0: by what all nodes show; each hears of it, whatever became of this one. */
static void say_again(struct cs_job *job)
{
	struct cs_vec again = CS_VEC(struct cs_again);
	struct cs_err err;

	wait_until(job, cs_collect_all_measured);
	if (!job->arms.arm[0].co.stopped && cs_fleet_again(job->run, &again, &err)) {
		on_finding(&job->hooks[0], CS_WARNING, CS_FINDING_NO_SECOND_LOOK, err.text);
		again.n = 0;
	}
	cs_collect_again(&job->collect, again.data, again.n);
	cs_vec_release(&again);
}

/* What only the nodes together make suspicious. */
static void look_again_together(struct cs_job *job)
{
	struct cs_collect *c = &job->collect;

	if (!measures_again(job) || job->team.n_nodes < 2)
		return;
	cs_collect_measured(c);
	if (job->team.rank == 0)
		say_again(job);
	else
		wait_until(job, again_came);
	carry_out_again(&job->arms.arm[0].co, c->again.data, c->again.n);
}

static void carry_out(struct cs_job *job, struct cs_run_timings *t)
{
	struct cs_arms *arms = &job->arms;

	send_nodes(job);
	job->measuring_s = cs_clock_s();
	measure_arms(job);
	look_again(job);
	look_again_together(job);
	t->measure = cs_clock_s() - job->measuring_s;
	job->measuring_s = 0;
	share_counts(arms);
	for (int k = 0; k < arms->n; k++)
		if (!arms->arm[k].co.stopped && !job->one_at_a_time)
			cs_coordinator_finish(&arms->arm[k].co);
	send_nodes(job);
}

void cs_job_conduct(struct cs_job *job)
{
	struct cs_run_timings *t = &job->run->timings;
	int stopped = 0;

	t->start = cs_clock_s() - job->began_s;
	open_arms(job, t);
	if (job->kept == CS_KEPT_ALL) {
		cs_collect_done(&job->collect, CS_NODE_COMPLETE);
		return;
	}
	if (job->args->look_only)
		send_nodes(job);
	else
		carry_out(job, t);
	look_at_arms(job);
	for (int k = 0; k < job->arms.n; k++) {
		job->lost |= job->arms.arm[k].co.lost;
		stopped |= job->arms.arm[k].co.stopped;
	}
	cs_collect_done(&job->collect, stopped ? CS_NODE_EARLY :
						 CS_NODE_COMPLETE);
}
