#include "report/text/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 0.01 /* a node whose every cell is as near as this is not printed */

struct aggregate {
	const struct cs_run *run;
	struct cs_grid **grid; /* by node */
	int n_rows, n_cols;    /* the largest of their matrices */
	int like;	       /* the first node with that many: its labels */
	size_t nodes;	       /* that measure it: one with one GPU has no pairs */
	double *value;	       /* medians over nodes */
	char *mark;
	size_t n_planned, n_measured;
};

static double cell_of(const struct cs_grid *grid, int src, int dst)
{
	return src < grid->n_rows && dst < grid->n_cols ?
		       grid->value[src * grid->n_cols + dst] :
		       NAN;
}

static void fill_cells(struct aggregate *ag)
{
	size_t cells = (size_t)ag->n_rows * (size_t)ag->n_cols;
	int nodes = ag->run->n_nodes;
	double *room = cs_new(double, nodes);

	ag->value = cs_new(double, cells);
	ag->mark = cs_new(char, cells);
	for (int i = 0; i < ag->n_rows * ag->n_cols; i++) {
		size_t k = 0;

		for (int node = 0; node < nodes; node++) {
			double v = cell_of(ag->grid[node], i / ag->n_cols,
					   i % ag->n_cols);

			if (!isnan(v))
				room[k++] = v;
		}
		ag->value[i] = k ? cs_median(room, k) : NAN;
		ag->mark[i] = ' ';
	}
}

static void mark_nodes(const struct aggregate *ag, char *differs)
{
	for (int node = 0; node < ag->run->n_nodes; node++) {
		const struct cs_grid *grid = ag->grid[node];

		/* it may be wider than those that have the test */
		if (!grid->n_planned)
			continue;
		if (grid->n_measured < grid->n_planned)
			differs[node] = 1;
		for (int i = 0; i < grid->n_rows * grid->n_cols; i++) {
			double usual = ag->value[i / grid->n_cols * ag->n_cols +
						 i % grid->n_cols];

			/* times of calls are never that near */
			if (grid->mark[i] != ' ' ||
			    (grid->test->unit == CS_UNIT_GBS &&
			     fabs(grid->value[i] / usual - 1) > NEAR))
				differs[node] = 1;
		}
	}
}

CS_ORDERING_AT(median_order, struct cs_grid, CS_ORDER(a->median, b->median))

static const char *host_of(const struct cs_grid *grid)
{
	return grid->run->node[grid->node].facts.host;
}

/* grid[0..n) are those with a figure, in order of their medians. */
static void print_nodes(FILE *to, const struct aggregate *ag, struct cs_grid **grid,
			size_t n)
{
	const struct cs_grid *low = grid[0], *high = grid[0];
	const struct cs_grid *first = grid[0], *last = grid[n - 1];
	double median = (grid[(n - 1) / 2]->median + grid[n / 2]->median) / 2;
	int d = cs_decimals(low->test);

	for (size_t i = 1; i < n; i++) {
		if (grid[i]->min < low->min)
			low = grid[i];
		if (grid[i]->max > high->max)
			high = grid[i];
	}
	cs_fold(to, 2, 4,
		"nodes: lowest %.*f (%s)  median %.*f  "
		"highest %.*f (%s)  spread %.2f %%",
		d, first->median, host_of(first), d, median, d, last->median,
		host_of(last), 100 * (last->median - first->median) / median);
	cs_fold(to, 2, 4,
		"cells: lowest %.*f (%s %s)  highest %.*f (%s %s)  "
		"%zu of %zu cells",
		d, low->min, host_of(low), cs_cell_label(low, low->min_at).text, d,
		high->max, host_of(high), cs_cell_label(high, high->max_at).text,
		ag->n_measured, ag->n_planned);
}

static int same_labels(const struct aggregate *ag)
{
	for (int node = 0; node < ag->run->n_nodes; node++)
		for (int i = 0; ag->grid[node]->n_planned &&
				i < ag->run->node[node].facts.n_agents;
		     i++)
			if (strcmp(cs_agent_label(ag->run, node, i).text,
				   cs_agent_label(ag->run, ag->like, i).text))
				return 0;
	return 1;
}

/* The grid for the heading: one whose pairs ran at the same time, if any did. */
static const struct cs_grid *for_heading(const struct aggregate *ag)
{
	for (int node = 0; node < ag->run->n_nodes; node++)
		if (ag->grid[node]->n_concurrent)
			return ag->grid[node];
	return ag->grid[0];
}

static void print(FILE *to, const struct aggregate *ag)
{
	const struct cs_grid *like = ag->grid[ag->like];
	const struct cs_grid cells = {
		.run = ag->run,
		.node = ag->like,
		.test = like->test,
		.matrix = like->matrix,
		.bytes = like->bytes,
		.back = like->back,
		.n_rows = ag->n_rows,
		.n_cols = ag->n_cols,
		.row_end = like->row_end,
		.col_end = like->col_end,
		.value = ag->value,
		.mark = ag->mark,
	};
	size_t nodes = (size_t)ag->run->n_nodes, node, n = 0;
	struct cs_grid **sorted = cs_new(struct cs_grid *, nodes);

	for (node = 0; node < nodes; node++)
		if (ag->grid[node]->n_measured)
			sorted[n++] = ag->grid[node];
	qsort(sorted, n, sizeof(*sorted), median_order);
	if (same_labels(ag))
		cs_fold(to, 2, 4, "each cell the median of %zu nodes", ag->nodes);
	else
		cs_fold(to, 2, 4,
			"each cell the median of %zu nodes; %ss are numbered as on %s",
			ag->nodes, cs_agent_word(ag->run), host_of(like));
	cs_matrix_cells(to, &cells);
	if (n)
		print_nodes(to, ag, sorted, n);
	else
		cs_fold(to, 2, 4, "0 of %zu cells", ag->n_planned);
	cs_matrix_note(to, ag->run, cells.matrix);
}

static void take_grid(struct aggregate *ag, int node, struct cs_grid *grid)
{
	ag->grid[node] = grid;
	if (!grid->n_planned)
		return;
	ag->nodes++;
	if (grid->n_rows > ag->n_rows || grid->n_cols > ag->n_cols) {
		ag->n_rows = grid->n_rows;
		ag->n_cols = grid->n_cols;
		ag->like = node;
	}
	ag->n_planned += grid->n_planned;
	ag->n_measured += grid->n_measured;
}

void cs_aggregate_print(FILE *to, const struct cs_digest *digest, uint32_t matrix,
			char *differs)
{
	const struct cs_run *run = digest->run;
	struct aggregate ag = { .run = run };
	CS_SCOPE;

	ag.grid = cs_new(struct cs_grid *, run->n_nodes);
	for (int node = 0; node < run->n_nodes; node++) {
		struct cs_grid *grid = cs_grid_new(run, node, matrix);

		cs_slow_cells_mark(&digest->likeness, grid);
		take_grid(&ag, node, grid);
	}
	if (ag.nodes < 2) {
		/* the one node that measures it is printed by itself */
		for (int node = 0; node < run->n_nodes; node++)
			differs[node] |= ag.grid[node]->n_planned != 0;
		return;
	}
	fill_cells(&ag);
	putc('\n', to);
	cs_matrix_heading(to, for_heading(&ag));
	mark_nodes(&ag, differs);
	print(to, &ag);
}
