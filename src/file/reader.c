#include "config.h"

#include "file/reader.h"

#include <string.h>

#define RECORD_MOST ((size_t)16 << 20)	/* as JSON values, 20 times as much */
#define DEPTH_MOST 64

static size_t line_of(const struct cs_reader *r, const char *at)
{
	size_t line = 1;
	const char *c = r->text;

	while ((c = memchr(c, '\n', (size_t)(at - c)))) {
		line++;
		c++;
	}
	return line;
}

int cs_reader_refuse(struct cs_reader *r, const char *at)
{
	return cs_err_prefix(r->err, "%s: line %zu", r->name, line_of(r, at));
}

int cs_reader_syntax(struct cs_reader *r, const char *what)
{
	cs_err_set(r->err, "not JSON: %s", what);
	return cs_reader_refuse(r, r->at);
}

json_t *cs_reader_value(struct cs_reader *r, const char *from, const char *to)
{
	json_error_t error;
	json_t *value;

	if ((size_t)(to - from) > RECORD_MOST) {
		cs_err_set(r->err, "a record of %zu bytes; at most %zu are read",
			   (size_t)(to - from), RECORD_MOST);
		cs_reader_refuse(r, from);
		return NULL;
	}
	value = json_loadb(from, (size_t)(to - from),
			   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (value)
		return value;
	cs_err_set(r->err, "not JSON: %.120s", error.text);
	cs_reader_refuse(r, error.position > 0 && error.position <= to - from ?
			  from + error.position - 1 : from);
	return NULL;
}

int cs_reader_take(struct cs_reader *r, const char *from, cs_take_fn *take)
{
	json_t *record = cs_reader_value(r, from, r->at);
	int rc;

	if (!record)
		return -1;
	rc = take(r->to, record, r->err);
	json_decref(record);
	return rc ? cs_reader_refuse(r, from) : 0;
}

/* ---- where values begin and end ---- */

void cs_reader_skip_blanks(struct cs_reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
		r->at++;
}

int cs_reader_next_is(struct cs_reader *r, char c)
{
	cs_reader_skip_blanks(r);
	return r->at < r->end && *r->at == c;
}

int cs_reader_skip_string(struct cs_reader *r)
{
	for (r->at++; r->at < r->end && *r->at != '"'; r->at++)
		if (*r->at == '\\')
			r->at++;
	if (r->at >= r->end)
		return -1;
	r->at++;
	return 0;
}

/* Brackets are counted, not matched: whoever
 * wants the value decodes it. */
int cs_reader_skip_value(struct cs_reader *r)
{
	int depth = 0;

	do {
		cs_reader_skip_blanks(r);
		if (r->at >= r->end)
			return cs_reader_syntax(r, "it ends within a value");
		if (*r->at == '"') {
			if (cs_reader_skip_string(r))
				return cs_reader_syntax(r, "it ends within a string");
			continue;
		}
		if (strchr("{[", *r->at) && *r->at && ++depth > DEPTH_MOST)
			return cs_reader_syntax(r, "nested too deeply");
		if (strchr("}]", *r->at) && *r->at && --depth < 0)
			return cs_reader_syntax(r, "a bracket that nothing opened");
		if (strchr("{}[]:,", *r->at) && *r->at) {
			r->at++;
			continue;
		}
		while (r->at < r->end && (!strchr("{}[]:,\" \t\r\n", *r->at) ||
					  !*r->at))
			r->at++;
	} while (depth > 0);
	return 0;
}
