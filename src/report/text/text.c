#include "config.h"

#include "report/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "check/verdict/check.h"
#include "report/text/matrix.h"
#include "report/text/curve.h"
#include "report/text/digest.h"
#include "report/text/slow_cells.h"
#include "report/text/parts.h"
#include "report/text/versus.h"

#define HEAD_LINES 4 /* above a fleet, at most */

/* " x 4", " x 1 to 4": copies per sample; "" when nothing was measured. */
static void copies_text(const struct cs_run *run, char *to, size_t size)
{
	size_t n = cs_rows_count(&run->rows), i;
	uint32_t least = 0, most = 0;

	for (i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (row->status != CS_OK || row->metric != CS_METRIC_RATE ||
		    cs_row_test(row)->bytes)
			continue;
		if (!most || row->copies < least)
			least = row->copies;
		if (row->copies > most)
			most = row->copies;
	}
	to[0] = '\0';
	if (most)
		cs_text(to, size, least < most ? " x %u to %u" : " x %u", least, most);
}

/* Is there a test whose copies are of the size that was asked for? */
static int has_size(const struct cs_plan *plan)
{
	for (uint32_t v = 0; v < plan->n_matrices; v++)
		if (!cs_test_at(cs_plan_matrix_at(plan, v)->test)->bytes)
			return 1;
	return 0;
}

/* "512 MiB", "4 KiB to 1 GiB". */
static void sizes_text(const struct cs_settings *set, char *to, size_t size)
{
	char last[16];

	cs_size_text(set->copy_bytes, to, size);
	if (!set->last_bytes)
		return;
	cs_size_text(set->last_bytes, last, sizeof(last));
	cs_text_add(to, size, " to %s", last);
}

/* Were pairs asked for, and each node has one GPU? */
static int has_no_pairs(const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;

	for (size_t i = 0; i < run->findings.n; i++)
		if (f[i].id == CS_FINDING_ONE_GPU)
			return run->plan && run->plan->n_agents == 1;
	return 0;
}

void cs_notices_print(FILE *to, const struct cs_run *run)
{
	char mask[200];

	if (run->stand_in)
		cs_fold(to, 0, 2,
			"NO GPU: host memory stands in; CPUs make the copies, so figures say nothing about GPU links");
	else if (cs_on_cpu(run))
		cs_fold(to, 0, 2, "cpu backend: host memory, copies by CPU");
	cs_mask_text(run, mask, sizeof(mask));
	if (mask[0])
		cs_fold(to, 0, 2, "%s", mask);
	if (run->virtual_clock)
		cs_fold(to, 0, 2, "%s", CS_MEASURED_WITH_DOUBLE);
}

void cs_head_print(FILE *to, const struct cs_run *run)
{
	char size[40] = "", copies[32] = "", time[32], asked[512] = "", job[112] = "";

	/* of a plan file each transfer has its own */
	if (run->plan && !run->plan_file && has_size(run->plan))
		sizes_text(&run->plan->set, size, sizeof(size));
	if (!run->plan_file)
		copies_text(run, copies, sizeof(copies));
	cs_time_text(&run->started, time, sizeof(time));
	if (run->matrix_text && run->matrix_text[0])
		cs_text(asked, sizeof(asked), "  %s", run->matrix_text);
	if (cs_only_checked(run))
		cs_text(job, sizeof(job), "  %s%s, %d rank%s",
			strcmp(run->launcher, "none") ? "" : "no launcher",
			strcmp(run->launcher, "none") ? run->launcher : "",
			run->n_ranks, run->n_ranks == 1 ? "" : "s");
	if (run->job_id[0])
		cs_text_add(job, sizeof(job), "  job %s", run->job_id);
	cs_fold(to, 0, 2, "cscope-mpi %s%s%s%s%s%s%s%s", run->version, asked,
		size[0] ? "  " : "", size, copies, time[0] ? "  " : "", time, job);
}

/* The curve that begins with a matrix, if one does. */
static int print_curve(FILE *to, const struct cs_run *run, int first, int last,
		       uint32_t index)
{
	if (!cs_curve_points(run, index))
		return 0;
	putc('\n', to);
	return cs_curve_print(to, run, first, last, index);
}

/* Of which tests there are rows, on nodes [first, last), and which ones have none: their
 * tables would be empty. */
struct begun {
	const struct cs_run *run;
	int first, last;
	char *is; /* by test; malloc'ed */
	size_t n_not;
	uint32_t last_not;
	char not[2000]; /* their names */
};

