/* bound.h - cells in the order of their matrices, and findings of those that are beyond
 * a bound, whoever set it. */
#ifndef CS_CHECK_BOUND_H
#define CS_CHECK_BOUND_H

#include "result/cells.h"
#include "result/judge.h"

/* Of a run's rows the measured cells, controls apart: by node, test, metric, size and variant,
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
/* Who set it, and how grave it is to be beyond: seen twice, and measured once. */
struct cs_bound {
	enum cs_finding_id id;
	const char *by;
	uint32_t severity, once;
	struct cs_vec *told; /* struct cs_anomaly, with findings; NULL none */
};
/* Those of one matrix as one finding, the worst first (sorted here).  A cell whose
 * figure its conditions explain is a warning at most; only what was seen twice drains a
 * node.  Cells that a finding as grave tells of already are noted there. */
int cs_judge_breaches(struct cs_run *run, struct cs_breach *breach, size_t n,
		      const struct cs_bound *bound, struct cs_err *err);
/* Say so in their findings. */
void cs_told_end(struct cs_run *run, const struct cs_vec *told);

/* As cs_cells_remeasure(), of cells that are beyond a baseline or a threshold: to the n steps
 * that there are (bounds.c).  Without either there are none. */
int cs_bounds_remeasure(struct cs_run *run, uint32_t *step, int n, int most,
			struct cs_err *err);

/* "395.18 GB/s" */
struct cs_label cs_figure_text(const struct cs_test *test, double value);

#endif
