/* nvbandwidth.c - a run as nvbandwidth would have written it: the text of 0.8, which
 * wrappers read line by line, and JSON like 0.10's.
 *
 * Cells are arranged as nvbandwidth arranges them (catalogue/alias.h), so that its readers
 * need not change.  Besides the cells, its errors are avoided: a test that is waived has
 * its name and a reason, each matrix of a bidirectional test has an entry of its own, and
 * the least of a matrix is that of the cells that were measured.  Several nodes follow one
 * after the other; show FILE:NODE shows one. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/alias.h"
#include "file/encode.h"
#include "report/export/parts.h"

#define TEXT_OF "v0.8"
#define JSON_OF "v0.10.0"

enum verdict { PASSED, WAIVED, FAILED };

/* One matrix of nvbandwidth on one node. */
struct table {
	const struct cs_run *run;
	const struct cs_view_options *opt;
	const struct cs_alias *alias;
	int node;
	int part; /* of BOTH: first, second, total */
	int n;	  /* GPUs */
	int rows, columns;
	const struct cs_row **row; /* [row * columns + column]; NULL without one */
	enum verdict verdict;
	const char *why; /* not passed */
	size_t n_measured;
	double sum, min, max;
	double variation; /* the most of a cell: deviation of its samples by their mean */
};

#define TOTAL_PART 2

static const struct cs_test *test_of(const struct cs_alias *alias)
{
	return cs_test_at(cs_alias_test(alias));
}

/* ---- cells ---- */

/* Is the row part of this matrix?  A cell without a total has the failed transfer's reason. */
static int is_of(const struct table *t, const struct cs_row *row)
{
	int is_total = row->metric == CS_METRIC_TOTAL;

	if (t->alias->layout == CS_LAYOUT_HUB) /* of two GPUs: one transfer is all */
		return is_total || !row->concurrent || row->status != CS_OK;
	if (t->part == TOTAL_PART)
		return is_total || row->status != CS_OK;
	return !is_total;
}

/* The cell of a result; -1: it has none in this matrix. */
static int cell_of(const struct table *t, const struct cs_row *row)
{
	int forward = (t->alias->flow == CS_ROW_TO_COLUMN) != (t->part == 1);
	const struct cs_endpoint *from = forward ? &row->what.src : &row->what.dst;
	const struct cs_endpoint *to = forward ? &row->what.dst : &row->what.src;
	int r = 0, c = to->index;

	switch (t->alias->layout) {
	case CS_LAYOUT_HOST:
		if (from->kind != CS_ENDPOINT_HOST || to->kind != CS_ENDPOINT_GPU)
			return -1;
		break;
	case CS_LAYOUT_LOCAL:
		c = row->what.issuer;
		break;
	case CS_LAYOUT_HUB:
		break;
	case CS_LAYOUT_BISECT:
		r = from->index;
		c = 0;
		break;
	default:
		r = from->index;
	}
	return r < t->rows && c < t->columns ? r * t->columns + c : -1;
}

/* Memory next to the GPU is what nvbandwidth copies from and to. */
static int is_near(const struct table *t, const struct cs_row *row)
{
	const struct cs_endpoint *s = &row->what.src, *d = &row->what.dst;
	const struct cs_endpoint *host = s->kind == CS_ENDPOINT_HOST ? s : d;
	const struct cs_endpoint *gpu = s->kind == CS_ENDPOINT_HOST ? d : s;

	return gpu->index < t->n &&
	       t->run->node[t->node].agent[gpu->index].numa == host->index;
}

static void place(struct table *t, const struct cs_row *row)
{
	int cell = is_of(t, row) ? cell_of(t, row) : -1;

	if (cell < 0)
		return;
	if (t->row[cell] &&
	    !(t->alias->layout == CS_LAYOUT_HOST ? is_near(t, row) :
						   row->status != CS_OK))
		return;
	t->row[cell] = row;
	/* both directions are one total */
	if (t->part == TOTAL_PART)
		t->row[cell % t->columns * t->columns + cell / t->columns] = row;
}

static int is_measured(const struct cs_row *row)
{
	return row && row->status == CS_OK && isfinite(row->stats.median);
}

static double figure_of(const struct table *t, const struct cs_row *row)
{
	return t->opt->mean ? row->stats.mean : row->stats.median;
}

