#include "config.h"

#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "check/check.h"

/* One option.  `set` gets the argument (NULL for a flag) and says in `err` only
 * what is allowed; option and value are put in front of it. */
struct option_line {
	const char *name;
	char letter;		/* 0 none */
	const char *argument;	/* for --help; NULL: a flag; "[=…]": optional */
	const char *help;
	int (*set)(struct cs_options *opt, const char *value, struct cs_err *err);
};

/* A word out of a list; each has the bit or value of its position + 1. */
static int pick(const char *value, const char *const *words, int *out,
		struct cs_err *err)
{
	char all[160] = "";

	for (int i = 0; words[i]; i++) {
		size_t used = strlen(all);

		if (!strcmp(words[i], value)) {
			*out = i;
			return 0;
		}
		cs_text(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
			words[i]);
	}
	return cs_err_set(err, "allowed are %s", all);
}

static int set_matrix(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	static const char *const words[] = { "peer", "d2d", NULL };
	char copy[120], *save = NULL;
	int which;

	cs_text(copy, sizeof(copy), "%s", value);
	if (!value[strspn(value, ",")] || strlen(value) >= sizeof(copy))
		return cs_err_set(err, "allowed are peer, d2d");
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save))
		if (pick(item, words, &which, err))
			return -1;
	opt->matrix = 1;
	cs_text(opt->matrix_store, sizeof(opt->matrix_store), "--matrix %s",
		value);
	return 0;
}

static int set_test(struct cs_options *opt, const char *value,
		    struct cs_err *err)
{
	size_t n;
	char *chosen;
	int rc;

	cs_catalogue(&n);
	chosen = calloc(n, 1);
	if (!chosen)
		return cs_err_set(err, "no memory");
	/* a name of either backend will do until the backend is known */
	rc = cs_tests_choose(value, CS_BACKEND_CUDA, chosen, err);
	if (rc && !cs_tests_choose(value, CS_BACKEND_CPU, chosen, NULL))
		rc = 0;
	free(chosen);
	opt->tests = value;
	cs_text(opt->matrix_store, sizeof(opt->matrix_store), "--test %s", value);
	return rc;
}

static int set_op(struct cs_options *opt, const char *value, struct cs_err *err)
{
	static const char *const words[] = { "write", "read", "both", NULL };
	int which;

	if (pick(value, words, &which, err))
		return -1;
	opt->op_mask = which == 0 ? 1u << CS_OP_WRITE :
		       which == 1 ? 1u << CS_OP_READ :
				    1u << CS_OP_WRITE | 1u << CS_OP_READ;
	return 0;
}

static int set_pattern(struct cs_options *opt, const char *value,
		       struct cs_err *err)
{
	static const char *const words[] = { "pair", "bidi", NULL };
	char copy[64], *save = NULL;
	unsigned mask = 0;
	int which;

	cs_text(copy, sizeof(copy), "%s", value);
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		if (pick(item, words, &which, err))
			return -1;
		mask |= 1u << which;
	}
	if (!mask || strlen(value) >= sizeof(copy))
		return cs_err_set(err, "allowed are pair, bidi");
	opt->pattern_mask = mask;
	return 0;
}

static int set_size(struct cs_options *opt, const char *value, struct cs_err *err)
{
	uint64_t bytes;

	if (cs_size_parse(value, &bytes, err))
		return -1;
	if (!bytes || bytes % 16)
		return cs_err_set(err, "a size is a multiple of 16 bytes");
	opt->set.copy_bytes = bytes;
	return 0;
}

static int set_gpus(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return cs_gpu_list_parse(value, &opt->gpus, err);
}

static int set_backend(struct cs_options *opt, const char *value,
		       struct cs_err *err)
{
	static const char *const words[] = { "auto", "cuda", "cpu", NULL };
	int which;

	if (pick(value, words, &which, err))
		return -1;
	opt->backend = (enum cs_want)which;
	return 0;
}

static int set_bind(struct cs_options *opt, const char *value, struct cs_err *err)
{
	static const char *const words[] = { "auto", "inherit", "none", NULL };
	int which;

	if (pick(value, words, &which, err))
		return -1;
	opt->bind = (enum cs_bind)which;
	return 0;
}

static int set_mpi(struct cs_options *opt, const char *value, struct cs_err *err)
{
	(void)value;
	(void)err;
	opt->mpi = 1;
	return 0;
}

static int set_no_mpi(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	(void)value;
	(void)err;
	opt->mpi = 0;
	return 0;
}

static int set_precision(struct cs_options *opt, const char *value,
			 struct cs_err *err)
{
	return cs_share_parse(value, &opt->set.precision, err);
}

