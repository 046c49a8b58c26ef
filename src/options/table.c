#include "options/table.h"

#include <limits.h>
#include <stddef.h>
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

/* Options of several commands. */
#define OUTPUT                                                                 \
	{ "output", 'o', "FILE", output_help, OWN(cs_set_output), .brief = "also .txt, .html, .json, .jsonl, .csv and more" }
#define STDOUT                                                                 \
	{ "format", 'f', "FORMAT", format_help, OWN(cs_set_format), \
	  .brief = "text, json, csv, result, nagios, model and more" }
#define MARGIN                                                                 \
	{ "margin", 0, "SHARE", "smaller differences count as equal, between two sides or between a cell " \
	  "and its baseline; default 1%", SHARE(margin) }
#define BASELINE                                                               \
	{ "baseline", 0, "FILE[,...]", "judge each cell by the healthy nodes of FILE, which 'cscope-mpi baseline' " \
	  "wrote", TEXT(baseline), .brief = "judge by the results of healthy nodes" }
#define THRESHOLD                                                              \
	{ "threshold", 0, "FILE.csv", "judge cells by the bounds in FILE.csv: columns test, class, size, bound " \
	  "(335 GB/s, 90%), severity", TEXT(threshold) }
#define MIN_SHARE                                                              \
	{ "min-share", 0, "SHARE", "minimum share of the live link's peak, as 85%, for cells with one transfer " \
	  "at a time", SHARE(min_share) }
#define EXPECT                                                                  \
	{ "expect", 0, "KEY=VALUE,...", "what every node must have: gpus=8,nics=8,pcie=5x16,nvlinks=18, driver, " \
	  "vbios, min-share=85% and everything that --check=topology prints; KEY=any " \
	  "ignores a field of the baseline and in the comparison of nodes", TEXT(expect) }
#define REDACT                                                                 \
	{ "redact", 0, NULL, "replaces host names, GPU ids, job ids and paths by " \
	  "placeholders, in all outputs", \
	  FLAG(redact, 1) }
#define QUIET                                                                  \
	{ "quiet", 'q', NULL, "nothing on standard output", FLAG(quiet, 1) }
#define VERBOSE                                                                \
	{ "verbose", 'v', NULL, "every node and every detail", FLAG(verbose, 1), .brief = "every matrix, node and detail" }
#define COLOR                                                                  \
	{ "color", 0, "auto|always|never", "colour cells by how odd they are; auto: on a terminal, unless NO_COLOR is " \
	  "set", WORD(colour, 0), .brief = "colour cells by how odd they are" }
#define HELP                                                                   \
	{ "help", 'h', "[=all]", "this text; =all: all options", OWN(cs_set_help), \
	  .brief = "this text; =all: all options" }

