/* summary.c - a run at a glance: tiles of different methods, and a line for each test. */
#include "report/html/parts.h"

#include <math.h>
#include <string.h>

#define TILES 8

/* ---- tiles ---- */

static void put_tile(const struct cs_html *h, const struct cs_digest_line *line,
		     const struct cs_run *run)
{
	const char *share = "";

	if (!isnan(line->share) && line->link[0])
		share = cs_new_text("%.0f %% of %s; ", 100 * line->share, line->link);
	cs_html(h, "<div class=\"tile\">");
	cs_html_in(h, "span class=\"k\"", "%s",
		   cs_test_title(line->test, line->back, NULL).text);
	cs_html(h, " <span class=\"v\">%s<small>", cs_html_figure(line->median).text);
	cs_html_text(h, "%s", cs_unit_text((int)line->test->unit));
	cs_html(h, "</small></span> ");
	cs_html_in(h, "span class=\"s\"", "%s%s to %s in %zu of %zu cells", share,
		   cs_html_figure(line->min).text, cs_html_figure(line->max).text,
		   line->measured, line->planned);
	cs_html_in(h, "span class=\"s\"", "%s", cs_digest_name(line, run));
	cs_html_line(h, "</div>");
}

/* How far down the list of tiles: the first test of a method comes before the second of
 * any, and the first method of a path before its second. */
static size_t turn_of(const struct cs_digest_line *line, size_t at)
{
	size_t same = 0, methods = 0;
	int last = -1;

	for (size_t i = 0; i < at; i++) {
		const struct cs_test *test = line[i].test;

		if (!line[i].measured || test->path != line[at].test->path)
			continue;
		same += test->method == line[at].test->method;
		methods += (int)test->method != last;
		last = (int)test->method;
	}
	return same * CS_METHODS + methods;
}

void cs_html_tiles(const struct cs_html *h, const struct cs_digest *digest)
{
	const struct cs_digest_line *line = digest->lines.data;
	size_t n = digest->lines.n, *turn = cs_new(size_t, n), most = 0, shown = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		turn[i] = turn_of(line, i);
	/* up to the last turn of which there is room for a tile */
	for (size_t k = 0; k <= (size_t)CS_METHODS * n && shown < TILES; k++)
		for (size_t i = 0; i < n; i++)
			if (line[i].measured && turn[i] == k && shown < TILES) {
				shown++;
				most = k;
			}
	cs_html(h, "<div class=\"tiles\">");
	shown = 0;
	for (size_t i = 0; i < n && shown < TILES; i++)
		if (line[i].measured && turn[i] <= most) {
			put_tile(h, &line[i], digest->run);
			shown++;
		}
	cs_html_line(h, "</div>");
}

/* ---- a line a test ---- */

static void put_figure(const struct cs_html *h, double value)
{
	cs_html(h, "<td>%s</td>", isnan(value) ? "" : cs_html_figure(value).text);
}

static int has_usual(const struct cs_digest_line *line)
{
	return line->low < line->high;
}

static void put_share(const struct cs_html *h, const struct cs_digest_line *line,
		      int with_usual)
{
	if (!isnan(line->share) && line->link[0])
		cs_html_in(h, "td", "%.0f %% of %s", 100 * line->share, line->link);
	else
		cs_html(h, "<td></td>");
	if (has_usual(line))
		cs_html(h, "<td>%.0f to %.0f %%</td>", 100 * line->low,
			100 * line->high);
	else if (with_usual)
		cs_html(h, "<td></td>");
}

static void put_line(const struct cs_html *h, const struct cs_digest_line *line,
		     const struct cs_run *run, int with_usual)
{
	cs_html(h, "<tr%s>", cs_digest_is_notable(line) ? " class=\"odd\"" : "");
	cs_html(h, "<th scope=\"row\">");
	cs_html_text(h, "%s ", cs_test_title(line->test, line->back, NULL).text);
	cs_html_in(h, "span class=\"id\"", "%s", cs_digest_name(line, run));
	cs_html(h, "</th>");
	put_figure(h, line->min);
	cs_html_in(h, "td", "%s", line->min_at);
	put_figure(h, line->median);
	put_figure(h, line->max);
	cs_html_in(h, "td", "%s", cs_unit_text((int)line->test->unit));
	put_share(h, line, with_usual);
	cs_html_in(h, "td", "%zu of %zu", line->measured, line->planned);
	cs_html_in(h, "td class=\"l\"", "%s", line->remark ? line->remark : "");
	cs_html_line(h, "</tr>");
}

void cs_html_summary(struct cs_html *h, const struct cs_digest *digest)
{
	int with_usual = 0;

	if (!digest->lines.n)
		return;
	CS_EACH(const struct cs_digest_line, line, &digest->lines)
		with_usual |= has_usual(line);
	cs_html_section(h, "All tests", "A coloured line has something odd.");
	cs_html(h, "<div class=\"wide scroll\" tabindex=\"0\" role=\"region\" "
		   "aria-label=\"All tests\"><table class=\"sort\"><thead><tr>");
	for (const char *const *head =
		     (const char *const[]){ "test", "least", "at", "median", "most",
					    "unit", "share", "usual", "cells", NULL };
	     *head; head++)
		if (with_usual || strcmp(*head, "usual") != 0)
			cs_html_in(h, "th scope=\"col\"", "%s", *head);
	cs_html(h, "<th scope=\"col\" class=\"l\">remark</th></tr></thead><tbody>");
	CS_EACH(const struct cs_digest_line, line, &digest->lines)
		put_line(h, line, digest->run, with_usual);
	cs_html_line(h, "</tbody></table></div>");
	cs_html_section_end(h);
}
