/* commscope.c - the command line of Comm|Scope and of Google Benchmark, on which it
 * is built: options of a program called comm_scope. */
#include "options/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/print.h"
#include "base/units.h"
#include "base/words.h"

#define FLAG(flag, ...) flag,
enum flag {
#include "options/commscope.def"
	FLAGS
};
#undef FLAG

#define FLAG(flag, ...) [flag] = { __VA_ARGS__ },
static const struct {
	const char *name;
	int is_switch;
	const char *why;
} flags[FLAGS] = {
#include "options/commscope.def"
};

/* The values that were given. */
struct given {
	const char *value[FLAGS]; /* NULL: not given */
	char gpus[200];
	uint64_t numa;
};

/* As Google Benchmark reads it: anything is true but these. */
static int is_true(const char *value)
{
	static const char *const no[] = { "0", "f", "n", "false", "no", "off" };

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (!strcasecmp(value, no[i]))
			return 0;
	return 1;
}

/* Take "--name=value", or "--name" of a switch.  1: it is one. */
static int take_flag(struct given *given, const char *text)
{
	for (int i = 0; i < FLAGS; i++) {
		size_t n = strlen(flags[i].name);

		if (strncmp(text, "--", 2) || strncmp(text + 2, flags[i].name, n))
			continue;
		if (text[2 + n] == '=')
			given->value[i] = text + 3 + n;
		else if (!text[2 + n] && flags[i].is_switch)
			given->value[i] = "true";
		else
			continue;
		return 1;
	}
	return 0;
}

/* Each flag has a variable, as BENCHMARK_FILTER; the command line overrides it. */
static void take_environment(struct given *given)
{
	char name[64];

	for (int i = 0; i < FLAGS; i++) {
		size_t k = 0;

		for (; flags[i].name[k]; k++)
			name[k] = (char)toupper((unsigned char)flags[i].name[k]);
		name[k] = '\0';
		if (k > 1) /* "V" is too common a name */
			given->value[i] = getenv(name);
	}
}

static int refuse(const char *text, struct cs_err *err)
{
	return cs_err_set(err, "Error in command line: Unrecognized token: %.100s",
			  text);
}

/* The length of "--cuda", "--numa", or the letters that older versions had for them; 0:
 * it is none of these. */
static int number_flag(const char *text)
{
	static const char *const names[] = { "--cuda", "--numa", "-c", "-n" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(text, names[i], strlen(names[i])))
			return (int)strlen(names[i]);
	return 0;
}

/* A GPU's or NUMA node's number, as the next argument or after '='; repeatable. */
static int take_number(struct given *given, int argc, char **argv, int *at,
		       struct cs_err *err)
{
	const char *text = argv[*at], *value;
	const int n = number_flag(text);
	uint64_t number;

	if (n && text[n] == '=')
		value = text + n + 1;
	else if (n && !text[n] && *at + 1 < argc)
		value = argv[++*at];
	else
		return !n || text[n] ?
			       refuse(text, err) :
			       cs_err_set(err, "option '%s' needs a value", text);
	if (cs_uint_parse(value, 0, CS_NUMA_MOST - 1, &number, err))
		return cs_err_prefix(err, "%.*s '%.40s'", n, text, value);
	if (text[n > 2 ? 2 : 1] == 'n')
		given->numa |= 1ull << number;
	else
		cs_text_add(given->gpus, sizeof(given->gpus), "%s%d",
			    given->gpus[0] ? "," : "", (int)number);
	return 0;
}

/* ---- set our options ---- */

static const struct cs_format *format_of(const char *value)
{
	return cs_format_by_name(!strcmp(value, "console") ? "commscope" :
				 !strcmp(value, "json")	   ? "commscope-json" :
							     "commscope-csv");
}

static int check_format(int flag, const char *value, struct cs_err *err)
{
	int which;

	if (!value || !cs_word_parse(value, "console|json|csv", &which, err))
		return 0;
	return cs_err_prefix(err, "--%s '%.40s'", flags[flag].name, value);
}

static int set_formats(const struct given *given, struct cs_options *out,
		       struct cs_err *err)
{
	const char *shown = given->value[FORMAT], *written = given->value[OUT_FORMAT];
	const char *file = given->value[OUT];
	size_t at;

	if (check_format(FORMAT, shown, err) || check_format(OUT_FORMAT, written, err))
		return -1;
	out->format = format_of(shown ? shown : "console");
	if (!file || !file[0])
		return 0;
	cs_text(out->their_output, sizeof(out->their_output),
		"%s:", format_of(written ? written : "json")->name);
	at = strlen(out->their_output);
	for (; *file && at + 3 < sizeof(out->their_output); file++) {
		if (*file == '%') /* not one of our placeholders */
			out->their_output[at++] = '%';
		out->their_output[at++] = *file;
	}
	out->their_output[at] = '\0';
	return *file ? cs_err_set(err, "--benchmark_out: it is too long") :
		       cs_set_output(out, out->their_output, err);
}

static int set_sampling(const struct given *given, struct cs_options *out,
			struct cs_err *err)
{
	const char *time = given->value[MIN_TIME], *n = given->value[REPETITIONS];
	uint64_t repetitions = 1;
	double seconds;
	char *end;

