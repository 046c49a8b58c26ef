/* between.c - figures between nodes: a matrix of up to 16 nodes, of more a character a cell,
 * the nodes by class, and the worst cells. */
#include "report/text/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "check/link/kind.h"
#include "plan/rounds.h"

#define NODES_OF_MATRIX 16
#define WORST_MOST 5

/* The cells of one matrix over all nodes, or of all rails of a test: those with a figure,
 * best first. */
struct between {
	const struct cs_run *run;
	const struct cs_plan_matrix *matrix; /* the first */
	uint32_t first, end;		     /* of the plan */
	const struct cs_test *test;
	const struct cs_row **row;
	size_t n, planned;
	double median; /* NAN: none has a figure */
};

CS_ORDERING_AT(by_rate, struct cs_row, CS_ORDER(b->stats.median, a->stats.median),
	       CS_ORDER(a->node, b->node))
CS_ORDERING_AT(by_time, struct cs_row, CS_ORDER(a->stats.median, b->stats.median),
	       CS_ORDER(a->node, b->node))

static void add_matrix(struct between *b, uint32_t v)
{
	const struct cs_run *run = b->run;
	const struct cs_plan_matrix *matrix = cs_plan_matrix_at(run->plan, v);

	b->planned += cs_planned_between(run->plan, v, (uint32_t)run->n_nodes);
	for (int node = 0; node < run->n_nodes; node++) {
		CS_EACH_ROW(row, cs_matrix_rows(run, node, matrix))
			if (row->status == CS_OK && cs_row_is(run, row, CS_ROWS_CELLS))
				b->row[b->n++] = row;
	}
}

/* From a matrix on, with all rails of its test. */
static struct between between_of(const struct cs_run *run, uint32_t v)
{
	struct between b = { .run = run,
			     .matrix = cs_plan_matrix_at(run->plan, v),
			     .first = v,
			     .end = v };
	double *x;

	b.test = cs_test_at(b.matrix->test);
	b.row = cs_new(const struct cs_row *, cs_rows_count(&run->rows));
	do
		add_matrix(&b, b.end++);
	while (b.matrix->variant.rail && b.end < run->plan->n_matrices &&
	       cs_plan_matrix_test(run->plan, b.end) == b.test);
	qsort(b.row, b.n, sizeof(*b.row),
	      cs_unit_low_is_better((int)b.test->unit) ? by_time : by_rate);
	x = cs_new(double, b.n);
	for (size_t i = 0; i < b.n; i++)
		x[i] = b.row[i]->stats.median;
	b.median = b.n ? cs_median(x, b.n) : NAN;
	return b;
}

static const char *figure_text(const struct between *b, double x)
{
	return cs_new_text("%.*f", cs_decimals(b->test), x);
}

static const char *cell_text(const struct between *b, const struct cs_row *row)
{
	const int rail = row->what.variant.rail - 1;

	return cs_new_text("%s %s%s", figure_text(b, row->stats.median),
			   cs_pair_label(b->run, (int)row->node, &row->what).text,
			   rail < 0 ? "" : cs_new_text(" on rail %d", rail));
}

/* ", 92 % of the port" of the cell in the middle; "" unknown. */
static const char *share_text(const struct between *b)
{
	const struct cs_row *row = b->row[b->n / 2];
	const double share = row->stats.median / cs_row_peak_gbs(b->run, row);

	return share > 0 ? cs_new_text(", %.0f %% of the port", 100 * share) : "";
}

/* The figure of a cell, or its status. */
static void add_cell(struct cs_columns *t, const struct between *b, int src, int dst)
{
	const struct cs_row *found = NULL;

	CS_EACH_ROW(row, cs_matrix_rows(b->run, src, b->matrix))
		if (row->what.dst.index == dst && cs_row_is(b->run, row, CS_ROWS_CELLS))
			found = row;
	cs_columns_add(t, "%s",
		       !found		      ? "-" :
		       found->status != CS_OK ? cs_status_text(found->status) :
						figure_text(b, found->stats.median));
}

