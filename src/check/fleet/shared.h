/* shared.h - what some nodes of a fleet have in common, and none of the others has.  Pure. */
#ifndef CS_CHECK_SHARED_H
#define CS_CHECK_SHARED_H

#include "result/run.h"

enum cs_side { CS_SIDE_NONE, CS_SIDE_THEIRS, CS_SIDE_OTHERS };

/* "driver 550.54.14, vbios 96.00.A5.00.01 of GPUs 0-7": traits (fingerprint.h) that all
 * nodes of one side have, known on most of the other side and the same on none of it; ""
 * none.  side: enum cs_side, by node, with one of theirs at least. */
void cs_shared_text(const struct cs_run *run, const char *side, char *to, size_t size);

#endif
