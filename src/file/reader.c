#include "file/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "file/plain.h"

#define FILE_MOST ((size_t)4 << 30)
#define PIPE_MOST ((size_t)1 << 30)	/* all of it is in memory */
#define RECORD_MOST ((size_t)16 << 20)	/* as JSON values, 30 times as much */
#define BRACKETS_MOST ((size_t)1 << 20) /* of a record; "{}" as a value has 240 bytes */
#ifndef CS_WINDOW /* fuzzers have a small one */
#define CS_WINDOW ((size_t)1 << 18)
#endif
#define DEPTH_MOST 64

void cs_reader_release(struct cs_reader *r)
{
	free(r->room);
	r->room = NULL;
}

/* ---- the window ---- */

static size_t lines_in(const char *text, size_t n)
{
	size_t lines = 0;

	/* of none there may be no text */
	for (const char *c = text, *end = n ? text + n : text;
	     c < end && (c = memchr(c, '\n', (size_t)(end - c))); c++)
		lines++;
	return lines;
}

size_t cs_reader_line(const struct cs_reader *r, size_t at)
{
	return r->line + lines_in(r->text, at - r->base);
}

/* Discard consumed text, so that there is room at the end. */
static int make_room(struct cs_reader *r)
{
	size_t gone = (r->keep < r->at ? r->keep : r->at) - r->base, size;
	char *more;

	r->line += lines_in(r->text, gone);
	r->base += gone;
	r->n -= gone;
	if (gone)
		memmove(r->room, r->room + gone, r->n);
	if (r->n + CS_WINDOW / 2 <= r->size)
		return 0;
	size = r->size ? 2 * r->size : CS_WINDOW;
	more = realloc(r->room, size);
	if (!more)
		return -1;
	r->text = r->room = more;
	r->size = size;
	return 0;
}

/* Is the kept text too long for a record? */
static int is_too_long(const struct cs_reader *r)
{
	return r->keep < r->at && r->at - r->keep > RECORD_MOST;
}

static int fail(struct cs_reader *r, int error)
{
	r->error = error;
	return 0;
}

/* More of the file: is there a byte at r->at now? */
static int fill(struct cs_reader *r)
{
	size_t got;

	if (!r->from || r->error || r->at >= r->end || is_too_long(r))
		return 0;
	if (make_room(r))
		return fail(r, ENOMEM);
	got = fread(r->room + r->n, 1, r->size - r->n, r->from);
	if (ferror(r->from))
		return fail(r, errno);
	r->n += got;
	if (r->base + r->n > r->most)
		return fail(r, EFBIG);
	return got > 0;
}

/* Is there a byte at r->at? */
static inline int has(struct cs_reader *r)
{
	return (r->at - r->base < r->n && r->at < r->end) || fill(r);
}

static inline unsigned char here(const struct cs_reader *r)
{
	return (unsigned char)r->text[r->at - r->base];
}

void cs_reader_seek(struct cs_reader *r, size_t at, size_t line, size_t end)
{
	r->at = at;
	r->end = end;
	r->keep = CS_KEEP_NOTHING;
	if (!r->from || (at >= r->base && at - r->base <= r->n))
		return;
	if (fseeko(r->from, r->start + (off_t)at, SEEK_SET))
		r->error = errno;
	r->base = at;
	r->n = 0;
	r->line = line;
}

/* ---- open ---- */

void cs_reader_of_text(struct cs_reader *r, const char *text, size_t size)
{
	r->text = text;
	r->n = size;
	r->end = CS_READ_ALL;
	r->line = 1;
	r->keep = r->wrong = CS_KEEP_NOTHING;
}

int cs_reader_of_file(struct cs_reader *r, FILE *from)
{
	struct stat st;

	r->from = from;
	r->most = FILE_MOST;
	r->end = CS_READ_ALL;
	r->line = 1;
	r->keep = r->wrong = CS_KEEP_NOTHING;
	r->start = ftello(from);
	if (!fstat(fileno(from), &st) && st.st_size > (off_t)FILE_MOST) {
		r->error = EFBIG;
		return -1;
	}
	if (r->start >= 0 && !fseeko(from, r->start, SEEK_SET))
		return 0;
	r->most = PIPE_MOST;
	while (fill(r))
		;
	r->from = NULL;
	return r->error ? -1 : 0;
}

/* ---- errors ---- */

void cs_reader_failed(const struct cs_reader *r, struct cs_err *err)
{
	if (r->error == EFBIG)
		cs_err_set(err, "cannot read '%.200s': more than %zu GiB%s", r->name,
			   r->most >> 30,
			   r->most == PIPE_MOST ? ", as a pipe can have" : "");
	else
		cs_err_set(err, "cannot read '%.200s': %s", r->name,
			   strerror(r->error));
}

static void too_much(struct cs_reader *r) __attribute__((noreturn));

static void too_much(struct cs_reader *r)
{
	r->wrong = r->keep;
	if (is_too_long(r))
		cs_arena_fail("a record of more than %zu bytes: cscope-mpi writes none so long",
			      RECORD_MOST);
	cs_arena_fail("a record of more than %zu arrays and objects: cscope-mpi writes none with that many",
		      BRACKETS_MOST);
}

