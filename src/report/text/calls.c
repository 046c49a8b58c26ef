/* calls.c - what calls cost: a line for each and each size, alone and by all at once. */
#include "report/text/parts.h"

#include <math.h>

int cs_calls_holds(const struct cs_run *run, uint32_t index)
{
	return cs_grid_head(run, index).test->how == CS_HOW_BATCHES;
}

int cs_calls_begins(const struct cs_run *run, uint32_t index)
{
	uint32_t first = 0;

	while (first < index && !cs_calls_holds(run, first))
		first++;
	return first == index && cs_calls_holds(run, index);
}

/* The other pattern of the same call at the same size; -1 none. */
static int64_t other_of(const struct cs_run *run, uint32_t index)
{
	const struct cs_grid of = cs_grid_head(run, index);

	for (uint32_t v = 0; v < cs_grids(run); v++) {
		const struct cs_grid grid = cs_grid_head(run, v);

		if (v != index && grid.test->how == CS_HOW_BATCHES &&
		    grid.test->op == of.test->op && grid.bytes == of.bytes)
			return v;
	}
	return -1;
}

static void print_call(FILE *to, const struct cs_run *run, const int nodes[2],
		       uint32_t index)
{
	const struct cs_grid head = cs_grid_head(run, index);
	int64_t other = other_of(run, index);
	double x[3] = { NAN, NAN };
	const char *size = head.test->bytes ? "" : cs_new_size(head.bytes);
	int all = head.test->pattern == CS_PATTERN_ALL;

	/* the line is that of the first of both */
	if (other >= 0 && other < index)
		return;
	x[all] = cs_cells_median(run, nodes, index);
	if (other >= 0)
		x[!all] = cs_cells_median(run, nodes, (uint32_t)other);
	cs_print(to, "  %s.call.%-*s %9s", cs_path_text((int)head.test->path),
		 head.test->path == CS_PATH_LOCAL ? 18 : 19,
		 cs_op_text((int)head.test->op), size);
	x[2] = x[1] / x[0];
	for (int i = 0; i < 3; i++)
		cs_figure_put(to, i < 2 ? 13 : 10, x[i] < 1e5, x[i]);
	putc('\n', to);
}

/* Equal reasons once. */
static void print_missing(FILE *to, const struct cs_run *run, const int nodes[2],
			  uint32_t index)
{
	const struct cs_grid head = cs_grid_head(run, index);

	for (int node = nodes[0]; node < nodes[1]; node++) {
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS))
			if (row->test == head.matrix->test && row->status != CS_OK &&
			    row->what.bytes == head.bytes) {
				cs_fold(to, 2, 4, "%s: %s", head.test->name,
					row->reason);
				return;
			}
	}
}

void cs_calls_print(FILE *to, const struct cs_run *run, int first, int last)
{
	const int nodes[2] = { first, last };

	putc('\n', to);
	cs_fold(to, 0, 2,
		"calls  CPU time of one in ns, median over %s: one at a time, and all at "
		"once (-v: each)",
		cs_on_cpu(run) ? "threads" : "GPUs");
	cs_print_line(to, "  %-29s %9s  %11s  %11s  %8s", "", "size", "alone", "all",
		      "all/alone");
	for (uint32_t v = 0; v < cs_grids(run); v++)
		if (cs_calls_holds(run, v))
			print_call(to, run, nodes, v);
	for (uint32_t v = 0; v < cs_grids(run); v++)
		if (cs_calls_holds(run, v))
			print_missing(to, run, nodes, v);
}
