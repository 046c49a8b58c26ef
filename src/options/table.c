#include "options/table.h"

#include <limits.h>
#include <string.h>

/* How a value is taken, and its field: a field of another type does not compile. */
#define AT(field, ...)                                                         \
	.at = offsetof(struct cs_options, field) +                             \
	      0 * sizeof(_Generic(((struct cs_options *)0)->field, __VA_ARGS__))
#define FLAG(field, value)                                                     \
	.take = CS_TAKE_FLAG, .number = value, AT(field, int: 0, unsigned: 0)
#define WORD(field, first)                                                     \
	.take = CS_TAKE_WORD, .number = first, AT(field, int: 0, unsigned: 0)
#define TEXT(field) .take = CS_TAKE_TEXT, AT(field, const char *: 0)
#define SHARE(field) .take = CS_TAKE_SHARE, AT(field, double: 0)
#define DURATION(field) .take = CS_TAKE_DURATION, AT(field, double: 0)
#define NUMBER(field, from, to)                                                \
	.take = CS_TAKE_NUMBER, .least = from, .most = to, AT(field, uint32_t: 0)
#define BYTES(field) .take = CS_TAKE_BYTES, AT(field, uint64_t: 0)
#define NUMBERS(field, mask, text)                                             \
	.take = CS_TAKE_NUMBERS, .most = mask, .allowed = text, AT(field, uint64_t: 0)
#define POWERS(field, mask, text)                                              \
	.take = CS_TAKE_POWERS, .most = mask, .allowed = text, AT(field, uint64_t: 0)
#define OWN(setter) .take = CS_TAKE_OWN, .set = setter
#define HEADING(text) { .help = text }

#define FORMAT_FILE(name, ending, view, about, ...) ", " name about
#define FORMAT(name, view, about, ...) ", " name about
static const char format_help[] = "of standard output: text"
#include "report/formats.def"
	;
#undef FORMAT_FILE
#undef FORMAT
#define FORMAT_FILE(name, ending, view, about, ...) ", " ending about
#define FORMAT(...)
static const char output_help[] =
	"also write FILE; its ending chooses the format: .txt"
#include "report/formats.def"
	"; repeatable; %N host, %j job id, %t start, %% a %";

/* Long texts in few lines: the tables are laid out by hand. */
/* clang-format off */
static const struct cs_option measure_options[] = {
#include "options/options.def"
};

static const struct cs_option compare_options[] = {
	MARGIN,
	{ "baseline", 0, "FILE[,...]", "a file of 'cscope-mpi baseline': it gives the difference between runs "
	  "where a side has only one", TEXT(baseline) },
	HEADING("Output"),
	{ "output", 'o', "FILE", "also write FILE; .txt, .json, .csv or .html; repeatable",
	  OWN(cs_set_output) },
	{ "format", 'f', "FORMAT", "of standard output: text, json, csv, html",
	  OWN(cs_set_format) },
	QUIET,
	{ "verbose", 'v', NULL, "every cell", FLAG(view.verbose, 1) },
	HELP,
};

static const struct cs_option show_options[] = {
	HEADING("What to show"),
	{ "gpu", 0, "N", "only the cells from and to this GPU", OWN(cs_set_gpu) },
	{ "cell", 0, "A,B", "one cell, as 2,3 or host,0 or 0,numa1 or 2->3: all of its figures, its "
	  "samples, and similar cells", OWN(cs_set_cell) },
	{ "topology", 0, NULL, "how the nodes are wired and set, instead of figures",
	  FLAG(view.topology, 1) },
	MODEL,
	HEADING("Output"),
	OUTPUT,
	STDOUT,
	{ "compact", 0, NULL, "JSON without what can be derived from the rest: about half the size, and show prints the same", FLAG(compact, 1) },
	REDACT,
	QUIET,
	VERBOSE,
	COLOR,
	HELP,
};

