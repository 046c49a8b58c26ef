/* gamma.h - the time of a flop, and the cost of loads in flops. */
#pragma once

#include "result/run.h"

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
