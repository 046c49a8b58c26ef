#include "result/cells.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "plan/rounds.h"

/* Positions of rows are stored plus one; 0 means none. */
struct cs_cells {
	size_t n; /* rows that were there */
	uint32_t nodes, mask;
	uint32_t *next;	     /* by row: the next of the same figure */
	uint32_t *slot;	     /* by hash: the first row of a figure */
	uint32_t *first;     /* by kind and node: the begin of its list in at[] */
	uint32_t *at;	     /* rows, as they are */
	uint32_t *example;   /* by hash: a row of a matrix */
	uint32_t *matrix;    /* by row: that row of its matrix */
	uint32_t *by_matrix; /* as CS_ROWS_ALL in at[], each node's by matrix */
	uint8_t *is;	     /* by row: bits of enum cs_rows_of */
};

#define KINDS_MOST 5 /* of one row */

/* ---- identity ---- */

struct cs_plan_matrix cs_row_plan_matrix(const struct cs_row *row)
{
	return (struct cs_plan_matrix){ .test = row->test,
					.bytes = row->what.bytes,
					.variant = row->what.variant };
}

int cs_matrix_order(const struct cs_row *a, const struct cs_row *b)
{
	const struct cs_plan_matrix x = cs_row_plan_matrix(a),
				    y = cs_row_plan_matrix(b);

	return CS_KEYS(CS_ORDER(a->test, b->test), CS_ORDER(a->metric, b->metric),
		       cs_plan_matrices_compare(&x, &y));
}

int cs_same_figure(const struct cs_row *a, const struct cs_row *b)
{
	return a->node == b->node && !cs_matrix_order(a, b) &&
	       cs_endpoints_are_same(&a->what.src, &b->what.src) &&
	       cs_endpoints_are_same(&a->what.dst, &b->what.dst);
}

/* A collision only costs time. */
static uint32_t hash_of(const uint64_t *part, size_t n)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ part[i]) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash >> 32);
}

/* The slot of a figure, or the free one for it. */
static uint32_t *slot_of(const struct cs_cells *cells, const struct cs_rows *rows,
			 const struct cs_row *row)
{
	const uint64_t part[] = { row->node,	       row->test,
				  row->metric,	       row->what.bytes,
				  row->what.src.index, row->what.dst.index };
	uint32_t i = hash_of(part, sizeof(part) / sizeof(part[0]));

	while (cells->slot[i & cells->mask] &&
	       !cs_same_figure(cs_rows_get(rows, cells->slot[i & cells->mask] - 1),
			       row))
		i++;
	return &cells->slot[i & cells->mask];
}

/* The same for the row that a matrix is known by. */
static uint32_t *example_of(const struct cs_cells *cells, const struct cs_rows *rows,
			    const struct cs_plan_matrix *matrix)
{
	const uint64_t part[] = { matrix->test, matrix->bytes,
				  cs_variant_number(&matrix->variant) };
	uint32_t i = hash_of(part, sizeof(part) / sizeof(part[0]));

	for (uint32_t at; (at = cells->example[i & cells->mask]); i++) {
		const struct cs_plan_matrix other =
			cs_row_plan_matrix(cs_rows_get(rows, at - 1));

		if (!cs_plan_matrices_compare(&other, matrix))
			break;
	}
	return &cells->example[i & cells->mask];
}

/* ---- making it ---- */

/* Is it a further turn of an earlier row of the same step? */
static int is_turn(const struct cs_cells *cells, const struct cs_rows *rows, size_t i)
{
	const struct cs_row *row = cs_rows_get(rows, i);
	size_t k = row->turn > 1 ? *slot_of(cells, rows, row) - 1 : i;

	while (k != i && cs_rows_get(rows, k)->step != row->step)
		k = cells->next[k] - 1;
	return k != i;
}

