/* record.h - the records of the JSON document and of JSONL: one builder per kind,
 * so that both, and CSV, say the same.  Unknown is null, never 0.
 *
 * Each returns a new reference, or NULL without memory. */
#ifndef CS_FILE_RECORD_H
#define CS_FILE_RECORD_H

#include <jansson.h>

#include "base/units.h"
#include "check/versus.h"
#include "result/run.h"

#define CS_SCHEMA "cscope-mpi/1"
#define CS_JSON_FLAGS                                                             \
	(JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(CS_DIGITS))

/* A text of any bytes: what is no UTF-8 is '?'. */
json_t *cs_record_text(const char *text);
json_t *cs_record_program(const struct cs_run *run);
/* What is known at the start; the verdict's fields too when `whole`. */
json_t *cs_record_run(const struct cs_run *run, int whole);
json_t *cs_record_verdict(const struct cs_run *run);
json_t *cs_record_node(const struct cs_run *run, int node);
json_t *cs_record_agent(const struct cs_run *run, int node, int agent);
json_t *cs_record_matrix(const struct cs_run *run, int node, uint32_t view);
/* Without the samples when `samples` is NULL. */
json_t *cs_record_row(const struct cs_run *run, const struct cs_row *row,
		      const double *samples);
json_t *cs_record_finding(const struct cs_run *run,
			  const struct cs_finding *finding);
/* A comparison, and one of its cells. */
json_t *cs_record_versus(const struct cs_versus *versus);
json_t *cs_record_versus_cell(const struct cs_versus *versus,
			      const struct cs_versus_matrix *matrix,
			      const struct cs_versus_cell *cell);

#endif
