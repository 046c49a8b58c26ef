/* workload.c - how long the program of --model takes, by each memory and link. */
#include <math.h>

#include "check/model/workload.h"
#include "report/text/parts.h"

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
