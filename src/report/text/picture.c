/* picture.c - what a page of HTML draws, for a terminal: one character a cell, by how far
 * it is from its like (report/scale.h); small curves; of a fleet a character a node. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "report/alike.h"
#include "report/text/curve.h"
#include "report/text/parts.h"
#include "report/text/slow_cells.h"
#include "report/view.h"
#include "report/views.h"

#define QUIET 0.01
#define LEVELS 8  /* of a curve, lines */
#define COLUMN 5  /* of a curve, characters a point */
#define HOST 16	  /* of a line of nodes, its first one */
#define LISTED 40 /* nodes that are not quiet, each a line */

static void put_shade(FILE *to, const struct cs_shade *shade)
{
	int coloured = cs_is_coloured() && *shade->sgr;

	if (coloured)
		cs_print_sgr(to, shade->sgr);
	if (cs_has_blocks())
		cs_print(to, "%s", shade->block);
	else
		putc(shade->glyph, to);
	if (coloured)
		cs_print_sgr(to, "0");
}

static void put_glyph(FILE *to, double off)
{
	if (isnan(off))
		putc('?', to);
	else
		put_shade(to, cs_shade_of_difference(off));
}

static void print_legend(FILE *to)
{
	const struct cs_scale *scale = &cs_scale_difference;
	char text[240] = "";

	for (int i = 0; i < scale->n; i++) {
		const char glyph[] = { scale->shade[i].glyph, '\0' };

		cs_text_add(text, sizeof(text), "%s %s,  ",
			    cs_has_blocks() ? scale->shade[i].block : glyph,
			    scale->shade[i].label);
	}
	cs_fold(to, 2, 2, "%s: not compared,  ? no figure", text);
}

/* ---- matrices ---- */

static void put_cell(FILE *to, const struct cs_grid *grid, size_t cell)
{
	const struct cs_shade *odd = cs_odd_shade(grid, cell);

	if (odd && !isnan(grid->value[cell]))
		put_shade(to, odd);
	else
		putc(!grid->planned[cell] && !grid->row[cell] ? ' ' :
		     isnan(grid->value[cell])		      ? '?' :
								':',
		     to);
}

static void print_columns(FILE *to, const struct cs_grid *grid)
{
	for (int tens = grid->n_cols > 10 ? 10 : 1; tens; tens /= 10) {
		cs_print(to, "%10s", "");
		for (int c = 0; c < grid->n_cols; c++)
			if (tens == 10 && c % 10)
				putc(' ', to);
			else
				cs_print(to, "%d", c / tens % 10);
		putc('\n', to);
	}
}

static void print_matrix(FILE *to, const struct cs_grid *grid)
{
	char size[16];

	cs_size_text(grid->bytes, size, sizeof(size));
	cs_fold(to, 0, 2, "%s  %s  median %.*f %s, %.*f (%s) to %.*f (%s)",
		grid->test->name, size, cs_decimals(grid->test), grid->median,
		cs_unit_text((int)grid->test->unit), cs_decimals(grid->test),
		grid->min, cs_cell_label(grid, grid->min_at).text,
		cs_decimals(grid->test), grid->max,
		cs_cell_label(grid, grid->max_at).text);
	if (cs_test_is_list(grid->test)) {
		cs_print(to, "%10s", "");
		for (size_t i = 0; i < cs_grid_cells(grid); i++)
			if (grid->planned[i] || grid->row[i])
				put_cell(to, grid, i);
		putc('\n', to);
		return;
	}
	print_columns(to, grid);
	for (int r = 0; r < grid->n_rows; r++) {
		cs_print(to, "%8s  ",
			 cs_endpoint_text(grid->run, grid->node, &grid->row_end[r]).text);
		for (int c = 0; c < grid->n_cols; c++)
			put_cell(to, grid,
				 (size_t)r * (size_t)grid->n_cols + (size_t)c);
		putc('\n', to);
	}
}

/* ---- curves ---- */

/* What a point has on a level: the whole of it, of Unicode a part in eighths, or none. */
static const char *bar_of(const struct cs_curve *curve, int i, double most, int level)
{
	static const char *const part[] = { " ", "▁", "▂", "▃", "▄",
					    "▅", "▆", "▇", "█" };
	double median = curve->point[i].median;
	long eighths = isnan(median) ? 0 : lround(8 * LEVELS * median / most),
	     here = eighths - 8 * (level - 1);

	if (!cs_has_blocks())
		return here >= 4 ? "#" : " ";
	return part[here < 0 ? 0 : here > 8 ? 8 : here];
}

