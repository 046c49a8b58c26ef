/* forest.c - two sides compared: a line a matrix, with how many times better side B is and
 * the 95 % interval of every cell on one logarithmic axis; then all cells as a table. */
#include "report/html/parts.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

/* On a phone the verdicts are seen, and most of the axis. */
#define LEFT 16.0
#define WIDTH 560.0
#define RIGHT 24.0
#define VERDICT 172.0 /* before the id of a matrix, above its intervals */
#define LINE 56.0
#define TOP 40.0

struct axis {
	double least, most; /* ratios */
};

/* B over A, more is better. */
static double ratio_of(const struct cs_versus_matrix *m, double difference)
{
	const struct cs_test *test = cs_test_at(m->test);

	return cs_unit_low_is_better((int)test->unit) ? 1 / (1 + difference) :
							1 + difference;
}

static double x_of(const struct axis *axis, double ratio)
{
	double at = log(ratio / axis->least) / log(axis->most / axis->least);

	return LEFT + (WIDTH - LEFT - RIGHT) * fmin(fmax(at, 0), 1);
}

static const struct cs_versus_cell *cells_of(const struct cs_versus *v)
{
	return v->cells.data;
}

/* Wide enough for all, and for 10 % at least. */
static struct axis axis_of(const struct cs_versus *v)
{
	struct axis axis = { 0.9, 1.1 };

	CS_EACH(const struct cs_versus_matrix, m, &v->matrices)
		for (size_t k = 0; k < m->n; k++) {
			const struct cs_comparison *c = &cells_of(v)[m->first + k].c;
			double low = ratio_of(m,
					      isnan(c->low) ? c->difference : c->low);
			double high = ratio_of(m, isnan(c->high) ? c->difference :
								   c->high);

			if (c->verdict == CS_VERDICT_NONE || !(low > 0) ||
			    !(high > 0) || !isfinite(low) || !isfinite(high))
				continue;
			axis.least = fmin(axis.least, fmin(low, high));
			axis.most = fmax(axis.most, fmax(low, high));
		}
	axis.least = fmax(axis.least, 0.05);
	axis.most = fmin(axis.most, 20);
	return axis;
}

static void put_ticks(struct cs_html *h, const struct axis *axis, double bottom)
{
	static const double at[] = { 0.1,  0.2, 0.5,  0.8, 0.9, 0.95, 1,
				     1.05, 1.1, 1.25, 2,   5,	10 };
	double last = -INFINITY;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		double x = x_of(axis, at[i]);
		struct cs_pen pen = { x, bottom + 16, 11, CS_MIDDLE, CS_INK_MUTE, 0 };

		if (at[i] < axis->least * 0.999 || at[i] > axis->most * 1.001)
			continue;
		if (at[i] != 1 && (x < last + 44 || fabs(x - x_of(axis, 1)) < 44))
			continue;
		cs_svg_line(h, &(struct cs_box){ x, TOP - 6, x, bottom },
			    at[i] == 1 ? CS_INK_AXIS : CS_INK_GRID, 1);
		cs_svg_text(h, &pen, at[i] == 1 ? "equal" : "%g x", at[i]);
		last = x;
	}
}

static enum cs_ink ink_of(uint32_t verdict)
{
	switch (verdict) {
	case CS_VERDICT_FASTER:
		return CS_INK_GOOD;
	case CS_VERDICT_SLOWER:
		return CS_INK_BAD;
	case CS_VERDICT_MIXED:
	case CS_VERDICT_DIFFERS:
		return CS_INK_WARN;
	default:
		return CS_INK_MUTE;
	}
}

/* Each cell's interval, then its difference; NAN ends: the figure alone. */
static void put_cells(struct cs_html *h, const struct cs_versus *v,
		      const struct cs_versus_matrix *m, const struct axis *axis,
		      double y)
{
	cs_html(h, "<path stroke-width=\"5\" stroke-opacity=\".3\" d=\"");
	for (size_t k = 0; k < m->n; k++) {
		const struct cs_comparison *c = &cells_of(v)[m->first + k].c;

		if (c->verdict != CS_VERDICT_NONE && isfinite(c->low) &&
		    isfinite(c->high))
			cs_html(h, "M%.5g %.5gH%.5g", x_of(axis, ratio_of(m, c->low)),
				y, x_of(axis, ratio_of(m, c->high)));
	}
	cs_html(h, "\"");
	cs_svg_stroke(h, CS_INK_MEASURED, "/><path stroke-width=\"1.6\" d=\"");
	for (size_t k = 0; k < m->n; k++) {
		const struct cs_comparison *c = &cells_of(v)[m->first + k].c;

		if (c->verdict != CS_VERDICT_NONE && isfinite(c->difference))
			cs_html(h, "M%.5g %.5gv10",
				x_of(axis, ratio_of(m, c->difference)), y - 5);
	}
	cs_html(h, "\"");
	cs_svg_stroke(h, ink_of(m->sum.verdict), "/>");
}

static const char *name_of(const struct cs_versus_matrix *m)
{
	const struct cs_test *test = cs_test_at(m->test);
	const int is_usual = cs_variant_is_usual(&m->variant);

	return cs_new_text("%s %s%s%s", cs_figure_name(test, (int)m->metric),
			   test->bytes ? "" : cs_new_size(m->bytes),
			   is_usual ? "" : ", ",
			   is_usual ? "" : cs_variant_words(&m->variant).text);
}

