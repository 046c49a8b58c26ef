/* heat.c - a test on a node as a matrix of colours: by its share of the link if the usual
 * share is known, else by the difference of each cell from similar ones. */
#include "report/html/parts.h"

#include <math.h>

#include "check/link/expect.h"
#include "check/link/kind.h"

#define NUMBERED 16 /* columns with figures in them; above, colours alone */
#define MANY 12	    /* matrices: of more, those without a slow cell are folded */
#define TIPS 1024   /* cells of a matrix that have a text at the pointer */
#define SENSE 90 /* wide, "from row to column", or a strip with both ends named */
#define STRIP 30 /* below: all cells on one line */

struct heat {
	const struct cs_grid *grid;
	size_t *cell; /* of the grid, [row * n_cols + col] */
	int n_rows, n_cols;
	int is_list;	   /* a cell an agent, in one row */
	double peak;	   /* of the links; NAN: colours are differences */
	double low, high;  /* its usual share */
	int is_numbered;   /* with figures in its cells, and the names of its ends */
	double left, top;  /* of the first cell */
	double w, h;	   /* of a cell */
	const char *words; /* between nodes, what a row is; else NULL */
};

struct cs_label cs_html_figure(double x)
{
	struct cs_label label;
	int digits = fabs(x) >= 1000 ? 0 : fabs(x) >= 100 ? 1 : 2;

	cs_text(label.text, sizeof(label.text), "%.*f", digits, x);
	return label;
}

/* ---- its contents ---- */

/* Is the share of its link meaningful?  Not for copies that other transfers slow down, or
 * that are too short to fill the link. */
static int is_share(const struct cs_grid *grid, const struct cs_row *row, double peak)
{
	const struct cs_test *test = grid->test;
	double low, high;

	return peak > 0 &&
	       (!cs_expected_gbs(grid->run, row, &low, &high) ||
		(test->pattern == CS_PATTERN_BIDI && test->method == CS_METHOD_CE &&
		 (test->memory == CS_MEM_DEVICE || test->memory == CS_MEM_PINNED) &&
		 !cs_row_is_short(grid->run, row)));
}

/* The one link that all cells go through. */
static void find_peak(struct heat *heat)
{
	const struct cs_grid *grid = heat->grid;

	heat->peak = heat->low = heat->high = NAN;
	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		double peak;

		if (isnan(grid->value[i]))
			continue;
		peak = cs_row_peak_gbs(grid->run, grid->row[i]);
		if (!is_share(grid, grid->row[i], peak)) {
			heat->peak = NAN;
			return;
		}
		if (!(heat->peak >= peak))
			heat->peak = peak;
		if (cs_expected_gbs(grid->run, grid->row[i], &heat->low, &heat->high))
			heat->low = heat->high = NAN;
	}
}

static int is_there(const struct cs_grid *grid, size_t i)
{
	return grid->planned[i] || grid->row[i];
}

/* Is it slower than the others, or without a figure? */
static int is_odd(const struct cs_grid *grid, size_t i)
{
	return is_there(grid, i) && (isnan(grid->value[i]) || grid->mark[i] == '<');
}

static void set_sizes(struct heat *heat)
{
	heat->is_numbered = heat->n_cols <= NUMBERED;
	heat->left = heat->is_numbered ? 52 : 8;
	heat->top = heat->is_numbered ? 40 : 20;
	heat->w = !heat->is_numbered ? 10 : heat->n_cols <= 4 ? 62 : 50;
	heat->h = !heat->is_numbered ? heat->w : heat->n_cols <= 4 ? 34 : 28;
}

static void heat_init(struct heat *heat, const struct cs_grid *grid)
{
	size_t n = cs_grid_cells(grid), k = 0;

	*heat = (struct heat){ .grid = grid,
			       .cell = cs_new(size_t, n),
			       .is_list = cs_test_is_list(grid->test) };
	for (size_t i = 0; i < n; i++)
		if (!heat->is_list || is_there(grid, i))
			heat->cell[k++] = i;
	heat->n_rows = heat->is_list ? 1 : grid->n_rows;
	heat->n_cols = heat->is_list ? (int)k : grid->n_cols;
	find_peak(heat);
	set_sizes(heat);
}

