/* like.h - compares each cell with similar ones, in any run: how far it is from the
 * usual figure, and whether that is more than healthy cells differ.  It re-measures
 * and reports nothing: --check does that (cells.h).  Pure. */
#pragma once

#include "result/run.h"

/* GPUs of a node that are slow alike in a test, in one direction or both, at one rate where
 * the others have another. */
struct cs_slow_half {
	const struct cs_test *test; /* NULL: there are none */
	uint64_t bytes, gpus;	    /* of a copy; bits */
	uint32_t node;
	int sends, receives;
	double gbs, others_gbs;
};

/* By row of the run. */
struct cs_likeness {
	double *off; /* log of its ratio to its like; NAN not compared */
	char *slow;  /* slower than healthy ones differ */
	size_t n_compared, n_slow;
	size_t n_short;	     /* copies that are too small to compare, */
	uint64_t from_bytes; /* … for these alone are large enough */
	size_t n_unsure;     /* figures that do not suffice */
	size_t n_alone;	     /* fewer than three cells over such a link */
	double worst; /* the furthest from its like of those compared, a share */
	int is_apart; /* it is further than healthy ones, and noise, are */
	struct cs_slow_half half[CS_PATH_HOST]; /* by path, of what goes alone */
};

/* In the arena.  Copies by a CPU alone are not compared: other processes load it. */
struct cs_likeness cs_likeness_make(const struct cs_run *run);
