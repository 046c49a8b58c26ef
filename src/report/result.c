#include "config.h"

#include <errno.h>

#include "report/view.h"
#include "report/views.h"

/* result TEST NODE min M median M max M UNIT n/m cells [what stands in] */
static void print_line(FILE *to, const struct cs_grid *grid)
{
	const struct cs_run *run = grid->run;
	int d = cs_decimals(grid->test);

	fprintf(to, "result %s %s ", grid->test->name,
		run->node[grid->node].facts.host);
	if (grid->n_measured)
		fprintf(to, "min %.*f median %.*f max %.*f", d, grid->min, d,
			grid->median, d, grid->max);
	else
		fprintf(to, "min - median - max -");
	fprintf(to, " %s %zu/%zu cells%s%s\n",
		cs_unit_text(grid->test->unit), grid->n_measured,
		grid->n_planned, run->stand_in ? " stand-in" : "",
		run->virtual_clock ? " virtual-clock" : "");
}

int cs_result_write(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt)
{
	struct cs_grid grid;
	uint32_t v;
	int node;

	(void)opt; /* these lines never change */
	for (v = 0; run->plan && v < run->plan->n_views; v++)
		for (node = 0; node < run->n_nodes; node++) {
			if (cs_grid_init(&grid, run, node, v)) {
				errno = ENOMEM;
				return -1;
			}
			print_line(to, &grid);
			cs_grid_release(&grid);
		}
	return ferror(to) ? -1 : 0;
}
