/* internal.h - what the files of check/ share; nobody else includes it. */
#ifndef CS_CHECK_INTERNAL_H
#define CS_CHECK_INTERNAL_H

#include "check/baseline.h"
#include "check/check.h"
#include "result/cells.h"

/* ---- findings: judge.c ---- */

/* Append a judgement with that text. */
int cs_judge(struct cs_run *run, struct cs_finding finding, const char *text,
	     struct cs_err *err);

/* … about a node, -1 the run. */
int cs_judge_node(struct cs_run *run, int severity, int node, enum cs_finding_id id,
		  const char *text, struct cs_err *err);
/* A text to be used at once. */
struct cs_phrase {
	char text[80];
};
#define CS_ALL_GPUS (-1) /* the same is to be told of all GPUs of a node */
/* What a finding is about, "GPU 3 (0000:4d:00.0)" or "all 8 GPUs", in its fields too. */
struct cs_phrase cs_gpu_phrase(const struct cs_run *run, struct cs_finding *finding,
			       int gpu);
/* Append what is a fact whoever judges: it is told, and counts, without --check too. */
int cs_tell(struct cs_run *run, int severity, int node, enum cs_finding_id id,
	    const char *text, struct cs_err *err);

/* ---- cells: rows.c ---- */

/* What became of the node's cells; `told`: the findings that were there before. */
int cs_rows_judge(struct cs_run *run, int node, const struct cs_by_node *told,
		  struct cs_err *err);
/* Others came while we measured: rows that they may have met are flagged. */
void cs_in_use_mark(struct cs_run *run);
/* GPUs that others use, and what that did to cells. */
int cs_in_use_judge(struct cs_run *run, int node, struct cs_err *err);

/* ---- samples: depend.c ---- */

/* Matrices whose samples depend on each other by more than intervals allow for: a note
 * for each node. */
int cs_depend_judge(struct cs_run *run, struct cs_err *err);

/* ---- baselines: baseline.c ---- */

/* What baselines are kept by: class, test, metric, size and way alone. */
void cs_norm_key(const struct cs_run *run, const struct cs_row *row, int class,
		 struct cs_norm *key);
int cs_norm_order(const struct cs_norm *a, const struct cs_norm *b);
/* The class of that name; -1 there is none. */
int cs_norm_class_index(const struct cs_baseline *baseline, const char *name);

/* ---- cells and their bounds: bound.c ---- */

/* Of a run's rows the measured cells, controls apart: by node, test, size and metric,
 * then as they came; malloc'ed.  A matrix is what differs in none of these. */
uint32_t *cs_cells_in_order(const struct cs_run *run, size_t *n, struct cs_err *err);
/* Where in order[0..n) the matrix of order[at] ends. */
size_t cs_matrix_end(const struct cs_run *run, const uint32_t *order, size_t at,
		     size_t n);

/* A cell beyond its bound. */
struct cs_breach {
	uint32_t row;
	double bound;
};
int cs_breach_add(struct cs_vec *breaches, uint32_t row, double bound,
		  struct cs_err *err);
int cs_is_beyond(double value, double bound, int low_is_better);
/* Who set it, and how grave it is to be beyond: seen twice, and on one look. */
struct cs_bound {
	enum cs_finding_id id;
	const char *by;
	uint32_t severity, once;
	struct cs_vec *told;	/* struct cs_suspect, with findings; NULL none */
};
/* Those of one matrix as one finding, the worst first (sorted here).  A cell whose
 * figure its conditions explain is a warning at most; only what was seen twice keeps a
 * node out.  Cells that a finding as grave tells of already are noted there. */
int cs_judge_breaches(struct cs_run *run, struct cs_breach *breach, size_t n,
		      const struct cs_bound *bound, struct cs_err *err);
/* Say so in their findings. */
void cs_told_end(struct cs_run *run, const struct cs_vec *told);

/* " -s 256M", as it was asked for; "" of a test that has its own size. */
struct cs_phrase cs_size_option(const struct cs_row *row);
/* "395.18 GB/s" */
struct cs_label cs_figure_text(const struct cs_test *test, double value);

/* launch.c: GPUs that are not where they should be, on every run; what the way a
 * job was started costs it, under --check=launch. */
int cs_check_launch(struct cs_run *run, int node, struct cs_err *err);

#endif
