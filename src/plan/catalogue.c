#include "config.h"

#include "plan/catalogue.h"

#include <string.h>

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define HELD "while the work of all other GPUs waits, at most " TEXT(CS_HOLD_MS) " ms"

/* ---- between agents ---- */

/* Of --matrix cost too: what the costs are held against. */
#define MATRICES_BASE (CS_MATRIX_PEER | CS_MATRIX_COST)

#define SAYS_WRITE "row writes to column"
#define SAYS_READ "column reads from row"
#define BACK_WRITE " while column writes to row"
#define BACK_READ " while row reads from column"

#define PEER(way, METHOD_, op_, OP_, pattern_, PATTERN_, BACKEND_, MATRICES_, \
	     when, alone_, who)                                                \
	{ .name = "peer." way "." op_ "." pattern_, .path = CS_PATH_PEER,   \
	  .method = CS_METHOD_##METHOD_, .op = CS_OP_##OP_,                    \
	  .pattern = CS_PATTERN_##PATTERN_, .backend = CS_BACKEND_##BACKEND_,  \
	  .unit = CS_UNIT_GBS, .how = CS_HOW_GATED, .matrices = MATRICES_,     \
	  .heading = SAYS_##OP_ when, .alone = alone_, .summary = who when }
#define ONE_PAIR "one pair at a time"

#define PAIR_TESTS(way, M, op, OP, B, MATRICES, who)                         \
	PEER(way, M, op, OP, "pair", PAIR, B, MATRICES,                      \
	     "", ONE_PAIR, who),                                                \
	PEER(way, M, op, OP, "bidi", BIDI, B, CS_MATRIX_PEER, BACK_##OP,     \
	     NULL, who)

/* All of these take one copy of each issuer at most … */
#define CROWD_TESTS(way, M, op, OP, B, MATRICES, who)                        \
	PEER(way, M, op, OP, "shift", SHIFT, B, MATRICES,                    \
	     ", all at once, each to another", NULL, who),                            \
	PEER(way, M, op, OP, "ring", RING, B, CS_MATRIX_PEER,                \
	     ", all at once, each to the next", NULL, who),                           \
	PEER(way, M, op, OP, "bisect", BISECT, B, CS_MATRIX_PEER,            \
	     ", all at once, each to the one half-way round", NULL, who),             \
	PEER(way, M, op, OP, "rounds", ROUNDS, B, CS_MATRIX_PEER,               \
	     ", as many pairs at once as there are", NULL, who),                      \
	PEER(way, M, op, OP, "random", RANDOM, B, CS_MATRIX_PEER,            \
	     ", some pairs by lot", "one at a time", who)

/* … these one or the other. */
#define ALL_TO_ONE(way, M, op, OP, B, who)                                   \
	PEER(way, M, op, OP, "all-to-one", ALL_TO_ONE, B, CS_MATRIX_PEER,    \
	     ", all others to one at once", NULL, who)
#define ONE_TO_ALL(way, M, op, OP, B, who)                                   \
	PEER(way, M, op, OP, "one-to-all", ONE_TO_ALL, B, CS_MATRIX_PEER,    \
	     ", one to all others at once", NULL, who)

#define GPU_TESTS(way, M, op, OP, MATRICES, who)                             \
	PAIR_TESTS(way, M, op, OP, CUDA, MATRICES, who),                     \
	CROWD_TESTS(way, M, op, OP, CUDA, MATRICES, who),                    \
	ALL_TO_ONE(way, M, op, OP, CUDA, who),                               \
	ONE_TO_ALL(way, M, op, OP, CUDA, who)

#define CE_WRITE "copy engine of the row's GPU: " SAYS_WRITE
#define CE_READ "copy engine of the column's GPU: " SAYS_READ
#define SM_WRITE "kernel on the row's GPU: " SAYS_WRITE
#define SM_READ "kernel on the column's GPU: " SAYS_READ
#define TMA_WRITE "bulk copies on the row's GPU: " SAYS_WRITE
#define TMA_READ "bulk copies on the column's GPU: " SAYS_READ
#define CPU_WRITE "host memory, CPU of the row: " SAYS_WRITE
#define CPU_READ "host memory, CPU of the column: " SAYS_READ

/* ---- with the host, or within a GPU ---- */

#define HOST(path_, PATH_, way, METHOD_, memory_, MEMORY_, pattern_, PATTERN_, \
	     OP_, says, when, who)                                             \
	{ .name = path_ "." way "." memory_ "." pattern_,                   \
	  .path = CS_PATH_##PATH_, .method = CS_METHOD_##METHOD_,              \
	  .op = CS_OP_##OP_, .pattern = CS_PATTERN_##PATTERN_,                 \
	  .memory = CS_MEM_##MEMORY_, .backend = CS_BACKEND_CUDA,              \
	  .unit = CS_UNIT_GBS, .how = CS_HOW_GATED,                            \
	  .matrices = CS_MATRIX_##PATH_, .heading = says when,                 \
	  .summary = who memory_ " host memory: " says when }

