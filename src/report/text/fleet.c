/* fleet.c - a judged run of many nodes: measured cells, classes, and findings, worst
 * first, in few lines. */
#include "report/text/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/fleet/class.h"
#include "check/fleet/fingerprint.h"

#define LINES 54	/* of a report without -v, beside notices and its last line */
#define TESTS 10	/* of these, for figures */
#define CLASSES 4
#define PLACES 3	/* of a finding on several nodes */
#define EVIDENCE 3
#define INDENT 13

static int lines_of(const struct cs_draft *draft)
{
	return CS_COUNT(i, draft->n, draft->text[i] == '\n');
}

/* ---- figures ---- */

struct figures {
	struct cs_plan_matrix of;
	struct cs_vec values; /* list of double */
	const struct cs_row *low, *high;
	size_t cells; /* with those that have no figure */
};

static struct figures *figures_of(struct cs_vec *all, const struct cs_row *row)
{
	const struct cs_plan_matrix of = cs_row_plan_matrix(row);
	struct figures *f = all->data;

	for (size_t i = all->n; i-- > 0;)
		if (!cs_plan_matrices_compare(&f[i].of, &of))
			return &f[i];
	f = cs_list_add(all, 1);
	*f = (struct figures){ .of = of, .values = CS_LIST(double) };
	return f;
}

static void gather(const struct cs_run *run, int node, struct cs_vec *all)
{
	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
		struct figures *f = figures_of(all, row);

		f->cells++;
		if (row->status != CS_OK)
			continue;
		cs_list_push(&f->values, &row->stats.median);
		if (!f->low || row->stats.median < f->low->stats.median)
			f->low = row;
		if (!f->high || row->stats.median > f->high->stats.median)
			f->high = row;
	}
}

/* By test, size and variant: a list of struct figures. */
static struct cs_vec figures_by_test(const struct cs_run *run)
{
	struct cs_vec all = CS_LIST(struct figures);

	for (int node = 0; node < run->n_nodes; node++)
		gather(run, node, &all);
	return all;
}

static const char *cell_text(const struct cs_run *run, const struct cs_row *row)
{
	return cs_new_text("%s %s", run->node[row->node].facts.host,
			   cs_pair_label(run, (int)row->node, &row->what).text);
}

static void print_test(FILE *to, const struct cs_run *run, struct figures *f)
{
	const struct cs_test *test = cs_test_at(f->of.test);
	const int d = cs_decimals(test);
	const char *name =
		cs_new_text("%s%s", test->name,
			    cs_after(", ", cs_variant_words(&f->of.variant).text));

	if (!f->values.n) {
		cs_fold(to, 2, 4, "%s  0 of %zu cells", name, f->cells);
		return;
	}
	cs_fold(to, 2, 4,
		"%s  %zu of %zu cells, median %.*f %s, lowest %.*f (%s), highest %.*f (%s)",
		name, f->values.n, f->cells, d,
		cs_median(f->values.data, f->values.n), cs_unit_text(test->unit), d,
		f->low->stats.median, cell_text(run, f->low), d,
		f->high->stats.median, cell_text(run, f->high));
}

static void print_figures(FILE *to, const struct cs_run *run, int verbose)
{
	const struct cs_vec all = figures_by_test(run);
	struct figures *f = all.data;
	size_t i;

	for (i = 0; i < all.n && (verbose || i < TESTS); i++)
		print_test(to, run, &f[i]);
	if (i < all.n)
		cs_fold(to, 2, 4,
			"%zu more tests, sizes and variants (-v prints them)",
			all.n - i);
}

/* ---- classes ---- */

struct member {
	int node;
	const char *class;
	uint64_t hash[CS_LAYERS];
};

CS_ORDERING(by_class, struct member, strcmp(a->class, b->class),
	    CS_ORDER(a->node, b->node))

CS_ORDERING(by_hash, uint64_t, CS_ORDER(*a, *b))