/* Long texts in few lines: the tables are laid out by hand. */
/* clang-format off */
static const struct cs_option measure_options[] = {
	HEADING("What to measure"),
	{ "matrix", 'm', "KIND[,...]", "peer (or d2d): every GPU to every other GPU of the node, in one and in "
	  "both directions (with one GPU: host to GPU and back, its memory, latency); "
	  "the default with --op, --method, --pattern, --via or several placements. "
	  "h2d, d2h: host memory to GPUs and back. local: within each GPU. host (or "
	  "h2h): NUMA node to NUMA node, bandwidth and latency. cost: what it costs to "
	  "divide the GPUs among processes (calls, small copies, opening peers)", OWN(cs_set_matrix), .brief = "peer, h2d, d2h, local, host, cost" },
	{ "test", 't', "NAME[,...]", "tests by name or glob, see --list; also names of nvbandwidth and "
	  "Comm|Scope, and values of --matrix and --suite: h2d,quick", OWN(cs_set_test), .brief = "names, globs, kinds and suites; --list has them" },
	{ "suite", 0, "NAME", "a list of tests: quick (the default: between GPUs, from and to the host, "
	  "one way, and within each GPU); nvbandwidth (all of its tests for one "
	  "node); commscope (27 of its benchmarks and 7 flush variants); unified "
	  "(managed memory, and ways to bring data to a kernel, at 64M); calls (CPU "
	  "time of driver calls and malloc, at 4K:16M:x64); model (what -f model "
	  "needs, at 4K:256M:x4); halo (copies that are not one block: faces of a "
	  "grid, chunks, strides); all", OWN(cs_set_suite), .brief = "quick (default), nvbandwidth, commscope, unified, calls, model, halo, all" },
	{ "filter", 0, "ERE", "only cells whose name matches this extended regular expression, with -ERE "
	  "only the others; names are h2d.ce.pinned.pair/numa0/gpu1/256M and those of "
	  "Comm|Scope", OWN(cs_set_filter) },
	{ "plan", 0, "FILE.csv", "the transfers listed in a file: which run at the same time, and which are "
	  "load; --dry-run -o FILE.csv writes such a file", TEXT(plan) },
	HEADING("How"),
	{ "op", 0, "write|read|both", "who issues a copy: the source GPU (write, the default) or the destination "
	  "GPU (read)", WORD(axes.ops, 1), .brief = "who issues a copy: its source or destination" },
	{ "method", 0, "NAME[,...]", "what copies: ce (copy engine), sm (kernel), tma (bulk copies of a kernel), "
	  "zerocopy (Comm|Scope's kernel, 4 bytes at a time), chase (no copy: "
	  "latency), prefetch and demand (managed memory), peercopy, staged, cpu; "
	  "default ce, with --matrix local all but chase, with host cpu and chase", OWN(cs_set_method), .brief = "ce, sm, tma, zerocopy, chase (latency), cpu" },
	{ "pattern", 0, "NAME[,...]", "pair, bidi (both ways at once), shift[:K], ring, bisect (all at once), "
	  "rounds (disjoint pairs at once), all-to-one, one-to-all, random[:K], "
	  "loadflops (while its GPUs compute); with the host pair, bidi, load, "
	  "bidiload (all other GPUs as load), loadflops, all, bidiall; default "
	  "pair,bidi", OWN(cs_set_pattern), .brief = "pair, bidi, all, load, ring, bisect and more" },
	{ "host-memory", 0, "KIND[,...]", "pinned (the default), registered, wc, huge, "
	  "pageable", OWN(cs_set_host_memory) },
	{ "numa", 0, "local|all|LIST", "NUMA nodes of host memory: the nearest to each GPU (default), all, or a "
	  "list", OWN(cs_set_numa), .brief = "NUMA nodes of host memory" },
	{ "cpu-numa", 0, "local|all|LIST", "NUMA nodes whose CPUs do the work of tests that use CPUs, one after the "
	  "other; also of the memory through which two processes stage; default: the "
	  "destination's for a copy by CPU, else the one nearest to the GPU",
	  OWN(cs_set_cpu_numa) },
	{ "cache", 0, "any|cold|warm[,...]", "state of CPU caches before each sample of a copy from or to host memory: "
	  "as it happens (any, the default); flushed, with the GPU's displaced "
	  "(cold); just written by a CPU (warm)", OWN(cs_set_cache) },
	{ "threads", 0, "N[,...]", "CPU threads that share a copy by CPU; default 1",
	  NUMBERS(vary.threads, UINT64_MAX, "numbers from 1 to 64, as 1,2,4") },
	{ "element", 0, "4|8|16[,...]", "bytes that a GPU thread takes at a time in tests where a kernel consumes "
	  "host data (h2d.stream*); element size of a grid; default 4", NUMBERS(vary.elements, CS_ELEMENTS_ALL, "4, 8, 16, as 4,8,16") },
	{ "shape", 0, "XxYxZ[:HALO[:x|y|z]]|PIECE/EACH[,...]",
	  "shape of copies that are not one block: the faces of a grid, HALO elements "
	  "deep, or PIECE bytes out of every EACH; default: the largest cube that "
	  "fits --size, 2 deep, and three shapes of chunks and strides", OWN(cs_set_shape) },
	{ "kernels", 0, "N[,...]", "kernels that work on a tile (local.overlap.*), out of 1, 2, 4, 8, 16, 32; "
	  "default: all of these", NUMBERS(vary.kernels, CS_KERNELS_ALL, "1, 2, 4, 8, 16, 32, as 1,2,4") },
	{ "size", 's', "BYTES", "size of a copy, with K, M, G, T; default 512M, on the cpu backend 64M; a "
	  "sweep: FIRST:LAST:xFACTOR, as 4K:1G:x2", OWN(cs_set_size), .brief = "size of a copy, as 64M; a sweep: 4K:1G:x4" },
	{ "spread", 0, "BYTES", "smaller copies by a kernel use different places in this much memory, to "
	  "avoid cache hits, within a GPU in four times as much; default 256M; 1: the "
	  "same place each time",
	  BYTES(set.spread_bytes) },
	{ "advise", 0, "WORD[,...]", "advice for managed memory, set before each sample: none (default), "
	  "read-mostly, prefer-src, prefer-dst (preferred location), accessed-by (the "
	  "destination)", OWN(cs_set_advise) },
	{ "managed-limit", 0, "BYTES", "managed memory that may come to one GPU, at most half of its free memory; "
	  "larger cells are skipped; default 4G",
	  BYTES(set.managed_bytes) },
	{ "oversubscribe", 0, "FACTOR", "replaces both limits: FACTOR times the GPU's free memory, as 1.5. Pages "
	  "that do not fit move back and forth, and a GPU may hang",
	  OWN(cs_set_oversubscribe) },
	{ "gpus", 0, "LIST", "indices, ranges, bus ids, UUIDs as nvidia-smi -i; a single number is a "
	  "count with --dry-run and the cpu backend", OWN(cs_set_gpus), .brief = "indices, ranges, bus ids, UUIDs" },
	{ "backend", 0, "auto|cuda|cpu", "auto: CUDA if there is a GPU; cpu: copies between arenas of host memory", WORD(backend, 0), .brief = "cpu: host memory in place of GPUs" },
	{ "via", 0, "auto|direct|ipc|fd|staged", "the only transport to a peer's buffer: peer access in one process, CUDA "
	  "IPC, descriptors, or through host memory; auto: the best available", WORD(set.via, 0) },
	{ "bind", 0, "auto|inherit|none", "auto: each agent to the NUMA node of its GPU; inherit: as launched; none: "
	  "not bound", WORD(bind, 0) },
	{ "placement", 0, "process|thread|N[,...]", "GPUs per process: one, all of the node, or N; several placements take "
	  "turns in every cell and are compared; default: as the ranks are", OWN(cs_set_placement), .brief = "GPUs per process; several are compared" },
	{ "mpi", 0, NULL, "call MPI even if no launcher is detected", FLAG(mpi, 1) },
	{ "no-mpi", 0, NULL, "never call MPI: this process is one node", FLAG(mpi, 0) },
	HEADING("Sampling"),
	{ "precision", 0, "SHARE", "a cell ends when the 95 % interval of its median is within this share of "
	  "it; default 0.5%; 2% on the cpu backend, for copies by CPUs, and with cold "
	  "and warm caches", SHARE(set.precision) },
	{ "samples", 0, "N", "samples of each cell, 1 to 50: a fixed number, whatever --precision and "
	  "--cell-limit say; for calls, batches of calls. Default: as many as needed; "
	  "for calls 8", NUMBER(set.turn_samples, 1, CS_SAMPLES_MAX) },
	{ "cell-limit", 0, "TIME", "... or after this time, and is then flagged; default 250ms", DURATION(set.cell_limit_s) },
	{ "schedule", 0, "auto|serial|parallel", "whether pairs without a common GPU run at the same time. auto: from 16 "
	  "pairs on, if a test of some pairs shows a difference of at most 0.5 %; "
	  "serial: never; parallel: always", WORD(set.schedule, 0) },
	{ "start-limit", 0, "TIME", "time limit for the driver's start; default 30s",
	  DURATION(set.start_limit_s) },
	{ "budget", 0, "TIME", "time limit for the whole run, from start to exit, even if the driver "
	  "hangs: the most important cells come first, the rest is left out, and the "
	  "report says how much was measured; in prologs: 25s", OWN(cs_set_budget), .brief = "the whole run ends within this, as 25s" },
	{ "seed", 0, "N", "seed of the order of cells and of the data; default: today's date",
	  OWN(cs_set_seed) },
	{ "verify", 0, "all|last|off", "check the data of every sample (default), of the last sample of each cell, "
	  "or not at all. All copies of a sample are checked if each has its own "
	  "place, else the last one; the report says which", WORD(set.verify, 0) },
	HEADING("Judging"),
	{ "check", 0, "[=KIND,...]", "findings set the exit status, and cells of a GPU in use are skipped. "
	  "KINDs: launch (what each rank sees, and what to change) and topology (how "
	  "the node is wired and set) alone measure nothing; outlier: cells slower "
	  "than others of their kind; link: links slower than they could be; these "
	  "two measure suspicious cells again; placement: placements that differ; baseline: "
	  "cells beyond --baseline, --threshold, --min-share or --expect", OWN(cs_set_check), .brief = "findings set the status; cells slower than their like are measured again. KIND: outlier, link, placement, baseline, launch, topology" },
	BASELINE,
	THRESHOLD,
	MIN_SHARE,
	EXPECT,
	MARGIN,
	HEADING("Output"),
	OUTPUT,
	STDOUT,
	{ "resume", 0, "FILE.jsonl", "continue the journal of a run that ended early, and write to it; only "
	  "missing cells are measured", OWN(cs_set_resume), .brief = "continue a run that ended early" },
	REDACT,
	{ "quiet", 'q', NULL, "nothing on standard output, no progress", FLAG(quiet, 1), .brief = "nothing on standard output, no progress" },
	VERBOSE,
	COLOR,
	HEADING("Without MPI and without a GPU"),
	{ "list", 'l', "[=all|GLOB]", "the tests in groups; all names, or those that match a glob",
	  OWN(cs_set_list), .brief = "the tests in groups; all names, or some" },
	{ "explain", 0, "NAME|CODE", "explain a test (what moves, how it is timed, its name in other tools), an "
	  "error or a finding: peer.ce.read.pair, 802, nvml-18, slow-cells; list: all "
	  "of them", OWN(cs_set_explain), .brief = "explain a test, an error or a finding" },
	{ "dry-run", 'n', NULL, "print the plan: steps, bytes, memory, expected time; -o FILE.csv writes it "
	  "for --plan", FLAG(action, CS_ACTION_DRY_RUN), .brief = "print the plan, and how long it takes" },
	HELP,
	{ "version", 'V', NULL, "version, build and libraries",
	  FLAG(action, CS_ACTION_VERSION), .brief = "version, build and libraries" },
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
	{ "verbose", 'v', NULL, "every cell", FLAG(verbose, 1) },
	HELP,
};

