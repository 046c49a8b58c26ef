/* gather.h - the rows of a run as figures between nodes. */
#pragma once

#include "check/between/polish.h"

/* Matrices of the plan from `from` on: the first that can be judged, or past the last. */
uint32_t cs_between_matrix(const struct cs_run *run, uint32_t from);
/* Its figures, polished.  In the arena. */
struct cs_between cs_between_gather(const struct cs_run *run, uint32_t matrix);
/* The name of a leaf of these. */
const char *cs_between_leaf(const struct cs_run *run, const struct cs_between *b,
			    uint32_t leaf);
