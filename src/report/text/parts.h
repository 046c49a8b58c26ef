/* parts.h - the parts of a text report: the table of one node, the matrices over
 * several nodes, and the lines at the end.  text.c puts them together. */
#pragma once

#include <stdio.h>

#include "base/print.h"
#include "base/vec.h"
#include "check/cells/like.h"
#include "check/compare/versus.h"
#include "report/report.h"
#include "report/scale.h"
#include "report/view.h"
#include "result/cells.h"
#include "result/grid.h"

struct cs_digest;

/* columns.c.  A table as wide as the page: columns without room continue below, after a
 * repetition of the first one.  Zeroed it is empty. */
struct cs_columns {
	char *text; /* of the arena */
	size_t n, room;
	int whole; /* no column continues below: lines may be longer than the page */
};

/* The headings, "GPU,<bus id,used": '<' aligns a column left, '~' too, and its cells are
 * cut and end in "..." if the page has no room for all columns; others are aligned
 * right.  '\n' ends their line; without it more may follow. */
void cs_columns_heads(struct cs_columns *t, const char *list);
/* A cell of a line, clean. */
void cs_columns_add(struct cs_columns *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A figure and its unit, which may be ""; "-" of NAN. */
void cs_columns_number(struct cs_columns *t, int decimals, double x, const char *unit);
void cs_columns_end_line(struct cs_columns *t);
/* All of it after `indent` blanks; it is empty then. */
void cs_columns_print(FILE *to, struct cs_columns *t, int indent);

/* answer.c.  One sentence: the rate of each path, whether all are alike, and faults;
 * after `what` and a colon, unless that is "". */
void cs_answer_print(FILE *to, const struct cs_digest *digest, const char *what);
/* passes.c.  The passes of --duration, of the run with each turn by itself: a sentence,
 * and a line for each test of the digest. */
void cs_passes_print(FILE *to, const struct cs_digest *digest,
		     const struct cs_run *run);
/* digest_table.c.  A line a test; of very many those with a remark, and all as groups
 * unless `verbose`.  digest_groups.c: several tests a line. */
void cs_digest_print(FILE *to, const struct cs_digest *digest, int verbose);
void cs_digest_groups_print(FILE *to, const struct cs_digest *digest);
/* text.c.  A notice if host memory or a virtual clock replaced GPUs or time; program,
 * command line and time. */
void cs_notices_print(FILE *to, const struct cs_run *run);
void cs_head_print(FILE *to, const struct cs_run *run);
/* "8 x NVIDIA H200, driver 580.159, 2 NUMA nodes; 8 ranks, one GPU each" */
const char *cs_node_text(const struct cs_run *run, int node);
/* text.c.  One line per kind of node; the nodes of all kinds but the commonest
 * differ. */
void cs_node_kinds_print(FILE *to, const struct cs_run *run, char *differs);
/* GPUs (or arenas) of a node, and the legend with their peculiarities. */
void cs_node_table(FILE *to, const struct cs_run *run, int node, int verbose);
/* costs.c.  The costs of each agent of a node: time to its first byte, CPU, memory. */
void cs_agent_costs_print(FILE *to, const struct cs_run *run, int node);
/* One test over the nodes that measure it, after an empty line, if there are
 * several; differs[node] is set if a node has a cell more than 1 % off or one with
 * a remark, or if it is the only one. */
void cs_aggregate_print(FILE *to, const struct cs_digest *digest, uint32_t matrix,
			char *differs);
/* curve.c.  The curve that begins with a matrix , over nodes [first,
 * last). */
void cs_curve_print(FILE *to, const struct cs_run *run, int first, int last,
		    uint32_t index);
/* overlap.c.  The same of matrices that differ in their kernels a tile alone, below
 * their heading; nodes: the first, and the one after the last. */
void cs_overlap_print(FILE *to, const struct cs_run *run, const int nodes[2],
		      const uint32_t *index, int n);
/* zero_grid.c.  The same of matrices that differ in the grid of their kernels alone. */
void cs_grids_print(FILE *to, const struct cs_run *run, const int nodes[2],
		    const uint32_t *index, int n);
/* model_tables.c.  Each GPU and NUMA node that computes: flop/s, its memories, flops a
 * load; without `verbose` not those of a large job. */
void cs_model_rates_print(FILE *to, const struct cs_run *run, int verbose);
/* The memories of GPUs and cores, with an empty line, if a sweep shows them. */
void cs_levels_print(FILE *to, const struct cs_run *run);
/* Products of matrices, with an empty line, if the run has any. */
void cs_products_print(FILE *to, const struct cs_run *run);
/* why.c */
void cs_why_print(FILE *to, const struct cs_digest *digest);
/* model_tables.c.  How long the program of --model takes, by each memory and link. */
void cs_workload_print(FILE *to, const struct cs_run *run);
/* ways.c.  Of tests of streams: the rate of each way compared with an explicit copy,
 * over nodes [first, last), after an empty line; nothing if there are not two ways. */
void cs_ways_print(FILE *to, const struct cs_run *run, int first, int last);
/* calls.c.  Is a matrix one of calls in batches, the first of them; all of them as
 * one table, over nodes [first, last), after an empty line. */
int cs_calls_holds(const struct cs_run *run, uint32_t index);
int cs_calls_begins(const struct cs_run *run, uint32_t index);
void cs_calls_print(FILE *to, const struct cs_run *run, int first, int last);
/* best.c.  Of a sweep by several ways, over nodes [first, last): which is the fastest
 * at which size, after an empty line; nothing if there are not two ways. */
void cs_best_print(FILE *to, const struct cs_run *run, int first, int last);
/* "1.07 MiB": three digits of a number that need not be whole. */
const char *cs_bytes_text(double bytes);
/* between.c.  Figures between nodes, with an empty line after them; nothing without any.
 * All of them in a clause of the answer; "". */
void cs_between_print(FILE *to, const struct cs_run *run);
/* Alpha and beta of a message; 0: not measured, nothing is printed. */
int cs_message_print(FILE *to, const struct cs_run *run);
const char *cs_between_text(const struct cs_run *run);
/* The steps of a plan file on one node. */
void cs_steps_print(FILE *to, const struct cs_run *run, int node);
/* The cell that the run is cut to, in each test on each node that has it: all of
 * its figures, and the cells to compare it with. */
void cs_cell_print(FILE *to, const struct cs_run *cut);
/* The same as cs_node_text of a node without measurements, perhaps without agents. */
const char *cs_only_checked_text(const struct cs_run *run, int node);
/* advice.c.  Of each GPU of a node the nearest CPUs and cards, after an empty line,
 * and the lines for a launcher and for libraries that follow. */
void cs_advice_print(FILE *to, const struct cs_run_node *nd);
/* classes.c.  NVLinks between two GPUs; 0 none that is known of. */
int cs_nvlinks_between(const struct cs_gpu_record *a, const struct cs_gpu_record *b);
/* topology.c.  How nodes are wired and set, those alike once. */
void cs_topology_print(FILE *to, const struct cs_run *run);
/* How the job was started, in place of figures. */
void cs_launch_print(FILE *to, const struct cs_run *run);
/* A judged run of several nodes: actions, figures, classes and findings. */
void cs_fleet_print(FILE *to, const struct cs_run *run, int verbose);
/* Were all nodes measured, and is no finding more than a note?  Then six lines do. */
int cs_fleet_is_healthy(const struct cs_run *run);
void cs_fleet_print_brief(FILE *to, const struct cs_run *run);
/* actions.c.  A line for each fault that needs a person, then the nodes to drain,
 * alone on a line. */
void cs_actions_print(FILE *to, const struct cs_run *run, int verbose);
/* Its first line, whether nodes should be drained; "" if there is no fault. */
const char *cs_actions_answer(const struct cs_run *run);
/* The findings alone. */
void cs_findings_print(FILE *to, const struct cs_run *run);
/* data, samples, first use, state, time, findings. */
void cs_summary_print(FILE *to, const struct cs_run *run, int verbose);

/* ---- versus.c: a comparison of two sides, side by side ---- */

/* For cs_versus_write(). */
void cs_versus_text(FILE *to, const struct cs_versus *v, size_t n, int verbose);
void cs_versus_json(FILE *to, const struct cs_versus *v, size_t n);
void cs_versus_csv(FILE *to, const struct cs_versus *v, size_t n);

/* One of them: the answer; differences of the conditions; a line for each matrix, with its
 * worst cells, all of them when `verbose`; cells without a partner. */
void cs_versus_print(FILE *to, const struct cs_versus *versus, int verbose);
/* Lists of texts (const char *): a test double or missing GPUs, of all that are shown; the
 * conditions without which the figures mislead; cells that have no partner. */
struct cs_vec cs_versus_notices(const struct cs_versus *versus);
struct cs_vec cs_versus_caveats(const struct cs_versus *versus);
struct cs_vec cs_versus_remarks(const struct cs_versus *versus);

/* ---- matrix.c: one test as a matrix of text, on one node or over several, or as a curve ---- */

/* Is the size of its copies printed: one of several, or not the requested one? */
int cs_matrix_shows_size(const struct cs_grid *grid);
/* "peer.ce.write.pair  row writes to column, …, GB/s", and what replaces GPUs. */
void cs_matrix_heading(FILE *to, const struct cs_grid *grid);
/* figures.c: numbers, or above 16 columns one character per cell.  Of the grid it reads run,
 * node, test and matrix, the ends, value and mark.  Of one figure an agent median and 99th
 * percentile, agents side by side. */
void cs_matrix_cells(FILE *to, const struct cs_grid *grid);
/* … a number; of NAN a dash. */
void cs_figure_put(FILE *to, int width, int decimals, double x);
/* costs.c: of a shift, together / alone, if the run has the pairs alone; else nothing. */
void cs_efficiency_print(FILE *to, const struct cs_grid *grid);
/* The parts of a handle's opening, and how many bytes the link moves meanwhile. */
void cs_openings_print(FILE *to, const struct cs_grid *grid);
/* The meaning of the name by which the test was requested, in the tool of that name. */
void cs_matrix_note(FILE *to, const struct cs_run *run,
		    const struct cs_plan_matrix *matrix);
/* between_grid.c: a matrix between nodes, `side` rows at most: of more nodes each is a leaf,
 * or a group, and a cell the result in the middle of theirs.  *words says that; in the
 * arena. */
struct cs_grid *cs_between_grid(const struct cs_run *run, uint32_t matrix, int side,
				const char **words);
/* Cells, the lines of figures below, and each mark's reason once. */
void cs_matrix_node(FILE *to, const struct cs_grid *grid, int verbose);

/* classes.c.  Pairs of GPUs by the path between them, if these are of several classes. */
void cs_classes_print(FILE *to, const struct cs_grid *grid);

/* ---- curve.c: the points of a curve that replaces the matrices of a test ---- */

/* The cells of one matrix, over all requested nodes. */
struct cs_curve_point {
	struct cs_plan_matrix matrix;
	double at;	  /* on the axis */
	const char *text; /* the same in words */
	size_t n_planned, n_measured, n_marked, n_concurrent;
	double min, median, max; /* NAN: not measured */
	double low, high;	 /* the ends of all intervals; NAN none */
	double together;	 /* median of the totals; NAN none */
};

struct cs_curve {
	const char *by; /* "size" */
	struct cs_curve_point *point;
	int n; /* 0: it is no curve of single figures */
};

/* Does a curve replace a matrix; how many points has the curve that begins with it
 * (0: it begins none). */
int cs_curve_holds(const struct cs_run *run, uint32_t index);
int cs_curve_points(const struct cs_run *run, uint32_t index);
/* The first matrix of the curve that a matrix is of; itself if it is of none. */
uint32_t cs_curve_first(const struct cs_run *run, uint32_t index);
/* That curve, over nodes [0] up to [1], in the arena. */
struct cs_curve cs_curve_new(const struct cs_run *run, const int nodes[2],
			     uint32_t index);

/* ---- slow_cells.c: cells of a matrix that are slower than similar ones ---- */

/* Sets how far each cell is from its like, and the mark '<' of those that
 * are below it; the likeness is of the same run. */
void cs_slow_cells_mark(const struct cs_likeness *likeness, struct cs_grid *grid);
/* The colour of a cell by its distance from its like; NULL: it was not compared, or the
 * grid was not marked. */
const struct cs_shade *cs_cell_shade(const struct cs_grid *grid, size_t cell);
/* "1 cell 33 % slower than the others: 0->1"; "" of a grid without such cells. */
const char *cs_slow_cells_text(const struct cs_grid *grid);
/* To be printed after it: how to be sure.  "" if a check has measured it again. */
const char *cs_slow_cells_how_sure(const struct cs_run *run);

/* ---- digest.c: a run with one line per test ----
 *
 * Minimum, median, maximum, the share of the link and the remark are computed only there,
 * for every report that people read. */

/* A matrix of the plan over the nodes of the digest; of a sweep its best point, or
 * its largest (cs_digest_is_of_largest). */
struct cs_digest_line {
	const struct cs_test *test;
	const struct cs_plan_matrix *matrix;
	int back;	 /* the way back of what goes both ways (cs_grid) */
	uint32_t index;	 /* the matrix, as cs_grid_new() takes it */
	uint32_t curve;	 /* the first matrix of its sweep; itself if it has none */
	uint32_t points; /* matrices that it represents */
	size_t planned, measured, failed, skipped;
	size_t slow, unsettled, throttled, in_use, apart, detour; /* cells */
	double min, median, max; /* in the test's unit; NAN */
	const char *min_at;	 /* "0->1", "n018 0->1"; "" none */
	/* of the capacity of the live link, PCIe or memory, one direction: of the
	 * median, and the usual one; NAN unknown */
	double share, low, high;
	/* of such cells on machines elsewhere (check/bounds/known.h); NAN unknown */
	double known_low, known_high;
	const char *link;      /* "NVLink", "PCIe 5 x16", "memory"; "" none */
	const char *slow_text; /* of the first node that has such cells; "" none */
	const char *remark;
};

struct cs_digest {
	const struct cs_run *run;
	int first, last; /* nodes [first, last) */
	struct cs_likeness likeness;
	struct cs_vec lines; /* struct cs_digest_line, in the order of the plan */
};

/* In the arena, of a run whose turns were put together (result/pool.h). */
const struct cs_digest *cs_digest_new(const struct cs_run *run, int first, int last);
/* "peer.ce.write.pair", and size and variant if these distinguish it from others. */
const char *cs_digest_name(const struct cs_digest_line *line,
			   const struct cs_run *run);
/* Is it a test of a memory, whose caches show at small sizes?  Then the largest size
 * of a sweep represents it. */
int cs_digest_is_of_largest(const struct cs_test *test);
/* The range that known machines have: "395", then `to`, then "397" (tenths below 100); ""
 * without one. */
const char *cs_digest_known(const struct cs_digest_line *line, const char *to);
/* Should a reader look at this line? */
int cs_digest_is_notable(const struct cs_digest_line *line);
