/* nics.h - a thread that reads the byte counters of the node's network devices: firmware
 * of a card that hangs does not stop the main thread. */
#pragma once

#include "system/system.h"

struct cs_nics;

/* Of the cards of a node, below `root`.  NULL: there is no thread, and nothing is counted. */
struct cs_nics *cs_nics_open(const char *root, const struct cs_node_facts *node);
/* Ask for the counters.  Then 0: not yet, 1: *out has them, or no device if they did not
 * come in that time; if they often do not, they are no longer read.  All may be called with
 * NULL. */
void cs_nics_ask(struct cs_nics *nics, double within_s);
int cs_nics_take(struct cs_nics *nics, struct cs_nics_bytes *out);
/* A thread that has not answered is left behind. */
void cs_nics_close(struct cs_nics *nics);