static struct cs_box box_of(const struct heat *heat, int k)
{
	return (struct cs_box){ heat->left + heat->w * (k % heat->n_cols) + 1,
				heat->top + heat->h * (k / heat->n_cols) + 1,
				heat->w - 2, heat->h - 2 };
}

/* A cell that was not compared has the colour of ordinary ones. */
static const struct cs_shade *shade_of(const struct heat *heat, size_t cell)
{
	const struct cs_grid *grid = heat->grid;
	const struct cs_shade *shade = cs_cell_shade(grid, cell);

	if (isnan(heat->peak))
		return shade ? shade : cs_shade_of_difference(0);
	return cs_shade_of_share(grid->value[cell] /
				 cs_row_peak_gbs(grid->run, grid->row[cell]));
}

/* ---- cells ---- */

static void put_values(struct cs_html *h, const struct heat *heat,
		       const struct cs_shade *shade)
{
	cs_html(h,
		"<g class=\"%si\" fill=\"#%06x\" font-size=\"12\" "
		"text-anchor=\"middle\">",
		shade->name, shade->ink[CS_THEME_LIGHT]);
	for (int k = 0; k < heat->n_rows * heat->n_cols; k++) {
		double value = heat->grid->value[heat->cell[k]];
		struct cs_box box = box_of(heat, k);

		if (isnan(value) || shade_of(heat, heat->cell[k]) != shade)
			continue;
		cs_html(h, "<text x=\"%g\" y=\"%g\">%s</text>", box.x + box.w / 2,
			box.y + box.h / 2 + 4.5, cs_html_figure(value).text);
	}
	cs_html(h, "</g>");
}

static void put_strokes(struct cs_html *h, const struct heat *heat,
			const struct cs_shade *shade, int strokes)
{
	int n = 0;

	for (int k = 0; k < heat->n_rows * heat->n_cols; k++)
		if (!isnan(heat->grid->value[heat->cell[k]]) &&
		    shade_of(heat, heat->cell[k]) == shade) {
			cs_svg_add_strokes(h, n, box_of(heat, k), strokes);
			n += strokes;
		}
	if (n)
		cs_html(h, "\" stroke=\"#%06x\" class=\"%ss\"/>",
			shade->ink[CS_THEME_LIGHT], shade->name);
}

static void put_shade(struct cs_html *h, const struct heat *heat,
		      const struct cs_shade *shade, int strokes)
{
	int n = 0;

	for (int k = 0; k < heat->n_rows * heat->n_cols; k++)
		if (!isnan(heat->grid->value[heat->cell[k]]) &&
		    shade_of(heat, heat->cell[k]) == shade)
			cs_svg_add_box(h, n++, box_of(heat, k));
	if (!n)
		return;
	cs_svg_end_boxes(h, shade);
	if (!heat->is_numbered)
		return;
	put_values(h, heat, shade);
	put_strokes(h, heat, shade, strokes);
}

/* Cells of the plan without a figure: struck out. */
static void put_missing(struct cs_html *h, const struct heat *heat)
{
	int n = 0;

	for (int k = 0; k < heat->n_rows * heat->n_cols; k++) {
		struct cs_box box = box_of(heat, k);

		if (isnan(heat->grid->value[heat->cell[k]]) &&
		    is_there(heat->grid, heat->cell[k]))
			cs_html(h, "%sM%g %gl%g %g", n++ ? "" : "<path d=\"", box.x,
				box.y + box.h, box.w, -box.h);
	}
	if (!n)
		return;
	cs_html(h, "\"");
	cs_svg_stroke(h, CS_INK_AXIS, "/>");
}

/* The boxes of the cells with a mark, as a path without its end: how many. */
static int put_boxes(struct cs_html *h, const struct heat *heat, char mark)
{
	int n = 0;

	for (int k = 0; k < heat->n_rows * heat->n_cols; k++)
		if (heat->grid->mark[heat->cell[k]] == mark &&
		    !isnan(heat->grid->value[heat->cell[k]]))
			cs_svg_add_box(h, n++, box_of(heat, k));
	return n;
}

