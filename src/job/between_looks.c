/* between_looks.c - second looks, which rank 0 chooses when the rows of all are there. */
#include "job/between_state.h"

#include <math.h>

#include "check/between/between.h"
#include "check/bounds/judge.h"
#include "result/cells.h"

#define NEWS_S 1.0 /* rows of others that do not come for so long are lost */
#define AGAIN_S 20.0	/* second looks take no longer, … */
#define AGAIN_LEAST 8.0 /* … unless so few do */

/* To all: when the first of n looks begins on rank 0's clock.  They follow, some in a
 * message. */
struct again {
	double begin_s;
	uint64_t n;
};
#define LOOKS_IN_MESSAGE (CS_SAY_MOST / sizeof(struct cs_look))

static size_t rows_between(const struct cs_run *run)
{
	size_t n = 0;

	CS_EACH_ROW_OF(row, &run->rows)
		n += row->what.src.kind == CS_ENDPOINT_NODE;
	return n;
}

/* The end of all rounds on rank 0's clock.  A node without a partner in the last one waits
 * for it. */
static double end_of_rounds(const struct cs_between_phase *b)
{
	return b->schedule.begin_s +
	       cs_between_begin_s(b, (uint32_t)b->schedule.rounds, 0);
}

/* Rank 0: until the rows of all nodes are there, or none come any more. */
static void await_rows(struct cs_between_phase *b)
{
	const struct cs_plan *plan = b->job->plan;
	size_t all = 0, n = 0, now;
	double news_s = end_of_rounds(b), next_s = 0;

	for (uint32_t v = b->first_matrix; v < plan->n_matrices; v++)
		all += cs_planned_between(plan, v, b->n);
	while (n < all && cs_clock_s() < news_s + NEWS_S && !b->is_over) {
		cs_between_nap(b);
		if (cs_clock_s() < next_s)
			continue;
		now = rows_between(b->job->run);
		if (now > n)
			news_s = fmax(news_s, cs_clock_s());
		n = now;
		next_s = cs_clock_s() + CS_SOON_S / 2;
	}
}

/* The time of a look, the same for all: of the longest slot of tests that are judged. */
static double look_s(const struct cs_between_phase *b)
{
	double s = 0;

	for (uint32_t v = 0; v < b->n_matrices; v++)
		if (!cs_test_is_of_allocation(cs_between_test(b, v)))
			s = fmax(s,
				 cs_slot_s(&b->schedule.slots, cs_between_test(b, v)));
	return s;
}

/* Rank 0: pairs beyond a bound meet again, each so often. */
#define BOUND_TIMES 3
static int look_at_bounds(struct cs_between_phase *b, struct cs_look *look, int n,
			  int most, struct cs_err *err)
{
	struct cs_run *run = b->job->run;
	uint32_t row[CS_LOOKS_MOST];
	int rows = cs_bounds_between(run, row, (most - n) / BOUND_TIMES, err);

	for (int k = 0; k < rows * BOUND_TIMES; k++) {
		const struct cs_row *of = cs_rows_get(&run->rows, row[k % rows]);

		look[n++] = (struct cs_look){ of->what.matrix, of->what.src.index,
					      of->what.dst.index };
	}
	return rows < 0 ? rows : n;
}

/* Rank 0: the looks for what is suspicious in the rows of all nodes. */
static size_t choose_looks(struct cs_between_phase *b, struct cs_look *look)
{
	const double left_s = b->job->args->budget.steps_s - cs_clock_s();
	const double most = fmin(fmax(AGAIN_S / look_s(b), AGAIN_LEAST),
				 fmax(0, left_s / 2 / look_s(b)));
	struct cs_err err;
	int n;

	await_rows(b);
	n = cs_between_again(b->job->run, look, (size_t)fmin(most, CS_LOOKS_MOST),
			     &err);
	if (n >= 0)
		n = look_at_bounds(b, look, n, (int)fmin(most, CS_LOOKS_MOST), &err);
	if (n < 0)
		cs_collect_finding(&b->job->collect, b->job->hooks[0].index,
				   CS_WARNING, CS_FINDING_NOT_REMEASURED, err.text);
	return n < 0 ? 0 : (size_t)n;
}

