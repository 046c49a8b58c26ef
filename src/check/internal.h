/* internal.h - what the files of check/ share; nobody else includes it. */
#ifndef CS_CHECK_INTERNAL_H
#define CS_CHECK_INTERNAL_H

#include "check/check.h"

/* Append a judgement with that text. */
int cs_judge(struct cs_run *run, struct cs_finding finding, const char *text,
	     struct cs_err *err);

/* What an agent of this run is: "GPU", "arena". */
const char *cs_check_agent_word(const struct cs_run *run);

/* launch.c: GPUs that are not where they should be, on every run; what the way a
 * job was started costs it, under --check=launch. */
int cs_check_launch(struct cs_run *run, int node, struct cs_err *err);

#endif