static unsigned kinds_of(const struct cs_cells *cells, const struct cs_rows *rows,
			 size_t i)
{
	const struct cs_row *row = cs_rows_get(rows, i);
	int turn = is_turn(cells, rows, i), measured = !(row->flags & CS_ROW_REPEATS);

	return 1u << CS_ROWS_ALL | (unsigned)measured << CS_ROWS_MEASURED |
	       (unsigned)(measured && !turn && row->metric == CS_METRIC_RATE)
		       << CS_ROWS_CELLS |
	       (unsigned)turn << CS_ROWS_TURNS |
	       (row->flags & CS_ROW_CONTROL ? 1u << CS_ROWS_CONTROLS : 0) |
	       (row->flags & CS_ROW_REMEASURED ? 1u << CS_ROWS_REMEASURED : 0) |
	       (row->flags & CS_ROW_CONCURRENT ? 1u << CS_ROWS_CONCURRENT : 0);
}

/* One block of memory; the caller frees it. */
static struct cs_cells *cells_new(size_t n, size_t nodes)
{
	size_t slots = 2, lists = CS_ROWS_KINDS * (nodes + 1);
	struct cs_cells *cells;

	while (slots < 2 * n)
		slots *= 2;
	cells = calloc(1, sizeof(*cells) + n +
				  sizeof(uint32_t) * (2 * slots + lists + 1 +
						      (3 + KINDS_MOST) * n));
	if (!cells)
		return NULL;
	cells->n = n;
	cells->nodes = (uint32_t)nodes;
	cells->mask = (uint32_t)slots - 1;
	cells->slot = (uint32_t *)(cells + 1);
	cells->next = cells->slot + slots;
	cells->first = cells->next + n;
	cells->at = cells->first + lists + 1;
	cells->example = cells->at + KINDS_MOST * n;
	cells->matrix = cells->example + slots;
	cells->by_matrix = cells->matrix + n;
	cells->is = (uint8_t *)(cells->by_matrix + n);
	return cells;
}

/* The begin of the list of a kind on a node; the next list begins at its end. */
static uint32_t *list_of(const struct cs_cells *cells, enum cs_rows_of kind,
			 size_t node)
{
	return &cells->first[(size_t)kind * (cells->nodes + 1) + node];
}

static void make_lists(struct cs_cells *cells, const struct cs_rows *rows)
{
	size_t n = cs_rows_count(rows), lists = CS_ROWS_KINDS * (cells->nodes + 1), i;

	/* first the ends, which become begins as the last rows go first */
	for (i = 0; i < n; i++)
		for (int kind = 0; kind < CS_ROWS_KINDS; kind++)
			if (cells->is[i] >> kind & 1)
				++*list_of(cells, kind, cs_rows_get(rows, i)->node);
	for (i = 1; i <= lists; i++)
		cells->first[i] += cells->first[i - 1];
	for (i = n; i-- > 0;)
		for (int kind = 0; kind < CS_ROWS_KINDS; kind++)
			if (cells->is[i] >> kind & 1)
				cells->at[--*list_of(cells, kind,
						     cs_rows_get(rows, i)->node)] =
					(uint32_t)i;
}

CS_ORDERING(by_number, uint64_t, CS_ORDER(*a, *b))

/* room[0..n) is for the rows of one node. */
static void sort_by_matrix(struct cs_cells *cells, uint64_t *room)
{
	for (uint32_t node = 0; node < cells->nodes; node++) {
		uint32_t from = *list_of(cells, CS_ROWS_ALL, node);
		size_t n = *list_of(cells, CS_ROWS_ALL, node + 1) - from;

		for (size_t i = 0; i < n; i++) {
			uint32_t row = cells->at[from + i];

			room[i] = (uint64_t)cells->matrix[row] << 32 | row;
		}
		qsort(room, n, sizeof(*room), by_number);
		for (size_t i = 0; i < n; i++)
			cells->by_matrix[from + i] = (uint32_t)room[i];
	}
}

static void find_matrices(struct cs_cells *cells, const struct cs_rows *rows)
{
	for (size_t i = 0; i < cells->n; i++) {
		const struct cs_plan_matrix matrix =
			cs_row_plan_matrix(cs_rows_get(rows, i));
		uint32_t *example = example_of(cells, rows, &matrix);

		if (!*example)
			*example = (uint32_t)i + 1;
		cells->matrix[i] = *example - 1;
	}
}

