#include "file/record.h"

/* ---- to JSON ---- */

static int is_part_known(const struct cs_fieldset *set, const void *of)
{
	return set->field->type != CS_TYPE_KNOWN || cs_field_integer(set->field, of);
}

static json_t *part(const struct cs_fieldset *set, const void *of)
{
	struct cs_encoder r;

	if (!is_part_known(set, of))
		return json_null();
	r = cs_encode_begin();
	cs_encode(&r, set, of);
	return cs_encode_end(&r);
}

static void encode_shape(struct cs_encoder *to, const char *key, uint64_t n)
{
	char text[CS_SHAPE_TEXT];

	cs_shape_text(n, text, sizeof(text));
	cs_encode_known(to, key, text);
}

static void encode_number(struct cs_encoder *to, const struct cs_field *f, int64_t n)
{
	if (f->none && !n) {
		cs_encode_null(to, f->key);
		return;
	}
	switch (f->type) {
	case CS_TYPE_COUNT:
	case CS_TYPE_SWITCH:
		cs_encode_count(to, f->key, n);
		break;
	case CS_TYPE_INDEX:
		cs_encode_count(to, f->key, n - 1);
		break;
	case CS_TYPE_MAYBE:
		if (n < 0)
			cs_encode_null(to, f->key);
		else
			cs_encode_bool(to, f->key, n != 0);
		break;
	case CS_TYPE_LIMIT:
		cs_encode_count(to, f->key, n == INT64_MAX ? -1 : n);
		break;
	case CS_TYPE_KIB:
		cs_encode_count(to, f->key, n < 0 ? -1 : n * 1024);
		break;
	case CS_TYPE_FLAG:
		cs_encode_bool(to, f->key, n == 1);
		break;
	case CS_TYPE_WORD:
		cs_encode_text(to, f->key, cs_field_word_at(f, n));
		break;
	case CS_TYPE_BITS:
		cs_encode_bits(to, f->key, (uint64_t)n);
		break;
	case CS_TYPE_SHAPE:
		encode_shape(to, f->key, (uint64_t)n);
		break;
	default:
		cs_encode_wide(to, f->key, (uint64_t)n);
	}
}

static void encode_field(struct cs_encoder *to, const struct cs_field *f,
			 const void *of)
{
	const void *at = cs_field_in(f, of);

	switch (f->type) {
	case CS_TYPE_REAL:
		cs_encode_real(to, f->key, *(const double *)at);
		break;
	case CS_TYPE_TEXT:
		cs_encode_known(to, f->key, at);
		break;
	case CS_TYPE_NAME:
		cs_encode_text(to, f->key, at);
		break;
	case CS_TYPE_PART:
		cs_encode_json(to, f->key, part(f->part, at));
		break;
	default:
		encode_number(to, f, cs_field_integer(f, of));
	}
}

void cs_encode(struct cs_encoder *to, const struct cs_fieldset *set, const void *of)
{
	for (const struct cs_field *f = set->field; f < set->field + set->n; f++)
		if (f->key)
			encode_field(to, f, of);
		else if (f->type == CS_TYPE_PART)
			cs_encode(to, f->part, cs_field_in(f, of));
}

json_t *cs_json_with(const struct cs_fieldset *set, const void *of, json_t *record)
{
	json_t *more = part(set, of);

	if (json_object_update(record, more)) {
		json_decref(record);
		record = NULL;
	}
	json_decref(more);
	return record;
}

json_t *cs_encode_array(const struct cs_fieldset *set, const void *of, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		cs_json_append(&array,
			       part(set, (const char *)of + (size_t)i * set->size));
	return array;
}

/* ---- and back ---- */

static int64_t most_of(const struct cs_field *f)
{
	static const int64_t holds[2][9] = {
		{ [1] = UINT8_MAX, [2] = UINT16_MAX, [4] = UINT32_MAX, [8] = INT64_MAX },
		{ [4] = INT32_MAX, [8] = INT64_MAX },
	};

	return f->most ? f->most : holds[f->type <= CS_TYPE_KIB][f->size];
}

static uint64_t shape_of(struct cs_fields *from, const char *key)
{
	uint64_t shape[CS_SHAPE_FACES] = { 0 };
	char text[CS_SHAPE_TEXT];

	cs_field_text(from, key, text, sizeof(text));
	if (text[0] && cs_shape_parse(text, shape, NULL) != 1)
		cs_field_refuse(from, key, "a shape, as 512x512x512:2:x or 4/64");
	return shape[0];
}

static int64_t number_of(struct cs_fields *from, const struct cs_field *f, int64_t is)
{
	int64_t n;

	switch (f->type) {
	case CS_TYPE_MAYBE:
		return cs_field_is_known(from, f->key) ? cs_field_bool(from, f->key) :
							 is;
	case CS_TYPE_FLAG:
		return cs_field_bool(from, f->key);
	case CS_TYPE_WORD:
		return cs_field_word(from, f->key, f->words, (int)is);
	case CS_TYPE_INDEX:
		return 1 + cs_field_int(from, f->key, 0, most_of(f), is - 1);
	case CS_TYPE_BITS:
		return (int64_t)cs_field_bits(from, f->key);
	case CS_TYPE_SHAPE:
		return (int64_t)shape_of(from, f->key);
	case CS_TYPE_KIB:
		n = cs_field_count(from, f->key);
		return n < 0 ? n : n / 1024;
	default:
		return f->type == CS_TYPE_NUMBER && f->size == 8 ?
			       (int64_t)cs_field_wide(from, f->key) :
			       cs_field_int(from, f->key, f->least, most_of(f), is);
	}
}

static void decode_part(struct cs_fields *from, const struct cs_field *f, void *of)
{
	struct cs_fields in = { cs_field_object(from, f->key), f->key };

	if (!in.object)
		return;
	if (f->part->field->type == CS_TYPE_KNOWN)
		cs_field_store(f->part->field, of, 1);
	cs_decode(&in, f->part, of);
}

static void take(struct cs_fields *from, const struct cs_field *f, void *of)
{
	void *at = cs_field_in(f, of);

	if (f->type == CS_TYPE_PART)
		decode_part(from, f, at);
	else if (f->type == CS_TYPE_REAL)
		*(double *)at = cs_field_real(from, f->key);
	else if (f->type == CS_TYPE_TEXT || f->type == CS_TYPE_NAME)
		cs_field_text(from, f->key, at, f->size);
	else
		cs_field_store(f, of, number_of(from, f, cs_field_integer(f, of)));
}

void cs_decode(struct cs_fields *from, const struct cs_fieldset *set, void *of)
{
	for (const struct cs_field *f = set->field; f < set->field + set->n; f++)
		if (!f->key && f->type == CS_TYPE_PART)
			cs_decode(from, f->part, cs_field_in(f, of));
		else if (f->key)
			take(from, f, of);
}

int cs_decode_array(struct cs_fields *from, const char *key,
		    const struct cs_fieldset *set, void *of, int most)
{
	const json_t *all = cs_field_array(from, key), *one;
	size_t i;

	if (json_array_size(all) > (size_t)most)
		cs_field_refuse(from, key, cs_new_text("at most %d of them", most));
	json_array_foreach(all, i, one) {
		struct cs_fields f = { one, set->name };

		cs_fields_init(set, (char *)of + i * set->size);
		cs_decode(&f, set, (char *)of + i * set->size);
	}
	return (int)json_array_size(all);
}
