/* classes.c - rates of pairs of GPUs by the path between them, if a node has several. */
#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#define NVLINK CS_REACHES /* the last class */

int cs_nvlinks_between(const struct cs_gpu_record *a, const struct cs_gpu_record *b)
{
	const struct cs_nvlink_ends *here = &a->board.nvlink;
	const struct cs_nvlink_ends *there = &b->board.nvlink;

	for (int i = 0; i < here->n_gpus; i++)
		if (!strcmp(here->gpu[i].bus_id, b->bus_id))
			return here->gpu[i].links;
	if (here->to_switch < 1 || there->to_switch < 1)
		return 0;
	return here->to_switch < there->to_switch ? here->to_switch : there->to_switch;
}

/* enum cs_reach of a pair, or NVLINK. */
static int class_of(const struct cs_grid *grid, size_t cell)
{
	const struct cs_run_node *nd = &grid->run->node[grid->node];
	const struct cs_transfer what = cs_grid_transfer(grid, cell);
	const struct cs_gpu_record *a =
		cs_run_gpu(grid->run, grid->node,
			   nd->agent[what.src.index].gpu.bus_id);
	const struct cs_gpu_record *b =
		cs_run_gpu(grid->run, grid->node,
			   nd->agent[what.dst.index].gpu.bus_id);

	if (!a || !b)
		return CS_REACH_UNKNOWN;
	return cs_nvlinks_between(a, b) ? NVLINK : a->to_gpu[b - nd->gpu_record];
}

/* "NVLink 56 cells, 390.12 to 396.38, median 396.27" */
static const char *add_class(const struct cs_grid *grid, int class, double *room,
			     const char *text)
{
	const int d = cs_decimals(grid->test);
	double low = INFINITY, high = 0;
	size_t k = 0;

	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		if (isnan(grid->value[i]) || class_of(grid, i) != class)
			continue;
		room[k++] = grid->value[i];
		low = fmin(low, grid->value[i]);
		high = fmax(high, grid->value[i]);
	}
	return !k ? text :
		    cs_join(text, "; ", "%s %zu cell%s, %.*f to %.*f, median %.*f",
			    class == NVLINK ? "NVLink" : cs_reach_text(class), k,
			    k == 1 ? "" : "s", d, low, d, high, d, cs_median(room, k));
}

void cs_classes_print(FILE *to, const struct cs_grid *grid)
{
	double *room = cs_new(double, cs_grid_cells(grid));
	const char *text = "";

	if (!cs_on_cpu(grid->run) && grid->test->path == CS_PATH_PEER &&
	    grid->test->pattern == CS_PATTERN_PAIR)
		for (int class = NVLINK; class > CS_REACH_SELF; class --)
			text = add_class(grid, class, room, text);
	if (strchr(text, ';'))
		cs_fold(to, 2, 4, "by path: %s", text);
}