/* A ring around the cells with a mark, on a pale one: visible on dark cells too. */
static void put_rings(struct cs_html *h, const struct heat *heat, char mark)
{
	if (!put_boxes(h, heat, mark))
		return;
	cs_html(h, "\" fill=\"none\" stroke-width=\"5\"");
	cs_svg_stroke(h, CS_INK_PAPER, "/>");
	put_boxes(h, heat, mark);
	cs_html(h, "\" fill=\"none\" stroke-width=\"2\"%s",
		mark == '<' ? "" : " stroke-dasharray=\"4 3\"");
	cs_svg_stroke(h, mark == '<' ? CS_INK_BAD : CS_INK_WARN, "/>");
}

static void put_label(struct cs_html *h, double x, double y, const char *text)
{
	cs_html(h, "<text x=\"%g\" y=\"%g\">", x, y);
	cs_html_text(h, "%s", text);
	cs_html(h, "</text>");
}

static struct cs_label column_name(const struct heat *heat, int column)
{
	const struct cs_grid *grid = heat->grid;

	return heat->is_list ?
		       cs_cell_label(grid, heat->cell[column]) :
		       cs_endpoint_text(grid->run, grid->node, &grid->col_end[column]);
}

static void put_labels(struct cs_html *h, const struct heat *heat)
{
	const struct cs_grid *grid = heat->grid;

	cs_html(h, "<g font-size=\"12\" text-anchor=\"middle\"");
	cs_svg_fill(h, CS_INK, ">");
	for (int c = 0; c < heat->n_cols; c++)
		put_label(h, heat->left + heat->w * c + heat->w / 2, heat->top - 8,
			  column_name(heat, c).text);
	for (int r = 0; r < heat->n_rows && !heat->is_list; r++)
		put_label(h, heat->left / 2, heat->top + heat->h * r + heat->h / 2 + 4,
			  cs_endpoint_text(grid->run, grid->node, &grid->row_end[r])
				  .text);
	cs_html(h, "</g>");
}

static void put_sense(struct cs_html *h, const struct heat *heat)
{
	struct cs_pen pen = { heat->left + heat->w * heat->n_cols / 2.0,
			      13,
			      11,
			      CS_MIDDLE,
			      CS_INK_MUTE,
			      0 };

	cs_svg_text(h, &pen, "from row to column");
}

/* All cells on a scale from 0 to the link's peak, with the usual range. */
static void put_strip(struct cs_html *h, const struct heat *heat)
{
	double y = heat->top + heat->h * heat->n_rows + 14, w = heat->w * heat->n_cols;
	const struct cs_grid *grid = heat->grid;

	cs_svg_line(h, &(struct cs_box){ heat->left, y, heat->left + w, y },
		    CS_INK_AXIS, 1);
	if (heat->low < heat->high) {
		cs_html(h, "<rect x=\"%.4g\" y=\"%g\" width=\"%.3g\" height=\"12\"",
			heat->left + w * heat->low / heat->peak, y - 6,
			w * (heat->high - heat->low) / heat->peak);
		cs_svg_fill(h, CS_INK_USUAL, "/>");
	}
	cs_html(h, "<path stroke-width=\"1.2\" stroke-opacity=\".6\" d=\"");
	for (size_t i = 0; i < cs_grid_cells(grid); i++)
		if (!isnan(grid->value[i]))
			cs_html(h, "M%.5g %gv10",
				heat->left +
					w * fmin(grid->value[i] / heat->peak, 1.05),
				y - 5);
	cs_html(h, "\"");
	cs_svg_stroke(h, CS_INK_MEASURED, "/>");
	if (w > SENSE)
		cs_svg_text(h,
			    &(struct cs_pen){ heat->left, y + 18, 10.5, CS_START,
					      CS_INK_MUTE, 0 },
			    "0");
	cs_svg_text(h,
		    &(struct cs_pen){ heat->left + w, y + 18, 10.5, CS_END,
				      CS_INK_MUTE, 0 },
		    "link %.0f GB/s", heat->peak);
}

/* ---- one matrix ---- */