static void sum_up(struct table *t)
{
	t->min = t->max = NAN;
	for (int i = 0; i < t->rows * t->columns; i++) {
		const struct cs_row *row = t->row[i];
		double x = is_measured(row) ? figure_of(t, row) : NAN;

		if (!isfinite(x))
			continue;
		/* of one sample it is not known */
		t->variation = fmax(t->variation, row->stats.sd / row->stats.mean);
		t->n_measured++;
		t->sum += x;
		t->min = fmin(t->min, x);
		t->max = fmax(t->max, x);
	}
}

/* Is there a cell that should have a result, and has none? */
static int is_short(const struct table *t)
{
	int diagonal = t->alias->layout == CS_LAYOUT_PAIRS ||
		       t->alias->layout == CS_LAYOUT_BOTH;

	for (int i = 0; i < t->rows * t->columns; i++)
		if (!t->row[i] && !(diagonal && i % (t->columns + 1) == 0))
			return 1;
	return 0;
}

static void judge(struct table *t)
{
	const struct cs_row *skipped = NULL;

	t->verdict = t->n_measured ? PASSED : WAIVED;
	t->why = (int)cs_test_least_agents(test_of(t->alias)) > t->n ?
			 "it needs two GPUs" :
			 "no cell of it is there";
	if (is_short(t) && !t->run->complete) {
		t->verdict = FAILED;
		t->why = "the run ended before it was measured whole";
	}
	for (int i = 0; i < t->rows * t->columns; i++) {
		if (t->row[i] && t->row[i]->status >= CS_FAILED) {
			t->verdict = FAILED;
			t->why = t->row[i]->reason;
			return;
		}
		if (t->row[i] && t->row[i]->status == CS_SKIPPED && !skipped)
			skipped = t->row[i];
	}
	if (t->verdict == WAIVED && skipped)
		t->why = skipped->reason;
}

static void table_init(struct table *t, const struct cs_view *view, int node,
		       const struct cs_alias *alias, int part)
{
	const struct cs_run *run = view->run;
	int n = run->node[node].facts.n_agents, square;

	n = n > 0 ? n : 0;
	square = alias->layout == CS_LAYOUT_PAIRS || alias->layout == CS_LAYOUT_BOTH;
	*t = (struct table){ .run = run,
			     .opt = view->opt,
			     .alias = alias,
			     .node = node,
			     .part = part,
			     .n = n,
			     .verdict = WAIVED,
			     .why = alias->differs };
	t->rows = square || alias->layout == CS_LAYOUT_BISECT ? n : 1;
	t->columns = alias->layout == CS_LAYOUT_BISECT ? 1 : n;
	t->row = cs_new(const struct cs_row *, (size_t)t->rows *(size_t)t->columns);
	if (cs_alias_test(alias) < 0)
		return;
	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED)) {
		if (row->metric <= CS_METRIC_TOTAL &&
		    cs_variant_is_usual(&row->what.variant) &&
		    row->test == (uint32_t)cs_alias_test(alias))
			place(t, row);
	}
	sum_up(t);
	judge(t);
}

/* ---- which tests, by which names ---- */

/* Does the test need more GPUs than any node has? */
static int needs_more(const struct cs_run *run, const struct cs_alias *alias)
{
	const struct cs_test *test = test_of(alias);

	return run->plan && cs_test_least_agents(test) > run->plan->n_agents &&
	       cs_test_is_of(test, (enum cs_backend_kind)run->plan->set.backend);
}

/* The first matrix of the plan of its test; -1 none. */
static int64_t matrix_of(const struct cs_run *run, const struct cs_alias *alias)
{
	int test = cs_alias_test(alias);

	for (uint32_t v = 0; run->plan && v < run->plan->n_matrices; v++)
		if ((int)cs_plan_matrix_at(run->plan, v)->test == test)
			return v;
	return -1;
}

/* Tests that nodes with one GPU measure instead of pairs do not belong to other nodes. */
static int is_of_node(const struct cs_run *run, int node, const struct cs_alias *alias)
{
	int64_t matrix = matrix_of(run, alias);

	return matrix < 0 || !cs_plan_matrix_is_lone(run->plan, (uint32_t)matrix) ||
	       run->node[node].facts.n_agents == 1;
}

/* Is it one of the names; `by_test`: or its test that of one? */
static int is_named(const struct cs_named *name, size_t n,
		    const struct cs_alias *alias, int by_test)
{
	return CS_ANY(i, n,
		      name[i].alias == alias ||
			      (by_test &&
			       cs_alias_test(name[i].alias) == cs_alias_test(alias)));
}

