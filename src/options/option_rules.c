#include "options/table.h"

#include <string.h>

#include "check/compare/compare.h"

/* Measured if nothing is requested. */
#define DEFAULT_SUITE "quick"

void cs_options_default(struct cs_options *opt)
{
	memset(opt, 0, sizeof(*opt));
	opt->mpi = -1;
	opt->set.start_limit_s = 30;
	opt->margin = CS_MARGIN;
	opt->min_coverage = 0.5;
	opt->format = cs_format_by_name("text");
	opt->matrix = "peer";
}

/* Is nothing requested?  An axis, a transport and several placements request
 * --matrix peer. */
static int asks_for_nothing(const struct cs_options *opt)
{
	const struct cs_axes *axes = &opt->axes;

	return !opt->tests && !opt->plan && !opt->check_only &&
	       !(axes->matrices | axes->ops | axes->patterns | axes->methods |
		 axes->memories) &&
	       opt->set.via == CS_TRANSPORT_AUTO && opt->placements.n < 2;
}

static void word_request(struct cs_options *opt)
{
	int via = opt->set.via != CS_TRANSPORT_AUTO;
	const char *option = opt->check_only ? "--check=" :
			     opt->plan	     ? "--plan " :
			     opt->suite	     ? "--suite " :
			     opt->tests	     ? "--test " :
					       "--matrix ";
	const char *value = opt->check_only ? opt->check_only :
			    opt->plan	    ? opt->plan :
			    opt->suite	    ? opt->suite :
			    opt->tests	    ? opt->kinds ? opt->matrix : opt->tests :
					      opt->matrix;

	cs_text(opt->matrix_text, sizeof(opt->matrix_text), "%s%s%s%s", option, value,
		via ? " --via " : "", via ? cs_transport_words[opt->set.via] : "");
}

static void settle_suite(struct cs_options *opt, const struct cs_suite *suite)
{
	if (suite->every_numa && !opt->numa_given && !opt->set.numa)
		opt->set.numa = UINT64_MAX;
	if (!opt->vary.kernels)
		opt->vary.kernels = suite->kernels;
	if (!suite->copy_bytes || opt->size_given)
		return;
	opt->set.copy_bytes = suite->copy_bytes;
	if (suite->growth > 0) {
		opt->set.last_bytes = suite->last_bytes;
		opt->set.growth = suite->growth;
	}
}

/* Sort the items of --test: kinds as of --matrix, a suite, or tests; one list may
 * have all of these. */
static void settle_tests(struct cs_options *opt)
{
	char item[CS_ITEM];

	if (!opt->tests || opt->suite || strlen(opt->tests) >= sizeof(opt->names))
		return;
	for (const char *rest = opt->tests; rest;) {
		unsigned kind;

		rest = cs_list_item(rest, item, sizeof(item));
		kind = cs_kind_named(item);
		opt->kinds |= kind;
		if (!kind)
			cs_text_add(opt->names, sizeof(opt->names), "%s%s",
				    opt->names[0] ? "," : "", item);
	}
	if (cs_suite(opt->names) && !opt->kinds) {
		opt->suite = opt->tests;
		opt->tests = cs_suite(opt->suite);
		return;
	}
	if (!opt->kinds)
		return;
	opt->matrix = opt->tests;
	opt->axes.matrices |= opt->kinds;
	opt->tests = opt->names[0] ? opt->names : NULL;
}

void cs_options_settle(struct cs_options *opt)
{
	settle_tests(opt);
	if (asks_for_nothing(opt)) {
		opt->suite = DEFAULT_SUITE;
		opt->tests = cs_suite(DEFAULT_SUITE);
	}
	if (opt->suite)
		settle_suite(opt, cs_suite_named(opt->suite));
	if (!opt->axes.ops)
		opt->axes.ops = 1u << CS_OP_WRITE;
	if (!opt->axes.patterns)
		opt->axes.patterns = 1u << CS_PATTERN_PAIR | 1u << CS_PATTERN_BIDI;
	if (opt->baseline || opt->threshold || opt->min_share > 0 ||
	    (opt->expect && !opt->check_only))
		opt->checks |= CS_CHECK_BASELINE;
	opt->set.urgent = opt->budget_s > 0;
	word_request(opt);
}

/* ---- options that exclude or need each other ---- */

