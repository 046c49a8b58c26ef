/* passes.h - the passes of a soak (--duration), which are turns of its cells.
 *
 * Of each pass a row without samples is kept.  So that a day of passes does not fill the
 * memory, of more than CS_PASS_ROWS_MOST rows only every second pass is kept, then every
 * fourth, and so on; the slowest pass of each cell, the last one, and cells that failed
 * always stay.  Journals have all. */
#pragma once

#include "result/run.h"

#define CS_PASS_ROWS_MOST ((size_t)1 << 19)

/* Leave out passes if there are more rows than that, after some were added.  The same rows
 * in the same order leave the same ones, when a run is measured and when its journal is
 * read. */
int cs_passes_thin(struct cs_run *run, size_t most, struct cs_err *err);
/* Leave out the rows that were added since. */
int cs_passes_end(struct cs_run *run, struct cs_err *err);

/* The last pass that a node began. */
uint32_t cs_passes_count(const struct cs_run *run, int node);
/* The passes of a cell that have a figure. */
struct cs_pass_cell {
	const struct cs_row *first, *slowest; /* slowest: NULL none has one */
	double median, spread; /* of their medians; spread: robust, as a share */
	size_t n;
};
/* `first` is the cell's first row.  Takes memory in the arena. */
struct cs_pass_cell cs_pass_cell_of(const struct cs_run *run,
				    const struct cs_row *first);
/* How much slower a pass was than the median of its cell, as a share. */
double cs_pass_drop(const struct cs_pass_cell *cell, const struct cs_row *pass);
/* "pass 7 of 60, 04:12:31": when the cell ended, in UTC.  In the arena. */
const char *cs_pass_text(const struct cs_run *run, const struct cs_row *pass);