static const struct cs_option show_options[] = {
	HEADING("What to show"),
	{ "gpu", 0, "N", "only the cells from and to this GPU", OWN(cs_set_gpu) },
	{ "cell", 0, "A,B", "one cell, as 2,3 or host,0 or 0,numa1 or 2->3: all of its figures, its "
	  "samples, and similar cells", OWN(cs_set_cell) },
	{ "topology", 0, NULL, "how the nodes are wired and set, instead of figures",
	  FLAG(topology, 1) },
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

static const struct cs_option check_options[] = {
	{ "nodes", 0, "HOSTLIST", "the nodes that should exist, as n[001-500],m3; one without a file is a "
	  "finding", OWN(cs_set_nodes) },
	{ "drain-command", 0, "COMMAND", "instead of the report, print a command for each node that should be "
	  "drained; %n is its name, %r the reason, quoted for a shell; or slurm, pbs, flux, "
	  "kubernetes. The commands are never run", OWN(cs_set_drain) },
	BASELINE,
	THRESHOLD,
	MIN_SHARE,
	EXPECT,
	MARGIN,
	HEADING("Output"),
	OUTPUT,
	STDOUT,
	REDACT,
	QUIET,
	{ "verbose", 'v', NULL, "every finding with all of its hosts", FLAG(verbose, 1) },
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
	  "killed", "the report of a .json or .jsonl file, in any format", CS_ACTION_SHOW, OPTIONS(show_options) },
	{ "compare", "A [B]", 2, "are two runs, nodes or placements the same? A and B are FILE, FILE:NODE or "
	  "FILE:PLACEMENT, or several separated by commas; one file with several "
	  "placements needs no B. With one run on each side, differences apply to "
	  "these two runs only, status 0. Exit status 0 the same, 1 different, 3 not "
	  "comparable", "are two runs, nodes or placements the same?", CS_ACTION_COMPARE, OPTIONS(compare_options) },
	{ "baseline", "FILE...", INT_MAX, "results of healthy nodes by hardware class and test, from runs on several "
	  "nodes and days; for --baseline",
	  "results of healthy nodes, for --baseline", CS_ACTION_BASELINE, OPTIONS(baseline_options) },
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
