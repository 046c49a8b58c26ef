/* decode.h - the bytes of JSON records, one after another, as values of jansson.
 *
 * Rows of a file have the same keys, and most values of the row before: jansson
 * parses those that differ, for what has the same bytes is known to be sound.  Files
 * come from anywhere: a record that is refused is refused as it would be alone. */
#ifndef CS_REPORT_DECODE_H
#define CS_REPORT_DECODE_H

#include <jansson.h>
#include <stddef.h>

#define CS_DECODE_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_ANY)
#define CS_DECODE_MEMBERS 96	/* a row has 58; larger records are parsed whole */

/* `"key":value` of the record before, in its text; a ',' or '}' stands at `end`. */
struct cs_member {
	const char *key, *value, *end;
	int differs;
};

/* Zeroed at first. */
struct cs_decoder {
	json_t *record;
	char *values;		/* those that differ, as an array */
	size_t room;
	size_t n;		/* 0: nothing is known of the members */
	struct cs_member member[CS_DECODE_MEMBERS];
};

/* The record in [from, to), which belongs to the decoder and is good until the next
 * call; who takes a reference may keep it.  NULL with `error`.  All texts stay where
 * they are until the release. */
json_t *cs_decode(struct cs_decoder *d, const char *from, const char *to,
		  json_error_t *error);
void cs_decoder_release(struct cs_decoder *d);

/* Moves *at behind blanks; behind the string, or the value, that begins there.
 * Returns NULL, or what is wrong.  Brackets are counted, not matched: whoever wants
 * the value decodes it. */
void cs_scan_blanks(const char **at, const char *end);
const char *cs_scan_string(const char **at, const char *end);
const char *cs_scan_value(const char **at, const char *end);

#endif
