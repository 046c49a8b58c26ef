/* workload.h - how long a program of so many operations and words takes, if all of its
 * words come from one memory or over one link that a run measured.
 *
 * Operations take flops / rate, words alpha + 8 words / rate.  One after the other they
 * take the sum, at the same time at best the longer of both (doc/METHOD.md). */
#pragma once

#include "base/vec.h"
#include "result/run.h"

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