static void put_caption(struct cs_html *h, const struct heat *heat)
{
	const struct cs_grid *grid = heat->grid;

	cs_html(h, "<figcaption>");
	cs_html_in(h, "b", "%s, %s", cs_grid_title(grid).text,
		   cs_unit_text((int)grid->test->unit));
	cs_html(h, " <span>");
	cs_html_text(h, "%s %s", grid->test->name,
		     cs_matrix_shows_size(grid) ? cs_new_size(grid->bytes) : "");
	cs_html(h, "</span></figcaption>");
}

static void put_figures(struct cs_html *h, const struct heat *heat)
{
	const struct cs_grid *grid = heat->grid;
	const char *unit = cs_unit_text((int)grid->test->unit);
	double peak = heat->peak;

	cs_html(h, "<p class=\"fig\">");
	if (!grid->n_measured) {
		cs_html(h, "nothing measured</p>");
		return;
	}
	cs_html(h, "<b>%s</b> ", cs_html_figure(grid->median).text);
	cs_html_text(h, "%s median", unit);
	if (heat->words)
		peak = cs_row_peak_gbs(grid->run, grid->row[grid->max_at]);
	if (peak > 0)
		cs_html_text(h, ", %.0f %% of the %s", 100 * grid->median / peak,
			     heat->words ? "port" : "link");
	cs_html_in(h, "span", "; %s (%s) to %s (%s)", cs_html_figure(grid->min).text,
		   cs_cell_label(grid, grid->min_at).text,
		   cs_html_figure(grid->max).text,
		   cs_cell_label(grid, grid->max_at).text);
	if (grid->n_total)
		cs_html_text(h, "; together %s",
			     cs_html_figure(grid->total_median).text);
	if (grid->n_measured < grid->n_planned)
		cs_html_text(h, "; %zu of %zu cells", grid->n_measured,
			     grid->n_planned);
	cs_html(h, "</p>");
}

/* For the script, which shows them at the pointer: the place of the cells, and of each its
 * name, figure, interval and samples. */
static void put_tips(const struct cs_html *h, const struct heat *heat)
{
	const struct cs_grid *grid = heat->grid;
	int n = heat->n_rows * heat->n_cols;

	if (n > TIPS)
		return;
	cs_html(h, " data-at=\"%g %g %g %g %d\" data-unit=\"%s\"", heat->left,
		heat->top, heat->w, heat->h, heat->n_cols,
		cs_unit_text((int)grid->test->unit));
	if (!isnan(heat->peak))
		cs_html(h, " data-link=\"%g\"", heat->peak);
	cs_html(h, " data-cells=\"");
	for (int k = 0; k < n; k++) {
		size_t cell = heat->cell[k];
		const struct cs_row *row = grid->row[cell];

		if (!isnan(grid->value[cell])) {
			cs_html_text(h, "%s ", cs_cell_label(grid, cell).text);
			cs_html(h, "%.5g %.5g %.5g %u", grid->value[cell],
				row->stats.ci_low, row->stats.ci_high, row->stats.n);
		}
		cs_html(h, ";");
	}
	cs_html(h, "\"");
}

/* Of all cells, which a cell of the drawing may be the median of. */
static void put_quantiles(struct cs_html *h, const struct heat *heat)
{
	const struct cs_grid *grid = heat->grid;
	static const double share[] = { 0, 0.05, 0.25, 0.5, 0.75, 0.95, 1 };
	const struct cs_run *run = grid->run;
	double *x = cs_new(double, cs_rows_count(&run->rows));
	size_t n = 0;

	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_matrix_rows(run, node, grid->matrix))
			if (row->status == CS_OK && cs_row_is(run, row, CS_ROWS_CELLS))
				x[n++] = row->stats.median;
	cs_sort(x, n);
	cs_html(h, "<p class=\"fig\">");
	for (size_t i = 0; n && i < sizeof(share) / sizeof(share[0]); i++)
		cs_html_text(h, "%s%.0f %% %s",
			     i ? ", " : "quantiles: ", 100 * share[i],
			     cs_html_figure(cs_quantile(x, n, share[i])).text);
	cs_html_text(h, "%s%s", *heat->words ? "; " : "", heat->words);
	cs_html(h, "</p>");
}

