#include "file/plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define DIGITS_MOST 18 /* of a number that surely fits 64 bits */
#define REAL_MOST 40   /* characters of a number */
#define KEY_MOST 64    /* bytes of a key, with its end */
#define DEPTH_MOST 16  /* of objects and arrays within others */

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

static json_t *scalar(const char *text, size_t size)
{
	switch (*text) {
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

static json_t *take_value(struct rest *r, int depth);

/* Of a key that is not there yet. */
static int take_member(struct rest *r, json_t *object, int depth)
{
	size_t before = json_object_size(object), size;
	char key[KEY_MOST];
	const char *from = r->at + 1;

	if (!skip_string(r))
		return 0;
	size = (size_t)(r->at - from) - 1;
	if (size >= sizeof(key) || !skip_mark(r, ':'))
		return 0;
	memcpy(key, from, size);
	key[size] = '\0';
	return !json_object_set_new_nocheck(object, key, take_value(r, depth)) &&
	       json_object_size(object) > before;
}

/* An object or an array. */
static json_t *take_values(struct rest *r, int depth)
{
	const int is_object = next_is(r, '{');
	const char end = is_object ? '}' : ']';
	json_t *all = is_object ? json_object() : json_array();
	int taken;

	skip_mark(r, is_object ? '{' : '[');
	if (skip_mark(r, end))
		return all;
	do
		taken = is_object ? take_member(r, all, depth) :
				    !json_array_append_new(all, take_value(r, depth));
	while (taken && skip_mark(r, ','));
	if (taken && skip_mark(r, end))
		return all;
	json_decref(all);
	return NULL;
}

/* NULL: it is not plain. */
static json_t *take_value(struct rest *r, int depth)
{
	const char *from = r->at;

	if (next_is(r, '{') || next_is(r, '['))
		return depth ? take_values(r, depth - 1) : NULL;
	return skip_scalar(r) ? scalar(from, (size_t)(r->at - from)) : NULL;
}

json_t *cs_plain_value(const char *text, size_t size)
{
	struct rest r = { text, text + size };
	json_t *value = take_value(&r, DEPTH_MOST);

	if (r.at == r.end)
		return value;
	json_decref(value);
	return NULL;
}

json_t *cs_plain_get(struct cs_plain *plain, const char *key)
{
	uint8_t slot = *slot_of(plain, key, strlen(key));
	struct cs_plain_member *m = slot ? &plain->member[slot - 1] : NULL;

	if (!m)
		return NULL;
	if (!m->value)
		m->value = *m->text == '[' ? cs_plain_value(m->text, m->size) :
					     scalar(m->text, m->size);
	cs_arena_check(!m->value);
	return m->value;
}
