/* overlap.c - tiles that are moved while kernels work on others: a line for each number of
 * kernels a tile, and which way is best. */
#include "report/text/parts.h"

#include <math.h>

/* The columns of a line: medians over cells, in milliseconds. */
enum column { KERNELS, MOVES, SERIAL, STREAMS, TILES, ROTATED, IDEAL, COLUMNS };

static const struct {
	enum cs_metric metric;
	const char *head;
} columns[COLUMNS] = {
	[KERNELS] = { CS_METRIC_KERNELS, "kernels" },
	[MOVES] = { CS_METRIC_MOVES, "moves" },
	[SERIAL] = { CS_METRIC_SERIAL, "serial" },
	[STREAMS] = { CS_METRIC_STREAMS, "streams" },
	[TILES] = { CS_METRIC_TILES, "tiles" },
	[ROTATED] = { CS_METRIC_RATE, "rotated" },
	[IDEAL] = { CS_METRIC_IDEAL, "ideal" },
};

struct line {
	unsigned kernels;
	double ms[COLUMNS];
	size_t n_planned, n_measured, n_marked;
};

static void take_line(const struct cs_run *run, int first, int last, uint32_t index,
		      struct line *line)
{
	for (int node = first; node < last; node++) {
		CS_SCOPE;
		const struct cs_grid *grid = cs_grid_new(run, node, index);

		line->kernels = cs_variant_kernels(&grid->matrix->variant);
		line->n_planned += grid->n_planned;
		line->n_measured += grid->n_measured;
		for (size_t i = 0; i < cs_grid_cells(grid); i++)
			line->n_marked += grid->mark[i] == '!';
		for (int c = 0; node == first && c < COLUMNS; c++)
			line->ms[c] = cs_figures_median(run, (int[]){ first, last },
							grid->test, columns[c].metric,
							grid->bytes,
							&grid->matrix->variant);
	}
}

static void add_line(struct cs_columns *t, const struct line *line)
{
	cs_columns_add(t, "%u", line->kernels);
	cs_columns_add(t, "%zu/%zu", line->n_measured, line->n_planned);
	for (int c = 0; c < COLUMNS; c++)
		cs_columns_number(t, 2, line->ms[c], "");
	cs_columns_number(t, 2, 100 * (line->ms[ROTATED] / line->ms[IDEAL] - 1), "");
	if (line->n_marked)
		cs_columns_add(t, "! %zu", line->n_marked);
	cs_columns_end_line(t);
}

/* Its quickest way; -1: none is known. */
static int best_of(const struct line *line)
{
	int best = -1;

	for (int c = SERIAL; c <= ROTATED; c++)
		if (!isnan(line->ms[c]) && (best < 0 || line->ms[c] < line->ms[best]))
			best = c;
	return best;
}

/* "best on this machine: rotated streams with 1, 2, 4 kernels a tile; …" */
static void print_best(FILE *to, const struct line *line, int n)
{
	const char *text = NULL;

	for (int c = SERIAL; c <= ROTATED; c++) {
		int found = 0;

		for (int i = 0; i < n; i++) {
			if (best_of(&line[i]) != c)
				continue;
			if (found++)
				text = cs_join(text, ", ", "%u", line[i].kernels);
			else
				text = cs_join(text, "; ", "%s with %u",
					       cs_schedule_text(columns[c].metric),
					       line[i].kernels);
		}
	}
	if (text)
		cs_fold(to, 2, 4, "best on this machine: %s kernels a tile", text);
}

void cs_overlap_print(FILE *to, const struct cs_run *run, const int nodes[2],
		      const uint32_t *index, int n)
{
	struct line *line = cs_new(struct line, n);
	struct cs_columns t = { 0 };

	for (int i = 0; i < n; i++)
		take_line(run, nodes[0], nodes[1], index[i], &line[i]);
	if (!CS_ANY(i, n, line[i].n_measured)) {
		cs_fold(to, 2, 4, "not measured");
		return;
	}
	cs_columns_heads(&t, "kernels,cells");
	for (int c = 0; c < COLUMNS; c++)
		cs_columns_heads(&t, columns[c].head);
	cs_columns_heads(&t, "off %\n");
	for (int i = 0; i < n; i++)
		add_line(&t, &line[i]);
	cs_columns_print(to, &t, 0);
	cs_fold(to, 2, 4,
		"kernels, moves: alone; streams: three; tiles: a stream for each; ideal: the "
		"longer of both; off: how much longer than the ideal rotated takes; ! cells with "
		"a remark (-v prints each)");
	print_best(to, line, n);
}
