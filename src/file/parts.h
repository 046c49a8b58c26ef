/* parts.h - parts of records, one file each. */
#pragma once

#include <jansson.h>

#include "file/encode.h"
#include "file/field.h"
#include "file/loaded.h"

/* choices.c.  The request, if single cells were requested; else NULL. */
json_t *cs_record_choices(const struct cs_choices *chosen);
/* A test by name, or an object with its variant and cell. */
void cs_decode_choice(const json_t *item, struct cs_choice *to);

/* gpu.c.  The GPUs in a node's record. */
json_t *cs_record_gpus(const struct cs_run *run, int node);
void cs_decode_gpus(struct cs_fields *f, const json_t *gpus, struct cs_run_node *nd);
json_t *cs_record_inventory(const struct cs_run_node *nd);
void cs_decode_inventory(struct cs_fields *f, struct cs_run_node *nd);

/* agent.c.  enum cs_via */
int cs_field_via(struct cs_fields *f);
json_t *cs_record_ways(const struct cs_run *run, int node);

/* names.c: the node and the agent that a record belongs to. */
/* The node that a record is of. */
int cs_node_named(const struct cs_loaded *to, struct cs_fields *f);
/* Index and label of an agent, as users know it. */
void cs_encode_label(struct cs_encoder *r, const struct cs_run *run, int node,
		     int agent);
/* "gpu3", "arena3": which agent of the node is called so? */
int cs_agent_named(const struct cs_loaded *to, int node, struct cs_fields *f,
		   const char *key);
