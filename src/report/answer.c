/* answer.c - what a reader wants first: what each path gives, whether all is alike, and a
 * line a test. */
#include "config.h"

#include "report/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "report/matrix.h"
#include "report/odd.h"
#include "report/parts.h"
#include "result/cells.h"

#define LINES_MOST 48 /* of a table; what is more is several tests a line */
#define ODD_MOST 15   /* of these, with a line of their own */
#define GROUP_INDENT 22

/* ---- the sentence ---- */

/* The first line of a kind with a figure; NULL. */
static const struct cs_digest_line *find(const struct cs_digest *d, enum cs_path path,
					 enum cs_pattern pattern, int back)
{
	const struct cs_digest_line *line = d->lines.data;

	for (size_t i = 0; i < d->lines.n; i++)
		if (line[i].test->path == path && line[i].test->pattern == pattern &&
		    line[i].test->unit == CS_UNIT_GBS && line[i].back == back &&
		    line[i].measured &&
		    !cs_method_is_managed((int)line[i].test->method))
			return &line[i];
	return NULL;
}

static struct cs_label figure(double x)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), x >= 99.95 ? "%.0f" : "%.1f", x);
	return label;
}

/* " (88 % of NVLink, usual)" */
static void add_share(const struct cs_digest_line *line, char *to, size_t size)
{
	long share = lround(100 * line->share);
	long low = lround(100 * line->low), high = lround(100 * line->high);

	if (isnan(line->share))
		return;
	cs_text_add(to, size, " (%ld %% of %s", share,
		    line->test->path == CS_PATH_LOCAL ? "its peak" : line->link);
	if (share < low && !isnan(line->low))
		cs_text_add(to, size, ", below the usual %ld to %ld %%", low, high);
	else if (share <= high && !isnan(line->low))
		cs_text_add(to, size, ", usual");
	cs_text_add(to, size, ")");
}

static void begin(char *to, size_t size)
{
	cs_text_add(to, size, "%s", to[0] ? "; " : "");
}

static void add_peers(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_PEER, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *both = find(d, CS_PATH_PEER, CS_PATTERN_BIDI, 0);

	if (!pair && !both)
		return;
	begin(to, size);
	cs_text_add(to, size, "%s to %s ", cs_agent_word(d->run),
		    cs_agent_word(d->run));
	if (pair) {
		cs_text_add(to, size, "%s GB/s", figure(pair->median).text);
		add_share(pair, to, size);
	}
	if (both)
		cs_text_add(to, size, "%sboth ways %s", pair ? ", " : "",
			    figure(both->together).text);
}

static void add_host(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *in = find(d, CS_PATH_H2D, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *out = find(d, CS_PATH_D2H, CS_PATTERN_PAIR, 0);
	const struct cs_digest_line *there = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 0);
	const struct cs_digest_line *back = find(d, CS_PATH_H2D, CS_PATTERN_BIDI, 1);

	if (!in && !out && !there)
		return;
	begin(to, size);
	cs_text_add(to, size, "host ");
	if (in)
		cs_text_add(to, size, "%s in%s", figure(in->median).text,
			    out ? ", " : "");
	if (out)
		cs_text_add(to, size, "%s out", figure(out->median).text);
	if (in || out)
		add_share(in ? in : out, to, size);
	if (there)
		cs_text_add(to, size, "%sboth ways %s in", in || out ? ", " : "",
			    figure(there->median).text);
	if (there && back)
		cs_text_add(to, size, ", %s out", figure(back->median).text);
}

static void add_local(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *own = find(d, CS_PATH_LOCAL, CS_PATTERN_ALONE, 0);

	if (!own)
		return;
	begin(to, size);
	cs_text_add(to, size, "own memory %s", figure(own->median).text);
	add_share(own, to, size);
}

static void add_numa(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *pair = find(d, CS_PATH_HOST, CS_PATTERN_PAIR, 0);

	if (!pair)
		return;
	begin(to, size);
	cs_text_add(to, size, "NUMA node to NUMA node %s GB/s",
		    figure(pair->median).text);
}

/* Where no path has a rate to tell: the first test with a figure. */
static void add_first(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *line = d->lines.data;

	for (size_t i = 0; i < d->lines.n; i++)
		if (line[i].measured) {
			cs_text(to, size, "%s %s %s", line[i].test->name,
				figure(line[i].median).text,
				cs_unit_text((int)line[i].test->unit));
			return;
		}
	cs_text(to, size, "nothing was measured");
}

/* ---- the verdict ---- */

/* "1 cell 33 % below its like: 0->1", of the first test; how many in all. */
static void add_odd(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_digest_line *line = d->lines.data, *first = NULL;
	size_t tests = 0, cells = 0;

	for (size_t i = 0; i < d->lines.n; i++) {
		tests += line[i].odd > 0;
		cells += line[i].odd;
		if (line[i].odd && !first)
			first = &line[i];
	}
	if (!first)
		return;
	begin(to, size);
	cs_text_add(to, size, "%s",
		    first->odd_text[0] ? first->odd_text : "cells below their like");
	if (tests > 1)
		cs_text_add(to, size, " (%zu cells of %zu tests)", cells, tests);
	cs_text_add(to, size, "%s", cs_odd_how_sure(d->run));
}

