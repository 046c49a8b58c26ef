/* vote.h - which nodes are not like the others of their kind.  Pure.
 *
 * Nodes are sorted into classes first, by product and by the model that most of their
 * GPUs have (class.h): nobody is compared with another machine.  Within a class each field of
 * the fingerprint is voted on.  A value that more than half of the nodes have that
 * know the field is the usual one; who has another is named with both.  Without such
 * a majority, and in a class of one, nothing is reported. */
#ifndef CS_CHECK_VOTE_H
#define CS_CHECK_VOTE_H

#include "result/run.h"

/* Nodes that were built with other numbers of GPUs are no remainders of larger ones: so
 * are those that `known` marks (by node, NULL none), all where --expect waives their
 * number, and where two nodes have it that is 2, 4, 8 or 16.
 *
 * Appends what the vote finds: nodes in their order, each by layer and field; then
 * what no part can be reported for.  Comes last: what findings say already of a part, with
 * more than that it differs, is not said again.  -1: no memory. */
int cs_vote_judge(struct cs_run *run, const char *known, struct cs_err *err);

#endif
