#include "file/plain.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	if (r->at == r->end)
		return 0;
	r->at++;
	return 1;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t skip_digits(struct rest *r)
{
	const char *from = r->at;

	while (r->at < r->end && is_digit(*r->at))
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

static int skip_word(struct rest *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return 0;
	r->at += n;
	return 1;
}

/* ---- JSON of them ---- */

/* A quotient of whole numbers below 2^53 is the double next to it. */
static json_t *number(const char *text, size_t size)
{
	static const double power[] = { 1e0, 1e1, 1e2,	1e3,  1e4,  1e5,  1e6,	1e7,
					1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	const char *at = text + (*text == '-'), *end = text + size, *point = NULL;
	char copy[REAL_MOST];
	uint64_t n = 0;

	for (; at < end && (is_digit(*at) || *at == '.'); at++)
		if (*at == '.')
			point = at;
		else
			n = 10 * n + (uint64_t)(*at - '0');
	if (!point && at == end)
		return json_integer(*text == '-' ? -(int64_t)n : (int64_t)n);
	if (at == end && size <= sizeof(power) / sizeof(power[0]))
		return json_real(copysign((double)n / power[end - point - 1],
					  *text == '-' ? -1 : 1));
	memcpy(copy, text, size);
	copy[size] = '\0';
	return json_real(strtod(copy, NULL));
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
	if (next_is(r, '"'))
		return skip_string(r) ?
			       json_stringn_nocheck(from + 1,
						    (size_t)(r->at - from) - 2) :
			       NULL;
	if (r->at < r->end && (*r->at == '-' || is_digit(*r->at)))
		return skip_number(r) ? number(from, (size_t)(r->at - from)) : NULL;
	return skip_word(r, "null")  ? json_null() :
	       skip_word(r, "true")  ? json_true() :
	       skip_word(r, "false") ? json_false() :
				       NULL;
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