static void put_matrix(struct cs_html *h, const struct heat *heat)
{
	const struct cs_grid *grid = heat->grid;
	const struct cs_scale *scale = isnan(heat->peak) ? &cs_scale_difference :
							   &cs_scale_share;
	int strip = !isnan(heat->peak);

	cs_html(h, "<figure class=\"%s\"",
		heat->n_cols <= 4 || !heat->is_numbered ? "few" : "many");
	put_tips(h, heat);
	cs_html(h, ">");
	put_caption(h, heat);
	cs_svg_begin(h, heat->left + heat->w * heat->n_cols + 14,
		     heat->top + heat->h * heat->n_rows + (strip ? STRIP + 6 : 4),
		     grid->test->name);
	cs_svg_describe(h, "median %g %s, least %g, greatest %g", grid->median,
			cs_unit_text((int)grid->test->unit), grid->min, grid->max);
	if (!heat->is_list && heat->w * heat->n_cols > SENSE)
		put_sense(h, heat);
	if (heat->is_numbered)
		put_labels(h, heat);
	for (int i = 0; i < scale->n; i++)
		put_shade(h, heat, &scale->shade[i], cs_html_strokes(scale, i));
	put_missing(h, heat);
	put_rings(h, heat, '!');
	put_rings(h, heat, '<');
	if (strip)
		put_strip(h, heat);
	cs_svg_end(h);
	put_figures(h, heat);
	if (heat->words)
		put_quantiles(h, heat);
	cs_html_line(h, "</figure>");
}

/* ---- by path ---- */

static const struct {
	const char *title, *hint;
} paths[] = {
	[CS_PATH_PEER] = { "Between GPUs",
			   "Row is the source, column the destination." },
	[CS_PATH_LOCAL] = { "Within a GPU", NULL },
	[CS_PATH_H2D] = { "From host to GPUs", NULL },
	[CS_PATH_D2H] = { "From GPUs to host", NULL },
	[CS_PATH_HOST] = { "Between NUMA nodes", NULL },
};

static uint32_t held_by_curves(const struct cs_run *run)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < cs_grids(run); i++)
		held += cs_curve_holds(run, i) != 0;
	return held;
}

/* REPEATED: what is odd in it is odd in a matrix before it, too. */
enum matrix_state { NOT_DRAWN, NOTABLE, REPEATED, ORDINARY };

/* Cells that are odd in a matrix shown so far, of matrices with these ends. */
struct seen {
	int n_rows, n_cols;
	char *slow, *missing;
};

static struct cs_grid *grid_of(const struct cs_digest *d, int node, uint32_t i)
{
	struct cs_grid *grid = cs_grid_new(d->run, node, i);

	cs_slow_cells_mark(&d->likeness, grid);
	return grid;
}

static enum matrix_state state_of(const struct cs_digest *d, int node, uint32_t i,
				  enum cs_path path, struct seen *seen)
{
	enum matrix_state state = ORDINARY;
	struct cs_grid *grid;
	size_t n;

	if (cs_grid_head(d->run, i).test->path != path || cs_curve_holds(d->run, i))
		return NOT_DRAWN;
	grid = grid_of(d, node, i);
	n = cs_grid_cells(grid);
	if (!grid->n_planned)
		return NOT_DRAWN;
	if (seen->n_rows != grid->n_rows || seen->n_cols != grid->n_cols)
		*seen = (struct seen){ grid->n_rows, grid->n_cols, cs_new(char, n),
				       cs_new(char, n) };
	for (size_t k = 0; k < n; k++) {
		char *odd = isnan(grid->value[k]) ? seen->missing : seen->slow;

		if (!is_odd(grid, k))
			continue;
		if (!odd[k])
			state = NOTABLE;
		else if (state == ORDINARY)
			state = REPEATED;
		odd[k] = 1;
	}
	/* why is in the table of all tests */
	return grid->n_measured ? state : REPEATED;
}

