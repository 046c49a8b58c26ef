#include "config.h"

#include "report/export/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct figure {
	size_t way; /* tallies have two */
	double value;
};

/* Matrices: the plan's, and what else rows have. */
static int find_key(const struct cs_vec *keys, const struct cs_plan_matrix *matrix)
{
	const struct cs_plan_matrix *key = keys->data;

	for (size_t i = 0; i < keys->n; i++)
		if (!cs_plan_matrices_compare(&key[i], matrix))
			return (int)i;
	return -1;
}

static int add_key(struct cs_vec *keys, const struct cs_plan_matrix *matrix,
		   struct cs_err *err)
{
	return find_key(keys, matrix) >= 0 ? 0 : cs_vec_push(keys, matrix, err);
}

static int find_keys(const struct cs_run *run, struct cs_vec *keys, struct cs_err *err)
{
	for (uint32_t v = 0; run->plan && v < run->plan->n_matrices; v++)
		if (add_key(keys, cs_plan_matrix_at(run->plan, v), err))
			return -1;
	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_row_list cells = cs_run_rows(run, node, CS_ROWS_CELLS);

		for (size_t i = 0; i < cells.n; i++) {
			const struct cs_plan_matrix matrix =
				cs_row_view(cs_listed(&cells, i));

			if (add_key(keys, &matrix, err))
				return -1;
		}
	}
	return 0;
}

static void count_planned(const struct cs_run *run, const struct cs_vec *keys,
			  struct cs_tally *tally)
{
	int n = run->node[tally->node].facts.n_agents;
	struct cs_planned at = { 0, 0 };
	const struct cs_transfer *t;

	while ((t = cs_planned_next(run->plan, n, &at))) {
		int key = find_key(keys, cs_plan_matrix_at(run->plan, t->matrix));

		if (key >= 0 && cs_run_shows(run, tally->node, t))
			tally[key].planned++;
	}
}

static int make_tallies(const struct cs_run *run, const struct cs_vec *keys,
			struct cs_vec *out, struct cs_err *err)
{
	const struct cs_plan_matrix *key = keys->data;

	for (int node = 0; node < run->n_nodes && keys->n; node++) {
		struct cs_tally *tally = cs_vec_add(out, keys->n, err);

		if (!tally)
			return -1;
		for (size_t i = 0; i < keys->n; i++)
			tally[i] = (struct cs_tally){
				.test = cs_test_at(key[i].test),
				.of = key[i],
				.node = node,
				.way = { { NAN, NAN, NAN }, { NAN, NAN, NAN } },
				.reason = "",
			};
		count_planned(run, keys, tally);
	}
	return 0;
}

static int count_row(const struct cs_row *row, size_t at, struct cs_tally *tally,
		     struct cs_vec *figures, struct cs_err *err)
{
	int bad = row->status >= CS_FAILED, back = cs_row_is_back(row);
	struct cs_tally_way *way = &tally->way[back];

	tally->seconds += isfinite(row->seconds) ? row->seconds : 0;
	if (row->status != CS_OK) {
		if (!tally->reason[0] || (bad && !tally->bad))
			tally->reason = row->reason;
		tally->bad += bad != 0;
		tally->skipped += !bad;
		return 0;
	}
	tally->ok++;
	way->min = fmin(way->min, row->stats.median);
	way->max = fmax(way->max, row->stats.median);
	return cs_vec_push(figures,
			   &(struct figure){ 2 * at + (size_t)back, row->stats.median },
			   err);
}

static int by_way(const void *x, const void *y)
{
	const struct figure *a = x, *b = y;

	if (a->way != b->way)
		return a->way < b->way ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* The figures are sorted: the median of each run of them. */
static void set_medians(const struct figure *f, size_t n, struct cs_tally *tally)
{
	for (size_t at = 0, end; at < n; at = end) {
		size_t last;

		for (end = at + 1; end < n && f[end].way == f[at].way; end++)
			;
		last = end - 1;
		tally[f[at].way / 2].way[f[at].way % 2].median =
			(f[at + (last - at) / 2].value +
			 f[at + (last - at + 1) / 2].value) /
			2;
	}
}

/* tally[] is the node's, one for each key. */
static int count_node(const struct cs_run *run, int node, const struct cs_vec *keys,
		      struct cs_tally *tally, struct cs_err *err)
{
	struct cs_row_list cells = cs_run_rows(run, node, CS_ROWS_CELLS);
	struct cs_vec figures = CS_VEC(struct figure);
	int rc = 0;

	for (const struct cs_row *row; !rc && (row = cs_row_next(&cells));) {
		const struct cs_plan_matrix matrix = cs_row_view(row);
		size_t at = (size_t)find_key(keys, &matrix);

		rc = count_row(row, at, &tally[at], &figures, err);
	}
	cs_vec_sort(&figures, by_way);
	set_medians(figures.data, figures.n, tally);
	cs_vec_release(&figures);
	return rc;
}

int cs_tallies(const struct cs_run *run, struct cs_vec *out, struct cs_err *err)
{
	struct cs_vec keys = CS_VEC(struct cs_plan_matrix);
	int rc = find_keys(run, &keys, err) || make_tallies(run, &keys, out, err);

	for (int node = 0; keys.n && node < run->n_nodes && !rc; node++)
		rc = count_node(run, node, &keys,
				(struct cs_tally *)out->data + (size_t)node * keys.n,
				err);
	cs_vec_release(&keys);
	return rc ? -1 : 0;
}

int cs_finding_counts(const struct cs_run *run, const struct cs_finding *f)
{
	return f->check ? run->checks && f->severity >= CS_WARNING :
			  f->severity == CS_CRITICAL;
}
