/* vote.h - finds the nodes that differ from the others of their class.  Pure.
 *
 * Nodes are first sorted into classes, by product and by the most frequent model of
 * their GPUs (class.h), so that only equal machines are compared.  Within a class the
 * nodes vote on each field of the fingerprint.  A value that more than half of the nodes
 * with a known value have is the usual one.  Nodes with another value are reported with
 * both.  Without such a majority no node is reported.  In a class of one, and on a node
 * alone, the GPUs of the node vote in the same way (within.c), if their class is in no
 * baseline. */
#pragma once

#include "result/run.h"

/* Nodes that were built with other numbers of GPUs are no remainders of larger ones:
 * so are those that `known` marks (by node, NULL none), all where --expect waives
 * their number, and where two nodes have it that is 2, 4, 8 or 16.
 *
 * Appends what the vote finds: nodes in their order, each by layer and field; then
 * what no part can be reported for.  Comes last: it leaves out
 * what other findings of a part cover with more detail.  In an arena. */
void cs_vote_judge(struct cs_run *run, const char *known);