static void add_alike(const struct cs_digest *d, char *to, size_t size)
{
	const struct cs_likeness *l = &d->likeness;
	char from[16];

	if (!l->n_odd && l->n_compared) {
		begin(to, size);
		cs_text_add(to, size, "all alike within %.1f %%",
			    fmax(0.1, ceil(1000 * l->worst) / 10));
	}
	if (!l->n_compared && l->n_alone) {
		begin(to, size);
		cs_text_add(to, size, "too few cells of a kind to compare");
	}
	if (l->n_short) {
		cs_size_text(l->from_bytes, from, sizeof(from));
		begin(to, size);
		cs_text_add(to, size, "copies under %s are not compared", from);
	}
}

static void add_faults(const struct cs_run *run, char *to, size_t size)
{
	const struct cs_finding *f = run->findings.data, *first = NULL;
	size_t count[CS_CRITICAL + 1] = { 0 };

	for (size_t i = 0; i < run->findings.n; i++) {
		count[f[i].severity <= CS_CRITICAL ? f[i].severity : CS_CRITICAL]++;
		if (!first && f[i].severity >= CS_CRITICAL)
			first = &f[i];
	}
	begin(to, size);
	if (first) {
		cs_text_add(to, size, "%zu critical: ", count[CS_CRITICAL]);
		if (run->n_nodes > 1 && first->node >= 0)
			cs_text_add(to, size,
				    "%s: ", run->node[first->node].facts.host);
		cs_text_add(to, size, "%s", first->text);
	} else if (count[CS_WARNING]) {
		cs_text_add(to, size, "%zu warning%s", count[CS_WARNING],
			    count[CS_WARNING] == 1 ? "" : "s");
	} else {
		cs_text_add(to, size,
			    cs_run_coverage(run).measured ? "no errors" : "");
	}
}

/* ---- whose ---- */

/* "8 x H200", "16 nodes of 8 x H200", "7 of 8 x H200". */
static void subject_text(const struct cs_digest *d, char *to, size_t size)
{
	static const char maker[] = "NVIDIA ";
	int nodes = d->last - d->first, same = 1, of;
	const struct cs_run_node *nd;
	const char *name;

	cs_text(to, size, "no node");
	if (nodes < 1)
		return;
	nd = &d->run->node[d->first];
	of = nd->facts.n_known_gpus;
	name = nd->facts.n_agents > 0 ? nd->agent[0].gpu.name : "GPU";
	for (int node = d->first; node < d->last; node++) {
		const struct cs_run_node *other = &d->run->node[node];

		same &= other->facts.n_agents == nd->facts.n_agents;
		for (int a = 0; a < other->facts.n_agents; a++)
			same &= !strcmp(other->agent[a].gpu.name, name);
	}
	to[0] = '\0';
	if (nodes > 1)
		cs_text(to, size, "%d nodes%s", nodes, same ? " of " : "");
	if (!same && nodes > 1)
		return;
	cs_text_add(to, size, "%d ", nd->facts.n_agents);
	if (!cs_on_cpu(d->run) && of > nd->facts.n_agents)
		cs_text_add(to, size, "of %d ", of);
	if (!same)
		cs_text_add(to, size, "GPUs");
	else
		cs_text_add(to, size, "x %s",
			    strncmp(name, maker, sizeof(maker) - 1) ?
				    name :
				    name + sizeof(maker) - 1);
}

void cs_answer_print(FILE *to, const struct cs_digest *d, const char *what)
{
	char paths[1000] = "", verdict[CS_ERR_TEXT + 600] = "", subject[160];

	subject_text(d, subject, sizeof(subject));
	add_peers(d, paths, sizeof(paths));
	add_host(d, paths, sizeof(paths));
	add_local(d, paths, sizeof(paths));
	add_numa(d, paths, sizeof(paths));
	if (!paths[0])
		add_first(d, paths, sizeof(paths));
	if (*what && d->run->n_nodes && d->run->node[d->first].facts.n_agents == 1)
		cs_text_add(paths, sizeof(paths), "; nothing between GPUs to measure");
	add_odd(d, verdict, sizeof(verdict));
	add_alike(d, verdict, sizeof(verdict));
	add_faults(d->run, verdict, sizeof(verdict));
	cs_fold(to, 0, 2, "%s%s%s: %s%s%s", what, *what ? ": " : "", subject, paths,
		verdict[0] ? "; " : "", verdict);
}

/* ---- the table ---- */

enum { NAME, UNIT, MIN, AT, MEDIAN, MAX, SHARE, USUAL, COLUMNS };

struct entry {
	char cell[COLUMNS][128];
	char remark[600];
};