static int set_cell_limit(struct cs_options *opt, const char *value,
			  struct cs_err *err)
{
	return cs_duration_parse(value, &opt->set.cell_limit_s, err);
}

static int set_start_limit(struct cs_options *opt, const char *value,
			   struct cs_err *err)
{
	return cs_duration_parse(value, &opt->set.start_limit_s, err);
}

static int set_seed(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return cs_uint_parse(value, 0, UINT64_MAX, &opt->set.seed, err);
}

static int set_verify(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	static const char *const words[] = { "all", "last", "off", NULL };
	int which;

	if (pick(value, words, &which, err))
		return -1;
	opt->set.verify = (uint32_t)which;
	return 0;
}

/* Without a value all kinds, on what is measured. */
static int set_check(struct cs_options *opt, const char *value,
		     struct cs_err *err)
{
	uint32_t checks = cs_checks_all();

	if (value && cs_checks_parse(value, &checks, err))
		return -1;
	opt->checks = checks;
	opt->look_only = value && checks == CS_CHECK_LAUNCH;
	if (opt->look_only)
		cs_text(opt->matrix_store, sizeof(opt->matrix_store),
			"--check=%s", value);
	return 0;
}

static int set_output(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	if (!cs_format_by_file(value))
		return cs_err_set(err,
			"allowed endings are .txt, .json, .jsonl, .csv");
	for (const char *at = value; (at = strchr(at, '%')); at += 2)
		if (!at[1] || !strchr("Njt%", at[1]))
			return cs_err_set(err,
				"after a %% allowed are N, j, t and %%");
	if (opt->n_outputs == CS_OUTPUTS_MAX)
		return cs_err_set(err, "at most %d outputs", CS_OUTPUTS_MAX);
	opt->output[opt->n_outputs++] = value;
	return 0;
}

static int set_format(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	opt->format = cs_format_by_name(value);
	return opt->format ? 0 : cs_err_set(err,
		"allowed are text, json, jsonl, csv, result");
}

static int set_quiet(struct cs_options *opt, const char *value,
		     struct cs_err *err)
{
	(void)value;
	(void)err;
	opt->quiet = 1;
	return 0;
}

static int set_verbose(struct cs_options *opt, const char *value,
		       struct cs_err *err)
{
	(void)value;
	(void)err;
	opt->verbose = 1;
	return 0;
}

#define ACTION(name, what)                                                     \
	static int name(struct cs_options *opt, const char *value,             \
			struct cs_err *err)                                    \
	{                                                                      \
		(void)value;                                                   \
		(void)err;                                                     \
		opt->action = what;                                            \
		return 0;                                                      \
	}
ACTION(set_list, CS_ACTION_LIST)
ACTION(set_dry_run, CS_ACTION_DRY_RUN)
ACTION(set_help, CS_ACTION_HELP)
ACTION(set_version, CS_ACTION_VERSION)

static int set_explain(struct cs_options *opt, const char *value,
		       struct cs_err *err)
{
	(void)err; /* who looks it up says what is not there */
	opt->action = CS_ACTION_EXPLAIN;
	opt->explain = value;
	return 0;
}

