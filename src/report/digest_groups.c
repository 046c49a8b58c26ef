/* digest_groups.c - a digest of very many tests: medians side by side, a line a method; those
 * without a figure by their reason. */
#include "config.h"

#include "report/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "report/digest.h"
#include "report/view.h"

#define INDENT 22

/* The name up to its pattern: "peer.ce.write". */
static size_t stem_of(const struct cs_digest_line *line)
{
	return (size_t)(strrchr(line->test->name, '.') - line->test->name);
}

static int is_of_group(const struct cs_digest_line *a, const struct cs_digest_line *b)
{
	return stem_of(a) == stem_of(b) &&
	       !strncmp(a->test->name, b->test->name, stem_of(a)) &&
	       a->matrix->bytes == b->matrix->bytes;
}

/* "pair 396.27", then in and out of what goes both ways. */
static void item_text(const struct cs_digest_line *line, char *to, size_t size)
{
	char unit[16] = "";

	if (line->test->unit != CS_UNIT_GBS)
		cs_text(unit, sizeof(unit), " %s",
			cs_unit_text((int)line->test->unit));
	cs_text(to, size, "%s%s%s %.*f%s", line->test->name + stem_of(line) + 1,
		line->back ? " back" : "",
		cs_variant_is_usual(&line->matrix->variant) ? "" : "*",
		cs_decimals(line->test), line->median, unit);
}

/* Items side by side behind an indentation, as many lines as they take. */
struct items {
	FILE *to;
	int at, indent;
};

static void put_item(struct items *items, const char *text)
{
	int width = (int)strlen(text), blanks = 2;

	if (items->at > items->indent && items->at + 2 + width > cs_columns()) {
		putc('\n', items->to);
		items->at = 0;
	}
	if (items->at <= items->indent - 2)
		blanks = items->indent - items->at;
	cs_print(items->to, "%*s%s", blanks, "", text);
	items->at += blanks + width;
}

/* line[i … n) that are of one group with the i-th; taken[] is set. */
static void put_group(FILE *to, const struct cs_digest *d, size_t i, char *taken)
{
	const struct cs_digest_line *line = d->lines.data;
	const int width = (int)stem_of(&line[i]);
	struct items items = { to, width, INDENT };
	char item[80];

	cs_print(to, "%.*s", width, line[i].test->name);
	for (size_t k = i; k < d->lines.n; k++) {
		if (taken[k] || !line[k].measured || !is_of_group(&line[i], &line[k]))
			continue;
		taken[k] = 1;
		item_text(&line[k], item, sizeof(item));
		put_item(&items, item);
	}
	putc('\n', to);
}

/* Tests without a figure, those of one reason together. */
static void put_missing(FILE *to, const struct cs_digest *d, size_t i, char *taken)
{
	const struct cs_digest_line *line = d->lines.data;
	char names[2000] = "", name[128];

	for (size_t k = i; k < d->lines.n; k++) {
		if (taken[k] || line[k].measured ||
		    strcmp(line[k].remark, line[i].remark))
			continue;
		taken[k] = 1;
		cs_digest_name(&line[k], d->run, name, sizeof(name));
		cs_text_add(names, sizeof(names), "%s%s", names[0] ? ", " : "", name);
	}
	cs_fold(to, 0, 2, "%s: %s", line[i].remark, names);
}

int cs_digest_groups_print(FILE *to, const struct cs_digest *d)
{
	const struct cs_digest_line *line = d->lines.data;
	char *taken = calloc(d->lines.n + 1, 1);

	if (!taken)
		return -1;
	cs_fold(to, 0, 2,
		"medians of %zu tests in GB/s, by method (-v: a line a test)",
		d->lines.n);
	for (size_t i = 0; i < d->lines.n; i++)
		if (!taken[i] && line[i].measured)
			put_group(to, d, i, taken);
	for (size_t i = 0; i < d->lines.n; i++)
		if (!taken[i])
			put_missing(to, d, i, taken);
	free(taken);
	return 0;
}
