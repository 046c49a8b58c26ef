/* catalogue.h - every measurement there is, one line each.
 *
 * A new measurement is a new line of tests.def; see there.  Names are
 * path.method.op.pattern and never change their meaning. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/facts.h"

/* Members with their remark in a line: laid out by hand. */
/* clang-format off */
enum cs_path {
	CS_PATH_PEER,		/* a GPU's memory to another's */
	CS_PATH_LOCAL,		/* within one GPU */
	CS_PATH_H2D, CS_PATH_D2H, /* host memory of a NUMA node to a GPU, and back */
	CS_PATH_HOST,		/* one NUMA node to another */
	CS_PATH_HOST_OWN,	/* "host" too: within a thread, which needs no GPU */
	CS_PATH_NETHOST,	/* host memory of one node to another's */
	CS_PATH_NET,		/* … a GPU's */
};
enum cs_method {
	CS_METHOD_CE,		/* copy engine, one address to another */
	CS_METHOD_CPU,
	CS_METHOD_SM,		/* a kernel */
	CS_METHOD_DRIVER,
	CS_METHOD_PEERCOPY,	/* copy engine, by cuMemcpyPeerAsync */
	CS_METHOD_STAGED,	/* through host memory, without peer access */
	CS_METHOD_TMA,		/* a kernel, by bulk asynchronous copies */
	CS_METHOD_CHASE,	/* dependent loads, one after the other */
	CS_METHOD_ZEROCOPY,	/* a kernel that reads, or writes, memory elsewhere, 4
				 * bytes at a time; it has no other end */
	CS_METHOD_PREFETCH,	/* managed memory: pages are asked for, … */
	CS_METHOD_DEMAND,	/* … or touched, one store each, if they are not */
	CS_METHOD_OVERLAP,	/* copies of tiles beside kernels that work on others */
	CS_METHOD_STREAM,	/* a kernel that reads data of the host once, … */
	CS_METHOD_STREAMW,	/* … or writes them, by one of the ways of its op */
	CS_METHOD_FMA,		/* multiply-adds of a kernel: nothing moves */
	CS_METHOD_L2,		/* a kernel that reads the second-level cache, … */
	CS_METHOD_SHARED,	/* … the shared memory of all multiprocessors */
	CS_METHOD_MATMUL,	/* a product of matrices, by blocks that fast memory holds */
	CS_METHOD_TEAM,		/* CPUs: one for each core of a NUMA node */
	CS_METHOD_CALL,		/* a call of the driver, by the CPU that makes it */
	CS_METHOD_COPY2D,	/* rows at a distance, by cuMemcpy2DAsync, … */
	CS_METHOD_COPY3D,	/* … as a part of a grid, by cuMemcpy3DAsync */
	CS_METHOD_SM3D,		/* … by a kernel */
	CS_METHOD_PACK,		/* … packed by a kernel, copied, unpacked by another */
	CS_METHOD_CHUNK,	/* by a kernel, pieces at a distance, … */
	CS_METHOD_STRIDE,	/* … of one element each */
	CS_METHOD_MPI,		/* messages of MPI */
	CS_METHODS
};
enum cs_op {
	CS_OP_WRITE, CS_OP_READ, /* issued by the source, by the destination */
	CS_OP_COPY,		/* within a GPU, or by a CPU: both at once */
	CS_OP_TRIAD,		/* two arrays read, their sum written: a = b + s * c */
	CS_OP_STRIDE, CS_OP_RANDOM, CS_OP_BULK, /* of a chase: the order of its
				 * nodes; in order, by bulk copies */
	CS_OP_WRITE4K,		/* as write, copies of 4 KiB */
	CS_OP_ENQUEUE,		/* one copy into a stream */
	CS_OP_ONCE,		/* one copy, until the CPU knows of its end */
	CS_OP_BURST4K, CS_OP_BURST64K, /* many small copies, and their end */
	CS_OP_LAUNCH,		/* one kernel into a stream */
	CS_OP_FREE, CS_OP_LOAD,	/* device memory given back; a module loaded */
	CS_OP_OPEN,		/* a peer's new buffer */
	CS_OP_ZEROCOPY,		/* of a stream: in place; managed memory by faults of
				 * neighbours, of warps, each a page; prefetched */
	CS_OP_NAIVE, CS_OP_WARP, CS_OP_PREFETCH,
	CS_OP_FP64, CS_OP_FP32, CS_OP_FP16, /* the type that is multiplied and added */
	CS_OP_PREFETCH_IN_IDLE, CS_OP_PREFETCH_IN_BUSY, /* of a call: the end to which
							 * managed memory goes, and
							 * whether its stream is busy */
	CS_OP_PREFETCH_OUT_IDLE, CS_OP_PREFETCH_OUT_BUSY,
	CS_OP_FAULT, CS_OP_FAULT_SYSTEM, /* of a chase: pages of managed memory, of
				 * malloc's, one fault after the other */
	CS_OP_WARM,		/* of a chase: at random, out of the caches that hold it */
	CS_OP_HALO,		/* as write, a face of a grid to its place at a neighbour */
	CS_OP_PINGPONG,		/* a small message there and back */
	CS_OP_STAGED,		/* messages of a GPU's memory, through host memory, … */
	CS_OP_DEVICE, CS_OP_RDMA, /* … that MPI gets, of cuMemAlloc and of cuMemCreate */
	/* of a product of matrices: rows of its blocks; NAIVE: it has none */
	CS_OP_BLOCK8, CS_OP_BLOCK16, CS_OP_BLOCK32, CS_OP_BLOCK64, CS_OP_BLOCK96,
	CS_OP_BLOCK112, CS_OP_BLOCK192,
	CS_OP_SYSTEM,	/* of tiles: as prefetch, memory of malloc */
	/* of base/calls.def */
	CS_OP_FIRST_CALL, CS_OP_BEFORE_CALLS = CS_OP_FIRST_CALL - 1,
#define CS_DRIVER_CALL(ENUM, ...) CS_OP_CALL_##ENUM,
#define CS_HOST_CALL(ENUM, ...) CS_OP_CALL_##ENUM,
#include "base/calls.def"
	CS_OPS
};
/* N agents; "load" moves bytes beside the measured transfer, and has no figure. */
enum cs_pattern {
	CS_PATTERN_PAIR, CS_PATTERN_BIDI,
	CS_PATTERN_SHIFT,	/* all agents at once, i to i + k, for each k */
	CS_PATTERN_RING,	/* the same, k = 1 alone */
	CS_PATTERN_BISECT,	/* the same, k = N / 2 alone */
	CS_PATTERN_ALL_TO_ONE, CS_PATTERN_ONE_TO_ALL,
	CS_PATTERN_ROUNDS,	/* disjoint pairs at once, each ordered pair in a round */
	CS_PATTERN_RANDOM,	/* each agent to k others, one pair at a time */
	CS_PATTERN_LOAD,	/* pair, all other GPUs load the same way */
	CS_PATTERN_BIDILOAD,	/* pair, its reverse and both ways of all others load */
	CS_PATTERN_LOADFLOPS,	/* pair, while its GPUs compute */
	CS_PATTERN_EVERY,	/* every GPU at once: "all" of a path with the host */
	CS_PATTERN_BIDIEVERY,	/* the same, both ways */
	CS_PATTERN_SHARED,	/* every GPU at once, from one buffer of the host */
	CS_PATTERN_INCAST,	/* several nodes to one at once, in groups */
	CS_PATTERN_RAILS,	/* GPU i, or NUMA node i, of a node to that of another */
	CS_PATTERN_ALONE,	/* one agent at a time, with its neighbour */
	CS_PATTERN_ALL,		/* the same by all agents at once */
	CS_PATTERN_GATED,	/* one agent, while the work of all others waits */
	CS_PATTERNS
};
enum cs_backend_kind { CS_BACKEND_CUDA, CS_BACKEND_CPU };