/* A line without a name is a heading. */
static const struct option_line lines[] = {
	{ NULL, 0, NULL, "What to measure", NULL },
	{ "matrix", 'm', "KIND", "peer (or d2d): every GPU to every other GPU of "
	  "the node, one way and both ways; the default", set_matrix },
	{ "test", 't', "NAME[,...]", "tests by name or glob, see --list",
	  set_test },
	{ NULL, 0, NULL, "How", NULL },
	{ "op", 0, "write|read|both", "who issues a copy: the source's GPU "
	  "(write, the default), the destination's (read)", set_op },
	{ "pattern", 0, "pair,bidi", "one way, both ways at once; default both "
	  "of them", set_pattern },
	{ "size", 's', "BYTES", "of one copy, with K, M, G, T; default 512M, on "
	  "the cpu backend 64M", set_size },
	{ "gpus", 0, "LIST", "indices, ranges, bus ids, UUIDs as nvidia-smi -i; "
	  "a single number is a count with --dry-run and the cpu backend",
	  set_gpus },
	{ "backend", 0, "auto|cuda|cpu", "auto: CUDA wherever there is a GPU; "
	  "cpu: copies between arenas of host memory", set_backend },
	{ "bind", 0, "auto|inherit|none", "each agent to the NUMA domain of its "
	  "GPU, as launched, or nowhere", set_bind },
	{ "mpi", 0, NULL, "call MPI even where no launcher is seen", set_mpi },
	{ "no-mpi", 0, NULL, "never call MPI: this process is one node",
	  set_no_mpi },
	{ NULL, 0, NULL, "Sampling", NULL },
	{ "precision", 0, "SHARE", "a cell ends when half the 95 % interval of "
	  "its median is within this; default 0.5%, cpu backend 2%",
	  set_precision },
	{ "cell-limit", 0, "TIME", "... or after this, flagged; default 2s, cpu "
	  "backend 250ms", set_cell_limit },
	{ "start-limit", 0, "TIME", "for the driver to start; default 30s",
	  set_start_limit },
	{ "seed", 0, "N", "of the order of cells and of the data; default: "
	  "today's date", set_seed },
	{ "verify", 0, "all|last|off", "check the data of every sample (default), "
	  "of the last of each cell, or not", set_verify },
	{ NULL, 0, NULL, "Judging", NULL },
	{ "check", 0, "[=KIND,...]", "findings make the exit status, and cells of "
	  "a GPU in use are skipped; KIND launch alone measures nothing: what each "
	  "rank sees, and what to change", set_check },
	{ NULL, 0, NULL, "Output", NULL },
	{ "output", 'o', "FILE", "also write FILE; .txt, .json, .jsonl or .csv; "
	  "repeatable; %N host, %j job id, %t start, %% a %", set_output },
	{ "format", 'f', "FORMAT", "of standard output: text, json, jsonl, csv, "
	  "result", set_format },
	{ "quiet", 'q', NULL, "nothing on standard output, no progress",
	  set_quiet },
	{ "verbose", 'v', NULL, "every node and every detail", set_verbose },
	{ NULL, 0, NULL, "Without MPI and without a GPU", NULL },
	{ "list", 'l', NULL, "the tests", set_list },
	{ "explain", 0, "NAME|CODE", "a test (what moves, how it is timed, what "
	  "other tools call it), or an error and its remedy: peer.ce.read.pair, "
	  "802, nvml-18; list: all of them", set_explain },
	{ "dry-run", 'n', NULL, "the plan: steps, bytes, memory, expected time",
	  set_dry_run },
	{ "help", 'h', NULL, "this text", set_help },
	{ "version", 'V', NULL, "version, build and libraries", set_version },
};
#define N_LINES (sizeof(lines) / sizeof(*lines))

static int is_optional(const struct option_line *line)
{
	return line->argument && line->argument[0] == '[';
}

static const struct option_line *by_name(const char *name, size_t length)
{
	for (size_t i = 0; i < N_LINES; i++)
		if (lines[i].name && strlen(lines[i].name) == length &&
		    !strncmp(lines[i].name, name, length))
			return &lines[i];
	return NULL;
}

static const struct option_line *by_letter(int letter)
{
	for (size_t i = 0; i < N_LINES; i++)
		if (lines[i].letter && lines[i].letter == letter)
			return &lines[i];
	return NULL;
}

/* getopt_long takes any unique beginning of a name: refuse that first, so that a
 * new option never changes what an old script means. */
static int refuse_abbreviations(int argc, char **argv, struct cs_err *err)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const struct option_line *line;
		size_t length;

		if (strncmp(argv[i], "--", 2)) {
			line = argv[i][0] == '-' && argv[i][1] && !argv[i][2] ?
				       by_letter(argv[i][1]) : NULL;
			i += line && line->argument && !is_optional(line);
			continue;
		}
		length = strcspn(argv[i] + 2, "=");
		line = by_name(argv[i] + 2, length);
		if (!line)
			return cs_err_set(err,
				"unknown option '%.*s'; 'cscope-mpi --help' lists them",
				(int)length + 2, argv[i]);
		i += line->argument && !is_optional(line) &&
		     argv[i][length + 2] != '=';
	}
	return 0;
}