static int begun_init(struct begun *b, const struct cs_run *run, int first, int last)
{
	size_t n;

	cs_catalogue(&n);
	*b = (struct begun){
		.run = run, .first = first, .last = last, .is = calloc(n, 1)
	};
	for (int node = first; b->is && node < last; node++) {
		const struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);

		for (size_t i = 0; i < rows.n; i++)
			b->is[cs_listed(&rows, i)->test] = 1;
	}
	return b->is ? 0 : -1;
}

/* 1: it has begun; 0: not, and it is recorded as missing; -1: no memory. */
static int is_begun(struct begun *b, uint32_t index)
{
	uint32_t test = cs_grid_test(b->run, index);
	size_t planned = 0;
	struct cs_grid grid;

	if (b->is[test])
		return 1;
	/* sizes and opposite directions of one test follow each other */
	if (b->n_not && b->last_not == test)
		return 0;
	for (int node = b->first; node < b->last && !planned; node++) {
		if (cs_grid_init(&grid, b->run, node, index))
			return -1;
		planned = grid.n_planned;
		cs_grid_release(&grid);
	}
	if (!planned)
		return 0;
	cs_text_add(b->not, sizeof(b->not), "%s%s", b->n_not++ ? ", " : "",
		    cs_test_at(test)->name);
	b->last_not = test;
	return 0;
}

static void begun_end(FILE *to, struct begun *b)
{
	if (b->n_not) {
		putc('\n', to);
		cs_fold(to, 0, 2,
			"%zu test%s not begun, for the run ended before: "
			"%s",
			b->n_not, b->n_not == 1 ? "" : "s", b->not);
	}
	free(b->is);
}

/* ---- which matrices ---- */

#define FEW 200    /* lines of matrices and sweeps: they are all printed */
#define ODD_MOST 2 /* of more, those in which something is odd */
#define COSTS_MOST 4 /* agents, of whose start and CPU time there is a table */
/* Tests that are compared in tables of their own; of more the medians by method do. */
#define TABLES_MOST 200

/* Which matrices a report has, by index; a sweep counts as one. */
struct choice {
	char *is; /* malloc'ed */
	size_t of, n;
};

/* About as many lines as its matrix, or its sweep, has. */
static size_t lines_of(const struct cs_digest *d, const struct cs_digest_line *line)
{
	const struct cs_run_node *nd = &d->run->node[d->first];
	size_t rows = (size_t)nd->facts.n_agents;

	if (cs_curve_holds(d->run, line->index))
		return 5 + line->points;
	if (cs_test_is_list(line->test) || line->test->path == CS_PATH_H2D)
		rows = 1;
	return 5 + rows;
}

static int choose(struct choice *choice, const struct cs_digest *d, int verbose)
{
	const struct cs_digest_line *line = d->lines.data;
	uint32_t n = cs_grids(d->run);
	size_t lines = 0;

	for (size_t i = 0; i < d->lines.n; i++)
		lines += lines_of(d, &line[i]);
	*choice = (struct choice){ .is = calloc(n + 1, 1), .of = d->lines.n };
	for (size_t i = 0; choice->is && i < d->lines.n; i++) {
		int is = verbose || lines <= FEW ||
			 (cs_digest_is_notable(&line[i]) && choice->n < ODD_MOST);

		choice->n += is != 0;
		for (uint32_t v = line[i].curve; is && v < n; v++)
			choice->is[v] |= cs_curve_first(d->run, v) == line[i].curve;
	}
	return choice->is ? 0 : -1;
}

/* Print what was omitted, and how to see it. */
static void print_rest(FILE *to, const struct choice *choice, int verbose)
{
	size_t hidden = choice->of - choice->n;

	putc('\n', to);
	if (hidden)
		cs_fold(to, 0, 2,
			"%zu of %zu matrices are not shown: -v prints all, "
			"-o FILE.json keeps them for 'cscope-mpi show FILE.json'",
			hidden, choice->of);
	else if (!verbose)
		cs_fold(to, 0, 2,
			"-v prints every sample; with -o FILE.json, 'cscope-mpi "
			"show FILE.json --cell A,B' shows one cell");
	else
		cs_fold(to, 0, 2,
			"with -o FILE.json, 'cscope-mpi show FILE.json --cell A,B' "
			"shows "
			"one cell");
}

/* The run, and the parts to print. */
struct report {
	struct cs_digest digest;
	struct choice choice;
	int verbose;
};

/* Is there room for tables of calls, and of ways to bring data to a kernel, that repeat
 * medians in another order? */
static int has_tables(const struct report *r)
{
	return r->verbose || r->digest.lines.n <= TABLES_MOST;
}