/* Names that were requested, in that order, then, in nvbandwidth's own order, those of
 * tests that were requested otherwise.  Returns how many; `name` has room for all. */
static size_t find_names(const struct cs_run *run, struct cs_named *name)
{
	size_t n = 0, asked;
	const char *list = run->asked && run->asked[0] ? run->asked : NULL;
	char item[CS_ITEM];

	while (list) {
		list = cs_list_item(list, item, sizeof(item));
		CS_EACH_ALIAS(a)
			if (cs_alias_is_of_nvbandwidth(a) && cs_alias_fits(a, item) &&
			    !is_named(name, n, a, 0) &&
			    (!a->test || matrix_of(run, a) >= 0 || needs_more(run, a)))
				name[n++].alias = a;
	}
	asked = n;
	CS_EACH_ALIAS(a)
		if (cs_alias_is_of_nvbandwidth(a) && !a->multinode &&
		    matrix_of(run, a) >= 0 && !is_named(name, asked, a, 1))
			name[n++].alias = a;
	return n;
}

/* The names to print: those on the command line of nvbandwidth, or as above. */
static const struct cs_named *names_of(const struct cs_view *view, size_t *n)
{
	struct cs_named *name;

	*n = view->opt->n_asked;
	if (*n)
		return view->opt->asked;
	cs_aliases(n);
	name = cs_new(struct cs_named, *n);
	*n = find_names(view->run, name);
	return name;
}

/* ---- words ---- */

static const char *part_text(const struct table *t)
{
	static const char *const words[][3] = {
		{ "Write1", "Write2", "Total" },
		{ "Read1", "Read2", "Total" },
	};

	return t->alias->layout != CS_LAYOUT_BOTH ?
		       "" :
		       words[test_of(t->alias)->op == CS_OP_READ][t->part];
}

static int n_parts(const struct cs_alias *alias)
{
	return alias->layout == CS_LAYOUT_BOTH ? TOTAL_PART + 1 : 1;
}

/* "device_to_device_bidirectional_memcpy_read_ce_read1" */
static const char *key_text(const struct table *t)
{
	const char *part = part_text(t);

	return *part ? cs_new_text("%s_%c%s", t->alias->name, *part - 'A' + 'a',
				   part + 1) :
		       t->alias->name;
}

/* "memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)" */
static const char *heading_text(const struct table *t)
{
	const struct cs_test *test = test_of(t->alias);

	return cs_new_text("%s%s%s%s (%s)", t->alias->heading,
			   *part_text(t) ? " " : "", part_text(t),
			   test->unit == CS_UNIT_GBS ? " bandwidth" : "",
			   cs_unit_text(test->unit));
}

/* The answer of nvbandwidth to such a name. */
static const char *unknown_text(const char *name)
{
	return name[strspn(name, "0123456789")] ?
		       cs_new_text("Testcase %s not found!", name) :
		       cs_new_text("Testcase index %s out of bound!", name);
}

/* "13.0" is 13000; 0 unknown. */
static int cuda_number(const char *text)
{
	char *point;
	long major = strtol(text, &point, 10);

	return (int)(major * 1000 +
		     (*point == '.' ? strtol(point + 1, NULL, 10) * 10 : 0));
}

/* "NVIDIA H200 (00000000:1b:00)" */
static const char *device_text(const struct cs_agent_facts *a)
{
	const char *colon = strchr(a->gpu.bus_id, ':');
	int digits = colon ? (int)(colon - a->gpu.bus_id) : 0;

	const char *text = cs_new_text("%s (%.*s%s", a->gpu.name,
				       digits < 8 ? 8 - digits : 0, "00000000",
				       a->gpu.bus_id);

	/* without the function */
	return cs_new_text("%.*s)", (int)strcspn(text, "."), text);
}

/* ---- text ---- */

static void print_sum(FILE *to, const char *what, const char *key, double x)
{
	cs_print_line(to, "%s %s %.2f", what, key, x);
}

static const char *buffer_text(const struct cs_endpoint *end)
{
	return end->kind == CS_ENDPOINT_HOST ? "Host" :
					       cs_new_text("Device %d", end->index);
}

