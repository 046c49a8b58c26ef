/* fleet.c - a judged run of many nodes: what was measured, classes, and findings,
 * worst first, in few lines. */
#include "config.h"

#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "check/check.h"
#include "check/class.h"
#include "check/fingerprint.h"
#include "report/matrix.h"

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
	uint32_t test;
	uint64_t bytes;
	struct cs_vec values;	/* double */
	const struct cs_row *low, *high;
	size_t cells;		/* with those that have no figure */
};

static struct figures *figures_of(struct cs_vec *all, const struct cs_row *row)
{
	struct figures *f = all->data;

	for (size_t i = all->n; i-- > 0;)
		if (f[i].test == row->test && f[i].bytes == row->what.bytes)
			return &f[i];
	f = cs_vec_add(all, 1, NULL);
	if (f)
		*f = (struct figures){ .test = row->test, .bytes = row->what.bytes,
				       .values = CS_VEC(double) };
	return f;
}

static int gather(const struct cs_run *run, struct cs_vec *all)
{
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);
		struct figures *f;
		double *value;

		if (!cs_row_is_cell(row))
			continue;
		f = figures_of(all, row);
		if (!f)
			return -1;
		f->cells++;
		if (row->status != CS_OK)
			continue;
		value = cs_vec_add(&f->values, 1, NULL);
		if (!value)
			return -1;
		*value = row->stats.median;
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
	char low[CS_HOST + 32], high[CS_HOST + 32];
	size_t n;
	int d;

	test = &cs_catalogue(&n)[f->test];
	d = cs_decimals(test);
	if (!f->values.n) {
		cs_fold(to, 2, 4, "%s  0 of %zu cells", test->name, f->cells);
		return;
	}
	where_text(run, f->low, low, sizeof(low));
	where_text(run, f->high, high, sizeof(high));
	cs_fold(to, 2, 4, "%s  %zu of %zu cells, median %.*f %s, lowest %.*f (%s), highest %.*f (%s)",
		test->name, f->values.n, f->cells, d,
		cs_median(f->values.data, f->values.n), cs_unit_text(test->unit), d,
		f->low->stats.median, low, d, f->high->stats.median, high);
}

static int print_figures(FILE *to, const struct cs_run *run, int verbose)
{
	struct cs_vec all = CS_VEC(struct figures);
	struct figures *f;
	size_t i;
	int rc = gather(run, &all);

	f = all.data;
	for (i = 0; !rc && i < all.n && (verbose || i < TESTS); i++)
		print_test(to, run, &f[i]);
	if (!rc && i < all.n)
		cs_fold(to, 2, 4, "%zu more tests and sizes (-v prints them)",
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
		cs_text_add(layers, sizeof(layers), "%s%s", layer ? ", " : "",
			    one);
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

/* Findings with the same text: finding[0..n), by node. */
struct group {
	const struct cs_finding *const *finding;
	size_t n;
	int lines, brief;	/* how many it takes */
};

static int by_text(const void *a, const void *b)
{
	const struct cs_finding *x = *(const struct cs_finding *const *)a;
	const struct cs_finding *y = *(const struct cs_finding *const *)b;
	int order = (int)y->severity - (int)x->severity;

	if (!order)
		order = strcmp(x->id, y->id);
	if (!order)
		order = strcmp(x->text, y->text);
	return order ? order : x < y ? -1 : x > y;
}

static int is_like(const struct cs_finding *a, const struct cs_finding *b)
{
	return a->severity == b->severity && !strcmp(a->id, b->id) &&
	       !strcmp(a->text, b->text);
}

/* Worst first; of equal ones those of the job, then of the first node. */
static int by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	const struct cs_finding *f = x->finding[0], *g = y->finding[0];

	if (f->severity != g->severity)
		return f->severity > g->severity ? -1 : 1;
	if (f->drain != g->drain)
		return f->drain ? -1 : 1;
	if (f->node != g->node)
		return f->node < g->node ? -1 : 1;
	return f < g ? -1 : f > g;
}

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
static void gpu_text(const struct cs_run *run, int node, const char *bus_id,
		     char *to, size_t size)
{
	const struct cs_agent_facts *a = agent_at(run, node, bus_id);
	const struct cs_gpu_sight *s = cs_run_gpu(run, node, bus_id);
	char module[16] = "";

	to[0] = '\0';
	if (!bus_id[0])
		return;
	if (a)
		append_known(to, size, " GPU ",
			     cs_agent_label(run, node,
					    (int)(a - run->node[node].agent)).text);
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

static void print_where(FILE *to, const struct cs_run *run, const struct group *g,
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
			run->node[f->node].facts.host, near, far[0] ? " to" : "",
			far);
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
			cs_text_add(text, sizeof(text), "%.*f %s",
				    cs_decimals(test), row->stats.median,
				    cs_unit_text(test->unit));
		else
			cs_text_add(text, sizeof(text), "%s",
				    cs_status_text(row->status));
	}
	if (text[0])
		cs_fold(to, INDENT, INDENT + 2, "evidence: %s%s", text,
			i < f->n_evidence ? ", ..." : "");
}

