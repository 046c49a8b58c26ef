/* names.h - the node and the agent that a record belongs to. */
#ifndef CS_FILE_NAMES_H
#define CS_FILE_NAMES_H

#include "file/encode.h"
#include "file/field.h"
#include "file/loaded.h"

/* The node that a record is of. */
int cs_node_named(const struct cs_loaded *to, struct cs_fields *f);
/* Index and label of an agent, as users know it. */
void cs_encode_label(struct cs_encoder *r, const struct cs_run *run, int node,
		     int agent);
/* "gpu3", "arena3": which agent of the node is called so? */
int cs_agent_named(const struct cs_loaded *to, int node, struct cs_fields *f,
		   const char *key);

#endif
