/* fleet.c - a judged run of many nodes: what was measured, classes, and findings,
 * worst first, in few lines. */
#include "config.h"

#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/arena.h"
#include "base/quant.h"
#include "base/units.h"
#include "check/verdict/check.h"
#include "check/fleet/class.h"
#include "check/fleet/fingerprint.h"
#include "report/group.h"
#include "report/text/matrix.h"

#define LINES 60	/* of the whole report, without -v */
#define TESTS 10	/* of these, for figures */
#define CLASSES 4
#define PLACES 3	/* of a finding on several nodes */
#define EVIDENCE 3
#define INDENT 13

/* ---- lines that are counted before they are printed ---- */

struct page {
	char *text;
	size_t size;
	FILE *to;
};

static int page_open(struct page *page)
{
	*page = (struct page){ .text = NULL };
	page->to = open_memstream(&page->text, &page->size);
	return page->to ? 0 : -1;
}

static int page_close(struct page *page)
{
	int lines = 0;

	fclose(page->to);
	for (size_t i = 0; i < page->size; i++)
		lines += page->text[i] == '\n';
	return lines;
}

/* ---- figures ---- */

struct figures {
	struct cs_plan_matrix of;
	struct cs_vec values; /* double */
	const struct cs_row *low, *high;
	size_t cells; /* with those that have no figure */
};

static struct figures *figures_of(struct cs_vec *all, const struct cs_row *row)
{
	const struct cs_plan_matrix of = cs_row_view(row);
	struct figures *f = all->data;

	for (size_t i = all->n; i-- > 0;)
		if (!cs_plan_matrices_compare(&f[i].of, &of))
			return &f[i];
	f = cs_vec_add(all, 1, NULL);
	if (f)
		*f = (struct figures){ .of = of, .values = CS_VEC(double) };
	return f;
}

static int gather(const struct cs_run *run, int node, struct cs_vec *all)
{
	struct cs_row_list cells = cs_run_rows(run, node, CS_ROWS_CELLS);

	for (const struct cs_row *row; (row = cs_row_next(&cells));) {
		struct figures *f;

		f = figures_of(all, row);
		if (!f)
			return -1;
		f->cells++;
		if (row->status != CS_OK)
			continue;
		if (cs_vec_push(&f->values, &row->stats.median, NULL))
			return -1;
		if (!f->low || row->stats.median < f->low->stats.median)
			f->low = row;
		if (!f->high || row->stats.median > f->high->stats.median)
			f->high = row;
	}
	return 0;
}

static void where_text(const struct cs_run *run, const struct cs_row *row, char *to,
		       size_t size)
{
	cs_text(to, size, "%s %s", run->node[row->node].facts.host,
		cs_pair_label(run, (int)row->node, &row->what).text);
}

static void print_test(FILE *to, const struct cs_run *run, struct figures *f)
{
	const struct cs_test *test;
	char low[CS_HOST + 32], high[CS_HOST + 32], name[160];
	int d;

	test = cs_test_at(f->of.test);
	d = cs_decimals(test);
	cs_text(name, sizeof(name), "%s%s%s", test->name,
		cs_variant_is_usual(&f->of.variant) ? "" : ", ",
		cs_variant_words(&f->of.variant).text);
	if (!f->values.n) {
		cs_fold(to, 2, 4, "%s  0 of %zu cells", name, f->cells);
		return;
	}
	where_text(run, f->low, low, sizeof(low));
	where_text(run, f->high, high, sizeof(high));
	cs_fold(to, 2, 4,
		"%s  %zu of %zu cells, median %.*f %s, lowest %.*f (%s), highest %.*f (%s)",
		name, f->values.n, f->cells, d,
		cs_median(f->values.data, f->values.n), cs_unit_text(test->unit), d,
		f->low->stats.median, low, d, f->high->stats.median, high);
}

static int print_figures(FILE *to, const struct cs_run *run, int verbose)
{
	struct cs_vec all = CS_VEC(struct figures);
	struct figures *f;
	size_t i;
	int rc = 0;

	for (int node = 0; node < run->n_nodes && !rc; node++)
		rc = gather(run, node, &all);
	f = all.data;
	for (i = 0; !rc && i < all.n && (verbose || i < TESTS); i++)
		print_test(to, run, &f[i]);
	if (!rc && i < all.n)
		cs_fold(to, 2, 4,
			"%zu more tests, sizes and variants (-v prints them)",
			all.n - i);
	for (i = 0; i < all.n; i++)
		cs_vec_release(&f[i].values);
	cs_vec_release(&all);
	return rc;
}

