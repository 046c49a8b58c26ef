/* fleet.c - many nodes beside each other: a square a node, GPU by GPU, each cell against
 * the same cell of the other nodes of its class.  A healthy node has nothing to show, so
 * a node with differences is seen at once. */
#include "report/html/parts.h"

#include <math.h>

#include "base/units.h"

#define LABELLED 128 /* nodes, each with its name; above, the first of a line */
#define LEFT 90.0

struct fleet {
	const struct cs_run *run;
	const struct cs_alike *alike;
	int side;
	double square, x_step, y_step;
	int columns;
	int *grave; /* by node: cs_html_gravest() */
};

static struct fleet fleet_of(const struct cs_run *run)
{
	const int few = run->n_nodes <= LABELLED;
	struct fleet f = { .run = run, .alike = cs_alike_new(run) };

	f.grave = cs_new(int, run->n_nodes);
	for (int i = 0; i < run->n_nodes; i++)
		f.grave[i] = -1;
	CS_EACH(const struct cs_finding, finding, &run->findings)
		if (finding->node >= 0 && finding->node < run->n_nodes &&
		    (int)finding->severity > f.grave[finding->node])
			f.grave[finding->node] = (int)finding->severity;
	f.side = f.alike->side;
	f.square = few ? 48 : 20;
	f.x_step = f.square + (few ? 18 : 5);
	f.y_step = f.square + (few ? 28 : 5);
	f.columns = (int)(1060 / f.x_step) - (few ? 0 : 4);
	return f;
}

/* ---- drawing ---- */

static struct cs_box box_of(const struct fleet *f, int node)
{
	double left = f->run->n_nodes <= LABELLED ? 6 : LEFT;

	return (struct cs_box){ left + f->x_step * (node % f->columns),
				6 + f->y_step * (node / f->columns), f->square,
				f->square };
}

/* That of its GPUs: of a node with fewer than others a part. */
static struct cs_box part_of(const struct fleet *f, int node)
{
	struct cs_box box = box_of(f, node);

	box.w = box.h = f->square * f->run->node[node].facts.n_agents / f->side;
	return box;
}

static void put_squares(struct cs_html *h, const struct fleet *f)
{
	int n = 0;

	for (int i = 0; i < f->run->n_nodes; i++)
		if (cs_alike_measured(f->alike, i))
			cs_svg_add_box(h, n++, part_of(f, i));
	if (n)
		cs_svg_end_boxes(h, cs_shade_of_difference(0));
	for (int i = 0; i < f->run->n_nodes; i++) {
		const struct cs_box box = box_of(f, i);

		if (!cs_alike_measured(f->alike, i))
			cs_svg_hatch(h, &box);
	}
}

/* The cells of one class of colour, of all nodes. */
static void put_shade(struct cs_html *h, const struct fleet *f,
		      const struct cs_shade *shade)
{
	double c = f->square / f->side;
	int n = 0;

	for (int node = 0; node < f->run->n_nodes; node++)
		for (int at = 0; at < f->side * f->side; at++) {
			double d = cs_alike_off(f->alike, node, at / f->side,
						at % f->side);
			struct cs_box box = box_of(f, node);

			if (isnan(d) || d == 0 || cs_shade_of_difference(d) != shade)
				continue;
			cs_svg_add_box(h, n++,
				       (struct cs_box){ box.x + c * (at % f->side),
							box.y + c * (at / f->side), c,
							c });
		}
	if (n)
		cs_svg_end_boxes(h, shade);
}

int cs_html_gravest(const struct cs_run *run, int node)
{
	int worst = -1;

	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->node == node && (int)f->severity > worst)
			worst = (int)f->severity;
	return worst;
}

static void put_name(struct cs_html *h, const struct fleet *f, int node, int grave)
{
	struct cs_box box = box_of(f, node);
	struct cs_pen pen = { box.x + box.w / 2,
			      box.y + box.h + 16,
			      10.5,
			      CS_MIDDLE,
			      grave >= CS_WARNING ? CS_INK : CS_INK_MUTE,
			      grave >= CS_WARNING };

	if (f->run->n_nodes > LABELLED) {
		if (node % f->columns)
			return;
		pen = (struct cs_pen){ LEFT - 8, box.y + box.h - 5, 10.5,
				       CS_END,	 CS_INK_MUTE,	    0 };
	}
	cs_svg_text(h, &pen, "%.11s", f->run->node[node].facts.host);
}

