/* between_grid.c - the cells of a test between nodes as a matrix, of many nodes with several
 * a row. */
#include "report/text/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

CS_ORDERING_AT(by_leaf, struct cs_run_node, strcmp(a->facts.leaf, b->facts.leaf),
	       CS_ORDER(a, b))

/* The row of each node: a node a row, in order of leaves; of more nodes a leaf a row; or as
 * many nodes a row as are needed. */
static int *rows_of(const struct cs_run *run, int side, struct cs_grid *grid,
		    const char **words)
{
	const int n = run->n_nodes, per = (n + side - 1) / side;
	const struct cs_run_node **nd = cs_new(const struct cs_run_node *, n);
	int *row_of = cs_new(int, n), leaves = 0, leaf;

	for (int i = 0; i < n; i++)
		nd[i] = &run->node[i];
	qsort(nd, n, sizeof(*nd), by_leaf);
	for (int i = 0; i < n; i++)
		leaves += !i || strcmp(nd[i]->facts.leaf, nd[i - 1]->facts.leaf) != 0;
	leaf = per > 1 && leaves > 1 && leaves <= side;
	grid->n_rows = grid->n_cols = leaf ? leaves : (n + per - 1) / per;
	grid->row_end = grid->col_end = cs_new(struct cs_endpoint, grid->n_rows);
	for (int i = n - 1, of = leaves - 1; i >= 0; i--) {
		const int row = leaf ? of : i / per, node = (int)(nd[i] - run->node);

		row_of[node] = row;
		grid->row_end[row] = (struct cs_endpoint){ .kind = CS_ENDPOINT_NODE,
							   .index = (uint16_t)node };
		of -= i && strcmp(nd[i]->facts.leaf, nd[i - 1]->facts.leaf) != 0;
	}
	*words =
		leaf ? "a row is a leaf, with the name of its first node; a cell is the median of its nodes'" :
		per > 1 ?
		       cs_new_text("a row is %d nodes from that one on; a cell is the median of theirs",
				   per) :
		leaves > 1 ? "rows are in order of leaves" :
			     "";
	return row_of;
}

struct at {
	size_t cell;
	const struct cs_row *row;
};

/* By cell, those without a figure last. */
CS_ORDERING(by_cell, struct at, CS_ORDER(a->cell, b->cell),
	    CS_ORDER(a->row->status != CS_OK, b->row->status != CS_OK),
	    CS_ORDER(a->row->stats.median, b->row->stats.median))

/* The row in the middle of each cell is its row. */
static void set_cells(struct cs_grid *grid, const struct at *at, size_t n)
{
	CS_EACH_GROUP(i, end, n, at[end].cell == at[i].cell) {
		const size_t cell = at[i].cell;
		size_t measured = 0;

		for (size_t k = i; k < end; k++)
			measured += at[k].row->status == CS_OK;
		grid->planned[cell] = 1;
		grid->n_planned += end - i;
		grid->n_measured += measured;
		grid->row[cell] = at[i + (measured ? (measured - 1) / 2 : 0)].row;
		if (measured)
			grid->value[cell] = grid->row[cell]->stats.median;
	}
}

static void set_figures(struct cs_grid *grid, size_t cells)
{
	double *x = cs_new(double, cells);
	size_t n = 0;

	for (size_t i = 0; i < cells; i++) {
		const double value = grid->value[i];

		if (isnan(value))
			continue;
		if (!n || value < grid->min)
			grid->min = value, grid->min_at = i;
		if (!n || value > grid->max)
			grid->max = value, grid->max_at = i;
		x[n++] = value;
	}
	grid->median = n ? cs_median(x, n) : NAN;
	for (size_t i = 0; i < cells; i++)
		grid->off[i] = log1p(cs_difference(grid->test, grid->value[i],
						   grid->median));
}

struct cs_grid *cs_between_grid(const struct cs_run *run, uint32_t matrix, int side,
				const char **words)
{
	struct cs_grid *grid = cs_new(struct cs_grid, 1);
	struct at *at = cs_new(struct at, cs_rows_count(&run->rows));
	const int *row_of = rows_of(run, side, grid, words);
	const size_t cells = cs_grid_cells(grid);
	size_t n = 0;

	grid->run = run;
	grid->matrix = cs_plan_matrix_at(run->plan, matrix);
	grid->test = cs_test_at(grid->matrix->test);
	grid->bytes = grid->matrix->bytes;
	grid->row = cs_new(const struct cs_row *, cells);
	grid->planned = cs_new(char, cells);
	grid->value = cs_new(double, cells);
	grid->off = cs_new(double, cells);
	grid->mark = cs_new(char, cells);
	memset(grid->mark, ' ', cells);
	for (size_t i = 0; i < cells; i++)
		grid->value[i] = NAN;
	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_matrix_rows(run, node, grid->matrix))
			if (cs_row_is(run, row, CS_ROWS_CELLS))
				at[n++] = (struct at){
					(size_t)(row_of[node] * grid->n_cols +
						 row_of[row->what.dst.index]),
					row
				};
	qsort(at, n, sizeof(*at), by_cell);
	set_cells(grid, at, n);
	set_figures(grid, cells);
	return grid;
}
