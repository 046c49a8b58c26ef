/* encode.h - writes values into JSON objects; field.h reads them back.
 *
 * Unknown is null, never 0.  If one value fails, the whole object fails: put in all
 * values, then check the result of cs_encode_end(). */
#ifndef CS_FILE_ENCODE_H
#define CS_FILE_ENCODE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/units.h"

#define CS_JSON_FLAGS                                                             \
	(JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(CS_DIGITS))

/* Each returns a new reference, or NULL without memory. */
json_t *cs_json_text(const char *text);	 /* invalid UTF-8 is '?' */
json_t *cs_json_known(const char *text); /* "" and NULL are null */
json_t *cs_json_real(double x);		 /* null unless finite */
json_t *cs_json_count(int64_t n);	 /* below 0 is null */
json_t *cs_json_wide(uint64_t n);	 /* above 2^63 its digits */
json_t *cs_json_bits(uint64_t n);	 /* 16 hexadecimal digits */

/* Takes the value's reference; NULL: there was no memory, and then the array is
 * freed and becomes NULL. */
void cs_json_append(json_t **array, json_t *value);
/* Writes one value and lets go of it; NULL is no memory.  0, or -1 with errno. */
int cs_json_dump(FILE *to, json_t *value);

struct cs_encoder {
	json_t *object;
	int bad;
};

struct cs_encoder cs_encode_begin(void);
json_t *cs_encode_end(struct cs_encoder *p);

/* Takes the value's reference; NULL: there was no memory. */
void cs_encode_json(struct cs_encoder *p, const char *key, json_t *value);
#define cs_encode_text(p, key, text) cs_encode_json(p, key, cs_json_text(text))
#define cs_encode_known(p, key, text) cs_encode_json(p, key, cs_json_known(text))
#define cs_encode_real(p, key, x) cs_encode_json(p, key, cs_json_real(x))
#define cs_encode_count(p, key, n) cs_encode_json(p, key, cs_json_count(n))
#define cs_encode_int(p, key, n) cs_encode_json(p, key, json_integer(n))
#define cs_encode_wide(p, key, n) cs_encode_json(p, key, cs_json_wide(n))
#define cs_encode_bits(p, key, n) cs_encode_json(p, key, cs_json_bits(n))
#define cs_encode_bool(p, key, is) cs_encode_json(p, key, json_boolean(is))
/* RFC 3339 in UTC, whole seconds. */
void cs_encode_time(struct cs_encoder *p, const char *key, const struct timespec *t);

#endif
