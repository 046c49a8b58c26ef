/* gbench.c - a run as Comm|Scope would have written it: the console, JSON and CSV of
 * Google Benchmark, which its tools read (tools/compare.py).
 *
 * A cell is a benchmark.  Its time is that of a copy, by the median of all samples; -v
 * has a line for each sample and after them mean, median, standard deviation and its
 * share.  Times of CPUs are not taken here: 0.  Both ways of a pair are one benchmark
 * with the bytes of both.  Columns of CSV are those of all benchmarks together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file/encode.h"
#include "report/export/parts.h"
#include "plan/instance.h"

#define COUNTERS 4
#define RATE "bytes_per_second"

/* In the order of their names. */
static const char *const columns[] = {
	"bytes", "cuda_id", "dst_cuda", "dst_gpu", "dst_numa", "gpu0",
	"gpu1",	 "numa_id", "src_cuda", "src_gpu", "src_numa",
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct counter {
	const char *key; /* of columns */
	double value;
};

/* A cell under its name. */
struct bench {
	const struct cs_row *row;
	const double *samples;
	size_t order; /* that of the table of aliases, then of tests */
	uint32_t node;
	int at[2]; /* the numbers in its name */
	uint64_t bytes;
	char name[CS_INSTANCE];
	struct counter counter[COUNTERS];
	int n_counters;
};

/* A line of a benchmark. */
struct line {
	const struct bench *bench;
	const char *aggregate; /* "mean"; NULL: it is measured */
	int repetitions, index;
	int is_share; /* of an aggregate: not in its unit */
	int family, instance;
	double iterations, real_ns, rate, items;
};

struct output {
	FILE *to;
	const struct cs_run *run;
	const struct cs_view_options *opt;
	const struct cs_filter *filter; /* by their names; NULL: not as comm_scope */
	struct cs_vec benches;		/* struct bench */
	struct cs_vec lines;		/* struct line */
	int width;			/* of names on the console */
};

/* ---- a benchmark of a cell ---- */

/* Has it the name that this alias gives it, which the filter takes?  Then in *b. */
static int takes_name(const struct cs_filter *filter, const struct cs_instance *cell,
		      const struct cs_alias *alias, struct bench *b)
{
	char name[CS_INSTANCE];

	if (cs_instance_alias(cell, alias, alias->name, name) ||
	    !cs_alias_has_bytes(alias, cell->bytes) ||
	    !cs_filter_takes(filter, cs_filter_fits_alias(filter, alias, cell)))
		return 0;
	b->order = (size_t)(alias - cs_alias_next(NULL));
	cs_text(b->name, CS_INSTANCE, "%s", name);
	return 1;
}

/* The name of a cell, of several the requested one, and the place of its family;
 * `asked`: a list of --test. */
static void name_cell(const struct cs_instance *cell, const char *asked,
		      struct bench *b)
{
	size_t n;
	const struct cs_alias *first = cs_aliases(&n);
	int best = 0, wanted; /* several benchmarks may measure the same */
	char name[CS_INSTANCE];

	cs_instance_name(cell, b->name);
	b->order = n + cell->test;
	CS_EACH_ALIAS(alias) {
		if (cs_instance_alias(cell, alias, alias->name, name))
			continue;
		wanted = 1 + 4 * cs_alias_asked(alias, asked) +
			 2 * (cell->bytes >> alias->first &&
			      cell->bytes >> alias->last <= 1) +
			 (cell->variant.cpu_numa || /* a node that was not named */
			  alias->args != CS_ARGS_NUMA_GPU_GPU);
		if (wanted <= best)
			continue;
		best = wanted;
		b->order = (size_t)(alias - first);
		cs_text(b->name, CS_INSTANCE, "%s", name);
	}
}

static int number_of(const struct cs_run *run, const struct cs_row *row,
		     const struct cs_endpoint *end)
{
	if (end->kind == CS_ENDPOINT_GPU)
		return atoi(cs_agent_label(run, (int)row->node, end->index).text);
	if (end->memory == CS_MEM_ARENA || end->index != CS_NUMA_LOCAL)
		return end->index;
	return run->node[row->node].agent[row->what.issuer].numa;
}

static void count(struct bench *b, const char *key, int value)
{
	if (value >= 0 && b->n_counters < COUNTERS)
		b->counter[b->n_counters++] = (struct counter){ key, value };
}

/* As its own benchmarks call them. */
static void add_counters(struct bench *b, const struct cs_test *test,
			 const struct cs_instance *cell)
{
	int both = test->pattern == CS_PATTERN_BIDI;
	int mapped = strstr(test->name, ".zerocopy.") != NULL;

	b->counter[b->n_counters++] = (struct counter){ "bytes", (double)cell->bytes };
	if (test->path == CS_PATH_HOST) {
		count(b, "dst_numa", cell->dst);
		count(b, "src_numa", cell->src);
	} else if (test->path == CS_PATH_H2D) {
		count(b, mapped ? "dst_cuda" : "cuda_id", cell->dst);
		count(b, mapped ? "src_numa" : "numa_id", cell->src);
	} else if (test->path == CS_PATH_D2H) {
		count(b, mapped ? "dst_numa" : "cuda_id",
		      mapped ? cell->dst : cell->src);
		count(b, mapped ? "src_cuda" : "numa_id",
		      mapped ? cell->src : cell->dst);
	} else if (test->path == CS_PATH_PEER) {
		count(b, both || mapped ? "gpu0" : "dst_gpu",
		      both || mapped ? cell->src : cell->dst);
		count(b, both || mapped ? "gpu1" : "src_gpu",
		      both || mapped ? cell->dst : cell->src);
	} else {
		count(b, "cuda_id", cell->src);
	}
}

/* Is the row a benchmark's?  Of both ways their total is, without one the way that is
 * named first. */
static int is_of_bench(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);
	const struct cs_transfer *first;

	if (!cs_row_is(run, row, CS_ROWS_MEASURED) || cs_test_is_between(test))
		return 0;
	if (row->metric == CS_METRIC_TOTAL)
		return test->pattern == CS_PATTERN_BIDI;
	if (row->metric != CS_METRIC_RATE)
		return 0;
	if (test->pattern != CS_PATTERN_BIDI)
		return 1;
	if (row->status == CS_OK || !run->plan || row->step >= run->plan->n_steps)
		return 0;
	first = cs_plan_transfer(run->plan, cs_plan_step(run->plan, row->step), 0);
	return cs_endpoints_are_same(&first->src, &row->what.src) &&
	       cs_endpoints_are_same(&first->dst, &row->what.dst);
}

