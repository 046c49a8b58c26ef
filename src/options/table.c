#include "config.h"

#include "options/table.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

/* How a value is taken, and where it goes: a field of another type does not compile. */
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
#define OWN(setter) .take = CS_TAKE_OWN, .set = setter
#define HEADING(text) { .help = text }

/* What several commands have. */
#define OUTPUT                                                                 \
	{ "output", 'o', "FILE", "also write FILE; .txt, .html, .json, .jsonl, .csv, " \
	  ".prom (Prometheus textfile), .xml (JUnit), .trace.json (Perfetto); "          \
	  "repeatable; %N host, %j job id, %t start, %% a %", OWN(cs_set_output), .brief = "also .txt, .html, .json, .jsonl, .csv, .prom, .xml" }
#define FORMAT                                                                 \
	{ "format", 'f', "FORMAT", "of standard output: text, html, json, jsonl, csv, " \
	  "result, prom, nagios, junit; picture: a character a cell; trace: for "      \
	  "Perfetto; model, model-csv: alpha and beta of a sweep over sizes; reason: one line for a scheduler; nvbandwidth, " \
	  "nvbandwidth-json: as version 0.8 prints and as 0.10 writes JSON; "         \
	  "commscope, commscope-json, commscope-csv: as Google Benchmark has them, "  \
	  "with -v each sample", \
	  OWN(cs_set_format), .brief = "text, json, csv, result, nagios, model and more" }
#define MARGIN                                                                 \
	{ "margin", 0, "SHARE", "differences up to this count as equal, between two " \
	  "sides or a cell and its baseline; default 1%", SHARE(margin) }
#define BASELINE                                                               \
	{ "baseline", 0, "FILE[,...]", "judge each cell by what 'cscope-mpi baseline' " \
	  "learnt of healthy nodes", TEXT(baseline), .brief = "judge by what healthy nodes give" }
#define THRESHOLD                                                              \
	{ "threshold", 0, "FILE.csv", "judge cells by bounds: columns test, class, " \
	  "size, bound (335 GB/s, 90%), severity", TEXT(threshold) }
#define MIN_SHARE                                                              \
	{ "min-share", 0, "SHARE", "of the live link's peak that every cell of one " \
	  "transfer at a time must have, as 85%", SHARE(min_share) }
#define EXPECT                                                                  \
	{ "expect", 0, "KEY=VALUE,...", "what every node is: gpus=8,nics=8,pcie=5x16,nvlinks=18, "\
	  "driver, vbios, min-share=85% and all that --check=topology prints; any waives a field of the "\
	  "baseline and of the comparison of nodes", TEXT(expect) }
#define REDACT                                                                 \
	{ "redact", 0, NULL, "replaces host names, GPU ids, job ids and paths by " \
	  "placeholders, in all outputs", \
	  FLAG(redact, 1) }
#define QUIET                                                                  \
	{ "quiet", 'q', NULL, "nothing on standard output", FLAG(quiet, 1) }
#define VERBOSE                                                                \
	{ "verbose", 'v', NULL, "every node and every detail", FLAG(verbose, 1), .brief = "every matrix, node and detail" }
#define COLOR                                                                  \
	{ "color", 0, "auto|always|never", "cells by how odd they are; auto: on a " \
	  "terminal, unless NO_COLOR is set", WORD(colour, 0), .brief = "cells by how odd they are" }
#define HELP                                                                   \
	{ "help", 'h', "[=all]", "this text; =all: of all options", OWN(cs_set_help), \
	  .brief = "this text; of all options" }