static int report_init(struct report *r, const struct cs_run *run, int verbose)
{
	*r = (struct report){ .verbose = verbose };
	if (cs_digest_make(&r->digest, run, 0, run->n_nodes))
		return -1;
	return choose(&r->choice, &r->digest, verbose);
}

static void report_release(struct report *r)
{
	cs_digest_release(&r->digest);
	free(r->choice.is);
}

/* Print one matrix of a node after a blank line, if the node has it: a node with one GPU
 * has no pairs, and the others do not have its tests. */
static int print_matrix(FILE *to, const struct cs_digest *d, int node, uint32_t index,
			int verbose)
{
	const struct cs_run *run = d->run;
	struct cs_grid grid;

	if (cs_grid_init(&grid, run, node, index))
		return -1;
	if (cs_odd_mark(&d->likeness, &grid)) {
		cs_grid_release(&grid);
		return -1;
	}
	if (grid.n_planned || run->n_nodes == 1) {
		putc('\n', to);
		cs_matrix_heading(to, &grid);
		cs_matrix_node(to, &grid, verbose);
	}
	cs_grid_release(&grid);
	return 0;
}

/* The matrices of one node. */
static int print_matrices(FILE *to, const struct report *r, int node)
{
	const struct cs_run *run = r->digest.run;
	struct begun begun;
	int rc = begun_init(&begun, run, node, node + 1);

	for (uint32_t v = 0; v < cs_grids(run) && !rc; v++) {
		int is = is_begun(&begun, v);

		if (is > 0 && has_tables(r) && cs_calls_begins(run, v))
			cs_calls_print(to, run, node, node + 1);
		if (is > 0 &&
		    ((cs_calls_holds(run, v) && !r->verbose) || !r->choice.is[v]))
			continue;
		rc = is < 0 ? -1 : !is ? 0 : print_curve(to, run, node, node + 1, v);
		if (is > 0 && !rc && (!cs_curve_holds(run, v) || r->verbose))
			rc = print_matrix(to, &r->digest, node, v, r->verbose);
	}
	begun_end(to, &begun);
	if (!rc && has_tables(r))
		rc = cs_ways_print(to, run, node, node + 1);
	if (!rc)
		cs_best_print(to, run, node, node + 1);
	return rc;
}

/* Was a test requested that measures the cost of a placement? */
static int has_costs(const struct cs_run *run)
{
	uint32_t v;

	for (v = 0; run->plan && v < run->plan->n_matrices; v++)
		if (cs_test_matrices(cs_test_at(cs_plan_matrix_at(run->plan, v)->test)) ==
		    CS_MATRIX_COST)
			return 1;
	return 0;
}

static int print_one(FILE *to, const struct report *r, int node)
{
	const struct cs_run *run = r->digest.run;
	char text[512];

	cs_node_text(run, node, text, sizeof(text));
	cs_fold(to, 0, 2, "%s  %s", run->node[node].facts.host, text);
	putc('\n', to);
	cs_node_table(to, run, node, r->verbose);
	if ((r->verbose ||
	     (has_costs(run) && run->node[node].facts.n_agents <= COSTS_MOST)) &&
	    cs_agent_costs_print(to, run, node))
		return -1;
	if (run->plan_file && run->plan) {
		putc('\n', to);
		return cs_steps_print(to, run, node);
	}
	return print_matrices(to, r, node);
}

#define KIND 512
struct kinds {
	char (*text)[KIND]; /* by node: its line without the host */
	int *first;	    /* by node: the first node like it */
	int *nodes;	    /* room for a list */
};

static int kinds_init(struct kinds *kinds, const struct cs_run *run)
{
	size_t n = (size_t)run->n_nodes;
	int i, k;

	kinds->text = calloc(n, sizeof(*kinds->text));
	kinds->first = calloc(n, sizeof(*kinds->first));
	kinds->nodes = calloc(n, sizeof(*kinds->nodes));
	if (!kinds->text || !kinds->first || !kinds->nodes)
		return -1;
	for (i = 0; i < run->n_nodes; i++) {
		cs_node_text(run, i, kinds->text[i], KIND);
		for (k = 0; k < i; k++)
			if (kinds->first[k] == k &&
			    strcmp(kinds->text[k], kinds->text[i]) == 0)
				break;
		kinds->first[i] = k;
	}
	return 0;
}

static void kinds_release(struct kinds *kinds)
{
	free(kinds->text);
	free(kinds->first);
	free(kinds->nodes);
}

