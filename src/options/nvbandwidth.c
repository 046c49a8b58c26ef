/* nvbandwidth.c - the command line of nvbandwidth 0.8: options of a program called so.
 * Its names and indices are looked up here, and those that are no test stay in the list,
 * because the report names each at its place. */
#include "options/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"

enum { OPERAND = 1, LOOPS = 256, PERF }; /* of getopt, beside the letters */

static const struct flag {
	const char *name;
	int letter;		     /* above 255: it has none */
	const char *argument, *help; /* help NULL: ignored */
} flags[] = {
	{ "bufferSize", 'b', "MIB", "size of a copy in MiB; default 512" },
	{ "testcase", 't', "TEST...", "these tests, by name or index; default all" },
	{ "testcasePrefixes", 'p', "TEXT...", "tests whose name begins so" },
	{ "testSamples", 'i', "N",
	  "N samples of each cell, at most 50; default: until its median is known" },
	{ "useMean", 'm', NULL, "figures are means of samples, not medians" },
	{ "skipVerification", 's', NULL, "data are not checked" },
	{ "disableAffinity", 'd', NULL, "threads stay where they were started" },
	{ "verbose", 'v', NULL, "every sample; minimum, maximum, average, variation" },
	{ "json", 'j', NULL, "JSON instead of text" },
	{ "format", 'F', "text|json", "the same, as version 0.10 has it" },
	{ "list", 'l', NULL, "the tests with their indices; nothing is measured" },
	{ "help", 'h', NULL, "these lines" },
	{ "loopCount", LOOPS, "N",
	  "ignored: a sample has as many copies as take 4.5 ms" },
	{ "perfFormatter", PERF, NULL, "ignored" },
};
#define FLAGS (sizeof(flags) / sizeof(flags[0]))

/* The given options; the tests are in the options already. */
struct given {
	char seen[PERF + 1]; /* by letter */
	int list;	     /* 't' or 'p', to which operands belong; 0: to none */
};

/* ---- tests ---- */

