/* fieldset.h - the fields of a struct as a table: a line for each has its name in
 * files, its place, its type, and the comparisons that use it.
 *
 * Setting a struct to unknown, rounding, files, redaction, comparisons and
 * fingerprints go by these lines (file/record.h has the files'), so a new field is a
 * member and its line. Arrays and values that follow from other fields have no lines:
 * the files that write them list them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum cs_type {		       /* of the member; in files; unknown */
	       CS_TYPE_COUNT,  /* int32_t, int64_t; below 0 unknown, null */
	       CS_TYPE_SWITCH, /* the same of 1 on, 0 off */
	       CS_TYPE_MAYBE,  /* int32_t; the same, in files true, false, null */
	       CS_TYPE_LIMIT,  /* int64_t; INT64_MAX none, null */
	       CS_TYPE_KIB,    /* int64_t; in files bytes; below 0 unknown, null */
	       CS_TYPE_NUMBER, /* unsigned of any size */
	       CS_TYPE_INDEX, /* the same, one more than in files and texts; 0 none, null */
	       CS_TYPE_BITS,  /* uint64_t; 16 hexadecimal digits */
	       CS_TYPE_SHAPE, /* uint64_t, base/shape.h; its text, 0 null */
	       CS_TYPE_FLAG,  /* int32_t, uint32_t: 1, 0; true, false */
	       CS_TYPE_WORD,  /* unsigned: the position in words[]; that word */
	       CS_TYPE_REAL,  /* double; NAN unknown, null */
	       CS_TYPE_TEXT,  /* char[]; "" unknown, null */
	       CS_TYPE_NAME,  /* char[]; any text */
	       CS_TYPE_KNOWN, /* int32_t, the first of a part, without a key: 0, and all
				 * of it is null */
	       CS_TYPE_PART, /* a struct with a fieldset of its own: an object; without a key its fields are among the others */
};

/* Fields that nodes of one kind should have in common. */
enum cs_layer {
	CS_LAYER_WIRING, /* parts, and how they are joined */
	CS_LAYER_FIRMWARE,
	CS_LAYER_SOFTWARE,
	CS_LAYER_SETTINGS,
	CS_LAYER_LAUNCH, /* resources of the job */
	CS_LAYERS
};

/* The value of a field of several structs that become one, as the turns of a cell. */
enum cs_combine {
	CS_COMBINE_NOT, /* it stays */
	CS_COMBINE_SUM,
	CS_COMBINE_OR, /* of bits */
	CS_COMBINE_MOST,
	CS_COMBINE_LEAST,
	CS_COMBINE_MEAN, /* of reals */
};

struct cs_fieldset;

struct cs_field {
	const char *key; /* in files; NULL: it is in none */
	size_t at, size;
	enum cs_type type;
	uint8_t none;	     /* of a number or word: 0 is none, and in files null */
	uint8_t foreign;     /* text of others, in which names may be: redacted */
	uint8_t apart;	     /* the member is a pointer to it, … */
	size_t within;	     /* … or to a struct that has it there */
	int64_t least, most; /* of a number in files; most 0: as much as it holds */
	const char *const *words; /* which NULL ends; but of a WORD for texts alone */
	const struct cs_fieldset *part;
	const char *unit;  /* in texts: "W"; "%" of a share */
	const char *label; /* its name in comparisons of two runs; NULL: neither it nor
			    * its part is compared */
	const char *empty; /* their text for unknown, and for a number that is 0; NULL: "unknown", and 0 */
	const char *trait;   /* its name in fingerprints; NULL: it is in none */
	enum cs_layer layer; /* of the fingerprint */
	enum cs_combine combine;
};

struct cs_fieldset {
	const char *name; /* for errors: "a known GPU" */
	size_t size;	  /* of the struct */
	const struct cs_field *field;
	size_t n;
};

/* A line, a line of an apart member, and a table of lines. */
#define CS_MEMBER(of, kind, name, member, ...)                                  \
	{ .type = CS_TYPE_##kind, .key = name, .at = offsetof(of, member),     \
	  .size = sizeof(((of *)0)->member), __VA_ARGS__ }
#define CS_MEMBER_APART(of, kind, name, member, most_bytes, ...)                \
	{ .type = CS_TYPE_##kind, .key = name, .at = offsetof(of, member),     \
	  .size = most_bytes, .apart = 1, __VA_ARGS__ }
#define CS_FIELDSET(what, of, table)                                           \
	{ .name = what, .size = sizeof(of), .field = table,                    \
	  .n = sizeof(table) / sizeof((table)[0]) }
#define CS_COMBINED(by) .combine = CS_COMBINE_##by
#define CS_TRAIT(of, as) .layer = CS_LAYER_##of, .trait = as

/* All its fields to unknown. */
void cs_fields_init(const struct cs_fieldset *set, void *of);
typedef void cs_field_fn(void *to, const struct cs_field *field, const void *of);
/* Calls fn for each line, those of parts too, with the struct that it is of. */
void cs_fields_each(const struct cs_fieldset *set, const void *of, cs_field_fn *fn,
		    void *to);

/* Combine the fields of the nth struct, from 1 on, with those of the structs before it
 * in `to`. */
void cs_fields_combine(const struct cs_fieldset *set, void *to, const void *of,
		       int nth);

/* For cs_fields_each: a number as files hold it, with ten significant digits. */
void cs_field_settle(void *unused, const struct cs_field *field, const void *of);

/* The address of the field. */
void *cs_field_in(const struct cs_field *field, const void *of);
/* A whole number of any size; an unsigned one may need a cast back. */
int64_t cs_field_integer(const struct cs_field *field, const void *of);
void cs_field_store(const struct cs_field *field, void *of, int64_t value);
/* The text of a WORD; "?": none. */
const char *cs_field_word_at(const struct cs_field *field, int64_t n);
/* "on", "350 W", "yes", "x86"; "" unknown. */
void cs_field_value_text(const struct cs_field *field, const void *of, char *to,
			 size_t size);
