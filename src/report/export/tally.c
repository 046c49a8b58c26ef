#include "report/export/parts.h"

#include <math.h>

struct figure {
	size_t way; /* tallies have two */
	double value;
};

/* Matrices: those of the plan, and others that rows have. */
struct keys {
	struct cs_vec all; /* list of struct cs_plan_matrix */
	uint32_t *of;	   /* by cs_matrix_number(): its key plus one; 0 none */
};

static void add_key(const struct cs_run *run, struct keys *keys,
		    const struct cs_plan_matrix *matrix)
{
	cs_list_push(&keys->all, matrix);
	keys->of[cs_matrix_number(run, matrix)] = (uint32_t)keys->all.n;
}

static struct keys find_keys(const struct cs_run *run)
{
	struct keys keys = { CS_LIST(struct cs_plan_matrix),
			     cs_new(uint32_t, cs_rows_count(&run->rows) + 1) };

	for (uint32_t v = 0; run->plan && v < run->plan->n_matrices; v++)
		add_key(run, &keys, cs_plan_matrix_at(run->plan, v));
	for (int node = 0; node < run->n_nodes; node++) {
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
			const struct cs_plan_matrix matrix = cs_row_plan_matrix(row);

			if (!keys.of[cs_row_matrix(run, row)])
				add_key(run, &keys, &matrix);
		}
	}
	return keys;
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

static void count_row(const struct cs_row *row, size_t at, struct cs_tally *tally,
		      struct cs_vec *figures)
{
	int bad = row->status >= CS_FAILED, back = cs_row_is_back(row);
	struct cs_tally_way *way = &tally->way[back];

	tally->seconds += isfinite(row->seconds) ? row->seconds : 0;
	if (row->status != CS_OK) {
		if (!tally->reason[0] || (bad && !tally->bad))
			tally->reason = row->reason;
		tally->bad += bad != 0;
		tally->skipped += !bad;
		return;
	}
	tally->ok++;
	way->min = fmin(way->min, row->stats.median);
	way->max = fmax(way->max, row->stats.median);
	cs_list_push(figures,
		     &(struct figure){ 2 * at + (size_t)back, row->stats.median });
}

CS_ORDERING(by_way, struct figure, CS_ORDER(a->way, b->way),
	    CS_ORDER(a->value, b->value))

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
static void count_node(const struct cs_run *run, int node, const struct keys *keys,
		       struct cs_tally *tally)
{
	struct cs_vec figures = CS_LIST(struct figure);
	const struct cs_plan_matrix *key = keys->all.data;
	CS_SCOPE;

	for (size_t i = 0; i < keys->all.n; i++)
		tally[i] = (struct cs_tally){
			.test = cs_test_at(key[i].test),
			.of = key[i],
			.node = node,
			.way = { { NAN, NAN, NAN }, { NAN, NAN, NAN } },
			.reason = "",
		};
	count_planned(run, tally);
	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
		size_t at = keys->of[cs_row_matrix(run, row)] - 1;

		count_row(row, at, &tally[at], &figures);
	}
	cs_vec_sort(&figures, by_way);
	set_medians(figures.data, figures.n, tally);
}

struct cs_vec cs_tallies(const struct cs_run *run)
{
	const struct keys keys = find_keys(run);
	struct cs_vec tallies = CS_LIST(struct cs_tally);

	for (int node = 0; keys.all.n && node < run->n_nodes; node++)
		count_node(run, node, &keys, cs_list_add(&tallies, keys.all.n));
	return tallies;
}

int cs_finding_counts(const struct cs_run *run, const struct cs_finding *f)
{
	return f->check ? run->checks && f->severity >= CS_WARNING :
			  f->severity == CS_CRITICAL;
}
