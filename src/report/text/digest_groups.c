/* digest_groups.c - a digest of very many tests: medians side by side, those of a method
 * together; those without a figure by their reason. */
#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#define INDENT 4
#define NAMES 6 /* of tests without a figure, for one reason */

/* The name up to its method: "peer.ce". */
static size_t family_of(const struct cs_digest_line *line)
{
	return strcspn(strchr(line->test->name, '.') + 1, ".") +
	       strcspn(line->test->name, ".") + 1;
}

/* The name up to its pattern: "peer.ce.write". */
static size_t stem_of(const struct cs_digest_line *line)
{
	return (size_t)(strrchr(line->test->name, '.') - line->test->name);
}

/* Has it a size that is not --size? */
static int has_own_size(const struct cs_digest_line *line)
{
	return line->test->bytes || line->matrix->variant.shape;
}

static int is_of_group(const struct cs_digest_line *a, const struct cs_digest_line *b)
{
	return family_of(a) == family_of(b) &&
	       !strncmp(a->test->name, b->test->name, family_of(a)) &&
	       a->test->unit == b->test->unit &&
	       (a->matrix->bytes == b->matrix->bytes || has_own_size(a) ||
		has_own_size(b));
}

/* Four digits are more than any figure is known to. */
static struct cs_label figure(const struct cs_digest_line *line)
{
	const double x = fabs(line->median);
	struct cs_label to;

	cs_text(to.text, sizeof(to.text), "%.*f",
		x >= 1000 ? 0 :
		x >= 100  ? 1 :
			    2,
		line->median);
	return to;
}

/* The other pattern of a call. */
static const struct cs_digest_line *all_of(const struct cs_digest *d,
					   const struct cs_digest_line *alone)
{
	if (alone->test->how != CS_HOW_BATCHES)
		return NULL;
	CS_EACH(const struct cs_digest_line, line, &d->lines)
		if (line->measured && line->test != alone->test &&
		    line->test->how == CS_HOW_BATCHES &&
		    line->test->op == alone->test->op &&
		    line->matrix->bytes == alone->matrix->bytes)
			return line;
	return NULL;
}

/* "pair 396.3", then in and out of what goes both ways; the first of its operation with
 * that: "write: pair 396.3"; a call by one and by all at once: "alloc 310/1280". */
static const char *item_text(const struct cs_digest *d,
			     const struct cs_digest_line *line,
			     const struct cs_digest_line *before)
{
	const size_t stem = stem_of(line), family = family_of(line) + 1;
	const struct cs_digest_line *all = all_of(d, line);
	const char *text = NULL;

	if (stem > family && (!before || stem_of(before) != stem ||
			      strncmp(before->test->name, line->test->name, stem) != 0))
		text = cs_new_text("%.*s%s", (int)(stem - family),
				   line->test->name + family, all ? " " : ": ");
	if (all)
		return cs_new_longer(text, "%s/%s", figure(line).text,
				     figure(all).text);
	return cs_new_longer(text, "%s%s%s %s", line->test->name + stem + 1,
			     line->back ? " back" : "",
			     cs_variant_is_usual(&line->matrix->variant) ? "" : "*",
			     figure(line).text);
}

/* Items side by side, as many lines as they take. */
struct items {
	FILE *to;
	int at;
};

static void put_item(struct items *items, const char *text)
{
	int width = (int)strlen(text), blanks = 2;

	if (items->at && items->at + blanks + width > cs_columns()) {
		putc('\n', items->to);
		items->at = 0;
		blanks = INDENT;
	} else if (!items->at) {
		blanks = 0;
	}
	cs_print(items->to, "%*s%s", blanks, "", text);
	items->at += blanks + width;
}

/* line[i … n) that are of one group with the i-th; taken[] is set. */
static void put_group(FILE *to, const struct cs_digest *d, size_t i, char *taken)
{
	const struct cs_digest_line *line = d->lines.data, *before = NULL, *all;
	struct items items = { to, 0 };
	const char *name = cs_new_text("%.*s", (int)family_of(&line[i]),
				       line[i].test->name);

	if (line[i].test->unit != CS_UNIT_GBS)
		name = cs_join(name, ", ", "%s%s",
			       cs_unit_text((int)line[i].test->unit),
			       all_of(d, &line[i]) ? ", alone/all" : "");
	cs_print(to, "%s", name);
	items.at = (int)strlen(name);
	for (size_t k = i; k < d->lines.n; k++) {
		if (taken[k] || !line[k].measured || !is_of_group(&line[i], &line[k]))
			continue;
		taken[k] = 1;
		all = all_of(d, &line[k]);
		if (all)
			taken[all - line] = 1;
		put_item(&items, item_text(d, &line[k], before));
		before = &line[k];
	}
	putc('\n', to);
}

static int is_alone(const struct cs_digest *d, size_t i)
{
	const struct cs_digest_line *line = d->lines.data;

	return !CS_ANY(k, d->lines.n,
		       k != i && line[k].measured && is_of_group(&line[i], &line[k]));
}

/* Print the lines that are alone in their group by their names. */
static void put_lone(FILE *to, const struct cs_digest *d, char *taken)
{
	const struct cs_digest_line *line = d->lines.data;
	struct items items = { to, 0 };
	const char *item;

	for (size_t i = 0; i < d->lines.n; i++) {
		if (taken[i] || !line[i].measured)
			continue;
		taken[i] = 1;
		item = cs_new_text("%s%s %s", line[i].test->name,
				   cs_variant_is_usual(&line[i].matrix->variant) ? "" :
										   "*",
				   figure(&line[i]).text);
		if (line[i].test->unit != CS_UNIT_GBS)
			item = cs_join(item, " ", "%s",
				       cs_unit_text((int)line[i].test->unit));
		put_item(&items, item);
	}
	if (items.at)
		putc('\n', to);
}

/* Tests without a figure, those of one reason together. */
static void put_missing(FILE *to, const struct cs_digest *d, size_t i, char *taken)
{
	const struct cs_digest_line *line = d->lines.data;
	const char *names = NULL;
	size_t n = 0;

	for (size_t k = i; k < d->lines.n; k++) {
		if (taken[k] || line[k].measured ||
		    strcmp(line[k].remark, line[i].remark))
			continue;
		taken[k] = 1;
		if (n++ < NAMES)
			names = cs_join(names, ", ", "%s",
					cs_digest_name(&line[k], d->run));
	}
	if (n > NAMES)
		names = cs_new_text("%s and %zu more", names, n - NAMES);
	cs_fold(to, 0, 2, "%s: %s", line[i].remark, names);
}

void cs_digest_groups_print(FILE *to, const struct cs_digest *d)
{
	const struct cs_digest_line *line = d->lines.data;
	char *taken = cs_new(char, d->lines.n);

	cs_fold(to, 0, 2,
		"medians of %zu tests in GB/s, by method (-v: a line a test)",
		d->lines.n);
	for (size_t i = 0; i < d->lines.n; i++)
		if (!taken[i] && line[i].measured && !is_alone(d, i))
			put_group(to, d, i, taken);
	put_lone(to, d, taken);
	for (size_t i = 0; i < d->lines.n; i++)
		if (!taken[i])
			put_missing(to, d, i, taken);
}
