/* document.h - a run as one JSON object, always complete, and as JSON lines, written while
 * it runs. */
#pragma once

#include <stdio.h>

#include "result/run.h"

/* In an arena. */
void cs_json_write(FILE *to, const struct cs_run *run);
/* Reads all of one.  0: there are more objects, so it is a journal. */
struct cs_reader;
int cs_json_read(struct cs_reader *r);
/* The JSON library's release. */
const char *cs_json_library(void);

/* ---- journal.c ---- */

/* Single records: `run` (with plan and settings), `node` (with its agents and ways),
 * `result`, `error` (a finding), `verdict`.  Each is one line, ended by '\n'. */
int cs_jsonl_run(FILE *to, const struct cs_run *run);
int cs_jsonl_node(FILE *to, const struct cs_run *run, int node);
int cs_jsonl_row(FILE *to, const struct cs_run *run, size_t row);
int cs_jsonl_finding(FILE *to, const struct cs_run *run, size_t finding);
int cs_jsonl_verdict(FILE *to, const struct cs_run *run);
/* All of them, of a run that has ended; in an arena. */
void cs_jsonl_write(FILE *to, const struct cs_run *run);

/* Reads all lines. */
void cs_jsonl_read(struct cs_reader *r);
