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
