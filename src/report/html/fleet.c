/* fleet.c - many nodes beside each other: a square a node, GPU by GPU, each cell against
 * the same cell of the other nodes of its class.  A healthy node has nothing to show, so
 * what is not quiet is seen at once. */
#include "config.h"

#include "report/html/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "check/fleet/class.h"
#include "report/view.h"
#include "result/cells.h"

#define LABELLED 128 /* nodes, each with its name; above, the first of a line */
#define LEFT 90.0

/* One figure of a node. */
struct seen {
	struct cs_plan_matrix of;
	int src, dst; /* ends: agents, else -1 - NUMA node */
	int node, class;
	double value;
};

struct fleet {
	const struct cs_run *run;
	int side;      /* agents of the largest node */
	int *class;    /* by node: the first node like it; -1 nothing known */
	double *worst; /* [node][side][side]: difference from the like, in
			   * its quiet band 0; NAN no figure */
	double square, x_step, y_step;
	int columns;
};

static double *worst_of(const struct fleet *f, int node, int src, int dst)
{
	return &f->worst[((size_t)node * (size_t)f->side + (size_t)src) * (size_t)f->side +
			 (size_t)dst];
}

/* ---- each cell against its like ---- */

static int end_of(const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ? -1 - (int)(end->index & 0xff) : end->index;
}

