#include "file/encode.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- one value ---- */

/* jansson takes UTF-8 only; host names and arguments may be anything. */
json_t *cs_json_text(const char *text)
{
	json_t *value = json_string(text);
	char copy[1024];

	if (value)
		return value;
	cs_text(copy, sizeof(copy), "%s", text);
	for (size_t i = 0; copy[i]; i++)
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
	return (struct cs_encoder){ CS_VEC(struct cs_member), CS_VEC(char), 0 };
}

void cs_encode_release(struct cs_encoder *p)
{
	CS_EACH(struct cs_member, m, &p->members)
		if (m->is == CS_VALUE_JSON)
			json_decref(m->json);
	cs_vec_release(&p->members);
	cs_vec_release(&p->bytes);
}

static void add(struct cs_encoder *p, struct cs_member m)
{
	p->bad |= cs_vec_push(&p->members, &m, NULL);
}

/* The value follows in the bytes. */
static void add_bytes(struct cs_encoder *p, struct cs_member m, const void *bytes,
		      size_t size)
{
	char *to = cs_vec_add(&p->bytes, size, NULL);

	if (!to) {
		p->bad = 1;
		return;
	}
	if (size)
		memcpy(to, bytes, size);
	m.at = p->bytes.n - size;
	add(p, m);
}

void cs_encode_null(struct cs_encoder *p, const char *key)
{
	add(p, (struct cs_member){ key, CS_VALUE_NULL, .n = 0 });
}

void cs_encode_text(struct cs_encoder *p, const char *key, const char *text)
{
	size_t n = strlen(text);

	add_bytes(p, (struct cs_member){ key, CS_VALUE_TEXT, .n = (uint32_t)n }, text,
		  n + 1);
}

void cs_encode_known(struct cs_encoder *p, const char *key, const char *text)
{
	if (text && text[0])
		cs_encode_text(p, key, text);
	else
		cs_encode_null(p, key);
}

void cs_encode_real(struct cs_encoder *p, const char *key, double x)
{
	if (isfinite(x))
		add(p, (struct cs_member){ key, CS_VALUE_REAL, .real = x });
	else
		cs_encode_null(p, key);
}

void cs_encode_int(struct cs_encoder *p, const char *key, int64_t n)
{
	add(p, (struct cs_member){ key, CS_VALUE_INT, .integer = n });
}

void cs_encode_count(struct cs_encoder *p, const char *key, int64_t n)
{
	if (n < 0)
		cs_encode_null(p, key);
	else
		cs_encode_int(p, key, n);
}

/* Above 2^63 jansson has no integer for it. */
void cs_encode_wide(struct cs_encoder *p, const char *key, uint64_t n)
{
	char digits[24];

	if (n <= INT64_MAX) {
		cs_encode_int(p, key, (int64_t)n);
		return;
	}
	cs_text(digits, sizeof(digits), "%" PRIu64, n);
	cs_encode_text(p, key, digits);
}

void cs_encode_bits(struct cs_encoder *p, const char *key, uint64_t n)
{
	char digits[17] = "";

	for (int i = 16; i--; n >>= 4)
		digits[i] = "0123456789abcdef"[n & 15];
	cs_encode_text(p, key, digits);
}

void cs_encode_bool(struct cs_encoder *p, const char *key, int is)
{
	add(p, (struct cs_member){ key, CS_VALUE_BOOL, .integer = is != 0 });
}

void cs_encode_reals(struct cs_encoder *p, const char *key, const double *x,
		     uint32_t n)
{
	add_bytes(p, (struct cs_member){ key, CS_VALUE_REALS, .n = n }, x,
		  n * sizeof(*x));
}

void cs_encode_words(struct cs_encoder *p, const char *key, const char *const *words,
		     int n)
{
	struct cs_member m = { key, CS_VALUE_WORDS, .n = (uint32_t)n };
	size_t at = p->bytes.n;

	for (int i = 0; i < n; i++) {
		size_t size = strlen(words[i]) + 1;
		char *to = cs_vec_add(&p->bytes, size, NULL);

		if (to)
			memcpy(to, words[i], size);
		p->bad |= !to;
	}
	m.at = at;
	add(p, m);
}

void cs_encode_json(struct cs_encoder *p, const char *key, json_t *value)
{
	if (value)
		add(p, (struct cs_member){ key, CS_VALUE_JSON, .json = value });
	p->bad |= !value;
}

void cs_encode_time(struct cs_encoder *p, const char *key, const struct timespec *t)
{
	char text[32];

	cs_time_text(t, text, sizeof(text));
	cs_encode_known(p, key, text);
}

/* ---- its end as a value ---- */

static json_t *words_value(const char *word, uint32_t n)
{
	json_t *array = json_array();

	for (; n--; word += strlen(word) + 1)
		cs_json_append(&array, json_string(word));
	return array;
}

static json_t *reals_value(const char *bytes, uint32_t n)
{
	json_t *array = json_array();
	double x;

	for (; n--; bytes += sizeof(x)) {
		memcpy(&x, bytes, sizeof(x));
		cs_json_append(&array, cs_json_real(x));
	}
	return array;
}

static json_t *value_of(const struct cs_encoder *p, const struct cs_member *m)
{
	const char *bytes = p->bytes.data;

	switch (m->is) {
	case CS_VALUE_BOOL:
		return json_boolean(m->integer);
	case CS_VALUE_INT:
		return json_integer(m->integer);
	case CS_VALUE_REAL:
		return json_real(m->real);
	case CS_VALUE_TEXT:
		return cs_json_text(bytes + m->at);
	case CS_VALUE_WORDS:
		return words_value(bytes + m->at, m->n);
	case CS_VALUE_REALS:
		return reals_value(bytes + m->at, m->n);
	case CS_VALUE_JSON:
		return json_incref(m->json);
	default:
		return json_null();
	}
}

json_t *cs_encode_end(struct cs_encoder *p)
{
	json_t *object = p->bad ? NULL : json_object();

	CS_EACH(const struct cs_member, m, &p->members)
		if (object && json_object_set_new(object, m->key, value_of(p, m))) {
			json_decref(object);
			object = NULL;
		}
	cs_encode_release(p);
	return object;
}
