/* history.h - the results of earlier runs of a node: of each run its time, its figures
 * and the counters of its GPUs, a few bytes each, which outlive the run. */
#pragma once

#include "result/run.h"

/* Of a GPU: enum cs_counter, and the rows of its memory that were remapped.  -1: unknown. */
#define CS_PAST_COUNTERS (CS_COUNTERS + 1)
struct cs_past_counts {
	int64_t of[CS_PAST_COUNTERS];
};

struct cs_past_figure {
	uint32_t cell; /* cs_cell_number() */
	float figure;
};

/* A node of a run. */
struct cs_past {
	uint64_t hardware; /* cs_hardware_number() */
	int64_t began_s;   /* since 1970 */
	double day;	   /* the same, UTC */
	char driver[32];
	size_t figure, n_figures; /* the first one; how many */
	size_t counts;		  /* those of its first GPU */
};

struct cs_history {
	struct cs_vec runs;    /* struct cs_past */
	struct cs_vec figures; /* struct cs_past_figure */
	struct cs_vec counts;  /* struct cs_past_counts, of each GPU */
};
#define CS_HISTORY \
	{ CS_VEC(struct cs_past), CS_VEC(struct cs_past_figure), \
	  CS_VEC(struct cs_past_counts) }

void cs_history_release(struct cs_history *history);
/* A node of an indexed run that began then, seconds since 1970.  In the work of an arena. */
void cs_history_add(struct cs_history *history, const struct cs_run *run, int node,
		    time_t began);

/* Equal for runs of one host with the same GPUs, by UUID and serial number. */
uint64_t cs_hardware_number(const struct cs_run *run, int node);
/* Equal for rows of the same test, size, variant and ends, in any run. */
uint32_t cs_cell_number(const struct cs_row *row);