static void print_samples(FILE *to, const struct table *t, const struct cs_row *row)
{
	const struct cs_rows *rows = &t->run->rows;
	const double *x = cs_rows_samples(rows, (size_t)(row - cs_rows_get(rows, 0)));
	const char *what = cs_new_text("%s -> %s", buffer_text(&row->what.src),
				       buffer_text(&row->what.dst));

	for (uint32_t i = 0; i < row->n_samples; i++) {
		putc('\t', to);
		cs_print_line(to, "Sample %" PRIu32 ": %s: %.2f %s", i,
			      row->metric == CS_METRIC_TOTAL ? "Total Bandwidth " :
							       what,
			      x[i], cs_unit_text(test_of(t->alias)->unit));
	}
}

static void print_table(FILE *to, const struct table *t, int verbose)
{
	const char *key = key_text(t);
	char label[24] = "";
	int width = 2;

	for (int r = 0; verbose && r < t->rows * t->columns; r++)
		if (is_measured(t->row[r]))
			print_samples(to, t, t->row[r]);
	cs_print_line(to, "%s", heading_text(t));
	if (t->alias->layout == CS_LAYOUT_BISECT)
		width = snprintf(label, sizeof(label), "%d->%d", t->n - 1, t->n - 1);
	cs_print(to, "%*s", width, "");
	for (int c = 0; c < t->columns; c++)
		cs_print(to, "%10d", c);
	putc('\n', to);
	for (int r = 0; r < t->rows; r++) {
		cs_text(label, sizeof(label), "%d", r);
		if (t->alias->layout == CS_LAYOUT_BISECT)
			cs_text(label, sizeof(label), "%d->%d", r,
				(r + t->n / 2) % t->n);
		cs_print(to, "%*s", width, label);
		for (int c = 0; c < t->columns; c++)
			if (is_measured(t->row[r * t->columns + c]))
				cs_print(to, "%10.2f",
					 figure_of(t, t->row[r * t->columns + c]));
			else
				cs_print(to, "%10s", "N/A");
		putc('\n', to);
	}
	putc('\n', to);
	print_sum(to, "SUM", key, t->sum);
	if (!verbose)
		return;
	print_sum(to, "MIN", key, t->min);
	print_sum(to, "MAX", key, t->max);
	print_sum(to, "AVG", key, t->sum / (double)t->n_measured);
	cs_print_line(to, "COEFFICIENT_OF_VARIATION %s %.4f", key, t->variation);
}

/* All matrices of a name, and why there are none or not whole ones. */
static void print_name(FILE *to, const struct cs_view *view, int node,
		       const struct cs_named *name)
{
	const struct cs_alias *alias = name->alias;
	const struct cs_run *run = view->run;
	enum verdict worst = PASSED;
	const char *why = NULL;
	struct table t;
	CS_SCOPE;

	if (!alias) {
		cs_print_line(to, "ERROR: %s", unknown_text(name->text));
		putc('\n', to);
		return;
	}
	for (int part = 0; part < n_parts(alias) && is_of_node(run, node, alias);
	     part++) {
		table_init(&t, view, node, alias, part);
		if (!part && t.n_measured)
			cs_print_line(to, "Running %s.", alias->name);
		if (t.n_measured) {
			print_table(to, &t, view->opt->verbose);
			putc('\n', to);
		}
		if (t.verdict > worst) {
			worst = t.verdict;
			why = t.why;
		}
	}
	if (why) {
		cs_print_line(to, "%s: %s: %s", worst == WAIVED ? "Waived" : "Error",
			      alias->name, why);
		putc('\n', to);
	}
}

/* Is there a figure under a name that misleads? */
static int is_noted(const struct cs_alias *alias)
{
	return alias && alias->test && alias->noted;
}

static int has_note_of(const struct cs_named *name, const struct cs_alias *alias)
{
	return is_noted(name->alias) && !strcmp(name->alias->differs, alias->differs);
}

/* The first of the names, and the others with the same note. */
static const char *noted_names(const struct cs_named *name, size_t n)
{
	const char *text = name->alias->name;

	for (size_t i = 1; i < n; i++)
		if (name[i].alias != name->alias && has_note_of(&name[i], name->alias))
			text = cs_new_text("%s, %s", text, name[i].alias->name);
	return text;
}

