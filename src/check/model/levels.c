#include "check/model/rates.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/fma.h"
#include "result/cells.h"

#define LEVELS 4
#define FURTHEST 2.0 /* octaves between a knee and the vendor's size */

enum { GPU_REGISTERS, GPU_SHARED, GPU_L2, GPU_MEMORY };
enum { CPU_L1, CPU_L2, CPU_L3, CPU_MEMORY };

/* ---- the latency of each size ---- */

CS_ORDERING(by_size, struct cs_knee_point, CS_ORDER(a->bytes, b->bytes),
	    CS_ORDER(a->ns, b->ns))

/* The medians of a test's cells within one place, by size. */
static struct cs_vec curve_of(const struct cs_run *run, const char *name)
{
	const uint32_t test = (uint32_t)cs_test_index(name);
	struct cs_vec all = CS_LIST(struct cs_knee_point);
	struct cs_knee_point *p;
	size_t n = 0;

	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
			const struct cs_knee_point one = { (double)row->what.bytes,
							   row->stats.median };

			if (row->test == test && row->status == CS_OK &&
			    row->what.src.index == row->what.dst.index &&
			    cs_variant_is_usual(&row->what.variant) && one.ns > 0)
				cs_list_push(&all, &one);
		}
	cs_vec_sort(&all, by_size);
	p = all.data;
	for (size_t i = 0, end; i < all.n; i = end) {
		for (end = i; end < all.n && p[end].bytes == p[i].bytes; end++)
			;
		p[n++] = p[i + (end - i) / 2];
	}
	all.n = n;
	return all;
}

/* Give each level with a vendor's size the nearest knee that is left and not below the one
 * before; the loads below that knee are its own. */
static void take_knees(const struct cs_knees *knees, struct cs_level *level, int n)
{
	int from = 0;

	for (int i = 0; i < n; i++) {
		double nearest = FURTHEST;
		int at = -1;

		for (int k = from; k < knees->n; k++) {
			double off = fabs(log2(knees->bytes[k].value /
					       level[i].vendor_bytes));

			if (off < nearest) {
				nearest = off;
				at = k;
			}
		}
		if (at < 0)
			continue;
		level[i].found = knees->bytes[at];
		level[i].ns = knees->ns[at];
		from = at + 1;
	}
}

/* The largest sizes are in memory, if the last cache ends before. */
static void take_curve(const struct cs_vec *curve, struct cs_level *level, int n)
{
	const struct cs_knee_point *p = curve->data;
	const struct cs_level *last = &level[n - 2];
	struct cs_knees knees;

	cs_knees_find(p, curve->n, &knees);
	take_knees(&knees, level, n - 1);
	if (p[curve->n - 1].bytes >
	    2 * (isnan(last->found.value) ? last->vendor_bytes : last->found.value))
		level[n - 1].ns = knees.ns[knees.n];
}

static struct cs_level level_of(const char *name, const char *each, int is_numa)
{
	return (struct cs_level){ name, each, is_numa, 1, { NAN, NAN, NAN },
				  NAN,	NAN,  NAN };
}

/* ---- GPUs ---- */

/* By compute capability: registers, and shared memory with L1, of a multiprocessor (CUDA C++
 * Programming Guide, technical specifications); L2 of the part for computing centres
 * (architecture white papers). */
static const struct chip {
	int major, minor;
	double shared_kib, l2_kib;
} chips[] = {
	{ 6, 0, 64, 4096 },   { 7, 0, 128, 6144 },    { 7, 5, 96, 4096 },
	{ 8, 0, 192, 40960 }, { 8, 6, 128, 6144 },    { 8, 9, 128, 98304 },
	{ 9, 0, 256, 51200 }, { 10, 0, 256, 129024 },
};
#define REGISTERS_KIB 256

static const struct cs_gpu_facts *first_gpu(const struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++)
		if (run->node[node].facts.n_agents > 0)
			return &run->node[node].agent[0].gpu;
	return NULL;
}

static const struct chip *chip_of(const struct cs_gpu_facts *gpu)
{
	for (size_t i = 0; gpu && i < sizeof(chips) / sizeof(*chips); i++)
		if (chips[i].major == gpu->cc_major && chips[i].minor == gpu->cc_minor)
			return &chips[i];
	return NULL;
}

double cs_gpu_shared_bytes(const struct cs_run *run)
{
	const struct chip *chip = chip_of(first_gpu(run));

	return chip ? 1024 * chip->shared_kib : NAN;
}

