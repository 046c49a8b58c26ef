#include "catalogue/catalogue.h"

#include <string.h>

static const struct cs_test table[] = {
#include "catalogue/tests.def"
};

#define N_TESTS (sizeof(table) / sizeof(table[0]))
_Static_assert(N_TESTS <= CS_TESTS_MOST, "more tests than choices have room for");

const struct cs_test *cs_catalogue(size_t *n)
{
	*n = N_TESTS;
	return table;
}

const struct cs_test *cs_test_next(const struct cs_test *test)
{
	return !test ? table : ++test < table + N_TESTS ? test : NULL;
}

const struct cs_test *cs_test_at(size_t index)
{
	return &table[index];
}

int cs_test_index(const char *name)
{
	for (size_t i = 0; i < N_TESTS; i++)
		if (!strcmp(name, table[i].name))
			return (int)i;
	return -1;
}

unsigned cs_test_matrices(const struct cs_test *test)
{
	static const unsigned of_path[] = {
		[CS_PATH_PEER] = CS_MATRIX_PEER,
		[CS_PATH_LOCAL] = CS_MATRIX_LOCAL,
		[CS_PATH_H2D] = CS_MATRIX_H2D,
		[CS_PATH_D2H] = CS_MATRIX_D2H,
		[CS_PATH_HOST] = CS_MATRIX_HOST,
		[CS_PATH_HOST_OWN] = CS_MATRIX_HOST,
		[CS_PATH_NETHOST] = CS_MATRIX_NETHOST,
		[CS_PATH_NET] = CS_MATRIX_NET,
	};

	return test->matrices ? test->matrices : of_path[test->path];
}

int cs_test_is_of(const struct cs_test *test, enum cs_backend_kind backend)
{
	return test->any_backend || test->backend == backend;
}

int cs_op_is_fault(int op)
{
	return op == CS_OP_FAULT || op == CS_OP_FAULT_SYSTEM;
}

unsigned cs_op_block(int op)
{
	static const uint8_t rows[] = { 8, 16, 32, 64, 96, 112, 192 };

	return op >= CS_OP_BLOCK8 && op <= CS_OP_BLOCK192 ? rows[op - CS_OP_BLOCK8] :
							    0;
}

int cs_op_is_prefetch_call(int op)
{
	return op >= CS_OP_PREFETCH_IN_IDLE && op <= CS_OP_PREFETCH_OUT_BUSY;
}

int cs_method_is_managed(int method)
{
	return method == CS_METHOD_PREFETCH || method == CS_METHOD_DEMAND;
}

int cs_test_measures_link(const struct cs_test *test)
{
	return test->unit == CS_UNIT_GBS && test->op <= CS_OP_TRIAD &&
	       (test->method <= CS_METHOD_TMA || test->method == CS_METHOD_TEAM);
}

int cs_test_has_host(const struct cs_test *test)
{
	return test->path == CS_PATH_HOST ||
	       ((test->path == CS_PATH_H2D || test->path == CS_PATH_D2H) &&
		test->memory != CS_MEM_DEVICE);
}

int cs_test_crosses_host_link(const struct cs_test *test)
{
	return test->unit == CS_UNIT_GBS && cs_test_has_host(test) &&
	       test->path != CS_PATH_HOST;
}

enum cs_memory cs_test_memory(const struct cs_test *test, int is_dst)
{
	return test->path == CS_PATH_HOST && !is_dst ? CS_MEM_PAGEABLE : test->memory;
}

int cs_test_goes_in_rounds_within(const struct cs_test *test)
{
	return test->path == CS_PATH_LOCAL && test->how == CS_HOW_GATED &&
	       test->pattern == CS_PATTERN_ALONE;
}

int cs_test_goes_in_rounds(const struct cs_test *test)
{
	return cs_test_goes_in_rounds_within(test) ||
	       (test->path == CS_PATH_PEER && test->how == CS_HOW_GATED &&
		test->unit == CS_UNIT_GBS && test->method != CS_METHOD_CPU &&
		test->method != CS_METHOD_STAGED &&
		!cs_method_is_managed((int)test->method) &&
		(test->pattern == CS_PATTERN_PAIR || test->pattern == CS_PATTERN_BIDI));
}

const char *cs_test_in_rounds(const struct cs_test *test)
{
	return cs_test_goes_in_rounds_within(test) ? "GPUs at the same time" :
						     "some pairs at the same time";
}

const char *cs_test_beside(const struct cs_test *test)
{
	return cs_test_goes_in_rounds_within(test) ? "while other GPUs ran" :
						     "while other pairs ran";
}

/* Pages that come to the host are touched there. */
static int is_touched_by_cpus(const struct cs_test *test)
{
	return test->method == CS_METHOD_DEMAND &&
	       (test->path == CS_PATH_D2H ||
		(test->path == CS_PATH_H2D && cs_test_goes_back(test)));
}

