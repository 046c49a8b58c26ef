/* write.c - an object of encode.h as text, as jansson writes it.
 *
 * A row takes a quarter of the time that it takes with jansson. */
#include "file/encode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_BYTES 4096 /* of a row */
/* Reals whose digits are found here; smaller and larger ones have an exponent. */
#define REAL_LEAST 1e-4
#define REAL_MOST 1e9

struct text {
	struct cs_vec bytes; /* char */
	int bad;
};

static void put(struct text *t, const char *bytes, size_t n)
{
	char *to = cs_vec_add(&t->bytes, n, NULL);

	if (to)
		memcpy(to, bytes, n);
	t->bad |= !to;
}

static void put_json(struct text *t, const json_t *value)
{
	char *made = value ? json_dumps(value, CS_JSON_FLAGS | JSON_ENCODE_ANY) : NULL;

	if (made)
		put(t, made, strlen(made));
	t->bad |= !made;
	free(made);
}

static void put_new_json(struct text *t, json_t *value)
{
	put_json(t, value);
	json_decref(value);
}

/* ---- values ---- */

static int is_plain(const char *text, size_t n)
{
	return !CS_ANY(i, n,
		       text[i] < 0x20 || text[i] > 0x7e || text[i] == '"' ||
			       text[i] == '\\');
}

static void put_text(struct text *t, const char *text, size_t n)
{
	if (!is_plain(text, n)) {
		put_new_json(t, cs_json_text(text));
		return;
	}
	put(t, "\"", 1);
	put(t, text, n);
	put(t, "\"", 1);
}

/* Writes the digits before `end`; returns the first. */
static char *digits_before(char *end, uint64_t n)
{
	do
		*--end = (char)('0' + n % 10);
	while (n /= 10);
	return end;
}

static void put_int(struct text *t, int64_t n)
{
	char digits[24], *end = digits + sizeof(digits);
	char *first = digits_before(end, n < 0 ? -(uint64_t)n : (uint64_t)n);

	if (n < 0)
		*--first = '-';
	put(t, first, (size_t)(end - first));
}

/* The CS_DIGITS digits of x, from REAL_LEAST to REAL_MOST, and the power of ten of the
 * first; 0 where its product with an exact power of ten does not decide the last one. */
static uint64_t digits_of(double x, int *exponent)
{
	static const double power[] = { 1e0, 1e1, 1e2,	1e3,  1e4,  1e5,  1e6, 1e7,
					1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14 };
	const double most = 1e10;
	int k = CS_DIGITS - 1 - (int)floor(log10(x));
	double scaled = x * power[k], rest;
	uint64_t digits;

	if (scaled >= most)
		scaled = x * power[--k];
	else if (scaled < most / 10)
		scaled = x * power[++k];
	digits = (uint64_t)scaled;
	rest = scaled - (double)digits;
	*exponent = CS_DIGITS - 1 - k;
	if (fabs(rest - 0.5) < 1e-3)
		return 0;
	digits += rest > 0.5;
	if (digits < (uint64_t)most)
		return digits;
	++*exponent;
	return digits / 10;
}

/* printf takes three times as long, and a row has thirty of them. */
static void put_real(struct text *t, double x)
{
	const double size = fabs(x);
	char text[2 * CS_DIGITS + 4];
	uint64_t digits = 0;
	int exponent, whole, n;

	if (x == 0 && !signbit(x)) {
		put(t, "0.0", 3);
		return;
	}
	if (size >= REAL_LEAST && size < REAL_MOST)
		digits = digits_of(size, &exponent);
	if (!digits) {
		put_new_json(t, json_real(x));
		return;
	}
	memset(text, '0', sizeof(text));
	whole = exponent < 0 ? 1 : exponent + 1;
	n = CS_DIGITS + whole - exponent - 1;
	digits_before(text + n, digits);
	memmove(text + whole + 1, text + whole, (size_t)(n - whole));
	text[whole] = '.';
	for (n += 2; text[n - 1] == '0' && text[n - 2] != '.'; n--)
		;
	if (x < 0)
		put(t, "-", 1);
	put(t, text, (size_t)n);
}

static void put_words(struct text *t, const char *word, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, word += strlen(word) + 1) {
		put(t, i ? "," : "[", 1);
		put_text(t, word, strlen(word));
	}
	put(t, n ? "]" : "[]", n ? 1 : 2);
}

static void put_reals(struct text *t, const char *bytes, uint32_t n)
{
	double x;

	for (uint32_t i = 0; i < n; i++, bytes += sizeof(x)) {
		put(t, i ? "," : "[", 1);
		memcpy(&x, bytes, sizeof(x));
		if (isfinite(x))
			put_real(t, x);
		else
			put(t, "null", 4);
	}
	put(t, n ? "]" : "[]", n ? 1 : 2);
}

static void put_value(struct text *t, const struct cs_encoder *p,
		      const struct cs_member *m)
{
	const char *bytes = p->bytes.data;

	switch (m->is) {
	case CS_VALUE_NULL:
		put(t, "null", 4);
		break;
	case CS_VALUE_BOOL:
		put(t, m->integer ? "true" : "false", m->integer ? 4 : 5);
		break;
	case CS_VALUE_INT:
		put_int(t, m->integer);
		break;
	case CS_VALUE_REAL:
		put_real(t, m->real);
		break;
	case CS_VALUE_TEXT:
		put_text(t, bytes + m->at, m->n);
		break;
	case CS_VALUE_WORDS:
		put_words(t, bytes + m->at, m->n);
		break;
	case CS_VALUE_REALS:
		put_reals(t, bytes + m->at, m->n);
		break;
	case CS_VALUE_JSON:
		put_json(t, m->json);
		break;
	}
}

/* ---- an object ---- */

static void put_line(struct text *t, int indent)
{
	static const char blanks[] = "\n                ";

	put(t, blanks, (size_t)indent + 1);
}

static void put_members(struct text *t, const struct cs_encoder *p, int indent)
{
	const struct cs_member *first = p->members.data;

	CS_EACH(const struct cs_member, m, &p->members) {
		if (m != first)
			put(t, ",", 1);
		if (indent)
			put_line(t, indent);
		put_text(t, m->key, strlen(m->key));
		put(t, ": ", indent ? 2 : 1);
		put_value(t, p, m);
	}
	if (indent)
		put_line(t, indent - 2);
}

static int write_out(FILE *to, struct text *t)
{
	int rc;

	if (t->bad)
		errno = ENOMEM;
	rc = cs_rc(t->bad || fwrite(t->bytes.data, 1, t->bytes.n, to) != t->bytes.n);
	cs_vec_release(&t->bytes);
	return rc;
}

int cs_encode_write(FILE *to, struct cs_encoder *p, int indent)
{
	struct text t = { CS_VEC(char), p->bad };

	t.bad |= !cs_vec_add(&t.bytes, USUAL_BYTES, NULL);
	t.bytes.n = 0;
	put(&t, "{", 1);
	put_members(&t, p, indent);
	put(&t, "}", 1);
	cs_encode_release(p);
	return write_out(to, &t);
}

int cs_encode_write_value(FILE *to, const struct cs_encoder *p,
			  const struct cs_member *m)
{
	struct text t = { CS_VEC(char), 0 };

	put_value(&t, p, m);
	return write_out(to, &t);
}
