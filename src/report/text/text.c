#include <string.h>

#include "check/verdict/check.h"
#include "report/text/parts.h"

/* " x 4", " x 1 to 4": copies per sample; "" when nothing was measured. */
static const char *copies_text(const struct cs_run *run)
{
	uint32_t least = 0, most = 0;

	CS_EACH_ROW_OF(row, &run->rows) {
		if (row->status != CS_OK || row->metric != CS_METRIC_RATE ||
		    cs_row_test(row)->bytes)
			continue;
		if (!most || row->copies < least)
			least = row->copies;
		if (row->copies > most)
			most = row->copies;
	}
	if (!most)
		return "";
	return cs_new_text(least < most ? " x %u to %u" : " x %u", least, most);
}

/* "512 MiB", "4 KiB to 1 GiB". */
static const char *sizes_text(const struct cs_settings *set)
{
	const char *first = cs_new_size(set->copy_bytes);

	return set->last_bytes ?
		       cs_new_text("%s to %s", first, cs_new_size(set->last_bytes)) :
		       first;
}

/* Were pairs requested, and has each node one GPU? */
static int has_no_pairs(const struct cs_run *run)
{
	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->id == CS_FINDING_ONE_GPU)
			return run->plan && run->plan->n_agents == 1;
	return 0;
}

/* Are all figures between nodes?  Then nothing stands in for a GPU. */
static int is_only_between(const struct cs_run *run)
{
	return run->plan && !run->plan_file && !cs_plan_first_between(run->plan);
}

void cs_notices_print(FILE *to, const struct cs_run *run)
{
	const char *mask = cs_mask_text(run);

	if (is_only_between(run))
		;
	else if (run->stand_in)
		cs_fold(to, 0, 2,
			"NO GPU: host memory stands in; CPUs make the copies, so figures say nothing about GPU links");
	else if (cs_on_cpu(run))
		cs_fold(to, 0, 2, "cpu backend: host memory, copies by CPU");
	if (mask[0])
		cs_fold(to, 0, 2, "%s", mask);
	if (run->virtual_clock)
		cs_fold(to, 0, 2, "%s", CS_MEASURED_WITH_DOUBLE);
}

void cs_head_print(FILE *to, const struct cs_run *run)
{
	const char *asked = run->matrix_text ? run->matrix_text : "";
	const char *started = cs_new_start(run), *size = "", *copies = "", *job = "";

	/* of a plan file each transfer has its own */
	if (run->plan && !run->plan_file &&
	    CS_ANY(v, run->plan->n_matrices, !cs_plan_matrix_test(run->plan, v)->bytes))
		size = sizes_text(&run->plan->set);
	if (!run->plan_file)
		copies = copies_text(run);
	if (cs_only_checked(run))
		job = cs_new_text("  %s, %s",
				  strcmp(run->launcher, "none") ? run->launcher :
								  "no launcher",
				  cs_count_text((size_t)run->n_ranks, "rank"));
	if (run->job_id[0])
		job = cs_new_longer(job, "  job %s", run->job_id);
	cs_fold(to, 0, 2, "cscope-mpi %s%s%s%s%s%s", run->version,
		cs_after("  ", asked), cs_after("  ", size), copies,
		cs_after("  ", started), job);
}

/* Print the curve that begins with a matrix, if one does. */
static void print_curve(FILE *to, const struct cs_run *run, int first, int last,
			uint32_t index)
{
	if (!cs_curve_points(run, index))
		return;
	putc('\n', to);
	cs_curve_print(to, run, first, last, index);
}

/* The tests that have rows, on nodes [first, last), and the names of those that have none:
 * their tables would be empty. */
struct begun {
	const struct cs_run *run;
	int first, last;
	char *is; /* by test */
	size_t n_not;
	uint32_t last_not;
	char * not; /* their names */
};

static struct begun begun_of(const struct cs_run *run, int first, int last)
{
	struct begun b = { .run = run, .first = first, .last = last };
	size_t n;

	cs_catalogue(&n);
	b.is = cs_new(char, n);
	for (int node = first; node < last; node++) {
		const struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);

		for (size_t i = 0; i < rows.n; i++)
			b.is[cs_listed(&rows, i)->test] = 1;
	}
	return b;
}

static size_t count_planned(const struct begun *b, uint32_t index)
{
	size_t planned = 0;

	for (int node = b->first; node < b->last && !planned; node++) {
		CS_SCOPE;

		planned = cs_grid_new(b->run, node, index)->n_planned;
	}
	return planned;
}

