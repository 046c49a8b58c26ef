#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/print.h"
#include "catalogue/alias.h"
#include "plan/choose.h"
#include "plan/file.h"
#include "report/view.h"

/* For --dry-run, in GB/s: copies by one CPU core. */
#define EXPECTED_CPU 10

static const char *backend_text(uint32_t backend)
{
	return backend == CS_BACKEND_CPU ? "cpu" : "cuda";
}

/* Is it a test of --matrix peer, which is the default (CATALOGUE: ce, or cpu without a GPU;
 * write; pair and bidi)? */
static int is_default(const struct cs_test *test)
{
	return (cs_test_matrices(test) & CS_MATRIX_PEER) && test->op == CS_OP_WRITE &&
	       test->pattern <= CS_PATTERN_BIDI &&
	       (test->method == CS_METHOD_CE || test->method == CS_METHOD_CPU);
}

/* ---- every name ---- */

/* "device_to_device_memcpy_read_ce  peer.ce.read.pair" */
static void list_aliases(FILE *to, const char *tool, const char *prefix,
			 int (*is_of)(const struct cs_alias *))
{
	int width = 0;

	CS_EACH_ALIAS(alias)
		if (is_of(alias) && (int)strlen(alias->name) > width)
			width = (int)strlen(alias->name);
	putc('\n', to);
	cs_fold(to, 0, 2, "Names of %s, also taken by --test:", tool);
	CS_EACH_ALIAS(alias)
		if (is_of(alias) && cs_alias_test(alias) >= 0 && !alias->apart)
			cs_fold(to, 2, 4, "%s%-*s  %s%s", prefix, width, alias->name,
				alias->test,
				alias->variant.cache == CS_CACHE_COLD ? ", cold" : "");
}

static void list_test(FILE *to, const struct cs_test *test, int width)
{
	cs_fold(to, 0, width + 4, "%c %-*s  %-4s  %s", is_default(test) ? '*' : ' ',
		width, test->name, backend_text(test->backend),
		cs_test_title(test, 0, test->alone).text);
}

/* Does an item of --test name it, also by another tool's name? */
static int is_meant(const struct cs_test *test, const char *item)
{
	if (!fnmatch(item, test->name, 0))
		return 1;
	CS_EACH_ALIAS(alias)
		if (alias->test && !strcmp(alias->test, test->name) &&
		    cs_alias_fits(alias, item))
			return 1;
	return 0;
}

/* As --test refuses it, but for the name of a single cell, which that takes. */
static int refuse(const char *what, struct cs_err *err)
{
	struct cs_choices none = { .n = 0 };

	return cs_tests_choose(what, CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &none, err) ?
		     -1 :
		     cs_err_set(err, "'%s': no test has this name", what);
}

static int list_names(FILE *to, const char *what, struct cs_err *err)
{
	int width = 0, all = !strcmp(what, "all");

	CS_EACH_TEST(test)
		if ((all || is_meant(test, what)) && (int)strlen(test->name) > width)
			width = (int)strlen(test->name);
	if (!width)
		return refuse(what, err);
	CS_EACH_TEST(test)
		if (all || is_meant(test, what))
			list_test(to, test, width);
	if (!all)
		return 0;
	cs_fold(to, 0, 2, "* of the backend in use: measured by --matrix peer");
	list_aliases(to, "nvbandwidth", "", cs_alias_is_of_nvbandwidth);
	list_aliases(to, "Comm|Scope", CS_SCOPE_PREFIX, cs_alias_is_of_commscope);
	return 0;
}

/* ---- in groups ---- */

#define PARTS 4 /* of a name: path, method, operation or memory, pattern */
#define PATHS (CS_PATH_NET + 1)
#define WORDS_MOST 64 /* of a part, among the tests of a path */
#define LISTED 6 /* words that are alternatives, … */
#define LISTED_WIDTH 40 /* … and columns that they take */

/* Tests whose names are all combinations of some words. */
struct shape {
	enum cs_path path;
	uint64_t part[PARTS]; /* bits: positions in the words of that part */
};

struct shapes {
	struct words {
		char word[WORDS_MOST][24];
		int n;
	} words[PATHS][PARTS];
	struct shape shape[256];
	int n;
};

static uint64_t word_bit(struct words *w, const char *text, size_t length)
{
	int i;

	for (i = 0; i < w->n; i++)
		if (strlen(w->word[i]) == length && !strncmp(w->word[i], text, length))
			break;
	assert(i < WORDS_MOST);
	if (i == w->n)
		cs_text(w->word[w->n++], sizeof(w->word[i]), "%.*s", (int)length,
			text);
	return (uint64_t)1 << i;
}

