/* grid.h - the cells of one test on one node, as every matrix has them. */
#pragma once

#include "result/cells.h"

/* The cells of one test at one size in one variant on one node, in the orientation of every
 * matrix; of a run whose turns were put together (result/pool.h). */
struct cs_grid {
	const struct cs_run *run;
	const struct cs_test *test;
	const struct cs_plan_matrix *matrix; /* of the plan */
	uint64_t bytes;			     /* of a copy */
	int back; /* the second direction of a test in both directions between host and GPUs */
	int node, n_rows, n_cols;
	struct cs_endpoint *row_end, *col_end;
	const struct cs_row **row; /* [src * n_cols + dst]; NULL without a row */
	char *planned;		   /* by the plan, for this node */
	double *value;		   /* median; NAN unless measured */
	char *mark; /* ' ', '!' a finding, '*' not the best transport; '<' below similar cells */
	/* set by checks, else NULL: log of the ratio of each cell to similar ones,
	 * NAN unknown; in the arena.  And how many are below */
	double *off;
	size_t n_slow;
	size_t n_planned, n_measured;
	size_t n_concurrent; /* measured while others ran */
	/* of the measured ones; cells as indices, NAN and 0 without any */
	double min, median, max;
	size_t min_at, max_at;
	/* TOTAL rows of steps with several transfers; of all-to-one and one-to-all
	 * by hub, NAN elsewhere */
	double *total;
	size_t n_total;
	double total_min, total_median, total_max, overlap;
};

/* Number of matrices of a run on each node: one for each matrix of the plan, two if
 * host and GPUs copy both ways; none of those between nodes; none before there is a plan, and none if a file
 * requested steps of its own. */
uint32_t cs_grids(const struct cs_run *run);
/* The position of its test in the catalogue. */
uint32_t cs_grid_test(const struct cs_run *run, uint32_t index);
/* In the arena. */
struct cs_grid *cs_grid_new(const struct cs_run *run, int node, uint32_t index);
/* The median of all cells of a matrix on the nodes from nodes[0] to nodes[1] - 1; NAN
 * none. */
double cs_cells_median(const struct cs_run *run, const int nodes[2], uint32_t index);
/* Test, size, variant and direction of a matrix, the same on every node, without its
 * cells. */
struct cs_grid cs_grid_head(const struct cs_run *run, uint32_t index);
/* Is it the second direction of a test in both directions between host and GPU? */
int cs_row_is_back(const struct cs_row *row);
/* Describe the cells of a test; `back`: those from the GPUs to the host; `when` they
 * were measured, NULL unknown. */
struct cs_title {
	char text[208];
};
struct cs_title cs_test_title(const struct cs_test *test, int back, const char *when);
/* The same of a grid, or of one row, as these were measured. */
struct cs_title cs_grid_title(const struct cs_grid *grid);
struct cs_title cs_row_title(const struct cs_run *run, const struct cs_row *row);
/* The transfer of a cell, as far as its ends. */
struct cs_transfer cs_grid_transfer(const struct cs_grid *grid, size_t cell);
/* Is a row of this matrix, with any metric? */
int cs_grid_has(const struct cs_grid *grid, const struct cs_row *row);
/* The cell of a transfer; -1 none. */
int cs_grid_cell(const struct cs_grid *grid, const struct cs_transfer *what);
size_t cs_grid_cells(const struct cs_grid *grid);
/* "2->3", of a cell by its index; "2" if each agent has one cell. */
struct cs_label cs_cell_label(const struct cs_grid *grid, size_t cell);