/* Long texts in few lines: the tables are laid out by hand. */
/* clang-format off */
static const struct cs_option measure_options[] = {
	HEADING("What to measure"),
	{ "matrix", 'm', "KIND[,...]", "peer (or d2d): every GPU to every other GPU of "
	  "the node, one way and both ways (of a node with one GPU: host to GPU and back, "
	  "its memory, latency); what --op, --method, --pattern, --via or "
	  "several placements mean alone. h2d, d2h: host memory to GPUs and back. local: "
	  "within each GPU. host (or h2h): NUMA node to NUMA node. cost: what a "
	  "division of the GPUs among processes costs (calls, small copies, ways to "
	  "peers)", OWN(cs_set_matrix), .brief = "peer, h2d, d2h, local, host, cost" },
	{ "test", 't', "NAME[,...]", "tests by name or glob, see --list; also by the "
	  "names of nvbandwidth and Comm|Scope, and what --matrix and --suite take: "
	  "h2d,quick", OWN(cs_set_test), .brief = "names, globs, kinds and suites; --list has them" },
	{ "suite", 0, "NAME", "a list of tests: quick (between GPUs, from and to the "
	  "host, one way, and within each GPU), which is the default; nvbandwidth, all of its tests of one "
	  "node; commscope, its 27 benchmarks and 7 flush variants; unified, managed memory and kernels beside the data they need, at 64M; "
	  "calls, what calls of the driver and malloc cost, at 4K:16M:x64; model, what -f model needs, at 4K:256M:x4; "
	  "halo, what is not one block: faces of a grid, chunks, strides; all", OWN(cs_set_suite), .brief = "quick (default), nvbandwidth, commscope, unified, calls, model, halo, all" },
	{ "filter", 0, "ERE", "of all cells those alone whose name this extended regular "
	  "expression fits, -ERE: does not fit: h2d.ce.pinned.pair/numa0/gpu1/256M and what "
	  "Comm|Scope calls it", OWN(cs_set_filter) },
	{ "plan", 0, "FILE.csv", "the transfers of a file, in its steps: which at the "
	  "same time, which as load; --dry-run -o FILE.csv writes one", TEXT(plan) },
	HEADING("How"),
	{ "op", 0, "write|read|both", "who issues a copy: the source's GPU (write, the "
	  "default), the destination's (read)", WORD(axes.ops, 1), .brief = "who issues a copy: its source, its destination" },
	{ "method", 0, "NAME[,...]", "who copies: ce (copy engine), sm (kernel), tma "
	  "(bulk copies of a kernel), zerocopy (Comm|Scope's kernel, 4 bytes at a time), "
	  "chase (no copy: latency), prefetch and demand (managed memory), peercopy, "
	  "staged, cpu; "
	  "default ce, of local all but chase", OWN(cs_set_method), .brief = "ce, sm, tma, zerocopy, chase (latency), cpu" },
	{ "pattern", 0, "NAME[,...]", "pair, bidi (both ways at once), shift[:K], ring, "
	  "bisect (all at once), rounds (disjoint pairs at once), all-to-one, "
	  "one-to-all, random[:K], loadflops (while its GPUs compute); with the host pair, "
	  "bidi, load, bidiload (all other GPUs as load), loadflops, all, bidiall; default "
	  "pair,bidi", OWN(cs_set_pattern), .brief = "pair, bidi, all, load, ring, bisect and more" },
	{ "host-memory", 0, "KIND[,...]", "pinned (the default), registered, wc, huge, "
	  "pageable", OWN(cs_set_host_memory) },
	{ "numa", 0, "local|all|LIST", "NUMA nodes of host memory: that of each GPU "
	  "(the default), all, or some", OWN(cs_set_numa), .brief = "NUMA nodes of host memory" },
	{ "cpu-numa", 0, "local|all|LIST", "NUMA nodes whose CPUs work, where CPUs do: each "
	  "on its own, and those of the memory through which two processes stage; default: of "
	  "a copy by CPU that of its destination, else that next to the GPU",
	  OWN(cs_set_cpu_numa) },
	{ "cache", 0, "any|cold|warm[,...]", "of copies from and to host memory, before "
	  "each sample: as it happens (the default); flushed from all CPU caches, and the "
	  "GPU's displaced; just written by a CPU", OWN(cs_set_cache) },
	{ "threads", 0, "N[,...]", "CPU threads that share a copy by CPU; default 1",
	  OWN(cs_set_threads) },
	{ "element", 0, "4|8|16[,...]", "bytes that a thread takes at a time, where a kernel "
	  "consumes what lies on the host (h2d.stream*), or of a grid; default 4", OWN(cs_set_element) },
	{ "shape", 0, "XxYxZ[:HALO[:x|y|z]]|PIECE/EACH[,...]",
	  "what is copied where it is not one block: the faces of a grid, HALO elements deep; "
	  "or PIECE bytes of each so many; default the largest cube that --size holds, 2 deep, "
	  "and three of chunks and strides", OWN(cs_set_shape) },
	{ "kernels", 0, "N[,...]", "kernels that work on a tile (local.overlap.*): some of 1, "
	  "2, 4, 8, 16, 32; default all of these", OWN(cs_set_kernels) },
	{ "size", 's', "BYTES", "of one copy, with K, M, G, T; default 512M, on the cpu "
	  "backend 64M; a sweep: FIRST:LAST:xFACTOR, as 4K:1G:x2", OWN(cs_set_size), .brief = "of one copy, as 64M; a sweep: 4K:1G:x4" },
	{ "spread", 0, "BYTES", "copies of a kernel that are smaller go through this much "
	  "memory, or a cache would answer; default 256M, 1 for the same place each time",
	  OWN(cs_set_spread) },
	{ "advise", 0, "WORD[,...]", "of managed memory, before each sample: none (the "
	  "default), read-mostly, prefer-src, prefer-dst (preferred location), accessed-by "
	  "(the destination)", OWN(cs_set_advise) },
	{ "managed-limit", 0, "BYTES", "managed memory that may come to one GPU, and at most "
	  "half of its free memory; larger cells are skipped; default 4G",
	  OWN(cs_set_managed_limit) },
	{ "oversubscribe", 0, "FACTOR", "in place of both limits: that many times the free "
	  "memory of the GPU, as 1.5. What does not fit goes to and fro, and a GPU may hang",
	  OWN(cs_set_oversubscribe) },
	{ "gpus", 0, "LIST", "indices, ranges, bus ids, UUIDs as nvidia-smi -i; a single "
	  "number is a count with --dry-run and the cpu backend", OWN(cs_set_gpus), .brief = "indices, ranges, bus ids, UUIDs" },
	{ "backend", 0, "auto|cuda|cpu", "auto: CUDA wherever there is a GPU; cpu: "
	  "copies between arenas of host memory", WORD(backend, 0), .brief = "cpu: host memory in place of GPUs" },
	{ "via", 0, "auto|direct|ipc|fd|staged", "the only transport to a peer's buffer: peer "
	  "access in one process, CUDA IPC, descriptors, or through host memory; auto: "
	  "the best there is", WORD(set.via, 0) },
	{ "bind", 0, "auto|inherit|none", "each agent to the NUMA node of its GPU, as "
	  "launched, or nowhere", WORD(bind, 0) },
	{ "placement", 0, "process|thread|N[,...]", "GPUs of a process: one, all of the "
	  "node, N; several take turns in every cell and are compared; default: as the "
	  "ranks are", OWN(cs_set_placement), .brief = "GPUs of a process; several are compared" },
	{ "mpi", 0, NULL, "call MPI even where no launcher is seen", FLAG(mpi, 1) },
	{ "no-mpi", 0, NULL, "never call MPI: this process is one node", FLAG(mpi, 0) },
	HEADING("Sampling"),
	{ "precision", 0, "SHARE", "a cell ends when the 95 % interval of its median "
	  "reaches no further from it than this; default 0.5%, 2% on the cpu backend, of "
	  "what CPUs copy, and of cold and warm caches", SHARE(set.precision) },
	{ "samples", 0, "N", "of each cell, 1 to 50: a fixed count, whatever --precision and "
	  "--cell-limit say; of calls, of batches of them. Default: as many as it takes; of "
	  "calls 8", OWN(cs_set_samples) },
	{ "cell-limit", 0, "TIME", "... or after this, flagged; default 250ms", DURATION(set.cell_limit_s) },
	{ "schedule", 0, "auto|serial|parallel", "pairs of GPUs without one in common at "
	  "the same time: where a few have shown that it changes none by more than 0.5 "
	  "%, from 16 pairs on; never; always", WORD(set.schedule, 0) },
	{ "start-limit", 0, "TIME", "for the driver to start; default 30s",
	  DURATION(set.start_limit_s) },
	{ "budget", 0, "TIME", "the whole run, from its start to its exit, ends within "
	  "this, also when the driver hangs: the most telling cells come first, what "
	  "does not fit is left out, and the report says how much was measured; in "
	  "prologs: 25s", OWN(cs_set_budget), .brief = "the whole run ends within this, as 25s" },
	{ "seed", 0, "N", "of the order of cells and of the data; default: today's date",
	  OWN(cs_set_seed) },
	{ "verify", 0, "all|last|off", "check the data of every sample (default), of the "
	  "last of each cell, or not: all copies of a sample where each has a place of its "
	  "own, else the last one, as the report says", WORD(set.verify, 0) },
	HEADING("Judging"),
	{ "check", 0, "[=KIND,...]", "findings make the exit status, and cells of a GPU "
	  "in use are skipped; KINDs launch (what each rank sees, and what to change) "
	  "and topology (how the node is wired and set) alone measure nothing; outlier: "
	  "cells slower than their like, link: links below what they could be; both re-measure "
	  "what is suspicious", OWN(cs_set_check), .brief = "findings make the status; cells that are below their like are measured again. KIND: outlier, link, launch, topology" },
	BASELINE,
	THRESHOLD,
	MIN_SHARE,
	EXPECT,
	MARGIN,
	HEADING("Output"),
	OUTPUT,
	FORMAT,
	{ "resume", 0, "FILE.jsonl", "go on with the journal of a run that ended early, "
	  "and write to it: only what is missing is measured", OWN(cs_set_resume), .brief = "go on with a run that ended early" },
	REDACT,
	{ "quiet", 'q', NULL, "nothing on standard output, no progress", FLAG(quiet, 1), .brief = "nothing on standard output, no progress" },
	VERBOSE,
	COLOR,
	HEADING("Without MPI and without a GPU"),
	{ "list", 'l', "[=all|GLOB]", "the tests in groups; all names, or some",
	  OWN(cs_set_list), .brief = "the tests in groups; all names, or some" },
	{ "explain", 0, "NAME|CODE", "a test (what moves, how it is timed, what other "
	  "tools call it), an error and its remedy, or a finding: peer.ce.read.pair, 802, "
	  "nvml-18, slow-cells; list: all of them", OWN(cs_set_explain), .brief = "a test, an error or a finding" },
	{ "dry-run", 'n', NULL, "the plan: steps, bytes, memory, expected time; -o "
	  "FILE.csv writes it for --plan", FLAG(action, CS_ACTION_DRY_RUN), .brief = "the plan, and how long it takes" },
	HELP,
	{ "version", 'V', NULL, "version, build and libraries",
	  FLAG(action, CS_ACTION_VERSION), .brief = "version, build and libraries" },
};

