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
struct keys {
	struct cs_vec all; /* struct cs_plan_matrix */
	uint32_t *of;	   /* by cs_matrix_number(): its key plus one; 0 none */
};

static int add_key(const struct cs_run *run, struct keys *keys,
		   const struct cs_plan_matrix *matrix, struct cs_err *err)
{
	if (cs_vec_push(&keys->all, matrix, err))
		return -1;
	keys->of[cs_matrix_number(run, matrix)] = (uint32_t)keys->all.n;
	return 0;
}

static int find_keys(const struct cs_run *run, struct keys *keys, struct cs_err *err)
{
	keys->of = calloc(cs_rows_count(&run->rows) + 1, sizeof(*keys->of));
	if (!keys->of)
		return cs_err_set(err, "no memory");
	for (uint32_t v = 0; run->plan && v < run->plan->n_matrices; v++)
		if (add_key(run, keys, cs_plan_matrix_at(run->plan, v), err))
			return -1;
	for (int node = 0; node < run->n_nodes; node++) {
		struct cs_row_list cells = cs_run_rows(run, node, CS_ROWS_CELLS);

		for (const struct cs_row *row; (row = cs_row_next(&cells));) {
			const struct cs_plan_matrix matrix = cs_row_view(row);

			if (!keys->of[cs_row_matrix(run, row)] &&
			    add_key(run, keys, &matrix, err))
				return -1;
		}
	}
	return 0;
}

/* The plan's matrices are the first keys. */
static void count_planned(const struct cs_run *run, struct cs_tally *tally)
{
	int n = run->node[tally->node].facts.n_agents;
	struct cs_planned at = { 0, 0 };
	const struct cs_transfer *t;

	while ((t = cs_planned_next(run->plan, n, &at)))
		if (cs_run_shows(run, tally->node, t))
			tally[t->matrix].planned++;
}

static int make_tallies(const struct cs_run *run, const struct keys *keys,
			struct cs_vec *out, struct cs_err *err)
{
	const struct cs_plan_matrix *key = keys->all.data;
	size_t n = keys->all.n;

	for (int node = 0; node < run->n_nodes && n; node++) {
		struct cs_tally *tally = cs_vec_add(out, n, err);

		if (!tally)
			return -1;
		for (size_t i = 0; i < n; i++)
			tally[i] = (struct cs_tally){
				.test = cs_test_at(key[i].test),
				.of = key[i],
				.node = node,
				.way = { { NAN, NAN, NAN }, { NAN, NAN, NAN } },
				.reason = "",
			};
		count_planned(run, tally);
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
static int count_node(const struct cs_run *run, int node, const struct keys *keys,
		      struct cs_tally *tally, struct cs_err *err)
{
	struct cs_row_list cells = cs_run_rows(run, node, CS_ROWS_CELLS);
	struct cs_vec figures = CS_VEC(struct figure);
	int rc = 0;

	for (const struct cs_row *row; !rc && (row = cs_row_next(&cells));) {
		size_t at = keys->of[cs_row_matrix(run, row)] - 1;

		rc = count_row(row, at, &tally[at], &figures, err);
	}
	cs_vec_sort(&figures, by_way);
	set_medians(figures.data, figures.n, tally);
	cs_vec_release(&figures);
	return rc;
}

int cs_tallies(const struct cs_run *run, struct cs_vec *out, struct cs_err *err)
{
	struct keys keys = { .all = CS_VEC(struct cs_plan_matrix) };
	int rc = find_keys(run, &keys, err) || make_tallies(run, &keys, out, err);
	size_t n = keys.all.n;

	for (int node = 0; n && node < run->n_nodes && !rc; node++)
		rc = count_node(run, node, &keys,
				(struct cs_tally *)out->data + (size_t)node * n, err);
	cs_vec_release(&keys.all);
	free(keys.of);
	return rc ? -1 : 0;
}

int cs_finding_counts(const struct cs_run *run, const struct cs_finding *f)
{
	return f->check ? run->checks && f->severity >= CS_WARNING :
			  f->severity == CS_CRITICAL;
}