/* ---- classes ---- */

struct member {
	int node;
	char class[CS_CLASS];
	uint64_t hash[CS_LAYERS];
};

static int by_class(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->class, y->class);

	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* "wiring 0123456789abcdef on 62 of 63": what most have. */
static int layer_text(const struct member *m, size_t n, int layer, char *to,
		      size_t size)
{
	uint64_t *hash = calloc(n, sizeof(*hash)), usual = 0;
	size_t most = 0, i, k;

	for (i = 0; hash && i < n; i++)
		hash[i] = m[i].hash[layer];
	if (hash)
		qsort(hash, n, sizeof(*hash), by_hash);
	for (i = 0; hash && i < n; i = k) {
		for (k = i + 1; k < n && hash[k] == hash[i]; k++)
			;
		if (k - i > most) {
			most = k - i;
			usual = hash[i];
		}
	}
	free(hash);
	if (most < n)
		cs_text(to, size, "%s %016" PRIx64 " on %zu", cs_layer_text(layer),
			usual, most);
	else
		cs_text(to, size, "%s %016" PRIx64, cs_layer_text(layer), usual);
	return most ? 0 : -1;
}

static int print_class(FILE *to, const struct cs_run *run, const struct member *m,
		       size_t n)
{
	char hosts[256], layers[512] = "", one[80];
	int *nodes = calloc(n, sizeof(*nodes)), rc = nodes ? 0 : -1;

	for (size_t i = 0; nodes && i < n; i++)
		nodes[i] = m[i].node;
	if (nodes)
		cs_hosts_text(run, nodes, n, hosts, sizeof(hosts));
	for (int layer = 0; !rc && layer < CS_LAYERS; layer++) {
		rc = layer_text(m, n, layer, one, sizeof(one));
		cs_text_add(layers, sizeof(layers), "%s%s", layer ? ", " : "", one);
	}
	if (!rc) {
		cs_fold(to, 2, 4, "class %s: %zu node%s %s", m->class, n,
			n == 1 ? "" : "s", hosts);
		cs_fold(to, 4, 6, "%s", layers);
	}
	free(nodes);
	return rc;
}

static int take_member(const struct cs_run *run, int node, struct member *to)
{
	struct cs_vec traits = CS_VEC(struct cs_trait);
	int rc = cs_fingerprint(run, node, &traits, NULL);

	to->node = node;
	for (int layer = 0; !rc && layer < CS_LAYERS; layer++)
		to->hash[layer] = cs_fingerprint_hash(&traits, layer);
	cs_vec_release(&traits);
	return rc;
}

static int print_classes(FILE *to, const struct cs_run *run, int verbose)
{
	struct member *m = calloc((size_t)run->n_nodes, sizeof(*m));
	size_t n = 0, i, k, printed = 0, left = 0;
	int rc = m ? 0 : -1;

	for (int node = 0; !rc && node < run->n_nodes; node++)
		if (!cs_class_text(run, node, m[n].class, sizeof(m[n].class)))
			rc = take_member(run, node, &m[n++]);
	if (!rc && n)
		qsort(m, n, sizeof(*m), by_class);
	for (i = 0; i < n && !rc; i = k) {
		for (k = i + 1; k < n && !strcmp(m[i].class, m[k].class); k++)
			;
		if (verbose || printed++ < CLASSES)
			rc = print_class(to, run, m + i, k - i);
		else
			left++;
	}
	if (left)
		cs_fold(to, 2, 4, "%zu more classes (-v prints them)", left);
	free(m);
	return rc;
}

/* ---- findings ---- */

static const struct cs_agent_facts *agent_at(const struct cs_run *run, int node,
					     const char *bus_id)
{
	const struct cs_run_node *nd = &run->node[node];

	for (int a = 0; a < nd->facts.n_agents; a++)
		if (!strcmp(nd->agent[a].gpu.bus_id, bus_id))
			return &nd->agent[a];
	return NULL;
}

static void append_known(char *to, size_t size, const char *what, const char *text)
{
	if (text[0])
		cs_text_add(to, size, "%s%s", what, text);
}