static void print_matrix(FILE *to, const struct between *b)
{
	struct cs_columns t = { 0 };
	const char *heads = "<from\\to";

	for (int dst = 0; dst < b->run->n_nodes; dst++)
		heads = cs_new_longer(heads, ",node%d", dst);
	cs_columns_heads(&t, cs_new_longer(heads, "\n"));
	for (int src = 0; src < b->run->n_nodes; src++) {
		cs_columns_add(&t, "node%d", src);
		for (int dst = 0; dst < b->run->n_nodes; dst++)
			add_cell(&t, b, src, dst);
		cs_columns_end_line(&t);
	}
	cs_columns_print(to, &t, 2);
}

/* The median of what a node sends on a rail, or the status of a cell. */
static void add_rail(struct cs_columns *t, const struct between *b, int node,
		     const struct cs_plan_matrix *rail)
{
	const struct cs_row_list rows = cs_matrix_rows(b->run, node, rail);
	double *x = cs_new(double, rows.n);
	const char *text = "-";
	size_t n = 0;

	CS_EACH_ROW(row, rows) {
		if (!cs_row_is(b->run, row, CS_ROWS_CELLS))
			continue;
		text = cs_status_text(row->status);
		if (row->status == CS_OK)
			x[n++] = row->stats.median;
	}
	cs_columns_add(t, "%s", n ? figure_text(b, cs_median(x, n)) : text);
}

/* A node a row, a rail a column. */
static void print_rails(FILE *to, const struct between *b)
{
	struct cs_columns t = { 0 };
	const char *heads = "<sent by";

	for (uint32_t v = b->first; v < b->end; v++)
		heads = cs_new_longer(heads, ",rail %d",
				      cs_plan_matrix_at(b->run->plan, v)->variant.rail -
					      1);
	cs_columns_heads(&t, cs_new_longer(heads, "\n"));
	for (int node = 0; node < b->run->n_nodes; node++) {
		cs_columns_add(&t, "node%d", node);
		for (uint32_t v = b->first; v < b->end; v++)
			add_rail(&t, b, node, cs_plan_matrix_at(b->run->plan, v));
		cs_columns_end_line(&t);
	}
	cs_columns_print(to, &t, 2);
}

/* ---- more nodes ---- */

#define SIDE 64	 /* rows of characters, at most */
#define NAMES 40 /* characters of the hosts of a class */

/* "worst: 11.2 node3->node7 (host17 to host21), …" */
static void print_worst(FILE *to, const struct between *b)
{
	const char *text = "";

	for (size_t i = 0; i < b->n && i < WORST_MOST; i++) {
		const struct cs_row *row = b->row[b->n - 1 - i];

		text = cs_join(text, ", ", "%s (%s to %s)", cell_text(b, row),
			       b->run->node[row->node].facts.host,
			       b->run->node[row->what.dst.index].facts.host);
	}
	cs_fold(to, 2, 4, "worst: %s", text);
}

/* A character a cell. */
static void print_characters(FILE *to, const struct between *b)
{
	const int room = cs_columns() - 11;
	const char *words;
	const struct cs_grid *grid =
		cs_between_grid(b->run, b->first, room < SIDE ? room : SIDE, &words);

	cs_matrix_cells(to, grid);
	if (*words)
		cs_fold(to, 2, 4, "%s", words);
	if (grid->n_rows < b->run->n_nodes)
		print_worst(to, b);
}

/* A cell of a node, which is at one of its ends: its difference from the median of all. */
struct of_node {
	int node;
	double off;
};
CS_ORDERING(by_node, struct of_node, CS_ORDER(a->node, b->node),
	    CS_ORDER(a->off, b->off))

