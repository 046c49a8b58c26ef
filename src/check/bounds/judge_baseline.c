/* judge_baseline.c - cells that are worse than a baseline allows. */
#include "check/bounds/judge.h"

#include <math.h>
#include <string.h>

#include "check/bounds/baseline.h"
#include "check/bounds/breach.h"
#include "result/cells.h"

/* The cell's figure by the baseline's statistic. */
static double median_at(const struct cs_baseline *b,
			const struct cs_baseline_stat *stat, const struct cs_row *row)
{
	const struct cs_baseline_place *place = b->places.data;

	for (uint32_t i = stat->first_place; i < stat->first_place + stat->n_places;
	     i++)
		if (place[i].src == row->what.src.index &&
		    place[i].dst == row->what.dst.index)
			return place[i].median;
	return stat->median;
}

/* The baseline has no class for that node. */
static void judge_class(struct cs_run *run, int severity, int of,
			enum cs_finding_id id)
{
	const struct cs_vec *classes = &run->baseline->classes;
	const struct cs_baseline_class *class = classes->data;
	const char *known = "";
	char name[CS_CLASS];

	cs_hardware_text(run, of < 0 ? 0 : of, name, sizeof(name));
	for (size_t i = 0; i < classes->n; i++)
		known = cs_new_longer(known, "%s'%.100s'", i ? ", " : "",
				      class[i].name);
	cs_judge(run, CS_FOUND(severity, of, id),
		 "no baseline of class '%.110s': there is %s", name, known);
}

/* Has no node of the run a class of the baseline? */
static int is_elsewhere(const struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++)
		if (cs_baseline_class_of(run->baseline, run, node) >= 0)
			return 0;
	return run->n_nodes > 0;
}

struct scope {
	struct cs_run *run;
	struct cs_vec *anomalies;
	struct cs_matrices m;
	int class;    /* of the matrix's node; -1 unknown */
	size_t known; /* matrices that the baseline has, of any node */
};

/* Cells of one matrix and one kind of link, beyond their bound or unknown. */
static void describe(struct scope *scope, const struct cs_row *of,
		     const struct cs_baseline_stat *key,
		     const struct cs_baseline_stat *stat, const struct cs_vec *cells)
{
	struct cs_bound bound = { .id = CS_FINDING_BELOW_BASELINE,
				  .severity = CS_CRITICAL,
				  .once = CS_WARNING,
				  .anomalies = scope->anomalies };
	char lacks[200];

	if (!cells->n)
		return;
	if (stat) {
		bound.by =
			cs_new_text("baseline %s of %s in %s, %.1f %%",
				    cs_figure_text(cs_row_test(of), stat->median).text,
				    cs_count_text(stat->nodes, "node"),
				    cs_count_text(stat->runs, "run"),
				    100 * cs_baseline_bound(stat, scope->run->margin));
		cs_judge_breaches(scope->run, cells->data, cells->n, &bound);
		return;
	}
	cs_baseline_lacks(scope->run->baseline, (int)key->class, &key->of, lacks,
			  sizeof(lacks));
	cs_judge(scope->run,
		 CS_FOUND(CS_NOTE, scope->m.node, CS_FINDING_BASELINE_MISSING),
		 "%s (%s) not judged: the baseline lacks %s",
		 cs_count_text(cells->n, "cell"), key->link_kind, lacks);
}

/* The cells of the matrix from `first` on that have its kind of link. */
static void judge_link_kind(struct scope *scope, size_t first)
{
	const struct cs_run *run = scope->run;
	const struct cs_row *of = cs_matrices_row(&scope->m, first);
	int low = cs_unit_low_is_better(cs_row_test(of)->unit);
	struct cs_vec cells = CS_LIST(struct cs_breach);
	const struct cs_baseline_stat *stat;
	struct cs_baseline_stat key, other;
	double off = 0;

	cs_baseline_key(run, of, scope->class, &key);
	stat = cs_baseline_find(run->baseline, &key);
	scope->known += stat != NULL;
	if (stat)
		off = cs_baseline_bound(stat, run->margin) * (low ? 1 : -1);
	for (size_t i = first; i < scope->m.n; i++) {
		const struct cs_row *row = cs_matrices_row(&scope->m, i);
		double bound = stat ? median_at(run->baseline, stat, row) * (1 + off) :
				      NAN;

		cs_baseline_key(run, row, scope->class, &other);
		if (cs_baseline_order(&key, &other) ||
		    (stat && !cs_is_beyond(row->stats.median, bound, low)))
			continue;
		cs_breach_add(&cells, scope->m.at[i], bound);
	}
	describe(scope, of, &key, stat, &cells);
}

#define WAYS_MOST 72 /* distances of 8 NUMA nodes, and the others */

/* Each kind of link at its first cell. */
static void judge_matrix(struct scope *scope)
{
	char seen[WAYS_MOST][CS_PATH_WORDS];
	size_t n_seen = 0, k;

	for (size_t i = 0; i < scope->m.n && n_seen < WAYS_MOST; i++) {
		cs_link_kind_text(scope->run, cs_matrices_row(&scope->m, i),
				  seen[n_seen], sizeof(seen[n_seen]));
		for (k = 0; strcmp(seen[k], seen[n_seen]); k++)
			;
		if (k < n_seen)
			continue;
		n_seen++;
		judge_link_kind(scope, i);
	}
}

/* The baseline has none of the measured tests. */
static void judge_nothing(struct cs_run *run, const struct cs_row *of)
{
	const struct cs_plan_matrix matrix = cs_row_plan_matrix(of);
	char none[200];

	cs_baseline_lacks(run->baseline, -1, &matrix, none, sizeof(none));
	cs_judge(run, CS_FOUND(CS_CRITICAL, -1, CS_FINDING_CANNOT_TEST),
		 "the baseline lacks %s", none);
}

static void judge_nodes(struct scope *scope)
{
	struct cs_run *run = scope->run;
	struct cs_matrices *m = &scope->m;

	while (cs_matrices_next(m)) {
		if (m->is_first) {
			scope->class = cs_baseline_class_of(run->baseline, run,
							    m->node);
			if (scope->class < 0)
				judge_class(run, CS_WARNING, m->node,
					    CS_FINDING_BASELINE_CLASS);
		}
		if (scope->class >= 0 &&
		    !cs_test_is_of_allocation(cs_row_test(cs_matrices_row(m, 0))))
			judge_matrix(scope);
	}
	if (!scope->known && m->n_order)
		judge_nothing(run, cs_rows_get(&run->rows, m->order[0]));
}

void cs_baseline_judge(struct cs_run *run, struct cs_vec *anomalies)
{
	struct scope scope = { .run = run, .anomalies = anomalies, .class = -1 };

	if (!run->baseline)
		return;
	if (is_elsewhere(run)) {
		judge_class(run, CS_CRITICAL, -1, CS_FINDING_CANNOT_TEST);
		return;
	}
	cs_arena_check(cs_run_index(run, NULL));
	scope.m = cs_matrices_begin(run);
	judge_nodes(&scope);
}
