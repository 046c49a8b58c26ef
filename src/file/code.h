/* code.h - the fields of a fieldset to JSON and back. */
#pragma once

#include "base/fieldset.h"
#include "file/field.h"
#include "file/encode.h"

void cs_encode(struct cs_encoder *to, const struct cs_fieldset *set, const void *of);
/* Absent and null values stay as they were; wrong ones are refused. */
void cs_decode(struct cs_fields *from, const struct cs_fieldset *set, void *of);

/* An array of n structs, as objects. */
/* Append the fields to a record, which may be NULL; NULL without memory. */
json_t *cs_json_with(const struct cs_fieldset *set, const void *of, json_t *record);
json_t *cs_encode_array(const struct cs_fieldset *set, const void *of, int n);
/* At most that many of them, each unknown at first: how many. */
int cs_decode_array(struct cs_fields *from, const char *key,
		    const struct cs_fieldset *set, void *of, int most);
