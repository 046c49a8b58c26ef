/* company.c - the steps of a plan in their order, those of a round at the same time
 * where that is known to change nothing.
 *
 *     a view's first rounds:  alone, one after the other | all at once   (and next time
 *                             the other way round)
 *     figures differ by more than 0.5 %?  then alone for good, and it is said
 *     its other rounds:       all at once; those pairs alone as well whose figures no
 *                             figure measured alone vouches for
 *     behind the last one:    the slowest of it once more, alone
 *
 * What was measured alone is the cell's figure; what is only held against it is marked
 * as in company. */
#include "config.h"

#include "node/coordinator.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "node/cell.h"

/* Rounds of a test's first size that are carried out both ways; of its others one. */
#define ROUNDS_FIRST 3u

struct round {
	struct cs_coordinator *co;
	struct cs_company *company;
	uint32_t first, n;	/* steps */
	struct cs_step all;	/* … as one */
};

/* ---- a round ---- */

static int is_doubted(const struct round *r, const double *median, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (cs_company_doubts(r->company, median[k]))
			return 1;
	return 0;
}

static void forget(const struct round *r, double *median)
{
	for (uint32_t k = 0; k < r->all.count; k++)
		median[k] = NAN;
}

/* Figures of its cells, and of each transfer the median; of what is not left, none.
 * Where `together` is given, only of those that are in doubt by it. */
static void run_alone(const struct round *r, const double *together, double *median)
{
	uint32_t at = 0, s;

	forget(r, median);
	for (s = r->first; s < r->first + r->n && !r->co->stopped; s++) {
		uint32_t n = cs_plan_step(r->co->plan, s)->count;

		if (cs_cell_is_left(r->co, s) &&
		    (!together || is_doubted(r, together + at, n)))
			cs_cell_run(r->co, s, 1, 0, NULL, median + at);
		at += n;
		cs_cell_look(r->co);
	}
}

/* Returns 0; -1 where they could not be carried out together. */
static int run_together(const struct round *r, uint32_t repeats,
			const struct cs_company *judge, double *median)
{
	enum cs_status status;

	forget(r, median);
	if (r->co->stopped)
		return -1;
	status = cs_cell_run(r->co, r->first, r->n, repeats, judge, median);
	cs_cell_look(r->co);
	return status == CS_OK ? 0 : -1;
}

static int share_an_end(const struct cs_transfer *a, const struct cs_transfer *b)
{
	return a->src.index == b->src.index || a->src.index == b->dst.index;
}

/* Who ran beside the k-th transfer, the first of them. */
static const struct cs_transfer *beside(const struct round *r, uint32_t k)
{
	const struct cs_transfer *t = cs_plan_transfer(r->co->plan, &r->all, 0);
	uint32_t i = 0;

	while (i + 1 < r->all.count && share_an_end(&t[k], &t[i]))
		i++;
	return &t[i];
}

static void say_matters(const struct round *r, uint32_t k, double share)
{
	const struct cs_transfer *t =
		cs_plan_transfer(r->co->plan, &r->all, k);
	const struct cs_transfer *other = beside(r, k);
	char text[CS_ERR_TEXT];
	const char *label[4];
	uint32_t end[4] = { t->src.index, t->dst.index, other->src.index,
			    other->dst.index };

	for (int i = 0; i < 4; i++)
		label[i] = cs_board_slot(r->co->board, (int)end[i])->facts.label;
	cs_text(text, sizeof(text), "%s: %s->%s has %.1f %% of its rate while "
		"%s->%s%s run%s: %s", cs_transfer_test(r->co->plan, t)->name,
		label[0], label[1], 100 * share, label[2], label[3],
		r->n > 2 ? " and others" : "", r->n > 2 ? "" : "s",
		r->co->plan->set.schedule == CS_SCHEDULE_PARALLEL ?
			"measured in company all the same, as asked" :
			"pairs are measured one at a time");
	r->co->hooks->finding(r->co->hooks->ctx, CS_NOTE, CS_FINDING_PAIRS_INTERFERE, text);
}

/* Is company all the same to those that were carried out both ways? */
static void hold_against(const struct round *r, const double *alone,
			 const double *together)
{
	uint32_t worst = 0, k;
	double most = 0;

	for (k = 0; k < r->all.count; k++) {
		double off = fabs(together[k] / alone[k] - 1);

		if (off > most) {
			most = off;
			worst = k;
		}
	}
	cs_company_learn(r->company, alone, r->all.count);
	if (most <= CS_COMPANY_MATTERS || r->company->matters)
		return;
	r->company->matters = 1;
	say_matters(r, worst, together[worst] / alone[worst]);
}

static int is_whole(const struct round *r, const double *median)
{
	for (uint32_t k = 0; k < r->all.count; k++)
		if (isnan(median[k]))
			return 0;
	return 1;
}