static void put_rings(struct cs_html *h, const struct fleet *f)
{
	for (int i = 0; i < f->run->n_nodes; i++) {
		int grave = f->grave[i];
		struct cs_box box = box_of(f, i);

		put_name(h, f, i, grave);
		if (grave < CS_WARNING)
			continue;
		cs_html(h,
			"<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"4\" "
			"fill=\"none\" stroke-width=\"2\"%s",
			box.x - 2, box.y - 2, box.w + 4, box.h + 4,
			grave >= CS_CRITICAL ? "" : " stroke-dasharray=\"4 3\"");
		cs_svg_stroke(h, grave >= CS_CRITICAL ? CS_INK_BAD : CS_INK_WARN,
			      "><title>");
		cs_html_text(h, "%s", f->run->node[i].facts.host);
		cs_html(h, "</title></rect>");
	}
}

/* ---- the table ---- */

/* The worst difference of its cells; NAN none. */
static double worst_of(const struct fleet *f, int node)
{
	double worst = NAN;

	for (int at = 0; at < f->side * f->side; at++)
		worst = fmin(worst,
			     cs_alike_off(f->alike, node, at / f->side, at % f->side));
	return worst;
}

static void put_node(struct cs_html *h, const struct fleet *f, int node)
{
	int grave = f->grave[node];
	double worst = worst_of(f, node);

	cs_html(h, "<tr%s>", grave >= CS_WARNING ? " class=\"odd\"" : "");
	cs_html_in(h, "th scope=\"row\"", "%s", f->run->node[node].facts.host);
	cs_html(h, "<td>%d</td>", f->run->node[node].facts.n_agents);
	if (isnan(worst))
		cs_html(h, "<td></td>");
	else
		cs_html(h, "<td>%+.1f %%</td>", cs_percent(worst, 1));
	cs_html_in(h, "td", "%s",
		   grave < 0 ? "" : cs_severity_text((enum cs_severity)grave));
	cs_html_line(h, "</tr>");
}

static void put_table(struct cs_html *h, const struct fleet *f)
{
	cs_html(h, "<details><summary>All nodes as a table</summary><div class=\"wide "
		   "scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All nodes\">"
		   "<table class=\"sort\"><thead><tr>");
	cs_html(h, "<th scope=\"col\">node</th><th scope=\"col\">GPUs</th>"
		   "<th scope=\"col\">worst cell</th><th scope=\"col\">finding</th>"
		   "</tr></thead><tbody>");
	for (int i = 0; i < f->run->n_nodes; i++)
		put_node(h, f, i);
	cs_html_line(h, "</tbody></table></div></details>");
}

void cs_html_fleet(struct cs_html *h, const struct cs_run *run)
{
	const struct fleet fleet = fleet_of(run), *f = &fleet;
	int lines = (f->run->n_nodes + f->columns - 1) / f->columns;

	cs_html_section(h, "Nodes beside each other",
			"One square per node, with a cell for each pair of GPUs; the diagonal is for the host and within the GPU. A cell is the worst of all tests, compared with the same cell of other nodes of its class. A "
			"ring is a finding, a broken one a warning.");
	put_table(h, f);
	cs_html_legend(h, &cs_scale_difference, "no figure");
	cs_html_wide(h, "Nodes beside each other");
	cs_svg_begin(h, 1070, 12 + f->y_step * lines, "Nodes beside each other");
	cs_svg_describe(h,
			"%d nodes, each its matrix of up to %d GPUs; colour is the "
			"difference from the same cell of the others",
			f->run->n_nodes, f->side);
	put_squares(h, f);
	for (int i = 0; i < cs_scale_difference.n; i++)
		put_shade(h, f, &cs_scale_difference.shade[i]);
	put_rings(h, f);
	cs_svg_end(h);
	cs_html(h, "</div>");
	cs_html_section_end(h);
}