static void print_curve(FILE *to, const struct cs_grid *like,
			const struct cs_curve *curve)
{
	double most = 0;

	for (int i = 0; i < curve->n; i++)
		most = fmax(most, isnan(curve->point[i].median) ?
					  0 :
					  curve->point[i].median);
	if (!(most > 0))
		return;
	cs_fold(to, 0, 2, "%s  by %s, at most %.*f %s", like->test->name, curve->by,
		cs_decimals(like->test), most, cs_unit_text((int)like->test->unit));
	for (int level = LEVELS; level > 0; level--) {
		cs_print(to, "%10.4g |", most * level / LEVELS);
		for (int i = 0; i < curve->n; i++)
			cs_print(to, "%*s%s", COLUMN - 1, "",
				 bar_of(curve, i, most, level));
		putc('\n', to);
	}
	cs_print(to, "%10s  ", "");
	for (int i = 0; i < curve->n; i++) {
		char text[16];
		char *blank;

		cs_text(text, sizeof(text), "%s", curve->point[i].text);
		/* "16 MiB" as "16M" */
		blank = strchr(text, ' ');
		if (blank) {
			blank[0] = blank[1];
			blank[1] = '\0';
		}
		cs_print(to, "%*s", COLUMN, text);
	}
	putc('\n', to);
}

static int picture_curve(FILE *to, const struct cs_run *run, uint32_t index)
{
	const int nodes[] = { 0, run->n_nodes };
	const struct cs_grid like = cs_grid_head(run, index);
	struct cs_curve curve;
	int rc = cs_curve_take(run, nodes, index, &curve);

	if (!rc && curve.n) {
		putc('\n', to);
		print_curve(to, &like, &curve);
	}
	cs_curve_release(&curve);
	return rc;
}

/* ---- one node ---- */

static int picture_matrix(FILE *to, const struct cs_run *run,
			  const struct cs_likeness *likeness, uint32_t index)
{
	struct cs_grid grid;
	int rc;

	if (cs_grid_init(&grid, run, 0, index))
		return -1;
	rc = cs_odd_mark(likeness, &grid);
	if (!rc && grid.n_planned) {
		putc('\n', to);
		print_matrix(to, &grid);
	}
	cs_grid_release(&grid);
	return rc;
}

static int print_first_node(FILE *to, const struct cs_run *run)
{
	struct cs_likeness likeness;
	struct cs_err err;
	int rc = cs_likeness_make(&likeness, run, &err);

	for (uint32_t i = 0; i < cs_grids(run) && !rc; i++)
		if (cs_curve_points(run, i))
			rc = picture_curve(to, run, i);
		else if (!cs_curve_holds(run, i))
			rc = picture_matrix(to, run, &likeness, i);
	cs_likeness_release(&likeness);
	return rc;
}

/* ---- fleets ---- */

/* The worst of a node, or of one of its agents; NAN: no figure. */
static double worst_of(const struct cs_alike *alike, int node, int agent)
{
	double worst = NAN;

	for (int i = 0; i < alike->side; i++)
		for (int k = 0; k < alike->side; k++)
			if (agent < 0 || i == agent || k == agent)
				worst = fmin(worst, cs_alike_off(alike, node, i, k));
	return worst;
}

static void print_nodes(FILE *to, const struct cs_alike *alike)
{
	const struct cs_run *run = alike->run;
	int columns = CS_COLUMNS - HOST - 2;

	for (int i = 0; i < run->n_nodes; i++) {
		if (i % columns == 0)
			cs_print(to, "%-*.*s  ", HOST, HOST, run->node[i].facts.host);
		put_glyph(to, worst_of(alike, i, -1));
		if (i % columns == columns - 1 || i == run->n_nodes - 1)
			putc('\n', to);
	}
}

/* A line for each node that is not quiet: a character for each of its GPUs. */
static void print_loud(FILE *to, const struct cs_alike *alike)
{
	const struct cs_run *run = alike->run;
	int listed = 0, left = 0;

	for (int i = 0; i < run->n_nodes; i++) {
		double worst = worst_of(alike, i, -1);

		if (!(worst < -QUIET))
			continue;
		if (listed++ >= LISTED) {
			left++;
			continue;
		}
		cs_print(to, "%-*.*s  ", HOST, HOST, run->node[i].facts.host);
		for (int a = 0; a < run->node[i].facts.n_agents; a++)
			put_glyph(to, worst_of(alike, i, a));
		cs_print_line(to, "  worst %+.1f %%", 100 * worst);
	}
	if (left)
		cs_print_line(to, "%d more nodes", left);
}

static int print_fleet(FILE *to, const struct cs_run *run)
{
	struct cs_alike alike;
	int rc = cs_alike_make(run, &alike);

	if (!rc) {
		putc('\n', to);
		cs_fold(to, 0, 2,
			"%d nodes, a character each: the worst of its cells against the "
			"same cell of the others",
			run->n_nodes);
		print_nodes(to, &alike);
		putc('\n', to);
		print_loud(to, &alike);
	}
	cs_alike_release(&alike);
	return rc;
}

int cs_picture_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	int rc, several = run->n_nodes > 1 && !cs_run_is_other_placement(run, 1);

	cs_head_print(to, run);
	print_legend(to);
	rc = several	  ? print_fleet(to, run) :
	     run->n_nodes ? print_first_node(to, run) :
			    0;
	putc('\n', to);
	return rc || cs_findings_print(to, run) ? -1 : 0;
}