#define TO_GPU "host memory of row to GPU of column"
#define FROM_GPU "GPU of row to host memory of column"
#define H2D(way, M, memory, MEMORY, pattern, PATTERN, when, who)             \
	HOST("h2d", H2D, way, M, memory, MEMORY, pattern, PATTERN, READ,     \
	     TO_GPU, when, who)
#define D2H(way, M, memory, MEMORY, pattern, PATTERN, when, who)             \
	HOST("d2h", D2H, way, M, memory, MEMORY, pattern, PATTERN, WRITE,    \
	     FROM_GPU, when, who)

#define HOST_TESTS(way, M, memory, MEMORY, who)                              \
	H2D(way, M, memory, MEMORY, "pair", PAIR, ", one at a time", who),   \
	D2H(way, M, memory, MEMORY, "pair", PAIR, ", one at a time", who),   \
	H2D(way, M, memory, MEMORY, "bidi", BIDI, " and back, at once", who)

#define LOADED_TESTS(way, M, memory, MEMORY, who)                            \
	H2D(way, M, memory, MEMORY, "load", LOAD,                            \
	    " while all other GPUs do the same", who),                          \
	D2H(way, M, memory, MEMORY, "load", LOAD,                            \
	    " while all other GPUs do the same", who),                          \
	H2D(way, M, memory, MEMORY, "bidiload", BIDILOAD,                    \
	    " while it and all other GPUs copy both ways", who),                \
	D2H(way, M, memory, MEMORY, "bidiload", BIDILOAD,                    \
	    " while it and all other GPUs copy both ways", who),                \
	H2D(way, M, memory, MEMORY, "all", EVERY, ", all GPUs at once", who), \
	D2H(way, M, memory, MEMORY, "all", EVERY, ", all GPUs at once", who), \
	H2D(way, M, memory, MEMORY, "bidiall", BIDIEVERY,                    \
	    " and back, all GPUs at once", who)

#define LOCAL(way, METHOD_, op_, OP_, heading_, summary_)                     \
	{ .name = "local." way "." op_ ".alone", .path = CS_PATH_LOCAL,     \
	  .method = CS_METHOD_##METHOD_, .op = CS_OP_##OP_,                    \
	  .pattern = CS_PATTERN_ALONE, .backend = CS_BACKEND_CUDA,             \
	  .unit = CS_UNIT_GBS, .how = CS_HOW_GATED,                            \
	  .matrices = CS_MATRIX_LOCAL, .heading = heading_ ", one GPU at a time", \
	  .summary = summary_ }
#define ONCE ", bytes counted once"

/* Latency: `bytes` 0 is a working set as asked for. */
#define CHASE(path_, PATH_, memory_, op_, OP_, pattern_, PATTERN_, bytes_,       \
	      heading_, alone_, summary_)                                            \
	{ .name = path_ ".chase." op_ "." pattern_, .path = CS_PATH_##PATH_,   \
	  .method = CS_METHOD_CHASE, .op = CS_OP_##OP_,                        \
	  .pattern = CS_PATTERN_##PATTERN_, .memory = CS_MEM_##memory_,        \
	  .backend = CS_BACKEND_CUDA, .unit = CS_UNIT_NS,                      \
	  .how = CS_HOW_GATED, .matrices = CS_MATRIX_##PATH_, .bytes = bytes_, \
	  .heading = heading_, .alone = alone_, .summary = summary_ }
#define IN_ORDER "2 MiB in order"
#define AT_RANDOM "--size in random order"
#define SMALL_CHASE (2 << 20)

