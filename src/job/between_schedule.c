/* between_schedule.c - slots of the time that trials took. */
#include "job/between_state.h"

#include <math.h>
#include <stdlib.h>

#define CLOCK_EVERY_S 10.0 /* clocks drift by some microseconds a second */
#define SLACK_S 3.0 /* of all slots together: few nodes need not hurry */
#define TOUCH_GBS 0.5 /* memory that is made and filled, at least */
#define GPU_S 1.0	  /* … of a GPU, and to lock host memory */

/* A node's trial, and the kinds of memory that it has. */
struct tried {
	struct cs_trial trial;
	uint64_t kinds;
};

void cs_between_try_pair(struct cs_between_phase *b)
{
	const struct cs_test *test =
		cs_test_at(cs_test_index("nethost.mpi.pinned.pair"));
	const struct cs_between_slot slot = { .part = cs_between_part(b, test, 0,
								      b->me) };
	struct tried tried = { { NAN, NAN, NAN, NAN }, cs_between_own_kinds(b) };
	double begin_s = cs_between_own_time(b, b->schedule.begin_s);

	if (b->why[0])
		return;
	cs_between_open_ends(b, CS_ENDS_HOST);
	while (cs_clock_s() < begin_s && !b->is_over)
		cs_between_nap(b);
	if (slot.part.to >= 0 && b->memory[CS_ENDS_HOST].is_open) {
		struct cs_pair pair = cs_between_pair(b, &slot, test, 0);

		pair.end_s = begin_s + CS_TRIAL_S;
		cs_pair_try(&pair, &tried.trial);
		if (pair.memory_is_lost)
			b->memory[CS_ENDS_HOST].rings = (struct cs_hostmem){ .fd = -1 };
	}
	b->memory[CS_ENDS_HOST].is->close(&b->memory[CS_ENDS_HOST]);
	b->mover->say(b->rank_of[0], CS_TRIAL, &tried, sizeof(tried));
}

void cs_between_tell_all(struct cs_between_phase *b, int tag)
{
	for (uint32_t node = 1; node < b->n; node++)
		b->mover->say(b->rank_of[node], tag, &b->schedule,
			      sizeof(b->schedule));
}

double cs_between_slot_s(const struct cs_between_phase *b, uint32_t matrix)
{
	const struct cs_test *test = cs_between_test(b, matrix);

	return b->schedule.kinds >> cs_between_memory_of(test) & 1 ?
		       cs_slot_s(&b->schedule.slots, test) :
		       0;
}

double cs_between_round_s(const struct cs_between_phase *b)
{
	double s = 0;

	for (uint32_t v = 0; v < b->n_matrices; v++)
		s += cs_between_slot_s(b, v);
	return s;
}

uint32_t cs_between_rounds(const struct cs_between_phase *b, uint32_t matrix)
{
	const struct cs_settings *set = &b->job->plan->set;

	return cs_rounds_with(cs_between_test(b, matrix), set->shift, b->n,
			      set->rounds);
}

uint64_t cs_between_clock_rounds(const struct cs_between_phase *b)
{
	return (uint64_t)fmin(fmax(1, CLOCK_EVERY_S / cs_between_round_s(b)),
			      UINT32_MAX);
}

double cs_between_begin_s(const struct cs_between_phase *b, uint32_t round,
			  uint32_t matrix)
{
	double s = (double)(round / cs_between_clock_rounds(b)) *
		   cs_between_round_s(b);

	for (uint32_t v = 0; v < b->n_matrices; v++)
		s += cs_between_slot_s(b, v) *
		     fmin(round + (v < matrix), cs_between_rounds(b, v));
	return s;
}

/* As many rounds as end before the budget is spent. */
static uint64_t rounds_in_time(const struct cs_between_phase *b)
{
	const double left_s = b->job->args->budget.steps_s - b->schedule.begin_s;
	uint32_t fit = 0;

	while (fit < b->n_rounds && cs_between_begin_s(b, fit + 1, 0) <= left_s)
		fit++;
	return fit;
}

/* Take the trials of all nodes that send one in time; of which kinds of memory there are
 * two. */
static uint64_t hear_trials(struct cs_between_phase *b, struct cs_trial *trial,
			    size_t *n)
{
	const double end_s = b->schedule.begin_s + CS_TRIAL_S + 1;
	uint64_t once = 0, twice = 0;
	struct tried tried;

	while (*n < b->n && cs_clock_s() < end_s && !b->is_over) {
		if (!b->mover->hear(CS_MOVER_ANY, CS_TRIAL, &tried, sizeof(tried),
				    NULL)) {
			cs_between_nap(b);
			continue;
		}
		trial[(*n)++] = tried.trial;
		twice |= once & tried.kinds;
		once |= tried.kinds;
	}
	return twice;
}

void cs_between_make_schedule(struct cs_between_phase *b)
{
	struct cs_trial *trial = calloc(b->n, sizeof(*trial));
	size_t n = 0;

	if (trial)
		b->schedule.kinds = hear_trials(b, trial, &n);
	b->schedule.slots = cs_slots_of(trial, n, CS_WINDOW_MOST);
	free(trial);
	b->schedule.slots.late_s =
		fmax(b->schedule.slots.late_s,
		     fmin(1, SLACK_S / (b->n_rounds * b->n_matrices)));
	b->schedule.begin_s = cs_clock_s() + CS_SOON_S + b->schedule.slots.late_s +
			      2e-9 * (double)b->schedule.slots.window *
				      CS_MESSAGE_BYTES / TOUCH_GBS;
	if (b->schedule.kinds >> CS_ENDS_STAGED)
		b->schedule.begin_s += GPU_S;
	b->schedule.rounds = b->schedule.slots.window ? rounds_in_time(b) : 0;
	cs_between_tell_all(b, CS_SLOTS);
}
