/* site.h - compares nodes with what the site expects: facts of healthy nodes from a
 * baseline, and --expect.  Pure. */
#ifndef CS_CHECK_SITE_H
#define CS_CHECK_SITE_H

#include "result/run.h"

/* Judge what nodes are by run->baseline and run->expected; without both nothing. */
void cs_site_judge(struct cs_run *run);
/* By node: 1 if a baseline knows its class; in the arena. */
const char *cs_site_known(const struct cs_run *run);

#endif