/* By node; NULL: it has no figure. */
static const struct cs_shade **node_shades(const struct between *b)
{
	const struct cs_shade **shade = cs_new(const struct cs_shade *,
					       b->run->n_nodes);
	struct of_node *cell = cs_new(struct of_node, 2 * b->n);
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct cs_row *row = b->row[i];
		double off = cs_difference(b->test, row->stats.median, b->median);

		cell[n++] = (struct of_node){ (int)row->node, off };
		cell[n++] = (struct of_node){ row->what.dst.index, off };
	}
	qsort(cell, n, sizeof(*cell), by_node);
	CS_EACH_GROUP(i, k, n, cell[k].node == cell[i].node)
		shade[cell[i].node] = cs_shade_of_difference(cell[(i + k - 1) / 2].off);
	return shade;
}

/* "nodes by their median cell: within 1 % 1022; 8 to 25 % 2 (host[0017,0040])": of most
 * nodes without names */
static void print_classes(FILE *to, const struct between *b)
{
	const struct cs_shade **shade = node_shades(b);
	int *node = cs_new(int, b->run->n_nodes);
	const char *text = "";

	for (int s = 0; s < cs_scale_difference.n; s++) {
		size_t n = 0;

		for (int i = 0; i < b->run->n_nodes; i++)
			if (shade[i] == &cs_scale_difference.shade[s])
				node[n++] = i;
		if (n)
			text = cs_join(text, "; ", "%s %zu",
				       cs_scale_difference.shade[s].label, n);
		if (n && 2 * n <= (size_t)b->run->n_nodes)
			text = cs_new_longer(text, " (%s)",
					     cs_hosts_text(b->run, node, n, NAMES));
	}
	cs_fold(to, 2, 4, "nodes by their median cell, against all: %s", text);
}

/* ---- the devices that carried the bytes ---- */

#define CARRIERS_MOST 4
#define SHARE_MOST 1.01 /* above: bytes of others */

struct carriers {
	size_t n; /* different ones; the last room is for the rest */
	struct carrier {
		const char *name;
		size_t cells;
		double counted, sent;
	} at[CARRIERS_MOST + 1];
};

/* "mlx5_0, mlx5_1" of "mlx5_0 52 %, mlx5_1 48 %" */
static const char *only_names(const char *nic)
{
	char *text = cs_new(char, strlen(nic) + 1), *to = text;

	for (const char *at = nic; *at; at++) {
		size_t digits = *at == ' ' ? strspn(at + 1, "0123456789") : 0;

		if (digits && !strncmp(at + 1 + digits, " %", 2))
			at += digits + 2;
		else
			*to++ = *at;
	}
	return text;
}

static void add_carrier(struct carriers *c, const struct cs_row *row, int end)
{
	const char *name = row->apart->nic[end][0] ? only_names(row->apart->nic[end]) :
						     "no NIC";
	double sent = (double)row->what.bytes * row->copies *
		      (row->n_samples + row->discarded);
	size_t i = 0;

	while (i < c->n && i < CARRIERS_MOST && strcmp(c->at[i].name, name) != 0)
		i++;
	if (i == c->n)
		c->at[c->n++].name = i < CARRIERS_MOST ? name : "others";
	c->at[i].cells++;
	c->at[i].counted += row->apart->nic_share[end] * sent;
	c->at[i].sent += sent;
}

/* "sent by mlx5_0 (112 cells, 99.9 % of the bytes), mlx5_3 (8 cells, 100.1 %)" */
static const char *carriers_text(const struct carriers *c)
{
	const char *text = "";

	for (size_t i = 0; i < c->n; i++)
		text = cs_join(text, ", ", "%s (%s, %.1f %%)", c->at[i].name,
			       cs_count_text(c->at[i].cells, "cell"),
			       100 * c->at[i].counted / c->at[i].sent);
	return text;
}