/* What a placement costs: only with a driver there is something to tell. */
#define COST_TEST(name_, path_, method_, op_, pattern_, how_, unit_, bytes_,     \
		  heading_, summary_)                                            \
	{ .name = name_, .path = CS_PATH_##path_, .method = CS_METHOD_##method_, \
	  .op = CS_OP_##op_, .pattern = CS_PATTERN_##pattern_,                   \
	  .backend = CS_BACKEND_CUDA, .unit = CS_UNIT_##unit_,                   \
	  .how = CS_HOW_##how_, .matrices = CS_MATRIX_COST, .bytes = bytes_,     \
	  .heading = heading_, .summary = summary_ }

static const struct cs_test table[] = {
	GPU_TESTS("ce", CE, "write", WRITE, MATRICES_BASE, CE_WRITE),
	GPU_TESTS("ce", CE, "read", READ, MATRICES_BASE, CE_READ),
	GPU_TESTS("sm", SM, "write", WRITE, CS_MATRIX_PEER, SM_WRITE),
	GPU_TESTS("sm", SM, "read", READ, CS_MATRIX_PEER, SM_READ),
	GPU_TESTS("tma", TMA, "write", WRITE, CS_MATRIX_PEER, TMA_WRITE),
	GPU_TESTS("tma", TMA, "read", READ, CS_MATRIX_PEER, TMA_READ),
	PAIR_TESTS("peercopy", PEERCOPY, "write", WRITE, CUDA, CS_MATRIX_PEER,
		   "by cuMemcpyPeerAsync within a process: " SAYS_WRITE),
	PAIR_TESTS("staged", STAGED, "write", WRITE, CUDA, CS_MATRIX_PEER,
		   "through host memory (--via staged): " SAYS_WRITE),
	PAIR_TESTS("cpu", CPU, "write", WRITE, CPU, MATRICES_BASE, CPU_WRITE),
	PAIR_TESTS("cpu", CPU, "read", READ, CPU, MATRICES_BASE, CPU_READ),
	CROWD_TESTS("cpu", CPU, "write", WRITE, CPU, MATRICES_BASE, CPU_WRITE),
	CROWD_TESTS("cpu", CPU, "read", READ, CPU, MATRICES_BASE, CPU_READ),
	ALL_TO_ONE("cpu", CPU, "write", WRITE, CPU, CPU_WRITE),
	ONE_TO_ALL("cpu", CPU, "read", READ, CPU, CPU_READ),
	CHASE("peer", PEER, DEVICE, "stride", STRIDE, "pair", PAIR, SMALL_CHASE,
	      "a load by column's GPU from row's memory", ONE_PAIR,
	      "latency between GPUs: " IN_ORDER),
	CHASE("peer", PEER, DEVICE, "random", RANDOM, "pair", PAIR, 0,
	      "a load by column's GPU from row's memory", ONE_PAIR,
	      "latency between GPUs: " AT_RANDOM),
	CHASE("peer", PEER, DEVICE, "bulk", BULK, "pair", PAIR, SMALL_CHASE,
	      "a bulk copy of 16 bytes by column's GPU from row's memory", ONE_PAIR,
	      "latency between GPUs, by bulk copies: " IN_ORDER),

	HOST_TESTS("ce", CE, "pinned", PINNED, "copy engine, "),
	LOADED_TESTS("ce", CE, "pinned", PINNED, "copy engine, "),
	HOST_TESTS("ce", CE, "registered", REGISTERED, "copy engine, "),
	HOST_TESTS("ce", CE, "huge", HUGE, "copy engine, "),
	H2D("ce", CE, "wc", WC, "pair", PAIR, ", one at a time", "copy engine, "),
	HOST_TESTS("sm", SM, "pinned", PINNED, "kernel, "),
	LOADED_TESTS("sm", SM, "pinned", PINNED, "kernel, "),
	HOST_TESTS("sm", SM, "registered", REGISTERED, "kernel, "),
	HOST_TESTS("sm", SM, "huge", HUGE, "kernel, "),
	H2D("sm", SM, "wc", WC, "pair", PAIR, ", one at a time", "kernel, "),
	CHASE("h2d", H2D, PINNED, "stride", STRIDE, "pair", PAIR, SMALL_CHASE,
	      "a load by column's GPU from row's host memory", "one at a time",
	      "latency of pinned host memory: " IN_ORDER),
	CHASE("h2d", H2D, PINNED, "random", RANDOM, "pair", PAIR, 0,
	      "a load by column's GPU from row's host memory", "one at a time",
	      "latency of pinned host memory: " AT_RANDOM),

	LOCAL("ce", CE, "copy", COPY, "one buffer of a GPU to another" ONCE,
	      "within a GPU, copy engine" ONCE),
	LOCAL("sm", SM, "copy", COPY, "one buffer of a GPU to another" ONCE,
	      "within a GPU, kernel" ONCE),
	LOCAL("tma", TMA, "copy", COPY, "one buffer of a GPU to another" ONCE,
	      "within a GPU, bulk copies" ONCE),
	LOCAL("sm", SM, "read", READ, "a GPU reads its own memory",
	      "within a GPU, kernel that reads"),
	LOCAL("sm", SM, "write", WRITE, "a GPU writes its own memory",
	      "within a GPU, kernel that writes"),
	CHASE("local", LOCAL, DEVICE, "stride", STRIDE, "alone", ALONE, SMALL_CHASE,
	      "a load by a GPU from its own memory", "one GPU at a time",
	      "latency within a GPU: " IN_ORDER),
	CHASE("local", LOCAL, DEVICE, "random", RANDOM, "alone", ALONE, 0,
	      "a load by a GPU from its own memory", "one GPU at a time",
	      "latency within a GPU: " AT_RANDOM),

	{ .name = "host.cpu.copy.pair", .path = CS_PATH_HOST,
	  .method = CS_METHOD_CPU, .op = CS_OP_COPY, .pattern = CS_PATTERN_PAIR,
	  .memory = CS_MEM_PAGEABLE, .any_backend = 1, .unit = CS_UNIT_GBS,
	  .how = CS_HOW_GATED, .matrices = CS_MATRIX_HOST,
	  .heading = "row's NUMA domain to column's, by one CPU of column's, one "
		     "pair at a time",
	  .summary = "one NUMA domain to another, by one CPU of the second" },

	COST_TEST("peer.ce.write4k.pair", PEER, CE, WRITE4K, PAIR, GATED, US, 4 << 10,
		  "row writes 4 KiB to column, time of a copy",
		  "GPU to GPU, device time of one copy of 4 KiB among many"),
	COST_TEST("peer.ce.enqueue.alone", PEER, CE, ENQUEUE, ALONE, CALLS, US,
		  4 << 10, "CPU time to enqueue a copy of 4 KiB, one GPU at a time",
		  "CPU time of one cuMemcpyAsync, one GPU at a time"),
	COST_TEST("peer.ce.enqueue.all", PEER, CE, ENQUEUE, ALL, CALLS, US, 4 << 10,
		  "CPU time to enqueue a copy of 4 KiB, all GPUs at once",
		  "CPU time of one cuMemcpyAsync while all GPUs enqueue"),
	COST_TEST("peer.ce.burst4k.alone", PEER, CE, BURST4K, ALONE, BURST, COPIES,
		  4 << 10, "copies of 4 KiB as fast as they go, one GPU at a time",
		  "copies per second at 4 KiB, wall clock, one GPU at a time"),
	COST_TEST("peer.ce.burst4k.all", PEER, CE, BURST4K, ALL, BURST, COPIES,
		  4 << 10, "copies of 4 KiB as fast as they go, all GPUs at once",
		  "copies per second at 4 KiB, wall clock, all GPUs at once"),
	COST_TEST("peer.ce.burst64k.alone", PEER, CE, BURST64K, ALONE, BURST, COPIES,
		  64 << 10, "copies of 64 KiB as fast as they go, one GPU at a time",
		  "copies per second at 64 KiB, wall clock, one GPU at a time"),
	COST_TEST("peer.ce.burst64k.all", PEER, CE, BURST64K, ALL, BURST, COPIES,
		  64 << 10, "copies of 64 KiB as fast as they go, all GPUs at once",
		  "copies per second at 64 KiB, wall clock, all GPUs at once"),
	COST_TEST("local.sm.launch.alone", LOCAL, SM, LAUNCH, ALONE, CALLS, US, 16,
		  "CPU time to launch a kernel, one GPU at a time",
		  "CPU time of one cuLaunchKernel, one GPU at a time"),
	COST_TEST("local.sm.launch.all", LOCAL, SM, LAUNCH, ALL, CALLS, US, 16,
		  "CPU time to launch a kernel, all GPUs at once",
		  "CPU time of one cuLaunchKernel while all GPUs launch"),
	COST_TEST("local.driver.free.gated", LOCAL, DRIVER, FREE, GATED, STALL, MS,
		  2 << 20, "cuMemFree of 2 MiB " HELD,
		  "does freeing memory wait for the work of other GPUs?"),
	COST_TEST("local.driver.load.gated", LOCAL, DRIVER, LOAD, GATED, STALL, MS,
		  16, "cuModuleLoadData " HELD,
		  "does loading a module wait for the work of other GPUs?"),
	COST_TEST("peer.driver.open.pair", PEER, DRIVER, OPEN, PAIR, OPEN, US,
		  16 << 20, "row opens a new buffer of column, one pair at a time",
		  "a way to a peer's new buffer: CUDA IPC, or peer access within a "
		  "process"),
};

