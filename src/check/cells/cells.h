/* cells.h - judging cells: what is slow, where the fault sits, and how sure that is.
 * Pure: same rows, same findings in the same order.
 *
 * --check=outlier holds cells against their like (outlier.c), --check=link against
 * what is live now (expect.h); known signatures (signs.c) say why.  Nobody is accused
 * on one look: a live run repeats what is suspicious and what stands beside it
 * (cs_cells_again; its rows are flagged CS_ROW_AGAIN), and only what is seen twice, or
 * is a fact and no figure, is critical. */
#ifndef CS_CHECK_CELLS_H
#define CS_CHECK_CELLS_H

#include "result/run.h"

/* Append what is found under run->checks; nothing where neither kind is asked for.
 * `told` is filled with what was found, for who judges the same cells by a bound; to be
 * released. */
int cs_cells_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err);

/* Steps of a node that are carried out once more at a time, at most. */
#define CS_AGAIN_MOST 32
/* A run of one node that is still under way: the steps of the plan to be carried out
 * once more, at most `most`, in order: suspicious cells, of each a neighbour with the
 * same GPU in its row and in its column, and control cells that nobody suspects.
 * Behind these a suspect's cell once more, where it is its only one.
 * Returns how many; -1 with `err`. */
int cs_cells_again(struct cs_run *run, uint32_t *step, int most,
		   struct cs_err *err);
/* A run of several nodes, each of which has looked again by itself: what all of them
 * together make suspicious, and nobody has looked at again.  Appends to `again`
 * (struct cs_again) in order of nodes. */
int cs_fleet_again(struct cs_run *run, struct cs_vec *again,
		   struct cs_err *err);

#endif
