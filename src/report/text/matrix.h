/* matrix.h - one test as a matrix of text, on one node or over several, or as a curve.
 * Only report/ includes it. */
#pragma once

#include <stdio.h>

#include "check/cells/like.h"
#include "report/report.h"
#include "report/scale.h"
#include "report/view.h"
#include "result/grid.h"

/* Is the size of its copies printed: one of several, or not the requested one? */
int cs_matrix_shows_size(const struct cs_grid *grid);
/* "peer.ce.write.pair  row writes to column, …, GB/s", and what replaces GPUs. */
void cs_matrix_heading(FILE *to, const struct cs_grid *grid);
/* figures.c: numbers, or above 16 columns one character per cell.  Of the grid it reads run,
 * node, test and matrix, the ends, value and mark.  Of one figure an agent median and 99th
 * percentile, agents side by side. */
void cs_matrix_cells(FILE *to, const struct cs_grid *grid);
/* … a number; of NAN a dash. */
void cs_figure_put(FILE *to, int width, int decimals, double x);
/* costs.c: of a shift, together / alone, if the run has the pairs alone; else nothing. */
void cs_efficiency_print(FILE *to, const struct cs_grid *grid);
/* The parts of a handle's opening, and how many bytes the link moves meanwhile. */
void cs_openings_print(FILE *to, const struct cs_grid *grid);
/* The meaning of the name by which the test was requested, in the tool of that name. */
void cs_matrix_note(FILE *to, const struct cs_run *run,
		    const struct cs_plan_matrix *matrix);
/* between_grid.c: a matrix between nodes, `side` rows at most: of more nodes each is a leaf,
 * or a group, and a cell the result in the middle of theirs.  *words says that; in the
 * arena. */
struct cs_grid *cs_between_grid(const struct cs_run *run, uint32_t matrix, int side,
				const char **words);
/* Cells, the lines of figures below, and each mark's reason once. */
void cs_matrix_node(FILE *to, const struct cs_grid *grid, int verbose);

/* classes.c.  Pairs of GPUs by the path between them, if these are of several classes. */
void cs_classes_print(FILE *to, const struct cs_grid *grid);

/* ---- curve.c: the points of a curve that replaces the matrices of a test ---- */

/* The cells of one matrix, over all requested nodes. */
struct cs_curve_point {
	struct cs_plan_matrix matrix;
	double at;	  /* on the axis */
	const char *text; /* the same in words */
	size_t n_planned, n_measured, n_marked, n_concurrent;
	double min, median, max; /* NAN: not measured */
	double low, high;	 /* the ends of all intervals; NAN none */
	double together;	 /* median of the totals; NAN none */
};

struct cs_curve {
	const char *by; /* "size" */
	struct cs_curve_point *point;
	int n; /* 0: it is no curve of single figures */
};

/* Does a curve replace a matrix; how many points has the curve that begins with it
 * (0: it begins none). */
int cs_curve_holds(const struct cs_run *run, uint32_t index);
int cs_curve_points(const struct cs_run *run, uint32_t index);
/* The first matrix of the curve that a matrix is of; itself if it is of none. */
uint32_t cs_curve_first(const struct cs_run *run, uint32_t index);
/* That curve, over nodes [0] up to [1], in the arena. */
struct cs_curve cs_curve_new(const struct cs_run *run, const int nodes[2],
			     uint32_t index);

/* ---- slow_cells.c: cells of a matrix that are slower than similar ones ---- */

/* Sets how far each cell is from its like, and the mark '<' of those that
 * are below it; the likeness is of the same run. */
void cs_slow_cells_mark(const struct cs_likeness *likeness, struct cs_grid *grid);
/* The colour of a cell by its distance from its like; NULL: it was not compared, or the
 * grid was not marked. */
const struct cs_shade *cs_cell_shade(const struct cs_grid *grid, size_t cell);
/* "1 cell 33 % slower than the others: 0->1"; "" of a grid without such cells. */
const char *cs_slow_cells_text(const struct cs_grid *grid);
/* To be printed after it: how to be sure.  "" if a check has measured it again. */
const char *cs_slow_cells_how_sure(const struct cs_run *run);
