/* breach.h - findings for cells beyond a bound of any kind. */
#pragma once

#include "result/add_finding.h"

/* A cell beyond its bound. */
struct cs_breach {
	uint32_t row;
	double bound;
};
void cs_breach_add(struct cs_vec *breaches, uint32_t row, double bound);
int cs_is_beyond(double value, double bound, int low_is_better);
/* A bound in words, and the severity of a cell beyond it: confirmed by a re-measurement,
 * and measured once. */
struct cs_bound {
	enum cs_finding_id id;
	const char *by;
	uint32_t severity, once;
	struct cs_vec *anomalies; /* struct cs_anomaly, with findings; NULL none */
};
/* Report the breaches of one matrix as one finding, the worst first (sorted here).  A
 * cell that its conditions explain is a warning at most; only a confirmed one drains a
 * node.  Cells that a finding of this severity covers already are added to it … */
void cs_judge_breaches(struct cs_run *run, struct cs_breach *breach, size_t n,
		       const struct cs_bound *bound);
/* … and appended to its text at the end. */
void cs_breaches_append(struct cs_run *run, const struct cs_vec *anomalies);

/* "395.18 GB/s" */
struct cs_label cs_figure_text(const struct cs_test *test, double value);
