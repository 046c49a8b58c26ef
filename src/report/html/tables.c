/* tables.c - every figure of a node as a table, for copying and for screen readers. */
#include "report/html/parts.h"

#include <math.h>

static void put_caption(struct cs_html *h, const struct cs_grid *grid)
{
	cs_html_in(h, "caption", "%s, %s, %s (%s)", cs_grid_title(grid).text,
		   cs_new_size(grid->bytes), cs_unit_text((int)grid->test->unit),
		   grid->test->name);
}

static void put_value(struct cs_html *h, const struct cs_grid *grid, size_t cell)
{
	const struct cs_row *row = grid->row[cell];

	if (!isnan(grid->value[cell]))
		cs_html(h, "<td>%.*f</td>", cs_decimals(grid->test),
			grid->value[cell]);
	else
		cs_html_in(h, "td", "%s",
			   row		       ? cs_status_text(row->status) :
			   grid->planned[cell] ? "not measured" :
						 "");
}

static void put_list(struct cs_html *h, const struct cs_grid *grid)
{
	size_t n = cs_grid_cells(grid);

	cs_html(h, "<tr>");
	for (size_t i = 0; i < n; i++)
		if (grid->planned[i] || grid->row[i])
			cs_html_in(h, "th scope=\"col\"", "%s",
				   cs_cell_label(grid, i).text);
	cs_html(h, "</tr><tr>");
	for (size_t i = 0; i < n; i++)
		if (grid->planned[i] || grid->row[i])
			put_value(h, grid, i);
	cs_html(h, "</tr>");
}

static void put_matrix(struct cs_html *h, const struct cs_grid *grid)
{
	cs_html(h, "<tr><th scope=\"col\">from\\to</th>");
	for (int c = 0; c < grid->n_cols; c++)
		cs_html_in(h, "th scope=\"col\"", "%s",
			   cs_endpoint_text(grid->run, grid->node, &grid->col_end[c])
				   .text);
	for (int r = 0; r < grid->n_rows; r++) {
		cs_html(h, "</tr><tr>");
		cs_html_in(h, "th scope=\"row\"", "%s",
			   cs_endpoint_text(grid->run, grid->node, &grid->row_end[r])
				   .text);
		for (int c = 0; c < grid->n_cols; c++)
			put_value(h, grid,
				  (size_t)r * (size_t)grid->n_cols + (size_t)c);
	}
	cs_html(h, "</tr>");
}

void cs_html_tables(struct cs_html *h, const struct cs_run *run, int node)
{
	if (!cs_grids(run))
		return;
	cs_html_section(h, "All figures", NULL);
	cs_html(h, "<details><summary>All figures as tables</summary>");
	for (uint32_t i = 0; i < cs_grids(run); i++) {
		CS_SCOPE;
		const struct cs_grid *grid = cs_grid_new(run, node, i);

		if (!grid->n_planned)
			continue;
		cs_html_wide(h, "Figures");
		cs_html(h, "<table>");
		put_caption(h, grid);
		if (cs_test_is_list(grid->test))
			put_list(h, grid);
		else
			put_matrix(h, grid);
		cs_html_line(h, "</table></div>");
	}
	cs_html_line(h, "</details>");
	cs_html_section_end(h);
}
