/* internal.h - the judges of check/verdict/, for check.c alone. */
#pragma once

#include "result/add_finding.h"
#include "result/cells.h"

/* ---- cells: row_status.c, disturbed.c ---- */

/* Could the cell not be measured since others hold the GPU, or its memory? */
int cs_row_is_refused(const struct cs_row *row);
/* Findings from the status and flags of the node's cells; `earlier`: findings by node. */
void cs_rows_judge(struct cs_run *run, int node, const struct cs_by_node *earlier);
/* Others came while we measured: rows that they may have met are flagged. */
void cs_in_use_mark(struct cs_run *run);
/* GPUs that others use, and the cells that they disturbed. */
void cs_in_use_judge(struct cs_run *run, int node);
/* Cells that were measured while a GPU was throttled. */
void cs_throttled_judge(struct cs_run *run, int node);

/* ---- passes of --duration: passes.c ---- */

/* Cells that were slower in one pass than in the others: a warning for each pass. */
void cs_passes_judge(struct cs_run *run);

/* ---- runs of many dates: trends.c ---- */

/* Performance that nodes, GPUs and links have lost since earlier runs, and counters that
 * grow: a warning for each part. */
void cs_trends_judge(struct cs_run *run);

/* ---- samples: depend.c ---- */

/* Matrices whose samples depend on each other by more than intervals allow for: a note
 * for each node. */
void cs_depend_judge(struct cs_run *run);

/* ---- sizes: dips.c ---- */

/* Sweeps in which larger copies are slower: a note for each test. */
void cs_dips_judge(struct cs_run *run);

/* ---- GPUs: health.c ---- */

/* cards.c: the network cards of a node. */
void cs_cards_judge(struct cs_run *run, int node);
/* Judge the state of GPUs, network cards and the host of a node by itself: without a
 * baseline, and without other nodes. */
void cs_health_judge(struct cs_run *run, int node);
/* A finding and its text for each GPU of the node, NULL none; one for all of them if it is
 * the same. */
void cs_gpus_judge(struct cs_run *run, int node, struct cs_finding *finding,
		   const char *const *text);

/* launch.c: GPUs that are not where they should be, on every run; the cost of the way a
 * job was started, under --check=launch. */
void cs_check_launch(struct cs_run *run, int node);

/* ---- named_cells.c: the cells that one finding is about, and their names ---- */

/* Which rows one finding is about: a status with its reason, or a flag. */
struct cs_named_cells {
	int node, status;
	uint32_t flag;	    /* 0: by status */
	const char *reason; /* by status; NULL: any */
	/* An agent, CS_OF_ANY or CS_OF_NONE.  Of cells that were skipped, in use or
	 * throttled: the GPU that is the cause, any GPU, or no GPU.  Of other statuses: an
	 * end of each cell; CS_OF_NONE: all cells. */
	int of;
	uint64_t described; /* agents with findings of their own: an end of none */
};
#define CS_OF_NONE (-2)
#define CS_OF_ANY CS_ALL_GPUS

int cs_is_of_cause(const struct cs_run *run, const struct cs_row *row,
		   const struct cs_named_cells *cause);
/* Cells are in the order of the matrices: by test, source, destination. */
uint64_t cs_cell_key(const struct cs_row *row);
/* The first cell of a cause after the cell `after`, and how many there are. */
const struct cs_row *cs_next_cell(const struct cs_run *run,
				  const struct cs_named_cells *cause, uint64_t after,
				  size_t *left);
/* "peer.ce.write.pair 0->1, 0->2, 1->0 and 4 more cells"; NULL without any. */
const char *cs_cells_text(const struct cs_run *run,
			  const struct cs_named_cells *cause);

/* Does the row of a step's total repeat that of a transfer with the same status? */
int cs_repeats_a_rate(const struct cs_row_list *rows, size_t i);
/* Processes of others at either reading; 0 also when unknown. */
int cs_others_on(const struct cs_agent_facts *agent);
/* Why that GPU, or any, slowed down while it was an end of the cell; 0 it did not. */
uint64_t cs_slow_bits(const struct cs_row *row, int gpu);