#define N_TESTS (sizeof(table) / sizeof(table[0]))
_Static_assert(N_TESTS <= CS_TESTS_MOST, "more tests than choices have room for");

const struct cs_test *cs_catalogue(size_t *n)
{
	*n = N_TESTS;
	return table;
}

int cs_test_index(const char *name)
{
	size_t i;

	for (i = 0; i < N_TESTS; i++)
		if (!strcmp(name, table[i].name))
			return (int)i;
	return -1;
}

int cs_test_is_of(const struct cs_test *test, enum cs_backend_kind backend)
{
	return test->any_backend || test->backend == backend;
}

int cs_test_has_host(const struct cs_test *test)
{
	return test->memory != CS_MEM_DEVICE;
}

int cs_test_goes_in_rounds(const struct cs_test *test)
{
	return test->path == CS_PATH_PEER && test->how == CS_HOW_GATED &&
	       test->unit == CS_UNIT_GBS && test->method != CS_METHOD_CPU &&
	       test->method != CS_METHOD_STAGED &&
	       (test->pattern == CS_PATTERN_PAIR || test->pattern == CS_PATTERN_BIDI);
}

int cs_method_fits(int method, enum cs_way via)
{
	return (method == CS_METHOD_STAGED) == (via == CS_WAY_STAGED);
}

