/* versus.h - how a comparison of two sides is shown: side by side as text, as one
 * JSON object, as CSV with a line for each cell. */
#ifndef CS_REPORT_TEXT_VERSUS_H
#define CS_REPORT_TEXT_VERSUS_H

#include <stdio.h>

#include "check/compare/versus.h"

/* Above the first of some: what no figure of theirs may be read without. */
void cs_versus_head(FILE *to, const struct cs_versus *versus);
/* What differs around the figures; a line for each matrix, worst cells below it, all
 * of them when `verbose`; what has no partner. */
void cs_versus_print(FILE *to, const struct cs_versus *versus, int verbose);
/* Say each condition that the figures may not be read without: in text and on a page. */
void cs_versus_caveats(const struct cs_versus *versus,
		       void (*say)(void *to, const char *text), void *to);
/* One sentence: what follows from all of it. */
void cs_versus_conclude(const struct cs_versus *versus, char *to, size_t size);
/* v[0..n), at least one: the record, or several as an array; one table; a page (html/).
 * Each returns 0, or -1 with errno when the stream failed or memory is short. */
int cs_versus_json(FILE *to, const struct cs_versus *v, size_t n);
int cs_versus_html(FILE *to, const struct cs_versus *v, size_t n);
int cs_versus_csv(FILE *to, const struct cs_versus *v, size_t n);

#endif