int cs_node_kinds_print(FILE *to, const struct cs_run *run, char *differs)
{
	struct kinds kinds = { NULL, NULL, NULL };
	int i, k, most = 0, usual = 0;
	char hosts[512];

	if (kinds_init(&kinds, run)) {
		kinds_release(&kinds);
		return -1;
	}
	for (i = 0; i < run->n_nodes; i++) {
		int count = 0;

		for (k = i; k < run->n_nodes; k++)
			if (kinds.first[k] == i)
				kinds.nodes[count++] = k;
		if (!count)
			continue;
		if (count > most) {
			most = count;
			usual = i;
		}
		cs_hosts_text(run, kinds.nodes, (size_t)count, hosts, sizeof(hosts));
		cs_fold(to, 0, 2, "%s  %s", hosts, kinds.text[i]);
	}
	for (i = 0; i < run->n_nodes; i++)
		differs[i] = kinds.first[i] != usual;
	kinds_release(&kinds);
	return 0;
}

static void print_like(FILE *to, const struct cs_run *run, const char *differs,
		       int verbose)
{
	int *nodes = calloc((size_t)run->n_nodes, sizeof(*nodes)), i;
	size_t n = 0;
	char hosts[512] = "none";

	for (i = 0; nodes && i < run->n_nodes; i++)
		if (!differs[i])
			nodes[n++] = i;
	if (n)
		cs_hosts_text(run, nodes, n, hosts, sizeof(hosts));
	cs_fold(to, 0, 2, "%zu of %d nodes alike, every cell within 1 %%: %s%s", n,
		run->n_nodes, hosts, verbose || !n ? "" : " (-v prints each)");
	free(nodes);
}

static int print_aggregates(FILE *to, const struct report *r, char *differs)
{
	const struct cs_run *run = r->digest.run;
	struct begun begun;
	int rc = begun_init(&begun, run, 0, run->n_nodes);

	for (uint32_t v = 0; v < cs_grids(run) && !rc; v++) {
		int is = is_begun(&begun, v);

		if (is > 0 && has_tables(r) && cs_calls_begins(run, v))
			cs_calls_print(to, run, 0, run->n_nodes);
		if (is > 0 && cs_calls_holds(run, v))
			continue;
		rc = is < 0 ? -1 : !is ? 0 : print_curve(to, run, 0, run->n_nodes, v);
		if (is > 0 && !rc && !cs_curve_holds(run, v))
			rc = cs_aggregate_print(to, &r->digest, v, differs);
	}
	begun_end(to, &begun);
	if (!rc && has_tables(r))
		rc = cs_ways_print(to, run, 0, run->n_nodes);
	if (!rc)
		cs_best_print(to, run, 0, run->n_nodes);
	return rc;
}

static int print_many(FILE *to, const struct report *r)
{
	const struct cs_run *run = r->digest.run;
	char *differs = calloc((size_t)run->n_nodes, 1);
	int node, rc = -1, verbose = r->verbose;

	if (!differs || cs_node_kinds_print(to, run, differs) ||
	    print_aggregates(to, r, differs))
		goto out;
	if (!run->plan_file) {
		putc('\n', to);
		print_like(to, run, differs, verbose);
	}
	for (node = 0; node < run->n_nodes; node++) {
		/* for a node without agents the line above is all */
		if (!run->node[node].facts.n_agents ||
		    (!differs[node] && !verbose && !run->plan_file))
			continue;
		putc('\n', to);
		if (print_one(to, r, node))
			goto out;
	}
	rc = 0;
out:
	free(differs);
	return rc;
}

/* Print the memory that a placement holds, also while another has its turn. */
static void print_held(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int64_t gpu = 0, host = 0;
	int a, b, processes = 0;

	for (a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_agent_facts *f = &nd->agent[a];

		if (f->before.ours_bytes > gpu)
			gpu = f->before.ours_bytes;
		for (b = 0; b < a && nd->agent[b].pid != f->pid; b++)
			;
		if (b < a)
			continue;
		processes++;
		host += f->usage.host_bytes > 0 ? f->usage.host_bytes : 0;
	}
	if (gpu && host)
		cs_fold(to, 2, 4,
			"holds %.0f MiB of each GPU and %.0f MiB of host "
			"memory in %d process%s",
			(double)gpu / (1 << 20), (double)host / (1 << 20), processes,
			processes == 1 ? "" : "es");
}

/* Of all tests: tables of a comparison have several. */
static void print_notes(FILE *to, const struct cs_run *run)
{
	uint32_t v;

	for (v = 0; run->plan && v < run->plan->n_matrices; v++)
		cs_matrix_note(to, run, cs_plan_matrix_at(run->plan, v));
}

