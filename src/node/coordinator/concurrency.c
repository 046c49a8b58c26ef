/* concurrency.c - the steps of a plan in their order, those of a round at the same
 * time if that is known to change no figure.
 *
 *     a matrix's first rounds:  alone, one after the other | all at once   (and next time
 *                             the other way round)
 *     figures differ by more than 0.5 % and by more than they are uncertain?  then
 *                             alone for good, with a note
 *     its other rounds:       all at once; those pairs alone as well whose figures no
 *                             figure measured alone vouches for
 *     after the last one:     the slowest of it once more, alone
 *
 * Cells within a GPU share nothing but the node's power, and have one round at each size:
 *
 *     a test's first round:   one GPU alone | all at once
 *     all of them:            those GPUs alone as well that this one does not vouch for; at
 *                             further sizes, that are slower than most
 *     after the last one:     the slowest of it once more, alone
 *
 * A figure that was measured alone is the cell's; rows that are only compared with it
 * are marked as concurrent. */
#include "node/coordinator/coordinator.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "node/coordinator/cell.h"

/* Rounds of a test's first size that are carried out both ways; of its others one. */
#define ROUNDS_FIRST 3u

struct round {
	struct cs_coordinator *co;
	struct cs_concurrency *concurrent;
	uint32_t first, n;  /* steps */
	struct cs_step all; /* … as one */
	int within;	    /* each step within a GPU */
};

/* ---- a round ---- */

/* Are any of the n from `at` on? */
static int is_doubted(const struct round *r, const struct cs_rates *rates,
		      uint32_t at, uint32_t n)
{
	return CS_ANY(k, n,
		      cs_concurrency_doubts(r->concurrent, rates, at + k,
					    r->all.count));
}

static void forget(const struct round *r, struct cs_rates *rates)
{
	for (uint32_t k = 0; k < r->all.count; k++)
		rates->median[k] = NAN;
}

/* Figures of its cells, and of each transfer the median; of what is not left, none.
 * With `together`, only of those that are in doubt by it. */
static void run_alone(const struct round *r, const struct cs_rates *together,
		      struct cs_rates *rates)
{
	uint32_t at = 0;

	forget(r, rates);
	for (uint32_t s = r->first; s < r->first + r->n && !r->co->stopped; s++) {
		uint32_t n = cs_plan_step(r->co->plan, s)->count;
		struct cs_rates one;

		if (cs_cell_is_left(r->co, s) &&
		    (!together || is_doubted(r, together, at, n))) {
			cs_cell_run(r->co, s, 1, 0, NULL, &one);
			memcpy(rates->median + at, one.median, n * sizeof(double));
			memcpy(rates->margin + at, one.margin, n * sizeof(double));
		}
		at += n;
		cs_coordinator_watch(r->co);
	}
}

/* 0, or -1 if they could not be executed together. */
static int run_together(const struct round *r, uint32_t repeats,
			const struct cs_concurrency *judge, struct cs_rates *rates)
{
	enum cs_status status;

	forget(r, rates);
	if (r->co->stopped)
		return -1;
	status = cs_cell_run(r->co, r->first, r->n, repeats, judge, rates);
	cs_coordinator_watch(r->co);
	return status == CS_OK ? 0 : -1;
}

/* The first transfer that ran beside the k-th one. */
static const struct cs_transfer *first_beside(const struct round *r, uint32_t k)
{
	const struct cs_transfer *t = cs_plan_transfer(r->co->plan, &r->all, 0);
	uint32_t i = 0;

	while (i + 1 < r->all.count &&
	       (t[k].src.index == t[i].src.index || t[k].src.index == t[i].dst.index))
		i++;
	return &t[i];
}

/* "2->3", or within a GPU "GPU 2". */
static void ends_text(const struct round *r, const struct cs_transfer *t, char *to,
		      size_t size)
{
	const char *src = cs_board_slot(r->co->board, t->src.index)->facts.label;

	if (r->within)
		cs_text(to, size, "GPU %s", src);
	else
		cs_text(to, size, "%s->%s", src,
			cs_board_slot(r->co->board, t->dst.index)->facts.label);
}

