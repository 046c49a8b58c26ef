/* model.h - the sweeps of a run as alpha, beta and what follows from them.
 *
 * A sweep is the matrices of a test that differ in the size of a copy alone; each of
 * its cells has a fit.  Pure; of a run whose turns were put together (result/pool.h). */
#pragma once

#include "base/vec.h"
#include "check/model/fit.h"
#include "result/grid.h"

/* A sweep on a node. */
struct cs_sweep {
	struct cs_grid grid; /* of its first size; ends and labels are those of all */
	struct cs_fit *fit;  /* by cell of the grid; n 0: none */
	size_t n_fitted;
};

/* Does a sweep begin with that matrix (cs_grids)?  The number of its sizes, else 0. */
int cs_sweep_sizes(const struct cs_run *run, uint32_t index);
/* The sweep that begins with it, in the arena. */
struct cs_sweep *cs_sweep_new(const struct cs_run *run, int node, uint32_t index);

/* The sum of several fits: medians of the values and of the ends of their intervals. */
struct cs_fit_sum {
	size_t n, n_switched;
	struct cs_fit_value alpha_us, gbs, half_bytes;
	double worst, worst_bytes; /* of all */
};
/* Adds a sweep's fits to a list of struct cs_fit. */
void cs_fits_add(struct cs_vec *fits, const struct cs_sweep *sweep);
/* 0, or -1: there is none. */
int cs_fits_sum(const struct cs_vec *fits, struct cs_fit_sum *out);
/* The sum of the sweep that begins with a matrix, of all nodes; `planned`: its cells. */
struct cs_fit_sum cs_sweep_sum(const struct cs_run *run, uint32_t index,
			       size_t *planned);

/* Cost of a message between nodes: half a round trip of 16 bytes, and the rate of
 * messages of 1 MiB, many at a time.  Medians over all cells; NAN: not measured. */
struct cs_message {
	double alpha_us, gbs;
};

struct cs_message cs_message_between(const struct cs_run *run);
