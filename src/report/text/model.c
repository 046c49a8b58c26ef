/* model.c - what moving bytes costs: a line for each sweep, from the fits of its cells. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "check/model/rates.h"
#include "file/record.h"
#include "report/export/parts.h"
#include "report/text/parts.h"

#define NAME 24 /* longer ones have a line of their own */

/* "2.71+-0.14": the further end of the interval; "" if it is unbounded. */
static const char *value_text(const struct cs_fit_value *x, int decimals)
{
	double off = fmax(x->high - x->value, x->value - x->low);

	if (fmax(x->value, isfinite(off) ? 10 * off : 0) >= 1000)
		decimals = 0;
	return isfinite(off) ?
		       cs_new_text("%.*f+-%.*f", decimals, x->value, decimals, off) :
		       cs_new_text("%.*f", decimals, x->value);
}

/* ---- a line for each ---- */

static const char *name_of(FILE *to, const struct cs_grid *head)
{
	if (strlen(head->test->name) <= NAME)
		return head->test->name;
	cs_fold(to, 0, 2, "%s", head->test->name);
	return "";
}

/* Print the variant, which distinguishes sweeps of one test. */
static void print_kind(FILE *to, const struct cs_grid *head)
{
	if (!head->back && cs_variant_is_usual(&head->matrix->variant))
		return;
	cs_fold(to, 2, 4, "%s%s%s", head->back ? "the way back" : "",
		head->back && !cs_variant_is_usual(&head->matrix->variant) ? ", " : "",
		cs_variant_words(&head->matrix->variant).text);
}

static void print_sum(FILE *to, const struct cs_grid *head,
		      const struct cs_fit_sum *sum, size_t planned)
{
	const char *cells = cs_new_text("%zu/%zu", sum->n, planned);

	if (sum->n)
		cs_fold(to, 0, NAME, "%-*s %5s %11s %11s %8s %16s", NAME,
			name_of(to, head), cells, value_text(&sum->alpha_us, 2),
			value_text(&sum->gbs, 1), cs_bytes_text(sum->half_bytes.value),
			cs_new_text("%+.1f %%, %s", cs_percent(sum->worst, 1),
				    cs_bytes_text(sum->worst_bytes)));
	else
		cs_fold(to, 0, NAME,
			"%-*s %5s no line: %d sizes at least, that take longer", NAME,
			name_of(to, head), cells, CS_FIT_LEAST);
	print_kind(to, head);
	if (sum->n_switched)
		cs_fold(to, 2, 4,
			"%zu of %zu cells change with the size: alpha is of small "
			"copies, 1/beta of large ones (-v)",
			sum->n_switched, sum->n);
}

static void print_sums(FILE *to, const struct cs_run *run)
{
	int single = 0;

	cs_print_line(to, "%-*s %5s %11s %11s %8s %16s", NAME, "from a sweep of",
		      "cells", "alpha us", "1/beta GB/s", "n1/2", "furthest off");
	for (uint32_t v = 0; v < cs_grids(run); v++) {
		const struct cs_grid head = cs_grid_head(run, v);
		struct cs_fit_sum sum;
		size_t planned;

		if (!cs_sweep_sizes(run, v))
			continue;
		single |= head.test->how == CS_HOW_ONCE;
		sum = cs_sweep_sum(run, v, &planned);
		if (planned)
			print_sum(to, &head, &sum, planned);
	}
	cs_fold(to, 2, 4,
		"T(n) = alpha + beta n of one copy, fitted to each cell; medians "
		"over "
		"cells, with 95 %% intervals; n1/2: the size that reaches half of "
		"1/beta; furthest off: the size that deviates most from the line");
	if (single)
		cs_fold(to, 2, 4,
			"*.once.pair: a single copy, from its call to its end as "
			"the CPU sees "
			"it; copies of all others are queued, which hides a part "
			"of alpha");
}

/* ---- the same in flops ---- */

static void print_price(FILE *to, const struct cs_grid *head,
			const struct cs_fit_sum *sum, double gflops)
{
	double load = cs_flops_per_load(gflops, sum->gbs.value);
	double alpha = cs_alpha_flops(gflops, sum->alpha_us.value);

	cs_fold(to, 0, NAME, "%-*s %14.0f %14.0f %16s", NAME, name_of(to, head), load,
		cs_intensity(load, CS_EFFICIENT),
		isnan(alpha) ? "-" : cs_new_text("%.2g", alpha));
	print_kind(to, head);
}

/* The row of a multiply-add that is furthest below its peak. */
static double least_share(const struct cs_run *run, const char *test)
{
	const uint32_t index = (uint32_t)cs_test_index(test);
	double least = NAN;

	for (int node = 0; node < run->n_nodes; node++) {
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS))
			if (row->test == index && row->status == CS_OK)
				least = fmin(least,
					     row->stats.median /
						     cs_fma_peak_gflops(run, row));
	}
	return least;
}

static void print_prices(FILE *to, const struct cs_run *run)
{
	double gflops = cs_gamma_gflops(run, -1);
	double share = least_share(run, CS_FLOPS_TEST);
	const char *of_peak = "";

	putc('\n', to);
	if (isnan(gflops)) {
		cs_fold(to, 0, 2,
			"no gamma in this run: the cost of a load in flops needs "
			"local.fma.fp64.alone, part of --suite model");
		return;
	}
	if (!isnan(share))
		of_peak = cs_new_text(", at least %.1f %% of units x highest clock",
				      100 * share);
	cs_fold(to, 0, 2, "FP64 by multiply-adds: %.0f GFLOP/s a GPU%s", gflops,
		of_peak);
	cs_print_line(to, "%-*s %14s %14s %16s", NAME, "flops that take as long",
		      "a load", "... at 90 %", "alpha");
	for (uint32_t v = 0; v < cs_grids(run); v++) {
		const struct cs_grid head = cs_grid_head(run, v);
		struct cs_fit_sum sum;
		size_t planned;

		if (!cs_sweep_sizes(run, v) || head.test->path == CS_PATH_HOST)
			continue;
		sum = cs_sweep_sum(run, v, &planned);
		if (sum.n)
			print_price(to, &head, &sum, gflops);
	}
	cs_fold(to, 2, 4,
		"a load is 8 bytes; with that many flops per load arithmetic takes "
		"50 %% of the time, with those at 90 %% it takes 90; alpha: the "
		"cost of a message");
}