static void take_chip(const struct cs_gpu_facts *gpu, struct cs_level *level)
{
	const struct chip *chip = chip_of(gpu);

	if (!gpu)
		return;
	if (chip) {
		level[GPU_SHARED].vendor_bytes = 1024 * chip->shared_kib;
		level[GPU_L2].vendor_bytes = 1024 * chip->l2_kib;
	}
	level[GPU_REGISTERS].vendor_bytes = 1024 * REGISTERS_KIB;
	level[GPU_REGISTERS].times = level[GPU_SHARED].times = gpu->sm_count;
	if (gpu->memory_bytes > 0)
		level[GPU_MEMORY].vendor_bytes = (double)gpu->memory_bytes;
}

/* Each multiply-add reads three registers of 8 bytes. */
static void add_gpu(const struct cs_run *run, struct cs_vec *to)
{
	const struct cs_vec curve = curve_of(run, "local.chase.random.alone");
	struct cs_level level[LEVELS] = {
		[GPU_REGISTERS] = level_of("registers", "multiprocessor", 0),
		[GPU_SHARED] = level_of("shared, L1", "multiprocessor", 0),
		[GPU_L2] = level_of("L2", "", 0),
		[GPU_MEMORY] = level_of("memory", "", 0),
	};
	struct cs_vec rates;

	if (curve.n < CS_LEVELS_SIZES)
		return;
	rates = cs_run_computes(run);
	take_chip(first_gpu(run), level);
	take_curve(&curve, level + GPU_L2, LEVELS - GPU_L2);
	level[GPU_REGISTERS].gbs = cs_computes_median(&rates, 0, CS_NEARS) /
				   CS_FMA_FLOPS * 3 * CS_WORD_BYTES;
	level[GPU_SHARED].gbs = cs_computes_median(&rates, 0, CS_NEAR_SHARED);
	level[GPU_L2].gbs = cs_computes_median(&rates, 0, CS_NEAR_L2);
	level[GPU_MEMORY].gbs = cs_computes_median(&rates, 0, CS_NEAR_MEMORY);
	for (int i = 0; i < LEVELS; i++)
		cs_list_push(to, &level[i]);
}

/* ---- cores ---- */

static double known(int64_t bytes)
{
	return bytes > 0 ? (double)bytes : NAN;
}

static double size_of(const struct cs_level *level)
{
	return isnan(level->found.value) ? level->vendor_bytes : level->found.value;
}

/* The level that holds what each core, or all cores together, read again and again; a size
 * near an end is of none, -1. */
static int level_of_read(const struct cs_level *level, double each, double all)
{
	for (int i = 0; i < CPU_MEMORY; i++) {
		double has = i < CPU_L3 ? each : all, size = size_of(&level[i]);

		if (has <= 0.75 * size)
			return i;
		if (!(has > 1.5 * size))
			return -1;
	}
	return CPU_MEMORY;
}

/* The fastest read of all cores out of each level. */
static void take_reads(const struct cs_run *run, struct cs_level *level)
{
	const uint32_t test = (uint32_t)cs_test_index("host.team.read.pair");

	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
			double all = (double)row->what.bytes, workers;
			int at;

			if (row->test != test || row->status != CS_OK ||
			    row->what.src.index != row->what.dst.index)
				continue;
			workers = row->side && row->side->workers ?
					  row->side->workers :
					  1;
			at = level_of_read(level, all / workers, all);
			if (at < 0)
				continue;
			level[at].gbs = fmax(level[at].gbs, row->stats.median);
			level[CPU_L1].times = fmax(level[CPU_L1].times, workers);
		}
	level[CPU_L2].times = level[CPU_L1].times;
}

static void add_cores(const struct cs_run *run, struct cs_vec *to)
{
	const struct cs_vec curve = curve_of(run, "host.chase.warm.pair");
	const struct cs_node_facts *facts;
	struct cs_level level[LEVELS] = {
		[CPU_L1] = level_of("L1", "core", 1),
		[CPU_L2] = level_of("L2", "core", 1),
		[CPU_L3] = level_of("L3", "", 1),
		[CPU_MEMORY] = level_of("memory", "", 1),
	};

	if (curve.n < CS_LEVELS_SIZES)
		return;
	facts = &run->node[0].facts;
	level[CPU_L1].vendor_bytes = known(facts->l1_bytes);
	level[CPU_L2].vendor_bytes = known(facts->l2_bytes);
	level[CPU_L3].vendor_bytes = known(facts->l3_bytes);
	level[CPU_MEMORY].vendor_bytes = known(facts->memory_bytes);
	take_curve(&curve, level, LEVELS);
	take_reads(run, level);
	for (int i = 0; i < LEVELS; i++)
		cs_list_push(to, &level[i]);
}

struct cs_vec cs_levels_find(const struct cs_run *run)
{
	struct cs_vec levels = CS_LIST(struct cs_level);

	add_gpu(run, &levels);
	add_cores(run, &levels);
	return levels;
}
