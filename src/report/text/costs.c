/* costs.c - the lines below the matrices of a placement's costs. */
#include "report/text/parts.h"

#include <math.h>

/* The grid of the same cells measured alone; NULL if the run has none. */
static const struct cs_grid *alone(const struct cs_grid *grid, enum cs_op op)
{
	const struct cs_plan *plan = grid->run->plan;
	struct cs_grid *found;
	uint32_t v;

	/* those of agents are before those of the host: each has one matrix */
	for (v = 0; v < plan->n_matrices; v++) {
		const struct cs_test *test = cs_plan_matrix_test(plan, v);

		if (test->unit == CS_UNIT_GBS && test->op == op &&
		    test->path == CS_PATH_PEER &&
		    (test->method == grid->test->method ||
		     grid->test->method == CS_METHOD_DRIVER) &&
		    test->pattern == CS_PATTERN_PAIR &&
		    (grid->test->bytes ||
		     cs_plan_matrix_at(plan, v)->bytes == grid->bytes))
			break;
	}
	found = v < plan->n_matrices ? cs_grid_new(grid->run, grid->node, v) : NULL;
	return found && cs_grid_cells(found) == cs_grid_cells(grid) ? found : NULL;
}

/* ---- agents ---- */

static double mib(int64_t bytes)
{
	return bytes < 0 ? NAN : (double)bytes / (1 << 20);
}

static double counted(int64_t n)
{
	return n < 0 ? NAN : (double)n;
}

static void add_agent(struct cs_columns *t, const struct cs_run *run, int node,
		      int agent)
{
	const struct cs_agent_facts *a = &run->node[node].agent[agent];
	const double seconds[] = { a->start_s,	      a->open_s,
				   a->arena_s,	      a->peers_s,
				   a->first_sample_s, cs_first_byte_s(a),
				   a->usage.cpu_s };
	const double whole[] = { counted(a->usage.voluntary),
				 counted(a->usage.involuntary), mib(a->context_bytes),
				 mib(a->usage.host_bytes) };

	cs_columns_add(t, "%s", cs_agent_label(run, node, agent).text);
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
		cs_columns_number(t, 3, seconds[i], "");
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		cs_columns_number(t, 0, whole[i], "");
	cs_columns_end_line(t);
}

void cs_agent_costs_print(FILE *to, const struct cs_run *run, int node)
{
	int n = run->node[node].facts.n_agents;
	struct cs_columns t = { 0 };

	if (n < 1)
		return;
	cs_columns_heads(&t, cs_agent_word(run));
	cs_columns_heads(&t, "driver,context,buffer,peers,sample,sum,CPU,waits,"
			     "preempted,GPU MiB,host MiB\n");
	for (int i = 0; i < n; i++)
		add_agent(&t, run, node, i);
	putc('\n', to);
	cs_columns_print(to, &t, 2);
	cs_fold(to, 2, 4,
		"seconds to its first byte and their sum; its thread's CPU "
		"seconds and context switches while measuring; MiB: of GPU memory "
		"besides its buffer, of host memory of its process");
}

/* ---- together / alone ---- */

/* Cells of pairs, measured while others run. */
static int is_together(enum cs_pattern pattern)
{
	return pattern == CS_PATTERN_SHIFT || pattern == CS_PATTERN_RING ||
	       pattern == CS_PATTERN_BISECT || pattern == CS_PATTERN_ROUNDS;
}

