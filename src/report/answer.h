/* answer.h - what a reader wants first, of a digest.  text.c and html/page.c include it. */
#ifndef CS_REPORT_ANSWER_H
#define CS_REPORT_ANSWER_H

#include <stdio.h>

#include "report/digest.h"

/* One sentence: what each path gives, whether all is alike, what went wrong; behind `what`
 * and a colon, unless that is "". */
void cs_answer_print(FILE *to, const struct cs_digest *digest, const char *what);
/* A line a test; of very many those with a remark, and the rest side by side unless
 * `verbose`.  -1: no memory. */
int cs_digest_print(FILE *to, const struct cs_digest *digest, int verbose);

#endif
