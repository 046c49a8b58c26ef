/* matrix.h - one test as a matrix of text, on one node or over several.  Only
 * text.c uses it. */
#ifndef CS_REPORT_TEXT_MATRIX_H
#define CS_REPORT_TEXT_MATRIX_H

#include <stdio.h>

#include "report/report.h"
#include "report/view.h"
#include "result/grid.h"

/* Is the size of its copies printed: one of several, or not the one asked for? */
int cs_matrix_says_size(const struct cs_grid *grid);
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
/* Of opening: its parts, and how many bytes the link moves meanwhile. */
void cs_openings_print(FILE *to, const struct cs_grid *grid);
/* The meaning of the name by which the test was asked for, in the tool of that name. */
void cs_matrix_note(FILE *to, const struct cs_run *run,
		    const struct cs_plan_matrix *matrix);
/* Cells, the lines of figures below, and each mark's reason once. */
void cs_matrix_node(FILE *to, const struct cs_grid *grid, int verbose);

/* classes.c.  Pairs of GPUs by the path between them, if these are of several classes. */
void cs_classes_print(FILE *to, const struct cs_grid *grid);

#endif
