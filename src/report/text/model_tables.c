/* model_tables.c - the tables of --suite model, levels and matmul: one for the GPUs and one
 * for the cores of NUMA nodes. */
#include "report/text/parts.h"

#include <math.h>

#include "check/model/rates.h"

/* ---- arithmetic: flop/s, and the cost of a load from each memory in flops ---- */

/* From "The cost of communications" and data sheets. */
#define PUBLISHED                                                                    \
	"a load from a GPU's own memory, by data sheets: V100 65, A100 49, H100 100, " \
	"B200 60, MI250X 116, MI300A 63"
#define PLACES_MOST 16 /* in lines; medians of more are in other tables */

static void add_heads(struct cs_columns *t, int is_numa)
{
	cs_columns_add(t, "<%s", is_numa ? "NUMA, all cores" : "GPU");
	cs_columns_heads(t, "FP64,of peak,memory,a load");
	if (!is_numa)
		cs_columns_heads(t, "L2,a load,shared,a load");
	cs_columns_end_line(t);
}

static void add_place(struct cs_columns *t, const struct cs_run *run,
		      const struct cs_computes *place)
{
	const struct cs_run_node *node = &run->node[place->node];
	const char *host = run->n_nodes > 1 ? node->facts.host : NULL;

	cs_columns_add(
		t, "%s",
		place->is_numa ?
			cs_join(host, " ", "%s",
				cs_endpoint_text(run, place->node, &place->where).text) :
			cs_join(host, " ", "%s %s",
				cs_agent_name(run, place->node, place->where.index).text,
				node->agent[place->where.index].gpu.name));
	cs_columns_number(t, place->gflops < 10, place->gflops, "");
	cs_columns_number(t, 1, 100 * place->of_peak, " %");
	for (int i = 0; i < (place->is_numa ? 1 : CS_NEARS); i++) {
		double load = cs_flops_per_load(place->gflops, place->gbs[i]);

		cs_columns_number(t, place->gbs[i] < 10, place->gbs[i], "");
		cs_columns_number(t, load < 10, load, "");
	}
	cs_columns_end_line(t);
}

/* The least share of the peak that any of them has; NAN. */
static double least_shared(const struct cs_computes *place, size_t n)
{
	double least = NAN;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, place[i].shared_of_peak);
	return least;
}

static void print_places(FILE *to, const struct cs_run *run,
			 const struct cs_computes *place, size_t n)
{
	double shared = least_shared(place, n);
	struct cs_columns t = { 0 };
	const char *of_peak = "";

	putc('\n', to);
	for (size_t i = 0; i < n; i++) {
		if (!i || place[i].is_numa != place[i - 1].is_numa)
			add_heads(&t, place[i].is_numa);
		add_place(&t, run, &place[i]);
		if (i + 1 == n || place[i].is_numa != place[i + 1].is_numa)
			cs_columns_print(to, &t, 0);
	}
	if (!isnan(shared))
		of_peak = cs_new_text("; shared: at least %.1f %% of 128 bytes a clock",
				      100 * shared);
	cs_fold(to, 2, 4,
		"GFLOP/s, GB/s, and flops that take as long as a load of 8 bytes; memory: a "
		"triad in its own%s",
		of_peak);
	if (n && !place->is_numa)
		cs_fold(to, 2, 4, "%s", PUBLISHED);
}

void cs_model_rates_print(FILE *to, const struct cs_run *run, int verbose)
{
	const struct cs_vec all = cs_run_computes(run);

	if (all.n && (verbose || all.n <= PLACES_MOST))
		print_places(to, run, all.data, all.n);
}

/* ---- the memories of GPUs and cores, from the fastest on: sizes, rates, latencies ---- */

static void add_level(struct cs_columns *t, const struct cs_level *level)
{
	const struct cs_fit_value *found = &level->found;

	cs_columns_add(t, "%s", level->name);
	cs_columns_add(t, "%s", cs_bytes_text(found->value));
	cs_columns_add(t, "%s",
		       isnan(found->value) ?
			       "-" :
			       cs_new_text("%s to %s", cs_bytes_text(found->low),
					   cs_bytes_text(found->high)));
	cs_columns_add(t, "%s", cs_bytes_text(level->vendor_bytes));
	cs_columns_add(t, "%s",
		       level->each[0] ? cs_new_text("%.0f", level->times) : "");
	cs_columns_number(t, level->gbs < 1000, level->gbs, "");
	cs_columns_number(t, 1, level->ns, "");
	cs_columns_end_line(t);
}

void cs_levels_print(FILE *to, const struct cs_run *run)
{
	const struct cs_vec levels = cs_levels_find(run);
	struct cs_columns t = { 0 };

	if (!levels.n)
		return;
	CS_EACH(const struct cs_level, level, &levels) {
		if (level == levels.data || level->is_numa != level[-1].is_numa) {
			cs_columns_print(to, &t, 0);
			cs_columns_add(&t, "<%s", level->is_numa ? "cores" : "GPU");
			cs_columns_heads(&t, "found,95 %,by vendor,of each,GB/s,ns\n");
		}
		add_level(&t, level);
	}
	cs_columns_print(to, &t, 0);
	cs_fold(to, 2, 4,
		"found: from this size on dependent loads take longer; -: no such size among "
		"those that were measured, or loads pass it by; of each: multiprocessors or "
		"cores that have one; registers: three words for each multiply-add");
	putc('\n', to);
}

/* ---- products of matrices: a line for each block, what it moves and how fast it is ---- */

