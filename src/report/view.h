/* view.h - what the views share: the page, folded lines, lists of hosts, joined
 * turns. Only report/ includes it. */
#ifndef CS_REPORT_VIEW_H
#define CS_REPORT_VIEW_H

#include <stdio.h>

#include "result/run.h"

/* Longest line of what this thread prints; may colours be used? */
int cs_columns(void);
int cs_is_coloured(void);
#define CS_MEASURED_WITH_DOUBLE \
	"VIRTUAL CLOCK: times come from a test double of the driver"

/* Digits behind the point of a test's figures. */
int cs_decimals(const struct cs_test *test);
/* Without a GPU, the mask that may hide them: "CUDA_VISIBLE_DEVICES=9 is set: …"; "". */
void cs_mask_text(const struct cs_run *run, char *to, size_t size);
/* "n[0101-0112],x3": the hosts of nodes[0..n). */
void cs_hosts_text(const struct cs_run *run, const int *nodes, size_t n, char *to,
		   size_t size);

/* One line, folded at blanks to CS_COLUMNS: `first` blanks before it, `rest`
 * before what is folded.  Clean, as base/print.h has it. */
void cs_fold(FILE *to, int first, int rest, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* What was checked of how many samples: every byte of every copy; a part of the copy
 * that was written last, in host memory; else all of the last, also one into each
 * place that a kernel goes through. */
struct cs_checked {
	uint64_t samples, whole, part;
};
void cs_checked_add(struct cs_checked *sum, const struct cs_row *row);
/* "every copy of 14, the last copy of 168", "the last copy of each"; "" of none. */
void cs_checked_text(const struct cs_checked *sum, char *to, size_t size);

/* What a view is of: the run, the turns of a cell as one (result/pool.h) unless the
 * format is of turns, and as it was measured. */
struct cs_view {
	const struct cs_run *run, *turns;
	const struct cs_view_options *opt;
};
/* By a view whose cells have their turns as one.  -1 with errno. */
int cs_write_pooled(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt,
		    int (*write)(FILE *to, const struct cs_view *view));

#endif