/* "wiring 0123456789abcdef on 62": the hash that most have. */
static const char *layer_text(const struct member *m, size_t n, int layer)
{
	uint64_t *hash = cs_new(uint64_t, n), usual = 0;
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		hash[i] = m[i].hash[layer];
	qsort(hash, n, sizeof(*hash), by_hash);
	CS_EACH_GROUP(i, k, n, hash[k] == hash[i]) {
		if (k - i > most) {
			most = k - i;
			usual = hash[i];
		}
	}
	return cs_new_text("%s %016" PRIx64 "%s", cs_layer_text(layer), usual,
			   most < n ? cs_new_text(" on %zu", most) : "");
}

static void print_class(FILE *to, const struct cs_run *run, const struct member *m,
			size_t n)
{
	const char *layers = NULL;
	int *nodes = cs_new(int, n);

	for (size_t i = 0; i < n; i++)
		nodes[i] = m[i].node;
	for (int layer = 0; layer < CS_LAYERS; layer++)
		layers = cs_join(layers, ", ", "%s", layer_text(m, n, layer));
	cs_fold(to, 2, 4, "class %s: %s %s", m->class, cs_count_text(n, "node"),
		cs_hosts_text(run, nodes, n, 256));
	cs_fold(to, 4, 6, "%s", layers);
}

static void take_member(const struct cs_run *run, int node, struct member *to)
{
	const struct cs_run_node *nd = &run->node[node];
	struct cs_vec traits = CS_LIST(struct cs_trait);
	CS_SCOPE;

	to->node = node;
	memcpy(to->hash, nd->trait_hash, sizeof(to->hash));
	if (nd->trait_hash[0])
		return;
	cs_arena_check(cs_fingerprint(run, node, &traits, NULL));
	for (int layer = 0; layer < CS_LAYERS; layer++)
		to->hash[layer] = cs_fingerprint_hash(&traits, layer);
}

static void print_classes(FILE *to, const struct cs_run *run, int verbose)
{
	struct member *m = cs_new(struct member, run->n_nodes);
	size_t n = 0, printed = 0, left = 0;

	for (int node = 0; node < run->n_nodes; node++)
		if ((m[n].class = cs_class_text(run, node)))
			take_member(run, node, &m[n++]);
	qsort(m, n, sizeof(*m), by_class);
	CS_EACH_GROUP(i, k, n, !strcmp(m[i].class, m[k].class)) {
		if (verbose || printed++ < CLASSES)
			print_class(to, run, m + i, k - i);
		else
			left++;
	}
	if (left)
		cs_fold(to, 2, 4, "%zu more classes (-v prints them)", left);
}

/* ---- findings ---- */

/* " GPU 3 0000:5e:00.0 GPU-8f…, serial 165…, part 900-…, module 4" */
static const char *gpu_text(const struct cs_run *run, int node, const char *bus_id)
{
	int agent = cs_agent_at(run, node, bus_id);
	const struct cs_gpu_record *s = cs_run_gpu(run, node, bus_id);
	const char *text;

	if (!bus_id[0])
		return "";
	text = cs_new_text("%s %s%s",
			   agent < 0 ? "" :
				       cs_after(" GPU ",
						cs_agent_label(run, node, agent).text),
			   bus_id,
			   cs_after(" ", agent >= 0 ?
						 run->node[node].agent[agent].gpu.uuid :
					 s ? s->uuid :
					     ""));
	if (!s)
		return text;
	text = cs_new_longer(text, "%s%s", cs_after(", serial ", s->board.serial),
			     cs_after(", part ", s->board.part));
	return s->board.module_id < 0 ?
		       text :
		       cs_new_longer(text, ", module %d", s->board.module_id);
}

static void print_where(FILE *to, const struct cs_run *run, const struct cs_group *g,
			int verbose)
{
	size_t i;

	for (i = 0; i < g->n && (verbose || i < PLACES); i++) {
		const struct cs_finding *f = g->finding[i];
		const char *far;

		if (f->node < 0 || !f->bus_id[0])
			return;
		far = gpu_text(run, f->node, f->far_bus_id);
		cs_fold(to, INDENT, INDENT + 2, "where: %s%s%s%s",
			run->node[f->node].facts.host,
			gpu_text(run, f->node, f->bus_id), far[0] ? " to" : "", far);
	}
	if (i < g->n)
		cs_fold(to, INDENT, INDENT + 2, "... and on %zu more nodes (-v)",
			g->n - i);
}

