#include "command/command.h"

#include <inttypes.h>
#include <string.h>

#include "catalogue/alias.h"

static const char *name_of(enum cs_backend_kind backend)
{
	return backend == CS_BACKEND_CPU ? "cpu" : "cuda";
}

/* Choose the tests that the options request on that backend. */
static void choose(const struct cs_options *opt, enum cs_backend_kind backend,
		   struct cs_choices *to)
{
	to->n = 0;
	if (cs_options_choose(opt, backend, to, NULL))
		to->n = 0;
}

/* Is one of the chosen tests on that path? */
static int has_path(const struct cs_choices *chosen, enum cs_path path)
{
	return CS_ANY(i, chosen->n, cs_test_at(chosen->choice[i].test)->path == path);
}

/* "h2d, d2h" */
static void paths_lost(const struct cs_options *opt, enum cs_backend_kind backend,
		       char *to, size_t size)
{
	enum cs_backend_kind other = backend == CS_BACKEND_CPU ? CS_BACKEND_CUDA :
								 CS_BACKEND_CPU;
	struct cs_choices here, there;
	enum cs_path path;

	choose(opt, backend, &here);
	choose(opt, other, &there);
	to[0] = '\0';
	for (path = CS_PATH_PEER; here.n && path <= CS_PATH_HOST; path++)
		if (has_path(&there, path) && !has_path(&here, path))
			cs_text_add(to, size, "%s%s", to[0] ? ", " : "",
				    cs_path_text(path));
}

void cs_left_out_backend(const struct cs_options *opt, enum cs_backend_kind backend,
			 char *to, size_t size)
{
	int missing = cs_costs_missing(opt->axes.matrices, backend);
	char lost[64] = "";

	to[0] = '\0';
	if (opt->suite || opt->axes.matrices)
		paths_lost(opt, backend, lost, sizeof(lost));
	if (lost[0])
		cs_text(to, size,
			"%s of %s: left out, the %s backend does not measure it",
			lost, opt->matrix_text, name_of(backend));
	if (missing)
		cs_text_add(to, size,
			    "%s%d test%s of %s %s left out: the %s backend has no driver "
			    "whose calls cost anything",
			    lost[0] ? "; " : "", missing, missing == 1 ? "" : "s",
			    opt->matrix_text, missing == 1 ? "is" : "are",
			    name_of(backend));
}

void cs_left_out_names(const struct cs_options *opt, enum cs_backend_kind backend,
		       char *to, size_t size)
{
	struct cs_choices chosen;
	char item[CS_ITEM];
	struct cs_err err, first = { "" };
	int lost = 0, all = 0;

	to[0] = '\0';
	if (!opt->suite || strcmp(opt->suite, "commscope") || opt->set.filter[0])
		return;
	for (const char *rest = opt->tests; rest; all++) {
		rest = cs_list_item(rest, item, sizeof(item));
		chosen.n = 0;
		if (!cs_tests_choose(item, backend, (enum cs_transport)opt->set.via,
				     &chosen, &err))
			continue;
		first = lost++ ? first : err;
	}
	if (lost)
		cs_text(to, size,
			"%d of the %d benchmarks of Comm|Scope are left out: %s%s",
			lost, all, first.text, lost > 1 ? ", and others" : "");
}

/* Count the chosen tests without a cell in the plan, and name the first. */
static size_t without_cell(const struct cs_plan *plan,
			   const struct cs_choices *chosen, const char **first)
{
	const struct cs_choice *choice = chosen->choice;
	size_t missing = 0;
	uint32_t v;

	for (size_t i = 0; i < chosen->n; i++) {
		for (v = 0; v < plan->n_matrices; v++)
			if (cs_plan_matrix_at(plan, v)->test == choice[i].test)
				break;
		if (v < plan->n_matrices ||
		    (i && choice[i].test == choice[i - 1].test))
			continue;
		if (!missing++)
			*first = cs_test_at(choice[i].test)->name;
	}
	return missing;
}

enum cs_finding_id cs_left_out_plan(const struct cs_options *opt,
				    const struct cs_plan *plan, char *to, size_t size)
{
	enum cs_backend_kind backend = (enum cs_backend_kind)plan->set.backend;
	struct cs_choices chosen = { .n = 0 };
	int cpu = backend == CS_BACKEND_CPU, of_pairs;
	const char *first = "";
	const struct cs_test *test;
	char more[40] = " is";
	size_t missing;

	if (opt->set.filter[0]) /* a filter leaves tests out on purpose */
		return CS_FINDING_OTHER;
	if (!opt->plan)
		choose(opt, backend, &chosen);
	missing = without_cell(plan, &chosen, &first);
	if (!missing)
		return CS_FINDING_OTHER;
	if (missing > 1)
		cs_text(more, sizeof(more), " and %zu more are", missing - 1);
	test = cs_test_at(cs_test_index(first));
	of_pairs = cs_test_least_agents(test) > plan->n_agents;
	if (of_pairs)
		cs_text(to, size, "%s%s left out: %s between two %s", first, more,
			missing > 1 ? "they measure" : "it measures",
			cpu ? "arenas" : "GPUs");
	else if (test->path == CS_PATH_HOST)
		cs_text(to, size,
			"%s%s left out: no NUMA node with memory is known here",
			first, more);
	else
		cs_text(to, size, "%s%s left out: there are only %" PRIu32 " %s",
			first, more, plan->n_agents, cpu ? "arenas" : "GPUs");
	return of_pairs && !cpu && (opt->suite || !opt->tests) ?
		       CS_FINDING_ONE_GPU :
		       CS_FINDING_NOT_POSSIBLE;
}
