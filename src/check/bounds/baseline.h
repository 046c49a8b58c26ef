/* baseline.h - the results of healthy nodes as a record, and the distance from it
 * that a cell may have. learn.c makes it, judge.h judges by it. Pure.
 *
 * For each hardware class (class.h), test, metric, size of a copy and kind of link
 * (kind.h) it has the median of all cells, and spreads (standard deviations) as
 * shares of it:
 *
 *	within	of a cell from the median of its node in its run
 *	nodes	of the medians of nodes; unknown of one
 *	levels	of the median of a node from run to run; unknown without repetition
 *	runs	of a cell from run to run: levels, and its own besides
 *
 * Values so far out that only one in a thousand would be are left out, so that faulty
 * nodes hardly affect the statistics.  If places of a node (a GPU, a pair) differ by
 * design, in the same way on at least three nodes, each has its own median; with
 * fewer nodes `within` is as wide as their worse tenth says.
 *
 * A cell is beyond its bound if it is worse than the median by more than the largest
 * of 1 %, --margin, and the root of the sum of the squares of (k spread) for within,
 * nodes and levels.  k is 5, because 64 nodes have some thousand cells: in a normal
 * distribution one value in 3.5 million is so far out on one side, and measured tails
 * are heavier.  A spread from few values may be far too small: then k is Student's t
 * that one in a thousand exceeds, and an unknown spread is taken from similar paths.
 * 1 % is three times the difference between healthy nodes, and a fifth of what one
 * dead lane of 18 costs. */
#pragma once

#include "base/statistics.h"
#include "check/fleet/class.h"
#include "check/fleet/fact.h"
#include "check/link/kind.h"
#include "check/model/fit.h"
#include "result/run.h"

struct cs_baseline_stat {
	uint32_t class;		  /* position in classes */
	struct cs_plan_matrix of; /* the matrix */
	uint32_t metric;	  /* enum cs_metric */
	char link_kind[CS_PATH_WORDS];
	double median; /* in the test's unit */
	/* spreads; NAN unknown */
	double within, between_nodes, between_runs, levels;
	double at_place; /* of a cell from its place's median; NAN: one for all */
	uint32_t nodes, runs, cells; /* cells: figures, of all nodes and runs */
	uint32_t repeats; /* runs of a node besides its first, of all nodes */
	uint32_t first_place, n_places; /* of the baseline's; none: all are alike */
	uint32_t first_seen, n_seen;	/* the same, of what known.h learnt */
};

/* A cell of a node by its ends, agents or NUMA nodes. */
struct cs_baseline_place {
	int src, dst;
	double median;
};

/* The cells of one run on one machine: figures that are known (known.h), in order of
 * machine. */
struct cs_baseline_seen {
	uint64_t run, machine; /* hashes of its id; of its first GPU's UUID, or host */
	double low, median, high;
	uint32_t cells;
};

/* A sweep of a node, the middle of its cells: of sizes, not of one. */
struct cs_baseline_line {
	uint32_t class;		  /* position in classes */
	struct cs_plan_matrix of; /* bytes 0 */
	int back;		  /* the other way of both */
	/* the median, and between what healthy ones may lie */
	struct cs_fit_value alpha_us, gbs;
	uint32_t nodes, runs; /* runs: of all nodes */
};

struct cs_baseline_class {
	char name[CS_CLASS];
	uint32_t nodes, runs;
};

struct cs_baseline {
	struct cs_vec classes; /* struct cs_baseline_class */
	struct cs_vec stats; /* struct cs_baseline_stat, in order of class, test, size, … */
	struct cs_vec places; /* struct cs_baseline_place */
	struct cs_vec seen;   /* struct cs_baseline_seen */
	struct cs_vec lines;  /* struct cs_baseline_line */
	struct cs_vec facts; /* struct cs_site_fact: what most nodes of a class are */
};

void cs_baseline_init(struct cs_baseline *baseline);
void cs_baseline_release(struct cs_baseline *baseline);

/* Append another one.  Errors: a class that is in both. */
int cs_baseline_join(struct cs_baseline *to, const struct cs_baseline *from,
		     struct cs_err *err);

