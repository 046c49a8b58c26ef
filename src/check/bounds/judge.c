/* judge.c - what is beyond any bound, told and to be measured again. */
#include "config.h"

#include "check/bounds/judge.h"

#include "check/bounds/breach.h"
#include "check/bounds/line.h"
#include "result/cells.h"

int cs_bounds_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	if (cs_baseline_judge(run, told, err) || cs_lines_judge(run, err) ||
	    cs_threshold_judge(run, told, err))
		return -1;
	cs_told_end(run, told);
	return 0;
}

/* ---- to be measured again ---- */

#define STEPS_OF_ONE 2u /* cells that are repeated for one finding */
/* Times that each is.  Where others slow one cell of ten down at any moment, two cells
 * that were are so again in one run of five, both or one of them three times in a row
 * in one of 500. */
#define ROUNDS 3

/* A list of steps with room for `most`; what is there from `first` on is not added. */
struct steps {
	uint32_t *step;
	int first, n, most;
};

static void add_round(const struct cs_run *run, const struct cs_vec *findings,
		      struct steps *to)
{
	const struct cs_finding *f = findings->data;
	int k;

	for (size_t i = 0; i < findings->n; i++)
		for (uint32_t e = 0; e < f[i].n_evidence && e < STEPS_OF_ONE; e++) {
			uint32_t s = cs_rows_get(&run->rows, f[i].evidence[e])->step;

			for (k = to->first; k < to->n && to->step[k] != s; k++)
				;
			if (k == to->n && to->n < to->most)
				to->step[to->n++] = s;
		}
}

int cs_bounds_remeasure(struct cs_run *run, uint32_t *step, int n, int most,
			struct cs_err *err)
{
	const struct cs_vec none = CS_VEC(struct cs_finding);
	struct steps to = { step, 0, n, most };
	struct cs_run scope;
	int rc;

	if (cs_run_index(run, err))
		return -1;
	scope = *run;
	scope.findings = none;
	rc = cs_baseline_judge(&scope, NULL, err) ||
	     cs_threshold_judge(&scope, NULL, err);
	for (int round = 0; round < ROUNDS && !rc; round++) {
		add_round(run, &scope.findings, &to);
		to.first = to.n;
	}
	cs_vec_release(&scope.findings);
	return rc ? -1 : to.n;
}