static void report_interference(const struct round *r, uint32_t k, double share)
{
	const struct cs_transfer *t = cs_plan_transfer(r->co->plan, &r->all, k);
	const struct cs_transfer *other = first_beside(r, k);
	int parallel = r->co->plan->set.schedule == CS_SCHEDULE_PARALLEL;
	char text[CS_ERR_TEXT], slow[40], beside[40];

	ends_text(r, t, slow, sizeof(slow));
	ends_text(r, other, beside, sizeof(beside));
	cs_text(text, sizeof(text),
		"%s: %s has %.1f %% of its rate while %s%s run%s: %s%s",
		cs_transfer_test(r->co->plan, t)->name, slow, 100 * share, beside,
		r->n > 2 ? " and others" : "", r->n > 2 ? "" : "s",
		parallel  ? "measured concurrently anyway, as requested" :
		r->within ? "GPUs" :
			    "pairs",
		parallel ? "" : " are measured one at a time");
	cs_fault_find(r->co, CS_NOTE, CS_FINDING_PAIRS_INTERFERE, text);
}

/* Compare the rates of pairs that were measured alone and together; report the worst if they
 * interfere: by more than intervals that do not meet leave open. */
static void compare_rates(const struct round *r, const struct cs_rates *alone,
			  const struct cs_rates *together)
{
	uint32_t worst = 0;
	double most = 0;

	for (uint32_t k = 0; k < r->all.count; k++) {
		double off = fabs(together->median[k] / alone->median[k] - 1);
		double open = alone->margin[k] + together->margin[k];

		if (off > most && (off > open || isinf(open))) {
			most = off;
			worst = k;
		}
	}
	cs_concurrency_learn(r->concurrent, alone->median, r->all.count);
	if (most <= CS_CONCURRENCY_MATTERS || r->concurrent->matters)
		return;
	r->concurrent->matters = 1;
	report_interference(r, worst, together->median[worst] / alone->median[worst]);
}

static int is_whole(const struct round *r, const struct cs_rates *rates)
{
	return !CS_ANY(k, r->all.count, isnan(rates->median[k]));
}

static void run_both_ways(const struct round *r)
{
	struct cs_rates alone, together;

	if (r->concurrent->rounds % 2) {
		run_together(r, CS_ROW_CONCURRENT, NULL, &together);
		run_alone(r, NULL, &alone);
	} else {
		run_alone(r, NULL, &alone);
		run_together(r, CS_ROW_CONCURRENT, NULL, &together);
	}
	if (is_whole(r, &alone) && is_whole(r, &together)) {
		r->concurrent->rounds++;
		compare_rates(r, &alone, &together);
	}
}

/* Is it the last of its matrix, within GPUs of all matrices of its test? */
static int is_last(const struct round *r)
{
	const struct cs_plan *plan = r->co->plan;
	const struct cs_test *test = cs_plan_test(plan, &r->all);

	for (uint32_t s = r->first + r->n; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		if (step->round && (step->matrix == r->all.matrix ||
				    (r->within && cs_plan_test(plan, step) == test)))
			return 0;
	}
	return 1;
}

static uint32_t slowest_of(const struct round *r, const struct cs_rates *rates)
{
	uint32_t slowest = 0;

	for (uint32_t k = 1; k < r->all.count; k++)
		if (rates->median[k] < rates->median[slowest])
			slowest = k;
	return slowest;
}

/* The step of the k-th transfer, alone: before the others, which are compared with it, or
 * once more after them, to show that all is as it was. */
static void run_control(const struct round *r, uint32_t k, struct cs_rates *rates)
{
	if (r->co->stopped || r->co->turn > 1)
		return;
	cs_cell_run(r->co, cs_plan_step_of(r->co->plan, r->first, k), 1,
		    CS_ROW_CONTROL, NULL, rates);
	cs_coordinator_watch(r->co);
}

/* Pairs without a comparable rate may be slow because others run: they are also measured
 * alone, unless the user requests concurrency in any case. */
static void run_concurrent(const struct round *r)
{
	int judged = r->co->plan->set.schedule == CS_SCHEDULE_AUTO;
	struct cs_rates together, alone;
	uint32_t doubted = 0, at = 0, n;

	if (run_together(r, 0, judged ? r->concurrent : NULL, &together)) {
		run_alone(r, NULL, &alone);
		return;
	}
	for (uint32_t s = r->first; judged && s < r->first + r->n; s++, at += n) {
		n = cs_plan_step(r->co->plan, s)->count;
		doubted += is_doubted(r, &together, at, n) ? n : 0;
	}
	if (doubted) {
		run_alone(r, &together, &alone);
		compare_rates(r, &alone, &together);
		r->concurrent->remeasure += doubted;
	} else if (is_last(r) && !(r->within && r->concurrent->rounds)) {
		run_control(r, slowest_of(r, &together), NULL);
	}
}

