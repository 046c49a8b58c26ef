/* versus.h - how a comparison of two sides is shown: side by side as text, as one
 * JSON object, as CSV with a line for each cell. */
#ifndef CS_REPORT_TEXT_VERSUS_H
#define CS_REPORT_TEXT_VERSUS_H

#include <stdio.h>

#include "check/compare/versus.h"

/* Above the first of some: what no figure of theirs may be read without. */
void cs_versus_head(FILE *to, const struct cs_versus *versus);
/* The answer; what differs around the figures; a line for each matrix, worst cells below it, all
 * of them when `verbose`; what has no partner. */
void cs_versus_print(FILE *to, const struct cs_versus *versus, int verbose);
/* What text and page say of a comparison, a call of `say` for each: whose figures they are
 * not, of all that are shown; the conditions that they may not be read without; and which
 * cells have no partner. */
void cs_versus_notices(const struct cs_versus *versus,
		       void (*say)(void *to, const char *text), void *to);
void cs_versus_caveats(const struct cs_versus *versus,
		       void (*say)(void *to, const char *text), void *to);
void cs_versus_remarks(const struct cs_versus *versus,
		       void (*say)(void *to, const char *text), void *to);
/* v[0..n), at least one: the record, or several as an array; one table; a page (html/).
 * Each returns 0, or -1 with errno when the stream failed or memory is short. */
int cs_versus_json(FILE *to, const struct cs_versus *v, size_t n);
int cs_versus_html(FILE *to, const struct cs_versus *v, size_t n);
int cs_versus_csv(FILE *to, const struct cs_versus *v, size_t n);

#endif
