/* judge.c - judges cells by all bounds, and chooses steps to measure again. */
#include "check/bounds/judge.h"

#include "base/arena.h"
#include "check/bounds/breach.h"
#include "check/bounds/known.h"
#include "check/bounds/line.h"
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

static int find_steps(void *argument)
{
	struct remeasuring *r = argument;
	struct cs_run run;

	cs_arena_check(cs_run_index(r->run, NULL));
	run = *r->run;
	run.findings = (struct cs_vec)CS_LIST(struct cs_finding);
	cs_baseline_judge(&run, NULL);
	cs_threshold_judge(&run, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		add_round(&run, &run.findings, &r->to);
		r->to.first = r->to.n;
	}
	return r->to.n;
}

int cs_bounds_remeasure(struct cs_run *run, uint32_t *step, int n, int most,
			struct cs_err *err)
{
	return cs_arena_run(find_steps,
			    &(struct remeasuring){ run, { step, 0, n, most } }, err);
}