/* Judging by bounds needs a measurement and a bound. */
static int check_bounds(const struct cs_options *opt, struct cs_err *err)
{
	const char *by = opt->baseline	    ? "--baseline" :
			 opt->threshold	    ? "--threshold" :
			 opt->min_share > 0 ? "--min-share" :
					      NULL;

	if (!by && !opt->expect && opt->checks == CS_CHECK_BASELINE)
		return cs_err_set(
			err,
			"--check=baseline needs --baseline, --threshold, --min-share or --expect");
	if (by && opt->check_only)
		return cs_err_set(err, "--check=%s measures nothing: leave %s out",
				  opt->check_only, by);
	return 0;
}

/* The option that names the tests; NULL: none. */
static const char *named_by(const struct cs_options *opt)
{
	return opt->suite		? "--suite" :
	       opt->tests || opt->kinds ? "--test" :
	       opt->axes.matrices	? "--matrix" :
					  NULL;
}

static int check_request(const struct cs_options *opt, struct cs_err *err)
{
	if (opt->tests && opt->axes.matrices & ~opt->kinds)
		return cs_err_set(err,
				  "--matrix and %s exclude each other; --test takes "
				  "kinds, suites and tests, as peer,quick",
				  named_by(opt));
	if (opt->plan && opt->check_only)
		return cs_err_set(err, "--plan and --check=%s exclude each other",
				  opt->check_only);
	if (opt->action == CS_ACTION_DRY_RUN)
		for (int i = 0; i < opt->n_outputs; i++)
			if (strcmp(cs_format_by_file(opt->output[i])->name, "csv"))
				return cs_err_set(
					err,
					"--output '%s': --dry-run writes a plan, to a .csv",
					opt->output[i]);
	return 0;
}

/* Pairs of options that exclude each other. */
static int check_pairs(const struct cs_options *opt, struct cs_err *err)
{
	const int several = opt->placements.n > 1, soaks = opt->duration_s > 0;
	const int is_text = !strcmp(opt->format->name, "text");
	const struct {
		int both;
		const char *a, *b, *why;
	} pairs[] = {
		{ opt->plan && opt->set.filter[0], "--plan", "--filter", "" },
		{ opt->plan && named_by(opt), "--plan", named_by(opt), "" },
		{ opt->plan && opt->baseline, "--plan", "--baseline",
		  ": a plan file has steps of its own, not those of a test" },
		{ opt->backend == CS_WANT_CPU && opt->set.via != CS_TRANSPORT_AUTO,
		  "--via", "--backend cpu",
		  ": the cpu backend has shared memory alone" },
		{ !opt->tests && opt->set.via == CS_TRANSPORT_STAGED &&
			  !(opt->axes.ops & 1u << CS_OP_WRITE),
		  "--via staged", "--op read", ": both sides issue" },
		{ opt->view.topology && opt->only[0][0], "--topology",
		  opt->only[1][0] ? "--cell" : "--gpu", "" },
		{ opt->view.topology && !is_text, "--topology",
		  "any --format but text", "" },
		{ opt->resume && opt->redact, "--resume", "--redact",
		  ": --resume cannot continue a journal without names" },
		{ several && opt->set.turn_samples, "--set samples",
		  "several --placement", ": turns have a count of their own" },
		{ several && opt->resume, "--resume", "several --placement",
		  ": turns belong together in time" },
		{ several && soaks, "--duration", "several --placement",
		  ": turns have a count of their own" },
		{ opt->resume && soaks, "--duration", "--resume",
		  ": passes belong together in time" },
		{ several && opt->budget_s > 0, "--budget", "several --placement",
		  ": turns belong together in time" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i].both)
			return cs_err_set(err, "%s and %s exclude each other%s",
					  pairs[i].a, pairs[i].b, pairs[i].why);
	return 0;
}

/* The first option that asks for variants; NULL: none does. */
static const char *varied_by(const struct cs_options *opt)
{
	return opt->vary.caches	       ? "--set cache" :
	       opt->vary.threads       ? "--set threads" :
	       opt->vary.cpu_numa      ? "--set cpu-numa" :
	       opt->vary.elements      ? "--set element" :
	       opt->vary.advices       ? "--set advise" :
	       opt->vary.kernels       ? "--set kernels" :
	       opt->vary.accesses      ? "--set access" :
	       opt->vary.blocks	       ? "--set blocks" :
	       opt->vary.block_threads ? "--set block-threads" :
	       opt->vary.tiles	       ? "--set tiles" :
	       opt->vary.shape[0]      ? "--set shape" :
					 NULL;
}

