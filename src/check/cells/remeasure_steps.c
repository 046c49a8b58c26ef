/* remeasure_steps.c - the steps to measure again for anomalies. */
#include "check/cells/cells.h"

#include "check/cells/anomaly.h"

#define CELLS_OF_ONE 2	/* evidence that is repeated for one anomaly */
#define ANOMALIES_MOST 6	/* more have one cause: repeating all would be a second run */

/* For one node. */
struct wanted {
	struct cs_run *run;
	const struct cs_anomaly *anomaly; /* n_anomalies of the node */
	size_t n_anomalies;
	uint32_t *step;
	int n, most;
};

static void add(struct wanted *w, const struct cs_row *row)
{
	int i = w->n;

	for (int k = 0; k < w->n; k++)
		if (w->step[k] == row->step)
			return;
	if (w->n == w->most)
		return;
	for (; i && w->step[i - 1] > row->step; i--)
		w->step[i] = w->step[i - 1];
	w->step[i] = row->step;
	w->n++;
}

/* The first cell of the same test beside this one: in its row, in its column, or in
 * neither and above suspicion. */
static void add_beside(struct wanted *w, const struct cs_row *cell, int row, int col)
{
	const struct cs_plan_matrix of = cs_row_plan_matrix(cell);

	CS_EACH_ROW(r, cs_run_rows(w->run, (int)cell->node, CS_ROWS_CELLS)) {
		const struct cs_plan_matrix matrix = cs_row_plan_matrix(r);

		if (cs_plan_matrices_compare(&matrix, &of) || r->status != CS_OK ||
		    cs_is_unsure(r) ||
		    cs_endpoints_are_same(&r->what.src, &cell->what.src) != row ||
		    cs_endpoints_are_same(&r->what.dst, &cell->what.dst) != col ||
		    (!row && !col &&
		     cs_anomalies_bear_on(w->anomaly, w->n_anomalies, r)))
			continue;
		add(w, r);
		return;
	}
}

static const struct cs_row *evidence_of(const struct wanted *w,
					const struct cs_anomaly *s, uint32_t k)
{
	return cs_rows_get(&w->run->rows, s->evidence[k]);
}

/* Is it to be measured again: any, or only one that has not been re-measured? */
static int is_wanted(const struct cs_anomaly *s, int once_more)
{
	return s->n_evidence &&
	       (!once_more || (s->drop > 0 && s->remeasured == CS_REMEASURED_NONE));
}

/* In order; those of an anomaly that rests on one cell are there once more after the
 * others, for that cell may be slow by chance twice. */
static void add_all(struct wanted *w, int once_more)
{
	const struct cs_anomaly *s = w->anomaly;
	int taken = 0;
	size_t i;

	for (i = 0; i < w->n_anomalies && taken < ANOMALIES_MOST; i++) {
		taken += is_wanted(&s[i], once_more);
		for (uint32_t k = 0; is_wanted(&s[i], once_more) &&
				     k < s[i].n_evidence && k < CELLS_OF_ONE;
		     k++) {
			const struct cs_row *row = evidence_of(w, &s[i], k);

			add(w, row);
			add_beside(w, row, 1, 0);
			add_beside(w, row, 0, 1);
			add_beside(w, row, 0, 0);
		}
	}
	for (size_t m = 0; m < i; m++)
		if (is_wanted(&s[m], once_more) && s[m].n_evidence == 1 &&
		    w->n < w->most)
			w->step[w->n++] = evidence_of(w, &s[m], 0)->step;
}

static int find_steps(void *argument)
{
	struct wanted *w = argument;
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);
	struct cs_judged_cells cells;

	cs_arena_check(cs_run_index(w->run, NULL));
	cells = cs_judged_cells_make(w->run);
	cs_anomalies_find(&cells, &anomalies);
	w->anomaly = anomalies.data;
	w->n_anomalies = anomalies.n;
	add_all(w, 0);
	return w->n;
}

int cs_cells_remeasure(struct cs_run *run, uint32_t *step, int most,
		       struct cs_err *err)
{
	struct wanted w = { .run = run, .step = step, .most = most };

	return cs_cells_are_judged(run) ? cs_arena_run(find_steps, &w, err) : 0;
}

struct fleet {
	struct cs_run *run;
	struct cs_vec *remeasure;
};

static int find_steps_of_fleet(void *argument)
{
	const struct fleet *fleet = argument;
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);
	const struct cs_anomaly *s;
	struct cs_judged_cells cells;

	cs_arena_check(cs_run_index(fleet->run, NULL));
	cells = cs_judged_cells_make(fleet->run);
	cs_anomalies_find(&cells, &anomalies);
	cs_remeasured_judge(&cells, &anomalies);
	s = anomalies.data;
	for (size_t i = 0, k; i < anomalies.n; i = k) {
		uint32_t step[CS_REMEASURE_MOST];
		struct wanted w = { .run = fleet->run,
				    .anomaly = s + i,
				    .step = step,
				    .most = CS_REMEASURE_MOST };

		k = cs_anomalies_node_end(&anomalies, i);
		w.n_anomalies = k - i;
		add_all(&w, 1);
		for (int n = 0; n < w.n; n++)
			cs_list_push(fleet->remeasure,
				     &(struct cs_remeasure){ (uint32_t)s[i].node,
							     step[n] });
	}
	return 0;
}

int cs_fleet_remeasure(struct cs_run *run, struct cs_vec *remeasure,
		       struct cs_err *err)
{
	struct fleet fleet = { run, remeasure };

	return cs_cells_are_judged(run) ?
		       cs_arena_run(find_steps_of_fleet, &fleet, err) :
		       0;
}
