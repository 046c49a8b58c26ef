/* Records decoded one after another: each as it would be alone. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/decode.h"
#include "tap.h"

#define BASE "{\"a\":1,\"b\":[1.5,{\"c\":\"x\\\"]\"}],\"d\":null,\"e\":\"gpu0\"}"

static struct cs_decoder d;

static json_t *decode(const char *text, json_error_t *error)
{
	return cs_decode(&d, text, text + strlen(text), error);
}

/* Value, or text and place of the error. */
static int as_alone(const char *before, const char *text)
{
	json_error_t error = { .position = 0 }, own = { .position = 0 };
	json_t *alone = json_loadb(text, strlen(text), CS_DECODE_FLAGS, &own), *got;
	int same;

	decode(before, &error);
	got = decode(text, &error);
	same = !got == !alone && (!alone ? !strcmp(error.text, own.text) &&
						   error.position == own.position :
					   json_equal(got, alone));
	json_decref(alone);
	cs_decoder_release(&d);
	return same;
}

static void other_values(void)
{
	static const char *const text[] = {
		BASE,
		"{\"a\":10,\"b\":[1.5,{\"c\":\"x\\\"]\"}],\"d\":null,\"e\":\"gpu0\"}",
		"{\"a\":1,\"b\":[],\"d\":{\"a\":[]},\"e\":\"\\u00e9\\\\\"}",
		"{\"a\":1,\"b\":[1.5,{\"c\":\"x\\\"]\"}],\"d\":null}",
		"{\"a\":1,\"b\":2,\"d\":3,\"e\":4,\"f\":5}",
		"{\"a\":1,\"a\":2,\"d\":3,\"e\":4}",
		"{\"b\":1,\"a\":2,\"d\":3,\"e\":4}",
		"{\"a\":,,\"b\":2,\"d\":3,\"e\":4}",
		"{\"a\":1,\"b\":[2},\"d\":3,\"e\":4}",
		"{\"a\":1,\"b\":2],\"d\":[3,\"e\":4}",
		"{\"a\": 1, \"b\":2,\"d\":3 ,\"e\":4}",
		"{}", "[]", "\"a\"", "7", "", "{", "{\"a\":1", "{\"a\":1}", "{\"a\"}",
	};
	const size_t n = sizeof(text) / sizeof(text[0]);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (!t_ok(as_alone(text[i], text[k])))
				t_eq_str(text[k], text[i]);
}

/* Every byte of it as another one, left out, or twice. */
static void broken_anywhere(void)
{
	static const char with[] = "{}[]:,\"\\ \n0e-.an\x01\xff";
	const size_t size = strlen(BASE);
	char text[sizeof(BASE) + 1];
	int wrong = 0;

	for (size_t at = 0; at < size; at++) {
		for (size_t k = 0; k < sizeof(with); k++) {
			memcpy(text, BASE, size + 1);
			text[at] = with[k]; /* the last is the end of the text */
			wrong += !as_alone(BASE, text);
		}
		memmove(text + at, &BASE[at + 1], size - at);
		wrong += !as_alone(BASE, text);
		memcpy(text, BASE, at + 1);
		memcpy(text + at + 1, &BASE[at], size - at + 1);
		wrong += !as_alone(BASE, text);
	}
	t_eq_int(wrong, 0);
}

static void once(void)
{
	json_t *record = decode(BASE, NULL);
	json_t *b = json_object_get(record, "b"), *e = json_object_get(record, "e");

	record = decode("{\"a\":2,\"b\":[1.5,{\"c\":\"x\\\"]\"}],\"d\":null,\"e\":\"gpu1\"}",
			NULL);
	t_eq_int(json_integer_value(json_object_get(record, "a")), 2);
	t_ok(json_object_get(record, "b") == b);
	t_ok(json_object_get(record, "e") != e);
	t_eq_str(json_string_value(json_object_get(record, "e")), "gpu1");
	cs_decoder_release(&d);
}

static void kept(void)
{
	json_t *record = json_incref(decode(BASE, NULL));
	json_t *next = decode("{\"a\":2,\"b\":3,\"d\":4,\"e\":5}", NULL);

	t_ok(next != record);
	t_eq_int(json_integer_value(json_object_get(record, "a")), 1);
	t_eq_int(json_integer_value(json_object_get(next, "a")), 2);
	json_decref(record);
	cs_decoder_release(&d);
}

static void large(void)
{
	char text[8 * (CS_DECODE_MEMBERS + 2) + 3] = "";
	size_t n = 0;

	for (int i = 0; i <= CS_DECODE_MEMBERS; i++) {
		memcpy(text + n, i ? "," : "{", 1);
		n++;
		text[n++] = '"';
		text[n++] = (char)('a' + i / 26);
		text[n++] = (char)('a' + i % 26);
		memcpy(text + n, "\":1}", 5);
		n += 3;
	}
	t_ok(as_alone(text, text));
	decode(text, NULL);
	t_eq_int(json_object_size(decode(text, NULL)), CS_DECODE_MEMBERS + 1);
	cs_decoder_release(&d);
}

static const struct tap_test tests[] = {
	{ "a record is as it would be alone, whatever came before", other_values },
	{ "a broken record is refused as it would be alone", broken_anywhere },
	{ "a value with the bytes that it had before is not parsed again", once },
	{ "a record that somebody keeps stays as it is", kept },
	{ "a record of very many members is read", large },
	{ NULL, NULL },
};

int main(void)
{
	return tap_main("decode", NULL, NULL, tests);
}
