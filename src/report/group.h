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

struct cs_groups {
	const struct cs_finding **sorted; /* all; malloc'ed */
	struct cs_vec groups;		  /* struct cs_group */
};

/* Worst first; of equal ones what drains nodes, then what is of the job, then by the
 * first node.  0, or -1 without memory; to be released before the run's findings. */
int cs_groups_make(const struct cs_run *run, struct cs_groups *out);
void cs_groups_release(struct cs_groups *groups);

/* "n[001-012]: ", cut to `most` characters, 0: not; "" of the job.  malloc'ed; NULL
 * no memory. */
char *cs_group_hosts(const struct cs_run *run, const struct cs_group *group,
		     size_t most);
/* "note", "warning", "critical" */
const char *cs_severity_text(uint32_t severity);

#endif
