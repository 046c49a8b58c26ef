/* judge.c - judges cells by all bounds, and chooses steps to measure again. */
#include "check/bounds/judge.h"

#include "check/bounds/breach.h"
#include "check/bounds/known.h"
#include "result/cells.h"

void cs_bounds_judge(struct cs_run *run, struct cs_vec *anomalies)
{
	if (run->checks & CS_CHECK_BASELINE) {
		cs_baseline_judge(run, anomalies);
		cs_lines_judge(run);
		cs_threshold_judge(run, anomalies);
	}
	cs_known_judge(run, anomalies);
	cs_breaches_append(run, anomalies);
}

/* ---- to be measured again ---- */

#define STEPS_OF_ONE 2u /* cells that are repeated for one finding */
/* Times that each is.  Where others slow one cell of ten down at any moment, two cells
 * that were are so again in one run of five, both or one of them three times in a row
 * in one of 500. */
#define ROUNDS 3

/* A list of steps with room for `most`; those from `first` on are not added twice. */
struct steps {
	uint32_t *step;
	int first, n, most;
};

static void add_round(const struct cs_run *run, const struct cs_vec *findings,
		      struct steps *to)
{
	int k;

	CS_EACH(const struct cs_finding, f, findings)
		for (uint32_t e = 0; e < f->n_evidence && e < STEPS_OF_ONE; e++) {
			uint32_t s = cs_rows_get(&run->rows, f->evidence[e])->step;

			for (k = to->first; k < to->n && to->step[k] != s; k++)
				;
			if (k == to->n && to->n < to->most)
				to->step[to->n++] = s;
		}
}

struct remeasuring {
	struct cs_run *run;
	struct steps to;
};

/* The run with the findings of bounds alone. */
static struct cs_run break_bounds(struct cs_run *of)
{
	struct cs_run run;

	cs_arena_check(cs_run_index(of, NULL));
	run = *of;
	run.findings = (struct cs_vec)CS_LIST(struct cs_finding);
	cs_baseline_judge(&run, NULL);
	cs_threshold_judge(&run, NULL);
	return run;
}

static int find_steps(void *argument)
{
	struct remeasuring *r = argument;
	const struct cs_run run = break_bounds(r->run);

	for (int round = 0; round < ROUNDS; round++) {
		add_round(&run, &run.findings, &r->to);
		r->to.first = r->to.n;
	}
	return r->to.n;
}

/* Is a row of the list of these two nodes, too?  They meet both ways. */
static int has_pair(const struct remeasuring *r, const struct cs_row *row)
{
	for (int i = 0; i < r->to.n; i++) {
		const struct cs_row *of = cs_rows_get(&r->run->rows, r->to.step[i]);
		const int a = of->what.src.index, b = of->what.dst.index;

		if (of->what.matrix == row->what.matrix &&
		    a + b == row->what.src.index + row->what.dst.index &&
		    (a == row->what.src.index || b == row->what.src.index))
			return 1;
	}
	return 0;
}

/* Rows between nodes that break a bound: one of each pair. */
static int find_between(void *argument)
{
	struct remeasuring *r = argument;
	const struct cs_row *row;
	struct cs_run run = break_bounds(r->run);

	CS_EACH(const struct cs_finding, f, &run.findings)
		for (uint32_t e = 0; e < f->n_evidence && e < STEPS_OF_ONE; e++) {
			row = cs_rows_get(&run.rows, f->evidence[e]);
			if (r->to.n < r->to.most &&
			    cs_test_is_between(cs_row_test(row)) &&
			    !cs_test_is_of_allocation(cs_row_test(row)) &&
			    !has_pair(r, row))
				r->to.step[r->to.n++] = f->evidence[e];
		}
	cs_rows_unindex(&r->run->rows);
	return r->to.n;
}

int cs_bounds_between(struct cs_run *run, uint32_t *row, int most, struct cs_err *err)
{
	if (!(run->checks & CS_CHECK_BASELINE))
		return 0;
	return cs_arena_run(find_between,
			    &(struct remeasuring){ run, { row, 0, 0, most } }, err);
}

int cs_bounds_remeasure(struct cs_run *run, uint32_t *step, int n, int most,
			struct cs_err *err)
{
	return cs_arena_run(find_steps,
			    &(struct remeasuring){ run, { step, 0, n, most } }, err);
}
