/* columns.h - a text table as wide as the page: columns without room continue below,
 * after a repetition of the first one.  Only report/ includes it. */
#ifndef CS_REPORT_TEXT_COLUMNS_H
#define CS_REPORT_TEXT_COLUMNS_H

#include <stdio.h>

/* Zeroed it is empty. */
struct cs_columns {
	char *text; /* malloc'ed */
	size_t n;
	int failed; /* no memory */
	int whole;  /* no column goes on below: lines may be longer than the page */
};

/* The headings, "GPU,<bus id,used": a column whose heading begins with '<' stands at
 * its left, all others at their right.  One that begins with '~' stands at its left
 * and gives way: where the page has no room for all, its cells end in "...".  More
 * headings may follow by cs_columns_add(). */
void cs_columns_heads(struct cs_columns *t, const char *list);
/* A cell of a line, clean. */
void cs_columns_add(struct cs_columns *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A figure with its unit behind it, which may be ""; "-" of NAN. */
void cs_columns_number(struct cs_columns *t, int decimals, double x, const char *unit);
void cs_columns_end_line(struct cs_columns *t);
/* All of it behind `indent` blanks; it is empty then.  -1: no memory. */
int cs_columns_print(FILE *to, struct cs_columns *t, int indent);

#endif
