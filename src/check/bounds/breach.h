/* breach.h - findings for cells beyond a bound of any kind. */
#ifndef CS_CHECK_BREACH_H
#define CS_CHECK_BREACH_H

#include "result/judge.h"

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
 * figure its conditions explain is a warning at most; only what was seen twice drains
 * a node.  Cells that a finding as grave tells of already are noted there. */
int cs_judge_breaches(struct cs_run *run, struct cs_breach *breach, size_t n,
		      const struct cs_bound *bound, struct cs_err *err);
/* Say so in their findings. */
void cs_told_end(struct cs_run *run, const struct cs_vec *told);

/* "395.18 GB/s" */
struct cs_label cs_figure_text(const struct cs_test *test, double value);

#endif
