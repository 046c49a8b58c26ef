/* judge_baseline.c - cells that are worse than a baseline allows. */
#include "config.h"

#include "check/bounds/judge.h"

#include <math.h>
#include <string.h>

#include "check/bounds/baseline.h"
#include "check/bounds/breach.h"
#include "result/matrices.h"

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

/* "'A', 'B'" */
static void class_names(const struct cs_baseline *b, char *to, size_t size)
{
	const struct cs_baseline_class *class = b->classes.data;

	to[0] = '\0';
	for (size_t i = 0; i < b->classes.n; i++)
		cs_text_add(to, size, "%s'%.100s'", i ? ", " : "", class[i].name);
}

/* Of a node of no class that is known. */
/* The baseline has no class for that node. */
static int judge_class(struct cs_run *run, int severity, int of,
		       enum cs_finding_id id, struct cs_err *err)
{
	char name[CS_CLASS], there[CS_ERR_TEXT], text[CS_ERR_TEXT];

	cs_hardware_text(run, of < 0 ? 0 : of, name, sizeof(name));
	class_names(run->baseline, there, sizeof(there));
	cs_text(text, sizeof(text), "no baseline of class '%.110s': there is %s",
		name, there);
	return cs_judge_node(run, severity, of, id, text, err);
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
	struct cs_vec *told;
	struct cs_matrices m;
	int class;    /* of the matrix's node; -1 unknown */
	size_t known; /* matrices that the baseline has, of any node */
	struct cs_err *err;
};

/* Cells of one matrix and one kind of link, beyond their bound or unknown. */
static int describe(struct scope *scope, const struct cs_row *of,
		    const struct cs_baseline_stat *key,
		    const struct cs_baseline_stat *stat, const struct cs_vec *cells)
{
	char by[120], none[200], text[CS_ERR_TEXT];
	struct cs_bound bound = { CS_FINDING_BELOW_BASELINE, by, CS_CRITICAL,
				  CS_WARNING, scope->told };

	if (!cells->n)
		return 0;
	if (stat) {
		cs_text(by, sizeof(by),
			"baseline %s of %u node%s in %u run%s, %.1f %%",
			cs_figure_text(cs_row_test(of), stat->median).text,
			stat->nodes, stat->nodes == 1 ? "" : "s", stat->runs,
			stat->runs == 1 ? "" : "s",
			100 * cs_baseline_bound(stat, scope->run->margin));
		return cs_judge_breaches(scope->run, cells->data, cells->n, &bound,
					 scope->err);
	}
	cs_baseline_lacks(scope->run->baseline, (int)key->class, &key->of, none,
			  sizeof(none));
	cs_text(text, sizeof(text),
		"%zu cell%s (%s) not judged: the baseline has nothing of %s",
		cells->n, cells->n == 1 ? "" : "s", key->link_kind, none);
	return cs_judge_node(scope->run, CS_NOTE, scope->m.node,
			     CS_FINDING_BASELINE_MISSING, text, scope->err);
}

/* Of the matrix the cells from `first` on that have its kind of link. */
static int judge_link_kind(struct scope *scope, size_t first)
{
	const struct cs_run *run = scope->run;
	const struct cs_row *of = cs_matrices_row(&scope->m, first);
	int low = cs_unit_low_is_better(cs_row_test(of)->unit), rc = 0;
	struct cs_vec cells = CS_VEC(struct cs_breach);
	const struct cs_baseline_stat *stat;
	struct cs_baseline_stat key, other;
	double off = 0;

	cs_baseline_key(run, of, scope->class, &key);
	stat = cs_baseline_find(run->baseline, &key);
	scope->known += stat != NULL;
	if (stat)
		off = cs_baseline_bound(stat, run->margin) * (low ? 1 : -1);
	for (size_t i = first; i < scope->m.n && !rc; i++) {
		const struct cs_row *row = cs_matrices_row(&scope->m, i);
		double bound = stat ? median_at(run->baseline, stat, row) * (1 + off) :
				      NAN;

		cs_baseline_key(run, row, scope->class, &other);
		if (cs_baseline_order(&key, &other) ||
		    (stat && !cs_is_beyond(row->stats.median, bound, low)))
			continue;
		rc = cs_breach_add(&cells, scope->m.at[i], bound, scope->err);
	}
	if (!rc)
		rc = describe(scope, of, &key, stat, &cells);
	cs_vec_release(&cells);
	return rc;
}

#define WAYS_MOST 72 /* distances of 8 NUMA nodes, and the others */

/* Each kind of link at its first cell. */
static int judge_matrix(struct scope *scope)
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
		if (judge_link_kind(scope, i))
			return -1;
	}
	return 0;
}

/* Nothing of what was measured is in it. */
static int judge_nothing(struct cs_run *run, const struct cs_row *of,
			 struct cs_err *err)
{
	const struct cs_plan_matrix matrix = cs_row_view(of);
	char none[200], text[CS_ERR_TEXT];

	cs_baseline_lacks(run->baseline, -1, &matrix, none, sizeof(none));
	cs_text(text, sizeof(text), "the baseline has nothing of %s", none);
	return cs_judge_node(run, CS_CRITICAL, -1, CS_FINDING_CANNOT_TEST, text, err);
}

static int judge_nodes(struct scope *scope)
{
	struct cs_run *run = scope->run;
	struct cs_matrices *m = &scope->m;

	while (cs_matrices_next(m)) {
		if (m->is_first) {
			scope->class = cs_baseline_class_of(run->baseline, run,
							    m->node);
			if (scope->class < 0 &&
			    judge_class(run, CS_WARNING, m->node,
					CS_FINDING_BASELINE_CLASS, scope->err))
				return -1;
		}
		if (scope->class >= 0 && judge_matrix(scope))
			return -1;
	}
	if (scope->known || !m->n_order)
		return 0;
	return judge_nothing(run, cs_rows_get(&run->rows, m->order[0]), scope->err);
}

int cs_baseline_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	struct scope scope = { .run = run, .told = told, .class = -1, .err = err };
	int rc;

	if (!run->baseline)
		return 0;
	if (is_elsewhere(run))
		return judge_class(run, CS_CRITICAL, -1, CS_FINDING_CANNOT_TEST, err);
	if (cs_run_index(run, err))
		return -1;
	rc = cs_matrices_init(&scope.m, run, err) || judge_nodes(&scope) ? -1 : 0;
	cs_matrices_release(&scope.m);
	return rc;
}