/* The memory of an end of a transfer. */
enum cs_memory {
	CS_MEM_DEVICE, CS_MEM_ARENA,
	CS_MEM_PINNED,		/* by the driver */
	CS_MEM_REGISTERED,	/* pages of ours, page-locked by the driver */
	CS_MEM_WC,		/* by the driver, write-combined */
	CS_MEM_HUGE,		/* as registered, in huge pages */
	CS_MEM_PAGEABLE,
	CS_MEM_MANAGED,		/* by the driver: pages that move to their user */
	CS_MEM_SYSTEM,		/* as malloc gives it: the same, if a GPU may use it */
	CS_MEMORIES
};

/* The unit of a figure. */
enum cs_unit {
	CS_UNIT_GBS, CS_UNIT_US, CS_UNIT_MS, CS_UNIT_COPIES, CS_UNIT_NS,
	CS_UNIT_GFLOPS,		/* 10^9 operations a second */
};

/* The way of measuring: node/coordinator/cell.c samples work that starts at the gate,
 * node/coordinator/probe.c times the CPU. */
enum cs_how {
	CS_HOW_GATED,	/* by marks on the stream, until it is known well enough */
	CS_HOW_CALLS,	/* each call of a batch */
	CS_HOW_ONCE,	/* each copy, from its call to its end */
	CS_HOW_BURST,	/* a batch and its end, as one */
	CS_HOW_STALL,	/* one call while others' work is held up */
	CS_HOW_OPEN,	/* the life of a way to a new buffer */
	CS_HOW_BATCHES,	/* batches of calls; their preparation and cleaning are not timed */
	CS_HOW_OVERLAP,	/* tiles there, worked on, and back, in several ways */
	CS_HOW_PREFETCH, /* one prefetch: its call and its end */
	CS_HOW_SLOTS,	/* in time slots that all nodes know: job/between.c */
};

