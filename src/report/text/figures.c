/* figures.c - the cells of a matrix: as numbers; as characters if there are many columns;
 * as a list if there is one figure for each agent. */
#include <math.h>
#include <string.h>

#include "report/text/parts.h"

#define COLUMNS_MOST 16 /* as numbers; more are split by the width of the page */
#define LABEL 9		/* width of the row labels */
#define CELL 8		/* least width of a cell, "  396.38" */
#define WORST 10
#define ACROSS 8	/* agents side by side, at most */

static struct cs_label row_label(const struct cs_grid *grid, int i)
{
	return cs_endpoint_text(grid->run, grid->node, &grid->row_end[i]);
}

static struct cs_label col_label(const struct cs_grid *grid, int i)
{
	return cs_endpoint_text(grid->run, grid->node, &grid->col_end[i]);
}

/* ---- numbers ---- */

static int cell_width(const struct cs_grid *grid)
{
	int i, width = CELL, d = cs_decimals(grid->test);

	for (i = 0; i < grid->n_rows * grid->n_cols; i++) {
		int w = isnan(grid->value[i]) ?
				1 :
				snprintf(NULL, 0, "%.*f", d, grid->value[i]);

		if (w + 2 > width)
			width = w + 2;
	}
	for (i = 0; i < grid->n_cols; i++)
		if ((int)strlen(col_label(grid, i).text) + 2 > width)
			width = (int)strlen(col_label(grid, i).text) + 2;
	return width;
}

/* Columns [first, last) of a matrix, as wide as the page takes. */
struct block {
	int first, last, width;
};

void cs_figure_put(FILE *to, int width, int decimals, double x)
{
	if (isnan(x))
		cs_print(to, "%*s", width, "-");
	else
		cs_print(to, "%*.*f", width, decimals, x);
}

/* A number at the right end of its place, coloured by itself. */
static void put_cell(FILE *to, const struct cs_grid *grid, int cell, int width)
{
	const struct cs_shade *shade = cs_cell_shade(grid, (size_t)cell);
	int d = cs_decimals(grid->test), digits;

	if (!cs_is_coloured() || !shade || !*shade->sgr) {
		cs_figure_put(to, width, d, grid->value[cell]);
		return;
	}
	digits = snprintf(NULL, 0, "%.*f", d, grid->value[cell]);
	cs_print(to, "%*s", width - digits, "");
	cs_print_sgr(to, shade->sgr);
	cs_figure_put(to, 0, d, grid->value[cell]);
	cs_print_sgr(to, "0");
}

/* A mark takes the first blank after its number. */
static void print_row(FILE *to, const struct cs_grid *grid, const struct block *b,
		      int src)
{
	char pending[2] = "";

	cs_print(to, "%*s", LABEL, row_label(grid, src).text);
	for (int dst = b->first; dst < b->last; dst++) {
		int i = src * grid->n_cols + dst, behind = dst > b->first;

		if (behind)
			putc(pending[0], to);
		put_cell(to, grid, i, b->width - behind);
		pending[0] = grid->mark[i];
	}
	cs_print_line(to, "%s", pending[0] == ' ' ? "" : pending);
}

/* For all-to-one and one-to-all: the sum into or out of each GPU. */
static void print_hubs(FILE *to, const struct cs_grid *grid, const struct block *b)
{
	int any = 0;

	for (int i = b->first; grid->total && i < b->last; i++)
		any |= !isnan(grid->total[i]);
	if (!any)
		return;
	cs_print(to, "%*s", LABEL,
		 grid->test->pattern == CS_PATTERN_ALL_TO_ONE ? "into" : "out of");
	for (int i = b->first; i < b->last; i++)
		cs_figure_put(to, b->width, 2, grid->total[i]);
	putc('\n', to);
}

static void print_block(FILE *to, const struct cs_grid *grid, const struct block *b)
{
	cs_print(to, "%*s", LABEL, "from\\to");
	for (int i = b->first; i < b->last; i++)
		cs_print(to, "%*s", b->width, col_label(grid, i).text);
	putc('\n', to);
	for (int i = 0; i < grid->n_rows; i++)
		print_row(to, grid, b, i);
	print_hubs(to, grid, b);
}

