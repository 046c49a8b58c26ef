/* cells.h - the index of a run's rows: which rows belong to one cell, and the role
 * of each. Only this file decides that.
 *
 * A cell is the figure of one transfer of the plan on one node.  The row of its
 * first measurement has its figure, or its status.  Other rows are further turns, if
 * placements take turns, or repetitions: controls, re-measurements, and rounds in
 * which other pairs ran.  Totals of a step and parts of an opening are measured too,
 * but are not cells.
 *
 * The function that collects a run's rows indexes them once (cs_run_index);
 * functions that change the rows remove the index. */
#pragma once

#include "result/run.h"

/* The role of a row. */
enum cs_rows_of {
	CS_ROWS_ALL,
	CS_ROWS_MEASURED, /* of every metric, further turns too; no repeats */
	CS_ROWS_CELLS,	  /* one of each cell: its first measurement */
	CS_ROWS_TURNS,	  /* further turns of a row before them */
	CS_ROWS_CONTROLS,
	CS_ROWS_REMEASURED,
	CS_ROWS_CONCURRENT, /* repeats while other pairs ran */
	CS_ROWS_KINDS
};

/* The matrix of a row of any metric (cs_plan_matrices_compare). */
struct cs_plan_matrix cs_row_plan_matrix(const struct cs_row *row);
/* Order by test, metric, size and variant.  0: one matrix. */
int cs_matrix_order(const struct cs_row *a, const struct cs_row *b);
/* Are they figures of the same: of one matrix, node and ends?  Steps may differ. */
int cs_same_figure(const struct cs_row *a, const struct cs_row *b);

/* Index the rows, unless they are; cs_rows_unindex() frees it, as does releasing
 * the rows. */
int cs_run_index(struct cs_run *run, struct cs_err *err);

/* Rows in the order in which they came; none before they are indexed. */
struct cs_row_list {
	const struct cs_rows *rows;
	const uint32_t *at;
	size_t n;
};
struct cs_row_list cs_run_rows(const struct cs_run *run, int node,
			       enum cs_rows_of kind);
/* All rows of one matrix on a node, of every kind. */
struct cs_row_list cs_matrix_rows(const struct cs_run *run, int node,
				  const struct cs_plan_matrix *matrix);
/* A number that all rows of one matrix have, and no others, less than there are rows.
 * That of a matrix: the count of rows if none is of it. */
size_t cs_row_matrix(const struct cs_run *run, const struct cs_row *row);
size_t cs_matrix_number(const struct cs_run *run, const struct cs_plan_matrix *matrix);
/* The next of the list, which is taken from it; NULL at the end. */
const struct cs_row *cs_row_next(struct cs_row_list *list);
/* For each row of a list: CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) … */
#define CS_EACH_ROW(row, list)                                                    \
	for (struct cs_row_list row##s_ = (list); row##s_.rows; row##s_.rows = NULL) \
		for (const struct cs_row *row; (row = cs_row_next(&row##s_));)
/* For each of all rows (struct cs_rows). */
#define CS_EACH_ROW_OF(row, all)                                        \
	for (const struct cs_row *row = (all)->rows.data,               \
				 *row##_end = cs_rows_end(all);         \
	     row != row##_end; row++)
/* Position of the i-th of the list in the run, and the row itself. */
size_t cs_listed_at(const struct cs_row_list *list, size_t i);
const struct cs_row *cs_listed(const struct cs_row_list *list, size_t i);
/* Is a row of the run of that kind? */
int cs_row_is(const struct cs_run *run, const struct cs_row *row,
	      enum cs_rows_of kind);
/* The next row after `last` of that kind with the same figure as `of` (cs_same_figure);
 * the first one if `last` is NULL; NULL at the end. */
const struct cs_row *cs_figure_next(const struct cs_run *run, const struct cs_row *of,
				    const struct cs_row *last, enum cs_rows_of kind);

/* The median of what was measured of a test in one metric and variant, on the nodes from
 * nodes[0] to nodes[1] - 1; bytes 0: of any size; variant NULL: in any.  NAN: nothing. */
double cs_figures_median(const struct cs_run *run, const int nodes[2],
			 const struct cs_test *test, enum cs_metric metric,
			 uint64_t bytes, const struct cs_variant *variant);

/* The turn of the row `first` after the turn `last`; NULL at the end. */
const struct cs_row *cs_turn_next(const struct cs_run *run, const struct cs_row *first,
				  const struct cs_row *last);

/* The cells that a plan has for a node with that many agents, one after the other:
 * begin with { 0, 0 }; NULL at the end. */
struct cs_planned {
	uint32_t step, k;
};
const struct cs_transfer *cs_planned_next(const struct cs_plan *plan, int n_agents,
					  struct cs_planned *at);

/* The cells of a matrix between so many nodes. */
size_t cs_planned_between(const struct cs_plan *plan, uint32_t matrix, uint32_t nodes);

/* Cells with a figure, and those of the plan. */
struct cs_coverage {
	size_t measured, planned;
	size_t cells;	 /* of which there is a row, with a figure or without */
	size_t left_out; /* for the budget */
	size_t unseen;	 /* GPUs that lost cells to it, and have none measured */
};
struct cs_coverage cs_run_coverage(const struct cs_run *run);

/* For a run that continues with the rows of an earlier one.  keep[i] is set to 1 for
 * the rows of steps that were measured completely and with every row ok, else to 0.
 * It needs no index. */
int cs_run_mark_whole(const struct cs_run *run, char *keep, struct cs_err *err);
/* Keep only those rows; findings are removed, because those of the rows that stay
 * are found again. */
int cs_run_keep_whole(struct cs_run *run, struct cs_err *err);

/* ---- matrices.c: the measured rows of a run, matrix by matrix ----
 *
 * By node, test, metric, size and variant, then as they came, without repeats.
 *
 *	struct cs_matrices m = cs_matrices_begin(run);
 *	while (cs_matrices_next(&m))
 *		of the matrix: m.n rows, the i-th is cs_matrices_row(&m, i) */

struct cs_matrices {
	const struct cs_run *run; /* indexed */
	uint32_t *order;
	size_t n_order;
	const uint32_t *at; /* of one matrix: its n rows, by their place in the run … */
	size_t n;
	int node, is_first; /* … on that node, of which it is the first */
};

/* In the arena (base/arena.h). */
struct cs_matrices cs_matrices_begin(const struct cs_run *run);
/* 1; 0 there is no further one. */
int cs_matrices_next(struct cs_matrices *m);
const struct cs_row *cs_matrices_row(const struct cs_matrices *m, size_t i);