static void print_head(FILE *to, const struct cs_run *run, const struct group *g,
		       int verbose)
{
	static const char *const word[] = { "note", "warning", "critical" };
	const struct cs_finding *f = g->finding[0];
	int *nodes = calloc(g->n, sizeof(*nodes));
	size_t room = verbose ? g->n * (CS_HOST + 1) + 64 : 160, n = 0;
	char *hosts = calloc(1, room);

	for (size_t i = 0; nodes && i < g->n; i++)
		if (g->finding[i]->node >= 0 && g->finding[i]->node < run->n_nodes)
			nodes[n++] = g->finding[i]->node;
	if (hosts && n)
		cs_hosts_text(run, nodes, n, hosts, room);
	cs_fold(to, 2, INDENT, "%-8s %s%s%s%s", word[f->severity],
		hosts ? hosts : "", n ? ": " : "", f->text,
		f->drain ? " [drain]" : "");
	free(hosts);
	free(nodes);
}

static void print_rest(FILE *to, const struct cs_run *run, const struct group *g,
		       int verbose)
{
	const struct cs_finding *f = g->finding[0];

	print_where(to, run, g, verbose);
	print_evidence(to, run, f);
	if (f->confidence > 0)
		cs_fold(to, INDENT, INDENT + 2, "confidence: %.1f %%",
			100 * f->confidence);
	if (f->again[0])
		cs_fold(to, INDENT, INDENT + 2, "again: %s", f->again);
	if (f->elsewhere[0])
		cs_fold(to, INDENT, INDENT + 2, "elsewhere: %s", f->elsewhere);
	if (f->next[0])
		cs_fold(to, INDENT, INDENT + 2, "next: %s", f->next);
}

