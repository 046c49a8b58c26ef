/* take.h - what record.h builds, back into a run: one taker per kind of record.
 *
 * Each leaves its record alone and returns 0, or -1 with what is wrong and what is
 * allowed.  Whatever a record
 * says, the run stays sound: every index in it may be used. */
#ifndef CS_FILE_TAKE_H
#define CS_FILE_TAKE_H

#include <jansson.h>

#include "file/loaded.h"

/* "cscope-mpi/1", and later ones of the same major version. */
int cs_take_schema(struct cs_loaded *to, json_t *value, struct cs_err *err);
/* The run as it begins, with an empty node for each of its nodes.  In a journal
 * that is continued it takes the place of the earlier one. */
int cs_take_run(struct cs_loaded *to, json_t *record, struct cs_err *err);
int cs_take_program(struct cs_loaded *to, json_t *record, struct cs_err *err);
/* What is known at the end. */
int cs_take_end(struct cs_loaded *to, json_t *record, struct cs_err *err);
/* Replaces what was known of that node, its agents too. */
int cs_take_node(struct cs_loaded *to, json_t *record, struct cs_err *err);
/* The next agent of its node, which has come before. */
int cs_take_agent(struct cs_loaded *to, json_t *record, struct cs_err *err);
/* The ways of a node, when its agents are known. */
int cs_take_peers(struct cs_loaded *to, json_t *node, struct cs_err *err);
int cs_take_row(struct cs_loaded *to, json_t *record, struct cs_err *err);
/* What went wrong; what was judged. */
int cs_take_error(struct cs_loaded *to, json_t *record, struct cs_err *err);
int cs_take_check(struct cs_loaded *to, json_t *record, struct cs_err *err);

#endif