/* Check variants.  A plan file has columns for them; else some chosen test must have
 * them, on either backend until that is known. */
static int check_variants(const struct cs_options *opt, struct cs_err *err)
{
	const char *by = varied_by(opt);
	struct cs_choices chosen;

	if (!by)
		return 0;
	if (opt->plan || opt->check_only)
		return cs_err_set(err, "%s and %s%s exclude each other", by,
				  opt->plan ? "--plan" : "--check=",
				  opt->plan ? "" : opt->check_only);
	chosen.n = 0;
	if (opt->backend != CS_WANT_CPU &&
	    !cs_options_choose(opt, CS_BACKEND_CUDA, &chosen, err) &&
	    !cs_choices_take(&chosen, &opt->vary, err))
		return 0;
	chosen.n = 0;
	if (opt->backend == CS_WANT_CPU)
		return cs_options_choose(opt, CS_BACKEND_CPU, &chosen, err) ||
		       cs_choices_take(&chosen, &opt->vary, err);
	/* the error is that of CUDA, unless the cpu backend has them */
	return opt->backend == CS_WANT_CUDA ||
	       cs_options_choose(opt, CS_BACKEND_CPU, &chosen, NULL) ||
	       cs_choices_take(&chosen, &opt->vary, NULL);
}

/* Choose the tests of a suite that this backend has. */
static int choose_suite(const struct cs_options *opt, const char *suite,
			enum cs_backend_kind backend, struct cs_choices *chosen,
			struct cs_err *err)
{
	struct cs_err first = { "" }, why;
	char item[CS_ITEM];
	int found = 0;

	for (const char *rest = cs_suite(suite); rest;) {
		rest = cs_list_item(rest, item, sizeof(item));
		if (!cs_tests_choose(item, backend, (enum cs_transport)opt->set.via,
				     chosen, &why))
			found = 1;
		else if (!first.text[0])
			first = why;
	}
	return found ? 0 : cs_err_set(err, "--suite %s: %s", suite, first.text);
}

/* A host link reaches its rate with copies that are smaller than those of a link between
 * GPUs, and most of a run's start is the locking of host memory. */
#define HOST_LINK_BYTES (128u << 20)

static void take_host_link_size(struct cs_choices *chosen)
{
	for (size_t k = 0; k < chosen->n; k++) {
		struct cs_choice *choice = &chosen->choice[k];
		const struct cs_test *test = cs_test_at(choice->test);

		if (!test->bytes && !choice->bytes && cs_test_crosses_host_link(test) &&
		    !cs_method_is_shaped((int)test->method))
			choice->bytes = HOST_LINK_BYTES;
	}
}

/* Give tests that show no link their size in the first suite with a size, of a sweep the
 * last: not all tests are made for the size that links need. */
static void take_own_sizes(const struct cs_options *opt, enum cs_backend_kind backend,
			   struct cs_choices *chosen)
{
	uint64_t bytes[CS_TESTS_MOST] = { 0 };
	const char *name;

	for (size_t i = 0; (name = cs_suite_name(i)); i++) {
		const struct cs_suite *suite = cs_suite_named(name);
		struct cs_choices own = { .n = 0 };

		if (suite->copy_bytes)
			choose_suite(opt, name, backend, &own, NULL);
		for (size_t k = 0; k < own.n; k++)
			if (!bytes[own.choice[k].test])
				bytes[own.choice[k].test] = suite->last_bytes ?
								    suite->last_bytes :
								    suite->copy_bytes;
	}
	for (size_t k = 0; k < chosen->n; k++) {
		struct cs_choice *choice = &chosen->choice[k];
		const struct cs_test *test = cs_test_at(choice->test);

		if (!test->bytes && !cs_test_measures_link(test))
			choice->bytes = bytes[choice->test];
	}
}

/* Choose the tests of a list, in which there may be suites. */
static int choose_list(const struct cs_options *opt, enum cs_backend_kind backend,
		       struct cs_choices *chosen, struct cs_err *err)
{
	enum cs_transport via = (enum cs_transport)opt->set.via;
	char item[CS_ITEM];

	for (const char *rest = opt->tests; rest;) {
		rest = cs_list_item(rest, item, sizeof(item));
		if (cs_suite(item) ? choose_suite(opt, item, backend, chosen, err) :
				     cs_tests_choose(item, backend, via, chosen, err))
			return -1;
	}
	return 0;
}

