/* expected.h - the expected fields of a node's fingerprint and their values, learnt
 * from healthy nodes or given by --expect.  Pure. */
#pragma once

#include "check/fleet/fact.h"
#include "check/fleet/fingerprint.h"

/* "gpus=8,nics=8,pcie=5x16,nvlinks=18,driver=any": appends to `to`; of
 * "min-share=85%", which is about cells, *min_share, else left as it is.  Errors: a
 * field that no fingerprint has, no value. */
int cs_expected_parse(const char *list, struct cs_vec *to, double *min_share,
		      struct cs_err *err);
/* Learn the traits of most of n nodes; `traits`: one array for all nodes, those of the i-th
 * from first[i] to first[i + 1].  Appends; the launch is no part of a
 * machine. */
void cs_expected_learn(const struct cs_vec *traits, const size_t *first, size_t n,
		       uint32_t class, struct cs_vec *to);

/* Findings of one node: expected[0..n), and run->expected, which goes before.  In an
 * arena. */
void cs_expected_judge(struct cs_run *run, int node,
		       const struct cs_site_fact *expected, size_t n);
