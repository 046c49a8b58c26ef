/* csv.h - a record of JSON as a line of CSV. */
#ifndef CS_REPORT_EXPORT_CSV_H
#define CS_REPORT_EXPORT_CSV_H

#include <jansson.h>
#include <stdio.h>

/* The names of its members (`names`) or their values; the record is let go of.
 * NULL is no memory.  0, or -1 with errno. */
int cs_csv_line(FILE *to, json_t *record, int names);

#endif