/* Print notes after all tests: wrappers read every line after a heading as a row. */
static void print_notes(FILE *to, const struct cs_run *run,
			const struct cs_named *name, size_t n)
{
	int notes = run->virtual_clock;

	if (run->virtual_clock)
		cs_fold(to, 0, 6, "NOTE: " CS_MEASURED_WITH_DOUBLE);
	for (size_t i = 0; i < n; i++) {
		if (!is_noted(name[i].alias) ||
		    CS_ANY(k, i, has_note_of(&name[k], name[i].alias)))
			continue;
		notes = 1;
		cs_fold(to, 0, 6, "NOTE: %s: %s", noted_names(name + i, n - i),
			name[i].alias->differs);
	}
	if (!n)
		cs_fold(to, 0, 6,
			"NOTE: nothing that was measured has a name in nvbandwidth");
	if (notes || !n)
		putc('\n', to);
}

static void print_version(FILE *to, const char *version, const char *commit)
{
	cs_print_line(to,
		      "nvbandwidth Version: " TEXT_OF " (as cscope-mpi %s prints it)",
		      version);
	cs_print_line(to, "Built from Git version: %s", commit);
	putc('\n', to);
}

static void print_node(FILE *to, const struct cs_view *view, int node,
		       const struct cs_named *name, size_t n)
{
	const struct cs_run *run = view->run;
	const struct cs_run_node *nd = &run->node[node];
	int cuda = cuda_number(nd->facts.cuda);

	print_version(to, run->version, run->commit);
	cs_print_line(to, "CUDA Runtime Version: %d", cuda);
	cs_print_line(to, "CUDA Driver Version: %d", cuda);
	cs_print_line(to, "Driver Version: %s", nd->facts.driver);
	putc('\n', to);
	cs_print_line(to, "%s%s%s", nd->facts.host,
		      nd->facts.placement[0] ? ", " : "", nd->facts.placement);
	for (int i = 0; i < nd->facts.n_agents; i++)
		cs_print_line(to, "Device %d: %s", i, device_text(&nd->agent[i]));
	putc('\n', to);
	print_notes(to, run, name, n);
	for (size_t i = 0; i < n; i++)
		print_name(to, view, node, &name[i]);
}

int cs_nvbandwidth_list(FILE *to, const char *version, const char *commit)
{
	int index = 0;

	print_version(to, version, commit);
	fputs("Index, Name:\n\tDescription\n=======================\n", to);
	CS_EACH_ALIAS(a) {
		if (!cs_alias_is_of_nvbandwidth(a))
			break;
		cs_print_line(to, "%d, %s:", index++, a->name);
		putc('\t', to);
		cs_print_line(to, "%s%s%s", a->test ? a->heading : "waived",
			      a->test ? "; here " : ": ",
			      a->test ? a->test : a->differs);
		putc('\n', to);
	}
	return ferror(to) ? -1 : 0;
}

/* ---- JSON ---- */

static void release_json(void *value)
{
	json_decref(*(json_t **)value);
}

/* An empty array that ends with the work. */
static json_t *new_array(void)
{
	json_t **owned = cs_new(json_t *, 1);

	cs_arena_at_end(release_json, owned);
	*owned = json_array();
	cs_arena_check(!*owned);
	return *owned;
}

/* A document as indented text with all digits; frees it.  NULL is no memory. */
static void put_document(FILE *to, json_t *document)
{
	int rc = !document || json_dumpf(document, to,
					 JSON_INDENT(2) | JSON_ENSURE_ASCII |
						 JSON_REAL_PRECISION(CS_DIGITS));

	json_decref(document);
	cs_arena_check(rc && !ferror(to));
	putc('\n', to);
}

