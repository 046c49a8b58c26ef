/* learn.h - makes a baseline from runs of healthy nodes.  Pure. */
#ifndef CS_CHECK_LEARN_H
#define CS_CHECK_LEARN_H

#include "check/bounds/baseline.h"

/* From runs, each counted once however often it is there.  Cells that failed, were
 * flagged or are controls are passed over.  Errors: no memory; a run of a plan file,
 * whose steps are its own, or without names of hosts; nothing was measured: `which`
 * is set to the run, or to n. */
int cs_baseline_learn(const struct cs_run *const *runs, size_t n,
		      struct cs_baseline *out, size_t *which, struct cs_err *err);

#endif