static void put_row(struct cs_html *h, const struct cs_digest *d, int node,
		    const enum matrix_state *state, int of)
{
	cs_html(h, "<div class=\"row\">");
	for (uint32_t i = 0; i < cs_grids(d->run); i++) {
		struct heat heat;
		CS_SCOPE;

		if (!(of & 1 << state[i]))
			continue;
		heat_init(&heat, grid_of(d, node, i));
		put_matrix(h, &heat);
	}
	cs_html_line(h, "</div>");
}

static void put_folded(struct cs_html *h, const struct cs_digest *d, int node,
		       const enum matrix_state *state, enum matrix_state of, size_t n,
		       const char *what)
{
	if (!n)
		return;
	cs_html(h, "<details><summary>%zu %s %s</summary>", n,
		n == 1 ? "matrix" : "matrices", what);
	put_row(h, d, node, state, 1 << of);
	cs_html_line(h, "</details>");
}

/* The matrices of a path; of many, those that show nothing new folded. */
static void put_path(struct cs_html *h, const struct cs_digest *d, int node,
		     enum cs_path path, int many)
{
	uint32_t n = cs_grids(d->run);
	size_t count[ORDINARY + 1] = { 0 };
	struct seen seen = { 0 };
	CS_SCOPE;
	enum matrix_state *state = cs_new(enum matrix_state, n);

	for (uint32_t i = 0; i < n; i++)
		count[state[i] = state_of(d, node, i, path, &seen)]++;
	if (count[NOT_DRAWN] == n)
		return;
	cs_html_section(h, paths[path].title, paths[path].hint);
	if (!many || count[NOTABLE])
		put_row(h, d, node, state,
			1 << NOTABLE | !many << REPEATED | !many << ORDINARY);
	if (many) {
		put_folded(h, d, node, state, REPEATED, count[REPEATED],
			   "not measured, or odd at the same places as one above");
		put_folded(h, d, node, state, ORDINARY, count[ORDINARY],
			   "without a slow or missing cell");
	}
	cs_html_section_end(h);
}

/* ---- between nodes ---- */

#define SIDE 64 /* rows, at most */

void cs_html_between(struct cs_html *h, const struct cs_run *run)
{
	if (!run->plan || run->n_nodes < 2 || !cs_plan_has_between(run->plan))
		return;
	cs_html_section(h, "Between nodes",
			"Row is the node that sends, column the one that receives.");
	cs_html_legend(h, &cs_scale_difference, "no figure");
	cs_html(h, "<div class=\"row\">");
	for (uint32_t v = cs_plan_first_between(run->plan); v < run->plan->n_matrices;
	     v++) {
		const char *words;
		struct heat heat;
		CS_SCOPE;

		heat_init(&heat, cs_between_grid(run, v, SIDE, &words));
		heat.words = words;
		put_matrix(h, &heat);
	}
	cs_html_line(h, "</div>");
	cs_html_section_end(h);
}

#define HOW_TO_READ                                                                  \
	"Colour is the share of the live link where the usual share is known, else the distance from cells of the same kind. The scales are the same in every report. Strokes at the foot of a cell are the same scale. A ring is a cell slower than the others of its kind, a broken ring a cell with a remark. The strip below a matrix has all cells between 0 and the link; the band is the usual range."
#define OF_MANY                                                                      \
	" Matrices that show nothing new are folded; all figures are in the tables at the end."

void cs_html_heat(struct cs_html *h, const struct cs_digest *digest, int node)
{
	static const enum cs_path order[] = { CS_PATH_PEER, CS_PATH_H2D, CS_PATH_D2H,
					      CS_PATH_LOCAL, CS_PATH_HOST };
	const struct cs_run *run = digest->run;
	uint32_t drawn = cs_grids(run) - held_by_curves(run);
	int many = run->n_nodes == 1 && drawn > MANY;

	if (!drawn)
		return;
	cs_html_section(h, "Matrices", many ? HOW_TO_READ OF_MANY : HOW_TO_READ);
	cs_html_legend(h, &cs_scale_share, "no figure");
	cs_html_legend(h, &cs_scale_difference, "no figure");
	cs_html_section_end(h);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		put_path(h, digest, node, order[i], many);
}
