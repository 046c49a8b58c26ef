/* reader.h - a text of JSON, cut into values: each is decoded alone, so that never
 * more than one record of a file is in memory as JSON. */
#ifndef CS_FILE_READER_H
#define CS_FILE_READER_H

#include <jansson.h>

#include "file/loaded.h"

/* What is being read: a position in the text, for records and errors. */
struct cs_reader {
	struct cs_loaded *to;
	const char *name, *text, *end, *at;
	struct cs_err *err;
};

/* Puts file and line before the error. */
int cs_reader_refuse(struct cs_reader *r, const char *at);
int cs_reader_syntax(struct cs_reader *r, const char *what);

void cs_reader_skip_blanks(struct cs_reader *r);
/* Is this what comes behind the blanks? */
int cs_reader_next_is(struct cs_reader *r, char c);
/* Behind the string, the value that begins here.  0 or -1; of a string without an
 * error. */
int cs_reader_skip_string(struct cs_reader *r);
int cs_reader_skip_value(struct cs_reader *r);

/* The bytes of one value as JSON; NULL, with the error, when they are none. */
json_t *cs_reader_value(struct cs_reader *r, const char *from, const char *to);

typedef int cs_take_fn(struct cs_loaded *to, json_t *record, struct cs_err *err);
/* Takes the record from there to where the reader is. */
int cs_reader_take(struct cs_reader *r, const char *from, cs_take_fn *take);

/* document.c, journal.c: all of the text.  0 or -1. */
int cs_json_read(struct cs_reader *r);
int cs_jsonl_read(struct cs_reader *r);

#endif