static const struct cs_option baseline_options[] = {
	{ "output", 'o', "FILE", "write FILE: .json, the baseline, or .txt; repeatable",
	  OWN(cs_set_output) },
	{ "format", 'f', "FORMAT", "of standard output: text, json", OWN(cs_set_format) },
	MARGIN,
	QUIET,
	HELP,
};

static const struct cs_option learn_options[] = {
	{ "output", 'o', "FILE", "write FILE: .json, for a folder of CS_KNOWN, or .txt; repeatable",
	  OWN(cs_set_output) },
	{ "format", 'f', "FORMAT", "of standard output: text, json", OWN(cs_set_format) },
	QUIET,
	HELP,
};

static const struct cs_option check_options[] = {
	{ "nodes", 0, "HOSTLIST", "the nodes that should exist, as n[001-500],m3; one without a file is a "
	  "finding", OWN(cs_set_nodes) },
	{ "drain-command", 0, "COMMAND", "instead of the report, print a command for each node that should be "
	  "drained; %n is its name, %r the reason, quoted for a shell; or slurm, pbs, flux, "
	  "kubernetes. The commands are never run", OWN(cs_set_drain) },
	BASELINE,
	THRESHOLD,
	SWITCHES,
	MIN_SHARE,
	MIN_COVERAGE,
	EXPECT,
	MARGIN,
	HEADING("Output"),
	OUTPUT,
	STDOUT,
	REDACT,
	QUIET,
	{ "verbose", 'v', NULL, "every finding with all of its hosts", FLAG(view.verbose, 1) },
	HELP,
};

_Static_assert(CS_VARIANT_THREADS == 64, "a bit of --threads for each number");
_Static_assert(sizeof(measure_options) / sizeof(*measure_options) <=
		       CS_VERB_OPTIONS_MOST,
	       "more options than there is room for");

#define OPTIONS(table) table, sizeof(table) / sizeof(*(table))

const struct cs_verb cs_verbs[CS_VERBS] = {
	{ "", NULL, 0, "", "", CS_ACTION_MEASURE, OPTIONS(measure_options) },
	{ "show", "FILE[:NODE]", 1, "the report of a .json or .jsonl file in any format, also of a run that was "
	  "killed", "the report of a result file, in any format", CS_ACTION_SHOW, OPTIONS(show_options) },
	{ "compare", "A [B]", 2, "are two runs, nodes or placements the same? A and B are FILE, FILE:NODE or "
	  "FILE:PLACEMENT, or several separated by commas; one file with several "
	  "placements needs no B. With one run on each side, differences apply to "
	  "these two runs only, status 0. Exit status 0 the same, 1 different, 3 not "
	  "comparable", "are two runs, nodes or placements the same?", CS_ACTION_COMPARE, OPTIONS(compare_options) },
	{ "baseline", "FILE...", INT_MAX, "results of healthy nodes by hardware class and test, from runs on several "
	  "nodes and days; for --baseline",
	  "results of healthy nodes, for --baseline", CS_ACTION_BASELINE, OPTIONS(baseline_options) },
	{ "learn", "FILE...", INT_MAX, "figures that are usual of such GPUs, from runs of healthy machines and from files "
	  "that it wrote before; reports of GPUs of the same model show them",
	  "figures that are usual of such GPUs, for reports", CS_ACTION_LEARN, OPTIONS(learn_options) },
	{ "check", "FILE...", INT_MAX, "which nodes are faulty, or differ from the others? Judges files that "
	  "independent nodes wrote (--no-mpi -o %N.jsonl), or one job; exit status as "
	  "with --check", "which nodes of many files are faulty, or differ?", CS_ACTION_CHECK, OPTIONS(check_options) },
};
/* clang-format on */

const struct cs_verb *cs_verb_named(const char *name)
{
	for (size_t i = 0; i < CS_VERBS; i++)
		if (!strcmp(cs_verbs[i].name, name))
			return &cs_verbs[i];
	return NULL;
}
