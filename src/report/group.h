/* group.h - joins equal findings of several nodes, most severe first, for views that
 * people read.  Only report/ includes it. */
#ifndef CS_REPORT_GROUP_H
#define CS_REPORT_GROUP_H

#include "result/run.h"

/* Findings with the same text: finding[0..n), in order of nodes as the run has
 * them. */
struct cs_group {
	const struct cs_finding *const *finding;
	size_t n;
};

/* A list of struct cs_group in the arena: worst first; of equal ones those that drain
 * nodes, then those of the job, then by the first node. */
struct cs_vec cs_groups_make(const struct cs_run *run);

/* "n[001-012]: ", cut to `most` characters (0: whole); "" of the job.  In the arena. */
const char *cs_group_hosts(const struct cs_run *run, const struct cs_group *group,
			   size_t most);
/* "note", "warning", "critical" */
const char *cs_severity_text(uint32_t severity);

#endif