static json_t *cells_record(const struct table *t)
{
	json_t *rows = json_array(), *row;
	char number[32];

	for (int r = 0; r < t->rows; r++) {
		row = json_array();
		for (int c = 0; c < t->columns; c++) {
			const struct cs_row *x = t->row[r * t->columns + c];

			cs_text(number, sizeof(number), "%.6g",
				is_measured(x) ? figure_of(t, x) : 0);
			json_array_append_new(row,
					      json_string(is_measured(x) ? number :
									   "N/A"));
		}
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *table_record(const struct table *t)
{
	static const char *const status[] = { "Passed", "Waived", "Error" };
	/* a test that is waived has no matrices */
	const char *name = t->n_measured ? key_text(t) : t->alias->name;
	const char *heading = t->n_measured ? heading_text(t) : "";
	json_t *record = json_pack("{s:s, s:s}", "name", name, "status",
				   status[t->verdict]);

	if (t->verdict != PASSED)
		json_object_set_new(record, "error", cs_json_text(t->why));
	if (t->n_measured) {
		json_object_set_new(record, "bandwidth_description",
				    json_string(heading));
		json_object_set_new(record, "bandwidth_matrix", cells_record(t));
		json_object_set_new(record, "sum", json_real(t->sum));
	}
	if (t->n_measured && t->opt->verbose) {
		json_object_set_new(record, "min", json_real(t->min));
		json_object_set_new(record, "max", json_real(t->max));
		json_object_set_new(record, "average",
				    json_real(t->sum / (double)t->n_measured));
		json_object_set_new(record, "coefficient_of_variation",
				    json_real(t->variation));
	}
	if (is_noted(t->alias))
		json_object_set_new(record, "note", json_string(t->alias->differs));
	if (t->run->n_nodes > 1)
		json_object_set_new(record, "node",
				    cs_json_text(t->run->node[t->node].facts.host));
	if (t->run->node[t->node].facts.placement[0])
		json_object_set_new(record, "placement",
				    cs_json_text(t->run->node[t->node].facts.placement));
	return record;
}

static json_t *unknown_record(const char *name)
{
	return json_pack("{s:o, s:s, s:o}", "name", cs_json_text(name), "status",
			 "ERROR", "error", cs_json_text(unknown_text(name)));
}

static void add_name(json_t *cases, const struct cs_view *view, int node,
		     const struct cs_named *name)
{
	const struct cs_alias *alias = name->alias;
	struct table t;
	int n = alias && is_of_node(view->run, node, alias) ? n_parts(alias) : 0;

	if (!alias)
		cs_arena_check(json_array_append_new(cases,
						     unknown_record(name->text)));
	for (int part = 0; part < n; part++) {
		table_init(&t, view, node, alias, part);
		cs_arena_check(json_array_append_new(cases, table_record(&t)));
		if (!t.n_measured)
			break;
	}
}

static json_t *device_list(const struct cs_run *run)
{
	json_t *list = new_array();

	for (int node = 0; node < run->n_nodes; node++)
		for (int i = 0; i < run->node[node].facts.n_agents; i++) {
			const char *text =
				cs_new_text("%d: %s: (%s)", i,
					    device_text(&run->node[node].agent[i]),
					    run->node[node].facts.host);

			json_array_append_new(list, cs_json_text(text));
		}
	return list;
}

static json_t *head_record(const struct cs_run *run, json_t *cases)
{
	const struct cs_node_facts *f = run->n_nodes ? &run->node[0].facts : NULL;
	int cuda = f ? cuda_number(f->cuda) : 0;
	const char *version = cs_new_text(JSON_OF " (as cscope-mpi %s writes it)",
					  run->version);
	json_t *devices = device_list(run), *head;

	head = json_pack("{s:o, s:o, s:i, s:i, s:o, s:O, s:O}", "version",
			 cs_json_text(version), "git_version",
			 cs_json_text(run->commit), "CUDA Runtime Version", cuda,
			 "CUDA Driver API Version", cuda, "Driver Version",
			 cs_json_text(f ? f->driver : ""), "GPU Device list", devices,
			 "testcases", cases);
	if (run->virtual_clock)
		json_object_set_new(head, "warning",
				    json_string(CS_MEASURED_WITH_DOUBLE));
	return json_pack("{s:o}", "nvbandwidth", head);
}

static void write_json(FILE *to, const struct cs_view *view,
		       const struct cs_named *name, size_t n)
{
	const struct cs_run *run = view->run;
	json_t *cases = new_array();

	for (int node = 0; node < run->n_nodes; node++)
		for (size_t i = 0; i < n; i++)
			add_name(cases, view, node, &name[i]);
	put_document(to, head_record(run, cases));
}

/* ---- both ---- */

static void write_run(FILE *to, const struct cs_view *view, int json)
{
	size_t n;
	const struct cs_named *name = names_of(view, &n);

	if (json)
		write_json(to, view, name, n);
	for (int node = 0; !json && node < view->run->n_nodes; node++)
		print_node(to, view, node, name, n);
}

void cs_nvbandwidth_write(FILE *to, const struct cs_view *view)
{
	write_run(to, view, 0);
}

void cs_nvbandwidth_json_write(FILE *to, const struct cs_view *view)
{
	write_run(to, view, 1);
}
