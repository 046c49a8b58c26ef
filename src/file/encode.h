/* encode.h - writes values into JSON objects; field.h reads them back.
 *
 * Unknown is null, never 0.  If one value fails, the whole object fails: put in all
 * values, then check the result of the function that ends it. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/units.h"
#include "base/vec.h"

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

/* ---- an object that grows ----
 *
 * Its members are plain values until it ends, because a run has a hundred of them for each
 * row: as values of jansson they would take most of the time of a file. */

enum cs_value {
	CS_VALUE_NULL,
	CS_VALUE_BOOL,
	CS_VALUE_INT,
	CS_VALUE_REAL,
	CS_VALUE_TEXT,	/* n characters at `at` */
	CS_VALUE_WORDS, /* n texts there, each with its end */
	CS_VALUE_REALS, /* n doubles there */
	CS_VALUE_JSON,
};

struct cs_member {
	const char *key; /* not copied */
	enum cs_value is;
	uint32_t n;
	union {
		int64_t integer; /* also of a bool */
		double real;
		size_t at; /* in the encoder's bytes */
		json_t *json;
	};
};

struct cs_encoder {
	struct cs_vec members; /* struct cs_member, each key once */
	struct cs_vec bytes;   /* char */
	int bad;	       /* there was no memory */
};

struct cs_encoder cs_encode_begin(void);
/* Each ends the object.  As a value; NULL without memory. */
json_t *cs_encode_end(struct cs_encoder *p);
/* As text (write.c), each member in a line with so many blanks, or all in one with 0.  0, or
 * -1 with errno. */
int cs_encode_write(FILE *to, struct cs_encoder *p, int indent);
/* One member's value, while it has not ended. */
int cs_encode_write_value(FILE *to, const struct cs_encoder *p,
			  const struct cs_member *m);
void cs_encode_release(struct cs_encoder *p);

void cs_encode_text(struct cs_encoder *p, const char *key, const char *text);
void cs_encode_known(struct cs_encoder *p, const char *key, const char *text);
void cs_encode_real(struct cs_encoder *p, const char *key, double x);
void cs_encode_count(struct cs_encoder *p, const char *key, int64_t n);
void cs_encode_int(struct cs_encoder *p, const char *key, int64_t n);
void cs_encode_wide(struct cs_encoder *p, const char *key, uint64_t n);
void cs_encode_bits(struct cs_encoder *p, const char *key, uint64_t n);
void cs_encode_bool(struct cs_encoder *p, const char *key, int is);
void cs_encode_null(struct cs_encoder *p, const char *key);
void cs_encode_reals(struct cs_encoder *p, const char *key, const double *x,
		     uint32_t n);
void cs_encode_words(struct cs_encoder *p, const char *key, const char *const *words,
		     int n);
/* Takes the value's reference; NULL: there was no memory. */
void cs_encode_json(struct cs_encoder *p, const char *key, json_t *value);
/* RFC 3339 in UTC, whole seconds. */
void cs_encode_time(struct cs_encoder *p, const char *key, const struct timespec *t);