static void print_evidence(FILE *to, const struct cs_run *run,
			   const struct cs_finding *f)
{
	const char *text = NULL;
	uint32_t i;

	for (i = 0; i < f->n_evidence && i < EVIDENCE; i++) {
		const struct cs_row *row;
		const struct cs_test *test;

		if (f->evidence[i] >= cs_rows_count(&run->rows))
			continue;
		row = cs_rows_get(&run->rows, f->evidence[i]);
		test = cs_row_test(row);
		text = cs_join(text, ", ", "%s %s %s", test->name, cell_text(run, row),
			       row->status != CS_OK ?
				       cs_status_text(row->status) :
				       cs_new_text("%.*f %s", cs_decimals(test),
						   row->stats.median,
						   cs_unit_text(test->unit)));
	}
	if (text)
		cs_fold(to, INDENT, INDENT + 2, "evidence: %s%s", text,
			i < f->n_evidence ? ", ..." : "");
}

static void print_head(FILE *to, const struct cs_run *run, const struct cs_group *g,
		       int verbose)
{
	const struct cs_finding *f = g->finding[0];

	cs_fold(to, 2, INDENT, "%-8s %s%s [%s%s]", cs_severity_text(f->severity),
		cs_group_hosts(run, g, verbose ? 0 : 160), f->text,
		cs_finding_text(f), f->drain ? ", drain" : "");
}

static void print_rest(FILE *to, const struct cs_run *run, const struct cs_group *g,
		       int verbose)
{
	const struct cs_finding *f = g->finding[0];

	print_where(to, run, g, verbose);
	if (f->series.n)
		cs_fold(to, INDENT, INDENT + 2, "over time: %s",
			cs_series_text(&f->series));
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
	CS_SCOPE;
	struct cs_draft *draft = cs_draft_begin();

	print_head(draft->to, run, g, verbose);
	if (whole)
		print_rest(draft->to, run, g, verbose);
	cs_draft_end(draft);
	if (to)
		fwrite(draft->text, 1, draft->n, to);
	return lines_of(draft);
}

/* How many lines groups take: all that is known of them, and the first of each. */
struct length {
	int whole, brief;
};

/* By group. */
static struct length *measure(const struct cs_run *run, const struct cs_vec *groups)
{
	const struct cs_group *g = groups->data;
	struct length *length = cs_new(struct length, groups->n);

	for (size_t i = 0; i < groups->n; i++) {
		length[i].whole = print_group(NULL, run, &g[i], 1, 0);
		length[i].brief = print_group(NULL, run, &g[i], 0, 0);
	}
	return length;
}

/* "2 critical, 0 warnings, 3 notes": by severity. */
static const char *counts_text(const size_t *count)
{
	return cs_new_text("%zu critical, %s, %s", count[CS_CRITICAL],
			   cs_count_text(count[CS_WARNING], "warning"),
			   cs_count_text(count[CS_NOTE], "note"));
}

/* The last line, if not all lines had room. */
static void print_left(FILE *to, const struct cs_group *g, size_t n, size_t cut)
{
	size_t count[CS_CRITICAL + 1] = { 0 };
	const char *in_short = "", *left = "";

	for (size_t i = 0; i < n; i++)
		count[g[i].finding[0]->severity] += g[i].n;
	if (cut)
		in_short = cs_new_text("%zu in short%s", cut, n ? "; " : "");
	if (n)
		left = cs_new_text("left out: %s", counts_text(count));
	cs_fold(to, 2, INDENT, "... %s%s (-v prints all)", in_short, left);
}

/* Print as much of each group as fits if all others have their first line, and count the
 * rest. */
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

/* "findings: 2 critical, 0 warnings, 3 notes; …" */
static void print_counts(FILE *to, const struct cs_run *run, const char *hint)
{
	size_t count[CS_CRITICAL + 1] = { 0 };

	CS_EACH(const struct cs_finding, f, &run->findings)
		count[f->severity]++;
	cs_fold(to, 0, 2, "findings: %s%s", counts_text(count),
		run->findings.n ? hint : "");
}

