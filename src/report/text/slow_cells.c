#include "report/text/parts.h"

#include <math.h>

#define LISTED 6 /* cells named in one line; the rest is a count */

void cs_slow_cells_mark(const struct cs_likeness *likeness, struct cs_grid *grid)
{
	const struct cs_rows *rows = &grid->run->rows;
	size_t n = cs_grid_cells(grid), all = cs_rows_count(rows);

	grid->off = cs_new(double, n);
	for (size_t i = 0; i < n; i++) {
		size_t at = grid->row[i] && all ?
				    (size_t)(grid->row[i] - cs_rows_get(rows, 0)) :
				    all;

		grid->off[i] = at < all ? likeness->off[at] : NAN;
		if (at >= all || !likeness->slow[at])
			continue;
		grid->mark[i] = '<';
		grid->n_slow++;
	}
}

const struct cs_shade *cs_cell_shade(const struct cs_grid *grid, size_t cell)
{
	double off = grid->off ? grid->off[cell] : NAN;

	return isnan(off) ? NULL : cs_shade_of_difference(expm1(off));
}

/* "33 % ", "7 to 33 % ", "up to 33 % ", "" of less than 1 %: how much slower. */
static const char *drop_text(const struct cs_grid *grid)
{
	double least = INFINITY, most = 0;
	long from, to;

	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		if (grid->mark[i] != '<')
			continue;
		least = fmin(least, -expm1(grid->off[i]));
		most = fmax(most, -expm1(grid->off[i]));
	}
	from = lround(100 * least);
	to = lround(100 * most);
	return to < 1	  ? "" :
	       from >= to ? cs_new_text("%ld %% ", to) :
	       from < 1	  ? cs_new_text("up to %ld %% ", to) :
			    cs_new_text("%ld to %ld %% ", from, to);
}

/* The agent that is an end of all of them; -1 none is, or there is one cell alone. */
static int common_agent(const struct cs_grid *grid)
{
	int n = grid->run->node[grid->node].facts.n_agents;

	for (int a = 0; a < n; a++) {
		size_t of = 0, all = 0;

		for (size_t i = 0; i < cs_grid_cells(grid); i++) {
			const struct cs_transfer what = cs_grid_transfer(grid, i);

			if (grid->mark[i] != '<')
				continue;
			all++;
			of += (!cs_endpoint_is_numa(&what.src) && what.src.index == a) ||
			      (!cs_endpoint_is_numa(&what.dst) && what.dst.index == a);
		}
		if (all > 1 && of == all)
			return a;
	}
	return -1;
}

const char *cs_slow_cells_text(const struct cs_grid *grid)
{
	int agent = common_agent(grid);
	size_t named = 0;
	char *cells = NULL;

	if (!grid->n_slow)
		return "";
	if (agent >= 0)
		cells = cs_new_text("all of %s %s", cs_agent_word(grid->run),
				    cs_agent_label(grid->run, grid->node, agent).text);
	for (size_t i = 0; i < cs_grid_cells(grid) && agent < 0; i++)
		if (grid->mark[i] == '<' && named++ < LISTED)
			cells = cs_join(cells, ", ", "%s",
					cs_cell_label(grid, i).text);
	if (named > LISTED)
		cells = cs_new_longer(cells, " and %zu more", named - LISTED);
	return cs_new_text("%s %sslower than the others: %s",
			   cs_count_text(grid->n_slow, "cell"), drop_text(grid),
			   cells);
}

const char *cs_slow_cells_how_sure(const struct cs_run *run)
{
	return run->checks & CS_CHECK_OUTLIER ? "" : "; --check measures it again";
}