static int by_figure(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int order = cs_plan_matrices_compare(&x->of, &y->of);

	if (!order)
		order = (x->src > y->src) - (x->src < y->src);
	if (!order)
		order = (x->dst > y->dst) - (x->dst < y->dst);
	if (!order)
		order = (x->class > y->class) - (x->class < y->class);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int is_same(const struct seen *a, const struct seen *b)
{
	return !cs_plan_matrices_compare(&a->of, &b->of) && a->src == b->src &&
	       a->dst == b->dst && a->class == b->class;
}

static void take(struct fleet *f, const struct seen *s, double difference,
		 double quiet)
{
	int src = s->src >= 0 ? s->src : s->dst, dst = s->dst >= 0 ? s->dst : s->src;
	double *worst, d = fabs(difference) <= fmax(quiet, 0.01) ? 0 : difference;

	if (src < 0 || dst < 0 || src >= f->side || dst >= f->side)
		return;
	worst = worst_of(f, s->node, src, dst);
	if (isnan(*worst) || d < *worst || (*worst == 0 && d > 0))
		*worst = d;
}

/* s[0..n): the same cell of all nodes of a class. */
static void judge(struct fleet *f, const struct seen *s, size_t n, double *room)
{
	size_t of;
	const struct cs_test *test = &cs_catalogue(&of)[s->of.test];
	double median, quiet;

	for (size_t i = 0; i < n; i++)
		room[i] = s[i].value;
	median = cs_median(room, n);
	for (size_t i = 0; i < n; i++)
		room[i] = fabs(s[i].value / median - 1);
	quiet = 4 * 1.4826 * cs_median(room, n);
	for (size_t i = 0; i < n; i++) {
		double ratio = s[i].value / median;

		take(f, &s[i],
		     cs_unit_low_is_better((int)test->unit) ? 1 / ratio - 1 :
							      ratio - 1,
		     quiet);
	}
}

static int gather(const struct fleet *f, struct cs_vec *all)
{
	for (int node = 0; node < f->run->n_nodes; node++) {
		struct cs_row_list cells = cs_run_rows(f->run, node, CS_ROWS_CELLS);

		for (const struct cs_row *row; (row = cs_row_next(&cells));) {
			struct seen *s;

			if (row->status != CS_OK || !(row->stats.median > 0))
				continue;
			s = cs_vec_add(all, 1, NULL);
			if (!s)
				return -1;
			*s = (struct seen){ .of = cs_row_view(row),
					    .src = end_of(&row->what.src),
					    .dst = end_of(&row->what.dst),
					    .node = node,
					    .class = f->class[node],
					    .value = row->stats.median };
		}
	}
	return 0;
}

static int compare_cells(struct fleet *f)
{
	struct cs_vec all = CS_VEC(struct seen);
	double *room = NULL;
	struct seen *s;
	int rc = gather(f, &all);

	s = all.data;
	if (!rc)
		room = calloc(all.n + 1, sizeof(*room));
	if (!rc && room && all.n)
		qsort(s, all.n, sizeof(*s), by_figure);
	for (size_t i = 0, k; room && i < all.n; i = k) {
		for (k = i + 1; k < all.n && is_same(&s[i], &s[k]); k++)
			;
		judge(f, &s[i], k - i, room);
	}
	rc = room ? rc : -1;
	free(room);
	cs_vec_release(&all);
	return rc;
}

static int find_classes(struct fleet *f)
{
	int n = f->run->n_nodes;
	char(*text)[CS_CLASS] = calloc((size_t)n + 1, sizeof(*text));

	for (int i = 0; text && i < n; i++) {
		int k = 0;

		f->class[i] = -1;
		if (f->run->node[i].facts.n_agents < 0 ||
		    cs_class_text(f->run, i, text[i], sizeof(text[i])))
			continue;
		while (k < i && (f->class[k] != k || strcmp(text[k], text[i]) != 0))
			k++;
		f->class[i] = k;
	}
	free(text);
	return text ? 0 : -1;
}

static int fleet_init(struct fleet *f, const struct cs_run *run)
{
	size_t n = (size_t)run->n_nodes, cells;

	*f = (struct fleet){ .run = run, .side = 1 };
	for (int i = 0; i < run->n_nodes; i++)
		if (run->node[i].facts.n_agents > f->side)
			f->side = run->node[i].facts.n_agents;
	cells = n * (size_t)f->side * (size_t)f->side;
	f->class = calloc(n + 1, sizeof(*f->class));
	f->worst = calloc(cells + 1, sizeof(*f->worst));
	for (size_t i = 0; f->worst && i < cells; i++)
		f->worst[i] = NAN;
	f->square = run->n_nodes <= LABELLED ? 48 : 20;
	f->x_step = f->square + (run->n_nodes <= LABELLED ? 18 : 5);
	f->y_step = f->square + (run->n_nodes <= LABELLED ? 28 : 5);
	f->columns = (int)(1060 / f->x_step) - (run->n_nodes > LABELLED ? 4 : 0);
	return f->class && f->worst && !find_classes(f) ? compare_cells(f) : -1;
}

/* ---- drawing ---- */

static struct cs_box box_of(const struct fleet *f, int node)
{
	double left = f->run->n_nodes <= LABELLED ? 6 : LEFT;

	return (struct cs_box){ left + f->x_step * (node % f->columns),
				6 + f->y_step * (node / f->columns), f->square,
				f->square };
}

static int has_figures(const struct fleet *f, int node)
{
	for (int i = 0; i < f->side; i++)
		for (int k = 0; k < f->side; k++)
			if (!isnan(*worst_of(f, node, i, k)))
				return 1;
	return 0;
}

static void put_squares(struct cs_html *h, const struct fleet *f)
{
	int n = 0;

	for (int i = 0; i < f->run->n_nodes; i++) {
		struct cs_box box = box_of(f, i);

		if (has_figures(f, i))
			cs_html(h, "%sM%g %gh%gv%gh-%gz", n++ ? "" : "<path d=\"",
				box.x, box.y, box.w, box.h, box.w);
	}
	if (n) {
		cs_html(h, "\"");
		cs_svg_shade(h, cs_shade_of_difference(0, 0));
		cs_html(h, "/>");
	}
	for (int i = 0; i < f->run->n_nodes; i++)
		if (!has_figures(f, i))
			cs_svg_hatch(h,
				     &(struct cs_box){ box_of(f, i).x, box_of(f, i).y,
						       f->square, f->square });
}

/* The cells of one class of colour, of all nodes. */
static void put_shade(struct cs_html *h, const struct fleet *f,
		      const struct cs_shade *shade)
{
	double c = f->square / f->side;
	int n = 0;

	for (int node = 0; node < f->run->n_nodes; node++)
		for (int at = 0; at < f->side * f->side; at++) {
			double d = *worst_of(f, node, at / f->side, at % f->side);
			struct cs_box box = box_of(f, node);

			if (isnan(d) || d == 0 ||
			    cs_shade_of_difference(d, 0) != shade)
				continue;
			cs_html(h, "%sM%g %gh%gv%gh-%gz", n++ ? "" : "<path d=\"",
				box.x + c * (at % f->side),
				box.y + c * (at / f->side), c, c, c);
		}
	if (!n)
		return;
	cs_html(h, "\"");
	cs_svg_shade(h, shade);
	cs_html(h, "/>");
}

static int gravest(const struct cs_run *run, int node)
{
	const struct cs_finding *f = run->findings.data;
	int worst = -1;

	for (size_t i = 0; i < run->findings.n; i++)
		if (f[i].node == node && (int)f[i].severity > worst)
			worst = (int)f[i].severity;
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
		int grave = gravest(f->run, i);
		struct cs_box box = box_of(f, i);

		put_name(h, f, i, grave);
		if (grave < CS_WARNING)
			continue;
		cs_html(h,
			"<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"4\" "
			"fill=\"none\" stroke-width=\"2\"%s",
			box.x - 2, box.y - 2, box.w + 4, box.h + 4,
			grave >= CS_CRITICAL ? "" : " stroke-dasharray=\"4 3\"");
		cs_svg_stroke(h, grave >= CS_CRITICAL ? CS_INK_BAD : CS_INK_WARN);
		cs_html(h, "><title>");
		cs_html_text(h, "%s", f->run->node[i].facts.host);
		cs_html(h, "</title></rect>");
	}
}

static void put_fleet(struct cs_html *h, const struct fleet *f)
{
	int lines = (f->run->n_nodes + f->columns - 1) / f->columns;

	cs_html_section(h, "Nodes beside each other",
			"A square a node, a cell for each pair of GPUs, on the diagonal "
			"what a GPU has with the host and within itself: the worst of all "
			"tests, against the same cell of the other nodes of its class. A "
			"ring is a finding, a broken one a warning.");
	cs_html_legend(h, &cs_scale_difference, "no figure");
	cs_html(h, "<div class=\"wide\">");
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

int cs_html_fleet(struct cs_html *h, const struct cs_run *run)
{
	struct fleet f;
	int rc = fleet_init(&f, run);

	if (!rc)
		put_fleet(h, &f);
	free(f.class);
	free(f.worst);
	return rc;
}
