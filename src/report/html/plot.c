/* plot.c - curves by size, threads or elements: medians over all cells, with a band from
 * the lowest to the highest end of their intervals. */
#include "report/html/parts.h"

#include <math.h>
#include <string.h>

#include "check/link/expect.h"

#define SERIES 6   /* of one plot: as many colours as there are */
#define WIDTH 520.0
#define LEFT 56.0
#define RIGHT 32.0
#define TOP 14.0
#define HEIGHT 260.0 /* of the plot itself */

struct plot {
	const struct cs_run *run;
	int nodes[2];
	enum cs_path path;
	enum cs_unit unit;
	const char *by;
	struct cs_curve curve[SERIES];
	const struct cs_test *test[SERIES];
	int back[SERIES], n;
	double x0, x1, y0, y1;
	int log_y; /* times, over many powers of ten */
	double peak;
};

/* ---- scales ---- */

static double x_of(const struct plot *p, double x)
{
	double all = log(p->x1 / p->x0);

	return LEFT + (WIDTH - LEFT - RIGHT) * (all > 0 ? log(x / p->x0) / all : 0.5);
}

static double y_of(const struct plot *p, double y)
{
	double at = p->log_y ? log(y / p->y0) / log(p->y1 / p->y0) :
			       (y - p->y0) / (p->y1 - p->y0);

	return TOP + HEIGHT * (1 - fmin(fmax(at, 0), 1));
}

/* 1, 2 or 5 times a power of ten: at most six of them up to `most`. */
static double step_of(double most)
{
	double step = pow(10, floor(log10(most / 6)));

	if (most / step > 30)
		return step * 10;
	return most / step > 12 ? step * 5 : most / step > 6 ? step * 2 : step;
}

static void take_range(struct plot *p, const struct cs_curve_point *point)
{
	if (isnan(point->median))
		return;
	p->x0 = fmin(p->x0, point->at);
	p->x1 = fmax(p->x1, point->at);
	p->y0 = fmin(p->y0, fmin(point->median, point->low));
	p->y1 = fmax(p->y1, fmax(point->median, point->high));
}

static double peak_of(const struct plot *p)
{
	const struct cs_run_node *nd = &p->run->node[p->nodes[0]];
	const struct cs_link_facts *link = nd->facts.n_agents > 0 ?
						 &nd->agent[0].link :
						 NULL;

	if (!link || p->unit != CS_UNIT_GBS || cs_on_cpu(p->run))
		return NAN;
	if (p->path == CS_PATH_PEER && link->nvlinks_max)
		return cs_nvlink_peak_gbs(link);
	if (p->path == CS_PATH_LOCAL || p->path == CS_PATH_HOST)
		return NAN;
	return p->path == CS_PATH_PEER ? cs_link_pcie_gbs(link) :
					 cs_host_peak_gbs(&nd->agent[0]);
}

/* 0: there is nothing to draw. */
static int set_scales(struct plot *p)
{
	p->x0 = p->y0 = INFINITY;
	p->x1 = p->y1 = -INFINITY;
	for (int i = 0; i < p->n; i++)
		for (int k = 0; k < p->curve[i].n; k++)
			take_range(p, &p->curve[i].point[k]);
	if (!(p->x1 >= p->x0) || !(p->y1 > 0))
		return 0;
	p->peak = peak_of(p);
	p->log_y = p->unit != CS_UNIT_GBS && p->y0 > 0 && p->y1 > 20 * p->y0;
	if (p->log_y) {
		p->y0 = pow(10, floor(log10(p->y0)));
		p->y1 = pow(10, ceil(log10(p->y1)));
	} else {
		p->y0 = 0;
		p->y1 = p->y1 * 2 > p->peak ? fmax(p->y1, p->peak) : p->y1;
		p->y1 = ceil(p->y1 / step_of(p->y1)) * step_of(p->y1);
	}
	return 1;
}

/* ---- drawing ---- */

static void put_level(struct cs_html *h, const struct plot *p, double y)
{
	struct cs_pen pen = { LEFT - 8, y_of(p, y) + 4, 11, CS_END, CS_INK_MUTE, 0 };

	cs_svg_line(h, &(struct cs_box){ LEFT, y_of(p, y), WIDTH - RIGHT, y_of(p, y) },
		    CS_INK_GRID, 1);
	cs_svg_text(h, &pen, "%g", y);
}