/* Names of either backend are allowed until the backend is known. */
static int check_tests(const struct cs_options *opt, struct cs_err *err)
{
	enum cs_transport via = (enum cs_transport)opt->set.via;
	struct cs_choices chosen;

	if (!opt->tests || opt->suite)
		return 0;
	chosen.n = 0;
	if (!choose_list(opt, CS_BACKEND_CUDA, &chosen, err) ||
	    (via == CS_TRANSPORT_AUTO &&
	     !choose_list(opt, CS_BACKEND_CPU, &chosen, NULL)))
		return 0;
	return cs_err_prefix(err, "--test '%s'", opt->tests);
}

/* Each test is a matrix at each size.  Count a suite's tests on GPUs, which have
 * more. */
static int check_sizes(const struct cs_options *opt, struct cs_err *err)
{
	enum cs_backend_kind backend = opt->backend == CS_WANT_CPU ? CS_BACKEND_CPU :
								     CS_BACKEND_CUDA;
	uint64_t bytes = opt->set.copy_bytes;
	size_t tests = 0, sizes = 0;
	struct cs_choices chosen;

	if (!opt->set.last_bytes || opt->plan)
		return 0;
	chosen.n = 0;
	if (!cs_options_choose(opt, backend, &chosen, NULL))
		for (size_t i = 0; i < chosen.n; i++)
			tests += !cs_test_at(chosen.choice[i].test)->bytes;
	do
		sizes++;
	while ((bytes = cs_size_next(&opt->set, bytes)));
	if (tests * sizes <= CS_MATRICES_MAX)
		return 0;
	return cs_err_set(err,
			  "--size: %zu tests at %zu sizes are more than the %d "
			  "matrices that a plan can have",
			  tests, sizes, CS_MATRICES_MAX);
}

static int check_looks(const struct cs_options *opt, struct cs_err *err)
{
	const char *by = named_by(opt)	     ? named_by(opt) :
			 opt->resume	     ? "--resume" :
			 opt->duration_s > 0 ? "--duration" :
					       NULL;

	if (!opt->check_only || !by)
		return 0;
	return cs_err_set(err,
			  "--check=%s measures nothing: leave %s out, or give "
			  "--check alone to judge what is measured",
			  opt->check_only, by);
}

int cs_options_check(const struct cs_options *opt, struct cs_err *err)
{
	return cs_rc(check_bounds(opt, err) || check_request(opt, err) ||
		     check_pairs(opt, err) || check_tests(opt, err) ||
		     check_variants(opt, err) || check_sizes(opt, err) ||
		     check_looks(opt, err));
}

/* ---- the requested tests that a backend has ---- */

static int choose(const struct cs_options *opt, enum cs_backend_kind backend,
		  struct cs_choices *chosen, struct cs_err *err)
{
	enum cs_transport via = (enum cs_transport)opt->set.via;
	struct cs_axes axes;

	if (opt->their_sizes)
		return cs_tests_theirs(backend, via, chosen, err);
	if (opt->suite)
		return choose_suite(opt, opt->suite, backend, chosen, err);
	if (backend == CS_BACKEND_CPU && via != CS_TRANSPORT_AUTO)
		return cs_err_set(err,
				  "--via %s: that is a transport between GPUs, the "
				  "cpu backend has shared memory alone",
				  cs_transport_words[via]);
	if (opt->tests && choose_list(opt, backend, chosen, err))
		return -1;
	if (opt->tests && !opt->kinds)
		return 0;
	axes = opt->axes;
	if (!axes.matrices)
		axes.matrices = CS_MATRIX_PEER;
	cs_tests_matrix(&axes, backend, via, chosen);
	return 0;
}

int cs_options_choose(const struct cs_options *opt, enum cs_backend_kind backend,
		      struct cs_choices *chosen, struct cs_err *err)
{
	const struct cs_suite *suite = opt->suite ? cs_suite_named(opt->suite) : NULL;

	if (choose(opt, backend, chosen, err))
		return -1;
	if (opt->set.copy_bytes || opt->of_nvbandwidth || backend == CS_BACKEND_CPU)
		return 0;
	if (suite && suite->own_sizes)
		take_own_sizes(opt, backend, chosen);
	take_host_link_size(chosen);
	return 0;
}

void cs_options_choose_lone(const struct cs_options *opt,
			    enum cs_backend_kind backend, struct cs_choices *chosen)
{
	if (backend == CS_BACKEND_CUDA && !opt->tests &&
	    opt->set.via == CS_TRANSPORT_AUTO)
		cs_tests_lone(chosen);
}
