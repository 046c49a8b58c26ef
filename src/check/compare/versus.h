/* versus.h - two sides compared with each other, cell by cell.  Pure.
 *
 * A side is one or more nodes of runs: the placements of one run, two runs of the
 * same nodes, runs of other nodes.  Nodes are paired by pairing.h; cells by test,
 * metric, size of a copy, and the bus ids of their GPUs on the same host, else their
 * positions; control cells are left out.  What is paired is compared by compare.h.
 *
 * If both sides are from one run, in which they took turns, the blocks of a cell are
 * these turns.  Else each run is one block, with the samples of all its turns,
 * because turns do not show how runs differ.  A run that is named twice counts once.
 * With one run on each side, the verdict is only about these two runs, unless the
 * baseline of A's run (run->baseline) knows how runs differ.
 *
 * Transfers of one step also have a total.  If one engine makes several of them in
 * turn, their order is chance, and only the total is compared.
 *
 * A cell with a figure on only one side, because it failed or was skipped on the
 * other, is not compared, and then the whole is not "the same". */
#pragma once

#include "check/compare/found.h"

/* In the arena. */
struct cs_versus *cs_versus_new(const struct cs_versus_side *a,
				const struct cs_versus_side *b, double margin);
/* CS_EXIT_WARNING: a matrix is faster, slower or mixed; else CS_EXIT_CANNOT: nothing
 * could be compared, or a cell with a figure on one side has none on the other; else
 * CS_EXIT_OK. */
int cs_versus_exit(const struct cs_versus *versus);

/* The placements of one run: the k-th against its first, on all nodes; NULL when
 * there is no k-th (1, 2, ...). */
struct cs_versus *cs_versus_placements(const struct cs_run *run, int k, double margin);

/* The whole in one sentence: what differs, and what follows (answer.c). */
const char *cs_versus_answer(const struct cs_versus *versus);
/* "slower in 3 of 12: worst 0->3 -4.10 % (-4.35 to -3.80)" */
const char *cs_versus_verdict(const struct cs_versus *versus,
			      const struct cs_versus_matrix *matrix);
