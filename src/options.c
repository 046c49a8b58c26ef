#include "config.h"

#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "check/check.h"
#include "base/hostlist.h"
#include "check/compare.h"
#include "plan/alias.h"

#define BUDGET_LEAST_S 1 /* a driver alone may take as long to start */

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

/* Words with commas between them as a mask of their positions.  "random:4" and the
 * like: *k[position] gets the number, where that has a place. */
static int pick_many(const char *value, const char *const *words, unsigned *mask,
		     uint32_t *const *k, struct cs_err *err)
{
	char copy[100], *save = NULL;
	uint64_t number;
	int which;

	cs_text(copy, sizeof(copy), "%s", value);
	*mask = 0;
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(item, ':');

		if (colon)
			*colon = '\0';
		if (pick(item, words, &which, err))
			return -1;
		if (colon && (!k || !k[which] ||
			      cs_uint_parse(colon + 1, 1, CS_MAX_AGENTS - 1,
					    &number, err)))
			return cs_err_set(err, "behind ':' stands a number from 1 "
					  "on, of shift and random");
		if (colon)
			*k[which] = (uint32_t)number;
		*mask |= 1u << which;
	}
	return *mask && strlen(value) < sizeof(copy) ? 0 :
						       pick("", words, &which, err);
}

static int set_matrix(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	static const char *const words[] = { "peer", "cost", "h2d", "d2h", "local",
					     "host", "d2d", "h2h", NULL };
	unsigned mask;

	if (pick_many(value, words, &mask, NULL, err))
		return -1;
	/* the last two are other names */
	opt->axes.matrices = (mask & 0x3f) | (mask >> 6 & 1 ? CS_MATRIX_PEER : 0) |
			     (mask >> 7 & 1 ? CS_MATRIX_HOST : 0);
	cs_text(opt->matrix_store, sizeof(opt->matrix_store), "--matrix %s",
		value);
	return 0;
}

/* Whether there are such tests depends on other options: see check_tests. */
static int set_test(struct cs_options *opt, const char *value,
		    struct cs_err *err)
{
	if (opt->suite)
		return cs_err_set(err, "--test and --suite exclude each other");
	opt->tests = value;
	cs_text(opt->matrix_store, sizeof(opt->matrix_store), "--test %s", value);
	return 0;
}

/* What is measured where nothing says what. */
#define DEFAULT_SUITE "quick"

static int set_suite(struct cs_options *opt, const char *value,
		     struct cs_err *err)
{
	const char *tests = cs_suite(value);
	char all[80] = "";

	for (size_t i = 0; cs_suite_name(i); i++)
		cs_text(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			i ? ", " : "", cs_suite_name(i));
	if (!tests)
		return cs_err_set(err, "allowed are %s", all);
	if (opt->tests && !opt->suite)
		return cs_err_set(err, "--test and --suite exclude each other");
	opt->suite = value;
	opt->tests = tests;
	cs_text(opt->matrix_store, sizeof(opt->matrix_store), "--suite %s", value);
	return 0;
}

static int set_plan(struct cs_options *opt, const char *value,
		    struct cs_err *err)
{
	(void)err; /* who reads it says what is wrong in it */
	opt->plan = value;
	cs_text(opt->matrix_store, sizeof(opt->matrix_store), "--plan %s", value);
	return 0;
}

static int set_op(struct cs_options *opt, const char *value, struct cs_err *err)
{
	static const char *const words[] = { "write", "read", "both", NULL };
	int which;

	if (pick(value, words, &which, err))
		return -1;
	opt->axes.ops = which == 0 ? 1u << CS_OP_WRITE :
		       which == 1 ? 1u << CS_OP_READ :
				    1u << CS_OP_WRITE | 1u << CS_OP_READ;
	return 0;
}

static int set_pattern(struct cs_options *opt, const char *value,
		       struct cs_err *err)
{
	static const char *const words[] = {
		"pair", "bidi", "shift", "ring", "bisect", "all-to-one",
		"one-to-all", "rounds", "random", "load", "bidiload", "all",
		"bidiall", NULL
	};
	uint32_t *const k[] = { NULL, NULL, &opt->set.shift, NULL, NULL, NULL,
				NULL, NULL, &opt->set.random, NULL, NULL, NULL, NULL };

	return pick_many(value, words, &opt->axes.patterns, k, err);
}

static int set_method(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	static const char *const words[] = { "ce", "cpu", "sm", "driver",
					     "peercopy", "staged", "tma", "chase",
					     NULL };

	return pick_many(value, words, &opt->axes.methods, NULL, err);
}

static int set_host_memory(struct cs_options *opt, const char *value,
			   struct cs_err *err)
{
	static const char *const words[] = { "pinned", "registered", "wc", "huge",
					     NULL };

	if (pick_many(value, words, &opt->axes.memories, NULL, err))
		return -1;
	opt->axes.memories <<= CS_MEM_PINNED;
	return 0;
}