/* Print compared placements: the node, then both side by side, by their turns. */
static int print_placements(FILE *to, const struct report *r,
			    const struct cs_run *turns)
{
	const struct cs_run *run = r->digest.run;
	struct cs_versus v;
	struct cs_err err;
	char text[512];
	int node, k, none, verbose = r->verbose;

	for (node = 0; node < run->n_nodes; node++) {
		if (verbose) {
			if (print_one(to, r, node))
				return -1;
			putc('\n', to);
			continue;
		}
		cs_node_text(run, node, text, sizeof(text));
		cs_fold(to, 0, 2, "%s  %s", run->node[node].facts.host, text);
		print_held(to, run, node);
	}
	for (node = 0; node < run->n_nodes && !verbose && has_costs(run); node++) {
		putc('\n', to);
		cs_print(to, "  %s  %s", run->node[node].facts.host,
			 run->node[node].facts.placement);
		if (cs_agent_costs_print(to, run, node))
			return -1;
	}
	for (k = 1; !(none = cs_versus_placements(turns, k, run->margin, &v, &err));
	     k++) {
		putc('\n', to);
		cs_versus_print(to, &v, verbose);
		cs_versus_release(&v);
	}
	print_notes(to, run);
	return none < 0 ? -1 : 0;
}

/* Many nodes that were compared with each other. */
static int is_fleet(const struct cs_run *run)
{
	return run->checks & CS_CHECK_TOPOLOGY && run->n_nodes > 1 &&
	       !cs_run_is_other_placement(run, 1);
}

/* Print what was checked, if nothing was measured. */
static int print_only_checked(FILE *to, const struct cs_run *run)
{
	if (run->checks & CS_CHECK_LAUNCH)
		cs_launch_print(to, run);
	if (run->checks & CS_CHECK_LAUNCH && run->checks & CS_CHECK_TOPOLOGY)
		putc('\n', to);
	if (run->checks & CS_CHECK_TOPOLOGY) {
		if (cs_topology_print(to, run))
			return -1;
		putc('\n', to);
	}
	cs_findings_print(to, run);
	return 0;
}

/* A sentence for each placement that is compared. */
static int print_sentences(FILE *to, const struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++) {
		struct cs_digest d;

		if (cs_digest_make(&d, run, node, node + 1))
			return -1;
		cs_answer_print(to, &d, run->node[node].facts.placement);
		cs_digest_release(&d);
	}
	putc('\n', to);
	return 0;
}

/* Print the answer: the first lines of the report. */
static int print_answer(FILE *to, const struct report *r)
{
	const struct cs_run *run = r->digest.run;

	/* that nothing is between GPUs, or no GPU there, comes first */
	if (has_no_pairs(run))
		cs_answer_print(to, &r->digest, "ONE GPU");
	cs_notices_print(to, run);
	if (run->n_nodes > 1 && cs_run_is_other_placement(run, 1))
		return print_sentences(to, run);
	if (!has_no_pairs(run))
		cs_answer_print(to, &r->digest, "");
	putc('\n', to);
	if (r->digest.lines.n && cs_digest_print(to, &r->digest, r->verbose))
		return -1;
	if (r->digest.lines.n)
		putc('\n', to);
	return 0;
}

static int print_measured(FILE *to, const struct report *r, const struct cs_run *turns)
{
	const struct cs_run *run = r->digest.run;
	int rc = 0;

	if (print_answer(to, r))
		return -1;
	cs_head_print(to, run);
	if (run->n_nodes == 1)
		rc = print_one(to, r, 0);
	else if (run->n_nodes > 1 && cs_run_is_other_placement(run, 1))
		rc = print_placements(to, r, turns);
	else if (run->n_nodes > 1)
		rc = print_many(to, r);
	putc('\n', to);
	if (cs_summary_print(to, run, r->verbose) || rc)
		return -1;
	print_rest(to, &r->choice, r->verbose);
	return 0;
}

int cs_text_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run, *turns = view->turns;
	const struct cs_view_options *opt = view->opt;
	struct report r;
	int rc;

	if (is_fleet(run) && !run->only[1][0] && !opt->topology && !opt->verbose &&
	    cs_fleet_needs_nobody(run)) {
		cs_notices_print(to, run);
		return cs_fleet_print_brief(to, run);
	}
	if (run->only[1][0] || opt->topology || is_fleet(run) || cs_only_checked(run)) {
		cs_notices_print(to, run);
		cs_head_print(to, run);
		return run->only[1][0] ? cs_cell_print(to, run) :
		       opt->topology   ? cs_topology_print(to, run) :
		       is_fleet(run)   ? cs_fleet_print(to, run, HEAD_LINES,
							opt->verbose) :
					 print_only_checked(to, run);
	}
	rc = report_init(&r, run, opt->verbose) || print_measured(to, &r, turns);
	report_release(&r);
	return rc ? -1 : 0;
}