/* The way that names a cell of both ways: the step's first.  The plan may be that of a
 * larger node, whose agents this node does not have: then the row's own way. */
static const struct cs_transfer *first_way(const struct cs_run *run,
					   const struct cs_row *row)
{
	const struct cs_plan *plan = run->plan;
	const struct cs_transfer *first;

	if (row->metric != CS_METRIC_TOTAL || !plan || row->step >= plan->n_steps)
		return &row->what;
	first = cs_plan_transfer(plan, cs_plan_step(plan, row->step), 0);
	return first->issuer < run->node[row->node].facts.n_agents ? first :
								     &row->what;
}

/* As comm_scope all its names, each a benchmark there; else the best of them. */
static void add_names(struct output *t, const struct cs_instance *cell,
		      struct bench *b)
{
	const size_t n = t->benches.n;

	if (t->filter)
		CS_EACH_ALIAS(alias)
			if (takes_name(t->filter, cell, alias, b))
				cs_list_push(&t->benches, b);
	if (t->benches.n > n)
		return;
	name_cell(cell, t->run->asked, b);
	cs_list_push(&t->benches, b);
}

static void add_bench(struct output *t, size_t at)
{
	const struct cs_row *row = cs_rows_get(&t->run->rows, at);
	struct bench b;
	const struct cs_run_node *nd = &t->run->node[row->node];
	const struct cs_transfer *what = first_way(t->run, row);
	const struct cs_instance cell = {
		.test = row->test,
		.bytes = row->what.bytes,
		.variant = row->what.variant,
		.src = number_of(t->run, row, &what->src),
		.dst = number_of(t->run, row, &what->dst),
		.numa = nd->agent[what->issuer].numa,
	};
	int back = cs_row_test(row)->path == CS_PATH_D2H;

	b = (struct bench){ .row = row,
			    .node = row->node,
			    .bytes = cell.bytes,
			    .at = { back ? cell.dst : cell.src,
				    back ? cell.src : cell.dst },
			    .samples = cs_rows_samples(&t->run->rows, at) };
	add_counters(&b, cs_row_test(row), &cell);
	add_names(t, &cell, &b);
}