static void put_levels(struct cs_html *h, const struct plot *p)
{
	if (p->log_y) {
		for (double y = p->y0; y <= p->y1 * 1.001; y *= 10)
			put_level(h, p, y);
	} else {
		double step = step_of(p->y1);

		for (int i = 0; i * step <= p->y1 * 1.001; i++)
			put_level(h, p, i * step);
	}
	if (p->peak <= p->y1) {
		double y = y_of(p, p->peak);

		cs_svg_line(h, &(struct cs_box){ LEFT, y, WIDTH - RIGHT, y },
			    CS_INK_AXIS, 1.5);
		cs_svg_text(h,
			    &(struct cs_pen){ LEFT + 4, y + 13, 10.5, CS_START,
					      CS_INK_MUTE, 0 },
			    "link %.0f GB/s", p->peak);
	}
}

/* Every point of the longest curve, as far as there is room. */
static void put_axis(struct cs_html *h, const struct plot *p)
{
	const struct cs_curve *longest = &p->curve[0];
	double last = -INFINITY;

	for (int i = 1; i < p->n; i++)
		if (p->curve[i].n > longest->n)
			longest = &p->curve[i];
	for (int k = 0; k < longest->n; k++) {
		double x = x_of(p, longest->point[k].at);
		struct cs_pen pen = { x,	 TOP + HEIGHT + 17, 11,
				      CS_MIDDLE, CS_INK_MUTE,	    0 };

		if (longest->point[k].at < p->x0 || longest->point[k].at > p->x1 ||
		    x < last + 54)
			continue;
		cs_svg_text(h, &pen, "%s", longest->point[k].text);
		last = x;
	}
}

static void put_band(struct cs_html *h, const struct plot *p, int i)
{
	const struct cs_curve *c = &p->curve[i];
	int n = 0;

	for (int k = 0; k < c->n; k++)
		if (!isnan(c->point[k].low))
			cs_html(h, "%s%.4g %.4g", n++ ? "L" : "<path d=\"M",
				x_of(p, c->point[k].at), y_of(p, c->point[k].high));
	for (int k = c->n; k-- > 0;)
		if (!isnan(c->point[k].low))
			cs_html(h, "L%.4g %.4g", x_of(p, c->point[k].at),
				y_of(p, c->point[k].low));
	if (!n)
		return;
	cs_html(h, "Z\" fill-opacity=\".2\"");
	cs_svg_fill(h, (enum cs_ink)(CS_INK_CURVE + i), "/>");
}

static void put_curve(struct cs_html *h, const struct plot *p, int i)
{
	const struct cs_curve *c = &p->curve[i];
	enum cs_ink ink = (enum cs_ink)(CS_INK_CURVE + i);
	int n = 0;

	put_band(h, p, i);
	cs_html(h, "<path d=\"");
	for (int k = 0; k < c->n; k++)
		if (!isnan(c->point[k].median))
			cs_html(h, "%s%.4g %.4g", n++ ? "L" : "M",
				x_of(p, c->point[k].at), y_of(p, c->point[k].median));
	cs_html(h, "\" fill=\"none\" stroke-width=\"2.2\"");
	cs_svg_stroke(h, ink, "/>");
	for (int k = 0; k < c->n; k++) {
		const struct cs_curve_point *point = &c->point[k];

		if (isnan(point->median))
			continue;
		cs_html(h, "<circle cx=\"%.4g\" cy=\"%.4g\" r=\"3\"",
			x_of(p, point->at), y_of(p, point->median));
		cs_svg_fill(h, ink, "");
		cs_html(h, "><title>%s", cs_html_figure(point->median).text);
		cs_html_text(h, " %s at %s", cs_unit_text((int)p->unit), point->text);
		cs_html(h, "</title></circle>");
	}
}

