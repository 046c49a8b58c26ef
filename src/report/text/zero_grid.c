/* zero_grid.c - zero-copy by the grid of its kernel: a line for each number of blocks, a
 * column for each number of threads, and how few of them are enough. */
#include "report/text/parts.h"

#include <math.h>

#define POWERS 11 /* 1 to 1024 */
#define ENOUGH 0.95

struct rates {
	/* of 2^b blocks of 2^t threads: at b * POWERS + t; NAN: not measured */
	double gbs[POWERS * POWERS];
	int blocks[POWERS], threads[POWERS]; /* are there such? */
};

static void take(struct rates *r, const struct cs_run *run, const int nodes[2],
		 uint32_t index)
{
	const struct cs_variant v = cs_grid_head(run, index).matrix->variant;
	const int b = __builtin_ctz(cs_variant_blocks(&v));
	const int t = __builtin_ctz(cs_variant_block_threads(&v));

	r->blocks[b] = r->threads[t] = 1;
	r->gbs[b * POWERS + t] = cs_cells_median(run, nodes, index);
}

static unsigned blocks_at(int i)
{
	return 1u << i / POWERS;
}

static unsigned threads_at(int i)
{
	return 1u << i % POWERS;
}

static void print_enough(FILE *to, const struct rates *r)
{
	int best = -1, least = -1;
	const char *enough = "";

	for (int i = 0; i < POWERS * POWERS; i++)
		if (!isnan(r->gbs[i]) && (best < 0 || r->gbs[i] > r->gbs[best]))
			best = i;
	if (best < 0)
		return;
	for (int i = 0; i < POWERS * POWERS; i++)
		if (r->gbs[i] >= ENOUGH * r->gbs[best] &&
		    (least < 0 || blocks_at(i) * threads_at(i) <
					  blocks_at(least) * threads_at(least)))
			least = i;
	if (blocks_at(least) * threads_at(least) < blocks_at(best) * threads_at(best))
		enough = cs_new_text("; %.0f %% of that with %u blocks of %u threads",
				     100 * ENOUGH, blocks_at(least),
				     threads_at(least));
	cs_fold(to, 2, 4, "best: %u blocks of %u threads%s", blocks_at(best),
		threads_at(best), enough);
}

void cs_grids_print(FILE *to, const struct cs_run *run, const int nodes[2],
		    const uint32_t *index, int n)
{
	struct rates r = { .blocks = { 0 } };
	struct cs_columns table = { 0 };

	for (int i = 0; i < POWERS * POWERS; i++)
		r.gbs[i] = NAN;
	for (int i = 0; i < n; i++)
		take(&r, run, nodes, index[i]);
	cs_columns_heads(&table, "blocks");
	for (int t = 0; t < POWERS; t++)
		if (r.threads[t])
			cs_columns_add(&table, "x %u", 1u << t);
	cs_columns_end_line(&table);
	for (int b = 0; b < POWERS; b++) {
		if (!r.blocks[b])
			continue;
		cs_columns_add(&table, "%u", 1u << b);
		for (int t = 0; t < POWERS; t++)
			if (r.threads[t])
				cs_columns_number(&table, 2, r.gbs[b * POWERS + t],
						  "");
		cs_columns_end_line(&table);
	}
	cs_columns_print(to, &table, 0);
	print_enough(to, &r);
}
