#include "file/plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "file/encode.h"

#define DIGITS_MOST 18 /* of a number that surely fits 64 bits */
#define REAL_MOST 40   /* characters of a number */

/* The rest of the text. */
struct rest {
	const char *at, *end;
};

static int next_is(const struct rest *r, char c)
{
	return r->at < r->end && *r->at == c;
}

static void skip_blanks(struct rest *r)
{
	while (r->at < r->end &&
	       (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
		r->at++;
}

/* Past this character and blanks around it: 1 it was there. */
static int skip_mark(struct rest *r, char c)
{
	skip_blanks(r);
	if (!next_is(r, c))
		return 0;
	r->at++;
	skip_blanks(r);
	return 1;
}

/* ---- values: each skips one, and returns whether it is plain ---- */

/* Printable ASCII without an escape. */
static int skip_string(struct rest *r)
{
	if (!next_is(r, '"'))
		return 0;
	for (r->at++; r->at < r->end && *r->at != '"'; r->at++)
		if (*r->at < 0x20 || *r->at > 0x7e || *r->at == '\\')
			return 0;
	return r->at++ < r->end;
}

static size_t skip_digits(struct rest *r)
{
	const char *from = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return (size_t)(r->at - from);
}

/* As JSON has them, with an exponent of two digits at the most: none is too large. */
static int skip_number(struct rest *r)
{
	const char *from = r->at, *first;
	size_t n;

	r->at += next_is(r, '-');
	first = r->at;
	n = skip_digits(r);
	if (!n || n > DIGITS_MOST || (n > 1 && *first == '0'))
		return 0;
	if (next_is(r, '.')) {
		r->at++;
		if (!skip_digits(r))
			return 0;
	}
	if (next_is(r, 'e') || next_is(r, 'E')) {
		r->at++;
		r->at += next_is(r, '-') || next_is(r, '+');
		n = skip_digits(r);
		if (!n || n > 2)
			return 0;
	}
	return r->at - from < REAL_MOST;
}

static int skip_word(struct rest *r)
{
	static const char *const words[] = { "null", "true", "false" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(r->end - r->at) >= n && !memcmp(r->at, words[i], n)) {
			r->at += n;
			return 1;
		}
	}
	return 0;
}

static int skip_scalar(struct rest *r)
{
	if (r->at == r->end)
		return 0;
	return *r->at == '"'					 ? skip_string(r) :
	       *r->at == '-' || (*r->at >= '0' && *r->at <= '9') ? skip_number(r) :
								   skip_word(r);
}

/* Skip an array of scalars. */
static int skip_array(struct rest *r)
{
	if (!skip_mark(r, '['))
		return 0;
	if (skip_mark(r, ']'))
		return 1;
	do {
		if (!skip_scalar(r))
			return 0;
	} while (skip_mark(r, ','));
	skip_blanks(r);
	return next_is(r, ']') && r->at++;
}

/* ---- members ---- */

/* The slot of a key: its own, or a free one. */
static uint8_t *slot_of(struct cs_plain *plain, const char *key, size_t size)
{
	uint32_t h = 0x811c9dc5u;
	uint8_t *slot;

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)key[i]) * 0x01000193u;
	for (h ^= h >> 16;; h++) {
		const struct cs_plain_member *m;

		slot = &plain->at[h & 0xff];
		if (!*slot)
			return slot;
		m = &plain->member[*slot - 1];
		if (m->key_size == size && !memcmp(m->key, key, size))
			return slot;
	}
}

static int decode_member(struct cs_plain *plain, struct rest *r)
{
	struct cs_plain_member m = { .key = r->at + 1, .value = NULL };
	uint8_t *slot;

	if (!skip_string(r))
		return 0;
	m.key_size = (size_t)(r->at - m.key) - 1;
	if (!skip_mark(r, ':'))
		return 0;
	m.text = r->at;
	if (!(next_is(r, '[') ? skip_array(r) : skip_scalar(r)))
		return 0;
	m.size = (size_t)(r->at - m.text);
	slot = slot_of(plain, m.key, m.key_size);
	if (*slot || plain->n == CS_PLAIN_MOST)
		return 0;
	plain->member[plain->n++] = m;
	*slot = (uint8_t)plain->n;
	return 1;
}

int cs_plain_parse(struct cs_plain *plain, const char *text, size_t size)
{
	struct rest r = { text, text + size };

	plain->n = 0;
	memset(plain->at, 0, sizeof(plain->at));
	if (!skip_mark(&r, '{'))
		return 0;
	do {
		if (!decode_member(plain, &r))
			return 0;
	} while (skip_mark(&r, ','));
	return skip_mark(&r, '}') && r.at == r.end;
}

/* ---- JSON of them ---- */

static json_t *number(const char *text, size_t size)
{
	char copy[REAL_MOST];
	size_t i;

	memcpy(copy, text, size);
	copy[size] = '\0';
	for (i = 0; i < size; i++)
		if (copy[i] == '.' || copy[i] == 'e' || copy[i] == 'E')
			return json_real(strtod(copy, NULL));
	return json_integer(strtoll(copy, NULL, 10));
}

static json_t *array_of(const char *text, size_t size);

static json_t *value_of(const char *text, size_t size)
{
	switch (*text) {
	case '[':
		return array_of(text, size);
	case '"':
		return json_stringn_nocheck(text + 1, size - 2);
	case 'n':
		return json_null();
	case 't':
		return json_true();
	case 'f':
		return json_false();
	default:
		return number(text, size);
	}
}

static json_t *array_of(const char *text, size_t size)
{
	struct rest r = { text + 1, text + size };
	json_t *array = json_array();

	skip_blanks(&r);
	while (array && !next_is(&r, ']')) {
		const char *from = r.at;

		skip_scalar(&r);
		cs_json_append(&array, value_of(from, (size_t)(r.at - from)));
		skip_mark(&r, ',');
	}
	return array;
}

json_t *cs_plain_get(struct cs_plain *plain, const char *key)
{
	uint8_t slot = *slot_of(plain, key, strlen(key));
	struct cs_plain_member *m = slot ? &plain->member[slot - 1] : NULL;

	if (!m)
		return NULL;
	if (!m->value)
		m->value = value_of(m->text, m->size);
	cs_arena_check(!m->value);
	return m->value;
}

void cs_plain_release(struct cs_plain *plain)
{
	for (size_t i = 0; i < plain->n; i++)
		json_decref(plain->member[i].value);
	plain->n = 0;
}