static void print_findings(FILE *to, const struct cs_run *run, int lines, int verbose)
{
	const struct cs_vec groups = cs_groups_make(run);
	const struct length *length = measure(run, &groups);
	struct cs_draft *counts = cs_draft_begin();

	print_counts(counts->to, run, CS_EXPLAINS_FINDINGS);
	cs_draft_end(counts);
	fwrite(counts->text, 1, counts->n, to);
	lines += lines_of(counts);
	for (size_t i = 0; verbose && i < groups.n; i++)
		print_group(to, run, (struct cs_group *)groups.data + i, 1, 1);
	if (!verbose)
		print_groups(to, run, &groups, length, LINES - lines);
}

/* ---- the whole ---- */

struct census {
	int known, measured;
};

static struct census count_nodes(const struct cs_run *run)
{
	struct census census = { 0, 0 };
	char *has = cs_new(char, run->n_nodes);

	for (size_t i = 0; i < cs_rows_count(&run->rows); i++)
		has[cs_rows_get(&run->rows, i)->node] |=
			cs_rows_get(&run->rows, i)->status == CS_OK;
	for (int node = 0; node < run->n_nodes; node++) {
		census.known += run->node[node].facts.n_agents >= 0;
		census.measured += has[node];
	}
	return census;
}

static void print_nodes(FILE *to, const struct cs_run *run)
{
	struct census census = count_nodes(run);

	cs_fold(to, 0, 2, "%d nodes: %d measured, %d with facts only, %d unknown",
		run->n_nodes, census.measured, census.known - census.measured,
		run->n_nodes - census.known);
}

/* ---- healthy nodes alone ---- */

int cs_fleet_is_healthy(const struct cs_run *run)
{
	struct census census = count_nodes(run);

	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->severity > CS_NOTE)
			return 0;
	return census.measured == run->n_nodes;
}

/* "  class X: 1000 nodes", or how many classes there are. */
static void print_class_count(FILE *to, const struct cs_run *run)
{
	const char *first = "";
	int nodes = 0, others = 0;

	for (int node = 0; node < run->n_nodes; node++) {
		const char *class = cs_class_text(run, node);

		if (!class)
			continue;
		if (!nodes++)
			first = class;
		others += strcmp(first, class) != 0;
	}
	if (others)
		cs_print_line(to, "  %d nodes of class %.40s, %d of others (-v)",
			      nodes - others, first, others);
	else
		cs_print_line(to, "  all of class %.60s", first);
}

/* The figures of the first test, in one line of the narrowest terminal. */
static void print_first_figures(FILE *to, const struct cs_run *run)
{
	const struct cs_vec all = figures_by_test(run);
	const struct figures *f = all.data;
	const struct cs_test *test;
	int d;

	if (!all.n || !f->values.n)
		return;
	test = cs_test_at(f->of.test);
	d = cs_decimals(test);
	cs_print_line(to, "  %.24s %.*f %s, least %.*f (%.20s); %zu more (-v)",
		      test->name, d, cs_median(f->values.data, f->values.n),
		      cs_unit_text(test->unit), d, f->low->stats.median,
		      cell_text(run, f->low), all.n - 1);
}

/* At most six lines, including cs_notices_print()'s. */
void cs_fleet_print_brief(FILE *to, const struct cs_run *run)
{
	cs_print_line(to, "%d nodes, all measured, no fault  cscope-mpi %s  %s",
		      run->n_nodes, run->version, cs_new_start(run));
	print_class_count(to, run);
	print_first_figures(to, run);
	print_counts(to, run, " (-v prints them)");
	cs_actions_print(to, run, 0);
}

/* First the actions for an operator, then their evidence. */
void cs_fleet_print(FILE *to, const struct cs_run *run, int verbose)
{
	struct cs_draft *head = cs_draft_begin();

	cs_actions_print(head->to, run, verbose);
	print_nodes(head->to, run);
	print_figures(head->to, run, verbose);
	print_classes(head->to, run, verbose);
	cs_draft_end(head);
	fwrite(head->text, 1, head->n, to);
	print_findings(to, run, lines_of(head), verbose);
}