static void print_numbers(FILE *to, const struct cs_grid *grid)
{
	struct block b = { .width = cell_width(grid) };
	/* the mark of the last one has its place too */
	int fit = (cs_columns() - LABEL - 1) / b.width;

	fit = fit < 1 ? 1 : fit;
	for (b.first = 0; b.first < grid->n_cols; b.first = b.last) {
		b.last = b.first + fit < grid->n_cols ? b.first + fit : grid->n_cols;
		print_block(to, grid, &b);
	}
}

/* ---- characters ---- */

static double middle(size_t cells, const double *value)
{
	double *room = cs_new(double, cells);
	size_t k = 0;

	for (size_t i = 0; i < cells; i++)
		if (!isnan(value[i]))
			room[k++] = value[i];
	return k ? cs_median(room, k) : NAN;
}

static char character(const struct cs_grid *grid, int cell, double median)
{
	double off = fabs(grid->value[cell] / median - 1);

	if (isnan(off) && grid->row_end[0].kind == CS_ENDPOINT_NODE)
		return grid->planned[cell] ? 'x' : ' ';
	if (isnan(off))
		return cell / grid->n_cols == cell % grid->n_cols ? '\\' : 'x';
	return off <= 0.01 ? '.' : off <= 0.03 ? '-' : off <= 0.10 ? '=' : '#';
}

/* How bad a cell is: the more, the slower. */
static double badness(const struct cs_grid *grid, int cell)
{
	return cs_unit_low_is_better(grid->test->unit) ? grid->value[cell] :
							 -grid->value[cell];
}

/* The slowest cell that is not as slow as `below` (and, when equal, later in the
 * matrix than `after`), so that a few calls list the worst; -1: no more. */
static int next_worst(const struct cs_grid *grid, double below, int after)
{
	int worst = -1;

	for (int i = 0; i < grid->n_rows * grid->n_cols; i++) {
		double bad = badness(grid, i);

		if (isnan(bad) || bad > below || (i <= after && bad >= below))
			continue;
		if (worst < 0 || bad > badness(grid, worst))
			worst = i;
	}
	return worst;
}

static void print_worst(FILE *to, const struct cs_grid *grid, double median)
{
	const double *value = grid->value;
	const char *text = NULL;
	double below = INFINITY;
	int at = -1, k, low = cs_unit_low_is_better(grid->test->unit);

	for (k = 0; k < WORST; k++) {
		at = next_worst(grid, below, at);
		if (at < 0 ||
		    (low ? value[at] <= 1.01 * median : value[at] >= 0.99 * median))
			break;
		below = badness(grid, at);
		text = cs_join(text, ", ", "%s %.2f (%.1f %%)",
			       cs_cell_label(grid, (size_t)at).text, value[at],
			       100 * (value[at] / median - 1));
	}
	if (text)
		cs_fold(to, 2, 4, "slowest: %s", text);
	else
		cs_fold(to, 2, 4, "no cell is more than 1 %% slower than the median");
}

/* The labels of the columns, read from top to bottom. */
static void print_column_labels(FILE *to, const struct cs_grid *grid)
{
	char line[CS_MAX_AGENTS + 1];
	int longest = 0;

	for (int i = 0; i < grid->n_cols; i++)
		if ((int)strlen(col_label(grid, i).text) > longest)
			longest = (int)strlen(col_label(grid, i).text);
	for (int k = longest; k > 0; k--) {
		int end = 0;

		for (int i = 0; i < grid->n_cols; i++) {
			struct cs_label label = col_label(grid, i);
			int n = (int)strlen(label.text);

			line[i] = n < k ? ' ' : label.text[n - k];
			if (n >= k)
				end = i + 1;
		}
		cs_print_line(to, "%*s %.*s", LABEL, k == longest ? "from\\to" : "",
			      end, line);
	}
}