static void print_carriers(FILE *to, const struct between *b)
{
	struct carriers c[2] = { 0 };
	size_t over = 0;

	for (size_t i = 0; i < b->n; i++)
		for (int end = 0; end < 2; end++) {
			double share = b->row[i]->apart->nic_share[end];

			over += share > SHARE_MOST;
			if (!isnan(share))
				add_carrier(&c[end], b->row[i], end);
		}
	if (!c[0].n)
		return;
	cs_fold(to, 2, 4,
		"bytes counted: at the source by %s, at the destination by %s%s",
		carriers_text(&c[0]), carriers_text(&c[1]),
		over ? "; above 101 %: traffic of others, or bytes sent again" : "");
}

/* "median 23.9, 96 % of the port, best 24.0 node0->node1, …" */
static void print_sum(FILE *to, const struct between *b)
{
	const struct cs_settings *set = &b->run->plan->set;
	const uint32_t nodes = (uint32_t)b->run->n_nodes;

	cs_fold(to, 2, 4,
		"median %s%s, best %s, worst %s; %zu of %zu cells, %u of %u rounds; %s",
		figure_text(b, b->median), share_text(b), cell_text(b, b->row[0]),
		cell_text(b, b->row[b->n - 1]), b->n, b->planned,
		cs_rounds_with(b->test, set->shift, nodes, set->rounds),
		cs_rounds_with(b->test, set->shift, nodes, CS_ROUNDS_ALL),
		b->test->pattern == CS_PATTERN_INCAST ?
			"a cell is what its column receives from all that send to it" :
		b->matrix->variant.rail ?
			"one rail at a time, all pairs of a round at the same time" :
			"all pairs of a round at the same time");
}

/* What goes from one half of the nodes to the other, and back. */
static void print_halves(FILE *to, const struct between *b)
{
	double there = 0, back = 0;

	for (size_t i = 0; i < b->n; i++)
		*(b->row[i]->node < b->row[i]->what.dst.index ? &there : &back) +=
			b->row[i]->stats.median;
	cs_fold(to, 2, 4, "sum from the first half to the second %s, back %s%s",
		figure_text(b, there), figure_text(b, back),
		b->n < b->planned ? ": cells are missing" : "");
}

static void print_one(FILE *to, const struct between *b)
{
	const struct cs_run *run = b->run;
	const int is_of_rails = b->matrix->variant.rail != 0;

	putc('\n', to);
	cs_fold(to, 0, 2, "%s, %s (%s)", b->test->title,
		cs_unit_text((int)b->test->unit), b->test->name);
	if (run->n_nodes <= NODES_OF_MATRIX)
		(is_of_rails ? print_rails : print_matrix)(to, b);
	if (!b->n) {
		cs_fold(to, 2, 4, "0 of %zu cells", b->planned);
		return;
	}
	print_sum(to, b);
	if (b->test->pattern == CS_PATTERN_BISECT)
		print_halves(to, b);
	if (run->n_nodes > NODES_OF_MATRIX) {
		print_classes(to, b);
		(is_of_rails ? print_worst : print_characters)(to, b);
	}
	print_carriers(to, b);
}

static int is_measured(const struct cs_run *run)
{
	return run->plan && run->n_nodes > 1 && cs_plan_has_between(run->plan);
}

int cs_message_print(FILE *to, const struct cs_run *run)
{
	const struct cs_message message = cs_message_between(run);

	if (isnan(message.alpha_us) || isnan(message.gbs))
		return 0;
	cs_fold(to, 0, 2,
		"a message between nodes: alpha %.2f us (half a round trip of 16 bytes), "
		"1/beta %.2f GB/s (messages of 1 MiB), n1/2 %s",
		message.alpha_us, message.gbs,
		cs_bytes_text(1e3 * message.alpha_us * message.gbs));
	return 1;
}