static const struct {
	const char *head;
	int left;
} column[COLUMNS] = {
	[NAME] = { "", 1 },	  [UNIT] = { "", 1 },	      [MIN] = { "min", 0 },
	[AT] = { "at", 1 },	  [MEDIAN] = { "median", 0 }, [MAX] = { "max", 0 },
	[SHARE] = { "share", 1 }, [USUAL] = { "usual", 1 },
};

struct table {
	const struct cs_digest *d;
	struct entry *entry; /* the first is the head; malloc'ed */
	size_t n;
	int width[COLUMNS]; /* 0: not shown */
};

static void put_number(char *to, size_t size, const struct cs_test *test, double x)
{
	if (isnan(x))
		cs_text(to, size, "-");
	else
		cs_text(to, size, "%.*f", cs_decimals(test), x);
}

/* "83-89 %" */
static void usual_text(const struct cs_digest_line *line, char *to, size_t size)
{
	to[0] = '\0';
	if (!isnan(line->low))
		cs_text(to, size, "%.0f-%.0f %%", 100 * line->low, 100 * line->high);
}

static void make_entry(const struct cs_digest *d, const struct cs_digest_line *line,
		       struct entry *e)
{
	const size_t size = sizeof(e->cell[0]);

	cs_digest_name(line, d->run, e->cell[NAME], size);
	if (line->test->unit != CS_UNIT_GBS)
		cs_text(e->cell[UNIT], size, "%s",
			cs_unit_text((int)line->test->unit));
	put_number(e->cell[MIN], size, line->test, line->min);
	cs_text(e->cell[AT], size, "%s", line->min_at);
	put_number(e->cell[MEDIAN], size, line->test, line->median);
	put_number(e->cell[MAX], size, line->test, line->max);
	if (!isnan(line->share))
		cs_text(e->cell[SHARE], size, "%.0f %% %.*s", 100 * line->share,
			(int)strcspn(line->link, " "), line->link);
	usual_text(line, e->cell[USUAL], size);
	if (line->points > 1)
		cs_text(e->remark, sizeof(e->remark), "the best of %u%s",
			line->points, line->remark[0] ? "; " : "");
	cs_text_add(e->remark, sizeof(e->remark), "%s", line->remark);
}

static int total_width(const struct table *t)
{
	int total = 0;

	for (int c = 0; c < COLUMNS; c++)
		total += t->width[c] ? t->width[c] + 2 : 0;
	return total - 2;
}

/* A column that has no room: what it says goes to the remarks. */
static void drop_column(struct table *t, int c, const char *what)
{
	char was[sizeof(t->entry->remark)];

	t->width[c] = 0;
	for (size_t i = 1; i < t->n; i++) {
		struct entry *e = &t->entry[i];

		if (!e->cell[c][0])
			continue;
		cs_text(was, sizeof(was), "%s", e->remark);
		cs_text(e->remark, sizeof(e->remark), "%s %s%s%s", what, e->cell[c],
			was[0] ? "; " : "", was);
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

/* ---- many tests ---- */

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
	struct items items = { to, width, GROUP_INDENT };
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

static void put_groups(FILE *to, const struct cs_digest *d, char *taken)
{
	const struct cs_digest_line *line = d->lines.data;

	cs_fold(to, 0, 2,
		"medians of %zu tests in GB/s, by method (-v: a line a test)",
		d->lines.n);
	for (size_t i = 0; i < d->lines.n; i++)
		if (!taken[i] && line[i].measured)
			put_group(to, d, i, taken);
	for (size_t i = 0; i < d->lines.n; i++)
		if (!taken[i])
			put_missing(to, d, i, taken);
}

/* ---- all ---- */

/* A line for each test; of many for those alone that are notable. */
static int choose(struct table *t, int all)
{
	const struct cs_digest_line *line = t->d->lines.data;

	t->entry = calloc(t->d->lines.n + 1, sizeof(*t->entry));
	if (!t->entry)
		return -1;
	for (int c = 0; c < COLUMNS; c++)
		cs_text(t->entry[0].cell[c], sizeof(t->entry[0].cell[c]), "%s",
			column[c].head);
	cs_text(t->entry[0].cell[NAME], sizeof(t->entry[0].cell[NAME]), "GB/s");
	t->n = 1;
	for (size_t i = 0; i < t->d->lines.n; i++) {
		if (!all && (!cs_digest_is_notable(&line[i]) || !line[i].measured ||
			     t->n > ODD_MOST))
			continue;
		make_entry(t->d, &line[i], &t->entry[t->n++]);
	}
	return 0;
}

int cs_digest_print(FILE *to, const struct cs_digest *d, int verbose)
{
	struct table t = { .d = d };
	int all = verbose || d->lines.n <= LINES_MOST;
	char *taken = calloc(d->lines.n + 1, 1);

	if (!taken || choose(&t, all)) {
		free(taken);
		return -1;
	}
	lay_out(&t);
	for (size_t i = 0; i < t.n && t.n > 1; i++)
		put_entry(to, &t, &t.entry[i]);
	/* those that have a line stand with their like as well */
	if (!all)
		put_groups(to, d, taken);
	free(t.entry);
	free(taken);
	return 0;
}
