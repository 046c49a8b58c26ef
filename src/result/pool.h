/* pool.h - joins the turns of a cell into one, for views and findings.
 *
 * Comparisons need the separate turns: they read the run itself. */
#pragma once

#include "result/cells.h"

/* A copy of the run in which the turns of a cell are one row (turns: their number):
 * all of their samples, without an interval, because samples of one turn agree
 * better than turns do; of passes (--duration) their medians, with an interval, the
 * pass of the gravest status (turn) and the last one (turns); other fields by the rules in the table of row.c.  A cell of
 * which a turn failed has failed.  It shares all else with the run, and its rows too
 * if there are no turns.  Its rows are indexed (cells.h).  To be released before the
 * run, also on failure. */
int cs_pool_make(const struct cs_run *run, struct cs_run *out, struct cs_err *err);
/* The same, released with the arena. */
const struct cs_run *cs_pool_new(const struct cs_run *run);
/* For each merged row the position of its first turn in the run, which is indexed;
 * in the arena. */
int64_t *cs_pool_first_turns(const struct cs_run *run);
void cs_pool_release(struct cs_run *pooled, const struct cs_run *run);
