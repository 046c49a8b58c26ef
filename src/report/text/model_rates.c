/* model_rates.c - arithmetic: flop/s, and the cost of a load from each memory in
 * flops. */
#include <math.h>

#include "check/model/rates.h"
#include "report/text/parts.h"

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
