#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "plan/alias.h"
#include "plan/file.h"
#include "report/report.h"
#include "result/grid.h"

/* For --dry-run, in GB/s: copies by one CPU core. */
#define EXPECTED_CPU 10

static const char *backend_text(uint32_t backend)
{
	return backend == CS_BACKEND_CPU ? "cpu" : "cuda";
}

/* What --matrix peer, and no choice at all, means (CATALOGUE: ce, or cpu without
 * a GPU; write; pair and bidi). */
static int is_default(const struct cs_test *test)
{
	return (cs_test_matrices(test) & CS_MATRIX_PEER) && test->op == CS_OP_WRITE &&
	       test->pattern <= CS_PATTERN_BIDI &&
	       (test->method == CS_METHOD_CE || test->method == CS_METHOD_CPU);
}

/* "device_to_device_memcpy_read_ce  peer.ce.read.pair" */
static void list_aliases(FILE *to, const char *tool, const char *prefix,
			 int (*is_of)(const struct cs_alias *))
{
	size_t n, i;
	const struct cs_alias *alias = cs_aliases(&n);
	int width = 0;

	for (i = 0; i < n; i++)
		if (is_of(&alias[i]) && (int)strlen(alias[i].name) > width)
			width = (int)strlen(alias[i].name);
	putc('\n', to);
	cs_print_line(to, "Names of %s that --test takes too:", tool);
	for (i = 0; i < n; i++)
		if (is_of(&alias[i]) && cs_alias_test(&alias[i]) >= 0)
			cs_print_line(to, "  %s%-*s  %s%s", prefix, width,
				      alias[i].name, alias[i].test,
				      alias[i].variant.cache == CS_CACHE_COLD ?
					      ", cold" :
					      "");
}

#define SUITE_MOST 250 /* characters; what is longer is told in words */

static void list_suites(FILE *to)
{
	fputs("\nSuites:\n", to);
	for (size_t i = 0; cs_suite_name(i); i++) {
		const char *tests = cs_suite(cs_suite_name(i));

		cs_print_line(to, "  %-11s  %s", cs_suite_name(i),
			      strlen(tests) <= SUITE_MOST ?
				      tests :
				      "the 27 benchmarks of its paper and 7 that flush caches, "
				      "as far as they are in the list above");
	}
}

int cs_report_list(FILE *to)
{
	const struct cs_test *test;
	size_t n, i;
	int width = 0;

	test = cs_catalogue(&n);
	for (i = 0; i < n; i++)
		if ((int)strlen(test[i].name) > width)
			width = (int)strlen(test[i].name);
	for (i = 0; i < n; i++)
		cs_print_line(to, "%c %-*s  %-4s  %s",
			      is_default(&test[i]) ? '*' : ' ', width, test[i].name,
			      backend_text(test[i].backend), test[i].summary);
	fputs("* of the backend in use: measured by --matrix peer, and when nothing "
	      "is asked for\n",
	      to);
	list_aliases(to, "nvbandwidth", "", cs_alias_is_of_nvbandwidth);
	list_aliases(to, "Comm|Scope", CS_SCOPE_PREFIX, cs_alias_is_of_commscope);
	list_suites(to);
	return ferror(to) ? -1 : 0;
}

static uint64_t largest_arena(const struct cs_plan *plan)
{
	struct cs_arena_layout layout;
	uint64_t most = 0;
	uint32_t a;

	for (a = 0; a < plan->n_agents; a++) {
		cs_plan_arena_wide(plan, (int)a, (int)plan->n_agents, UINT64_MAX,
				   &layout);
		if (layout.total_bytes > most)
			most = layout.total_bytes;
	}
	return most;
}

/* When its cells are measured; NULL: the heading says it. */
static const char *when(const struct cs_plan *plan, uint32_t matrix)
{
	size_t n;
	const struct cs_test *test =
		&cs_catalogue(&n)[cs_plan_matrix_at(plan, matrix)->test];

	for (uint32_t s = 0; s < plan->n_steps; s++)
		if (cs_plan_step(plan, s)->matrix == matrix &&
		    cs_plan_step(plan, s)->round)
			return plan->set.schedule == CS_SCHEDULE_PARALLEL ?
				       "some pairs at the same time" :
				       "some pairs at the same time if that changes nothing";
	return test->alone;
}

static void print_matrices(FILE *to, const struct cs_plan *plan)
{
	size_t n;
	const struct cs_test *test = cs_catalogue(&n);
	uint32_t v;

	for (v = 0; v < plan->n_matrices; v++) {
		const struct cs_plan_matrix *matrix = cs_plan_matrix_at(plan, v);

		cs_print(to, "test      %s  %s, ", test[matrix->test].name,
			 cs_test_title(&test[matrix->test], 0, when(plan, v)).text);
		if (!cs_variant_is_usual(&matrix->variant))
			cs_print(to, "%s, ", cs_variant_words(&matrix->variant).text);
		if (matrix->steps)
			cs_print_line(to, "%" PRIu32 " step%s", matrix->steps,
				      matrix->steps == 1 ? "" : "s");
		else
			fputs("as load\n", to);
	}
}

static void put_end(FILE *to, const struct cs_endpoint *end)
{
	if (!cs_endpoint_is_numa(end))
		cs_print(to, "%d", end->index);
	else if (end->index == CS_NUMA_LOCAL)
		fputs("host", to);
	else
		cs_print(to, "numa%d", end->index);
}

static void print_steps(FILE *to, const struct cs_plan *plan)
{
	char name[CS_STEP_NAME];
	uint32_t s, k;

	for (s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		cs_step_name(plan, step, name, sizeof(name));
		cs_print(to, "step %-4s %s ", name, cs_plan_test(plan, step)->name);
		for (k = 0; k < step->count; k++) {
			const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

			putc(' ', to);
			put_end(to, &t->src);
			fputs("->", to);
			put_end(to, &t->dst);
			cs_print(to, " by %d%s", t->issuer,
				 cs_transfer_is_load(t) ? " (load)" : "");
		}
		cs_print_line(to, "%s",
			      step->flags & CS_STEP_CONTROL ? "  control" : "");
	}
}

int cs_report_plan(FILE *to, const struct cs_plan *plan, const char *file, int verbose)
{
	int cpu = plan->set.backend == CS_BACKEND_CPU;
	double rate = cpu ? EXPECTED_CPU : CS_EXPECTED_GBS;
	char size[16], arena[16];

	cs_size_text(plan->set.copy_bytes, size, sizeof(size));
	cs_size_text(largest_arena(plan), arena, sizeof(arena));
	cs_print_line(to,
		      "nothing was measured: this is the plan for %" PRIu32
		      " agent%s on each node, %s backend",
		      plan->n_agents, plan->n_agents == 1 ? "" : "s",
		      backend_text(plan->set.backend));
	print_matrices(to, plan);
	cs_print_line(to,
		      "plan      %" PRIu32 " steps, %" PRIu32
		      " transfers, id %016" PRIx64,
		      plan->n_steps, plan->n_transfers, plan->id);
	cs_print_line(to, "size      %s a copy", size);
	cs_print_line(to, "memory    %s %s agent", arena,
		      cpu ? "of host memory per" : "on the GPU of each");
	cs_print_line(to,
		      "time      about %.1f s of measuring at %.0f GB/s, start apart",
		      cs_plan_estimate_s(plan, rate), rate);
	if (file)
		cs_print_line(to, "order     as in %s", file);
	else
		cs_print_line(to, "order     shuffled by seed %" PRIu64 "",
			      plan->set.seed);
	if (verbose)
		print_steps(to, plan);
	return ferror(to) ? -1 : 0;
}