/* " GPU 3 0000:5e:00.0 GPU-8f…, serial 165…, part 900-…, module 4" */
static void gpu_text(const struct cs_run *run, int node, const char *bus_id, char *to,
		     size_t size)
{
	const struct cs_agent_facts *a = agent_at(run, node, bus_id);
	const struct cs_gpu_record *s = cs_run_gpu(run, node, bus_id);
	char module[16] = "";

	to[0] = '\0';
	if (!bus_id[0])
		return;
	if (a)
		append_known(to, size, " GPU ",
			     cs_agent_label(run, node, (int)(a - run->node[node].agent))
				     .text);
	append_known(to, size, " ", bus_id);
	append_known(to, size, " ", a ? a->gpu.uuid : s ? s->uuid : "");
	if (!s)
		return;
	if (s->board.module_id >= 0)
		cs_text(module, sizeof(module), "%d", s->board.module_id);
	append_known(to, size, ", serial ", s->board.serial);
	append_known(to, size, ", part ", s->board.part);
	append_known(to, size, ", module ", module);
}

static void print_where(FILE *to, const struct cs_run *run, const struct cs_group *g,
			int verbose)
{
	size_t i, said = 0;

	for (i = 0; i < g->n && (verbose || said < PLACES); i++) {
		const struct cs_finding *f = g->finding[i];
		char near[256], far[256];

		if (f->node < 0 || !f->bus_id[0])
			return;
		gpu_text(run, f->node, f->bus_id, near, sizeof(near));
		gpu_text(run, f->node, f->far_bus_id, far, sizeof(far));
		cs_fold(to, INDENT, INDENT + 2, "where: %s%s%s%s",
			run->node[f->node].facts.host, near, far[0] ? " to" : "", far);
		said++;
	}
	if (i < g->n)
		cs_fold(to, INDENT, INDENT + 2, "... and on %zu more nodes (-v)",
			g->n - i);
}

static void print_evidence(FILE *to, const struct cs_run *run,
			   const struct cs_finding *f)
{
	char text[512] = "";
	uint32_t i;

	for (i = 0; i < f->n_evidence && i < EVIDENCE; i++) {
		const struct cs_row *row;
		const struct cs_test *test;
		char where[CS_HOST + 32];

		if (f->evidence[i] >= cs_rows_count(&run->rows))
			continue;
		row = cs_rows_get(&run->rows, f->evidence[i]);
		test = cs_row_test(row);
		where_text(run, row, where, sizeof(where));
		cs_text_add(text, sizeof(text), "%s%s %s ", text[0] ? ", " : "",
			    test->name, where);
		if (row->status == CS_OK)
			cs_text_add(text, sizeof(text), "%.*f %s", cs_decimals(test),
				    row->stats.median, cs_unit_text(test->unit));
		else
			cs_text_add(text, sizeof(text), "%s",
				    cs_status_text(row->status));
	}
	if (text[0])
		cs_fold(to, INDENT, INDENT + 2, "evidence: %s%s", text,
			i < f->n_evidence ? ", ..." : "");
}

static void print_head(FILE *to, const struct cs_run *run, const struct cs_group *g,
		       int verbose)
{
	const struct cs_finding *f = g->finding[0];

	cs_fold(to, 2, INDENT, "%-8s %s%s%s", cs_severity_text(f->severity),
		cs_group_hosts(run, g, verbose ? 0 : 160), f->text,
		f->drain ? " [drain]" : "");
}

static void print_rest(FILE *to, const struct cs_run *run, const struct cs_group *g,
		       int verbose)
{
	const struct cs_finding *f = g->finding[0];

	print_where(to, run, g, verbose);
	print_evidence(to, run, f);
	if (f->confidence > 0)
		cs_fold(to, INDENT, INDENT + 2, "confidence: %.1f %%",
			100 * f->confidence);
	if (f->remeasure[0])
		cs_fold(to, INDENT, INDENT + 2, "again: %s", f->remeasure);
	if (f->elsewhere[0])
		cs_fold(to, INDENT, INDENT + 2, "elsewhere: %s", f->elsewhere);
	if (f->next[0])
		cs_fold(to, INDENT, INDENT + 2, "next: %s", f->next);
}

