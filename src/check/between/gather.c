#include "check/between/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "result/cells.h"

uint32_t cs_between_matrix(const struct cs_run *run, uint32_t from)
{
	for (uint32_t v = from; v < run->plan->n_matrices; v++) {
		const struct cs_test *test = cs_plan_matrix_test(run->plan, v);

		if (cs_test_is_between(test) && test->unit == CS_UNIT_GBS &&
		    !cs_test_is_of_allocation(test))
			return v;
	}
	return run->plan->n_matrices;
}

static int can_be_judged(const struct cs_run *run, const struct cs_row *row)
{
	return row->status == CS_OK && row->metric == CS_METRIC_RATE &&
	       row->stats.median > 0 && isfinite(row->stats.median) &&
	       row->what.src.index < run->n_nodes &&
	       row->what.dst.index < run->n_nodes;
}

static struct cs_between_cell cell_of(const struct cs_run *run,
				      const struct cs_row *row)
{
	const struct cs_stats *s = &row->stats;
	const double half = (s->ci_high - s->ci_low) / 2 / s->median;
	const uint32_t steps = run->plan->n_steps;
	const int ways = cs_row_test(row)->pattern == CS_PATTERN_BIDI ? 2 : 1;

	return (struct cs_between_cell){
		.src = row->what.src.index,
		.dst = row->what.dst.index,
		.round = row->step > steps ? row->step - steps : 0,
		.row = (uint32_t)(row - cs_rows_get(&run->rows, 0)),
		.company = row->concurrent >= ways,
		.y = log(s->median),
		.noise = isfinite(half) ? half : 0,
	};
}

/* All rows of a matrix of one kind. */
static struct cs_between_cell *cells_of(const struct cs_run *run,
					const struct cs_plan_matrix *matrix,
					enum cs_rows_of kind, size_t *n)
{
	struct cs_between_cell *cell;
	size_t most = 0;

	for (int node = 0; node < run->n_nodes; node++)
		most += cs_matrix_rows(run, node, matrix).n;
	cell = cs_new(struct cs_between_cell, most);
	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_matrix_rows(run, node, matrix))
			if (can_be_judged(run, row) && cs_row_is(run, row, kind))
				cell[(*n)++] = cell_of(run, row);
	return cell;
}

CS_ORDERING_AT(by_leaf, struct cs_run_node, strcmp(a->facts.leaf, b->facts.leaf))

/* Leaves are numbered by name. */
static uint32_t *leaves_of(const struct cs_run *run, uint32_t *n_leaves)
{
	const size_t n = (size_t)run->n_nodes;
	const struct cs_run_node **nd = cs_new(const struct cs_run_node *, n);
	uint32_t *leaf = cs_new(uint32_t, n);

	for (size_t i = 0; i < n; i++)
		nd[i] = &run->node[i];
	qsort(nd, n, sizeof(*nd), by_leaf);
	*n_leaves = 0;
	CS_EACH_GROUP(i, k, n, !by_leaf(&nd[k], &nd[i])) {
		for (size_t m = i; m < k; m++)
			leaf[nd[m] - run->node] = nd[i]->facts.leaf[0] ? *n_leaves :
									 CS_NO_LEAF;
		*n_leaves += nd[i]->facts.leaf[0] != '\0';
	}
	cs_between_keep_leaves(leaf, (uint32_t)n, *n_leaves);
	return leaf;
}

struct cs_between cs_between_gather(const struct cs_run *run, uint32_t matrix)
{
	const struct cs_plan_matrix *of = cs_plan_matrix_at(run->plan, matrix);
	struct cs_between b = { .matrix = matrix, .n_nodes = (uint32_t)run->n_nodes };

	b.leaf = leaves_of(run, &b.n_leaves);
	b.cell = cells_of(run, of, CS_ROWS_CELLS, &b.n);
	b.again = cells_of(run, of, CS_ROWS_REMEASURED, &b.n_again);
	cs_between_polish(&b);
	return b;
}

const char *cs_between_leaf(const struct cs_run *run, const struct cs_between *b,
			    uint32_t leaf)
{
	uint32_t i = 0;

	while (b->leaf[i] != leaf)
		i++;
	return run->node[i].facts.leaf;
}
