/* loaded.h - the contents of a file: the run, and everything that it points to. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "result/run.h"

/* Limits of a file's contents: 2 GiB of rows, 512 MiB of samples, 180 MiB. */
#define CS_ROWS_MOST ((size_t)1 << 22)
#define CS_SAMPLES_MOST ((size_t)1 << 26)
#define CS_FINDINGS_MOST ((size_t)1 << 17)

struct cs_loaded {
	struct cs_run run; /* owns all that it points to, through this */
	void *texts;	   /* of run and program; JSON */
	char **argv;
	struct cs_choices *chosen;
	int *agents_seen; /* by node */
	int is_journal, has_verdict;
	char unknown[128]; /* tests that this version does not know: left out; "" none */
	size_t whole_bytes; /* of a journal: up to the end of its last line */
};

/* Once, before several threads read at the same time. */
void cs_loaded_begin(void);
/* Does this thread read from now on?  JSON is in scopes then (base/arena.h). */
void cs_loaded_reading(int reads);
/* A copy of the record, as long-lived as the run: texts of the run are in it. */
const struct json_t *cs_loaded_keep(struct cs_loaded *to, const struct json_t *record);
/* The test of that name.  -1: this version does not know it, which is noted. */
int cs_loaded_test(struct cs_loaded *to, const char *name);
/* Room for that many unknown nodes.  0 or -1. */
int cs_loaded_nodes(struct cs_loaded *to, int n, struct cs_err *err);
void cs_loaded_release(struct cs_loaded *loaded);