/* One GPU alone vouches for the others; another one with each test. */
static void learn_from_one(const struct round *r)
{
	struct cs_rates one = { .median = { NAN } };

	run_control(r, r->all.matrix % r->n, &one);
	if (isnan(one.median[0]))
		return;
	cs_concurrency_learn(r->concurrent, one.median, 1);
	r->concurrent->rounds = 1;
}

/* After the last round of a matrix: the number of cells that were in doubt. */
static void report_remeasured(const struct round *r)
{
	uint32_t n = r->concurrent->remeasure;
	char text[CS_ERR_TEXT];

	/* a GPU that is slow by itself is no effect of concurrency */
	if (!n || r->within || r->co->turn > 1 || !is_last(r))
		return;
	cs_text(text, sizeof(text),
		"%s: %" PRIu32
		" cell%s slower while other pairs ran than most are alone: "
		"measured alone too, and those figures count",
		cs_plan_test(r->co->plan, &r->all)->name, n,
		n == 1 ? " was" : "s were");
	cs_fault_find(r->co, CS_NOTE, CS_FINDING_PAIRS_REMEASURED, text);
}

/* Have that many rounds at a size of this test been carried out both ways? */
static int is_known(const struct cs_coordinator *co, uint32_t matrix, uint32_t rounds)
{
	uint32_t test = cs_plan_matrix_at(co->plan, matrix)->test;

	return CS_ANY(v, co->plan->n_matrices,
		      cs_plan_matrix_at(co->plan, v)->test == test &&
			      co->concurrent[v].rounds >= rounds);
}

/* Was it shown that concurrency changes figures: of this matrix, within GPUs of any size of
 * its test? */
static int is_refuted(const struct round *r)
{
	const struct cs_plan *plan = r->co->plan;
	uint32_t test = cs_plan_matrix_at(plan, r->all.matrix)->test;

	return plan->set.schedule == CS_SCHEDULE_AUTO &&
	       CS_ANY(v, plan->n_matrices,
		      r->co->concurrent[v].matters &&
			      (v == r->all.matrix ||
			       (r->within &&
				cs_plan_matrix_at(plan, v)->test == test)));
}

static void run_round(struct cs_coordinator *co, uint32_t first, uint32_t n)
{
	const struct cs_step all = cs_plan_together(co->plan, first, n);
	const struct round r = {
		co,    &co->concurrent[all.matrix],
		first, n,
		all,   cs_test_goes_in_rounds_within(cs_plan_test(co->plan, &all)),
	};
	uint32_t needed = is_known(co, all.matrix, ROUNDS_FIRST) ? 1 : ROUNDS_FIRST, s;
	struct cs_rates alone;
	int whole = 1;

	for (s = first; s < first + n; s++)
		whole &= cs_cell_is_left(co, s);
	if (!whole || co->plan->set.schedule == CS_SCHEDULE_SERIAL || is_refuted(&r)) {
		run_alone(&r, NULL, &alone);
	} else if (r.within) {
		if (!is_known(co, all.matrix, 1))
			learn_from_one(&r);
		run_concurrent(&r);
	} else if (r.concurrent->rounds < needed) {
		run_both_ways(&r);
	} else {
		run_concurrent(&r);
	}
	report_remeasured(&r);
}

int cs_coordinator_run(struct cs_coordinator *co)
{
	uint32_t all = co->plan->n_steps, n;

	if (co->shared_rows_sent)
		memset(co->shared_rows_sent, 0, all);
	for (uint32_t s = 0; s < all && !co->stopped; s += n) {
		n = cs_plan_round(co->plan, s);
		if (n > 1)
			run_round(co, s, n);
		else if (co->turn < 2 ||
			 !(cs_plan_step(co->plan, s)->flags & CS_STEP_CONTROL))
			cs_coordinator_step(co, s);
		co->hooks->progress(co->hooks->ctx, s + n, all);
	}
	return !co->stopped;
}
