#include "config.h"

#include "file/encode.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* ---- one value ---- */

/* jansson takes UTF-8 only; host names and arguments may be anything. */
json_t *cs_json_text(const char *text)
{
	json_t *value = json_string(text);
	char copy[1024];
	size_t i;

	if (value)
		return value;
	cs_text(copy, sizeof(copy), "%s", text);
	for (i = 0; copy[i]; i++)
		if ((unsigned char)copy[i] >= 0x80)
			copy[i] = '?';
	return json_string(copy);
}

json_t *cs_json_known(const char *text)
{
	return text && text[0] ? cs_json_text(text) : json_null();
}

json_t *cs_json_real(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *cs_json_count(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

/* Above 2^63 jansson has no integer for it. */
json_t *cs_json_wide(uint64_t n)
{
	char digits[24];

	if (n <= INT64_MAX)
		return json_integer((json_int_t)n);
	cs_text(digits, sizeof(digits), "%" PRIu64, n);
	return json_string(digits);
}

json_t *cs_json_bits(uint64_t n)
{
	char digits[24];

	cs_text(digits, sizeof(digits), "%016" PRIx64, n);
	return json_string(digits);
}

void cs_json_append(json_t **array, json_t *value)
{
	if (*array && value && !json_array_append_new(*array, value))
		return;
	if (!*array)
		json_decref(value);
	json_decref(*array);
	*array = NULL;
}

int cs_json_dump(FILE *to, json_t *value)
{
	int rc;

	if (!value) {
		errno = ENOMEM;
		return -1;
	}
	rc = json_dumpf(value, to, CS_JSON_FLAGS | JSON_ENCODE_ANY);
	json_decref(value);
	return rc;
}

/* ---- an object that grows ---- */

struct cs_encoder cs_encode_begin(void)
{
	struct cs_encoder p = { json_object(), 0 };

	p.bad = !p.object;
	return p;
}

json_t *cs_encode_end(struct cs_encoder *p)
{
	if (!p->bad)
		return p->object;
	json_decref(p->object);
	return NULL;
}

void cs_encode_json(struct cs_encoder *p, const char *key, json_t *value)
{
	if (!value || json_object_set_new(p->object, key, value))
		p->bad = 1;
}

void cs_encode_time(struct cs_encoder *p, const char *key, const struct timespec *t)
{
	char text[32];

	cs_time_text(t, text, sizeof(text));
	cs_encode_known(p, key, text);
}
