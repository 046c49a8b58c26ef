/* turns.h - the order in which two or more placements take
 * turns at the same cells, so that time favours none of them.
 *
 * A visit of a cell is a row of a Williams square (Aust. J. Chem. 2 (1949) 149) and
 * the same row backwards: each placement comes twice, at positions with the same sum, so
 * that a steady drift cancels.  For two placements that is ABBA or BAAB, for three ABCCBA,
 * BCAACB or CABBAC with randomly assigned names.  Among k visits of a cell with k
 * placements, each placement is first once and follows every other equally often, in an order
 * that is drawn for each cell.  So a disturbance of every second turn, or of every
 * visit, affects all placements of a cell equally, and one with another period affects
 * them by chance. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"

struct cs_turn {
	uint32_t cell, placement;
};

struct cs_turns {
	uint32_t cells, placements; /* at least 1 of each */
	uint32_t visits; /* of each cell; a visit has 2 blocks of each placement */
};

/* Enough for a verdict (check/compare/compare.h): 8 pairs of neighbouring turns. */
#define CS_TURNS_VISITS 4

/* cells x visits x 2 placements; 0 if that is more than memory holds. */
size_t cs_turns_count(const struct cs_turns *turns);

/* Write the turns in order: all cells in shuffled order, once for each visit,
 * shuffled anew each time.  Same seed, same order. Errors: no cell or no placement, too
 * many, no memory. */
int cs_turns_order(const struct cs_turns *turns, struct cs_rng *rng,
		   struct cs_turn *order, struct cs_err *err);