/* By family, then by the numbers in its name, then by size. */
CS_ORDERING(compare, struct bench, CS_ORDER(a->order, b->order),
	    CS_ORDER(a->node, b->node), CS_ORDER(a->at[0], b->at[0]),
	    CS_ORDER(a->at[1], b->at[1]), CS_ORDER(a->bytes, b->bytes))

/* ---- its lines ---- */

/* Nanoseconds of one copy at that figure. */
static double time_of(const struct cs_row *row, double figure)
{
	double ways = row->metric == CS_METRIC_TOTAL ? 2 : 1;

	switch (cs_row_test(row)->unit) {
	case CS_UNIT_US:
		return figure * 1e3;
	case CS_UNIT_MS:
		return figure * 1e6;
	case CS_UNIT_NS:
		return figure;
	case CS_UNIT_COPIES:
		return 1e9 / figure;
	case CS_UNIT_GFLOPS:
		return 1 / figure;
	default:
		return ways * (double)row->what.bytes / figure;
	}
}

static void set_figure(struct line *line, double figure)
{
	const struct cs_row *row = line->bench->row;
	int unit = (int)cs_row_test(row)->unit;

	line->real_ns = time_of(row, figure);
	line->rate = unit == CS_UNIT_GBS ? figure * 1e9 : NAN;
	line->items = unit == CS_UNIT_COPIES ? figure :
		      unit == CS_UNIT_GFLOPS ? figure * 1e9 :
					       NAN;
}

enum { MEAN, MEDIAN, DEVIATION, SHARE, AGGREGATES };
CS_ORDERING(ascending, double, CS_ORDER(*a, *b))

/* Sorts x. */
static void aggregate(double *x, size_t n, double to[AGGREGATES])
{
	double mean = 0, sd = 0;

	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		sd += (x[i] - mean) * (x[i] - mean);
	qsort(x, n, sizeof(*x), ascending);
	to[MEAN] = mean;
	to[MEDIAN] = (x[(n - 1) / 2] + x[n / 2]) / 2;
	to[DEVIATION] = n > 1 ? sqrt(sd / (double)(n - 1)) : 0;
	to[SHARE] = to[DEVIATION] / mean;
}

/* After the lines of the samples: their mean, median, deviation and its share. */
static void add_aggregates(struct output *t, const struct line *first, double *x)
{
	static const char *const name[] = { "mean", "median", "stddev", "cv" };
	size_t n = (size_t)first->repetitions, from = t->lines.n - n;
	const struct line *line = (struct line *)t->lines.data + from;
	double time[AGGREGATES], rate[AGGREGATES], items[AGGREGATES];

	for (size_t i = 0; i < n; i++)
		x[i] = line[i].real_ns;
	aggregate(x, n, time);
	for (size_t i = 0; i < n; i++)
		x[i] = line[i].rate;
	aggregate(x, n, rate);
	for (size_t i = 0; i < n; i++)
		x[i] = line[i].items;
	aggregate(x, n, items);
	if (t->opt->aggregates)
		t->lines.n = from;
	for (int a = 0; a < AGGREGATES; a++) {
		struct line one = *first;

		one.aggregate = name[a];
		one.is_share = a == SHARE;
		one.iterations = (double)n;
		one.real_ns = time[a];
		one.rate = rate[a];
		one.items = items[a];
		cs_list_push(&t->lines, &one);
	}
}

static void add_samples(struct output *t, const struct line *like)
{
	const struct bench *b = like->bench;
	struct line line = *like;

	line.repetitions = (int)b->row->n_samples;
	line.iterations = b->row->copies;
	for (uint32_t i = 0; i < b->row->n_samples; i++) {
		line.index = (int)i;
		set_figure(&line, b->samples[i]);
		cs_list_push(&t->lines, &line);
	}
	add_aggregates(t, &line, cs_new(double, b->row->n_samples));
}

static void add_lines(struct output *t)
{
	const struct bench *b = t->benches.data;
	struct line line = { .family = -1 };
	size_t order = SIZE_MAX;

	for (size_t i = 0; i < t->benches.n; i++, b++) {
		line.instance = b->order == order ? line.instance + 1 : 0;
		line.family += b->order != order;
		order = b->order;
		line.bench = b;
		line.repetitions = 1;
		line.iterations = (double)b->row->copies * b->row->stats.n;
		if (b->row->status == CS_OK)
			set_figure(&line, b->row->stats.median);
		if (b->row->status == CS_OK && t->opt->verbose && b->row->n_samples > 1)
			add_samples(t, &line);
		else
			cs_list_push(&t->lines, &line);
	}
}