static const char *memory_text(const struct cs_plan *plan)
{
	int host = 0, gpu = 0, rails = 0;

	for (uint32_t v = cs_plan_first_between(plan); v < plan->n_matrices; v++) {
		const int of_gpu = cs_plan_matrix_test(plan, v)->path == CS_PATH_NET;

		gpu |= of_gpu;
		host |= !of_gpu;
		rails |= of_gpu && cs_plan_matrix_at(plan, v)->variant.rail;
	}
	if (!gpu)
		return "host memory";
	if (rails)
		return host ? "host memory and GPUs'" : "memory of GPUs";
	return host ? "host memory and the first GPU's" : "memory of the first GPU";
}

void cs_between_print(FILE *to, const struct cs_run *run)
{
	const char *hosts = "";

	if (!is_measured(run))
		return;
	for (int node = 0; node < run->n_nodes && node < NODES_OF_MATRIX; node++)
		hosts = cs_join(hosts, ", ", "node%d %s", node,
				run->node[node].facts.host);
	cs_fold(to, 0, 2, "Between nodes, %s: %s%s", memory_text(run->plan), hosts,
		run->n_nodes > NODES_OF_MATRIX ? ", ..." : "");
	for (uint32_t v = cs_plan_first_between(run->plan);
	     v < run->plan->n_matrices;) {
		const struct between b = between_of(run, v);

		print_one(to, &b);
		v = b.end;
	}
	putc('\n', to);
	if (cs_message_print(to, run))
		putc('\n', to);
}

/* Cards of a node that a row names as the carriers, and the sum of their Gb/s. */
static int cards_of(const struct cs_run *run, const struct cs_row *row, double *gbits)
{
	const struct cs_node_facts *facts = &run->node[row->node].facts;
	int n = 0;

	*gbits = 0;
	for (int i = 0; i < cs_node_cards(facts); i++) {
		const char *name = facts->nic[i].name, *at = row->apart->nic[0];
		const size_t length = strlen(name);

		while (length && (at = strstr(at, name)) && at[length] &&
		       !strchr(" ,", at[length]))
			at += length;
		if (!length || !at)
			continue;
		n++;
		*gbits += facts->nic[i].gbits > 0 ? facts->nic[i].gbits : NAN;
	}
	return n;
}

/* "46.1 GB/s per NIC (92 % of 400 Gb/s)", both without what is not known. */
static const char *rate_text(const struct between *b)
{
	double *rate = cs_new(double, b->n), *gbits = cs_new(double, b->n), gbs, link;
	const char *text;
	size_t known = 0;

	for (size_t i = 0; i < b->n; i++) {
		int n = cards_of(b->run, b->row[i], &gbits[i]);

		known += n > 0;
		rate[i] = b->row[i]->stats.median / (n ? n : 1);
		gbits[i] /= n;
	}
	gbs = cs_median(rate, b->n);
	text = cs_new_text("%s %s", figure_text(b, gbs),
			   cs_unit_text((int)b->test->unit));
	if (known < b->n)
		return text;
	link = cs_median(gbits, b->n);
	return cs_new_text(link > 0 ? "%s per NIC (%.0f %% of %.0f Gb/s)" :
				      "%s per NIC",
			   text, 100 * gbs * 8 / link, link);
}

const char *cs_between_text(const struct cs_run *run)
{
	const char *text = "";

	if (!is_measured(run))
		return text;
	for (uint32_t v = cs_plan_first_between(run->plan);
	     v < run->plan->n_matrices;) {
		const struct between b = between_of(run, v);

		v = b.end;
		if (b.n)
			text = cs_join(
				text, ", ", "%s%s%s",
				b.test->path == CS_PATH_NET ?
					cs_new_text("%s ",
						    cs_op_text((int)b.test->op)) :
					"",
				b.test->unit != CS_UNIT_GBS ?
					"a message " :
				b.test->pattern == CS_PATTERN_PAIR ?
					"" :
				b.test->pattern == CS_PATTERN_BIDI ?
					"both ways " :
					cs_new_text("%s ",
						    cs_pattern_text((int)b.test->pattern)),
				rate_text(&b));
	}
	return cs_after("between nodes ", text);
}
