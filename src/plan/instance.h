/* instance.h - one cell by a name of its own: ours,
 * "h2d.ce.pinned.pair/numa0/gpu1/256M", and those of Comm|Scope,
 * "Comm_cudaMemcpyAsync_PinnedToGPU/0/1/log2(N):28/manual_time". */
#pragma once

#include <regex.h>

#include "base/err.h"
#include "catalogue/alias.h"
#include "catalogue/choice.h"
#include "plan/plan.h"

#define CS_INSTANCE 160 /* characters of a name, with the 0 */
#define CS_NEAREST -1	/* the NUMA node next to the GPU */

struct cs_instance {
	uint32_t test; /* position in the catalogue */
	uint64_t bytes;
	struct cs_variant variant;
	int src, dst; /* numbers of GPUs or NUMA nodes, as the test has them */
	int numa; /* the NUMA node of the calling thread; CS_NEAREST: next to the GPU */
};

/* The cell of a transfer, with the numbers of GPUs from the settings. */
struct cs_settings;
struct cs_plan_matrix;
struct cs_transfer;
struct cs_instance cs_instance_of(const struct cs_settings *set,
				  const struct cs_plan_matrix *matrix,
				  const struct cs_transfer *t);

/* Our name. */
void cs_instance_name(const struct cs_instance *cell, char to[CS_INSTANCE]);
/* Comm|Scope's name, with `family`: the alias's name or its former one.  -1: the
 * alias does not mean that cell. */
int cs_instance_alias(const struct cs_instance *cell, const struct cs_alias *alias,
		      const char *family, char to[CS_INSTANCE]);

/* Parse a name of Comm|Scope, with or without its prefix, the size (a binary logarithm,
 * as 28 or log2(N):28) and the suffixes of Google Benchmark.  *alias is the alias that
 * it names; NULL: it names none, which is no error.  `to` has no test yet. */
int cs_instance_parse(const char *name, const struct cs_alias **alias,
		      struct cs_choice *to, struct cs_err *err);
/* Does the choice mean this cell?  Both directions of a pair of GPUs count. */
int cs_instance_is_of(const struct cs_instance *cell, const struct cs_choice *choice);

/* ---- filter.c ---- */

/* Selects cells by their names, with Google Benchmark's filter.
 *
 * The filter is a POSIX extended regular expression that must match a part of a name;
 * after a leading '-' it must match no name.  A cell has several names: ours and
 * Comm|Scope's. "" and "all" select every cell. */

struct cs_filter {
	regex_t expression;
	int is_open, negates, theirs;
};

/* Errors: it is not an expression, is too long, or would take for ever to compile. */
int cs_filter_open(struct cs_filter *filter, const struct cs_settings *set,
		   struct cs_err *err);
/* Does it match one of the cell's names? */
int cs_filter_fits(const struct cs_filter *filter, const struct cs_instance *cell);
/* … one of those of one alias? */
int cs_filter_fits_alias(const struct cs_filter *filter, const struct cs_alias *alias,
			 const struct cs_instance *cell);
/* Is a step selected, if the filter matches one of its cells (`fits`), or none? */
int cs_filter_takes(const struct cs_filter *filter, int fits);
void cs_filter_close(struct cs_filter *filter);
