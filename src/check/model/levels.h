/* levels.h - the memories of a GPU and of a NUMA node's cores, from the fastest on: how
 * large each is, as a sweep of dependent loads shows and as its vendor specifies, and
 * the cost of a byte and of a load.  Figures are medians over the run. */
#pragma once

#include "base/vec.h"
#include "check/model/fit.h"
#include "result/run.h"

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
