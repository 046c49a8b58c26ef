/* leaves.h - the leaf switch of each node, by a file in the form of Slurm's topology.conf:
 *
 *	SwitchName=leaf1 Nodes=gpu[001-016]
 *	SwitchName=spine Switches=leaf[1-8]
 */
#pragma once

#include "base/facts.h"
#include "base/vec.h"

struct cs_leaf {
	char host[CS_HOST], leaf[CS_HOST];
};

/* The leaves in it, by host, to a vector of struct cs_leaf; errors have `name` and line. */
int cs_leaves_read(struct cs_vec *leaves, const char *text, const char *name,
		   struct cs_err *err);
/* Set the leaf of a node that is among them. */
void cs_leaves_apply(const struct cs_vec *leaves, struct cs_node_facts *node);