/* Has it begun?  If not, it is recorded as missing. */
static int is_begun(struct begun *b, uint32_t index)
{
	uint32_t test = cs_grid_test(b->run, index);

	if (b->is[test])
		return 1;
	/* sizes and opposite directions of one test follow each other */
	if ((b->n_not && b->last_not == test) || !count_planned(b, index))
		return 0;
	b->not = cs_join(b->not, ", ", "%s", cs_test_at(test)->name);
	b->n_not++;
	b->last_not = test;
	return 0;
}

static void print_not_begun(FILE *to, const struct begun *b)
{
	if (!b->n_not)
		return;
	putc('\n', to);
	cs_fold(to, 0, 2, "%s not started, the run ended early: %s",
		cs_count_text(b->n_not, "test"), b->not);
}

/* ---- which matrices ---- */

#define FEW 200    /* lines of matrices and sweeps: they are all printed */
#define NOTABLE_MOST 2 /* of more, those in which something is odd */
#define COSTS_MOST 4 /* agents, of whose start and CPU time there is a table */
/* Tests that are compared in tables of their own; of more the medians by method do. */
#define TABLES_MOST 200

/* Is a matrix in the report, by index; a sweep counts as one. */
struct choice {
	char *is;
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

static struct choice choose(const struct cs_digest *d, int verbose)
{
	uint32_t n = cs_grids(d->run);
	struct choice choice = { .is = cs_new(char, n), .of = d->lines.n };
	size_t lines = 0;

