#include "config.h"

#include "report/decode.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 64

/* ---- where values begin and end ---- */

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int opens(char c)
{
	return c == '{' || c == '[';
}

static int closes(char c)
{
	return c == '}' || c == ']';
}

static int is_mark(char c)
{
	return opens(c) || closes(c) || c == ':' || c == ',';
}

void cs_scan_blanks(const char **at, const char *end)
{
	while (*at < end && is_blank(**at))
		++*at;
}

const char *cs_scan_string(const char **at, const char *end)
{
	const char *c;

	for (c = *at + 1; c < end && *c != '"'; c++)
		if (*c == '\\')
			c++;
	*at = c < end ? c + 1 : end;
	return c < end ? NULL : "it ends within a string";
}

const char *cs_scan_value(const char **at, const char *end)
{
	const char *wrong;
	int depth = 0;

	do {
		cs_scan_blanks(at, end);
		if (*at >= end)
			return "it ends within a value";
		if (**at == '"') {
			wrong = cs_scan_string(at, end);
			if (wrong)
				return wrong;
			continue;
		}
		if (opens(**at) && ++depth > DEPTH_MOST)
			return "nested too deeply";
		if (closes(**at) && --depth < 0)
			return "a bracket that nothing opened";
		if (is_mark(**at)) {
			++*at;
			continue;
		}
		while (*at < end && !is_mark(**at) && !is_blank(**at) && **at != '"')
			++*at;
	} while (depth > 0);
	return NULL;
}

/* ---- a record by the one before ---- */

/* The members of a record that jansson has taken, when they stand close together. */
static void learn(struct cs_decoder *d, const char *at, const char *to)
{
	struct cs_member *m = d->member;

	d->n = 0;
	if (at >= to || *at != '{')
		return;
	do {
		if (m == d->member + CS_DECODE_MEMBERS)
			return;
		m->key = ++at;
		if (at >= to || *at != '"' || cs_scan_string(&at, to) || at >= to ||
		    *at++ != ':')
			return;
		m->value = at;
		if (cs_scan_value(&at, to) || at >= to)
			return;
		m++->end = at;
	} while (*at == ',');
	if (*at == '}' && at + 1 == to)
		d->n = (size_t)(m - d->member);
}

/* Moves *m to the member that stands at *at, and *at behind it.  What had the same
 * bytes, up to what stands behind it, ends where it ended. */
static int meet(struct cs_member *m, const char **at, const char *to)
{
	size_t whole = (size_t)(m->end + 1 - m->key), left = (size_t)(to - *at);
	size_t key = (size_t)(m->value - m->key);
	const char behind = *m->end, *end;

	if (left < key || memcmp(*at, m->key, key) != 0)
		return -1;
	m->differs = left < whole || memcmp(*at, m->key, whole) != 0;
	end = *at + (m->differs ? key : whole - 1);
	if (m->differs && (cs_scan_value(&end, to) || end >= to || *end != behind))
		return -1;
	m->key = *at;
	m->value = *at + key;
	m->end = end;
	*at = end + 1;
	return 0;
}

/* The values that differ, as the text of an array; its size, 0 when this record has
 * other keys. */
static size_t gather(struct cs_decoder *d, const char *at, const char *to, size_t *count)
{
	size_t n = 0;

	if (at >= to || *at++ != '{')
		return 0;
	*count = 0;
	d->values[n++] = '[';
	for (size_t i = 0; i < d->n; i++) {
		struct cs_member *m = &d->member[i];
		size_t size;

		if (meet(m, &at, to))
			return 0;
		if (!m->differs)
			continue;
		size = (size_t)(m->end - m->value);
		if (++*count > 1)
			d->values[n++] = ',';
		memcpy(d->values + n, m->value, size);
		n += size;
	}
	d->values[n++] = ']';
	return at == to ? n : 0;
}

static int make_room(struct cs_decoder *d, size_t size)
{
	char *more = size > d->room ? realloc(d->values, size) : d->values;

	if (!more)
		return -1;
	d->room = size > d->room ? size : d->room;
	d->values = more;
	return 0;
}

/* The members of an object are in the order of its text. */
static int replace(struct cs_decoder *d, json_t *values)
{
	void *at = json_object_iter(d->record);
	size_t k = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (d->member[i].differs &&
		    json_object_iter_set(d->record, at, json_array_get(values, k++)))
			return -1;
		at = json_object_iter_next(d->record, at);
	}
	return 0;
}

/* Makes the record before the one in [from, to); -1 when it has to be parsed whole. */
static int follow(struct cs_decoder *d, const char *from, const char *to)
{
	json_t *values;
	size_t size, count;
	int rc = -1;

	if (!d->n || d->record->refcount != 1 ||
	    make_room(d, (size_t)(to - from) + 2))
		return -1;
	size = gather(d, from, to, &count);
	values = size ? json_loadb(d->values, size, CS_DECODE_FLAGS, NULL) : NULL;
	if (values && json_array_size(values) == count)
		rc = replace(d, values);
	json_decref(values);
	return rc;
}

json_t *cs_decode(struct cs_decoder *d, const char *from, const char *to,
		  json_error_t *error)
{
	if (!follow(d, from, to))
		return d->record;
	json_decref(d->record);
	d->n = 0;
	d->record = json_loadb(from, (size_t)(to - from), CS_DECODE_FLAGS, error);
	if (d->record)
		learn(d, from, to);
	return d->record;
}

void cs_decoder_release(struct cs_decoder *d)
{
	json_decref(d->record);
	free(d->values);
	*d = (struct cs_decoder){ NULL };
}