	if (time) {
		seconds = strtod(time, &end);
		if (end == time || (*end && strcmp(end, "s")) || !(seconds > 0) ||
		    !(seconds < 1e6))
			return cs_err_set(err,
					  "--benchmark_min_time '%.40s': a number of seconds",
					  time);
		out->set.cell_limit_s = cs_ten_digits(seconds);
	}
	if (n && cs_uint_parse(n, 1, 1000, &repetitions, err))
		return cs_err_prefix(err, "--benchmark_repetitions '%.40s'", n);
	if (repetitions < 2)
		return 0;
	/* exactly so many samples; each may take its time */
	out->view.verbose = 1;
	out->set.turn_samples = (uint32_t)repetitions;
	return 0;
}

static int is_on(const struct given *given, int flag)
{
	return given->value[flag] && is_true(given->value[flag]);
}

static void add_unused(struct cs_options *out, int flag, const char *why)
{
	cs_text_add(out->unused, sizeof(out->unused), "%s--%s (%s)",
		    out->unused[0] ? ", " : "", flags[flag].name, why);
}

/* List the flags that have no meaning here, and why. */
static void list_unused(const struct given *given, struct cs_options *out)
{
	const char *unit = given->value[UNIT];

	for (int i = 0; i < FLAGS; i++)
		if (given->value[i] && flags[i].why)
			add_unused(out, i, flags[i].why);
	if (unit && strcmp(unit, "ns"))
		add_unused(out, UNIT, "times are in ns");
	if (is_on(given, COLOR) && strcmp(given->value[COLOR], "auto"))
		add_unused(out, COLOR, "there are no colors");
	if (out->unused[0])
		cs_text_add(out->unused, sizeof(out->unused), ": no meaning here");
}

static int carry_over(const struct given *given, struct cs_options *out,
		      struct cs_err *err)
{
	const char *filter = given->value[FILTER];

	if (set_formats(given, out, err) || set_sampling(given, out, err))
		return -1;
	if (filter && cs_set_filter(out, filter, err))
		return cs_err_prefix(err, "--benchmark_filter '%.100s'", filter);
	if (given->gpus[0] && cs_gpu_list_parse(given->gpus, &out->gpus, err))
		return -1;
	out->set.filter_names = CS_NAMES_THEIRS;
	out->set.numa = given->numa ? given->numa : UINT64_MAX;
	out->view.aggregates = is_on(given, BOTH_AGGREGATES)  ? CS_AGGREGATES_ALL :
			       is_on(given, SHOWN_AGGREGATES) ? CS_AGGREGATES_SHOWN :
								CS_AGGREGATES_NONE;
	if (is_on(given, LIST))
		out->action = CS_ACTION_LIST;
	list_unused(given, out);
	return 0;
}

int cs_commscope_parse(int argc, char **argv, struct cs_options *out,
		       struct cs_err *err)
{
	struct given given = { .numa = 0 };

	cs_options_default(out);
	out->command = "";
	out->suite = "commscope";
	out->tests = cs_suite("commscope");
	out->their_sizes = 1;
	take_environment(&given);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") ||
		    !strcmp(argv[i], "-?")) {
			out->action = CS_ACTION_HELP;
			out->command = CS_COMM_SCOPE;
			return 0;
		}
		if (!take_flag(&given, argv[i]) &&
		    take_number(&given, argc, argv, &i, err))
			return -1;
	}
	if (carry_over(&given, out, err))
		return -1;
	cs_options_settle(out);
	return 0;
}

int cs_commscope_help(FILE *to)
{
	fputs("Usage: comm_scope [OPTION]...\n"
	      "cscope-mpi with the command lines, names and output of Comm|Scope;\n"
	      "doc/COMMSCOPE.md lists the differences.\n\n"
	      "  --cuda N, -c N                this GPU; repeatable; default all\n"
	      "  --numa N, -n N                host memory of this NUMA node; repeatable;\n"
	      "                                default all\n",
	      to);
	fputs("  --benchmark_list_tests        the names, nothing is measured\n"
	      "  --benchmark_filter=ERE        names that match; -ERE: that do not match\n"
	      "  --benchmark_min_time=S        maximum time of a cell\n"
	      "  --benchmark_repetitions=N     N samples of each cell, one row each\n"
	      "  --benchmark_format=FORMAT     console, json, csv: of standard output\n"
	      "  --benchmark_out=FILE          also write a file\n"
	      "  --benchmark_out_format=FORMAT of that file; default json\n"
	      "  --benchmark_report_aggregates_only, --benchmark_display_aggregates_only\n"
	      "                                only mean, median, stddev and cv\n"
	      "These are ignored, with one line on standard error:\n"
	      "  --benchmark_color=WORD        there are no colors\n"
	      "  --benchmark_time_unit=UNIT    times are in ns\n",
	      to);
	for (int i = 0; i < FLAGS; i++)
		if (flags[i].why)
			cs_print_line(to, "  --%-38s %s", flags[i].name, flags[i].why);
	return ferror(to) ? -1 : 0;
}
