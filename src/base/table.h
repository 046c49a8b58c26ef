/* table.h - our files for people and spreadsheets: lines of values with commas
 * between them, below a first line that names the columns.
 *
 * Empty lines, lines that begin with #, and blanks around values are ignored.  Errors
 * begin with file and line, and with the column if there is one. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

#define CS_FIELD 80
#define CS_COLUMNS_MOST 20

struct cs_table {
	const char *name;	   /* of the file, for errors */
	const char *text;	   /* the rest of it */
	const char *const *column; /* names; NULL at the end */
	unsigned required; /* columns that must be there and not empty; bits */
	struct cs_err *err;
	uint32_t line;
	int n_named;			       /* 0 before the header */
	int named[CS_COLUMNS_MOST];	       /* the column of the i-th field */
	char field[CS_COLUMNS_MOST][CS_FIELD]; /* of this line, by column; "" empty */
};

/* All of a file as text, malloc'ed.  Errors: reading, no memory, a NUL byte, more
 * than 16 MiB. */
int cs_table_load(FILE *from, char **text, struct cs_err *err);

/* The next line with values: 1; 0 at the end; -1 with an error. */
int cs_table_next(struct cs_table *table);

/* Put file and line before the error; file, line and column.  Always -1. */
int cs_table_at(const struct cs_table *table, uint32_t line);
int cs_table_wrong(const struct cs_table *table, int column);