/* `whole`: 1 all that is known of it, 0 its first line; how many lines. */
static int print_group(FILE *to, const struct cs_run *run, const struct cs_group *g,
		       int whole, int verbose)
{
	struct page page;
	int lines;

	if (page_open(&page))
		return -1;
	print_head(page.to, run, g, verbose);
	if (whole)
		print_rest(page.to, run, g, verbose);
	lines = page_close(&page);
	if (to)
		fwrite(page.text, 1, page.size, to);
	free(page.text);
	return lines;
}

/* How many lines groups take: all that is known of them, and the first of each. */
struct length {
	int whole, brief;
};

/* By group, in the arena; NULL no memory. */
static struct length *measure(const struct cs_run *run, const struct cs_vec *groups)
{
	const struct cs_group *g = groups->data;
	struct length *length = cs_new(struct length, groups->n);

	for (size_t i = 0; i < groups->n; i++) {
		length[i].whole = print_group(NULL, run, &g[i], 1, 0);
		length[i].brief = print_group(NULL, run, &g[i], 0, 0);
		if (length[i].whole < 0 || length[i].brief < 0)
			return NULL;
	}
	return length;
}

/* The last line, if not all lines had room. */
static void print_left(FILE *to, const struct cs_group *g, size_t n, size_t cut)
{
	size_t count[CS_CRITICAL + 1] = { 0 };
	char in_short[60] = "", left[100] = "";

	for (size_t i = 0; i < n; i++)
		count[g[i].finding[0]->severity] += g[i].n;
	if (cut)
		cs_text(in_short, sizeof(in_short), "%zu in short%s", cut,
			n ? "; " : "");
	if (n)
		cs_text(left, sizeof(left),
			"left out: %zu critical, %zu warning%s, %zu note%s",
			count[CS_CRITICAL], count[CS_WARNING],
			count[CS_WARNING] == 1 ? "" : "s", count[CS_NOTE],
			count[CS_NOTE] == 1 ? "" : "s");
	cs_fold(to, 2, INDENT, "... %s%s (-v prints all)", in_short, left);
}

/* Print as much of each group as fits if all others have their first line, and count what
 * does not fit. */
static void print_groups(FILE *to, const struct cs_run *run,
			 const struct cs_vec *groups, const struct length *length,
			 int room)
{
	const struct cs_group *g = groups->data;
	size_t n = groups->n, cut = 0, i;
	int brief = 0, all = 0;

	for (i = 0; i < n; i++) {
		brief += length[i].brief;
		all += length[i].whole;
	}
	room -= all > room; /* the last line */
	for (i = 0; i < n; i++) {
		int whole, lines;

		brief -= length[i].brief;
		whole = length[i].whole + brief <= room ||
			(g[i].finding[0]->severity == CS_CRITICAL &&
			 length[i].whole < room / 2);
		lines = whole ? length[i].whole : length[i].brief;
		if (lines > room)
			break;
		room -= lines;
		cut += lines < length[i].whole;
		print_group(to, run, &g[i], whole, 0);
	}
	if (cut || i < n)
		print_left(to, g + i, n - i, cut);
}

/* "findings: 2 critical, 0 warnings, 3 notes" */
static void print_counts(FILE *to, const struct cs_run *run, const char *behind)
{
	const struct cs_finding *f = run->findings.data;
	size_t count[CS_CRITICAL + 1] = { 0 };

	for (size_t i = 0; i < run->findings.n; i++)
		count[f[i].severity]++;
	cs_fold(to, 0, 2, "findings: %zu critical, %zu warning%s, %zu note%s%s",
		count[CS_CRITICAL], count[CS_WARNING],
		count[CS_WARNING] == 1 ? "" : "s", count[CS_NOTE],
		count[CS_NOTE] == 1 ? "" : "s", behind);
}

static int print_findings(FILE *to, const struct cs_run *run, int lines, int verbose)
{
	const struct cs_vec groups = cs_groups_make(run);
	const struct length *length = measure(run, &groups);
	struct page page;

	if (!length || page_open(&page))
		return -1;
	print_counts(page.to, run, "");
	lines += page_close(&page);
	fwrite(page.text, 1, page.size, to);
	free(page.text);
	for (size_t i = 0; verbose && i < groups.n; i++)
		print_group(to, run, (struct cs_group *)groups.data + i, 1, 1);
	if (!verbose)
		print_groups(to, run, &groups, length, LINES - lines);
	return 0;
}

/* ---- the whole ---- */

struct census {
	int known, measured;
};

