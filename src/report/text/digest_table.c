/* digest_table.c - a digest as a table: its columns, their contents, and which of them are
 * dropped on a narrow page. */
#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#define LINES_MOST 48 /* more have several tests a line */
#define NOTABLE_MOST 15   /* of these, with a line of their own */

enum { NAME, UNIT, MIN, AT, MEDIAN, MAX, SHARE, USUAL, COLUMNS };

struct entry {
	const char *cell[COLUMNS];
	const char *remark;
};

static const struct {
	const char *head;
	int left;
} column[COLUMNS] = {
	[NAME] = { "GB/s", 1 },	  [UNIT] = { "", 1 },	      [MIN] = { "min", 0 },
	[AT] = { "at", 1 },	  [MEDIAN] = { "median", 0 }, [MAX] = { "max", 0 },
	[SHARE] = { "share", 1 }, [USUAL] = { "usual", 1 },
};

struct table {
	struct entry *entry; /* the first is the head */
	size_t n;
	int width[COLUMNS]; /* 0: not shown */
};

static const char *number(const struct cs_test *test, double x)
{
	return isnan(x) ? "-" : cs_new_text("%.*f", cs_decimals(test), x);
}

static struct entry entry_of(const struct cs_digest *d,
			     const struct cs_digest_line *line)
{
	struct entry e = {
		.cell = { [NAME] = cs_digest_name(line, d->run),
			  [UNIT] = line->test->unit == CS_UNIT_GBS ?
					   "" :
					   cs_unit_text((int)line->test->unit),
			  [MIN] = number(line->test, line->min),
			  [AT] = line->min_at,
			  [MEDIAN] = number(line->test, line->median),
			  [MAX] = number(line->test, line->max),
			  [SHARE] = "",
			  [USUAL] = "" },
		.remark = line->remark,
	};

	if (!isnan(line->share))
		e.cell[SHARE] = cs_new_text("%.0f %% %.*s", 100 * line->share,
					    (int)strcspn(line->link, " "), line->link);
	if (!isnan(line->low))
		e.cell[USUAL] = cs_new_text("%.0f-%.0f %%", 100 * line->low,
					    100 * line->high);
	if (!isnan(line->known_low))
		e.cell[USUAL] = cs_digest_known(line, "-");
	if (line->points > 1)
		e.remark = cs_new_text("the %s of %u%s",
				       cs_digest_is_of_largest(line->test) ? "largest" :
									     "best",
				       line->points, cs_after("; ", line->remark));
	return e;
}

static int total_width(const struct table *t)
{
	int total = 0;

	for (int c = 0; c < COLUMNS; c++)
		total += t->width[c] ? t->width[c] + 2 : 0;
	return total - 2;
}

/* Drop a column that has no room, and move its contents to the remarks. */
static void drop_column(struct table *t, int c, const char *what)
{
	t->width[c] = 0;
	for (size_t i = 1; i < t->n; i++) {
		struct entry *e = &t->entry[i];

		if (e->cell[c][0])
			e->remark = cs_new_text("%s %s%s", what, e->cell[c],
						cs_after("; ", e->remark));
	}
}

#define NAME_MOST 30 /* longer ones have a line of their own */

static void lay_out(struct table *t)
{
	for (int c = 0; c < COLUMNS; c++)
		for (size_t i = 1; i < t->n; i++) {
			int width = (int)strlen(t->entry[i].cell[c]);

			if (c == NAME && width > NAME_MOST)
				continue;
			if (width > t->width[c])
				t->width[c] = width;
		}
	for (int c = MIN; c < COLUMNS; c++)
		if (t->width[c] && t->width[c] < (int)strlen(column[c].head))
			t->width[c] = (int)strlen(column[c].head);
	if (total_width(t) > cs_columns() && t->width[USUAL])
		drop_column(t, USUAL, "usual");
	if (total_width(t) > cs_columns() && t->width[AT])
		drop_column(t, AT, "min at");
}

static void put_entry(FILE *to, const struct table *t, const struct entry *e)
{
	int owed = 0, used = 0, first = 1;
	int own_line = (int)strlen(e->cell[NAME]) > t->width[NAME];

	if (own_line)
		cs_fold(to, 0, 2, "%s", e->cell[NAME]);
	for (int c = 0; c < COLUMNS; c++) {
		const char *text = c == NAME && own_line ? "" : e->cell[c];
		int width = (int)strlen(text), fill = t->width[c] - width;

		if (!t->width[c])
			continue;
		owed += first ? 0 : 2;
		first = 0;
		if (!column[c].left)
			owed += fill;
		if (width) {
			cs_print(to, "%*s%s", owed, "", text);
			used += owed + width;
			owed = 0;
		}
		if (column[c].left)
			owed += fill;
	}
	if (e->remark[0] && used + owed + 2 + (int)strlen(e->remark) <= cs_columns()) {
		cs_print_line(to, "%*s%s", owed + 2, "", e->remark);
		return;
	}
	putc('\n', to);
	if (e->remark[0])
		cs_fold(to, 4, 6, "%s", e->remark);
}

/* ---- all ---- */

void cs_digest_print(FILE *to, const struct cs_digest *d, int verbose)
{
	const struct cs_digest_line *line = d->lines.data;
	struct table t = { .entry = cs_new(struct entry, d->lines.n + 1), .n = 1 };
	int all = verbose || d->lines.n <= LINES_MOST;

	for (int c = 0; c < COLUMNS; c++)
		t.entry[0].cell[c] = column[c].head;
	t.entry[0].remark = "";
	for (size_t i = 0; i < d->lines.n; i++)
		if (all || (cs_digest_is_notable(&line[i]) && line[i].measured &&
			    t.n <= NOTABLE_MOST))
			t.entry[t.n++] = entry_of(d, &line[i]);
	lay_out(&t);
	for (size_t i = 0; i < t.n && t.n > 1; i++)
		put_entry(to, &t, &t.entry[i]);
	/* tests that have a line are in the groups too */
	if (!all)
		cs_digest_groups_print(to, d);
}
