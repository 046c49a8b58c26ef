/* site.h - what nodes are, against what the site expects of them: facts that a baseline
 * has learnt of healthy ones, and what --expect says.  Pure. */
#ifndef CS_CHECK_SITE_H
#define CS_CHECK_SITE_H

#include "result/run.h"

/* Judge what nodes are by run->baseline and run->expected; without both nothing. */
int cs_site_judge(struct cs_run *run, struct cs_err *err);
/* By node: 1 where a baseline knows its class; malloc'ed, NULL also without one. */
char *cs_site_known(const struct cs_run *run);

#endif