int cs_run_index(struct cs_run *run, struct cs_err *err)
{
	const struct cs_rows *rows = &run->rows;
	size_t n = cs_rows_count(rows), i;
	struct cs_cells *cells;
	uint64_t *room;

	if (rows->cells && rows->cells->n == n)
		return 0;
	cs_rows_unindex(&run->rows);
	cells = cells_new(n, (size_t)run->n_nodes);
	room = calloc(n + 1, sizeof(*room));
	if (!cells || !room) {
		free(cells);
		free(room);
		return cs_err_set(err, "no memory to index %zu rows", n);
	}
	for (i = n; i-- > 0;) {
		uint32_t *slot = slot_of(cells, rows, cs_rows_get(rows, i));

		cells->next[i] = *slot;
		*slot = (uint32_t)i + 1;
	}
	for (i = 0; i < n; i++)
		if (cs_rows_get(rows, i)->node < cells->nodes)
			cells->is[i] = (uint8_t)kinds_of(cells, rows, i);
	make_lists(cells, rows);
	find_matrices(cells, rows);
	sort_by_matrix(cells, room);
	free(room);
	run->rows.cells = cells;
	return 0;
}

/* ---- asking it ---- */

struct cs_row_list cs_run_rows(const struct cs_run *run, int node,
			       enum cs_rows_of kind)
{
	const struct cs_cells *cells = run->rows.cells;
	const uint32_t *first = cells ? list_of(cells, kind, (size_t)node) : NULL;

	assert(!cells || cells->n == cs_rows_count(&run->rows));
	return first ? (struct cs_row_list){ &run->rows, cells->at + first[0],
					     first[1] - first[0] } :
		       (struct cs_row_list){ &run->rows, NULL, 0 };
}

/* How many of at[0..n), which are sorted by matrix, are of one before `matrix`. */
static size_t count_before(const struct cs_cells *cells, const uint32_t *at, size_t n,
			   size_t matrix)
{
	return CS_FIRST(i, n, cells->matrix[at[i]] >= matrix);
}

size_t cs_matrix_number(const struct cs_run *run, const struct cs_plan_matrix *matrix)
{
	const struct cs_cells *cells = run->rows.cells;
	uint32_t example = cells ? *example_of(cells, &run->rows, matrix) : 0;

	return example ? example - 1 : cs_rows_count(&run->rows);
}

struct cs_row_list cs_matrix_rows(const struct cs_run *run, int node,
				  const struct cs_plan_matrix *matrix)
{
	struct cs_row_list list = cs_run_rows(run, node, CS_ROWS_ALL);
	size_t number = cs_matrix_number(run, matrix), from;
	const struct cs_cells *cells = run->rows.cells;

	if (!list.n)
		return list;
	list.at = cells->by_matrix + (list.at - cells->at);
	from = count_before(cells, list.at, list.n, number);
	list.n = count_before(cells, list.at, list.n, number + 1) - from;
	list.at += from;
	return list;
}

size_t cs_row_matrix(const struct cs_run *run, const struct cs_row *row)
{
	return run->rows.cells->matrix[row - cs_rows_get(&run->rows, 0)];
}

size_t cs_listed_at(const struct cs_row_list *list, size_t i)
{
	return list->at[i];
}

const struct cs_row *cs_listed(const struct cs_row_list *list, size_t i)
{
	return cs_rows_get(list->rows, list->at[i]);
}

const struct cs_row *cs_row_next(struct cs_row_list *list)
{
	return list->n && list->n-- ? cs_rows_get(list->rows, *list->at++) : NULL;
}

int cs_row_is(const struct cs_run *run, const struct cs_row *row, enum cs_rows_of kind)
{
	return run->rows.cells->is[row - cs_rows_get(&run->rows, 0)] >> kind & 1;
}

