/* matrices.h - the measured rows of a run, matrix by matrix: by node, test, metric, size
 * and variant, then as they came, without repeats.
 *
 *	struct cs_matrices m = cs_matrices_begin(run);
 *	while (cs_matrices_next(&m))
 *		of the matrix: m.n rows, the i-th is cs_matrices_row(&m, i) */
#pragma once

#include "result/cells.h"

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