static const char *name_text(const struct line *line)
{
	return line->aggregate ?
		       cs_new_text("%s_%s", line->bench->name, line->aggregate) :
		       line->bench->name;
}

/* The reason why it has no figure; NULL: it has one. */
static const char *error_of(const struct line *line)
{
	const struct cs_row *row = line->bench->row;

	return row->status == CS_OK ? NULL :
	       row->reason[0]	    ? row->reason :
				      cs_status_text(row->status);
}

/* 0 in lines of the deviation: places do not deviate. */
static double counter_of(const struct line *line, size_t i)
{
	const char *word = line->aggregate;

	return word && (line->is_share || !strcmp(word, "stddev")) ?
		       0 :
		       line->bench->counter[i].value;
}

/* ---- console ---- */

/* "268.435M", as Google Benchmark has it: powers of 1000, and of 1024 for rates. */
static void human(double value, double k, char to[24])
{
	static const char units[] = "kMGTPE";
	int unit = -1;

	for (; value > 1.1 * k && unit < 5; unit++)
		value /= k;
	cs_text(to, 24, "%.6g%.*s", value, unit >= 0, unit < 0 ? "" : &units[unit]);
}

static void put_time(FILE *to, const struct line *line, double value)
{
	if (line->is_share)
		cs_print(to, "%10.2f %%    ", 100 * value);
	else if (value > 9999999999.0)
		cs_print(to, "%1.4e ns   ", value);
	else
		cs_print(to, "%10.*f ns   ",
			 value < 1  ? 3 :
			 value < 10 ? 2 :
				      value < 100,
			 value);
}

static void put_counter(FILE *to, const struct line *line, const char *key,
			double value, const char *unit)
{
	char text[24];

	human(value, *unit ? 1024 : 1000, text);
	if (line->is_share)
		cs_print(to, " %s=%.2f%%", key, 100 * value);
	else
		cs_print(to, " %s=%s%s", key, text, unit);
}

static void put_line(const struct output *t, const struct line *line)
{
	const struct bench *b = line->bench;
	const char *why = error_of(line);

	cs_print(t->to, "%-*s ", t->width, name_text(line));
	if (why) {
		cs_print_line(t->to, "ERROR OCCURRED: '%s'", why);
		return;
	}
	put_time(t->to, line, line->real_ns);
	put_time(t->to, line, 0);
	cs_print(t->to, "%10.0f", line->iterations);
	put_counter(t->to, line, "bytes", counter_of(line, 0), "");
	if (!isnan(line->rate))
		put_counter(t->to, line, RATE, line->rate, "/s");
	for (int i = 1; i < b->n_counters; i++)
		put_counter(t->to, line, b->counter[i].key,
			    counter_of(line, (size_t)i), "");
	if (!isnan(line->items))
		put_counter(t->to, line, "items_per_second", line->items, "/s");
	putc('\n', t->to);
}

static void put_rule(FILE *to, int n)
{
	while (n--)
		putc('-', to);
	putc('\n', to);
}

static void write_console(struct output *t)
{
	int rule;

	t->width = 10;
	CS_EACH(const struct line, line, &t->lines) {
		int width = (int)strlen(name_text(line));

		t->width = width > t->width ? width : t->width;
	}
	rule = t->width +
	       (int)strlen("          Time             CPU   Iterations UserCounters...");
	put_rule(t->to, rule);
	cs_print_line(t->to, "%-*s %13s %15s %12s UserCounters...", t->width,
		      "Benchmark", "Time", "CPU", "Iterations");
	put_rule(t->to, rule);
	CS_EACH(const struct line, line, &t->lines)
		put_line(t, line);
}

/* ---- CSV ---- */

static void put_quoted(FILE *to, const char *text)
{
	static const char *const doubled[] = { "\"\"" };

	putc('"', to);
	cs_print_as(to, text, "\"", doubled);
	putc('"', to);
}

static void put_number(FILE *to, double value)
{
	putc(',', to);
	if (!isnan(value))
		cs_print(to, "%.10g", value);
}

/* The columns of a figure, empty without one. */
static void put_columns(const struct output *t, const struct line *line, int is_figure)
{
	const struct bench *b = line->bench;
	int at = 0;

	for (size_t c = 0; c < COLUMNS; c++) {
		putc(',', t->to);
		if (is_figure && at < b->n_counters &&
		    !strcmp(b->counter[at].key, columns[c])) {
			cs_print(t->to, "%.10g", counter_of(line, (size_t)at));
			at++;
		}
	}
	putc('\n', t->to);
}

