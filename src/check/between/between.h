/* between.h - judges figures between nodes (--check=outlier): whose network is slow, which
 * leaf's uplinks, which path.  Nobody is accused by first looks alone.
 *
 * Pure: same rows and facts, same findings in the same order. */
#pragma once

#include "check/between/looks.h"
#include "result/run.h"

/* Append the findings.  In an arena. */
void cs_between_judge(struct cs_run *run);
/* far.c: those of cards that are far from the memory, by cs_between_judge(). */
void cs_between_judge_far(struct cs_run *run);
/* A run whose first looks have come: the second looks that its suspects need, at most
 * `most`, and how many; 0 if they are not judged; -1 with `err`. */
int cs_between_again(struct cs_run *run, struct cs_look *look, size_t most,
		     struct cs_err *err);