/* The words of --matrix; bits. */
enum cs_matrix {
	CS_MATRIX_PEER = 1, CS_MATRIX_COST = 2, CS_MATRIX_H2D = 4,
	CS_MATRIX_D2H = 8, CS_MATRIX_LOCAL = 16, CS_MATRIX_HOST = 32,
	CS_MATRIX_NETHOST = 64, CS_MATRIX_NET = 128,
};
/* clang-format on */

/* The longest that others' work is held up for a call that may wait for it. */
#define CS_HOLD_MS 20

/* FP64 multiply-adds: gamma of a GPU, and its work beside a copy. */
#define CS_FLOPS_TEST "local.fma.fp64.alone"
#define CS_FLOPS_BYTES 16 /* that represent the data: nothing moves */

struct cs_test {
	const char *name; /* "peer.ce.write.pair" */
	enum cs_path path;
	enum cs_method method;
	enum cs_op op;
	enum cs_pattern pattern;
	enum cs_memory memory; /* of the host's end; DEVICE: none has one */
	int any_backend;       /* 1: of both backends */
	enum cs_backend_kind backend;
	enum cs_unit unit;
	enum cs_how how;
	unsigned matrices; /* enum cs_matrix: of which it is a part; 0: its path's */
	uint64_t bytes;	   /* of its copies, its own; 0: as asked for */
	/* the finest precision that the interval of its medians can reach, a share,
	 * unless the user gives one; 0: the default */
	double least_precision;
	const char *counts; /* the bytes of its rate, if tools differ: "bytes counted
			     * once"; NULL: those that came, once */
	const char *title; /* its human name, without "when": "GPU to GPU, copy engine, write" */
	const char *alone; /* "one pair at a time", unless they run beside others
 * (node/coordinator/concurrency.c); NULL: as in the title */
};

/* The table, in the order in which tests run and are listed. */
#define CS_TESTS_MOST 512
const struct cs_test *cs_catalogue(size_t *n);
const struct cs_test *cs_test_at(size_t index);
/* The one after it; of NULL the first; NULL at the end. */
const struct cs_test *cs_test_next(const struct cs_test *test);
#define CS_EACH_TEST(test) \
	for (const struct cs_test *test = NULL; (test = cs_test_next(test));)

/* Its position in the table; -1 when there is no such name. */
int cs_test_index(const char *name);

/* The matrices that it belongs to: enum cs_matrix. */
unsigned cs_test_matrices(const struct cs_test *test);
/* Does that backend measure it? */
int cs_test_is_of(const struct cs_test *test, enum cs_backend_kind backend);
/* The pages of a chase of faults are so far apart that each is a block of the driver's
 * own, of which nothing comes before it is asked for. */
#define CS_FAULT_STRIDE (2u << 20)

/* A chase of page faults? */
int cs_op_is_fault(int op);
/* Rows of the blocks of a product of matrices; 0: it has none. */
unsigned cs_op_block(int op);
/* A call that prefetches managed memory of its GPU? */
int cs_op_is_prefetch_call(int op);
/* Does it move managed memory, or that of malloc as such: one range, which has two
 * places? */
int cs_method_is_managed(int method);
/* Is its figure the rate of a link or a memory?  Strided copies, managed memory and a
 * stream's round trip show little of either. */
