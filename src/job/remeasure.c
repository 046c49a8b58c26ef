#include "job/state.h"

#include "check/bounds/judge.h"
#include "check/cells/cells.h"

static int remeasures(const struct cs_job *job)
{
	return job->placements.n == 1 && job->args->checks & CS_CHECKS_OF_CELLS;
}

static void report_failure(struct cs_job *job, const struct cs_err *err)
{
	cs_collect_finding(&job->collect, job->hooks[0].index, CS_WARNING,
			   CS_FINDING_NOT_REMEASURED, err->text);
}

void cs_job_add_own_row(struct cs_job *job, const struct cs_row *row)
{
	struct cs_row own = *row;
	struct cs_err err;

	if (!remeasures(job))
		return;
	own.node = own.n_samples = own.turn = 0;
	if (cs_rows_add(&job->own_rows, &own, NULL, &err))
		report_failure(job, &err);
}

void cs_job_forget_own_rows(struct cs_job *job)
{
	cs_rows_release(&job->own_rows);
	cs_rows_init(&job->own_rows);
}

static void remeasure_steps(struct cs_coordinator *co, const uint32_t *step, size_t n)
{
	co->remeasure = 1;
	co->turn = 0;
	for (size_t i = 0; i < n; i++)
		if (cs_coordinator_step(co, step[i]))
			break;
	co->remeasure = 0;
}

/* Re-measure suspicious cells and their neighbours, and cells beyond a bound. */
static void remeasure_own(struct cs_job *job)
{
	struct cs_placement_node *at = &job->placements.at[0];
	struct cs_run own = { .backend = job->discovery.backend->name,
			      .virtual_clock = job->discovery.backend->clock_is_virtual,
			      .plan = job->plan,
			      .node = &at->node,
			      .n_nodes = 1,
			      .rows = job->own_rows,
			      .checks = job->args->checks,
			      .margin = job->run->margin };
	uint32_t step[CS_REMEASURE_MOST];
	struct cs_err err;
	int n;

	if (!remeasures(job) || at->co.stopped)
		return;
	cs_coordinator_facts(&at->co, &at->node);
	cs_criteria_apply(job->args->criteria, &own);
	n = cs_cells_remeasure(&own, step, CS_REMEASURE_MOST, &err);
	if (n >= 0)
		n = cs_bounds_remeasure(&own, step, n, CS_REMEASURE_MOST, &err);
	cs_rows_unindex(&own.rows);
	if (n < 0)
		report_failure(job, &err);
	else
		remeasure_steps(&at->co, step, (size_t)n);
}

/* Wait until `is_so`, the node has to end, or it is too late to begin a step. */
static void wait_until(struct cs_job *job, int (*is_so)(const struct cs_collect *c))
{
	struct cs_coordinator *co = &job->placements.at[0].co;
	struct timespec nap = { 0, 1000000 };

	while (!is_so(&job->collect) && !co->stopped &&
	       cs_clock_s() < co->budget.steps_s) {
		cs_placements_poll(&job->placements);
		if (cs_job_watch(job))
			co->stopped = 1;
		nanosleep(&nap, NULL);
	}
}

static int is_answered(const struct cs_collect *c)
{
	return c->remeasure_came || c->end;
}

/* Rank 0: choose by the rows of all nodes.  Each node gets an answer, even if this
 * one has stopped. */
static void choose_together(struct cs_job *job)
{
	struct cs_vec remeasure = CS_VEC(struct cs_remeasure);
	struct cs_err err;

	wait_until(job, cs_collect_all_measured);
	if (!job->placements.at[0].co.stopped &&
	    cs_fleet_remeasure(job->run, &remeasure, &err)) {
		report_failure(job, &err);
		remeasure.n = 0;
	}
	cs_collect_remeasure(&job->collect, remeasure.data, remeasure.n);
	cs_vec_release(&remeasure);
}

/* Re-measure cells that only a comparison of nodes makes suspicious. */
static void remeasure_together(struct cs_job *job)
{
	struct cs_collect *c = &job->collect;

	if (!remeasures(job) || job->comm.n_nodes < 2)
		return;
	cs_collect_measured(c);
	if (job->comm.rank == 0)
		choose_together(job);
	else
		wait_until(job, is_answered);
	remeasure_steps(&job->placements.at[0].co, c->remeasure.data, c->remeasure.n);
}

void cs_job_remeasure(struct cs_job *job)
{
	remeasure_own(job);
	remeasure_together(job);
}