static void tell_looks(struct cs_between_phase *b, const struct again *again,
		       const struct cs_look *look)
{
	for (uint32_t node = 1; node < b->n; node++) {
		const int rank = b->rank_of[node];

		b->mover->say(rank, CS_LOOKS, again, sizeof(*again));
		for (size_t i = 0; i < again->n; i += LOOKS_IN_MESSAGE) {
			const size_t n = fmin(LOOKS_IN_MESSAGE, again->n - i);

			b->mover->say(rank, CS_LOOKS, look + i, n * sizeof(*look));
		}
	}
}

/* Others: -1 if they do not come. */
static int hear_looks(struct cs_between_phase *b, struct again *again,
		      struct cs_look *look)
{
	const double end_s = cs_between_own_time(b, end_of_rounds(b)) + CS_ROOT_S;

	if (cs_between_hear_root(b, CS_LOOKS, again, sizeof(*again), end_s))
		return -1;
	for (size_t i = 0; i < again->n && i < CS_LOOKS_MOST; i += LOOKS_IN_MESSAGE) {
		const size_t n = fmin(LOOKS_IN_MESSAGE, again->n - i);

		if (cs_between_hear_root(b, CS_LOOKS, look + i, n * sizeof(*look),
					 end_s))
			return -1;
	}
	return 0;
}

/* The partner of this node in a look; -1 none. */
static int64_t partner_in(const struct cs_between_phase *b, const struct cs_look *look)
{
	if (look->b == CS_LOOK_ROUND)
		return cs_round_partner(b->n, b->round[look->a], b->me);
	return look->a == b->me ? (int64_t)look->b :
	       look->b == b->me ? (int64_t)look->a :
				  -1;
}

static void take_look(struct cs_between_phase *b, const struct cs_look *look,
		      uint32_t number, double begin_s)
{
	const int64_t other = partner_in(b, look);
	struct cs_between_slot slot = { .matrix = look->matrix - b->first_matrix,
					.part = { other, 1, { (uint32_t)other } },
					.begin_s = cs_between_own_time(b, begin_s),
					.again = number,
					.alone = look->b != CS_LOOK_ROUND };

	slot.seconds = cs_slot_s(&b->schedule.slots, cs_between_test(b, slot.matrix));
	/* the round of the pair's first look, if it had one */
	while (other >= 0 && slot.round + 1 < b->schedule.rounds &&
	       cs_round_partner(b->n, b->round[slot.round], b->me) != other)
		slot.round++;
	if (other >= 0)
		cs_between_take_slot(b, &slot);
}

void cs_between_look_again(struct cs_between_phase *b)
{
	struct cs_look look[CS_LOOKS_MOST];
	struct again again = { 0, 0 };
	double end_s;

	if (!(b->job->args->checks & (CS_CHECK_OUTLIER | CS_CHECK_BASELINE)) ||
	    !b->schedule.rounds)
		return;
	if (b->me == 0) {
		again.n = b->why[0] ? 0 : choose_looks(b, look);
		again.begin_s = cs_clock_s() + CS_SOON_S + b->schedule.slots.late_s;
		tell_looks(b, &again, look);
	} else if (b->why[0] || hear_looks(b, &again, look)) {
		return;
	}
	for (size_t i = 0; i < again.n && i < CS_LOOKS_MOST && !b->is_over; i++)
		take_look(b, &look[i], (uint32_t)i + 1,
			  again.begin_s + (double)i * look_s(b));
	end_s = cs_between_own_time(b, again.begin_s + (double)again.n * look_s(b));
	if (again.n)
		cs_between_sleep(b, end_s);
}