/* The name of each, and the most it gives, the least of a time. */
static void put_names(struct cs_html *h, const struct plot *p)
{
	int low = cs_unit_low_is_better((int)p->unit);

	cs_html(h, "<ul class=\"key\">");
	for (int i = 0; i < p->n; i++) {
		double best = NAN;

		for (int k = 0; k < p->curve[i].n; k++)
			best = low ? fmin(best, p->curve[i].point[k].median) :
				     fmax(best, p->curve[i].point[k].median);
		cs_html(h, "<li><svg viewBox=\"0 0 16 8\" width=\"16\" height=\"8\" "
			   "aria-hidden=\"true\">");
		cs_svg_line(h, &(struct cs_box){ 0, 4, 16, 4 },
			    (enum cs_ink)(CS_INK_CURVE + i), 4);
		cs_html(h, "</svg> ");
		cs_html_in(h, "b", "%s",
			   cs_test_title(p->test[i], p->back[i], NULL).text);
		cs_html(h, " ");
		cs_html_in(h, "span class=\"id\"", "%s", p->test[i]->name);
		cs_html_text(h, " %s %s %s", low ? "least" : "most",
			     cs_html_figure(best).text, cs_unit_text((int)p->unit));
		cs_html(h, "</li>");
	}
	cs_html_line(h, "</ul>");
}

static void put_plot(struct cs_html *h, struct plot *p)
{
	if (!set_scales(p))
		return;
	cs_html(h, "<figure>");
	cs_svg_begin(h, WIDTH, TOP + HEIGHT + 28, "Figures along an axis");
	cs_svg_describe(h, "%s by %s: %d curve%s, from %s %s on", p->test[0]->name,
			p->by, p->n, p->n == 1 ? "" : "s", cs_html_figure(p->y0).text,
			cs_unit_text((int)p->unit));
	put_levels(h, p);
	put_axis(h, p);
	for (int i = 0; i < p->n; i++)
		put_curve(h, p, i);
	cs_svg_end(h);
	put_names(h, p);
	cs_html(h, "<p class=\"fig\">");
	cs_html_text(h, "%s by %s, medians over all cells; bands are their intervals",
		     cs_unit_text((int)p->unit), p->by);
	cs_html_line(h, "</p></figure>");
}

/* ---- curves of one plot ---- */

static int is_of(const struct plot *p, const struct cs_grid *grid, const char *by)
{
	return p->n && p->n < SERIES && p->path == grid->test->path &&
	       p->unit == grid->test->unit && !strcmp(p->by, by);
}

/* Figures along more than one axis are a table. */
static void put_table(struct cs_html *h, const struct plot *p, uint32_t index)
{
	struct cs_draft *draft = cs_draft_begin();

	cs_curve_print(draft->to, p->run, p->nodes[0], p->nodes[1], index);
	cs_html_pre(h, cs_draft_end(draft));
}

/* Into the plot that is open; one that is full or of something else is drawn first. */
static void take(struct cs_html *h, struct plot *p, uint32_t index)
{
	const struct cs_grid grid = cs_grid_head(p->run, index);
	const struct cs_curve curve = cs_curve_new(p->run, p->nodes, index);

	if (!curve.n) {
		put_plot(h, p);
		p->n = 0;
		put_table(h, p, index);
		return;
	}
	if (!is_of(p, &grid, curve.by)) {
		put_plot(h, p);
		p->n = 0;
		p->path = grid.test->path;
		p->unit = grid.test->unit;
		p->by = curve.by;
	}
	p->test[p->n] = grid.test;
	p->back[p->n] = grid.back;
	p->curve[p->n++] = curve;
}

void cs_html_plots(struct cs_html *h, const struct cs_run *run, int first, int last)
{
	struct plot p = { .run = run, .nodes = { first, last } };
	uint32_t n = cs_grids(run), curves = 0;

	for (uint32_t i = 0; i < n; i++)
		curves += cs_curve_points(run, i) > 0;
	if (!curves)
		return;
	cs_html_section(h, "Curves", NULL);
	cs_html(h, "<div class=\"row\">");
	for (uint32_t i = 0; i < n; i++)
		if (cs_curve_points(run, i))
			take(h, &p, i);
	put_plot(h, &p);
	cs_html(h, "</div>");
	cs_html_section_end(h);
}