/* Join it with the shape that differs only in that part; 0: there is none. */
static int join_shape(struct shapes *s, const struct shape *one, int part)
{
	for (int i = 0; i < s->n; i++) {
		int differ = s->shape[i].path != one->path;

		for (int p = 0; p < PARTS; p++)
			differ += p != part && s->shape[i].part[p] != one->part[p];
		if (differ)
			continue;
		s->shape[i].part[part] |= one->part[part];
		return 1;
	}
	return 0;
}

static void add_test(struct shapes *s, const struct cs_test *test)
{
	struct shape one = { .path = test->path };
	const char *at = test->name;

	for (int p = 0; p < PARTS; p++) {
		size_t length = p < PARTS - 1 ? strcspn(at, ".") : strlen(at);

		one.part[p] = word_bit(&s->words[test->path][p], at, length);
		at += length + (at[length] == '.');
	}
	/* patterns of one operation first */
	if (!join_shape(s, &one, PARTS - 1) &&
	    s->n < (int)(sizeof(s->shape) / sizeof(*s->shape)))
		s->shape[s->n++] = one;
}

/* Shapes that differ in that part alone become one. */
static void merge_shapes(struct shapes *s, int part)
{
	int n = s->n;

	s->n = 0;
	for (int i = 0; i < n; i++) {
		const struct shape one = s->shape[i];

		if (!join_shape(s, &one, part))
			s->shape[s->n++] = one;
	}
}

static const char *words_text(const struct words *w, uint64_t bits)
{
	const int several = (bits & (bits - 1)) != 0;
	const char *text = several ? "(" : "", *between = "";
	int n = 0, left = 0;

	for (int i = 0; i < w->n; i++) {
		if (!(bits >> i & 1))
			continue;
		if (++n <= LISTED && strlen(text) + strlen(w->word[i]) < LISTED_WIDTH)
			text = cs_new_longer(text, "%s%s", between, w->word[i]);
		else
			left++;
		between = " ";
	}
	if (left)
		text = cs_new_longer(text, " and %d more", left);
	return several ? cs_new_longer(text, ")") : text;
}

static void list_shape(FILE *to, const struct shapes *s, const struct shape *shape)
{
	const char *text[PARTS];

	for (int p = 0; p < PARTS; p++)
		text[p] = words_text(&s->words[shape->path][p], shape->part[p]);
	cs_fold(to, 2, 6, "%s.%s.%s.%s", text[0], text[1], text[2], text[3]);
}

static void list_groups(FILE *to, struct shapes *s)
{
	static const char *const heading[] = {
		[CS_PATH_PEER] = "GPU to GPU (--backend cpu: arena to arena)",
		[CS_PATH_H2D] = "host memory to GPU, and both ways",
		[CS_PATH_D2H] = "GPU to host memory",
		[CS_PATH_LOCAL] = "within a GPU",
		[CS_PATH_HOST] = "NUMA node to NUMA node",
		[CS_PATH_NETHOST] = "node to node",
		[CS_PATH_NET] = "GPU to GPU of another node",
	};
	static const enum cs_path order[] = { CS_PATH_PEER, CS_PATH_H2D,
					      CS_PATH_D2H,  CS_PATH_LOCAL,
					      CS_PATH_HOST, CS_PATH_NETHOST,
					      CS_PATH_NET };

	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
		cs_fold(to, 0, 2, "%s:", heading[order[k]]);
		for (int i = 0; i < s->n; i++)
			if (s->shape[i].path == order[k])
				list_shape(to, s, &s->shape[i]);
	}
}

static void list_suites(FILE *to)
{
	const char *names = NULL;

	for (size_t i = 0; cs_suite_name(i); i++)
		names = cs_join(names, ", ", "%s", cs_suite_name(i));
	cs_fold(to, 0, 2, "suites: %s", names);
}

static void list_tests(FILE *to)
{
	struct shapes *s = cs_new(struct shapes, 1);
	size_t n;

	cs_catalogue(&n);
	cs_fold(to, 0, 2,
		"%zu tests, path.method.operation.pattern, one of each pair of brackets:",
		n);
	CS_EACH_TEST(test)
		add_test(s, test);
	merge_shapes(s, 2);
	merge_shapes(s, 1);
	merge_shapes(s, 2);
	list_groups(to, s);
	list_suites(to);
	cs_fold(to, 0, 2,
		"--list=all prints all names, also those of nvbandwidth and Comm|Scope; --list='h2d.*' some of them; --explain NAME explains one");
}

struct listing {
	FILE *to;
	const char *what; /* NULL: groups */
	const struct cs_plan *plan;
	const char *file; /* of the plan; NULL */
	int verbose;
	struct cs_err *err;
};