static void make_getopt(struct option *longs, char *shorts)
{
	*shorts++ = ':'; /* report a missing argument as ':' */
	for (size_t i = 0; i < N_LINES; i++) {
		const struct option_line *line = &lines[i];

		if (!line->name)
			continue;
		*longs++ = (struct option){ line->name, is_optional(line) ?
					    optional_argument : line->argument ?
					    required_argument : no_argument,
					    NULL, 1000 + (int)i };
		if (!line->letter)
			continue;
		*shorts++ = line->letter;
		if (line->argument)
			*shorts++ = ':';
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

static int apply(const struct option_line *line, struct cs_options *opt,
		 const char *value, struct cs_err *err)
{
	if (!line->set(opt, value, err))
		return 0;
	return cs_err_prefix(err, "--%s '%s'", line->name, value ? value : "");
}

static void defaults(struct cs_options *opt)
{
	memset(opt, 0, sizeof(*opt));
	opt->op_mask = 1u << CS_OP_WRITE;
	opt->pattern_mask = 1u << CS_PATTERN_PAIR | 1u << CS_PATTERN_BIDI;
	opt->mpi = -1;
	opt->set.start_limit_s = 30;
	opt->format = cs_format_by_name("text");
	cs_text(opt->matrix_store, sizeof(opt->matrix_store), "--matrix peer");
	opt->matrix_text = opt->matrix_store;
}

/* getopt stays at an argument until all its letters are read: only the letter
 * itself is sure then.  `before` is the argument that getopt has left. */
static int refuse_unknown(int letter, const char *before, struct cs_err *err)
{
	char one[3] = { '-', (char)letter, '\0' };
	int is_letter = letter && letter < 256; /* below 0: not ASCII */

	return cs_err_set(err,
		"unknown option or value at '%s'; 'cscope-mpi --help' lists them",
		is_letter ? one : before);
}

int cs_options_parse(int argc, char **argv, struct cs_options *out,
		     struct cs_err *err)
{
	struct option longs[N_LINES + 1];
	char shorts[2 * N_LINES + 2];
	int got;

	defaults(out);
	make_getopt(longs, shorts);
	if (refuse_abbreviations(argc, argv, err))
		return -1;
	optind = 0; /* start anew, also on a second call */
	opterr = 0;
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_line *line =
			got >= 1000 ? &lines[got - 1000] : by_letter(got);

		if (got == ':')
			return cs_err_set(err, "option '%s' needs a value",
					  argv[optind - 1]);
		if (got == '?' || !line)
			return refuse_unknown(optopt, argv[optind - 1], err);
		if (apply(line, out, optarg, err))
			return -1;
	}
	if (optind < argc)
		return cs_err_set(err,
			"unexpected argument '%s'; 'cscope-mpi --help' lists the options",
			argv[optind]);
	if (out->tests && out->matrix)
		return cs_err_set(err, "--matrix and --test exclude each other");
	if (out->look_only && (out->tests || out->matrix))
		return cs_err_set(err, "--check=launch measures nothing: without "
				  "%s, or --check alone to judge what is measured",
				  out->tests ? "--test" : "--matrix");
	out->matrix_text = out->matrix_store;
	return 0;
}

/* Help texts are wrapped behind a column for the names. */
static void wrap(FILE *to, const char *text, int column, int width)
{
	int at = column;

	while (*text) {
		int word = (int)strcspn(text, " ");

		if (at > column && at + 1 + word > width) {
			fprintf(to, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', to);
			at++;
		}
		fprintf(to, "%.*s", word, text);
		at += word;
		text += word;
		text += *text == ' ';
	}
	fputc('\n', to);
}

int cs_options_help(FILE *to)
{
	fputs("Usage: mpirun -np N cscope-mpi [OPTION]...\n"
	      "       cscope-mpi [OPTION]...            (one process: a thread per GPU)\n"
	      "Measures how fast data moves between the GPUs of each node, as an MPI job\n"
	      "sees it, and checks every byte.\n", to);
	for (size_t i = 0; i < N_LINES; i++) {
		const struct option_line *line = &lines[i];
		char left[64];

		if (!line->name) {
			fprintf(to, "\n%s:\n", line->help);
			continue;
		}
		cs_text(left, sizeof(left), "  %c%c%s--%s%s%s",
			line->letter ? '-' : ' ',
			line->letter ? line->letter : ' ',
			line->letter ? ", " : "  ", line->name,
			line->argument && !is_optional(line) ? " " : "",
			line->argument ? line->argument : "");
		fprintf(to, "%-30s", left);
		if (strlen(left) >= 30)
			fprintf(to, "\n%30s", "");
		wrap(to, line->help, 30, 80);
	}
	fputs("\nExit status: 0 measured; 1 under --check a warning; 2 a cell failed, timed out\n"
	      "or was corrupt, a process died, or under --check a critical finding; 3 could\n"
	      "not test; 64 usage; 128 + N ended by signal N.\n", to);
	return ferror(to) ? -1 : 0;
}

int cs_options_line(size_t index, struct cs_option_help *out)
{
	if (index >= N_LINES)
		return -1;
	*out = (struct cs_option_help){ lines[index].name, lines[index].letter,
					lines[index].argument,
					lines[index].help };
	return 0;
}

int cs_options_choose(const struct cs_options *opt,
		      enum cs_backend_kind backend, char *chosen,
		      struct cs_err *err)
{
	if (opt->tests)
		return cs_tests_choose(opt->tests, backend, chosen, err);
	cs_tests_matrix(CS_PATH_PEER, opt->op_mask, opt->pattern_mask, backend,
			chosen);
	return 0;
}
