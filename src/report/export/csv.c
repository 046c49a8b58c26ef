#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"
#include "report/export/csv.h"
#include "file/encode.h"
#include "file/record.h"
#include "report/views.h"

/* RFC 4180, but lines end in '\n', and a field never holds one.  What a spreadsheet
 * would take for a formula begins with a quote: it is shown, not carried out. */
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
static int put_value(FILE *to, const json_t *value)
{
	char list[256] = "";
	const json_t *word;
	size_t i;

	if (json_is_null(value))
		return 0;
	if (json_is_string(value)) {
		put_field(to, json_string_value(value));
		return 0;
	}
	if (!json_is_array(value))
		return json_dumpf(value, to, CS_JSON_FLAGS | JSON_ENCODE_ANY);
	json_array_foreach(value, i, word)
		cs_text_add(list, sizeof(list), "%s%s", i ? " " : "",
			    json_string_value(word));
	put_field(to, list);
	return 0;
}

int cs_csv_line(FILE *to, json_t *record, int names)
{
	const char *key;
	json_t *value;
	int n = 0, rc = 0;

	if (!record) {
		errno = ENOMEM;
		return -1;
	}
	json_object_foreach(record, key, value) {
		if (n++)
			putc(',', to);
		if (names)
			put_field(to, key);
		else
			rc |= put_value(to, value);
	}
	putc('\n', to);
	json_decref(record);
	return rc;
}

/* Always everything but samples. */
int cs_csv_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	const struct cs_row blank = { .node = UINT32_MAX }; /* for its columns */
	size_t n = cs_rows_count(&run->rows), i;

	if (cs_csv_line(to, cs_record_row(run, &blank, NULL), 1))
		return -1;
	for (i = 0; i < n; i++)
		if (cs_csv_line(to,
				cs_record_row(run, cs_rows_get(&run->rows, i), NULL),
				0))
			return -1;
	return ferror(to) ? -1 : 0;
}
