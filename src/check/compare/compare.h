/* compare.h - is B faster than A, slower, or the same?  Pure functions.
 *
 * A side is one of the two things that are compared, in one metric of one cell.  A
 * block is an uninterrupted measurement of it: one turn of ABBA (plan/turns.h) or one
 * run of the program.  Samples within a block are closer to each other than blocks
 * are, so blocks are counted, not samples:
 *
 *	log sample -> median of a block -> mean of the blocks of a side
 *
 *	variance of a side = max(S, W) / blocks
 *	    S  of its block medians
 *	    W  of one block median, by bootstrap of its samples
 *	d = side B - side A, 95 % interval: d -/+ t sqrt(variance A + variance B)
 *
 * Logarithms are used so that exchanging the sides only changes the sign.  W is a
 * minimum, because samples do not become more precise if blocks agree by chance.
 *
 * Turns are compared in pairs: the n-th of A with the n-th of B, which is its
 * neighbour. A change from one pair to the next affects both.
 *
 *	d = mean of B - A; variance = max(S of these, W of A and B) / pairs
 *
 * A drift from turn to turn cancels in d, because each side is first equally often.
 * It stays in S: removing it as well, by the order within pairs, also removes
 * occasional disturbances, and then equal sides were called different
 * (tests/bench/truth_compare).
 *
 * Nothing is resampled.  W is the bootstrap in closed form (base/statistics.h).  The
 * bootstrap over blocks has one too, for a mean: S (n-1)/n / n (Efron and
 * Tibshirani, An Introduction to the Bootstrap, 1993, 5.3).  For few blocks that
 * is too narrow, and so are its percentiles: what they call 95 % holds the truth
 * in 66 % with two blocks a side, 86 % with four, 91 % with eight (simulated; for
 * the reason see Hesterberg, Am. Stat. 69 (2015) 371).  So S is taken whole, with
 * Student's t and Welch's degrees of freedom (Biometrika 34 (1947) 28).
 *
 * A side of one block does not show how blocks differ.  S then comes from a baseline,
 * else from the blocks of the other side; with neither, interval and verdict are
 * about these two blocks, not about the sides.
 *
 * If all blocks of one side were before those of the other, a drift of the machine is a
 * difference of the sides.  Its slope is that within the sides, by least squares; where
 * it is not 0 at 95 %, a verdict must also hold without it.
 *
 * A margin m is a factor 1 + m either way. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/statistics.h"

enum cs_verdict {
	CS_VERDICT_NONE,      /* not compared: the reason is in flags */
	CS_VERDICT_SAME,      /* the whole interval lies within the margin */
	CS_VERDICT_FASTER,    /* B is better: it lies wholly beyond */
	CS_VERDICT_SLOWER,    /* B is worse */
	CS_VERDICT_UNDECIDED, /* neither: noise, or too close to the margin */
	CS_VERDICT_MIXED,     /* of a matrix: faster here and slower there */
	CS_VERDICT_DIFFERS,   /* wholly beyond, of these two blocks alone */
	CS_VERDICTS
};

/* The spread of blocks is unknown: the verdict is about these two only. */
#define CS_COMPARE_ONE_BLOCK 1u
#define CS_COMPARE_NO_SAMPLES 2u	/* a side has none */
#define CS_COMPARE_NO_RATIO 4u	/* a sample not above 0, or not finite */
#define CS_COMPARE_FAMILY 8u	/* different by itself, not among all cells */
#define CS_COMPARE_KNOWN 16u	/* how blocks differ was known before */
#define CS_COMPARE_SHARED 32u	/* ... is taken from the side with several */
#define CS_COMPARE_DRIFT 64u	/* decided, but for how blocks drift */

struct cs_block {
	const double *samples;
	size_t n; /* 0: measured nothing, passed over */
};

struct cs_side {
	const struct cs_block *blocks;
	size_t n;
};

struct cs_compare_how {
	double margin;		 /* 0.01: 1 % */
	int low_is_better;	 /* times, memory; not rates */
	struct cs_spread blocks; /* for sides of one block */
	int paired;		 /* block i of A and of B are neighbouring turns */
	/* of each block of a side its place in the order of all in time, where those of
	 * one side are all before those of the other; NULL: they are not */
	const uint32_t *when[2];
};

struct cs_comparison {
	double a, b;	   /* of each side: mean (of logs) of block medians */
	double difference; /* b / a - 1 */
	double low, high;  /* its 95 % interval; NAN unknown */
	double p;	   /* of such a difference between equal sides */
	double drift;  /* the difference that equal sides would have as blocks drift;
				 * 0: they do not, or it is not known */
	double spread; /* standard deviation of the blocks of a side, as a
				 * share; NAN unknown, or of no use as they are pairs */
	uint32_t blocks_a, blocks_b; /* with samples */
	uint32_t verdict, flags;     /* enum cs_verdict, CS_COMPARE_... */
};

#define CS_MARGIN 0.01		/* --margin unless given */

/* Compare two sides.  Where every sample of both is 0 they are the same; any other
 * 0 has no ratio.  One sample in all on a side: UNDECIDED, without an interval.
 * In an arena; a margin that is negative or not finite ends its work. */
struct cs_comparison cs_compare(const struct cs_side *a, const struct cs_side *b,
				const struct cs_compare_how *how);

#define CS_COMPARE_WORST 5
struct cs_compare_sum {
	uint32_t verdict;			 /* enum cs_verdict */
	uint32_t count[CS_VERDICTS];		 /* cells of each */
	size_t worst[CS_COMPARE_WORST], n_worst; /* cells[], gravest first */
};

/* The verdict of a matrix, over the cells of one metric: FASTER, SLOWER or MIXED if a
 * cell is different, else DIFFERS or UNDECIDED if one is, else SAME; NONE if nothing was
 * compared.  `worst` are the cells that decide it, those whose interval reaches furthest
 * first.
 *
 * 56 cells at 95 % each would call equal sides different in most matrices.  So a cell
 * stays different only if Holm's procedure over all compared cells (Scand. J. Stat. 6
 * (1979) 65) rejects "no difference" at 1 %; otherwise it becomes UNDECIDED, flagged
 * FAMILY.  Equal sides are then called different in at most 5 % of matrices, even if
 * one is much more restless than the other.  SAME needs no correction, for all cells
 * must be (Berger, Technometrics 24 (1982) 295). */
struct cs_compare_sum cs_compare_cells(struct cs_comparison *cells, size_t n);

/* How many blocks a side needs for a verdict, as these cells differ from block to block:
 * that many that equal sides are the same within the margin in nearly all cells.  At
 * least 3, because the spread of 2 is hardly known.  0: unknown, or no number is
 * enough. */
uint32_t cs_compare_needed(const struct cs_comparison *cells, size_t n, double margin);

const char *cs_verdict_text(int verdict); /* "same", "faster", ... */
