/* field.h - typed values of a JSON object that another program may have written.
 *
 * A key that is absent or null is unknown; keys that are not read are ignored.  The
 * first wrong type or range ends the work of the arena (base/arena.h): its error has the
 * allowed values. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <time.h>

struct cs_fields {
	const json_t *object;
	const char *what; /* for errors: "a result" */
};

/* The value is not allowed: "a result: 'n' is a string; allowed …". */
void cs_field_refuse(struct cs_fields *f, const char *key, const char *allowed)
	__attribute__((noreturn));
/* Is it there and not null? */
int cs_field_is_known(const struct cs_fields *f, const char *key);
/* The same; not: an error. */
void cs_field_need(struct cs_fields *f, const char *key);

int64_t cs_field_int(struct cs_fields *f, const char *key, int64_t least,
		     int64_t most, int64_t unknown);
/* Not below 0; unknown is -1. */
int64_t cs_field_count(struct cs_fields *f, const char *key);
/* Also as decimal digits, for numbers above 2^63; unknown is 0. */
uint64_t cs_field_wide(struct cs_fields *f, const char *key);
/* 16 hexadecimal digits; unknown is 0. */
uint64_t cs_field_bits(struct cs_fields *f, const char *key);
double cs_field_real(struct cs_fields *f, const char *key); /* unknown is NAN */
int cs_field_bool(struct cs_fields *f, const char *key);    /* unknown is 0 */
/* The position in words[], which NULL ends. */
int cs_field_word(struct cs_fields *f, const char *key, const char *const *words,
		  int unknown);
/* Into a field of fixed size; unknown is "". */
void cs_field_text(struct cs_fields *f, const char *key, char *to, size_t size);
/* The text itself, as long as the object lives; unknown is "". */
const char *cs_field_string(struct cs_fields *f, const char *key);
/* RFC 3339 in UTC, whole seconds; unknown is 0. */
void cs_field_time(struct cs_fields *f, const char *key, struct timespec *to);
/* NULL when unknown. */
const json_t *cs_field_array(struct cs_fields *f, const char *key);
const json_t *cs_field_object(struct cs_fields *f, const char *key);
