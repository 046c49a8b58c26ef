/* slow_cells.h - cells of a matrix that are slower than similar ones, for every report that
 * people read.  Only report/ includes it. */
#ifndef CS_REPORT_TEXT_SLOW_CELLS_H
#define CS_REPORT_TEXT_SLOW_CELLS_H

#include "check/cells/like.h"
#include "report/scale.h"
#include "result/grid.h"

/* Sets how far each cell is from its like, and the mark '<' of those that
 * are below it; the likeness is of the same run. */
void cs_odd_mark(const struct cs_likeness *likeness, struct cs_grid *grid);
/* The colour of a cell by its distance from its like; NULL: it was not compared, or the
 * grid was not marked. */
const struct cs_shade *cs_odd_shade(const struct cs_grid *grid, size_t cell);
/* "1 cell 33 % below its like: 0->1"; "" of a grid without such cells. */
const char *cs_odd_text(const struct cs_grid *grid);
/* To be printed after it: how to be sure.  "" if a check has measured it again. */
const char *cs_odd_how_sure(const struct cs_run *run);

#endif