void cs_efficiency_print(FILE *to, const struct cs_grid *grid)
{
	size_t n = cs_grid_cells(grid), i, k = 0, worst = 0;
	const struct cs_grid *pairs;
	struct cs_grid share = *grid;
	double *sorted;

	if (!is_together(grid->test->pattern) || !grid->n_measured)
		return;
	pairs = alone(grid, grid->test->op);
	share.value = cs_new(double, n);
	sorted = cs_new(double, n);
	for (i = 0; pairs && i < n; i++) {
		share.value[i] = 100 * grid->value[i] / pairs->value[i];
		if (isnan(share.value[i]))
			continue;
		sorted[k++] = share.value[i];
		if (k == 1 || share.value[i] < share.value[worst])
			worst = i;
	}
	if (k) {
		cs_fold(to, 2, 4, "together / alone in %%, alone by %s of this run",
			pairs->test->name);
		cs_matrix_cells(to, &share);
		cs_fold(to, 2, 4, "worst %.2f %% (%s)  median %.2f %%",
			share.value[worst], cs_cell_label(grid, worst).text,
			cs_median(sorted, k));
	}
}

/* ---- opening ---- */

/* Medians of one metric over the node's cells: how many. */
static size_t gather(const struct cs_grid *grid, int metric, double *x)
{
	size_t k = 0;

	CS_EACH_ROW(row, cs_run_rows(grid->run, grid->node, CS_ROWS_ALL)) {
		if (row->status == CS_OK && row->metric == metric &&
		    cs_row_test(row) == grid->test && row->what.bytes == grid->bytes)
			x[k++] = row->stats.median;
	}
	return k;
}

/* Sorts x. */
static void print_part(FILE *to, const char *name, double *x, size_t n,
		       const char *remark)
{
	double median = n ? cs_median(x, n) : NAN;

	if (n)
		cs_fold(to, 2, 13, "%-10s %9.2f %9.2f %9.2f%s", name, x[0], median,
			x[n - 1], cs_after("  ", remark));
}

/* Bytes that the link moves while a way is opened, in MB: at the rate of the pair alone,
 * else at that of the copies into the opened buffer. */
static void print_even(FILE *to, const struct cs_grid *grid, double *x)
{
	const struct cs_grid *pairs = alone(grid, CS_OP_WRITE);
	size_t k = 0;

	CS_EACH_ROW(row, cs_run_rows(grid->run, grid->node, CS_ROWS_ALL)) {
		int cell = cs_grid_cell(grid, &row->what);
		double gbs;

		if (row->status != CS_OK || row->metric != CS_METRIC_NEXT_COPY ||
		    cell < 0 || cs_row_test(row) != grid->test ||
		    isnan(grid->value[cell]))
			continue;
		gbs = pairs ? pairs->value[cell] :
			      1e-3 * (double)row->what.bytes / row->stats.median;
		if (!isnan(gbs))
			x[k++] = 1e-3 * grid->value[cell] * gbs;
	}
	print_part(to, "break-even", x, k,
		   pairs ? "MB that the pair alone moves meanwhile" :
			   "MB at the rate of next-copy");
}

void cs_openings_print(FILE *to, const struct cs_grid *grid)
{
	static const struct {
		enum cs_metric metric;
		const char *remark;
	} part[] = {
		{ CS_METRIC_DONE, "until all pages are there" },
		{ CS_METRIC_FIRST_OPEN, "the pair's first way of all" },
		{ CS_METRIC_EXPORT, "by the owner" },
		{ CS_METRIC_FIRST_COPY, "into the new buffer, to its end, by the CPU" },
		{ CS_METRIC_NEXT_COPY, "the one behind it, by marks on the stream" },
		{ CS_METRIC_CLOSE, "" },
		{ CS_METRIC_REOPEN, "the same buffer again" },
	};
	double *x;

	if ((grid->test->how != CS_HOW_OPEN && grid->test->how != CS_HOW_PREFETCH) ||
	    !grid->n_measured)
		return;
	x = cs_new(double, cs_run_rows(grid->run, grid->node, CS_ROWS_ALL).n);
	cs_print_line(to, "  %-10s %9s %9s %9s", "parts, us", "min", "median", "max");
	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		print_part(to, cs_metric_text(grid->test, (int)part[i].metric), x,
			   gather(grid, (int)part[i].metric, x), part[i].remark);
	print_even(to, grid, x);
}