const struct cs_row *cs_figure_next(const struct cs_run *run, const struct cs_row *of,
				    const struct cs_row *last, enum cs_rows_of kind)
{
	const struct cs_cells *cells = run->rows.cells;
	uint32_t at = !cells ? 0 :
		      last   ? cells->next[last - cs_rows_get(&run->rows, 0)] :
			       *slot_of(cells, &run->rows, of);

	while (at && !(cells->is[at - 1] >> kind & 1))
		at = cells->next[at - 1];
	return at ? cs_rows_get(&run->rows, at - 1) : NULL;
}

double cs_figures_median(const struct cs_run *run, const int nodes[2],
			 const struct cs_test *test, enum cs_metric metric,
			 uint64_t bytes, const struct cs_variant *variant)
{
	struct cs_vec x = CS_LIST(double);
	CS_SCOPE;

	for (int node = nodes[0]; node < nodes[1]; node++)
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED))
			if (row->status == CS_OK && row->metric == metric &&
			    cs_row_test(row) == test &&
			    (!bytes || row->what.bytes == bytes) &&
			    (!variant ||
			     !cs_variant_compare(&row->what.variant, variant)))
				cs_list_push(&x, &row->stats.median);
	return x.n ? cs_median(x.data, x.n) : NAN;
}

const struct cs_row *cs_turn_next(const struct cs_run *run, const struct cs_row *first,
				  const struct cs_row *last)
{
	do
		last = cs_figure_next(run, first, last, CS_ROWS_TURNS);
	while (last && last->step != first->step);
	return last;
}

/* ---- the plan's ---- */

const struct cs_transfer *cs_planned_next(const struct cs_plan *plan, int n_agents,
					  struct cs_planned *at)
{
	for (; plan && at->step < plan->n_steps; at->step++, at->k = 0) {
		const struct cs_step *step = cs_plan_step(plan, at->step);

		if ((step->flags & CS_STEP_CONTROL) ||
		    !cs_step_applies(plan, step, n_agents))
			continue;
		while (at->k < step->count) {
			const struct cs_transfer *t = cs_plan_transfer(plan, step,
								       at->k++);

			if (!cs_transfer_is_load(t))
				return t;
		}
	}
	return NULL;
}

static size_t planned_for(const struct cs_plan *plan, int n_agents)
{
	struct cs_planned at = { 0, 0 };
	size_t n = 0;

	while (cs_planned_next(plan, n_agents, &at))
		n++;
	return n;
}

size_t cs_planned_between(const struct cs_plan *plan, uint32_t matrix, uint32_t nodes)
{
	const struct cs_test *test = cs_plan_matrix_test(plan, matrix);
	const uint32_t only = plan->set.shift;
	const uint32_t rounds = cs_rounds_with(test, only, nodes, plan->set.rounds);
	struct cs_err err;
	uint32_t *drawn;
	size_t n = 0;

	if (cs_rounds_draw(plan->set.seed, nodes, &drawn, &err))
		return 0;
	for (uint32_t i = 0; i < rounds; i++)
		n += cs_round_senders(test, only, nodes,
				      (struct cs_round){ i, drawn[i] });
	free(drawn);
	return n;
}

/* In all matrices. */
static size_t all_planned_between(const struct cs_plan *plan, uint32_t nodes)
{
	size_t n = 0;

	for (uint32_t v = cs_plan_first_between(plan); v < plan->n_matrices; v++)
		n += cs_planned_between(plan, v, nodes);
	return n;
}

/* Was a cell measured, or left out for the budget?  Bits, for those of a GPU together. */
enum fate { MEASURED = 1, LEFT_OUT = 2 };

static int fate_of(const struct cs_row *row)
{
	return row->status == CS_OK		 ? MEASURED :
	       !strcmp(row->reason, CS_LEFT_OUT) ? LEFT_OUT :
						   0;
}

/* gpu[i] is the fates of the cells from and to a GPU. */
static void add_fate(uint8_t *gpu, const struct cs_row *row, int fate)
{
	const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };

	for (int i = 0; i < 2; i++)
		if (end[i]->kind == CS_ENDPOINT_GPU && end[i]->index < CS_MAX_AGENTS)
			gpu[end[i]->index] |= (uint8_t)fate;
}