static const char *title_of(const struct cs_versus_matrix *m)
{
	const struct cs_test *test = cs_test_at(m->test);

	return cs_new_text("%s", cs_test_title(test, 0, test->alone).text);
}

/* ", up to -17.5 %" of the cell that differs most; of a matrix that is the same that of its
 * medians, ", +0.1 %". */
static const char *difference_of(const struct cs_versus *v,
				 const struct cs_versus_matrix *m)
{
	const int is_worst = m->sum.verdict != CS_VERDICT_SAME && m->sum.n_worst;
	const double x = is_worst ?
				 cells_of(v)[m->first + m->sum.worst[0]].c.difference :
				 m->b / m->a - 1;

	return isfinite(x) ? cs_new_text(", %s%+.1f %%", is_worst ? "up to " : "",
					 cs_percent(x, 1)) :
			     "";
}

static void put_matrix(struct cs_html *h, const struct cs_versus *v,
		       const struct cs_versus_matrix *m, const struct axis *axis,
		       double y)
{
	struct cs_pen pen = { LEFT, y - 14, 12, CS_START, CS_INK, 0 };

	cs_svg_text(h, &pen, "%s", title_of(m));
	pen = (struct cs_pen){ LEFT + VERDICT, y + 2, 11, CS_START, CS_INK_MUTE, 0 };
	cs_svg_text(h, &pen, "%s", name_of(m));
	put_cells(h, v, m, axis, y + 16);
	pen = (struct cs_pen){ LEFT, y + 2, 12, CS_START, ink_of(m->sum.verdict), 1 };
	cs_svg_text(h, &pen, "%s%s", cs_verdict_text((int)m->sum.verdict),
		    difference_of(v, m));
}

const char *cs_html_side(const struct cs_versus *v, int side)
{
	const char *a = strrchr(v->name[0], '/'), *b = strrchr(v->name[1], '/');

	if (strcmp(a ? a + 1 : v->name[0], b ? b + 1 : v->name[1]) == 0)
		return v->name[side];
	return side ? (b ? b + 1 : v->name[1]) : (a ? a + 1 : v->name[0]);
}

void cs_html_forest(struct cs_html *h, const struct cs_versus *v)
{
	const struct cs_versus_matrix *m = v->matrices.data;
	struct axis axis = axis_of(v);
	double bottom = TOP + LINE * (double)v->matrices.n, middle = x_of(&axis, 1);

	if (!v->matrices.n)
		return;
	cs_html_wide(h, "Ratios of two sides");
	cs_svg_begin(h, WIDTH, bottom + 26, "Ratios of two sides");
	cs_svg_describe(h, "%zu matrices of %s against %s", v->matrices.n, v->name[1],
			v->name[0]);
	put_ticks(h, &axis, bottom);
	cs_svg_text(h,
		    &(struct cs_pen){ middle - 12, 16, 11.5, CS_END, CS_INK_MUTE, 0 },
		    "%.40s is better", cs_html_side(v, 0));
	cs_svg_text(h,
		    &(struct cs_pen){ middle + 12, 16, 11.5, CS_START, CS_INK_MUTE, 0 },
		    "%.40s is better", cs_html_side(v, 1));
	for (size_t i = 0; i < v->matrices.n; i++)
		put_matrix(h, v, &m[i], &axis, TOP + LINE * ((double)i + 0.5));
	cs_svg_end(h);
	cs_html(h, "</div>");
}

/* ---- the table ---- */

static void put_value(struct cs_html *h, double x)
{
	if (isfinite(x))
		cs_html(h, "<td>%.6g</td>", x);
	else
		cs_html(h, "<td></td>");
}

static void put_percent(struct cs_html *h, double share)
{
	if (isfinite(share))
		cs_html(h, "<td>%+.2f %%</td>", cs_percent(share, 2));
	else
		cs_html(h, "<td></td>");
}

static void put_cell(struct cs_html *h, const struct cs_versus_cell *cell)
{
	const struct cs_comparison *c = &cell->c;

	cs_html(h, "<tr>");
	cs_html_in(h, "th scope=\"row\"", "%s%s%s", cell->host,
		   cell->host[0] ? " " : "", cell->label);
	put_value(h, c->a);
	put_value(h, c->b);
	put_percent(h, c->difference);
	put_percent(h, c->low);
	put_percent(h, c->high);
	cs_html_in(h, "td", "%s", cs_verdict_text((int)c->verdict));
	cs_html(h, "</tr>");
}

void cs_html_versus_table(struct cs_html *h, const struct cs_versus *v)
{
	cs_html(h, "<details><summary>All cells</summary>");
	CS_EACH(const struct cs_versus_matrix, m, &v->matrices) {
		cs_html_wide(h, "Figures");
		cs_html(h, "<table>");
		cs_html_in(h, "caption", "%s (%s)", title_of(m), name_of(m));
		cs_html(h, "<tr><th>cell</th>");
		cs_html_in(h, "th", "%s", v->name[0]);
		cs_html_in(h, "th", "%s", v->name[1]);
		cs_html(h, "<th>difference</th><th>from</th><th>to</th><th>verdict</th>"
			   "</tr>");
		for (size_t k = 0; k < m->n; k++)
			put_cell(h, &cells_of(v)[m->first + k]);
		cs_html_line(h, "</table></div>");
	}
	cs_html(h, "</details>");
}
