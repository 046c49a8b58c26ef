/* internal.h - what the records of a run share, and the parts of a node's record. */
#ifndef CS_FILE_INTERNAL_H
#define CS_FILE_INTERNAL_H

#include "file/field.h"
#include "file/loaded.h"
#include "file/encode.h"

/* ---- names.c ---- */

/* Room for that many nodes, of which nothing is known.  0 or -1. */
int cs_loaded_nodes(struct cs_loaded *to, int n, struct cs_err *err);
void cs_loaded_free_nodes(struct cs_loaded *to);
/* The node that a record is of; -1 with the error. */
int cs_node_named(const struct cs_loaded *to, struct cs_fields *f);
/* Index and label of an agent: what users see. */
void cs_encode_label(struct cs_encoder *r, const struct cs_run *run, int node,
		     int agent);
/* "gpu3", "arena3": which agent of the node is called so?  0 with the error. */
int cs_agent_named(const struct cs_loaded *to, int node, struct cs_fields *f,
		   const char *key);

/* ---- others ---- */

/* choices.c.  What was asked for, where that was single cells; NULL: it was not. */
json_t *cs_record_choices(const struct cs_choices *chosen);
/* A test by name, or an object that says more of it. */
int cs_decode_choice(const json_t *item, struct cs_choice *to, struct cs_err *err);

/* gpu.c.  What of a node's GPUs is put into its record, and taken of it. */
json_t *cs_record_gpus(const struct cs_run *run, int node);
int cs_decode_gpus(struct cs_fields *f, const json_t *gpus, struct cs_run_node *nd);
json_t *cs_record_inventory(const struct cs_run_node *nd);
int cs_decode_inventory(struct cs_fields *f, struct cs_run_node *nd);

/* agent.c.  enum cs_via */
int cs_field_via(struct cs_fields *f);
json_t *cs_record_ways(const struct cs_run *run, int node);

#endif
