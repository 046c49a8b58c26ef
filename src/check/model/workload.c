#include "check/model/rates.h"

#include <math.h>

#include "base/arena.h"
#include "check/model/model.h"

/* A rate of 0 or NAN is none. */
static void add(const struct cs_run *run, struct cs_workload_way way,
		struct cs_vec *to)
{
	double alpha = way.alpha_us > 0 ? 1e-6 * way.alpha_us : 0;

	if (!(way.gbs > 0))
		return;
	way.compute_s = 1e-9 * run->workload.flops / way.gflops;
	way.move_s = alpha + 1e-9 * CS_WORD_BYTES * run->workload.words / way.gbs;
	way.balance = cs_flops_per_load(way.gflops, way.gbs);
	cs_list_push(to, &way);
}

/* Levels have more memories than the rates alone. */
static void add_memories(const struct cs_run *run, const struct cs_vec *all,
			 const struct cs_vec *levels, int is_numa, double gflops,
			 struct cs_vec *to)
{
	int has_levels = 0;
	static const char *const name[CS_NEARS] = {
		[CS_NEAR_MEMORY] = "memory",
		[CS_NEAR_L2] = "L2",
		[CS_NEAR_SHARED] = "shared memory",
	};

	CS_EACH(const struct cs_level, level, levels)
		if (level->is_numa == is_numa) {
			add(run,
			    (struct cs_workload_way){ .where = level->name,
						      .is_numa = is_numa,
						      .gflops = gflops,
						      .gbs = level->gbs,
						      .alpha_us = NAN },
			    to);
			has_levels = 1;
		}
	for (int near = CS_NEARS - 1; near >= 0 && !has_levels; near--)
		add(run,
		    (struct cs_workload_way){
			    .where = name[near],
			    .is_numa = is_numa,
			    .gflops = gflops,
			    .gbs = cs_computes_median(all, is_numa, near),
			    .alpha_us = NAN },
		    to);
}

/* ---- links ---- */

/* One transfer at a time, from one end to the other. */
static int is_link(const struct cs_grid *head)
{
	const struct cs_test *test = head->test;

	return test->path != CS_PATH_LOCAL && test->path != CS_PATH_HOST &&
	       test->pattern == CS_PATTERN_PAIR && test->how == CS_HOW_GATED &&
	       cs_test_measures_link(test) && !head->back &&
	       cs_variant_is_usual(&head->matrix->variant);
}

/* By the line of the sweep that begins with a matrix, else by the matrix. */
static struct cs_workload_way link_of(const struct cs_run *run, uint32_t index)
{
	struct cs_workload_way way = { .where = cs_grid_head(run, index).test->name,
				       .is_link = 1,
				       .alpha_us = NAN };
	struct cs_fit_sum sum = { .n = 0 };
	size_t planned;

	if (cs_sweep_sizes(run, index))
		sum = cs_sweep_sum(run, index, &planned);
	if (sum.n)
		way.alpha_us = sum.alpha_us.value;
	way.gbs = sum.n ? sum.gbs.value :
			  cs_cells_median(run, (int[]){ 0, run->n_nodes }, index);
	return way;
}

/* Without a line the largest size counts: sizes ascend. */
static void add_links(const struct cs_run *run, int is_numa, double gflops,
		      struct cs_vec *to)
{
	for (uint32_t v = 0; v < cs_grids(run); v++) {
		const struct cs_grid head = cs_grid_head(run, v);
		const struct cs_workload_way *last = to->data;
		struct cs_workload_way way;
		int again = to->n && last[to->n - 1].where == head.test->name;

		if (!is_link(&head) || (again && !isnan(last[to->n - 1].alpha_us)))
			continue;
		way = link_of(run, v);
		way.is_numa = is_numa;
		way.gflops = gflops;
		if (again && way.gbs > 0)
			to->n--;
		add(run, way, to);
	}
}

static void add_network(const struct cs_run *run, int is_numa, double gflops,
			struct cs_vec *to)
{
	const struct cs_message message = cs_message_between(run);

	add(run,
	    (struct cs_workload_way){ .where = "node to node",
				      .is_numa = is_numa,
				      .is_link = 1,
				      .gflops = gflops,
				      .gbs = message.gbs,
				      .alpha_us = message.alpha_us },
	    to);
}

struct cs_vec cs_workload_ways(const struct cs_run *run)
{
	const struct cs_vec all = cs_run_computes(run), levels = cs_levels_find(run);
	struct cs_vec ways = CS_LIST(struct cs_workload_way);
	double gpu = cs_computes_median(&all, 0, CS_NEARS),
	       numa = cs_computes_median(&all, 1, CS_NEARS);
	int by_cores = isnan(gpu);

	if (!isnan(gpu))
		add_memories(run, &all, &levels, 0, gpu, &ways);
	if (!isnan(by_cores ? numa : gpu)) {
		add_links(run, by_cores, by_cores ? numa : gpu, &ways);
		add_network(run, by_cores, by_cores ? numa : gpu, &ways);
	}
	if (!isnan(numa))
		add_memories(run, &all, &levels, 1, numa, &ways);
	return ways;
}
