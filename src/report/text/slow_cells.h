/* slow_cells.h - cells of a matrix that are slower than similar ones, for every report that
 * people read.  Only report/ includes it. */
#ifndef CS_REPORT_TEXT_SLOW_CELLS_H
#define CS_REPORT_TEXT_SLOW_CELLS_H

#include "check/cells/like.h"
#include "report/scale.h"
#include "result/grid.h"

/* How odd each cell is, and the mark '<' of those that are below their like; of the
 * run that the likeness is of.  -1: no memory. */
int cs_odd_mark(const struct cs_likeness *likeness, struct cs_grid *grid);
/* How odd a cell is, by its colour; NULL: it was not compared, or nobody marked the
 * grid. */
const struct cs_shade *cs_odd_shade(const struct cs_grid *grid, size_t cell);
/* "1 cell 33 % below its like: 0->1"; "" of a grid without such cells. */
void cs_odd_text(const struct cs_grid *grid, char *to, size_t size);
/* Behind that: how to be sure.  "" where a check has measured it again. */
const char *cs_odd_how_sure(const struct cs_run *run);

#endif
