/* between_schedule.c - slots of the time that trials took. */
#include "job/between_state.h"

#include <math.h>
#include <stdlib.h>

#include "base/cpus.h"

#define CLOCK_EVERY_S 10.0 /* clocks drift by some microseconds a second */
#define SLACK_S 3.0   /* of all slots together: few nodes need not hurry */
#define TOUCH_GBS 0.5 /* memory that is made and filled, on a node that is not busy */
#define READY_S 10.0  /* a node that takes so much longer is not waited for */
#define CHECK_MESSAGES 4 /* are enough for a thread, of which so many check a window */
#define CHECK_CPUS 16
#define GPU_S 1.0	  /* … of a GPU, and to lock host memory */

/* A node's trial, and the kinds of memory that it has. */
struct tried {
	struct cs_trial trial;
	uint64_t kinds;
};

static const struct cs_test *trial_test(void)
{
	return cs_test_at(cs_test_index("nethost.mpi.pinned.pair"));
}

void cs_between_try_check(struct cs_between_phase *b)
{
	const struct cs_between_slot alone = { .part = { -1, 0, { 0 } } };
	struct cs_ends *ends = cs_between_first_ends(b, CS_ENDS_HOST);
	struct cs_pair pair;

	b->schedule.slots.window = CHECK_MESSAGES * (uint64_t)cs_cpus(CHECK_CPUS);
	cs_between_open_ends(b, ends);
	pair = cs_between_pair(b, &alone, trial_test(), ends, 0);
	b->check_s = ends->is_open ? cs_pair_check_s(&pair) : 0;
}

void cs_between_try_pair(struct cs_between_phase *b)
{
	const struct cs_test *test = trial_test();
	const struct cs_between_slot slot = { .part = cs_between_part(b, test, 0,
								      b->me) };
	struct cs_ends *ends = cs_between_first_ends(b, CS_ENDS_HOST);
	struct tried tried = { { NAN, NAN, b->check_s, NAN },
			       cs_between_own_kinds(b) };
	double begin_s = cs_between_own_time(b, b->schedule.begin_s);

	if (b->why[0])
		return;
	cs_between_sleep(b, begin_s);
	if (slot.part.to >= 0 && ends->is_open) {
		struct cs_pair pair = cs_between_pair(b, &slot, test, ends, 0);

		pair.end_s = begin_s + CS_TRIAL_S;
		cs_pair_try(&pair, &tried.trial);
		if (pair.memory_is_lost)
			ends->rings = (struct cs_hostmem){ .fd = -1 };
	}
	ends->is->close(ends);
	ends->is_open = 0;
	b->mover->say(b->rank_of[0], CS_TRIAL, &tried, sizeof(tried));
}

/* All kinds of memory have one deadline. */
void cs_between_say_ready(struct cs_between_phase *b)
{
	const struct cs_test *test = cs_test_at(cs_test_index("net.mpi.staged.pair"));
	const struct cs_between_slot slot = { .part = cs_between_part(b, test, 0,
								      b->me) };
	const double begin_s = cs_between_own_time(b, b->schedule.begin_s);
	struct tried tried = { { 0, NAN, 0, 0 }, 0 };

	for (uint32_t kind = CS_ENDS_STAGED; kind < CS_ENDS_KINDS; kind++) {
		struct cs_ends *ends = cs_between_first_ends(b, kind);
		struct cs_pair pair = cs_between_pair(b, &slot, test, ends,
						      UINT32_MAX - kind);
		enum cs_pair_end how;

		if (slot.part.to < 0 || !(b->schedule.kinds >> kind & 1))
			continue;
		pair.is_trial = 1;
		pair.nics = NULL;
		pair.half_s = pair.end_s = begin_s + CS_TRIAL_S;
		if (!ends->is_open) {
			cs_pair_decline(&pair);
			continue;
		}
		how = cs_pair_meet(&pair);
		if (how == CS_PAIR_DONE && pair.n == 2)
			tried.trial.message_s = fmax(tried.trial.message_s,
						     pair.took_s);
		ends->has_failed = cs_between_is_own_fault(b, &pair, how);
		cs_between_replace_ends(b, &pair);
		ends->is_open &= !ends->has_failed;
	}
	b->mover->say(b->rank_of[0], CS_READY, &tried, sizeof(tried));
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

/* The time of a round with a slot of each matrix. */
static double round_s(const struct cs_between_phase *b)
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
	return (uint64_t)fmin(fmax(1, CLOCK_EVERY_S / round_s(b)), UINT32_MAX);
}

double cs_between_begin_s(const struct cs_between_phase *b, uint32_t round,
			  uint32_t matrix)
{
	double s = (double)(round / cs_between_clock_rounds(b)) *
		   cs_clock_gap_s(&b->schedule.slots, b->n);

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

/* Take what so many nodes send in time; the caller frees it. */
static struct cs_trial *hear_trials(struct cs_between_phase *b, int tag, size_t most,
				    double end_s, size_t *n)
{
	struct cs_trial *trial = calloc(b->n, sizeof(*trial));
	uint64_t once = 0, twice = 0;
	struct tried tried;

	for (*n = 0; trial && *n < most && cs_clock_s() < end_s && !b->is_over;) {
		if (!b->mover->hear(CS_MOVER_ANY, tag, &tried, sizeof(tried), NULL)) {
			cs_between_nap(b);
			continue;
		}
		trial[(*n)++] = tried.trial;
		twice |= once & tried.kinds;
		once |= tried.kinds;
	}
	if (tag == CS_TRIAL)
		b->schedule.kinds = twice;
	return trial;
}

/* All begin so long from now. */
static void tell_slots(struct cs_between_phase *b, double in_s)
{
	b->schedule.begin_s = cs_clock_s() + CS_SOON_S + b->schedule.slots.late_s +
			      in_s;
	b->schedule.rounds = b->schedule.slots.window ? rounds_in_time(b) : 0;
	cs_between_tell_all(b, CS_SLOTS);
}

/* The ends in host memory that matrices need. */
static uint32_t host_ends(const struct cs_between_phase *b)
{
	uint32_t rails = 0;

	for (uint32_t v = 0; v < b->n_matrices; v++)
		rails += cs_between_ends(b, v)->is == &cs_ends_host &&
			 cs_between_ends(b, v)->place >= 0;
	return 1 + rails;
}

void cs_between_make_schedule(struct cs_between_phase *b)
{
	struct cs_trial *trial = hear_trials(b, CS_TRIAL, b->n,
					     b->schedule.begin_s + CS_TRIAL_S + 1,
					     &b->n_tried);

	b->schedule.slots = cs_slots_of(trial, b->n_tried, CS_WINDOW_MOST);
	free(trial);
	b->schedule.slots.late_s =
		fmax(b->schedule.slots.late_s,
		     fmin(1, SLACK_S / (b->n_rounds * b->n_matrices)));
	tell_slots(b, 2e-9 * (double)b->schedule.slots.window * CS_MESSAGE_BYTES *
				      host_ends(b) / TOUCH_GBS +
			      (b->schedule.kinds >> CS_ENDS_STAGED ? GPU_S : 0));
}

void cs_between_await_ready(struct cs_between_phase *b)
{
	const double ready_s = fmax(cs_clock_s(), b->schedule.begin_s + CS_TRIAL_S) +
			       READY_S;
	size_t n;
	struct cs_trial *trial =
		hear_trials(b, CS_READY, b->n_tried,
			    fmin(ready_s, b->job->args->budget.steps_s), &n);

	b->schedule.slots.gpu_s = cs_sample_s(trial, n, 1);
	free(trial);
	tell_slots(b, 0);
}
