#include "file/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/units.h"

static const char *type_text(const json_t *value)
{
	static const char *const text[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
		[JSON_STRING] = "a string",  [JSON_INTEGER] = "a whole number",
		[JSON_REAL] = "a number",    [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	     [JSON_NULL] = "null",
	};

	return value ? text[json_typeof(value)] : "not there";
}

/* NULL when it is not there or null. */
static const json_t *value_of(const struct cs_fields *f, const char *key)
{
	const json_t *value = json_object_get(f->object, key);

	return json_is_null(value) ? NULL : value;
}

void cs_field_refuse(struct cs_fields *f, const char *key, const char *allowed)
{
	const json_t *value = json_object_get(f->object, key);
	const char *is = type_text(value);

	if (json_is_integer(value))
		is = cs_new_text("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_string(value) && json_string_length(value) < 32)
		is = cs_new_text("'%s'", json_string_value(value));
	cs_arena_fail("%s: '%s' is %s; allowed is %s", f->what, key, is, allowed);
}

int cs_field_is_known(const struct cs_fields *f, const char *key)
{
	return value_of(f, key) != NULL;
}

void cs_field_need(struct cs_fields *f, const char *key)
{
	if (!cs_field_is_known(f, key))
		cs_field_refuse(f, key, "a value");
}

int64_t cs_field_int(struct cs_fields *f, const char *key, int64_t least,
		     int64_t most, int64_t unknown)
{
	const json_t *value = value_of(f, key);

	if (!value)
		return unknown;
	if (json_is_integer(value) && json_integer_value(value) >= least &&
	    json_integer_value(value) <= most)
		return json_integer_value(value);
	cs_field_refuse(f, key,
			cs_new_text("a whole number from %" PRId64 " to %" PRId64,
				    least, most));
}

int64_t cs_field_count(struct cs_fields *f, const char *key)
{
	return cs_field_int(f, key, 0, INT64_MAX, -1);
}

/* Digits of this base alone, as many as fit. */
static int digits(const char *text, int base, uint64_t *to)
{
	const char *set = base == 16 ? "0123456789abcdef" : "0123456789";
	size_t n = strlen(text);

	if (!n || n > (base == 16 ? 16 : 19 + 1) || strspn(text, set) != n)
		return -1;
	*to = strtoull(text, NULL, base);
	return 0;
}

uint64_t cs_field_wide(struct cs_fields *f, const char *key)
{
	const json_t *value = value_of(f, key);
	uint64_t n = 0;

	if (!value)
		return 0;
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		return (uint64_t)json_integer_value(value);
	if (!json_is_string(value) || digits(json_string_value(value), 10, &n))
		cs_field_refuse(f, key, "a whole number below 2^64, or its digits");
	return n;
}

uint64_t cs_field_bits(struct cs_fields *f, const char *key)
{
	const json_t *value = value_of(f, key);
	uint64_t n = 0;

	if (value &&
	    (!json_is_string(value) || digits(json_string_value(value), 16, &n)))
		cs_field_refuse(f, key, "16 hexadecimal digits");
	return n;
}

double cs_field_real(struct cs_fields *f, const char *key)
{
	const json_t *value = value_of(f, key);

	if (!value)
		return NAN;
	if (!json_is_number(value))
		cs_field_refuse(f, key, "a number or null");
	return cs_ten_digits(json_number_value(value));
}

int cs_field_bool(struct cs_fields *f, const char *key)
{
	const json_t *value = value_of(f, key);

	if (value && !json_is_boolean(value))
		cs_field_refuse(f, key, "true or false");
	return json_is_true(value);
}

int cs_field_word(struct cs_fields *f, const char *key, const char *const *words,
		  int unknown)
{
	const json_t *value = value_of(f, key);
	const char *text = json_string_value(value);
	const char *all = NULL;

	if (!value)
		return unknown;
	for (int i = 0; words[i]; i++)
		if (text && strcmp(text, words[i]) == 0)
			return i;
	for (int i = 0; words[i]; i++)
		all = cs_new_longer(all, "%s'%s'", i ? ", " : "one of ", words[i]);
	cs_field_refuse(f, key, all);
}

const char *cs_field_string(struct cs_fields *f, const char *key)
{
	const json_t *value = value_of(f, key);

	if (value && !json_is_string(value))
		cs_field_refuse(f, key, "a string");
	return value ? json_string_value(value) : "";
}

void cs_field_text(struct cs_fields *f, const char *key, char *to, size_t size)
{
	cs_text(to, size, "%s", cs_field_string(f, key));
}

void cs_field_time(struct cs_fields *f, const char *key, struct timespec *to)
{
	const char *text = cs_field_string(f, key), *end;
	struct tm utc = { .tm_mday = 0 };

	*to = (struct timespec){ 0, 0 };
	if (!text[0])
		return;
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (!end || *end || strlen(text) != strlen("2026-11-20T14:03:11Z"))
		cs_field_refuse(f, key, "a time as 2026-11-20T14:03:11Z");
	to->tv_sec = timegm(&utc);
}

const json_t *cs_field_array(struct cs_fields *f, const char *key)
{
	const json_t *value = value_of(f, key);

	if (value && !json_is_array(value))
		cs_field_refuse(f, key, "an array");
	return value;
}

const json_t *cs_field_object(struct cs_fields *f, const char *key)
{
	const json_t *value = value_of(f, key);

	if (value && !json_is_object(value))
		cs_field_refuse(f, key, "an object");
	return value;
}
