/* redact.h - a run without the names of its site: node1, GPU-1, job1, PATH.
 *
 * The same name always becomes the same word.  Bus ids, models and versions stay.
 * A live run is redacted piece by piece, before each is written. */
#pragma once

#include "result/run.h"

struct cs_redact {
	struct cs_vec names; /* names and their replacements */
	int n_gpus, n_boards, n_leaves;
	char **argv; /* the redacted run->argv */
	int argc;
};

void cs_redact_init(struct cs_redact *redact);
void cs_redact_release(struct cs_redact *redact);

/* Command line, job and id of a run, and that it is redacted.  `host` is this
 * process' own. */
int cs_redact_start(struct cs_redact *redact, struct cs_run *run, const char *host,
		    struct cs_err *err);
/* A node as it came: learns its names, then takes them away. */
int cs_redact_node(struct cs_redact *redact, struct cs_run *run, int node,
		   struct cs_err *err);
/* Texts with names in them: learn the nodes first. */
int cs_redact_row(const struct cs_redact *redact, struct cs_rows *rows, size_t i,
		  struct cs_err *err);
void cs_redact_findings(const struct cs_redact *redact, struct cs_run *run);
/* All of it; a run that is redacted already is left alone. */
int cs_redact_run(struct cs_redact *redact, struct cs_run *run, struct cs_err *err);
