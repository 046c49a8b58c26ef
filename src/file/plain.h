/* plain.h - reads a record of plain values without parsing all of it as JSON.
 *
 * Results are most of a file: objects of numbers, words, and arrays of these, of
 * which we need some.  Only the simplest JSON counts as plain, on purpose: everything
 * else is left to jansson, which also provides the error texts. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* JSON of a text that is plain, or has objects and arrays of what is plain, a third of
 * jansson's time; NULL: it is not, or there is no memory. */
json_t *cs_plain_value(const char *text, size_t size);

#define CS_PLAIN_MOST 127 /* members */

struct cs_plain_member {
	const char *key, *text; /* both within the record */
	size_t key_size, size;
	json_t *value; /* once it was asked for */
};

struct cs_plain {
	struct cs_plain_member member[CS_PLAIN_MOST];
	size_t n;
	uint8_t at[256]; /* by hash of the key: 1 + position; 0 free */
};

/* Is it such a record?  0 or 1.  The text must not change while values are asked for. */
int cs_plain_parse(struct cs_plain *plain, const char *text, size_t size);
/* NULL: it is not there. */
json_t *cs_plain_get(struct cs_plain *plain, const char *key);