static int list(void *argument)
{
	const struct listing *l = argument;

	if (l->what && list_names(l->to, l->what, l->err))
		return -1;
	if (!l->what)
		list_tests(l->to);
	return ferror(l->to) ? -1 : 0;
}

int cs_report_list(FILE *to, const char *what, struct cs_err *err)
{
	struct listing listing = { .to = to, .what = what, .err = err };

	return cs_arena_run(list, &listing, err);
}

/* ---- the plan ---- */

static uint64_t largest_arena(const struct cs_plan *plan)
{
	struct cs_arena_layout layout;
	uint64_t most = 0;

	for (uint32_t a = 0; a < plan->n_agents; a++) {
		cs_plan_arena_wide(plan, (int)a, (int)plan->n_agents, UINT64_MAX,
				   &layout);
		if (layout.total_bytes > most)
			most = layout.total_bytes;
	}
	return most;
}

#define HEAD 10 /* of what follows the name of a line */

/* When its cells are measured; NULL: the heading already has it. */
static const char *when(const struct cs_plan *plan, uint32_t matrix)
{
	const struct cs_test *test = cs_plan_matrix_test(plan, matrix);

	for (uint32_t s = 0; s < plan->n_steps; s++)
		if (cs_plan_step(plan, s)->matrix == matrix &&
		    cs_plan_step(plan, s)->round)
			return cs_new_text("%s%s", cs_test_in_rounds(test),
					   plan->set.schedule == CS_SCHEDULE_PARALLEL ?
						   "" :
						   " if that changes nothing");
	return test->alone;
}

static void print_matrices(FILE *to, const struct cs_plan *plan)
{
	for (uint32_t v = 0; v < plan->n_matrices; v++) {
		const struct cs_plan_matrix *matrix = cs_plan_matrix_at(plan, v);
		const struct cs_test *test = cs_test_at(matrix->test);
		const int is_usual = cs_variant_is_usual(&matrix->variant);
		const int is_usual_size = test->bytes || plan->set.last_bytes ||
					  matrix->bytes == plan->set.copy_bytes;

		cs_fold(to, 0, HEAD, "test      %s  %s, %s%s%s%s%s", test->name,
			cs_test_title(test, 0, when(plan, v)).text,
			is_usual ? "" : cs_variant_words(&matrix->variant).text,
			is_usual ? "" : ", ",
			is_usual_size ? "" : cs_new_size(matrix->bytes),
			is_usual_size ? "" : ", ",
			matrix->steps ? cs_count_text(matrix->steps, "step") :
					"as load");
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

	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		cs_step_name(plan, step, name, sizeof(name));
		cs_print(to, "step %-4s %s ", name, cs_plan_test(plan, step)->name);
		for (uint32_t k = 0; k < step->count; k++) {
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

static int print_plan(void *argument)
{
	const struct listing *l = argument;
	const struct cs_plan *plan = l->plan;
	FILE *to = l->to;
	int cpu = plan->set.backend == CS_BACKEND_CPU;
	double rate = cpu ? EXPECTED_CPU : CS_EXPECTED_GBS;

	cs_fold(to, 0, HEAD,
		"nothing was measured: this is the plan for %s on each node, %s backend",
		cs_count_text(plan->n_agents, "agent"),
		backend_text(plan->set.backend));
	print_matrices(to, plan);
	cs_fold(to, 0, HEAD,
		"plan      %" PRIu32 " steps, %" PRIu32 " transfers, id %016" PRIx64,
		plan->n_steps, plan->n_transfers, plan->id);
	cs_fold(to, 0, HEAD, "size      %s a copy", cs_new_size(plan->set.copy_bytes));
	cs_fold(to, 0, HEAD, "memory    %s %s agent", cs_new_size(largest_arena(plan)),
		cpu ? "of host memory per" : "on the GPU of each");
	cs_fold(to, 0, HEAD,
		"time      about %.1f s of measuring at %.0f GB/s, without the start",
		cs_plan_estimate_s(plan, rate), rate);
	if (l->file)
		cs_fold(to, 0, HEAD, "order     as in %s", l->file);
	else
		cs_fold(to, 0, HEAD, "order     shuffled by seed %" PRIu64 "",
			plan->set.seed);
	if (l->verbose)
		print_steps(to, plan);
	return ferror(to) ? -1 : 0;
}

int cs_report_plan(FILE *to, const struct cs_plan *plan, const char *file, int verbose)
{
	struct listing listing = {
		.to = to, .plan = plan, .file = file, .verbose = verbose
	};

	return cs_arena_run(print_plan, &listing, NULL);
}
