#include "config.h"

#include "report/text/slow_cells.h"

#include <math.h>
#include <stdlib.h>

#define LISTED 6 /* cells named in one line; the rest is a count */

int cs_odd_mark(const struct cs_likeness *likeness, struct cs_grid *grid)
{
	const struct cs_rows *rows = &grid->run->rows;
	size_t n = cs_grid_cells(grid), all = cs_rows_count(rows);

	grid->off = calloc(n + 1, sizeof(*grid->off));
	for (size_t i = 0; grid->off && i < n; i++) {
		size_t at = grid->row[i] && all ?
				    (size_t)(grid->row[i] - cs_rows_get(rows, 0)) :
				    all;

		grid->off[i] = at < all ? likeness->off[at] : NAN;
		if (at >= all || !likeness->odd[at])
			continue;
		grid->mark[i] = '<';
		grid->n_odd++;
	}
	return grid->off ? 0 : -1;
}

const struct cs_shade *cs_odd_shade(const struct cs_grid *grid, size_t cell)
{
	double off = grid->off ? grid->off[cell] : NAN;

	return isnan(off) ? NULL : cs_shade_of_difference(expm1(off));
}

/* "33 %", "7 to 33 %": how far they are below their like. */
static void drop_text(const struct cs_grid *grid, char *to, size_t size)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		if (grid->mark[i] != '<')
			continue;
		least = fmin(least, -expm1(grid->off[i]));
		most = fmax(most, -expm1(grid->off[i]));
	}
	if (lround(100 * least) < lround(100 * most))
		cs_text(to, size, "%ld to %ld %%", lround(100 * least),
			lround(100 * most));
	else
		cs_text(to, size, "%ld %%", lround(100 * most));
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

void cs_odd_text(const struct cs_grid *grid, char *to, size_t size)
{
	int agent = common_agent(grid);
	char drop[32];
	size_t said = 0;

	to[0] = '\0';
	if (!grid->n_odd)
		return;
	drop_text(grid, drop, sizeof(drop));
	cs_text(to, size, "%zu cell%s %s below %s like: ", grid->n_odd,
		grid->n_odd == 1 ? "" : "s", drop, grid->n_odd == 1 ? "its" : "their");
	if (agent >= 0)
		cs_text_add(to, size, "all of %s %s", cs_agent_word(grid->run),
			    cs_agent_label(grid->run, grid->node, agent).text);
	for (size_t i = 0; i < cs_grid_cells(grid) && agent < 0; i++)
		if (grid->mark[i] == '<' && said++ < LISTED)
			cs_text_add(to, size, "%s%s", said > 1 ? ", " : "",
				    cs_cell_label(grid, i).text);
	if (said > LISTED)
		cs_text_add(to, size, " and %zu more", said - LISTED);
}

const char *cs_odd_how_sure(const struct cs_run *run)
{
	return run->checks & CS_CHECK_OUTLIER ? "" : "; --check measures it again";
}
