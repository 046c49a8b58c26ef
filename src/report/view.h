/* view.h - for all views: the page, folded lines, lists, and texts, streams and grids in
 * the arena of the view.  Only report/ includes it. */
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "report/report.h"
#include "result/grid.h"

/* The longest line that this thread prints; may it use colours? */
int cs_columns(void);
int cs_is_coloured(void);
#define CS_MEASURED_WITH_DOUBLE \
	"VIRTUAL CLOCK: times come from a test double of the driver"

/* After how many findings there are: what to do with the ids in brackets. */
#define CS_EXPLAINS_FINDINGS "; --explain ID explains an [ID]"

/* Digits after the point of a test's figures. */
int cs_decimals(const struct cs_test *test);

/* ---- in the arena ---- */

/* Without a GPU, the mask that may hide them: "CUDA_VISIBLE_DEVICES=9 is set: …"; "". */
const char *cs_mask_text(const struct cs_run *run);
/* "512 MiB"; when a run began. */
const char *cs_new_size(uint64_t bytes);
const char *cs_new_start(const struct cs_run *run);
/* "n[0101-0112],x3": the hosts of nodes[0..n), in `size` characters at most; "none" of
 * none. */
char *cs_hosts_text(const struct cs_run *run, const int *nodes, size_t n, size_t size);

/* A stream that becomes a text. */
struct cs_draft {
	FILE *to;
	char *text; /* once it has ended */
	size_t n;
};
struct cs_draft *cs_draft_begin(void);
const char *cs_draft_end(struct cs_draft *draft);

/* One line, folded at blanks to CS_COLUMNS: `first` blanks before it, `rest`
 * before its other lines.  Clean, as base/print.h has it. */
void cs_fold(FILE *to, int first, int rest, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Samples that were checked: every byte of every copy (whole); a part of the last copy, in
 * host memory (part); the others all of the last copy, also one into each place that a
 * kernel goes through. */
struct cs_checked {
	uint64_t samples, whole, part;
};
void cs_checked_add(struct cs_checked *sum, const struct cs_row *row);
/* "every copy of 14, the last copy of 168", "the last copy of each"; "" of none. */
const char *cs_checked_text(const struct cs_checked *sum);

/* The run of a view, the turns of a cell as one (result/pool.h) unless the format is of
 * turns; the same run as it was measured. */
struct cs_view {
	const struct cs_run *run, *turns;
	const struct cs_view_options *opt;
};
/* The view of a run, its turns as one. */
const struct cs_view *cs_view_pooled(const struct cs_run *run,
				     const struct cs_view_options *opt);

/* ---- findings in groups, for views that people read ---- */

/* Findings with the same text: finding[0..n), in order of nodes as the run has
 * them. */
struct cs_group {
	const struct cs_finding *const *finding;
	size_t n;
};

/* A list of struct cs_group in the arena: worst first; of equal ones those that drain
 * nodes, then those of the job, then by the first node. */
struct cs_vec cs_groups_make(const struct cs_run *run);

/* "n[001-012]: ", cut to `most` characters (0: whole); "" of the job.  In the arena. */
const char *cs_group_hosts(const struct cs_run *run, const struct cs_group *group,
			   size_t most);
/* "note", "warning", "critical" */
const char *cs_severity_text(uint32_t severity);

/* ---- the functions of the formats ---- */

typedef void cs_view_fn(FILE *to, const struct cs_view *view);

cs_view_fn cs_text_write;
#define FORMAT(name, write, about, ...) cs_view_fn write;
#define FORMAT_FILE(name, ending, write, about, ...) cs_view_fn write;
#include "report/formats.def"
#undef FORMAT
#undef FORMAT_FILE
