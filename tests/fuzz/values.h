/* values.h - how a file of records is changed: a few values of it, now and then bytes.
 *
 * Changed bytes are mostly no JSON any more, and found out in front.  Values that are
 * missing, odd, doubled or of another place get further. */
#ifndef CS_TESTS_VALUES_H
#define CS_TESTS_VALUES_H

#include <jansson.h>

#include "base/rng.h"
#include "fuzz.h"

#define FUZZ_VALUES_MOST 100000

struct fuzz_values {
	json_t *value[FUZZ_VALUES_MOST], *parent[FUZZ_VALUES_MOST];
	const char *key[FUZZ_VALUES_MOST]; /* of an object's */
	size_t at[FUZZ_VALUES_MOST];	   /* of an array's */
	size_t n;
};

static inline void fuzz_walk(struct fuzz_values *all, json_t *parent)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach(parent, key, value) {
		if (all->n == FUZZ_VALUES_MOST)
			return;
		all->value[all->n] = value;
		all->parent[all->n] = parent;
		all->key[all->n++] = key;
		fuzz_walk(all, value);
	}
	json_array_foreach(parent, i, value) {
		if (all->n == FUZZ_VALUES_MOST)
			return;
		all->value[all->n] = value;
		all->parent[all->n] = parent;
		all->key[all->n] = NULL;
		all->at[all->n++] = i;
		fuzz_walk(all, value);
	}
}

static inline json_t *fuzz_number(struct cs_rng *rng, const json_t *was)
{
	static const json_int_t odd[] = {
		-1,
		0,
		1,
		2,
		7,
		8,
		9,
		15,
		16,
		17,
		63,
		64,
		65,
		255,
		256,
		65535,
		65536,
		INT32_MAX,
		(json_int_t)INT32_MAX + 1,
		UINT32_MAX,
		(json_int_t)UINT32_MAX + 1,
		INT64_MAX,
		INT64_MIN,
	};

	switch (cs_rng_below(rng, 4)) {
	case 0:
		return json_integer(json_integer_value(was) < INT64_MAX ?
					    json_integer_value(was) + 1 :
					    INT64_MIN);
	case 1:
		return json_integer(json_integer_value(was) / 2);
	case 2:
		return json_real(cs_rng_below(rng, 2) ? 1e308 : -1e-308);
	default:
		return json_integer(odd[cs_rng_below(rng, sizeof(odd) / sizeof(odd[0]))]);
	}
}

static inline json_t *fuzz_string(struct cs_rng *rng)
{
	static const char *const odd[] = {
		"",
		"\033[2J\n=1",
		"x",
		"gpu64",
		"gpu1",
		"numa0",
		"host",
		"999999999999",
		"-1",
		"0000:1b:00.0",
		"\xc2\x9b",
		"%s%n",
		"3:1",
		"..",
		"a/b",
		"</title><script>",
		"\"><img src=x",
		"&#60;'",
	};
	char longer[600];

	if (!cs_rng_below(rng, 8)) {
		memset(longer, 'y', sizeof(longer) - 1);
		longer[sizeof(longer) - 1] = '\0';
		return json_string(longer);
	}
	return json_string(odd[cs_rng_below(rng, sizeof(odd) / sizeof(odd[0]))]);
}

/* What could stand in its place. */
static inline json_t *fuzz_instead(struct cs_rng *rng, const struct fuzz_values *all,
				   size_t i)
{
	switch (cs_rng_below(rng, 8)) {
	case 0:
		return json_null();
	case 1:
		return cs_rng_below(rng, 2) ? json_object() : json_array();
	case 2:
		return json_boolean(cs_rng_below(rng, 2));
	case 3:
	case 4:
		return json_is_string(all->value[i]) ? fuzz_string(rng) :
						       fuzz_number(rng, all->value[i]);
	default: /* of the same kind, mostly: labels, tests, whole records */
		for (int tries = 0; tries < 50; tries++) {
			const json_t *other = all->value[cs_rng_below(rng, all->n)];

			if (json_typeof(other) == json_typeof(all->value[i]))
				return json_deep_copy(other);
		}
		return json_null();
	}
}

static inline void fuzz_edit(struct cs_rng *rng, json_t *file)
{
	static struct fuzz_values all;
	json_t *parent, *new;
	size_t i;

	all.n = 0;
	fuzz_walk(&all, file);
	if (!all.n)
		return;
	i = cs_rng_below(rng, all.n);
	parent = all.parent[i];
	switch (cs_rng_below(rng, 4)) {
	case 0: /* it goes */
		if (all.key[i])
			json_object_del(parent, all.key[i]);
		else
			json_array_remove(parent, all.at[i]);
		break;
	case 1: /* it is there twice */
		if (json_is_array(parent)) {
			json_array_append_new(parent, json_deep_copy(all.value[i]));
			break;
		}
		/* fallthrough */
	default:
		new = fuzz_instead(rng, &all, i);
		if (all.key[i])
			json_object_set_new(parent, all.key[i], new);
		else
			json_array_set_new(parent, all.at[i], new);
	}
}

/* A document, or the lines of a journal as an array; NULL: it is neither. */
static inline json_t *fuzz_parse(const uint8_t *data, size_t size, int *lines)
{
	const char *at = (const char *)data, *end = at + size;
	json_t *all = json_loadb(at, size, 0, NULL), *line;

	*lines = 0;
	if (all)
		return all;
	*lines = 1;
	all = json_array();
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!newline)
			break;
		line = json_loadb(at, (size_t)(newline - at), 0, NULL);
		if (line)
			json_array_append_new(all, line);
		at = newline + 1;
	}
	if (json_array_size(all))
		return all;
	json_decref(all);
	return NULL;
}

/* How libFuzzer and replay.c change a file: a few values of it, now and then bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed)
{
	struct cs_rng rng = { seed };
	int lines;
	json_t *file = cs_rng_below(&rng, 16) ? fuzz_parse(data, size, &lines) : NULL;
	size_t n = 0;

	if (!file)
		return LLVMFuzzerMutate(data, size, room);
	for (int times = 1 + (int)cs_rng_below(&rng, 5); times; times--)
		fuzz_edit(&rng, file);
	for (size_t i = 0; lines && i < json_array_size(file); i++) {
		size_t more = json_dumpb(json_array_get(file, i), (char *)data + n,
					 room - n, JSON_COMPACT | JSON_ENCODE_ANY);

		if (n + more + 1 > room)
			break;
		n += more;
		data[n++] = '\n';
	}
	if (!lines)
		n = json_dumpb(file, (char *)data, room, JSON_COMPACT);
	json_decref(file);
	return n <= room ? n : 0;
}

#endif