static const struct cs_option compare_options[] = {
	MARGIN,
	{ "baseline", 0, "FILE[,...]", "of 'cscope-mpi baseline', which knows how one run "
	  "differs from the next where a side is a single one", TEXT(baseline) },
	HEADING("Output"),
	{ "output", 'o', "FILE", "also write FILE; .txt, .json or .csv; repeatable",
	  OWN(cs_set_output) },
	{ "format", 'f', "FORMAT", "of standard output: text, json, csv",
	  OWN(cs_set_format) },
	QUIET,
	{ "verbose", 'v', NULL, "every cell", FLAG(verbose, 1) },
	HELP,
};

static const struct cs_option show_options[] = {
	HEADING("What to show"),
	{ "gpu", 0, "N", "only the cells from and to this GPU", OWN(cs_set_gpu) },
	{ "cell", 0, "A,B", "one cell, as 2,3 or host,0 or 0,numa1 or 2->3: all of its figures, its "
	  "samples, and the cells to compare it with", OWN(cs_set_cell) },
	{ "topology", 0, NULL, "how the nodes are wired and set, in place of figures",
	  FLAG(topology, 1) },
	HEADING("Output"),
	OUTPUT,
	FORMAT,
	{ "compact", 0, NULL, "JSON without what follows from the rest of it: a third "
	  "smaller, and shown the same", FLAG(compact, 1) },
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
	{ "nodes", 0, "HOSTLIST", "the nodes that there should be, as n[001-500],m3: one "
	  "without a file is found", OWN(cs_set_nodes) },
	{ "drain-command", 0, "COMMAND", "in place of the report, the command for each node "
	  "that should be drained, %n its name, %r the reason; or slurm, pbs, flux, kubernetes. "
	  "They are printed, never run", TEXT(drain_command) },
	BASELINE,
	THRESHOLD,
	MIN_SHARE,
	EXPECT,
	MARGIN,
	HEADING("Output"),
	OUTPUT,
	FORMAT,
	REDACT,
	QUIET,
	{ "verbose", 'v', NULL, "every finding with all of its hosts", FLAG(verbose, 1) },
	HELP,
};

