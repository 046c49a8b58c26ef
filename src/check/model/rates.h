/* rates.h - what GPUs and NUMA nodes compute, what their memories give, and what follows
 * from both for a program. */
#pragma once

#include "base/vec.h"
#include "check/model/fit.h"
#include "result/run.h"

/* The memories of GPUs and cores; if --size chooses the bytes, at the largest size that
 * was measured. */
enum cs_near {
	CS_NEAR_MEMORY, /* a triad in its own memory; cores read theirs */
	CS_NEAR_L2,
	CS_NEAR_SHARED,
	CS_NEARS
};

/* A GPU, or all cores of a NUMA node. */
struct cs_computes {
	int node, is_numa;
	struct cs_endpoint where;
	double gflops,
		of_peak; /* FP64; share of units x highest clock; NAN: not known */
	double gbs[CS_NEARS];  /* NAN: not measured */
	uint64_t bytes;	       /* of the triad */
	double shared_of_peak; /* … of 128 bytes a clock and multiprocessor */
};

/* The GPUs and NUMA nodes of a run that computed: a list of struct cs_computes, by node,
 * GPUs first. */
struct cs_vec cs_run_computes(const struct cs_run *run);
/* The median of one rate of all GPUs in that list, or of all NUMA nodes: enum cs_near, GB/s;
 * CS_NEARS: GFLOP/s.  NAN: none has it. */
double cs_computes_median(const struct cs_vec *computes, int is_numa, int near);

/* ---- gamma.c: the time of a flop, and the cost of loads in flops ---- */

#define CS_WORD_BYTES 8 /* of a load: a double */

/* FP64 of a node's GPUs, as local.fma.fp64.alone measured it: the median, in GFLOP/s;
 * node -1: of all nodes.  NAN: not measured. */
double cs_gamma_gflops(const struct cs_run *run, int node);

/* Flops that are done in the time of loading a word at that rate: the flops per load
 * that a program needs to be half as fast as its arithmetic alone. */
double cs_flops_per_load(double gflops, double gbs);
/* … and those that it needs for that efficiency, in 0 … 1. */
double cs_intensity(double flops_per_load, double efficiency);
#define CS_EFFICIENT 0.9 /* the one that is printed beside that of a half */

/* Flops in the time that a message takes before its first byte; NAN: it takes
 * none. */
double cs_alpha_flops(double gflops, double alpha_us);

/* The peak of a GPU in GFLOP/s for a row of local.fma.*: its multiprocessors, units and
 * highest clock; NAN: one of these is not known. */
double cs_fma_peak_gflops(const struct cs_run *run, const struct cs_row *row);
/* The same of shared memory, of a row of local.shared.*: 128 bytes a clock. */
double cs_shared_peak_gbs(const struct cs_run *run, const struct cs_row *row);

/* ---- levels.c: the memories of a GPU and of a NUMA node's cores, from the fastest on ----
 *
 * How large each is, as a sweep of dependent loads shows and as its vendor specifies, and
 * the cost of a byte and of a load.  Figures are medians over the run. */

struct cs_level {
	const char *name; /* "registers", "L1", "memory" */
	const char *each; /* "multiprocessor", "core", of which there are `times`; "" */
	int is_numa;	  /* of cores, else of a GPU */
	double times;
	struct cs_fit_value found; /* bytes of one, with its 95 % interval; NAN: no end */
	double vendor_bytes, gbs, ns; /* of one; of all; of a load.  NAN: not known */
};

/* A list of struct cs_level, GPUs first; none of a run without a sweep of CS_LEVELS_SIZES
 * sizes by local.chase.random.alone or host.chase.warm.pair. */
#define CS_LEVELS_SIZES 8
struct cs_vec cs_levels_find(const struct cs_run *run);

/* Shared memory and L1 of a multiprocessor of the run's GPUs, as the vendor says. */
double cs_gpu_shared_bytes(const struct cs_run *run);

/* ---- product.c: products of matrices ----
 *
 * The words that each moves, against the least that any order of the same operations moves
 * through the same fast memory, 2 n^3 / sqrt(M) (Hong and Kung, 1981), and the rate against
 * what movement allows.  The words follow from the algorithm; that so many move shows in
 * the rate, which no faster memory explains. */

/* A product of matrices by a GPU or a CPU: medians over the run.  NAN: not known. */
struct cs_product {
	int is_numa;
	unsigned block; /* 0: none */
	uint64_t rows;
	const char *fast; /* memory that holds its blocks, … */
	double least;	  /* … and what must move through it */
	double gflops, words;
	double gbs;	/* words in that time */
	double allowed; /* GFLOP/s: of the arithmetic alone, or of the words out of L2 */
};

/* A list of struct cs_product, GPUs first, by block, of the largest size of the run. */
struct cs_vec cs_products_find(const struct cs_run *run);
/* The fastest with and without blocks in a list, of GPUs or of CPUs; NULL: there is none. */
const struct cs_product *cs_products_best(const struct cs_vec *products, int is_numa,
					  int has_blocks);
/* Operations a word. */
double cs_product_intensity(const struct cs_product *product);

/* ---- workload.c: how long a program of so many operations and words takes ----
 *
 * If all of its words come from one memory or over one link that a run measured.
 * Operations take flops / rate, words alpha + 8 words / rate.  One after the other they
 * take the sum, at the same time at best the longer of both (doc/METHOD.md). */

struct cs_workload_way {
	const char *where; /* "L2", "d2h.ce.pinned.pair" */
	int is_numa;	   /* the cores of a NUMA node compute, else a GPU */
	int is_link;
	double gflops, gbs,
		alpha_us; /* medians over the run; alpha of a link or NAN */
	double compute_s, move_s;
	double balance; /* operations a word that take as long as the word */
};

/* With the run's workload (0: no times): a list of struct cs_workload_way, of GPUs, of links, of
 * NUMA nodes; none without flop/s. */
struct cs_vec cs_workload_ways(const struct cs_run *run);
