#include "base/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define TEXT_MOST ((size_t)16 << 20)

int cs_table_load(FILE *from, char **text, struct cs_err *err)
{
	size_t room = 4096, n = 0;
	char *all = NULL, *more;

	do {
		room *= 2;
		more = realloc(all, room + 1);
		if (!more)
			break;
		all = more;
		n += fread(all + n, 1, room - n, from);
	} while (n == room && room < TEXT_MOST);
	if (!more)
		cs_err_set(err, "no memory");
	else if (ferror(from))
		cs_err_set(err, "cannot be read");
	else if (n == room)
		cs_err_set(err, "longer than 16 MiB: not a file of cscope-mpi");
	else if (memchr(all, '\0', n))
		cs_err_set(err, "it is not text: a byte of it is 0");
	else {
		all[n] = '\0';
		*text = all;
		return 0;
	}
	free(all);
	return -1;
}

/* ---- errors ---- */

int cs_table_at(const struct cs_table *t, uint32_t line)
{
	return cs_err_prefix(t->err, "%s:%" PRIu32, t->name, line);
}

int cs_table_wrong(const struct cs_table *t, int column)
{
	cs_err_prefix(t->err, "column %s", t->column[column]);
	return cs_table_at(t, t->line);
}

/* The columns as a sentence has them: all, or those of a mask. */
static void column_names(const struct cs_table *t, unsigned mask, char *to,
			 size_t size)
{
	to[0] = '\0';
	for (int c = 0; t->column[c]; c++)
		if (mask & 1u << c)
			cs_text_add(to, size, "%s%s", to[0] ? ", " : "", t->column[c]);
}

/* ---- lines and fields ---- */

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Copy the next value of a line without the blanks around it; returns its end. */
static const char *next_field(const char *at, const char *end, char *to, int *cut)
{
	const char *comma = memchr(at, ',', (size_t)(end - at));
	const char *last = comma ? comma : end;

	for (; at < last && is_blank(*at); at++)
		;
	while (last > at && is_blank(last[-1]))
		last--;
	*cut = last - at >= CS_FIELD;
	cs_text(to, CS_FIELD, "%.*s", (int)(*cut ? CS_FIELD - 1 : last - at), at);
	return comma ? comma + 1 : NULL;
}

static int column_of(const struct cs_table *t, const char *word)
{
	for (int c = 0; t->column[c]; c++)
		if (!strcmp(word, t->column[c]))
			return c;
	return -1;
}

static void refuse_column(const struct cs_table *t, const char *word,
			  const char *names)
{
	struct cs_suggestion near = { .typed = word };

	for (int c = 0; t->column[c]; c++)
		cs_suggest(&near, t->column[c]);
	cs_err_set(t->err, "there is no column '%s': allowed are %s", word, names);
	cs_suggestion_add(&near, t->err);
}

static int read_header(struct cs_table *t, const char *at, const char *end)
{
	unsigned seen = 0;
	char word[CS_FIELD], names[CS_FIELD * 2];
	int cut, c;

	for (; at; t->n_named++) {
		at = next_field(at, end, word, &cut);
		c = column_of(t, word);
		column_names(t, ~0u, names, sizeof(names));
		if (c < 0)
			refuse_column(t, word, names);
		else if (seen & 1u << c)
			cs_err_set(t->err, "column %s is named twice", word);
		if (c < 0 || seen & 1u << c)
			return cs_table_at(t, t->line);
		seen |= 1u << c;
		t->named[t->n_named] = c;
	}
	column_names(t, t->required, names, sizeof(names));
	for (c = 0; t->column[c]; c++)
		if (t->required & ~seen & 1u << c) {
			cs_err_set(t->err,
				   "column %s is missing: the first line names %s at least",
				   t->column[c], names);
			return cs_table_at(t, t->line);
		}
	return 0;
}

static int read_fields(struct cs_table *t, const char *at, const char *end)
{
	char word[CS_FIELD];
	int cut;

	memset(t->field, 0, sizeof(t->field));
	for (int i = 0; at; i++) {
		at = next_field(at, end, word, &cut);
		if (i >= t->n_named && !word[0])
			continue; /* as spreadsheets pad lines */
		if (i >= t->n_named) {
			cs_err_set(t->err, "'%s' is in none of the %d columns", word,
				   t->n_named);
			return cs_table_at(t, t->line);
		}
		if (cut) {
			cs_err_set(t->err, "more than %d characters", CS_FIELD - 1);
			return cs_table_wrong(t, t->named[i]);
		}
		cs_text(t->field[t->named[i]], CS_FIELD, "%s", word);
	}
	for (int i = 0; t->column[i]; i++)
		if ((t->required & 1u << i) && !t->field[i][0]) {
			cs_err_set(t->err, "it is empty");
			return cs_table_wrong(t, i);
		}
	return 0;
}

int cs_table_next(struct cs_table *t)
{
	const char *at, *end, *first;

	if (!t->line && !strncmp(t->text, "\xef\xbb\xbf", 3))
		t->text += 3;
	while (*t->text) {
		at = first = t->text;
		end = at + strcspn(at, "\n");
		t->text = *end ? end + 1 : end;
		t->line++;
		while (first < end && (is_blank(*first) || *first == ','))
			first++;
		if (first == end || *at == '#')
			continue;
		if (t->n_named)
			return read_fields(t, at, end) ? -1 : 1;
		if (read_header(t, at, end))
			return -1;
	}
	return 0;
}
