#include "job/between.h"

#include <math.h>
#include <stdlib.h>

#include "job/between_state.h"

#define LEFT_S 10.0 /* as long as a silent node is waited for */
#define COME_S 30.0 /* for all nodes to be ready, as for devices to open */

/* Has the plan matrices between nodes, and are there several nodes? */
static int is_wanted(const struct cs_job *job)
{
	return job->plan && job->comm.n_nodes > 1 && job->placements.n == 1 &&
	       cs_plan_has_between(job->plan);
}

int cs_between_check(const struct cs_job *job, const struct cs_plan *plan,
		     struct cs_err *err)
{
	if (!cs_plan_has_between(plan))
		return 0;
	if (job->placements.n > 1)
		return cs_err_set(
			err,
			"%s is not measured by several placements: leave --placement out",
			cs_plan_between_word(plan));
	if (job->comm.n_nodes < 2 && !plan->n_steps)
		return cs_err_set(
			err,
			"%s measures between nodes, and there is only one: start ranks on several, as mpirun -np 2 --host A,B",
			cs_plan_between_word(plan));
	return 0;
}

int cs_between_open(struct cs_job *job, struct cs_err *err)
{
	return is_wanted(job) ? cs_mover_mpi.open(&job->comm, err) : 0;
}

static void report(struct cs_between_phase *b, const char *text)
{
	cs_collect_finding(&b->job->collect, b->job->hooks[0].index, CS_WARNING,
			   CS_FINDING_NOT_POSSIBLE, text);
}

static void hear_slots(struct cs_between_phase *b)
{
	if (cs_between_hear_root(b, CS_SLOTS, &b->schedule, sizeof(b->schedule),
				 cs_clock_s() + CS_TRIAL_S + CS_ROOT_S))
		cs_text(b->why, sizeof(b->why), "rank 0 did not answer in time");
}

/* On a busy node memory takes longer than any estimate: slots begin when all have it. */
static void prepare(struct cs_between_phase *b)
{
	cs_between_prepare_ends(b);
	cs_between_say_ready(b);
	if (b->me == 0)
		cs_between_await_ready(b);
	else
		hear_slots(b);
}

/* Learn the clock and the slots. */
static void get_ready(struct cs_between_phase *b)
{
	double now_s = cs_clock_s();

	cs_between_try_check(b);
	cs_between_try_gpu(b);
	cs_between_set_clock(b, now_s + (b->me ? CS_ROOT_S : COME_S));
	if (b->me == 0) {
		b->clock = (struct cs_clock){ 0, 0 };
		b->schedule.begin_s = cs_clock_s() + CS_SOON_S;
		cs_between_tell_all(b, CS_BEGIN);
	} else if (isinf(b->clock.trip_s) ||
		   cs_between_hear_root(b, CS_BEGIN, &b->schedule,
					sizeof(b->schedule), now_s + CS_ROOT_S)) {
		cs_text(b->why, sizeof(b->why),
			"rank 0 did not answer in time: its clock is not known");
	}
	cs_between_try_pair(b);
	if (b->me == 0)
		cs_between_make_schedule(b);
	else if (!b->why[0])
		hear_slots(b);
	if (!b->why[0] && b->schedule.slots.window)
		prepare(b);
	if (b->me == 0 && !b->schedule.slots.window)
		report(b,
		       "nothing is measured between nodes: no pair exchanged messages in a trial");
}

static int open_between(struct cs_between_phase *b, struct cs_err *err)
{
	struct cs_comm *comm = &b->job->comm;
	const struct cs_plan *plan = b->job->plan;

	b->first_matrix = cs_plan_first_between(plan);
	b->n_matrices = plan->n_matrices - b->first_matrix;
	for (uint32_t v = 0; v < b->n_matrices; v++)
		if (cs_between_rounds(b, v) > b->n_rounds)
			b->n_rounds = cs_between_rounds(b, v);
	b->rank_of = calloc(b->n, sizeof(*b->rank_of));
	b->missed = calloc(b->n, 1);
	if (cs_between_make_ends(b) || !b->rank_of || !b->missed)
		return cs_err_set(err, "no memory");
	b->nics = cs_nics_open(b->job->discovery.root,
			       &b->job->placements.at[0].node.facts);
	for (int r = comm->size - 1; r >= 0; r--)
		b->rank_of[comm->place[r].node] = r;
	return cs_rounds_draw(plan->set.seed, b->n, &b->round, err);
}

/* Messages that others end late may still come to memory of a GPU, which is freed. */
static void close_mover(struct cs_between_phase *b)
{
	const double end_s = cs_clock_s() + LEFT_S;

	while (b->mover->close() && b->has_left_gpu && cs_clock_s() < end_s &&
	       !b->is_over)
		cs_between_nap(b);
}

static void close_between(struct cs_between_phase *b)
{
	close_mover(b);
	cs_nics_close(b->nics);
	cs_between_close_ends(b);
	free(b->round);
	free(b->missed);
	free(b->rank_of);
}

void cs_between_run(struct cs_job *job)
{
	struct cs_between_phase b = { .job = job,
				      .mover = &cs_mover_mpi,
				      .n = (uint32_t)job->comm.n_nodes,
				      .me = (uint32_t)job->comm.node,
				      .clock = { 0, INFINITY } };
	struct cs_err err;

	if (!is_wanted(job))
		return;
	if (open_between(&b, &err)) {
		report(&b, err.text);
	} else {
		get_ready(&b);
		for (uint32_t round = 0; round < b.n_rounds && !b.is_over; round++)
			cs_between_take_round(&b, round);
		cs_between_look_again(&b);
	}
	close_between(&b);
}