static void print_characters(FILE *to, const struct cs_grid *grid)
{
	double median = middle(cs_grid_cells(grid), grid->value);

	print_column_labels(to, grid);
	for (int i = 0; i < grid->n_rows; i++) {
		cs_print(to, "%*s ", LABEL, row_label(grid, i).text);
		for (int k = 0; k < grid->n_cols; k++)
			putc(character(grid, i * grid->n_cols + k, median), to);
		putc('\n', to);
	}
	cs_fold(to, 2, 4,
		". within 1 %% of the median %.2f, - 1 to 3 %%, "
		"= 3 to 10 %%, # more, x not measured",
		median);
	print_worst(to, grid, median);
}

/* ---- one figure an agent ---- */

/* The one cell of its row that has a figure; -1 none. */
static int cell_of(const struct cs_grid *grid, int agent)
{
	for (int i = agent * grid->n_cols; i < (agent + 1) * grid->n_cols; i++)
		if (!isnan(grid->value[i]))
			return i;
	return -1;
}

static double p99_of(const struct cs_grid *grid, int cell)
{
	return cell >= 0 && grid->row && grid->row[cell] ? grid->row[cell]->stats.p99 :
							   NAN;
}

/* A mark takes the first blank after its number, as in matrices. */
static void print_line(FILE *to, const struct cs_grid *grid, const struct block *b,
		       int p99)
{
	char pending[2] = "";

	cs_print(to, "%*s", LABEL, p99 ? "p99" : "median");
	for (int agent = b->first; agent < b->last; agent++) {
		int cell = cell_of(grid, agent), behind = agent > b->first;

		if (behind)
			putc(pending[0] ? pending[0] : ' ', to);
		if (p99 || cell < 0)
			cs_figure_put(to, b->width + 2 - behind,
				      cs_decimals(grid->test), p99_of(grid, cell));
		else
			put_cell(to, grid, cell, b->width + 2 - behind);
		pending[0] = '\0';
		if (!p99 && cell >= 0 && grid->mark[cell] != ' ')
			pending[0] = grid->mark[cell];
	}
	cs_print_line(to, "%s", pending);
}

static int widest(const struct cs_grid *grid)
{
	int agent, width = CELL - 2, d = cs_decimals(grid->test);

	for (agent = 0; agent < grid->n_rows; agent++) {
		int cell = cell_of(grid, agent), k;
		double x[2] = { cell < 0 ? NAN : grid->value[cell],
				p99_of(grid, cell) };

		for (k = 0; k < 2; k++)
			if (!isnan(x[k]) && snprintf(NULL, 0, "%.*f", d, x[k]) > width)
				width = snprintf(NULL, 0, "%.*f", d, x[k]);
	}
	return width;
}

static void print_list(FILE *to, const struct cs_grid *grid)
{
	struct block b = { .width = widest(grid) };
	int of_numa = grid->test->path == CS_PATH_HOST;
	int fit = (cs_columns() - LABEL - 1) / (b.width + 2);

	fit = fit < 1 ? 1 : fit > ACROSS ? ACROSS : fit;
	for (b.first = 0; b.first < grid->n_rows; b.first = b.last) {
		b.last = b.first + fit < grid->n_rows ? b.first + fit : grid->n_rows;
		cs_print(to, "%*s", LABEL,
			 of_numa ? "NUMA" : cs_agent_word(grid->run));
		for (int agent = b.first; agent < b.last; agent++)
			cs_print(to, "  %*s", b.width,
				 of_numa ? row_label(grid, agent).text :
					   cs_agent_label(grid->run, grid->node, agent)
						   .text);
		putc('\n', to);
		print_line(to, grid, &b, 0);
		/* of single calls; of a few samples it would be their worst */
		if (grid->row && grid->test->how == CS_HOW_CALLS)
			print_line(to, grid, &b, 1);
	}
}

void cs_matrix_cells(FILE *to, const struct cs_grid *grid)
{
	if (cs_test_is_list(grid->test))
		print_list(to, grid);
	else if (grid->n_cols > COLUMNS_MOST)
		print_characters(to, grid);
	else
		print_numbers(to, grid);
}