static void run_both_ways(const struct round *r)
{
	double alone[CS_STEP_MAX], together[CS_STEP_MAX];

	if (r->company->rounds % 2) {
		run_together(r, CS_ROW_COMPANY, NULL, together);
		run_alone(r, NULL, alone);
	} else {
		run_alone(r, NULL, alone);
		run_together(r, CS_ROW_COMPANY, NULL, together);
	}
	if (is_whole(r, alone) && is_whole(r, together)) {
		r->company->rounds++;
		hold_against(r, alone, together);
	}
}

static int is_last_of_view(const struct round *r)
{
	const struct cs_plan *plan = r->co->plan;
	uint32_t s;

	for (s = r->first + r->n; s < plan->n_steps; s++)
		if (cs_plan_step(plan, s)->view == r->all.view &&
		    cs_plan_step(plan, s)->round)
			return 0;
	return 1;
}

static uint32_t slowest_of(const struct round *r, const double *median)
{
	uint32_t slowest = 0, k;

	for (k = 1; k < r->all.count; k++)
		if (median[k] < median[slowest])
			slowest = k;
	return slowest;
}

/* Once more, alone, to show that all is as it was. */
static void run_slowest_again(const struct round *r, const double *median)
{
	if (r->co->stopped)
		return;
	cs_cell_run(r->co, cs_plan_step_of(r->co->plan, r->first,
					   slowest_of(r, median)),
		    1, CS_ROW_CONTROL, NULL, NULL);
	cs_cell_look(r->co);
}

/* What nothing vouches for may be slow by its company: it is measured both ways after
 * all.  Not where company is wanted whatever it does. */
static void run_in_company(const struct round *r)
{
	int judged = r->co->plan->set.schedule == CS_SCHEDULE_AUTO;
	double together[CS_STEP_MAX], alone[CS_STEP_MAX];
	uint32_t doubted = 0, at = 0, s, n;

	if (run_together(r, 0, judged ? r->company : NULL, together)) {
		run_alone(r, NULL, alone);
		return;
	}
	for (s = r->first; judged && s < r->first + r->n; s++, at += n) {
		n = cs_plan_step(r->co->plan, s)->count;
		doubted += is_doubted(r, together + at, n) ? n : 0;
	}
	if (doubted) {
		run_alone(r, together, alone);
		hold_against(r, alone, together);
		r->company->again += doubted;
	} else if (is_last_of_view(r)) {
		run_slowest_again(r, together);
	}
}

/* How many were in doubt, when all are done. */
static void say_again(const struct round *r)
{
	uint32_t n = r->company->again;
	char text[CS_ERR_TEXT];

	if (!n || !is_last_of_view(r))
		return;
	cs_text(text, sizeof(text), "%s: %" PRIu32 " cell%s slower while other pairs "
		"ran than most are alone: measured alone as well, and that counts",
		cs_plan_test(r->co->plan, &r->all)->name, n, n == 1 ? " was" : "s were");
	r->co->hooks->finding(r->co->hooks->ctx, CS_NOTE, CS_FINDING_PAIRS_AGAIN, text);
}

/* Have rounds of another size of this test been carried out both ways? */
static int is_known(const struct cs_coordinator *co, uint32_t view)
{
	uint32_t test = cs_plan_view(co->plan, view)->test, v;

	for (v = 0; v < co->plan->n_views; v++)
		if (v != view && cs_plan_view(co->plan, v)->test == test &&
		    co->company[v].rounds >= ROUNDS_FIRST)
			return 1;
	return 0;
}

static void run_round(struct cs_coordinator *co, uint32_t first, uint32_t n)
{
	const struct cs_step all = cs_plan_together(co->plan, first, n);
	const struct round r = { co, &co->company[all.view], first, n, all };
	double alone[CS_STEP_MAX];
	uint32_t needed = is_known(co, all.view) ? 1 : ROUNDS_FIRST, s;
	int whole = 1;

	co->block = 0;
	for (s = first; s < first + n; s++)
		whole &= cs_cell_is_left(co, s);
	if (!whole || co->plan->set.schedule == CS_SCHEDULE_SERIAL ||
	    (r.company->matters &&
	     co->plan->set.schedule == CS_SCHEDULE_AUTO))
		run_alone(&r, NULL, alone);
	else if (r.company->rounds < needed)
		run_both_ways(&r);
	else
		run_in_company(&r);
	say_again(&r);
}

int cs_coordinator_run(struct cs_coordinator *co)
{
	uint32_t all = co->plan->n_steps, s, n;

	for (s = 0; s < all && !co->stopped; s += n) {
		n = cs_plan_round(co->plan, s);
		if (n > 1)
			run_round(co, s, n);
		else
			cs_coordinator_step(co, s, 0);
		co->hooks->progress(co->hooks->ctx, s + n, all);
	}
	return !co->stopped;
}
