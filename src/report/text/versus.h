/* versus.h - the views of a comparison of two sides: side by side as text, as one JSON
 * object, as CSV with a line for each cell, as a page. */
#ifndef CS_REPORT_TEXT_VERSUS_H
#define CS_REPORT_TEXT_VERSUS_H

#include <stdio.h>

#include "check/compare/versus.h"

/* page.c.  v[0..n), at least one, in a format: "text", "json" (several as an array), "csv", "html".
 * 0, or -1 with errno: the stream failed, or ENOMEM.  It calls the others. */
int cs_versus_write(FILE *to, const char *format, const struct cs_versus *v, size_t n,
		    int verbose);
void cs_versus_text(FILE *to, const struct cs_versus *v, size_t n, int verbose);
void cs_versus_json(FILE *to, const struct cs_versus *v, size_t n);
void cs_versus_csv(FILE *to, const struct cs_versus *v, size_t n);

/* One of them: the answer; differences of the conditions; a line for each matrix, with its
 * worst cells, all of them when `verbose`; cells without a partner. */
void cs_versus_print(FILE *to, const struct cs_versus *versus, int verbose);
/* Lists of texts (const char *): a test double or missing GPUs, of all that are shown; the
 * conditions without which the figures mislead; cells that have no partner. */
struct cs_vec cs_versus_notices(const struct cs_versus *versus);
struct cs_vec cs_versus_caveats(const struct cs_versus *versus);
struct cs_vec cs_versus_remarks(const struct cs_versus *versus);

#endif
