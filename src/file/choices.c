/* choices.c - the tests that were asked for, where more than their names was. */
#include "config.h"

#include "file/internal.h"

#include <string.h>

#define CHOICE "a choice"

static json_t *number(int n)
{
	return n ? json_integer(n - 1) : json_null();
}

static json_t *choice_record(const struct cs_choice *choice)
{
	const struct cs_variant *v = &choice->variant;
	struct cs_put r = cs_put_begin();
	size_t n;

	cs_put_text(&r, "test", cs_catalogue(&n)[choice->test].name);
	cs_put_bool(&r, "one_gpu", choice->lone);
	cs_put(&r, "bytes", choice->bytes ? cs_json_wide(choice->bytes) : json_null());
	cs_put_int(&r, "threads", v->threads);
	cs_put_text(&r, "cache", cs_cache_words[v->cache]);
	cs_put(&r, "cpu_numa", number(v->cpu_numa));
	cs_put(&r, "src", number(choice->src));
	cs_put(&r, "dst", number(choice->dst));
	return cs_put_end(&r);
}

json_t *cs_record_choices(const struct cs_choices *chosen)
{
	json_t *array;
	int bad;

	if (!chosen)
		return json_null();
	array = json_array();
	bad = !array;
	for (size_t i = 0; i < chosen->n; i++)
		bad |= cs_json_append(array, choice_record(&chosen->choice[i]));
	return cs_json_array_end(array, bad);
}

static uint8_t take_number(struct cs_fields *f, const char *key)
{
	return (uint8_t)(1 + cs_field_int(f, key, 0, CS_NUMA_MOST - 1, -1));
}

static int take_choice(const json_t *item, struct cs_choices *to, struct cs_err *err)
{
	struct cs_fields f = { item, CHOICE, err, 0, NULL };
	const char *name = cs_field_string(&f, "test");
	int test = cs_test_index(name);
	struct cs_choice choice = {
		.bytes = cs_field_wide(&f, "bytes"),
		.lone = cs_field_bool(&f, "one_gpu") != 0,
		.src = take_number(&f, "src"), .dst = take_number(&f, "dst"),
		.variant = {
			.threads = (uint8_t)cs_field_int(&f, "threads", 0,
							 CS_VARIANT_THREADS, 0),
			.cache = (uint8_t)cs_field_word(&f, "cache", cs_cache_words,
							CS_CACHE_ANY),
			.cpu_numa = take_number(&f, "cpu_numa"),
		},
	};

	if (test < 0)
		return cs_err_set(err, "test '%.60s' is not known to this version (see "
				  "--list)", name);
	choice.test = (uint16_t)test;
	return f.bad ? -1 : cs_choices_add(to, &choice, err);
}

int cs_take_choices(struct cs_fields *f, struct cs_choices *to)
{
	const json_t *array = cs_field_array(f, "choices"), *item;
	size_t i;

	for (i = 0; i < json_array_size(array); i++) {
		item = json_array_get(array, i);
		if (!json_is_object(item))
			return cs_field_refuse(f, "choices", "an array of objects");
		if (take_choice(item, to, f->err))
			return -1;
	}
	return 0;
}
