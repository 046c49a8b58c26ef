/* choices.c - the choices of a run that measured single cells, or tests at sizes of their
 * own. */
#include "file/record.h"

#define CHOICE(type, key, member, ...) \
	CS_MEMBER(struct cs_choice, type, key, member, __VA_ARGS__)
static const struct cs_field fields[] = {
	CHOICE(FLAG, "one_gpu", lone, .label = NULL),
	CHOICE(NUMBER, "copy_bytes", bytes, .none = 1),
	CHOICE(PART, NULL, variant, .part = &cs_variant_fields),
	CHOICE(INDEX, "src", src, .most = CS_NUMA_MOST - 1),
	CHOICE(INDEX, "dst", dst, .most = CS_NUMA_MOST - 1),
};
static const struct cs_fieldset choice_fields = CS_FIELDSET("a choice",
							    struct cs_choice, fields);

json_t *cs_record_choices(const struct cs_choices *chosen)
{
	json_t *array = chosen ? json_array() : json_null();

	for (size_t i = 0; chosen && i < chosen->n; i++) {
		struct cs_encoder r = cs_encode_begin();

		cs_encode_text(&r, "test", cs_test_at(chosen->choice[i].test)->name);
		cs_encode(&r, &choice_fields, &chosen->choice[i]);
		cs_json_append(&array, cs_encode_end(&r));
	}
	return array;
}

void cs_decode_choice(const json_t *item, struct cs_choice *to)
{
	struct cs_fields f = { item, "a test" };
	const char *name = json_is_object(item) ? cs_field_string(&f, "test") :
			   json_is_string(item) ? json_string_value(item) :
						  "?";
	int test = cs_test_index(name);

	if (test < 0)
		cs_arena_fail("test '%.60s' is not known to this version (see --list)",
			      name);
	to->test = (uint16_t)test;
	if (json_is_object(item))
		cs_decode(&f, &choice_fields, to);
}
