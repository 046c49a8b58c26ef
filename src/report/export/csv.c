#include <string.h>

#include "file/encode.h"
#include "file/record.h"
#include "report/export/parts.h"

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

/* The `n` words of a list, with blanks between them. */
static void put_words(FILE *to, const char *word, uint32_t n)
{
	char list[256] = "";

	for (uint32_t i = 0; i < n; i++, word += strlen(word) + 1)
		cs_text_add(list, sizeof(list), "%s%s", i ? " " : "", word);
	put_field(to, list);
}

/* Numbers with the digits that JSON gives them; unknown is empty. */
static void put_value(FILE *to, const struct cs_encoder *record,
		      const struct cs_member *m)
{
	const char *bytes = record->bytes.data;

	if (m->is == CS_VALUE_TEXT)
		put_field(to, bytes + m->at);
	else if (m->is == CS_VALUE_WORDS)
		put_words(to, bytes + m->at, m->n);
	else if (m->is != CS_VALUE_NULL)
		cs_arena_check(cs_encode_write_value(to, record, m) && !ferror(to));
}

void cs_csv_line(FILE *to, struct cs_encoder *record, int names)
{
	const struct cs_member *first = record->members.data;

	cs_arena_check(record->bad);
	CS_EACH(const struct cs_member, m, &record->members) {
		if (m != first)
			putc(',', to);
		if (names)
			put_field(to, m->key);
		else
			put_value(to, record, m);
	}
	putc('\n', to);
	cs_encode_release(record);
}

static void put_row(FILE *to, const struct cs_run *run, const struct cs_row *row,
		    int names)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_row(&r, run, row, NULL);
	cs_csv_line(to, &r, names);
}

/* Without samples. */
void cs_csv_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	const struct cs_row blank = {
		.node = UINT32_MAX,
		.reason = "",
		.side = &cs_cpu_side_unknown,
		.apart = &cs_row_apart_unknown
	}; /* for its columns */

	put_row(to, run, &blank, 1);
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++)
		put_row(to, run, cs_rows_get(&run->rows, i), 0);
}
