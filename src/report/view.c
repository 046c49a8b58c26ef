#include "config.h"

#include "report/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/print.h"
#include "report/report.h"
#include "result/pool.h"

/* ---- the page ---- */

static _Thread_local struct cs_page current;

struct cs_page cs_page_turn(struct cs_page page)
{
	struct cs_page was = current;

	current = page;
	return was;
}

int cs_columns(void)
{
	return current.columns > 0 ? current.columns : CS_COLUMNS;
}

int cs_is_coloured(void)
{
	return current.colour;
}

int cs_decimals(const struct cs_test *test)
{
	return test->unit == CS_UNIT_COPIES || test->unit == CS_UNIT_GFLOPS ? 0 : 2;
}

int cs_write_pooled(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt,
		    int (*write)(FILE *to, const struct cs_view *view))
{
	struct cs_run pooled;
	const struct cs_view view = { &pooled, run, opt };
	struct cs_err err;
	int rc = cs_pool_make(run, &pooled, &err) || write(to, &view);

	cs_pool_release(&pooled, run);
	if (rc && !ferror(to))
		errno = ENOMEM;
	return rc || ferror(to) ? -1 : 0;
}

/* ---- what was checked ---- */

void cs_checked_add(struct cs_checked *sum, const struct cs_row *row)
{
	if (row->flags & CS_ROW_SHARED)
		return;
	sum->samples += row->checked;
	sum->whole += row->checked_whole;
	sum->part += row->checked_part;
}

static void add_checked(const struct cs_checked *sum, const char *what, uint64_t n,
			char *to, size_t size)
{
	if (n && n == sum->samples)
		cs_text(to, size, "%s each", what);
	else if (n)
		cs_text_add(to, size, "%s%s %" PRIu64, to[0] ? ", " : "", what, n);
}

void cs_checked_text(const struct cs_checked *sum, char *to, size_t size)
{
	to[0] = '\0';
	add_checked(sum, "every copy of", sum->whole, to, size);
	add_checked(sum, "the last copy of", sum->samples - sum->whole - sum->part,
		    to, size);
	add_checked(sum, "a part of the last copy of", sum->part, to, size);
}

/* ---- host lists ---- */

void cs_hosts_text(const struct cs_run *run, const int *nodes, size_t n, char *to,
		   size_t size)
{
	const char **name = calloc(n + 1, sizeof(*name));

	to[0] = '\0';
	for (size_t i = 0; name && i < n; i++)
		name[i] = run->node[nodes[i]].facts.host;
	if (name)
		cs_hostlist_fold(name, n, to, size);
	free(name);
}

/* ---- folded lines ---- */

static void put_blanks(FILE *to, int n)
{
	cs_print(to, "%*s", n, "");
}

/* A number and its % are not parted. */
static size_t word_of(const char *at)
{
	size_t n = strcspn(at, " ");

	while (strncmp(at + n, " %", 2) == 0)
		n += 1 + strcspn(at + n + 1, " ");
	return n;
}

/* Of a word that no line has room for: up to its last comma, or as much as there is. */
static size_t part_of(const char *at, size_t room)
{
	for (size_t n = room; n > 1; n--)
		if (at[n - 1] == ',')
			return n;
	return room;
}

void cs_fold(FILE *to, int first, int rest, const char *fmt, ...)
{
	char *text = NULL, *at, *end;
	int column = first;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	cs_clean(text);
	put_blanks(to, first);
	for (at = text; *at; at = end) {
		size_t blanks = strspn(at, " ");
		size_t word = word_of(at + blanks);
		int room = cs_columns() - column - (int)blanks;

		if ((int)word > cs_columns() - rest)
			word = part_of(at + blanks, (size_t)(cs_columns() - rest));
		end = at + blanks + word;
		if (!word)
			break;
		if (column > first && (int)word > room) {
			putc('\n', to);
			put_blanks(to, rest);
			column = first = rest;
		} else {
			put_blanks(to, (int)blanks);
			column += (int)blanks;
		}
		fwrite(end - word, 1, word, to);
		column += (int)word;
	}
	putc('\n', to);
	free(text);
}

void cs_mask_text(const struct cs_run *run, char *to, size_t size)
{
	const char *mask = NULL;

	for (int node = 0; node < run->n_nodes && !mask && run->stand_in; node++)
		if (run->node[node].ranks)
			mask = strstr(run->node[node].ranks[0].environment,
				      "CUDA_VISIBLE_DEVICES=");
	to[0] = '\0';
	if (mask)
		cs_text(to, size,
			"%.*s is set: it hides every GPU that it does not name",
			(int)strcspn(mask, " "), mask);
}
