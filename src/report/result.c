#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "report/view.h"
#include "report/views.h"
#include "result/pool.h"

/* " placement=2-per-process": one word, for awk. */
static void print_placement(FILE *to, const char *placement)
{
	if (placement[0])
		fputs(" placement=", to);
	for (; *placement; placement++)
		putc(*placement == ' ' ? '-' : *placement, to);
}

/* result TEST NODE min M median M max M UNIT n/m cells [what stands in] [placement] */
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
	fprintf(to, " %s %zu/%zu cells%s%s",
		cs_unit_text(grid->test->unit), grid->n_measured,
		grid->n_planned, run->stand_in ? " stand-in" : "",
		run->virtual_clock ? " virtual-clock" : "");
	print_placement(to, run->node[grid->node].facts.placement);
	if (run->plan->set.last_bytes)
		fprintf(to, " copy %" PRIu64 " B", grid->bytes);
	putc('\n', to);
}

static int print_lines(FILE *to, const struct cs_run *run)
{
	struct cs_grid grid;
	uint32_t v;
	int node;

	for (v = 0; v < cs_grids(run); v++)
		for (node = 0; node < run->n_nodes; node++) {
			if (cs_grid_init(&grid, run, node, v))
				return -1;
			print_line(to, &grid);
			cs_grid_release(&grid);
		}
	return 0;
}

int cs_result_write(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt)
{
	struct cs_run pooled;
	struct cs_err err;
	int rc = cs_pool_make(run, &pooled, &err) || print_lines(to, &pooled);

	(void)opt; /* these lines never change */
	cs_pool_release(&pooled, run);
	if (rc)
		errno = ENOMEM;
	return rc || ferror(to) ? -1 : 0;
}