static const char *label_of(const struct output *t, const struct line *line)
{
	return t->run->n_nodes < 2 ? "" :
				     t->run->node[line->bench->row->node].facts.host;
}

static void write_csv(struct output *t)
{
	fputs("name,iterations,real_time,cpu_time,time_unit," RATE ",items_per_second,"
	      "label,error_occurred,error_message",
	      t->to);
	for (size_t c = 0; c < COLUMNS; c++)
		cs_print(t->to, ",\"%s\"", columns[c]);
	putc('\n', t->to);
	CS_EACH(const struct line, line, &t->lines) {
		const char *why = error_of(line), *label = label_of(t, line);

		put_quoted(t->to, name_text(line));
		put_number(t->to, why ? NAN : line->iterations);
		put_number(t->to, why ? NAN : line->real_ns);
		cs_print(t->to, "%s", why ? ",," : line->is_share ? ",0," : ",0,ns");
		put_number(t->to, why ? NAN : line->rate);
		put_number(t->to, why ? NAN : line->items);
		putc(',', t->to);
		if (*label)
			put_quoted(t->to, label);
		cs_print(t->to, "%s", why ? ",true," : ",,");
		if (why)
			put_quoted(t->to, why);
		put_columns(t, line, !why);
	}
}

/* ---- JSON ---- */

static struct cs_encoder context(const struct cs_run *run)
{
	const struct cs_node_facts *node = run->n_nodes ? &run->node[0].facts : NULL;
	struct cs_encoder r = cs_encode_begin();

	cs_encode_time(&r, "date", &run->started);
	cs_encode_text(&r, "host_name", node ? node->host : "");
	cs_encode_text(&r, "executable", run->argc ? run->argv[0] : "cscope-mpi");
	cs_encode_int(&r, "num_cpus", node && node->n_cpus > 0 ? node->n_cpus : 0);
	cs_encode_int(&r, "mhz_per_cpu", 0);
	if (node && node->governor[0])
		cs_encode_bool(&r, "cpu_scaling_enabled",
			       strcmp(node->governor, "performance") != 0);
	cs_encode_json(&r, "caches", json_array());
	cs_encode_json(&r, "load_avg", json_array());
	cs_encode_text(&r, "library_build_type", "release");
	cs_encode_text(&r, "cscope_mpi", run->version);
	cs_encode_known(&r, "cpu", node ? node->cpu : "");
	cs_encode_known(&r, "gpu",
			node && node->n_agents > 0 ? run->node[0].agent[0].gpu.name :
						     "");
	cs_encode_known(&r, "driver", node ? node->driver : "");
	cs_encode_known(&r, "asked", run->matrix_text);
	return r;
}

static void put_counters(struct cs_encoder *r, const struct line *line)
{
	const struct bench *b = line->bench;

	cs_encode_real(r, "bytes", counter_of(line, 0));
	if (!isnan(line->rate))
		cs_encode_real(r, RATE, line->rate);
	for (int i = 1; i < b->n_counters; i++)
		cs_encode_real(r, b->counter[i].key, counter_of(line, (size_t)i));
	if (!isnan(line->items))
		cs_encode_real(r, "items_per_second", line->items);
}

static struct cs_encoder line_record(const struct output *t, const struct line *line)
{
	const char *why = error_of(line), *label = label_of(t, line);
	const char *name = name_text(line);
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "name", name);
	cs_encode_int(&r, "family_index", line->family);
	cs_encode_int(&r, "per_family_instance_index", line->instance);
	cs_encode_text(&r, "run_name", line->bench->name);
	cs_encode_text(&r, "run_type", line->aggregate ? "aggregate" : "iteration");
	cs_encode_int(&r, "repetitions", line->repetitions);
	if (!line->aggregate)
		cs_encode_int(&r, "repetition_index", line->index);
	cs_encode_int(&r, "threads", 1);
	if (line->aggregate) {
		cs_encode_text(&r, "aggregate_name", line->aggregate);
		cs_encode_text(&r, "aggregate_unit",
			       line->is_share ? "percentage" : "time");
	}
	if (why) {
		cs_encode_bool(&r, "error_occurred", 1);
		cs_encode_text(&r, "error_message", why);
	}
	cs_encode_int(&r, "iterations", why ? 0 : (int64_t)line->iterations);
	cs_encode_real(&r, "real_time", why ? 0 : line->real_ns);
	cs_encode_real(&r, "cpu_time", 0);
	cs_encode_text(&r, "time_unit", "ns");
	if (!why)
		put_counters(&r, line);
	if (*label)
		cs_encode_text(&r, "label", label);
	return r;
}

