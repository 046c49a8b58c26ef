/* rates.h - the compute rates of GPUs and NUMA nodes, and the rates of their
 * memories. */
#pragma once

#include "base/vec.h"
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