void cs_reader_syntax(struct cs_reader *r, const char *what)
{
	if (is_too_long(r))
		too_much(r);
	r->wrong = r->at;
	cs_arena_fail("not JSON: %s", what);
}

/* ---- records ---- */

json_t *cs_reader_value(struct cs_reader *r, size_t from)
{
	const char *text = r->text + (from - r->base);
	size_t size = r->at - from;
	json_error_t error;
	json_t *value = cs_plain_value(text, size);

	if (!value)
		value = json_loadb(text, size,
				   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (value)
		return value;
	r->wrong = error.position > 0 && (size_t)error.position <= size ?
			   from + (size_t)error.position - 1 :
			   from;
	cs_arena_fail("not JSON: %.120s", error.text);
}

/* More arrays and objects than a record has; those of its texts are counted too. */
static int is_too_full(const struct cs_reader *r, size_t from)
{
	const char *text = r->text + (from - r->base);
	size_t size = r->at - from, n = 0;

	for (size_t i = 0; i < size && size > BRACKETS_MOST; i++)
		n += text[i] == '{' || text[i] == '[';
	return n > BRACKETS_MOST;
}

void cs_reader_take(struct cs_reader *r, size_t from, cs_decode_fn *take)
{
	CS_SCOPE;

	if (r->at - from > RECORD_MOST || is_too_full(r, from)) {
		r->keep = from;
		too_much(r);
	}
	r->wrong = from;
	take(r->to, cs_reader_value(r, from));
	r->wrong = CS_KEEP_NOTHING;
}

/* ---- begin and end of values ---- */

enum { WORD, BLANK, QUOTE, OPEN, CLOSE, MARK };

static const unsigned char kind[256] = {
	[' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['\n'] = BLANK,
	['"'] = QUOTE, ['{'] = OPEN,   ['['] = OPEN,   ['}'] = CLOSE,
	[']'] = CLOSE, [':'] = MARK,   [','] = MARK,
};

/* Skip bytes of the same sort, within the window. */
static void skip_like(struct cs_reader *r, const unsigned char *sort, unsigned char is)
{
	const char *from = r->text + (r->at - r->base), *at = from;
	size_t left = r->end - r->base < r->n ? r->end - r->base : r->n;
	const char *end = r->text + left;

	while (at < end && sort[(unsigned char)*at] == is)
		at++;
	r->at += (size_t)(at - from);
}

void cs_reader_skip_blanks(struct cs_reader *r)
{
	while (has(r) && kind[here(r)] == BLANK)
		skip_like(r, kind, BLANK);
}

int cs_reader_next_is(struct cs_reader *r, char c)
{
	cs_reader_skip_blanks(r);
	return has(r) && here(r) == (unsigned char)c;
}

int cs_reader_is_over(struct cs_reader *r)
{
	cs_reader_skip_blanks(r);
	return !has(r);
}

int cs_reader_begins(struct cs_reader *r, const char *text)
{
	size_t from = r->at;
	int same = 1;

	r->keep = from;
	for (; *text && same; text++, r->at++)
		same = has(r) && here(r) == (unsigned char)*text;
	r->at = from;
	r->keep = CS_KEEP_NOTHING;
	return same;
}

int cs_reader_skip_line(struct cs_reader *r)
{
	while (has(r)) {
		const char *from = r->text + (r->at - r->base), *end = r->text + r->n;
		const char *newline = memchr(from, '\n', (size_t)(end - from));

		r->at += (size_t)((newline ? newline : end) - from);
		if (newline)
			return 1;
	}
	if (is_too_long(r))
		too_much(r);
	return 0;
}

void cs_reader_skip_string(struct cs_reader *r)
{
	static const unsigned char stop[256] = { ['"'] = 1, ['\\'] = 1 };

	for (r->at++; has(r); skip_like(r, stop, 0)) {
		unsigned char c = here(r);

		r->at++;
		if (c == '"')
			return;
		if (c == '\\' && has(r))
			r->at++;
	}
	cs_reader_syntax(r, "it ends within a string");
}

/* Brackets are counted, not matched: the decoder of the value checks them. */
void cs_reader_skip_value(struct cs_reader *r)
{
	int depth = 0;

	do {
		cs_reader_skip_blanks(r);
		if (!has(r))
			cs_reader_syntax(r, "it ends within a value");
		switch (kind[here(r)]) {
		case QUOTE:
			cs_reader_skip_string(r);
			continue;
		case OPEN:
			if (++depth > DEPTH_MOST)
				cs_reader_syntax(r, "nested too deeply");
			break;
		case CLOSE:
			if (--depth < 0)
				cs_reader_syntax(r, "a bracket that nothing opened");
			break;
		case WORD:
			while (has(r) && kind[here(r)] == WORD)
				skip_like(r, kind, WORD);
			continue;
		default:
			break;
		}
		r->at++;
	} while (depth > 0);
}