/* As a document of jansson with two blanks for each level. */
static void write_json(struct output *t)
{
	struct cs_encoder r = context(t->run);
	const struct line *first = t->lines.data;

	fputs("{\n  \"context\": ", t->to);
	cs_arena_check(cs_encode_write(t->to, &r, 4));
	fputs(",\n  \"benchmarks\": [", t->to);
	CS_EACH(const struct line, line, &t->lines) {
		if (line != first)
			putc(',', t->to);
		fputs("\n    ", t->to);
		r = line_record(t, line);
		cs_arena_check(cs_encode_write(t->to, &r, 6));
	}
	if (first)
		fputs("\n  ", t->to);
	fputs("]\n}\n", t->to);
}

/* ---- all three ---- */

/* Open the filter of a run by comm_scope; 0: it was none. */
static int open_filter(const struct cs_run *run, struct cs_filter *filter)
{
	struct cs_err err;

	return run->plan && run->plan->set.filter_names == CS_NAMES_THEIRS &&
	       !cs_filter_open(filter, &run->plan->set, &err);
}

static struct output output_of(FILE *to, const struct cs_view *view)
{
	struct cs_filter filter = { .is_open = 0 };
	struct output t = { .to = to,
			    .run = view->run,
			    .opt = view->opt,
			    .benches = CS_LIST(struct bench),
			    .lines = CS_LIST(struct line) };
	size_t n = cs_rows_count(&view->run->rows);

	if (open_filter(view->run, &filter))
		t.filter = &filter;
	for (size_t i = 0; i < n; i++)
		if (is_of_bench(view->run, cs_rows_get(&view->run->rows, i)))
			add_bench(&t, i);
	cs_filter_close(&filter);
	t.filter = NULL;
	cs_vec_sort(&t.benches, compare);
	add_lines(&t);
	return t;
}

void cs_commscope_write(FILE *to, const struct cs_view *view)
{
	struct output t = output_of(to, view);

	write_console(&t);
}

void cs_commscope_json_write(FILE *to, const struct cs_view *view)
{
	struct output t = output_of(to, view);

	write_json(&t);
}

void cs_commscope_csv_write(FILE *to, const struct cs_view *view)
{
	struct output t = output_of(to, view);

	write_csv(&t);
}

/* ---- names alone ---- */

struct names {
	FILE *to;
	const struct cs_plan *plan;
	const struct cs_filter *filter;
};

/* All names of a cell, of several those that the filter fits. */
static void list_cell(const struct names *names, const struct cs_instance *cell,
		      struct cs_vec *all)
{
	int back = cs_test_at(cell->test)->path == CS_PATH_D2H;
	struct bench b = { .at = { back ? cell->dst : cell->src,
				   back ? cell->src : cell->dst },
			   .bytes = cell->bytes };

	CS_EACH_ALIAS(alias)
		if (takes_name(names->filter, cell, alias, &b))
			cs_list_push(all, &b);
}

static int list_names(void *argument)
{
	const struct names *names = argument;
	const struct cs_plan *plan = names->plan;
	struct cs_vec all = CS_LIST(struct bench);

	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);
		const struct cs_instance cell =
			cs_instance_of(&plan->set, cs_plan_matrix_at(plan, t->matrix),
				       t);

		if (!(step->flags & CS_STEP_CONTROL))
			list_cell(names, &cell, &all);
	}
	cs_vec_sort(&all, compare);
	for (size_t i = 0; i < all.n; i++)
		cs_print_line(names->to, "%s", ((struct bench *)all.data)[i].name);
	return ferror(names->to) ? -1 : 0;
}

int cs_commscope_list(FILE *to, const struct cs_plan *plan, struct cs_err *err)
{
	struct cs_filter filter;
	int rc;

	if (cs_filter_open(&filter, &plan->set, err))
		return -1;
	rc = cs_arena_run(list_names, &(struct names){ to, plan, &filter }, NULL);
	cs_filter_close(&filter);
	return rc ? cs_err_set(err, "cannot write to standard output") : 0;
}
