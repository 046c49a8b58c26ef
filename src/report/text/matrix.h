/* matrix.h - one test as a matrix of text, on one node or over several.  Only
 * text.c uses it. */
#ifndef CS_REPORT_TEXT_MATRIX_H
#define CS_REPORT_TEXT_MATRIX_H

#include <stdio.h>

#include "report/report.h"
#include "report/view.h"
#include "result/grid.h"

/* Is the size of its copies to be said: one of several, or not the one asked for? */
int cs_matrix_says_size(const struct cs_grid *grid);
/* "peer.ce.write.pair  row writes to column, …, GB/s", and what stands in. */
void cs_matrix_heading(FILE *to, const struct cs_grid *grid);
/* figures.c: numbers, or above 16 columns one character per cell.  Of the grid it reads what
 * says where it is from, the ends, value and mark.  Of one figure an agent median and 99th
 * percentile, agents side by side. */
void cs_matrix_cells(FILE *to, const struct cs_grid *grid);
/* … two blanks and a number, or where there is none a dash. */
void cs_figure_put(FILE *to, int width, int decimals, double x);
/* costs.c: of a shift, together / alone, where the run has the pairs alone; else nothing. */
void cs_efficiency_print(FILE *to, const struct cs_grid *grid);
/* Of opening: its parts, and how many bytes the link moves meanwhile. */
void cs_openings_print(FILE *to, const struct cs_grid *grid);
/* What the name under which the test was asked for stands for elsewhere. */
void cs_matrix_note(FILE *to, const struct cs_run *run,
		    const struct cs_plan_matrix *matrix);
/* Cells, the lines of figures below, and each mark's reason once. */
void cs_matrix_node(FILE *to, const struct cs_grid *grid, int verbose);

/* classes.c.  Pairs of GPUs by the path between them, where it is not of one class. */
void cs_classes_print(FILE *to, const struct cs_grid *grid);

#endif