static struct census count_nodes(const struct cs_run *run)
{
	struct census census = { 0, 0 };
	char *has = calloc((size_t)run->n_nodes + 1, 1);

	for (size_t i = 0; has && i < cs_rows_count(&run->rows); i++)
		has[cs_rows_get(&run->rows, i)->node] |=
			cs_rows_get(&run->rows, i)->status == CS_OK;
	for (int node = 0; has && node < run->n_nodes; node++) {
		census.known += run->node[node].facts.n_agents >= 0;
		census.measured += has[node];
	}
	free(has);
	return census;
}

static void print_nodes(FILE *to, const struct cs_run *run)
{
	struct census census = count_nodes(run);

	cs_fold(to, 0, 2, "%d nodes: %d measured, %d with facts only, %d unknown",
		run->n_nodes, census.measured, census.known - census.measured,
		run->n_nodes - census.known);
}

/* ---- where nobody is needed ---- */

int cs_fleet_needs_nobody(const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;
	struct census census = count_nodes(run);

	for (size_t i = 0; i < run->findings.n; i++)
		if (f[i].severity > CS_NOTE)
			return 0;
	return census.measured == run->n_nodes;
}

/* "  class X: 1000 nodes", or how many classes there are. */
static int print_class_count(FILE *to, const struct cs_run *run)
{
	char first[CS_CLASS] = "", text[CS_CLASS];
	int nodes = 0, others = 0;

	for (int node = 0; node < run->n_nodes; node++) {
		if (cs_class_text(run, node, text, sizeof(text)))
			continue;
		if (!nodes++)
			cs_text(first, sizeof(first), "%s", text);
		others += strcmp(first, text) != 0;
	}
	if (others)
		cs_print_line(to, "  %d nodes of class %.40s, %d of others (-v)",
			      nodes - others, first, others);
	else
		cs_print_line(to, "  all of class %.60s", first);
	return 0;
}

/* Of the first test, in one line of the narrowest terminal. */
static int print_first_figures(FILE *to, const struct cs_run *run)
{
	struct cs_vec all = CS_VEC(struct figures);
	struct figures *f;
	char low[CS_HOST + 32];
	int rc = 0;

	for (int node = 0; node < run->n_nodes && !rc; node++)
		rc = gather(run, node, &all);
	f = all.data;
	if (!rc && all.n && f->values.n) {
		const struct cs_test *test = cs_test_at(f->of.test);
		int d = cs_decimals(test);

		where_text(run, f->low, low, sizeof(low));
		cs_print_line(to, "  %.24s %.*f %s, least %.*f (%.20s); %zu more (-v)",
			      test->name, d, cs_median(f->values.data, f->values.n),
			      cs_unit_text(test->unit), d, f->low->stats.median, low,
			      all.n - 1);
	}
	for (size_t i = 0; i < all.n; i++)
		cs_vec_release(&f[i].values);
	cs_vec_release(&all);
	return rc;
}

/* At most six lines, including cs_notices_print()'s. */
int cs_fleet_print_brief(FILE *to, const struct cs_run *run)
{
	char time[32];

	cs_time_text(&run->started, time, sizeof(time));
	cs_print_line(to, "cscope-mpi %s  %s  %d nodes, all measured", run->version,
		      time, run->n_nodes);
	if (print_class_count(to, run) || print_first_figures(to, run))
		return -1;
	print_counts(to, run, run->findings.n ? " (-v prints them)" : "");
	return cs_actions_print(to, run, 0);
}

/* Actions come last: a terminal that has scrolled shows the end. */
int cs_fleet_print(FILE *to, const struct cs_run *run, int lines, int verbose)
{
	struct page page, actions;
	int rc;

	if (page_open(&actions))
		return -1;
	rc = cs_actions_print(actions.to, run, verbose);
	lines += page_close(&actions);
	if (rc || page_open(&page)) {
		free(actions.text);
		return -1;
	}
	print_nodes(page.to, run);
	rc = cs_rc(print_figures(page.to, run, verbose) ||
		   print_classes(page.to, run, verbose));
	lines += page_close(&page);
	fwrite(page.text, 1, page.size, to);
	rc = rc ? rc : print_findings(to, run, lines, verbose);
	if (!rc)
		fwrite(actions.text, 1, actions.size, to);
	free(page.text);
	free(actions.text);
	return rc;
}