/* Is it an index: digits alone? */
static int is_index(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* The test of that name or index; NULL: there is none. */
static const struct cs_alias *test_of(const char *text)
{
	const size_t index = is_index(text) ? strtoul(text, NULL, 10) : 0;
	size_t i = 0;

	CS_EACH_ALIAS(a) {
		if (!cs_alias_is_of_nvbandwidth(a))
			break;
		if (is_index(text) ? i == index : !strcmp(a->name, text))
			return a;
		i++;
	}
	return NULL;
}

static int add_asked(struct cs_options *out, const struct cs_alias *alias,
		     const char *text, struct cs_err *err)
{
	if (out->view.n_asked == CS_ASKED_MOST)
		return cs_err_set(err, "more than %d tests", CS_ASKED_MOST);
	out->view.asked = out->asked;
	out->asked[out->view.n_asked++] = (struct cs_named){ alias, text };
	return 0;
}

/* Replace the names that are given by all tests that begin with one; `any`: by all. */
static int expand(struct cs_options *out, int any, struct cs_err *err)
{
	struct cs_named given[CS_ASKED_MOST];
	const size_t n = out->view.n_asked;

	memcpy(given, out->asked, sizeof(given));
	out->view.n_asked = 0;
	CS_EACH_ALIAS(a)
		if (cs_alias_is_of_nvbandwidth(a) &&
		    (any || CS_ANY(i, n,
				   !strncmp(a->name, given[i].text,
					    strlen(given[i].text)))) &&
		    add_asked(out, a, a->name, err))
			return -1;
	return out->view.n_asked ?
		       0 :
		       cs_err_set(err, "no test begins with '%.60s'", given[0].text);
}

/* List each test of ours once, by the first of its names. */
static void name_tests(struct cs_options *out)
{
	const struct cs_named *asked = out->asked;

	for (size_t i = 0; i < out->view.n_asked; i++) {
		const struct cs_alias *a = asked[i].alias;

		if (a && a->test &&
		    !CS_ANY(k, i,
			    asked[k].alias && cs_alias_test(asked[k].alias) ==
						      cs_alias_test(a)))
			cs_text_add(out->their_names, sizeof(out->their_names),
				    "%s%s", out->their_names[0] ? "," : "", a->name);
	}
	out->tests = out->their_names;
}

/* ---- options ---- */

static void add_unused(struct cs_options *out, const char *text)
{
	cs_text_add(out->unused, sizeof(out->unused), "%s%s",
		    out->unused[0] ? "; " : "", text);
}

static int set_samples(struct cs_options *out, const char *value, struct cs_err *err)
{
	uint64_t n;

	if (cs_uint_parse(value, 1, UINT32_MAX, &n, err))
		return -1;
	if (n > CS_SAMPLES_MAX)
		add_unused(out, "--testSamples: 50 are taken, no cell has more");
	out->set.turn_samples = (uint32_t)(n < CS_SAMPLES_MAX ? n : CS_SAMPLES_MAX);
	return 0;
}

static int set_size(struct cs_options *out, const char *value, struct cs_err *err)
{
	if (cs_uint_parse(value, 1, CS_COPY_MAX >> 20, &out->set.copy_bytes, err))
		return -1;
	out->set.copy_bytes <<= 20;
	out->size_given = 1;
	return 0;
}

static int set_format(struct cs_options *out, const char *value, struct cs_err *err)
{
	int json = !strcmp(value, "json");

	if (!json && strcmp(value, "text"))
		return cs_err_set(err, "allowed are text, json");
	out->format = cs_format_by_name(json ? "nvbandwidth-json" : "nvbandwidth");
	return 0;
}

static int take(struct cs_options *out, int letter, const char *value,
		struct cs_err *err)
{
	switch (letter) {
	case 'b':
		return set_size(out, value, err);
	case 'i':
		return set_samples(out, value, err);
	case 't':
	case 'p':
		return add_asked(out, letter == 't' ? test_of(value) : NULL, value,
				 err);
	case 'F':
		return set_format(out, value, err);
	case 'j':
		return set_format(out, "json", err);
	case 'm':
		return out->view.mean = 1, 0;
	case 's':
		return out->set.verify = CS_VERIFY_OFF, 0;
	case 'd':
		return out->bind = CS_BIND_NONE, 0;
	case 'v':
		return out->view.verbose = 1, 0;
	case LOOPS:
		return add_unused(out, "--loopCount has no meaning here"), 0;
	case PERF:
		return add_unused(out, "--perfFormatter has no meaning here"), 0;
	default: /* list and help are handled at the end */
		return 0;
	}
}

static const struct flag *flag_of(int letter)
{
	for (size_t i = 0; i < FLAGS; i++)
		if (flags[i].letter == letter)
			return &flags[i];
	return NULL;
}

/* Take the option that getopt has found.  A list has all operands that follow; any other
 * option may be given once. */
static int take_found(struct cs_options *out, struct given *given, int got,
		      const char *value, struct cs_err *err)
{
	const struct flag *flag;

	if (got == OPERAND && given->list)
		return take(out, given->list, value, err);
	flag = flag_of(got);
	if (!flag)
		return cs_err_set(err, "unexpected argument '%.100s'", value);
	given->list = got == 't' || got == 'p' ? got : 0;
	if (given->seen[got] && !given->list)
		return cs_err_set(err, "--%s is given twice", flag->name);
	given->seen[got] = 1;
	if (flag->argument && value[0] == '-')
		return cs_err_set(err, "--%s needs a value", flag->name);
	return take(out, got, value, err) ?
		       cs_err_prefix(err, "--%s '%.100s'", flag->name, value) :
		       0;
}

static int parse(int argc, char **argv, struct cs_options *out, struct given *given,
		 struct cs_err *err)
{
	struct option longs[FLAGS + 1] = { { 0 } };
	char letters[2 * FLAGS + 3] = "-:"; /* operands come in their order */
	int got;

	for (size_t i = 0; i < FLAGS; i++) {
		const struct flag *f = &flags[i];

		longs[i] = (struct option){ f->name,
					    f->argument ? required_argument :
							  no_argument,
					    NULL, f->letter };
		if (f->letter < LOOPS)
			cs_text_add(letters, sizeof(letters), "%c%s", f->letter,
				    f->argument ? ":" : "");
	}
	optind = 0; /* start anew, also on a second call */
	opterr = 0;
	while ((got = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (got == '?' || got == ':')
			return cs_err_set(err, "%s at '%.100s'",
					  got == '?' ? "unknown or ambiguous option" :
						       "a value is missing",
					  argv[optind - 1]);
		if (take_found(out, given, got, optarg, err))
			return -1;
	}
	return optind < argc ?
		       cs_err_set(err, "unexpected argument '%.100s'", argv[optind]) :
		       0;
}

int cs_nvbandwidth_parse(int argc, char **argv, struct cs_options *out,
			 struct cs_err *err)
{
	struct given given = { .list = 0 };

	cs_options_default(out);
	out->of_nvbandwidth = 1;
	out->command = "";
	out->backend = CS_WANT_CUDA;
	out->format = cs_format_by_name("nvbandwidth");
	if (parse(argc, argv, out, &given, err))
		return cs_err_prefix(err, "Invalid Arguments");
	if (given.seen['h'] || given.seen['l']) {
		out->action = given.seen['h'] ? CS_ACTION_HELP : CS_ACTION_LIST;
		out->command = CS_NVBANDWIDTH;
		return 0;
	}
	if (given.seen['t'] && given.seen['p'])
		return cs_err_set(err,
				  "--testcase and --testcasePrefixes exclude each other");
	if (!given.seen['t'] && expand(out, !given.seen['p'], err))
		return -1;
	name_tests(out);
	if (out->their_names[0])
		cs_options_settle(out);
	else
		out->action = CS_ACTION_WAIVE;
	return 0;
}

int cs_nvbandwidth_help(FILE *to)
{
	char left[64];

	fputs("Usage: nvbandwidth [OPTION]...\n"
	      "cscope-mpi with the command lines, tests and output of nvbandwidth;\n"
	      "doc/NVBANDWIDTH.md lists the differences.\n\n",
	      to);
	for (size_t i = 0; i < FLAGS; i++) {
		const struct flag *f = &flags[i];
		char letter[] = { '-', (char)f->letter, ',', ' ', '\0' };

		cs_text(left, sizeof(left), "%s--%s%s%s",
			f->letter < LOOPS ? letter : "    ", f->name,
			f->argument ? " " : "", f->argument ? f->argument : "");
		cs_print_line(to, "  %-31s %s", left, f->help);
	}
	return ferror(to) ? -1 : 0;
}