static void add_product(struct cs_columns *t, const struct cs_product *p)
{
	cs_columns_add(t, p->block ? "%u x %u" : "none", p->block, p->block);
	cs_columns_add(t, "%s", p->fast);
	cs_columns_number(t, 1, p->words / p->least, "");
	cs_columns_number(t, 1, cs_product_intensity(p), "");
	cs_columns_number(t, p->gflops < 100, p->gflops, "");
	cs_columns_number(t, p->gbs < 100, p->gbs, "");
	if (!p->is_numa) {
		cs_columns_number(t, 0, p->allowed, "");
		cs_columns_number(t, 0, 100 * p->gflops / p->allowed, " %");
	}
	cs_columns_end_line(t);
}

/* "GPU: blocked by 64, 63 flops a word, 71 % of what movement allows; naive 2, 85 %" */
static void print_best(FILE *to, const struct cs_vec *all, int is_numa)
{
	const struct cs_product *best = cs_products_best(all, is_numa, 1);
	const struct cs_product *naive = cs_products_best(all, is_numa, 0);
	const char *text;

	if (!best)
		return;
	text = cs_new_text("%s: blocked by %u, %.0f flops a word, %.*f GFLOP/s",
			   is_numa ? "CPU" : "GPU", best->block,
			   cs_product_intensity(best), best->gflops < 100,
			   best->gflops);
	if (!isnan(best->allowed))
		text = cs_new_text("%s, %.0f %% of what movement and arithmetic allow",
				   text, 100 * best->gflops / best->allowed);
	if (naive)
		text = cs_new_text("%s; without blocks %.0f, %.1f times slower", text,
				   cs_product_intensity(naive),
				   best->gflops / naive->gflops);
	cs_fold(to, 2, 4, "%s", text);
}

void cs_products_print(FILE *to, const struct cs_run *run)
{
	const struct cs_vec all = cs_products_find(run);
	struct cs_columns t = { 0 };

	if (!all.n)
		return;
	CS_EACH(const struct cs_product, p, &all) {
		if (p == all.data || p->is_numa != p[-1].is_numa) {
			cs_columns_print(to, &t, 0);
			cs_columns_add(&t, "<%s",
				       p->is_numa ? "product by a CPU" :
						    "product by a GPU");
			cs_columns_heads(&t, "<in,x least,flops/word,GFLOP/s,GB/s");
			cs_columns_heads(&t, p->is_numa ? "\n" : ",allowed,\n");
		}
		add_product(&t, p);
	}
	cs_columns_print(to, &t, 0);
	cs_fold(to, 2, 4,
		"n x n matrices in blocks that fit the memory named; x least: words moved, "
		"2 n^3 / b and the result, over 2 n^3 / sqrt(M) of all that memory; GB/s: these "
		"words in that time; allowed: the lower of multiply-adds alone and of the words "
		"out of L2");
	print_best(to, &all, 0);
	print_best(to, &all, 1);
	putc('\n', to);
}

/* ---- how long the program of --model takes, by each memory and link ---- */

/* "60.4 ms" */
static const char *time_text(double s)
{
	return s >= 1	 ? cs_new_text("%.3g s", s) :
	       s >= 1e-3 ? cs_new_text("%.3g ms", 1e3 * s) :
			   cs_new_text("%.3g us", 1e6 * s);
}

static void add_way(struct cs_columns *t, const struct cs_workload_way *way)
{
	cs_columns_add(t, "%s", way->where);
	cs_columns_number(t, way->gbs < 1000, way->gbs, "");
	cs_columns_number(t, 2, way->alpha_us, "");
	cs_columns_number(t, way->balance < 10, way->balance, "");
	cs_columns_add(t, "%s", time_text(way->move_s));
	cs_columns_add(t, "%s", time_text(way->compute_s + way->move_s));
	cs_columns_add(t, "%s", time_text(fmax(way->compute_s, way->move_s)));
	cs_columns_add(t, "%s", way->compute_s >= way->move_s ? "flops" : "words");
	cs_columns_end_line(t);
}

static void print_ways(FILE *to, const struct cs_vec *ways)
{
	const struct cs_workload_way *way = ways->data;
	struct cs_columns t = { 0 };

	for (size_t i = 0; i < ways->n; i++) {
		if (!i || way[i].is_numa != way[i - 1].is_numa) {
			cs_columns_print(to, &t, 0);
			cs_fold(to, 0, 2, "%s, %.0f GFLOP/s in FP64: arithmetic %s",
				way[i].is_numa ? "NUMA node" : "GPU", way[i].gflops,
				time_text(way[i].compute_s));
			cs_columns_heads(
				&t,
				"<words from,GB/s,alpha,balance,move,sum,longer,<bound\n");
		}
		add_way(&t, &way[i]);
	}
	cs_columns_print(to, &t, 0);
}

void cs_workload_print(FILE *to, const struct cs_run *run)
{
	const struct cs_workload *w = &run->workload;
	const struct cs_vec ways = cs_workload_ways(run);

	cs_fold(to, 0, 2, "%.4g operations and %.4g words of 8 bytes: %.3g a word",
		w->flops, w->words, w->flops / w->words);
	if (!ways.n) {
		cs_fold(to, 2, 4,
			"no time: that needs the rates of arithmetic and of a memory "
			"or link, as from --suite model");
		return;
	}
	print_ways(to, &ways);
	cs_fold(to, 2, 4,
		"alpha: of one message, us; balance: operations a word that take as long as "
		"the word; sum: arithmetic and movement one after the other; longer: at the "
		"same time at best, bound by flops or by words");
}
