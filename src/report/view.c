#include "report/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/print.h"
#include "base/units.h"
#include "result/pool.h"

/* ---- the page ---- */

static _Thread_local struct cs_page current;

struct cs_page cs_page_turn(struct cs_page page)
{
	struct cs_page was = current;

	current = page;
	return was;
}

static void turn_back(void *was)
{
	current = *(struct cs_page *)was;
}

void cs_page_within(struct cs_page page)
{
	struct cs_page *was = cs_new(struct cs_page, 1);

	*was = current;
	cs_arena_at_end(turn_back, was);
	current = page;
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

/* ---- in the arena ---- */

const char *cs_new_size(uint64_t bytes)
{
	char *text = cs_new(char, 16);

	cs_size_text(bytes, text, 16);
	return text;
}

const char *cs_new_start(const struct cs_run *run)
{
	char *text = cs_new(char, 32);

	cs_time_text(&run->started, text, 32);
	return text;
}

char *cs_hosts_text(const struct cs_run *run, const int *nodes, size_t n, size_t size)
{
	const char **name = cs_new(const char *, n);
	char *text = cs_new(char, size);

	for (size_t i = 0; i < n; i++)
		name[i] = run->node[nodes[i]].facts.host;
	if (n)
		cs_hostlist_fold(name, n, text, size);
	else
		cs_text(text, size, "none");
	return text;
}

static void release_draft(void *what)
{
	struct cs_draft *draft = what;

	if (draft->to)
		fclose(draft->to);
	free(draft->text);
}

struct cs_draft *cs_draft_begin(void)
{
	struct cs_draft *draft = cs_new(struct cs_draft, 1);

	cs_arena_at_end(release_draft, draft);
	draft->to = open_memstream(&draft->text, &draft->n);
	cs_arena_check(!draft->to);
	return draft;
}

const char *cs_draft_end(struct cs_draft *draft)
{
	int rc = fclose(draft->to);

	draft->to = NULL;
	cs_arena_check(rc);
	return draft->text;
}

const struct cs_view *cs_view_pooled(const struct cs_run *run,
				     const struct cs_view_options *opt)
{
	struct cs_view *view = cs_new(struct cs_view, 1);

	*view = (struct cs_view){ cs_pool_new(run), run, opt };
	return view;
}

/* ---- checked samples ---- */

void cs_checked_add(struct cs_checked *sum, const struct cs_row *row)
{
	if (row->flags & CS_ROW_SHARED)
		return;
	sum->samples += row->checked;
	sum->whole += row->checked_whole;
	sum->part += row->checked_part;
}

static char *add_checked(const struct cs_checked *sum, const char *what, uint64_t n,
			 char *text)
{
	if (n && n == sum->samples)
		return cs_new_text("%s each", what);
	return n ? cs_join(text, ", ", "%s %" PRIu64, what, n) : text;
}

const char *cs_checked_text(const struct cs_checked *sum)
{
	char *text = cs_new(char, 1);

	text = add_checked(sum, "every copy of", sum->whole, text);
	text = add_checked(sum, "the last copy of",
			   sum->samples - sum->whole - sum->part, text);
	return add_checked(sum, "a part of the last copy of", sum->part, text);
}

/* ---- folded lines ---- */

/* A number and its % are not parted. */
static size_t word_of(const char *at)
{
	size_t n = strcspn(at, " ");

	while (strncmp(at + n, " %", 2) == 0)
		n += 1 + strcspn(at + n + 1, " ");
	return n;
}

/* A part of a word that is longer than a line: up to its last comma, or as much as
 * fits. */
static size_t part_of(const char *at, size_t room)
{
	for (size_t n = room; n > 1; n--)
		if (at[n - 1] == ',')
			return n;
	return room;
}

void cs_fold(FILE *to, int first, int rest, const char *fmt, ...)
{
	char *text, *at, *end;
	int column = first;
	va_list args;
	CS_SCOPE;

	va_start(args, fmt);
	text = cs_new_vtext(fmt, args);
	va_end(args);
	cs_clean(text);
	cs_print(to, "%*s", first, "");
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
			cs_print(to, "%*s", rest, "");
			column = first = rest;
		} else {
			cs_print(to, "%*s", (int)blanks, "");
			column += (int)blanks;
		}
		fwrite(end - word, 1, word, to);
		column += (int)word;
	}
	putc('\n', to);
}

const char *cs_mask_text(const struct cs_run *run)
{
	const char *mask = NULL;

	for (int node = 0; node < run->n_nodes && !mask && run->stand_in; node++)
		if (run->node[node].ranks)
			mask = strstr(run->node[node].ranks[0].environment,
				      "CUDA_VISIBLE_DEVICES=");
	return !mask ? "" :
		       cs_new_text("%.*s is set: it hides every GPU that it does not name",
				   (int)strcspn(mask, " "), mask);
}
