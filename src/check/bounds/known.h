/* known.h - figures that are known of hardware: of machines elsewhere that this program
 * measured, beside which a report shows its own.  Pure.
 *
 * They are kept as a baseline (baseline.h) whose statistics have the range of each run.
 * A class is the model of the GPUs alone, and how many take part if that matters: not
 * for copies within a GPU, or between two.  The transport counts as well: reads by CUDA
 * IPC and by peer access differ.  Host links, and peers without NVLink, depend on the
 * server: no figure is known of them, nor of small copies, which depend on the CPU.
 *
 * A cell is below the known figures if it is slower than on every machine, of three or
 * more, by KNOWN_MARGIN and by its own uncertainty.  H200 differ by 0.3 % from machine
 * to machine. */
#pragma once

#include "check/bounds/baseline.h"

struct cs_known {
	const char *class;
	double low, median,
		high; /* the least and the most of all cells; the median of runs */
	uint32_t machines, runs;
};

/* The usual range of the first cell of row[0..n) (NULL: no cell) that run->known has from two
 * machines or more.  -1: there is no such cell. */
int cs_known_usual(const struct cs_run *run, const struct cs_row *const *row,
		   size_t n, struct cs_known *usual);
/* The range of one statistic, over its runs. */
void cs_known_sum(const struct cs_baseline *known,
		  const struct cs_baseline_stat *stat, struct cs_known *usual);
/* Cells below: warnings under --check, else notes; a node that run->baseline knows is
 * judged by that alone. */
void cs_known_judge(struct cs_run *run, struct cs_vec *anomalies);

/* ---- making them: in an arena ---- */

/* Runs, each counted once on each machine, and libraries. */
struct cs_learning {
	struct cs_baseline *to;
	struct cs_vec figures; /* of all of them, in any order */
};

/* Begin to learn into an empty baseline; cs_learning_end() writes its statistics. */
void cs_learning_begin(struct cs_learning *learning, struct cs_baseline *to);
/* The sound cells of nodes without a critical finding.  -1: a run with redacted names. */
int cs_learning_run(struct cs_learning *learning, const struct cs_run *run,
		    struct cs_err *err);
void cs_learning_add(struct cs_learning *learning, const struct cs_baseline *known);
void cs_learning_end(struct cs_learning *learning);