uint32_t cs_test_least_agents(const struct cs_test *test)
{
	return test->path == CS_PATH_PEER || test->pattern == CS_PATTERN_GATED ? 2 : 1;
}

int cs_test_is_list(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_ALONE ||
	       test->pattern == CS_PATTERN_ALL ||
	       test->pattern == CS_PATTERN_GATED;
}

/* ---- words ---- */

static const char *word(const char *const *words, size_t n, int index)
{
	return index >= 0 && (size_t)index < n ? words[index] : "?";
}

#define WORD(words, index) word(words, sizeof(words) / sizeof(*(words)), index)

const char *cs_path_text(int path)
{
	static const char *const words[] = { "peer", "local", "h2d", "d2h",
					     "host" };

	return WORD(words, path);
}

int cs_method_is_kernel(int method)
{
	return method == CS_METHOD_SM || method == CS_METHOD_TMA;
}

const char *cs_method_text(int method)
{
	static const char *const words[] = { "ce", "cpu", "sm", "driver",
					     "peercopy", "staged", "tma", "chase" };

	return WORD(words, method);
}

const char *cs_op_text(int op)
{
	static const char *const words[] = {
		"write", "read", "copy", "stride", "random", "bulk", "write4k", "enqueue", "burst4k", "burst64k",
		"launch", "free", "load", "open",
	};

	return WORD(words, op);
}

const char *cs_pattern_text(int pattern)
{
	static const char *const words[] = {
		"pair", "bidi", "shift", "ring", "bisect", "all-to-one",
		"one-to-all", "rounds", "random", "load", "bidiload", "all", "bidiall",
		"alone", "all", "gated",
	};

	return WORD(words, pattern);
}

const char *cs_memory_text(int memory)
{
	static const char *const words[] = { "", "", "pinned", "registered", "wc",
					     "huge", "pageable" };

	return WORD(words, memory);
}

const char *cs_unit_text(int unit)
{
	static const char *const words[] = { "GB/s", "us", "ms", "copies/s", "ns" };

	return WORD(words, unit);
}

int cs_unit_low_is_better(int unit)
{
	return unit == CS_UNIT_US || unit == CS_UNIT_MS || unit == CS_UNIT_NS;
}