/* May a run of that plan be judged?  Not if no class has a test of it at its size:
 * the error names those that exist. */
int cs_baseline_fits(const struct cs_baseline *baseline, const struct cs_plan *plan,
		     struct cs_err *err);

/* The key of a baseline's lines: class, test, metric, size and kind of link alone. */
void cs_baseline_key(const struct cs_run *run, const struct cs_row *row, int class,
		     struct cs_baseline_stat *key);
int cs_baseline_order(const struct cs_baseline_stat *a,
		      const struct cs_baseline_stat *b);
/* The class of that name; -1 there is none. */
int cs_baseline_class_index(const struct cs_baseline *baseline, const char *name);
/* That of a node. */
int cs_baseline_class_of(const struct cs_baseline *baseline, const struct cs_run *run,
			 int node);
/* The statistic with that key; NULL there is none. */
const struct cs_baseline_stat *cs_baseline_find(const struct cs_baseline *baseline,
						const struct cs_baseline_stat *key);
/* "peer.ce.write.pair at 64 KiB: it has that test at 512 MiB", of a matrix that it
 * does not have; class -1: any. */
void cs_baseline_lacks(const struct cs_baseline *baseline, int class,
		       const struct cs_plan_matrix *of, char *to, size_t size);

/* How much worse than the median is too much, as a share of it. */
double cs_baseline_bound(const struct cs_baseline_stat *stat, double margin);

/* By how much such a figure differs from run to run, by run->baseline; without degrees
 * of freedom if that is unknown. */
struct cs_spread cs_baseline_runs(const struct cs_run *run, const struct cs_row *row);

/* ---- learn.c ---- */

/* Make a baseline from runs of healthy nodes, each counted once however often it is there.  Cells that failed, were
 * flagged or are controls are passed over.  Errors: no memory; a run of a plan file,
 * whose steps are its own, or without names of hosts; nothing was measured: `which`
 * is set to the run, or to n. */
int cs_baseline_learn(const struct cs_run *const *runs, size_t n,
		      struct cs_baseline *out, size_t *which, struct cs_err *err);

/* Is the cell's figure one to learn from? */
int cs_baseline_takes(const struct cs_row *row);
/* The position of the class of that name, which is added if there is none.  In an arena. */
uint32_t cs_baseline_need_class(struct cs_baseline *baseline, const char *name);
/* Count the nodes and runs of each class, by its statistics. */
void cs_baseline_count_classes(struct cs_baseline *baseline);

/* ---- spread.c: the statistics of many cells ---- */

/* One figure of a cell, and its origin. */
struct cs_figure {
	struct cs_baseline_stat key; /* class, test, metric, bytes, kind of link alone */
	const char *host;
	uint32_t run, node;
	int src, dst;	     /* agents or NUMA nodes */
	double value, level; /* level: the median of its node in its run; set here */
};

/* Append the statistics of figures, one or more, which are of runs below n_runs; they
 * get sorted. */
void cs_figures_add(struct cs_baseline *b, struct cs_vec *figures, size_t n_runs);

/* ---- line.c: alpha and 1 / beta of sweeps, of healthy nodes and judged by them ----
 *
 * A line is the median over all cells of a node; slow single cells are found by their
 * sizes.  The bound combines three uncertainties: how much nodes differ, how much
 * runs differ (as seen, or as the few seen allow, cs_baseline_bound), and the
 * interval of each fit (fit.h).  It is the root of the sum of their squares, times
 * the number of standard deviations that cells are judged by, and at least 5 %. */

/* The result of a node in a run. */
struct cs_line_seen {
	struct cs_baseline_line line; /* nodes and runs 0 */
	const char *host;
	uint32_t run;
};

/* Appends those of a node, in all else `like` that. */
void cs_lines_see(const struct cs_run *run, int node, const struct cs_line_seen *like,
		  struct cs_vec *to);
/* Add many results (cs_line_seen), which get sorted, as lines of a baseline. */
void cs_lines_add(struct cs_baseline *b, struct cs_vec *all);
/* Judge nodes by run->baseline, if there is one; sweeps that it does not have are passed
 * over. */
void cs_lines_judge(struct cs_run *run);