/* `whole`: 1 all that is known of it, 0 its first line; how many lines. */
static int print_group(FILE *to, const struct cs_run *run, const struct group *g,
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

static int make_groups(const struct cs_run *run,
		       const struct cs_finding **sorted, struct cs_vec *groups)
{
	const struct cs_finding *f = run->findings.data;
	size_t n = run->findings.n, i, k;
	struct group *g;

	for (i = 0; i < n; i++)
		sorted[i] = &f[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_text);
	for (i = 0; i < n; i = k) {
		for (k = i + 1; k < n && is_like(sorted[i], sorted[k]); k++)
			;
		g = cs_vec_add(groups, 1, NULL);
		if (!g)
			return -1;
		*g = (struct group){ .finding = sorted + i, .n = k - i };
		g->lines = print_group(NULL, run, g, 1, 0);
		g->brief = print_group(NULL, run, g, 0, 0);
		if (g->lines < 0 || g->brief < 0)
			return -1;
	}
	cs_vec_sort(groups, by_weight);
	return 0;
}

static void print_left(FILE *to, const struct group *g, size_t n)
{
	size_t count[CS_CRITICAL + 1] = { 0 };
	char text[120];

	for (size_t i = 0; i < n; i++)
		count[g[i].finding[0]->severity] += g[i].n;
	cs_text(text, sizeof(text), "%zu critical, %zu warning%s, %zu note%s",
		count[CS_CRITICAL], count[CS_WARNING],
		count[CS_WARNING] == 1 ? "" : "s", count[CS_NOTE],
		count[CS_NOTE] == 1 ? "" : "s");
	cs_fold(to, 2, INDENT, "... and %s (-v prints all)", text);
}

/* As much of each as there is room for when all others have their first line, and
 * what has none of its own is counted. */
static void print_groups(FILE *to, const struct cs_run *run, const struct group *g,
			 size_t n, int room, int verbose)
{
	int brief = 0;
	size_t i;

	for (i = 0; i < n; i++)
		brief += g[i].brief;
	for (i = 0; i < n; i++) {
		int whole;

		brief -= g[i].brief;
		whole = verbose || g[i].lines + brief <= room ||
			(g[i].finding[0]->severity == CS_CRITICAL &&
			 g[i].lines + 1 < room / 2);
		if (!whole && g[i].brief + (i + 1 < n) > room) {
			print_left(to, g + i, n - i);
			return;
		}
		room -= whole ? g[i].lines : g[i].brief;
		print_group(to, run, &g[i], whole, verbose);
	}
}

static void print_counts(FILE *to, const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;
	size_t count[CS_CRITICAL + 1] = { 0 };
	char *drain = calloc((size_t)run->n_nodes + 1, 1);
	int *nodes = calloc((size_t)run->n_nodes + 1, sizeof(*nodes)), node;
	char hosts[512] = "none";
	size_t n = 0;

	for (size_t i = 0; drain && nodes && i < run->findings.n; i++) {
		count[f[i].severity]++;
		if (f[i].node >= 0 && f[i].drain)
			drain[f[i].node] = 1;
	}
	for (node = 0; drain && nodes && node < run->n_nodes; node++)
		if (drain[node])
			nodes[n++] = node;
	if (n)
		cs_hosts_text(run, nodes, n, hosts, sizeof(hosts));
	cs_fold(to, 0, 2, "findings: %zu critical, %zu warning%s, %zu note%s; keep out: %s",
		count[CS_CRITICAL], count[CS_WARNING],
		count[CS_WARNING] == 1 ? "" : "s", count[CS_NOTE],
		count[CS_NOTE] == 1 ? "" : "s", hosts);
	free(drain);
	free(nodes);
}

static int print_findings(FILE *to, const struct cs_run *run, int lines, int verbose)
{
	const struct cs_finding **sorted = calloc(run->findings.n + 1,
						  sizeof(*sorted));
	struct cs_vec groups = CS_VEC(struct group);
	struct page page;
	int rc = sorted ? make_groups(run, sorted, &groups) : -1;

	if (!rc)
		rc = page_open(&page);
	if (!rc) {
		print_counts(page.to, run);
		lines += page_close(&page);
		fwrite(page.text, 1, page.size, to);
		free(page.text);
		print_groups(to, run, groups.data, groups.n, LINES - lines, verbose);
	}
	cs_vec_release(&groups);
	free(sorted);
	return rc;
}

/* ---- the whole ---- */

static void print_nodes(FILE *to, const struct cs_run *run)
{
	int known = 0, measured = 0;
	char *has = calloc((size_t)run->n_nodes + 1, 1);

	for (size_t i = 0; has && i < cs_rows_count(&run->rows); i++)
		has[cs_rows_get(&run->rows, i)->node] |=
			cs_rows_get(&run->rows, i)->status == CS_OK;
	for (int node = 0; has && node < run->n_nodes; node++) {
		known += run->node[node].facts.n_agents >= 0;
		measured += has[node];
	}
	free(has);
	cs_fold(to, 0, 2, "%d nodes: %d measured, %d with facts alone, %d of which nothing is known",
		run->n_nodes, measured, known - measured, run->n_nodes - known);
}

int cs_fleet_print(FILE *to, const struct cs_run *run, int lines, int verbose)
{
	struct page page;
	int rc;

	if (page_open(&page))
		return -1;
	print_nodes(page.to, run);
	rc = print_figures(page.to, run, verbose) ||
	     print_classes(page.to, run, verbose) ? -1 : 0;
	lines += page_close(&page);
	fwrite(page.text, 1, page.size, to);
	free(page.text);
	return rc ? rc : print_findings(to, run, lines, verbose);
}
