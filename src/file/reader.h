/* reader.h - cuts a JSON file into values.  Each is decoded separately, so that never
 * more than one record of a file is in memory, as text or as JSON.
 *
 * Positions are bytes from the beginning.  Text before `keep`, or before `at` while
 * nothing is kept, may no longer be in the window.  Errors end the work of the arena
 * (base/arena.h). */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "file/loaded.h"

#define CS_KEEP_NOTHING SIZE_MAX
#define CS_READ_ALL SIZE_MAX

struct cs_reader {
	struct cs_loaded *to;
	const char *name; /* for errors */
	size_t at, end;	  /* reading stops there */
	size_t keep;
	size_t wrong; /* the place for an error; CS_KEEP_NOTHING: none */
	/* the window: bytes [base, base + n) */
	const char *text;
	size_t base, n;
	size_t line; /* at its beginning, from 1 on */
	FILE *from;  /* NULL: the window is all there is */
	off_t start; /* of the first byte */
	size_t most; /* bytes that we read */
	char *room;  /* of a file's window */
	size_t size; /* of that */
	int error;   /* errno of reading */
};

/* Open a reader on a text, or on a file, which is read completely if it cannot be read twice
 * from that position.  0, or -1 with r->error. */
void cs_reader_of_text(struct cs_reader *r, const char *text, size_t size);
int cs_reader_of_file(struct cs_reader *r, FILE *from);
void cs_reader_release(struct cs_reader *r);
/* In words: why it could not be read. */
void cs_reader_failed(const struct cs_reader *r, struct cs_err *err);
/* Back or forth, to a position of which the line is known, and not beyond `end`. */
void cs_reader_seek(struct cs_reader *r, size_t at, size_t line, size_t end);
size_t cs_reader_line(const struct cs_reader *r, size_t at);

void cs_reader_syntax(struct cs_reader *r, const char *what) __attribute__((noreturn));

void cs_reader_skip_blanks(struct cs_reader *r);
/* Is this the next character after the blanks? */
int cs_reader_next_is(struct cs_reader *r, char c);
/* Are there nothing but blanks left? */
int cs_reader_is_over(struct cs_reader *r);
/* Is this text the next? */
int cs_reader_begins(struct cs_reader *r, const char *text);
/* Up to the end of the line; 0: it has none. */
int cs_reader_skip_line(struct cs_reader *r);
/* Skip the string or the value that begins here. */
void cs_reader_skip_string(struct cs_reader *r);
void cs_reader_skip_value(struct cs_reader *r);

/* The kept text from there to the reader's position as JSON. */
json_t *cs_reader_value(struct cs_reader *r, size_t from);

typedef void cs_decode_fn(struct cs_loaded *to, json_t *record);
/* Takes the record from there to the reader's position. */
void cs_reader_take(struct cs_reader *r, size_t from, cs_decode_fn *take);