	CS_EACH(const struct cs_digest_line, line, &d->lines)
		lines += lines_of(d, line);
	CS_EACH(const struct cs_digest_line, line, &d->lines) {
		int is = verbose || lines <= FEW ||
			 (cs_digest_is_notable(line) && choice.n < NOTABLE_MOST);

		choice.n += is != 0;
		for (uint32_t v = line->curve; is && v < n; v++)
			choice.is[v] |= cs_curve_first(d->run, v) == line->curve;
	}
	return choice;
}

/* Print which parts were omitted, and how to show them. */
static void print_rest(FILE *to, const struct choice *choice, int verbose)
{
	size_t hidden = choice->of - choice->n;

	putc('\n', to);
	if (hidden)
		cs_fold(to, 0, 2,
			"%zu of %zu matrices are not shown: -v prints all, "
			"-o FILE.json keeps them for 'cscope-mpi show FILE.json'",
			hidden, choice->of);
	else
		cs_fold(to, 0, 2,
			"%swith -o FILE.json, 'cscope-mpi show FILE.json --cell A,B' "
			"shows one cell",
			verbose ? "" : "-v prints every sample; ");
}

/* The run, and the parts to print. */
struct report {
	const struct cs_digest *digest;
	struct choice choice;
	int verbose;
};

/* Is there room for tables of calls, and of ways to bring data to a kernel, that repeat
 * medians in another order? */
static int has_tables(const struct report *r)
{
	return r->verbose || r->digest->lines.n <= TABLES_MOST;
}

/* Print one matrix of a node after a blank line, if the node has it: a node with one GPU
 * has no pairs, and the others do not have its tests. */
static void print_matrix(FILE *to, const struct cs_digest *d, int node,
			 uint32_t index, int verbose)
{
	CS_SCOPE;
	struct cs_grid *grid = cs_grid_new(d->run, node, index);

	if (!grid->n_planned && d->run->n_nodes != 1)
		return;
	cs_slow_cells_mark(&d->likeness, grid);
	putc('\n', to);
	cs_matrix_heading(to, grid);
	cs_matrix_node(to, grid, verbose);
}

/* The tables, curves and matrices of nodes [first, last): of one node with `differs` NULL,
 * else those that aggregate nodes. */
static void print_matrices(FILE *to, const struct report *r, int first, int last,
			   char *differs)
{
	const struct cs_run *run = r->digest->run;
	struct begun begun = begun_of(run, first, last);

	for (uint32_t v = 0; v < cs_grids(run); v++) {
		int whole = !differs && r->verbose;

		if (!is_begun(&begun, v))
			continue;
		if (has_tables(r) && cs_calls_begins(run, v))
			cs_calls_print(to, run, first, last);
		if ((cs_calls_holds(run, v) && !whole) ||
		    (!differs && !r->choice.is[v]))
			continue;
		print_curve(to, run, first, last, v);
		if (cs_curve_holds(run, v) && !whole)
			continue;
		if (differs)
			cs_aggregate_print(to, r->digest, v, differs);
		else
			print_matrix(to, r->digest, first, v, r->verbose);
	}
	print_not_begun(to, &begun);
	if (has_tables(r))
		cs_ways_print(to, run, first, last);
	cs_best_print(to, run, first, last);
}

/* Was a test requested that measures the cost of a placement? */
static int has_costs(const struct cs_run *run)
{
	return run->plan &&
	       CS_ANY(v, run->plan->n_matrices,
		      cs_test_matrices(cs_plan_matrix_test(run->plan, v)) ==
			      CS_MATRIX_COST);
}

static void print_one(FILE *to, const struct report *r, int node)
{
	const struct cs_run *run = r->digest->run;
	CS_SCOPE;

	cs_fold(to, 0, 2, "%s  %s", run->node[node].facts.host,
		cs_node_text(run, node));
	putc('\n', to);
	cs_node_table(to, run, node, r->verbose);
	if (r->verbose ||
	    (has_costs(run) && run->node[node].facts.n_agents <= COSTS_MOST))
		cs_agent_costs_print(to, run, node);
	if (run->plan_file && run->plan) {
		putc('\n', to);
		cs_steps_print(to, run, node);
	} else {
		print_matrices(to, r, node, node + 1, NULL);
	}
}

void cs_node_kinds_print(FILE *to, const struct cs_run *run, char *differs)
{
	size_t n = (size_t)run->n_nodes;
	const char **text = cs_new(const char *, n); /* by node, without the host */
	int *first = cs_new(int, n);		     /* by node: the first like it */
	int *nodes = cs_new(int, n), most = 0, usual = 0;

	for (int i = 0, k; i < run->n_nodes; i++) {
		text[i] = cs_node_text(run, i);
		for (k = 0; k < i && (first[k] != k || strcmp(text[k], text[i])); k++)
			;
		first[i] = k;
	}
	for (int i = 0; i < run->n_nodes; i++) {
		int count = 0;

		for (int k = i; k < run->n_nodes; k++)
			if (first[k] == i)
				nodes[count++] = k;
		if (!count)
			continue;
		if (count > most) {
			most = count;
			usual = i;
		}
		cs_fold(to, 0, 2, "%s  %s",
			cs_hosts_text(run, nodes, (size_t)count, 512), text[i]);
	}
	for (int i = 0; i < run->n_nodes; i++)
		differs[i] = first[i] != usual;
}

static void print_like(FILE *to, const struct cs_run *run, const char *differs,
		       int verbose)
{
	int *nodes = cs_new(int, run->n_nodes);
	size_t n = 0;

	for (int i = 0; i < run->n_nodes; i++)
		if (!differs[i])
			nodes[n++] = i;
	cs_fold(to, 0, 2, "%zu of %d nodes alike, every cell within 1 %%: %s%s", n,
		run->n_nodes, cs_hosts_text(run, nodes, n, 512),
		verbose || !n ? "" : " (-v prints each)");
}

static void print_many(FILE *to, const struct report *r)
{
	const struct cs_run *run = r->digest->run;
	char *differs = cs_new(char, run->n_nodes);

	cs_node_kinds_print(to, run, differs);
	print_matrices(to, r, 0, run->n_nodes, differs);
	if (!run->plan_file && r->digest->lines.n) {
		putc('\n', to);
		print_like(to, run, differs, r->verbose);
	}
	for (int node = 0; node < run->n_nodes; node++) {
		/* for a node without agents the line above is all */
		if (!run->node[node].facts.n_agents ||
		    (!differs[node] && !r->verbose && !run->plan_file))
			continue;
		putc('\n', to);
		print_one(to, r, node);
	}
}

/* Print the memory that a placement holds, also while another has its turn. */
static void print_held(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int64_t gpu = 0, host = 0;
	int processes = 0;

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_agent_facts *f = &nd->agent[a];

		if (f->before.ours_bytes > gpu)
			gpu = f->before.ours_bytes;
		if (CS_ANY(b, a, nd->agent[b].pid == f->pid))
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

/* Print the nodes of compared placements. */
static void print_placements(FILE *to, const struct report *r)
{
	const struct cs_run *run = r->digest->run;

	for (int node = 0; node < run->n_nodes; node++) {
		if (r->verbose) {
			print_one(to, r, node);
			putc('\n', to);
			continue;
		}
		cs_fold(to, 0, 2, "%s  %s", run->node[node].facts.host,
			cs_node_text(run, node));
		print_held(to, run, node);
	}
	for (int node = 0; node < run->n_nodes && !r->verbose && has_costs(run);
	     node++) {
		putc('\n', to);
		cs_print(to, "  %s  %s", run->node[node].facts.host,
			 run->node[node].facts.placement);
		cs_agent_costs_print(to, run, node);
	}
	/* of all tests: tables of a comparison have several */
	for (uint32_t i = 0; run->plan && i < run->plan->n_matrices; i++)
		cs_matrix_note(to, run, cs_plan_matrix_at(run->plan, i));
}

/* Many nodes that were compared with each other. */
static int is_fleet(const struct cs_run *run)
{
	return run->checks & CS_CHECK_TOPOLOGY && run->n_nodes > 1 &&
	       !cs_run_is_other_placement(run, 1);
}

/* Print which facts were checked, if nothing was measured. */
static void print_only_checked(FILE *to, const struct cs_run *run)
{
	if (run->checks & CS_CHECK_LAUNCH)
		cs_launch_print(to, run);
	if (run->checks & CS_CHECK_LAUNCH && run->checks & CS_CHECK_TOPOLOGY)
		putc('\n', to);
	if (run->checks & CS_CHECK_TOPOLOGY) {
		cs_topology_print(to, run);
		putc('\n', to);
	}
	cs_findings_print(to, run);
}

/* Placements side by side, by their turns, and a sentence for each. */
static void print_sides(FILE *to, const struct cs_run *run,
			const struct cs_run *turns, int verbose)
{
	const struct cs_versus *versus;

	for (int k = 1; (versus = cs_versus_placements(turns, k, turns->margin)); k++) {
		cs_versus_print(to, versus, verbose);
		putc('\n', to);
	}
	for (int node = 0; node < run->n_nodes; node++)
		cs_answer_print(to, cs_digest_new(run, node, node + 1),
				run->node[node].facts.placement);
	putc('\n', to);
}

/* Print the answer: the first lines of the report. */
static void print_answer(FILE *to, const struct report *r, const struct cs_run *turns)
{
	const struct cs_run *run = r->digest->run;

	/* that nothing is between GPUs, or that there is no GPU, comes first */
	if (has_no_pairs(run))
		cs_answer_print(to, r->digest, "ONE GPU");
	cs_notices_print(to, run);
	if (run->n_nodes > 1 && cs_run_is_other_placement(run, 1)) {
		print_sides(to, run, turns, r->verbose);
		return;
	}
	if (run->of_passes)
		cs_passes_print(to, r->digest, turns);
	if (!has_no_pairs(run))
		cs_answer_print(to, r->digest, "");
	putc('\n', to);
	if (!r->digest->lines.n)
		return;
	cs_digest_print(to, r->digest, r->verbose);
	putc('\n', to);
	cs_why_print(to, r->digest);
	cs_levels_print(to, run);
	if (has_tables(r))
		cs_products_print(to, run);
	if (run->workload.flops > 0) {
		cs_workload_print(to, run);
		putc('\n', to);
	}
}

static void print_measured(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	const int verbose = view->opt->verbose;
	struct report r = { .digest = cs_digest_new(run, 0, run->n_nodes),
			    .verbose = verbose };

	r.choice = choose(r.digest, verbose);
	print_answer(to, &r, view->turns);
	cs_head_print(to, run);
	cs_between_print(to, run);
	if (run->n_nodes == 1)
		print_one(to, &r, 0);
	else if (run->n_nodes > 1 && cs_run_is_other_placement(run, 1))
		print_placements(to, &r);
	else if (run->n_nodes > 1)
		print_many(to, &r);
	putc('\n', to);
	cs_summary_print(to, run, verbose);
	print_rest(to, &r.choice, verbose);
}

static void print_fleet(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;

	if (run->of_passes)
		cs_passes_print(to, cs_digest_new(run, 0, run->n_nodes), view->turns);
	if (!view->opt->verbose && cs_fleet_is_healthy(run)) {
		cs_fleet_print_brief(to, run);
		return;
	}
	cs_fleet_print(to, run, view->opt->verbose);
	cs_head_print(to, run);
}

void cs_text_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	const struct cs_view_options *opt = view->opt;
	int is_whole = !run->only[1][0] && !opt->topology;

	if (is_whole && !is_fleet(run) && !cs_only_checked(run)) {
		print_measured(to, view);
		return;
	}
	cs_notices_print(to, run);
	if (is_whole && is_fleet(run)) {
		print_fleet(to, view);
		return;
	}
	cs_head_print(to, run);
	if (run->only[1][0])
		cs_cell_print(to, run);
	else if (opt->topology)
		cs_topology_print(to, run);
	else
		print_only_checked(to, run);
}
