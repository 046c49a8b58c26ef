/* criteria.h - the criteria for cells besides the comparison with similar cells:
 * files that options name, and bounds on the command line.  Pure. */
#pragma once

#include "check/bounds/baseline.h"
#include "check/bounds/threshold.h"
#include "check/fleet/leaves.h"

struct cs_criteria {
	struct cs_baseline baseline, known; /* known: figures of machines elsewhere */
	struct cs_thresholds thresholds;
	struct cs_vec expected; /* struct cs_site_fact, of --expect */
	struct cs_vec leaves;	/* struct cs_leaf, of --switches */
};

void cs_criteria_init(struct cs_criteria *criteria);
void cs_criteria_release(struct cs_criteria *criteria);
/* Were any given?  `known` is always there. */
int cs_criteria_any(const struct cs_criteria *criteria);
/* The run is judged by them, which outlive it; its nodes get their leaves. */
void cs_criteria_apply(const struct cs_criteria *criteria, struct cs_run *run);

/* All that is in them but the name of a file, as arrays without pointers: so another
 * process of this program can be given them. */
#define CS_CRITERIA_PARTS 4 /* facts are judged if all nodes are known */
void cs_criteria_parts(struct cs_criteria *criteria,
		       struct cs_vec *part[CS_CRITERIA_PARTS]);