unsigned cs_test_takes(const struct cs_test *test)
{
	int by_cpu = test->path == CS_PATH_HOST || test->memory == CS_MEM_PAGEABLE;
	int has_grid = test->method == CS_METHOD_ZEROCOPY && !cs_test_goes_back(test);

	if (test->method == CS_METHOD_OVERLAP)
		return CS_TAKES_KERNELS;
	if (cs_method_is_stream((int)test->method))
		return CS_TAKES_ELEMENT;
	if (cs_method_is_shaped((int)test->method))
		return CS_TAKES_SHAPE |
		       (test->method == CS_METHOD_CHUNK ||
					test->method == CS_METHOD_STRIDE ?
				0 :
				CS_TAKES_ELEMENT);

	/* of the host memory between */
	if (test->method == CS_METHOD_STAGED)
		return CS_TAKES_CPU_NUMA;
	if (cs_op_is_fault((int)test->op))
		return CS_TAKES_ADVICE;
	if (cs_method_is_managed((int)test->method))
		return CS_TAKES_ADVICE | (is_touched_by_cpus(test) ?
						  CS_TAKES_THREADS | CS_TAKES_CPU_NUMA :
						  0);
	/* no cache holds write-combined memory */
	if (!cs_test_has_host(test) || test->memory == CS_MEM_WC ||
	    test->how != CS_HOW_GATED || test->unit != CS_UNIT_GBS)
		return has_grid ? CS_TAKES_GRID : 0;
	return CS_TAKES_CACHE | (has_grid ? CS_TAKES_GRID : 0) |
	       (test->method == CS_METHOD_CPU ? CS_TAKES_THREADS : 0) |
	       (by_cpu ? CS_TAKES_CPU_NUMA : 0);
}

int cs_method_fits(int method, enum cs_transport via)
{
	return via == CS_TRANSPORT_AUTO ||
	       (method == CS_METHOD_STAGED) == (via == CS_TRANSPORT_STAGED);
}

int cs_test_is_between(const struct cs_test *test)
{
	return test->path == CS_PATH_NETHOST || test->path == CS_PATH_NET;
}

int cs_test_is_of_allocation(const struct cs_test *test)
{
	return cs_test_is_between(test) && test->pattern > CS_PATTERN_BIDI &&
	       test->pattern != CS_PATTERN_RAILS;
}

int cs_test_is_within(const struct cs_test *test)
{
	return test->path == CS_PATH_LOCAL || test->path == CS_PATH_HOST_OWN;
}

uint32_t cs_test_least_agents(const struct cs_test *test)
{
	return test->path == CS_PATH_PEER || test->pattern == CS_PATTERN_GATED ? 2 : 1;
}

int cs_test_goes_back(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_BIDI ||
	       test->pattern == CS_PATTERN_BIDIEVERY;
}

int cs_test_is_list(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_ALONE || test->pattern == CS_PATTERN_ALL ||
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
	static const char *const words[] = { "peer", "local", "h2d",	 "d2h",
					     "host", "host",  "nethost", "net" };

	return WORD(words, path);
}

int cs_method_is_divided(int method)
{
	return method == CS_METHOD_SM || method == CS_METHOD_TMA;
}

int cs_method_is_stream(int method)
{
	return method == CS_METHOD_STREAM || method == CS_METHOD_STREAMW;
}

int cs_method_is_shaped(int method)
{
	return method >= CS_METHOD_COPY2D && method <= CS_METHOD_STRIDE;
}

int cs_method_is_kernel(int method)
{
	return cs_method_is_divided(method) || method == CS_METHOD_ZEROCOPY;
}

int cs_method_is_on_chip(int method)
{
	return method == CS_METHOD_FMA || method == CS_METHOD_L2 ||
	       method == CS_METHOD_SHARED || method == CS_METHOD_MATMUL;
}

int cs_method_reports_time(int method)
{
	return method == CS_METHOD_CHASE || method == CS_METHOD_FMA ||
	       method == CS_METHOD_MATMUL;
}

const char *cs_method_text(int method)
{
	static const char *const words[] = {
		"ce",	  "cpu",     "sm",	 "driver",   "peercopy", "staged",
		"tma",	  "chase",   "zerocopy", "prefetch", "demand",	 "overlap",
		"stream", "streamw", "fma",	 "l2",	     "shared",	 "matmul",
		"team",	  "call",    "copy2d",	 "copy3d",   "sm3d",	 "pack",
		"chunk",  "stride",  "mpi",
	};

	return WORD(words, method);
}

const char *cs_op_text(int op)
{
	static const char *const words[] = {
		"write",
		"read",
		"copy",
		"triad",
		"stride",
		"random",
		"bulk",
		"write4k",
		"enqueue",
		"once",
		"burst4k",
		"burst64k",
		"launch",
		"free",
		"load",
		"open",
		"zerocopy",
		"naive",
		"warp",
		"prefetch",
		"fp64",
		"fp32",
		"fp16",
		"prefetch-in-idle",
		"prefetch-in-busy",
		"prefetch-out-idle",
		"prefetch-out-busy",
		"fault",
		"fault-system",
		"warm",
		"halo",
		"pingpong",
		"staged",
		"device",
		"rdma",
		"block8",
		"block16",
		"block32",
		"block64",
		"block96",
		"block112",
		"block192",
		"system",
#define CS_DRIVER_CALL(OP_, name_, ...) name_,
#define CS_HOST_CALL(OP_, name_, ...) name_,
#include "base/calls.def"
	};

	return WORD(words, op);
}

const char *cs_pattern_text(int pattern)
{
	static const char *const words[] = {
		"pair",	      "bidi",	    "shift",  "ring",	 "bisect",
		"all-to-one", "one-to-all", "rounds", "random",	 "load",
		"bidiload",   "loadflops",  "all",    "bidiall", "shared",
		"incast",     "rails",	    "alone",  "all",	 "gated",
	};

	return WORD(words, pattern);
}

const char *cs_memory_text(int memory)
{
	static const char *const words[] = { "",	   "",	      "pinned",
					     "registered", "wc",      "huge",
					     "pageable",   "managed", "system" };

	return WORD(words, memory);
}

const char *cs_unit_text(int unit)
{
	static const char *const words[] = { "GB/s",	 "us", "ms",
					     "copies/s", "ns", "GFLOP/s" };

	return WORD(words, unit);
}

int cs_unit_low_is_better(int unit)
{
	return unit == CS_UNIT_US || unit == CS_UNIT_MS || unit == CS_UNIT_NS;
}
