/* record.h - the records of documents and journals.  For each kind one file has the
 * function that builds the record and the one that takes it back into a run;
 * document, journal and CSV have the same contents.
 *
 * A builder returns a new reference, or NULL without memory.  A taker does not change its
 * record; a wrong one ends the work of the arena (file/field.h).  The run stays valid for
 * any contents of a record: every index in it may be used. */
#pragma once

#include <jansson.h>

#include "base/arena.h"
#include "base/fieldset.h"
#include "check/compare/versus.h"
#include "check/model/model.h"
#include "check/verdict/action.h"
#include "file/encode.h"
#include "file/field.h"
#include "file/loaded.h"
#include "file/plain.h"

#define CS_SCHEMA "cscope-mpi/1"

/* "cscope-mpi/1", and later ones of the same major version. */
void cs_decode_schema(struct cs_loaded *to, json_t *value);

/* run.c */
json_t *cs_record_program(const struct cs_run *run);
void cs_decode_program(struct cs_loaded *to, json_t *record);
/* The run at its start; the verdict's fields too if `whole`. */
json_t *cs_record_run(const struct cs_run *run, int whole);
/* The run as it begins, with an empty node for each of its nodes.  In a journal
 * that is continued it takes the place of the earlier one. */
void cs_decode_run(struct cs_loaded *to, json_t *record);
/* The run at its end. */
json_t *cs_record_verdict(const struct cs_run *run);
void cs_decode_end(struct cs_loaded *to, json_t *record);

/* node.c */
json_t *cs_record_node(const struct cs_run *run, int node);
/* Replaces the node, its agents too. */
void cs_decode_node(struct cs_loaded *to, json_t *record);

/* agent.c */
json_t *cs_record_agent(const struct cs_run *run, int node, int agent);
/* The next agent of its node, which has come before. */
void cs_decode_agent(struct cs_loaded *to, json_t *record);
/* The ways of a node, when its agents are known. */
void cs_decode_peers(struct cs_loaded *to, json_t *record);

/* row.c.  Without the samples when `samples` is NULL. */
void cs_encode_row(struct cs_encoder *r, const struct cs_run *run,
		   const struct cs_row *row, const double *samples);
/* The i-th of the run as its files have it. */
void cs_encode_result(struct cs_encoder *r, const struct cs_run *run, size_t i);
void cs_decode_row(struct cs_loaded *to, json_t *record);

/* action.c */
json_t *cs_record_action(const struct cs_run *run, const struct cs_action *action);

/* finding.c */
/* "no", "confirmed", "not-seen", "inconclusive"; "" of one that rests on no
 * figure. */
const char *cs_remeasured_word(const struct cs_finding *finding);
json_t *cs_record_finding(const struct cs_run *run, const struct cs_finding *finding);
/* An error; a judgement. */
void cs_decode_error(struct cs_loaded *to, json_t *record);
void cs_decode_check(struct cs_loaded *to, json_t *record);

/* Records that are not read back, because they follow from the others.  matrix.c */
json_t *cs_record_matrix(const struct cs_run *run, int node, uint32_t index);
/* model.c: alpha and beta of a cell of a sweep. */
struct cs_encoder cs_encode_fit(const struct cs_sweep *sweep, size_t cell);
/* A memory of a GPU or of cores. */
struct cs_level;
struct cs_encoder cs_encode_level(const struct cs_level *level);
struct cs_product;
struct cs_encoder cs_encode_product(const struct cs_product *product);
/* How long the program of --model takes. */
json_t *cs_record_workload(const struct cs_run *run);
/* versus.c: a comparison, and one of its cells. */
json_t *cs_record_versus(const struct cs_versus *versus);
struct cs_encoder cs_encode_versus_cell(const struct cs_versus *versus,
					const struct cs_versus_matrix *matrix,
					const struct cs_versus_cell *cell);

/* ---- code.c: the fields of a fieldset to JSON and back ---- */

void cs_encode(struct cs_encoder *to, const struct cs_fieldset *set, const void *of);
/* Absent and null values stay as they were; wrong ones are refused. */
void cs_decode(struct cs_fields *from, const struct cs_fieldset *set, void *of);

/* Append the fields to a record, which may be NULL; NULL without memory. */
json_t *cs_json_with(const struct cs_fieldset *set, const void *of, json_t *record);
/* An array of n structs, as objects. */
json_t *cs_encode_array(const struct cs_fieldset *set, const void *of, int n);
/* At most that many of them, each unknown at first: how many. */
int cs_decode_array(struct cs_fields *from, const char *key,
		    const struct cs_fieldset *set, void *of, int most);

/* ---- parts of records, for files of this folder ---- */

/* gpu.c.  The GPUs in a node's record. */
json_t *cs_record_gpus(const struct cs_run *run, int node);
void cs_decode_gpus(struct cs_fields *f, const json_t *gpus, struct cs_run_node *nd);
json_t *cs_record_inventory(const struct cs_run_node *nd);
void cs_decode_inventory(struct cs_fields *f, struct cs_run_node *nd);

/* agent.c.  enum cs_via */
int cs_field_via(struct cs_fields *f);
json_t *cs_record_ways(const struct cs_run *run, int node);

/* agent.c.  The node that a record is of. */
int cs_node_named(const struct cs_loaded *to, struct cs_fields *f);
/* Index and label of an agent, as users know it. */
void cs_encode_label(struct cs_encoder *r, const struct cs_run *run, int node,
		     int agent);
/* "gpu3", "arena3": which agent of the node is called so? */
int cs_agent_named(const struct cs_loaded *to, int node, struct cs_fields *f,
		   const char *key);