_Static_assert(sizeof(measure_options) / sizeof(*measure_options) <=
		       CS_VERB_OPTIONS_MOST,
	       "more options than there is room for");

#define OPTIONS(table) table, sizeof(table) / sizeof(*(table))

const struct cs_verb cs_verbs[CS_VERBS] = {
	{ "", NULL, 0, "", "", CS_ACTION_MEASURE, OPTIONS(measure_options) },
	{ "show", "FILE[:NODE]", 1, "the report of a .json or .jsonl file, also of a "
	  "run that was killed, in any format", "the report of a .json or .jsonl file, in any format", CS_ACTION_SHOW, OPTIONS(show_options) },
	{ "compare", "A [B]", 2, "are two runs, nodes or placements the same? A and B are "
	  "FILE, FILE:NODE or FILE:PLACEMENT, or several with commas between them; "
	  "one file with several placements needs no B. One run on each side: what "
	  "differs does so in these two runs, status 0. Exit status 0 the same, 1 "
	  "different, 3 not comparable", "are two runs, nodes or placements the same?", CS_ACTION_COMPARE, OPTIONS(compare_options) },
	{ "baseline", "FILE...", INT_MAX, "what healthy nodes give, by hardware class and test, "
	  "learnt from runs of them, best of several nodes and days; for --baseline",
	  "what healthy nodes give, for --baseline", CS_ACTION_BASELINE, OPTIONS(baseline_options) },
	{ "check", "FILE...", INT_MAX, "which nodes are not as they should be, and not like the "
	  "others: judges what independent nodes wrote, as --no-mpi -o %N.jsonl, or one "
	  "job; exit status as under --check", "which nodes of many files are not as they should be", CS_ACTION_CHECK, OPTIONS(check_options) },
};
/* clang-format on */

const struct cs_verb *cs_verb_named(const char *name)
{
	for (size_t i = 0; i < CS_VERBS; i++)
		if (!strcmp(cs_verbs[i].name, name))
			return &cs_verbs[i];
	return NULL;
}
