#include "config.h"

#include <string.h>

#include "base/print.h"
#include "file/encode.h"
#include "file/record.h"
#include "report/export/parts.h"
#include "report/view.h"

/* RFC 4180, but lines end in '\n', and a field never holds one.  A quote before a text that
 * a spreadsheet would take for a formula: it is shown, not carried out. */
static void put_field(FILE *to, const char *s)
{
	static const char *const doubled[] = { "\"\"" };
	char first = s[strspn(s, " \t\r\n")];
	int quoted = strpbrk(s, ",\"") != NULL;

	if (quoted)
		putc('"', to);
	if (first && strchr("=+-@", first))
		putc('\'', to);
	cs_print_as(to, s, "\"", doubled);
	if (quoted)
		putc('"', to);
}

/* Numbers with the digits that JSON gives them; unknown is empty; of a list the
 * words with blanks between them. */
static void put_value(FILE *to, const json_t *value)
{
	char list[256] = "";
	const json_t *word;
	size_t i;

	if (json_is_string(value)) {
		put_field(to, json_string_value(value));
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, word)
			cs_text_add(list, sizeof(list), "%s%s", i ? " " : "",
				    json_string_value(word));
		put_field(to, list);
	} else if (!json_is_null(value) &&
		   json_dumpf(value, to, CS_JSON_FLAGS | JSON_ENCODE_ANY)) {
		cs_arena_check(!ferror(to));
	}
}

void cs_csv_line(FILE *to, json_t *record, int names)
{
	const char *key;
	json_t *value;
	int n = 0;

	cs_arena_check(!record);
	json_object_foreach(record, key, value) {
		if (n++)
			putc(',', to);
		if (names)
			put_field(to, key);
		else
			put_value(to, value);
	}
	putc('\n', to);
	json_decref(record);
}

static void release_json(void *value)
{
	json_decref(*(json_t **)value);
}

json_t *cs_json_new_array(void)
{
	json_t **owned = cs_new(json_t *, 1);

	cs_arena_at_end(release_json, owned);
	*owned = json_array();
	cs_arena_check(!*owned);
	return *owned;
}

void cs_json_put(FILE *to, json_t *document)
{
	int rc = !document || json_dumpf(document, to,
					 JSON_INDENT(2) | JSON_ENSURE_ASCII |
						 JSON_REAL_PRECISION(CS_DIGITS));

	json_decref(document);
	cs_arena_check(rc && !ferror(to));
	putc('\n', to);
}

/* Without samples. */
void cs_csv_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	const struct cs_row blank = {
		.node = UINT32_MAX, .reason = "", .side = &cs_cpu_side_unknown
	}; /* for its columns */

	cs_csv_line(to, cs_record_row(run, &blank, NULL), 1);
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++)
		cs_csv_line(to, cs_record_row(run, cs_rows_get(&run->rows, i), NULL),
			    0);
}