/* "0,2-3" as bits. */
static int set_numa(struct cs_options *opt, const char *value, struct cs_err *err)
{
	const char *allowed = "allowed are local, all, or NUMA domains as 0,2-3";
	char *end;

	opt->set.numa = 0;
	if (!strcmp(value, "local"))
		return 0;
	if (!strcmp(value, "all")) {
		opt->set.numa = UINT64_MAX;
		return 0;
	}
	for (const char *at = value;; at = end + 1) {
		unsigned long first, last;

		if (*at < '0' || *at > '9')
			return cs_err_set(err, "%s", allowed);
		first = last = strtoul(at, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (first > last || last >= CS_NUMA_MOST || (*end && *end != ','))
			return cs_err_set(err, "%s", allowed);
		for (; first <= last; first++)
			opt->set.numa |= 1ull << first;
		if (!*end)
			return 0;
	}
}

static int size_of(const char *text, size_t length, uint64_t *bytes,
		   struct cs_err *err)
{
	char one[32];

	cs_text(one, sizeof(one), "%.*s", (int)(length < 31 ? length : 31), text);
	if (cs_size_parse(one, bytes, err))
		return -1;
	return !*bytes || *bytes % 16 ?
		       cs_err_set(err, "a size is a multiple of 16 bytes") : 0;
}

/* "512M", or a sweep "4K:1G:x2". */
static int set_size(struct cs_options *opt, const char *value, struct cs_err *err)
{
	size_t first = strcspn(value, ":"), last;
	const char *rest = value + first;
	char *end;

	opt->set.last_bytes = 0;
	opt->set.growth = 0;
	if (size_of(value, first, &opt->set.copy_bytes, err))
		return -1;
	if (!*rest)
		return 0;
	last = strcspn(++rest, ":");
	if (size_of(rest, last, &opt->set.last_bytes, err))
		return -1;
	opt->set.growth = 2;
	if (rest[last]) {
		opt->set.growth = rest[last + 1] == 'x' ?
			strtod(rest + last + 2, &end) : 0;
		if (!(opt->set.growth >= 1.01) || !(opt->set.growth <= 1e6) || *end)
			return cs_err_set(err, "a sweep is FIRST:LAST:xFACTOR, "
					  "as 4K:1G:x2, with a factor from "
					  "1.01 on");
	}
	if (opt->set.last_bytes < opt->set.copy_bytes)
		return cs_err_set(err, "a sweep goes from the smaller size to the "
				  "larger, as 4K:1G:x2");
	return 0;
}

static int set_spread(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	return cs_size_parse(value, &opt->set.spread_bytes, err);
}

static int set_schedule(struct cs_options *opt, const char *value,
			struct cs_err *err)
{
	int which;

	if (pick(value, cs_schedule_words, &which, err))
		return -1;
	opt->set.schedule = (uint32_t)which;
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

static int set_placement(struct cs_options *opt, const char *value,
			 struct cs_err *err)
{
	return cs_placements_parse(value, &opt->placements, err);
}

static int set_via(struct cs_options *opt, const char *value, struct cs_err *err)
{
	int which;

	if (pick(value, cs_way_words, &which, err))
		return -1;
	opt->set.via = (uint32_t)which;
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

static int set_budget(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	double seconds;

	if (cs_duration_parse(value, &seconds, err))
		return -1;
	if (seconds < BUDGET_LEAST_S)
		return cs_err_set(err, "a budget is at least %d s", BUDGET_LEAST_S);
	opt->budget_s = cs_ten_digits(seconds);
	opt->set.urgent = 1;
	return 0;
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
	opt->looks = value && cs_checks_only_look(checks) ? value : NULL;
	if (opt->looks)
		cs_text(opt->matrix_store, sizeof(opt->matrix_store),
			"--check=%s", value);
	return 0;
}

static int set_topology(struct cs_options *opt, const char *value,
			struct cs_err *err)
{
	(void)value;
	(void)err;
	opt->topology = 1;
	return 0;
}

static int set_margin(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	return cs_share_parse(value, &opt->margin, err);
}

/* Who reads a file says what is wrong in it. */
static int set_baseline(struct cs_options *opt, const char *value,
			struct cs_err *err)
{
	(void)err;
	opt->baseline = value;
	return 0;
}

static int set_threshold(struct cs_options *opt, const char *value,
			 struct cs_err *err)
{
	(void)err;
	opt->threshold = value;
	return 0;
}

static int set_min_share(struct cs_options *opt, const char *value,
			 struct cs_err *err)
{
	return cs_share_parse(value, &opt->min_share, err);
}

/* Read when it is needed; here only whether it is one. */
static int set_nodes(struct cs_options *opt, const char *value, struct cs_err *err)
{
	struct cs_vec names = { NULL, 0, 0, CS_HOST };
	int rc = cs_hostlist_parse(value, &names, err);

	cs_vec_release(&names);
	opt->nodes = value;
	return rc;
}

static int set_output(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	if (!cs_format_by_file(value))
		return cs_err_set(err,
			"allowed endings are .txt, .json, .jsonl, .csv, .prom, .xml");
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
	return opt->format ? 0 : cs_err_set(err, "allowed are text, json, jsonl, "
					    "csv, result, reason, prom, nagios, junit, "
					    "nvbandwidth, nvbandwidth-json");
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

static int set_redact(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	(void)value;
	(void)err;
	opt->redact = 1;
	return 0;
}

static int set_resume(struct cs_options *opt, const char *value,
		      struct cs_err *err)
{
	const struct cs_format *format = cs_format_by_file(value);

	if (!format || strcmp(format->name, "jsonl") != 0)
		return cs_err_set(err, "a journal's name ends in .jsonl");
	opt->resume = value;
	return 0;
}

/* "3", "3:1" of a MIG instance: what a report calls it. */
static int take_label(const char *text, size_t length, char *to, size_t size)
{
	size_t n = strspn(text, "0123456789");

	if (n && text[n] == ':')
		n += 1 + strspn(text + n + 1, "0123456789");
	if (!n || n != length || text[n - 1] == ':' || length >= size)
		return -1;
	cs_text(to, size, "%.*s", (int)length, text);
	return 0;
}

static int set_gpu(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (take_label(value, strlen(value), opt->only[0], sizeof(opt->only[0])))
		return cs_err_set(err, "allowed is one GPU as the report numbers "
				  "it, as 3 or 3:1");
	return 0;
}

static int set_cell(struct cs_options *opt, const char *value,
		    struct cs_err *err)
{
	size_t n = strcspn(value, ",");

	if (value[n] != ',' ||
	    take_label(value, n, opt->only[0], sizeof(opt->only[0])) ||
	    take_label(value + n + 1, strlen(value + n + 1), opt->only[1],
		       sizeof(opt->only[1])))
		return cs_err_set(err, "allowed are a source and a destination "
				  "as the report numbers them, as 2,3");
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
#define OUTPUT                                                                 \
	{ "output", 'o', "FILE", "also write FILE; .txt, .json, .jsonl, .csv, .prom " \
	  "(Prometheus textfile) or .xml (JUnit); repeatable; %N host, %j job id, %t start, %% a %", set_output }
#define FORMAT                                                                 \
	{ "format", 'f', "FORMAT", "of standard output: text, json, jsonl, csv, " \
	  "result, prom, nagios, junit; reason: one line for a scheduler; nvbandwidth, nvbandwidth-json: as version 0.8 prints and as " \
	  "0.10 writes JSON", set_format }
#define MARGIN                                                                 \
	{ "margin", 0, "SHARE", "within which two sides, or a cell and its "     \
	  "baseline, are the same; default 1%", set_margin }
#define BASELINE                                                               \
	{ "baseline", 0, "FILE[,...]", "judge each cell by what 'cscope-mpi "   \
	  "baseline' learnt of healthy nodes", set_baseline }
#define THRESHOLD                                                              \
	{ "threshold", 0, "FILE.csv", "judge cells by bounds: columns test, "   \
	  "class, size, bound (335 GB/s, 90%), severity", set_threshold }
#define MIN_SHARE                                                              \
	{ "min-share", 0, "SHARE", "of the live link's peak that every cell of "  \
	  "one transfer at a time must have, as 85%", set_min_share }
#define REDACT                                                                 \
	{ "redact", 0, NULL, "names for hosts, GPUs, job and files, in all " \
	  "outputs", set_redact }
#define HELP { "help", 'h', NULL, "this text", set_help }

static const struct option_line measure_lines[] = {
	{ NULL, 0, NULL, "What to measure", NULL },
	{ "matrix", 'm', "KIND[,...]", "peer (or d2d): every GPU to every other GPU "
	  "of the node, one way and both ways; what --op, --method, --pattern, --via "
	  "or several placements mean alone. h2d, d2h: host memory to GPUs and "
	  "back. local: within each GPU. host (or h2h): NUMA domain to NUMA "
	  "domain. cost: what a division "
	  "of the GPUs among processes costs (calls, small copies, ways to peers)",
	  set_matrix },
	{ "test", 't', "NAME[,...]", "tests by name or glob, see --list; also by "
	  "the names of nvbandwidth", set_test },
	{ "suite", 0, "NAME", "a list of tests: quick (between GPUs, from and to the "
	  "host, one way), which is the default; nvbandwidth, all of its tests of one node; "
	  "all", set_suite },
	{ "plan", 0, "FILE.csv", "the transfers of a file, in its steps: which at the "
	  "same time, which as load; --dry-run -o FILE.csv writes one", set_plan },
	{ NULL, 0, NULL, "How", NULL },
	{ "op", 0, "write|read|both", "who issues a copy: the source's GPU "
	  "(write, the default), the destination's (read)", set_op },
	{ "method", 0, "NAME[,...]", "who copies: ce (copy engine), sm (kernel), tma "
	  "(bulk copies of a kernel), chase (no copy: latency), peercopy, staged, "
	  "cpu; default ce, of local all but chase", set_method },
	{ "pattern", 0, "NAME[,...]", "pair, bidi (both ways at once), shift[:K], "
	  "ring, bisect (all at once), rounds (disjoint pairs at once), all-to-one, "
	  "one-to-all, random[:K]; with the "
	  "host pair, bidi, load, bidiload (all other GPUs as load), all, bidiall; "
	  "default pair,bidi", set_pattern },
	{ "host-memory", 0, "KIND[,...]", "pinned (the default), registered, wc, "
	  "huge", set_host_memory },
	{ "numa", 0, "local|all|LIST", "NUMA domains of host memory: that of each "
	  "GPU (the default), all, or some", set_numa },
	{ "size", 's', "BYTES", "of one copy, with K, M, G, T; default 512M, on "
	  "the cpu backend 64M; a sweep: FIRST:LAST:xFACTOR, as 4K:1G:x2",
	  set_size },
	{ "spread", 0, "BYTES", "copies of a kernel that are smaller go through so "
	  "much memory, or a cache would answer; default 256M, 1 for the same "
	  "place each time", set_spread },
	{ "gpus", 0, "LIST", "indices, ranges, bus ids, UUIDs as nvidia-smi -i; "
	  "a single number is a count with --dry-run and the cpu backend",
	  set_gpus },
	{ "backend", 0, "auto|cuda|cpu", "auto: CUDA wherever there is a GPU; "
	  "cpu: copies between arenas of host memory", set_backend },
	{ "via", 0, "auto|direct|ipc|fd|staged", "the only way to a peer's "
	  "buffer: peer access in one process, CUDA IPC, descriptors, or through "
	  "host memory; auto: the best there is", set_via },
	{ "bind", 0, "auto|inherit|none", "each agent to the NUMA domain of its "
	  "GPU, as launched, or nowhere", set_bind },
	{ "placement", 0, "process|thread|N[,...]", "GPUs of a process: one, all of "
	  "the node, N; several take turns in every cell and are compared; default: "
	  "as the ranks are", set_placement },
	{ "mpi", 0, NULL, "call MPI even where no launcher is seen", set_mpi },
	{ "no-mpi", 0, NULL, "never call MPI: this process is one node",
	  set_no_mpi },
	{ NULL, 0, NULL, "Sampling", NULL },
	{ "precision", 0, "SHARE", "a cell ends when half the 95 % interval of "
	  "its median is within this; default 0.5%, cpu backend 2%",
	  set_precision },
	{ "cell-limit", 0, "TIME", "... or after this, flagged; default 500ms, "
	  "cpu backend 250ms", set_cell_limit },
	{ "schedule", 0, "auto|serial|parallel", "pairs of GPUs without one in common "
	  "at the same time: where a few have shown that it changes none by more than "
	  "0.5 %, from 16 pairs on; never; always", set_schedule },
	{ "start-limit", 0, "TIME", "for the driver to start; default 30s",
	  set_start_limit },
	{ "budget", 0, "TIME", "the whole run, from its start to its exit, ends within "
	  "this, also when the driver hangs: the most telling cells come first, what "
	  "does not fit is left out, and the report says how much was measured; in "
	  "prologs: 25s", set_budget },
	{ "seed", 0, "N", "of the order of cells and of the data; default: "
	  "today's date", set_seed },
	{ "verify", 0, "all|last|off", "check the data of every sample (default), "
	  "of the last of each cell, or not", set_verify },
	{ NULL, 0, NULL, "Judging", NULL },
	{ "check", 0, "[=KIND,...]", "findings make the exit status, and cells of "
	  "a GPU in use are skipped; KINDs launch (what each rank sees, and what to "
	  "change) and topology (how the node is wired and set) alone measure "
	  "nothing; outlier: cells slower than their like, link: links below what "
	  "they could be; both look again at what is suspicious", set_check },
	BASELINE,
	THRESHOLD,
	MIN_SHARE,
	MARGIN,
	{ NULL, 0, NULL, "Output", NULL },
	OUTPUT,
	FORMAT,
	{ "resume", 0, "FILE.jsonl", "go on with the journal of a run that "
	  "ended early, and write to it: only what is missing is measured",
	  set_resume },
	REDACT,
	{ "quiet", 'q', NULL, "nothing on standard output, no progress",
	  set_quiet },
	{ "verbose", 'v', NULL, "every node and every detail", set_verbose },
	{ NULL, 0, NULL, "Without MPI and without a GPU", NULL },
	{ "list", 'l', NULL, "the tests", set_list },
	{ "explain", 0, "NAME|CODE", "a test (what moves, how it is timed, what "
	  "other tools call it), or an error and its remedy: peer.ce.read.pair, "
	  "802, nvml-18; list: all of them", set_explain },
	{ "dry-run", 'n', NULL, "the plan: steps, bytes, memory, expected time; "
	  "-o FILE.csv writes it for --plan", set_dry_run },
	HELP,
	{ "version", 'V', NULL, "version, build and libraries", set_version },
};

static int is_optional(const struct option_line *line)
{
	return line->argument && line->argument[0] == '[';
}

static const struct option_line compare_lines[] = {
	MARGIN,
	{ NULL, 0, NULL, "Output", NULL },
	{ "output", 'o', "FILE", "also write FILE; .txt, .json or .csv; repeatable",
	  set_output },
	{ "format", 'f', "FORMAT", "of standard output: text, json, csv",
	  set_format },
	{ "quiet", 'q', NULL, "nothing on standard output", set_quiet },
	{ "verbose", 'v', NULL, "every cell", set_verbose },
	HELP,
};

static const struct option_line show_lines[] = {
	{ NULL, 0, NULL, "What to show", NULL },
	{ "gpu", 0, "N", "only the cells from and to this GPU", set_gpu },
	{ "cell", 0, "A,B", "one cell: all of its figures, its samples, and the "
	  "cells to compare it with", set_cell },
	{ "topology", 0, NULL, "how the nodes are wired and set, in place of "
	  "figures", set_topology },
	{ NULL, 0, NULL, "Output", NULL },
	OUTPUT,
	FORMAT,
	REDACT,
	{ "quiet", 'q', NULL, "nothing on standard output", set_quiet },
	{ "verbose", 'v', NULL, "every node and every detail", set_verbose },
	HELP,
};

static const struct option_line baseline_lines[] = {
	{ "output", 'o', "FILE", "write FILE: .json, the baseline, or .txt; "
	  "repeatable", set_output },
	{ "format", 'f', "FORMAT", "of standard output: text, json", set_format },
	MARGIN,
	{ "quiet", 'q', NULL, "nothing on standard output", set_quiet },
	HELP,
};

static const struct option_line check_lines[] = {
	{ "nodes", 0, "HOSTLIST", "the nodes that there should be, as "
	  "n[001-500],m3: one without a file is found", set_nodes },
	BASELINE,
	THRESHOLD,
	MIN_SHARE,
	MARGIN,
	{ NULL, 0, NULL, "Output", NULL },
	OUTPUT,
	FORMAT,
	REDACT,
	{ "quiet", 'q', NULL, "nothing on standard output", set_quiet },
	{ "verbose", 'v', NULL, "every finding with all of its hosts", set_verbose },
	HELP,
};

/* What the program can be told to do; the first is what it does without a word. */
static const struct command {
	const char *name;
	const char *operand;	/* NULL: takes none */
	const char *help;
	enum cs_action action;
	const struct option_line *lines;
	size_t n;
} commands[] = {
	{ "", NULL, "", CS_ACTION_MEASURE, measure_lines,
	  sizeof(measure_lines) / sizeof(*measure_lines) },
	{ "show", "FILE[:NODE]", "the report of a .json or .jsonl file, also of a "
	  "run that was killed, in any format", CS_ACTION_SHOW, show_lines,
	  sizeof(show_lines) / sizeof(*show_lines) },
	{ "compare", "A [B]", "are two runs, nodes or placements the same? A and B are "
	  "FILE, FILE:NODE or FILE:PLACEMENT, or several with commas between them; "
	  "one file with several placements needs no B. Exit status 0 the same, 1 "
	  "different, 3 not comparable", CS_ACTION_COMPARE, compare_lines,
	  sizeof(compare_lines) / sizeof(*compare_lines) },
	{ "baseline", "FILE...", "what healthy nodes give, by hardware class and test, "
	  "learnt from runs of them, best of several nodes and days; for --baseline",
	  CS_ACTION_BASELINE, baseline_lines,
	  sizeof(baseline_lines) / sizeof(*baseline_lines) },
	{ "check", "FILE...", "which nodes are not as they should be, and not like the "
	  "others: judges what independent nodes wrote, as --no-mpi -o %N.jsonl, or one "
	  "job; exit status as under --check", CS_ACTION_CHECK, check_lines,
	  sizeof(check_lines) / sizeof(*check_lines) },
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))
#define LINES_MOST 48
_Static_assert(sizeof(measure_lines) / sizeof(*measure_lines) <= LINES_MOST,
	       "more options than there is room for");

static const struct command *command_of(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static const struct option_line *by_name(const struct command *command,
					 const char *name, size_t length)
{
	for (size_t i = 0; i < command->n; i++) {
		const struct option_line *line = &command->lines[i];

		if (line->name && strlen(line->name) == length &&
		    !strncmp(line->name, name, length))
			return line;
	}
	return NULL;
}

static const struct option_line *by_letter(const struct command *command,
					   int letter)
{
	for (size_t i = 0; i < command->n; i++)
		if (command->lines[i].letter && command->lines[i].letter == letter)
			return &command->lines[i];
	return NULL;
}

/* "'cscope-mpi show --help' lists …" */
#define SEE_HELP "'cscope-mpi%s%s --help' lists "
#define HELP_OF(command) *(command)->name ? " " : "", (command)->name

/* getopt_long takes any unique beginning of a name: refuse that first, so that a
 * new option never changes what an old script means. */
static int refuse_abbreviations(const struct command *command, int argc,
				char **argv, struct cs_err *err)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const struct option_line *line;
		size_t length;

		if (strncmp(argv[i], "--", 2)) {
			line = argv[i][0] == '-' && argv[i][1] && !argv[i][2] ?
				       by_letter(command, argv[i][1]) : NULL;
			i += line && line->argument && !is_optional(line);
			continue;
		}
		length = strcspn(argv[i] + 2, "=");
		line = by_name(command, argv[i] + 2, length);
		if (!line)
			return cs_err_set(err,
				"unknown option '%.*s'; " SEE_HELP "them",
				(int)length + 2, argv[i], HELP_OF(command));
		i += line->argument && !is_optional(line) &&
		     argv[i][length + 2] != '=';
	}
	return 0;
}

static void make_getopt(const struct command *command, struct option *longs,
			char *shorts)
{
	*shorts++ = ':'; /* report a missing argument as ':' */
	for (size_t i = 0; i < command->n; i++) {
		const struct option_line *line = &command->lines[i];

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
	opt->mpi = -1;
	opt->set.start_limit_s = 30;
	opt->margin = CS_MARGIN;
	opt->format = cs_format_by_name("text");
	opt->matrix_text = opt->matrix_store;
}

/* Was nothing said of what to measure?  An axis, a way and placements to compare are
 * of --matrix peer. */
static int asks_for_nothing(const struct cs_options *opt)
{
	const struct cs_axes *axes = &opt->axes;

	return !opt->tests && !opt->plan && !opt->looks &&
	       !(axes->matrices | axes->ops | axes->patterns | axes->methods |
		 axes->memories) &&
	       opt->set.via == CS_WAY_AUTO && opt->placements.n < 2;
}

/* What follows from all options together. */
static int settle(struct cs_options *opt, struct cs_err *err)
{
	size_t used;

	if (asks_for_nothing(opt) && set_suite(opt, DEFAULT_SUITE, err))
		return -1;
	if (!opt->axes.ops)
		opt->axes.ops = 1u << CS_OP_WRITE;
	if (!opt->axes.patterns)
		opt->axes.patterns = 1u << CS_PATTERN_PAIR | 1u << CS_PATTERN_BIDI;
	if (!opt->matrix_store[0])
		cs_text(opt->matrix_store, sizeof(opt->matrix_store),
			"--matrix peer");
	used = strlen(opt->matrix_store);
	if (opt->set.via != CS_WAY_AUTO)
		cs_text(opt->matrix_store + used, sizeof(opt->matrix_store) - used,
			" --via %s", cs_way_words[opt->set.via]);
	opt->matrix_text = opt->matrix_store;
	return 0;
}

/* getopt stays at an argument until all its letters are read: only the letter
 * itself is sure then.  `before` is the argument that getopt has left. */
static int refuse_unknown(const struct command *command, int letter,
			  const char *before, struct cs_err *err)
{
	char one[3] = { '-', (char)letter, '\0' };
	int is_letter = letter && letter < 256; /* below 0: not ASCII */

	return cs_err_set(err,
		"unknown option or value at '%s'; " SEE_HELP "them",
		is_letter ? one : before, HELP_OF(command));
}

/* What stands behind the options. */
static int take_operands(const struct command *command, int argc, char **argv,
			 struct cs_options *out, struct cs_err *err)
{
	int least = command->operand != NULL;
	int most = command->action == CS_ACTION_COMPARE	 ? 2 :
		   command->action == CS_ACTION_CHECK ||
		   command->action == CS_ACTION_BASELINE ? INT_MAX : least;

	if (out->action == CS_ACTION_HELP)
		return 0;
	if (argc > most)
		return cs_err_set(err, "unexpected argument '%s'; " SEE_HELP
				  "the options", argv[most], HELP_OF(command));
	if (argc < least)
		return cs_err_set(err, "%s needs %s; " SEE_HELP "the options",
				  command->name, command->operand,
				  HELP_OF(command));
	out->file = argc > 0 ? argv[0] : NULL;
	out->other = argc > 1 ? argv[1] : NULL;
	out->files = argv;
	out->n_files = argc;
	return 0;
}

/* Names of either backend will do until the backend is known. */
static int check_tests(const struct cs_options *opt, struct cs_err *err)
{
	enum cs_way via = (enum cs_way)opt->set.via;
	char *chosen;
	size_t n;
	int rc;

	cs_catalogue(&n);
	chosen = calloc(n, 1);
	if (!chosen)
		return cs_err_set(err, "no memory");
	rc = cs_tests_choose(opt->tests, CS_BACKEND_CUDA, via, chosen, err);
	if (rc && via == CS_WAY_AUTO &&
	    !cs_tests_choose(opt->tests, CS_BACKEND_CPU, via, chosen, NULL))
		rc = 0;
	free(chosen);
	return rc ? cs_err_prefix(err, "--test '%s'", opt->tests) : 0;
}

/* What is judged needs what is measured, and something to be judged by. */
static int check_bounds(const struct cs_options *opt, struct cs_err *err)
{
	const char *by = opt->baseline ? "--baseline" :
			 opt->threshold ? "--threshold" :
			 opt->min_share > 0 ? "--min-share" : NULL;

	if (!by && opt->checks == CS_CHECK_BASELINE)
		return cs_err_set(err, "--check=baseline needs --baseline, "
				  "--threshold or --min-share");
	if (by && opt->looks)
		return cs_err_set(err, "--check=%s measures nothing: without %s",
				  opt->looks, by);
	if (opt->baseline && opt->plan)
		return cs_err_set(err, "--plan and --baseline exclude each other: the "
				  "steps of a file are its own, and not those of a test");
	return 0;
}

static int check_together(const struct cs_options *opt, struct cs_err *err)
{
	if (check_bounds(opt, err))
		return -1;
	if (opt->tests && opt->axes.matrices)
		return cs_err_set(err, "--matrix and %s exclude each other",
				  opt->suite ? "--suite" : "--test");
	if (opt->plan && opt->looks)
		return cs_err_set(err, "--plan and --check=%s exclude each other",
				  opt->looks);
	if (opt->plan && (opt->tests || opt->axes.matrices))
		return cs_err_set(err, "--plan and %s exclude each other",
				  opt->suite ? "--suite" :
				  opt->tests ? "--test" : "--matrix");
	if (opt->action == CS_ACTION_DRY_RUN)
		for (int i = 0; i < opt->n_outputs; i++)
			if (strcmp(cs_format_by_file(opt->output[i])->name, "csv"))
				return cs_err_set(err, "--output '%s': --dry-run "
						  "writes a plan, to a .csv",
						  opt->output[i]);
	if (opt->backend == CS_WANT_CPU && opt->set.via != CS_WAY_AUTO)
		return cs_err_set(err, "--via and --backend cpu exclude each "
				  "other: the cpu backend has shared memory alone");
	if (!opt->tests && opt->set.via == CS_WAY_STAGED &&
	    !(opt->axes.ops & 1u << CS_OP_WRITE))
		return cs_err_set(err, "--via staged and --op read exclude each "
				  "other: both sides issue");
	if (opt->tests && !opt->suite && check_tests(opt, err))
		return -1;
	if (opt->topology && (opt->only[0][0] ||
			      strcmp(opt->format->name, "text")))
		return cs_err_set(err, "--topology and %s exclude each other",
				  !opt->only[0][0] ? "any --format but text" :
				  opt->only[1][0] ? "--cell" : "--gpu");
	if (opt->resume && opt->redact)
		return cs_err_set(err, "--resume and --redact exclude each other: "
				  "a journal without names cannot be gone on with");
	if (opt->resume && opt->placements.n > 1)
		return cs_err_set(err, "--resume cannot go on with a comparison of "
				  "placements: its turns belong together in time");
	if (opt->budget_s > 0 && opt->placements.n > 1)
		return cs_err_set(err, "--budget cannot end a comparison of "
				  "placements early: its turns belong together");
	if (opt->looks && (opt->tests || opt->axes.matrices || opt->resume))
		return cs_err_set(err, "--check=%s measures nothing: without %s, or "
				  "--check alone to judge what is measured",
				  opt->looks, opt->suite ? "--suite" :
				  opt->tests ? "--test" :
				  opt->axes.matrices ? "--matrix" : "--resume");
	return 0;
}

static int parse_options(const struct command *command, int argc, char **argv,
			 struct cs_options *out, struct cs_err *err)
{
	struct option longs[LINES_MOST + 1];
	char shorts[2 * LINES_MOST + 2];
	int got;

	make_getopt(command, longs, shorts);
	if (refuse_abbreviations(command, argc, argv, err))
		return -1;
	optind = 0; /* start anew, also on a second call */
	opterr = 0;
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_line *line = got >= 1000 ?
			&command->lines[got - 1000] : by_letter(command, got);

		if (got == ':')
			return cs_err_set(err, "option '%s' needs a value",
					  argv[optind - 1]);
		if (got == '?' || !line)
			return refuse_unknown(command, optopt, argv[optind - 1],
					      err);
		if (apply(line, out, optarg, err))
			return -1;
	}
	return take_operands(command, argc - optind, argv + optind, out, err);
}

int cs_options_parse(int argc, char **argv, struct cs_options *out,
		     struct cs_err *err)
{
	const struct command *command =
		argc > 1 && *argv[1] ? command_of(argv[1]) : NULL;
	int skip = command != NULL;

	if (!command)
		command = &commands[0];
	defaults(out);
	out->action = command->action;
	out->command = command->name;
	if (parse_options(command, argc - skip, argv + skip, out, err) ||
	    settle(out, err))
		return -1;
	if (out->baseline || out->threshold || out->min_share > 0)
		out->checks |= CS_CHECK_BASELINE;
	return check_together(out, err);
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

static void put_usage(FILE *to, const struct command *command)
{
	if (*command->name) {
		fprintf(to, "Usage: cscope-mpi %s %s [OPTION]...\n",
			command->name, command->operand);
		wrap(to, command->help, 0, 80);
		return;
	}
	fputs("Usage: mpirun -np N cscope-mpi [OPTION]...\n"
	      "       cscope-mpi [OPTION]...            (one process: a thread per GPU)\n"
	      "       cscope-mpi COMMAND ...\n"
	      "Measures how fast data moves between the GPUs of each node, as an MPI job\n"
	      "sees it, and checks every byte.\n", to);
}

static void put_left(FILE *to, const char *left, const char *help)
{
	fprintf(to, "%-30s", left);
	if (strlen(left) >= 30)
		fprintf(to, "\n%30s", "");
	wrap(to, help, 30, 80);
}

static void put_lines(FILE *to, const struct command *command)
{
	for (size_t i = 0; i < command->n; i++) {
		const struct option_line *line = &command->lines[i];
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
		put_left(to, left, line->help);
	}
}

static void put_commands(FILE *to)
{
	char left[64];

	fputs("\nCommands, without MPI and without a GPU (COMMAND --help lists their "
	      "options):\n", to);
	for (size_t i = 1; i < N_COMMANDS; i++) {
		cs_text(left, sizeof(left), "  %s %s", commands[i].name,
			commands[i].operand);
		put_left(to, left, commands[i].help);
	}
	fputs("\nExit status: 0 measured; 1 under --check a warning; 2 a cell failed, timed out\n"
	      "or was corrupt, a process died, or under --check a critical finding; 3 could\n"
	      "not test; 64 usage; 128 + N ended by signal N.\n", to);
}

int cs_options_help(FILE *to, const char *name)
{
	const struct command *command = command_of(name);

	if (!command)
		return -1;
	put_usage(to, command);
	put_lines(to, command);
	if (!*command->name)
		put_commands(to);
	return ferror(to) ? -1 : 0;
}

int cs_options_line(const char *name, size_t index, struct cs_option_help *out)
{
	const struct command *command = command_of(name);
	const struct option_line *line;

	if (!command || index >= command->n)
		return -1;
	line = &command->lines[index];
	*out = (struct cs_option_help){ line->name, line->letter, line->argument,
					line->help };
	return 0;
}

/* Of a suite what this backend measures. */
static int choose_suite(const struct cs_options *opt,
			enum cs_backend_kind backend, char *chosen,
			struct cs_err *err)
{
	enum cs_way via = (enum cs_way)opt->set.via;
	struct cs_err first = { "" }, why;
	const char *at = opt->tests;
	int found = 0;

	for (;;) {
		size_t length = strcspn(at, ",");
		char item[64];

		cs_text(item, sizeof(item), "%.*s", (int)length, at);
		if (!cs_tests_choose(item, backend, via, chosen, &why))
			found = 1;
		else if (!first.text[0])
			first = why;
		if (!at[length])
			break;
		at += length + 1;
	}
	return found ? 0 : cs_err_set(err, "--suite %s: %s", opt->suite,
				      first.text);
}

int cs_options_choose(const struct cs_options *opt,
		      enum cs_backend_kind backend, char *chosen,
		      struct cs_err *err)
{
	enum cs_way via = (enum cs_way)opt->set.via;
	struct cs_axes axes;

	if (opt->suite)
		return choose_suite(opt, backend, chosen, err);
	if (backend == CS_BACKEND_CPU && via != CS_WAY_AUTO)
		return cs_err_set(err, "--via %s: that is a way between GPUs, the "
				  "cpu backend has shared memory alone",
				  cs_way_words[via]);
	if (opt->tests)
		return cs_tests_choose(opt->tests, backend, via, chosen, err);
	axes = opt->axes;
	if (!axes.matrices)
		axes.matrices = CS_MATRIX_PEER;
	cs_tests_matrix(&axes, backend, via, chosen);
	return 0;
}