int cs_test_measures_link(const struct cs_test *test);
/* Is an end of it host memory of a NUMA node? */
int cs_test_has_host(const struct cs_test *test);
/* Is its figure a rate from or to the host memory of a NUMA node? */
int cs_test_crosses_host_link(const struct cs_test *test);
/* The kind of memory of its end on the host; a CPU always copies from one NUMA node to
 * another out of pageable memory. */
enum cs_memory cs_test_memory(const struct cs_test *test, int is_dst);
/* Is it between nodes?  Then a plan has its matrix without steps: nodes find their partners
 * by plan/rounds.h. */
int cs_test_is_between(const struct cs_test *test);
/* Does its figure depend on which nodes a job has, and their places in the network?  Then
 * no comparison judges it: shift, bisect and incast between nodes. */
int cs_test_is_of_allocation(const struct cs_test *test);
/* Does nothing of it leave its agent? */
int cs_test_is_within(const struct cs_test *test);
/* How many agents a node has at least that measures it: 1 or 2. */
uint32_t cs_test_least_agents(const struct cs_test *test);
/* Does it measure both ways of a path with the host, or both of a pair? */
int cs_test_goes_back(const struct cs_test *test);
/* One figure per agent, not per pair. */
int cs_test_is_list(const struct cs_test *test);

/* Which variants (catalogue/variant.h) it has: of all others it is measured once. */
enum cs_takes {
	CS_TAKES_CACHE = 1,    /* copies from or to host memory */
	CS_TAKES_THREADS = 2,  /* … that CPUs make */
	CS_TAKES_CPU_NUMA = 4, /* … that CPUs make, or a driver by them */
	CS_TAKES_ELEMENT = 8,  /* kernels that consume data of the host */
	CS_TAKES_KERNELS = 16, /* kernels that work on tiles */
	CS_TAKES_ADVICE = 32,  /* managed memory */
	CS_TAKES_SHAPE = 64,   /* copies that are not one block */
	CS_TAKES_GRID = 128, /* zero-copy: its grid, and the order of its accesses */
};
unsigned cs_test_takes(const struct cs_test *test);

/* Is a test of this method measured with that --via?  Staged copies go by no requested
 * way. */
int cs_method_fits(int method, enum cs_transport via);

/* May its cells run at the same time, with --schedule? */
int cs_test_goes_in_rounds(const struct cs_test *test);
/* … those of all GPUs, each of which works within its own memory and chip? */
int cs_test_goes_in_rounds_within(const struct cs_test *test);
/* Texts on a test that goes in rounds: "GPUs at the same time" of the whole matrix, "while
 * other GPUs ran" of one cell. */
const char *cs_test_in_rounds(const struct cs_test *test);
const char *cs_test_beside(const struct cs_test *test);

/* Data of the host to a kernel, or from it, once in a sample? */
int cs_method_is_stream(int method);

/* Does it copy a shape instead of one block? */
int cs_method_is_shaped(int method);

/* Does a kernel move the bytes, so that the spread counts?  Not a chase: it moves no
 * block of bytes. */
int cs_method_is_kernel(int method);
/* … and is the division of its work among blocks and threads ours to choose? */
int cs_method_is_divided(int method);
/* Does its kernel work within its GPU's chip, past which nothing goes but results? */
int cs_method_is_on_chip(int method);
/* Does its kernel report the time of one thing (a load, an operation), besides that of
 * all? */
int cs_method_reports_time(int method);

const char *cs_path_text(int path);
const char *cs_method_text(int method);
const char *cs_op_text(int op);
const char *cs_pattern_text(int pattern);
const char *cs_memory_text(int memory); /* "pinned"; "" of a device or an arena */
const char *cs_unit_text(int unit);	/* "GB/s", "us", "ms", … */
int cs_unit_low_is_better(int unit);

/* ---- explain.c ---- */

/* The meaning of a test, in sentences.  They are written by axis (path, method, op, pattern), so that
 * a new line of the catalogue that recombines existing values is already explained. */
struct cs_explanation {
	const char *moves;
	const char *issuer; /* its issuer */
	const char *timed;
	const char *timed_both; /* addition for several at once; NULL */
	const char *checked;
};

/* No field but timed_both is NULL for a test of the catalogue. */
void cs_test_explain(const struct cs_test *test, struct cs_explanation *out);
/* Other transfers that run on the node meanwhile; NULL: it is part of the
 * explanation. */
const char *cs_test_meanwhile(const struct cs_test *test);