struct cs_coverage cs_run_coverage(const struct cs_run *run)
{
	struct cs_coverage c = { 0 };
	size_t of[CS_MAX_AGENTS + 1] = { 0 };

	for (int node = 0; run->node && node < run->n_nodes; node++) {
		struct cs_row_list cells = cs_run_rows(run, node, CS_ROWS_CELLS);
		int n = run->node[node].facts.n_agents, i;
		uint8_t gpu[CS_MAX_AGENTS] = { 0 };

		if (n >= 0 && !of[n]) /* else unknown */
			of[n] = planned_for(run->plan, n);
		c.planned += n < 0 ? 0 : of[n];
		c.cells += cells.n;
		for (const struct cs_row *row; (row = cs_row_next(&cells));) {
			int fate = fate_of(row);

			c.measured += fate == MEASURED;
			c.left_out += fate == LEFT_OUT;
			add_fate(gpu, row, fate);
		}
		for (i = 0; i < CS_MAX_AGENTS; i++)
			c.unseen += gpu[i] == LEFT_OUT;
	}
	if (run->node && run->plan)
		c.planned += all_planned_between(run->plan, (uint32_t)run->n_nodes);
	return c;
}

/* ---- going on ---- */

CS_ORDERING_AT(by_step, struct cs_row, CS_ORDER(a->node, b->node),
	       CS_ORDER(a->step, b->step))

/* A rate of each transfer that the step measures and, of several that were sampled,
 * their total; all of them ok.  Repetitions of a cell are not part of it. */
static int is_whole(const struct cs_plan *plan, const struct cs_row *const *row,
		    size_t n)
{
	const struct cs_step *step;
	size_t rates = 0, totals = 0, measured = 0, rated = 0;
	uint32_t repeats = CS_ROW_REPEATS;

	if (!plan || row[0]->step >= plan->n_steps)
		return 0;
	step = cs_plan_step(plan, row[0]->step);
	if (step->flags & CS_STEP_CONTROL)
		repeats &= ~CS_ROW_CONTROL;
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		measured += !cs_transfer_is_load(t);
		rated += !cs_transfer_is_load(t) &&
			 cs_transfer_test(plan, t)->unit == CS_UNIT_GBS;
	}
	for (size_t i = 0; i < n; i++) {
		if (row[i]->flags & repeats)
			continue;
		if (row[i]->status != CS_OK)
			return 0;
		rates += row[i]->metric == CS_METRIC_RATE;
		totals += row[i]->metric == CS_METRIC_TOTAL;
	}
	return rates == measured &&
	       totals == (rated > 1 && cs_row_test(row[0])->how == CS_HOW_GATED);
}

int cs_run_mark_whole(const struct cs_run *run, char *keep, struct cs_err *err)
{
	size_t n = cs_rows_count(&run->rows);
	const struct cs_row **row = calloc(n + 1, sizeof(*row));

	if (!row)
		return cs_err_set(err, "no memory");
	for (size_t i = 0; i < n; i++)
		row[i] = cs_rows_get(&run->rows, i);
	qsort(row, n, sizeof(*row), by_step);
	CS_EACH_GROUP(i, k, n, !by_step(&row[i], &row[k])) {
		const char whole = (char)is_whole(run->plan, row + i, k - i);

		for (; i < k; i++)
			keep[row[i] - cs_rows_get(&run->rows, 0)] = whole;
	}
	free(row);
	return 0;
}

int cs_run_keep_whole(struct cs_run *run, struct cs_err *err)
{
	char *keep = calloc(cs_rows_count(&run->rows) + 1, 1);
	int rc = keep ? cs_run_mark_whole(run, keep, err) :
			cs_err_set(err, "no memory");

	if (!rc) {
		cs_rows_filter(&run->rows, keep);
		run->findings.n = 0;
	}
	free(keep);
	return rc;
}
