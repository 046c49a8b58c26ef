#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#define COLUMNS_MOST 32
#define APART 2
#define LEAST 10 /* columns that one which gives way keeps */

/* Cells end by a tab, lines by a newline: neither is in clean text. */
static void append(struct cs_columns *t, const char *cell, char end)
{
	size_t n = strlen(cell);

	if (t->n + n + 2 > t->room) {
		t->room = 2 * (t->n + n + 2);
		t->text = cs_arena_resize(t->text, t->room);
	}
	memcpy(t->text + t->n, cell, n);
	t->n += n + 1;
	t->text[t->n - 1] = end;
	t->text[t->n] = '\0';
}

void cs_columns_add(struct cs_columns *t, const char *fmt, ...)
{
	va_list args;
	char *cell;

	va_start(args, fmt);
	cell = cs_new_vtext(fmt, args);
	va_end(args);
	cs_clean(cell);
	append(t, cell, '\t');
}

void cs_columns_heads(struct cs_columns *t, const char *list)
{
	for (size_t n; *list && *list != '\n'; list += n + (list[n] == ',')) {
		n = strcspn(list, ",\n");
		cs_columns_add(t, "%.*s", (int)n, list);
	}
	if (*list)
		cs_columns_end_line(t);
}

void cs_columns_number(struct cs_columns *t, int decimals, double x, const char *unit)
{
	if (isnan(x))
		cs_columns_add(t, "-");
	else
		cs_columns_add(t, "%.*f%s", decimals, x, unit);
}

void cs_columns_end_line(struct cs_columns *t)
{
	append(t, "", '\n');
}

/* ---- layout ---- */

struct layout {
	const char *text;
	int n, width[COLUMNS_MOST], left[COLUMNS_MOST];
	int gives;			/* the column that gives way; -1 none */
	int indent, whole, first, last; /* columns of this block */
};

/* A heading begins with the alignment of its column. */
static int is_mark(char c)
{
	return c == '<' || c == '~';
}

static void measure(struct layout *l)
{
	int c = 0, heading = 1;

	for (const char *at = l->text; *at; at++) {
		int width = (int)strcspn(at, "\t\n");
		int left = heading && is_mark(*at);

		if (at[width] == '\t' && c < COLUMNS_MOST) {
			l->left[c] |= left;
			if (left && *at == '~')
				l->gives = c;
			if (l->width[c] < width - left)
				l->width[c] = width - left;
			l->n = ++c > l->n ? c : l->n;
		} else {
			c = heading = 0;
		}
		at += width;
	}
}

/* Make the column that may shrink narrower, so that the table fits the terminal. */
static void narrow_column(struct layout *l)
{
	int all = l->indent - APART, *width;

	for (int c = 0; c < l->n; c++)
		all += l->width[c] + APART;
	if (l->gives < 0 || all <= cs_columns())
		return;
	width = &l->width[l->gives];
	if (*width <= LEAST)
		return;
	*width -= all - cs_columns();
	if (*width < LEAST)
		*width = LEAST;
}

/* After the first column as many as fit, but one at least. */
static void choose(struct layout *l)
{
	int used = l->indent + l->width[0];

	l->last = l->first;
	while (l->last < l->n && (l->last == l->first || l->whole ||
				  used + APART + l->width[l->last] <= cs_columns()))
		used += APART + l->width[l->last++];
}

/* Print the cells of one line that belong to this block; returns the begin of the next. */
static const char *put_line(FILE *to, const struct layout *l, const char *at)
{
	int heading = at == l->text, owed = l->indent;

	for (int c = 0; *at != '\n'; c++) {
		int all = (int)strcspn(at, "\t"), skip = heading && is_mark(*at);
		int n = all - skip, cut = c == l->gives && n > l->width[c];

		if (cut)
			n = l->width[c];

		if (!c || (c >= l->first && c < l->last)) {
			int blanks = l->width[c] - n;

			owed += c ? APART : 0;
			if (n)
				cs_print(to, "%*s%.*s%s",
					 owed + (l->left[c] ? 0 : blanks), "",
					 cut ? n - 3 : n, at + skip, cut ? "..." : "");
			owed = !n ? owed + l->width[c] : l->left[c] ? blanks : 0;
		}
		at += all + 1;
	}
	putc('\n', to);
	return at + 1;
}

void cs_columns_print(FILE *to, struct cs_columns *t, int indent)
{
	struct layout l = { .text = t->text,
			    .gives = -1,
			    .indent = indent,
			    .whole = t->whole,
			    .first = 1 };

	if (t->text)
		measure(&l);
	narrow_column(&l);
	while (l.first < l.n) {
		choose(&l);
		for (const char *at = t->text; *at;)
			at = put_line(to, &l, at);
		l.first = l.last;
	}
	*t = (struct cs_columns){ 0 };
}