/* ---- -v: each cell ---- */

enum number { ALPHA, GBS, HALF, WORST, WORST_AT, SWITCH, NUMBERS };

static const char *const number_title[NUMBERS] = {
	[ALPHA] = "alpha, us",
	[GBS] = "1/beta, GB/s",
	[HALF] = "n1/2, KiB",
	[WORST] = "furthest off the line, %",
	[WORST_AT] = "... copies of that many KiB",
	[SWITCH] = "from which size on it is another line, KiB",
};

static double number_of(const struct cs_fit *fit, enum number number)
{
	switch (number) {
	case ALPHA:
		return fit->alpha_us.value;
	case GBS:
		return fit->gbs.value;
	case HALF:
		return fit->half_bytes.value / 1024;
	case WORST:
		return 100 * fit->worst;
	case WORST_AT:
		return fit->worst_bytes / 1024;
	default:
		return fit->switch_bytes > 0 ? fit->switch_bytes / 1024 : NAN;
	}
}

/* The fits in the place of the figures of a matrix. */
static void print_number(FILE *to, struct cs_sweep *sweep, enum number number)
{
	size_t n = cs_grid_cells(&sweep->grid), known = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cs_fit *fit = &sweep->fit[i];

		sweep->grid.value[i] = fit->n ? number_of(fit, number) : NAN;
		sweep->grid.mark[i] = ' ';
		known += !isnan(sweep->grid.value[i]);
	}
	if (!known)
		return;
	cs_fold(to, 2, 4, "%s", number_title[number]);
	cs_matrix_cells(to, &sweep->grid);
}

static void print_cells(FILE *to, const struct cs_run *run, int node, uint32_t index)
{
	CS_SCOPE;
	struct cs_sweep *sweep = cs_sweep_new(run, node, index);

	if (!sweep->n_fitted)
		return;
	putc('\n', to);
	cs_fold(to, 0, 2, "%s (%s)  %s", cs_grid_title(&sweep->grid).text,
		sweep->grid.test->name, run->node[node].facts.host);
	/* sums are of copies of one size */
	for (int i = 0; i < sweep->grid.n_cols; i++)
		sweep->grid.total[i] = NAN;
	for (int i = 0; i < NUMBERS; i++)
		print_number(to, sweep, i);
}

/* ---- all of it ---- */

static const char no_sweep[] =
	"no sweep in this run: alpha and beta need copies of several sizes, as "
	"from --suite model or --size 4K:1G:x4";

static int has_sweeps(const struct cs_run *run)
{
	return CS_ANY(v, cs_grids(run), cs_sweep_sizes(run, v));
}

void cs_model_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	const int verbose = view->opt->verbose;

	cs_notices_print(to, view->turns);
	cs_head_print(to, view->turns);
	cs_node_kinds_print(to, run, cs_new(char, run->n_nodes));
	putc('\n', to);
	cs_levels_print(to, run);
	cs_products_print(to, run);
	if (run->workload.flops > 0) {
		cs_workload_print(to, run);
		putc('\n', to);
	}
	if (!has_sweeps(run)) {
		if (!cs_message_print(to, run))
			cs_fold(to, 0, 2, "%s", no_sweep);
		return;
	}
	print_sums(to, run);
	cs_message_print(to, run);
	print_prices(to, run);
	cs_model_rates_print(to, run, verbose);
	cs_best_print(to, run, 0, run->n_nodes);
	for (uint32_t v = 0; verbose && v < cs_grids(run); v++)
		for (int node = 0; cs_sweep_sizes(run, v) && node < run->n_nodes;
		     node++)
			print_cells(to, run, node, v);
}

/* ---- CSV ---- */

static void print_csv_fit(FILE *to, const struct cs_sweep *sweep, size_t cell,
			  int names)
{
	struct cs_encoder r = cs_encode_fit(sweep, cell);

	cs_csv_line(to, &r, names);
}

static void print_csv_sweep(FILE *to, const struct cs_run *run, int node,
			    uint32_t index)
{
	CS_SCOPE;
	struct cs_sweep *sweep = cs_sweep_new(run, node, index);

	for (size_t i = 0; i < cs_grid_cells(&sweep->grid); i++)
		if (sweep->fit[i].n)
			print_csv_fit(to, sweep, i, 0);
}

/* Print the column names; they are the same for all matrices. */
static void print_csv_names(FILE *to, const struct cs_run *run)
{
	struct cs_sweep *sweep;

	if (!run->n_nodes || !cs_grids(run))
		return;
	sweep = cs_sweep_new(run, 0, 0);
	if (cs_grid_cells(&sweep->grid))
		print_csv_fit(to, sweep, 0, 1);
}

void cs_model_csv_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;

	print_csv_names(to, run);
	if (!has_sweeps(run))
		cs_print_line(to, "# %s", no_sweep);
	for (uint32_t v = 0; v < cs_grids(run); v++)
		for (int node = 0; cs_sweep_sizes(run, v) && node < run->n_nodes;
		     node++)
			print_csv_sweep(to, run, node, v);
}
