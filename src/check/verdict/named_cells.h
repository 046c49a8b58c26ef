/* named_cells.h - the cells that one finding of verdict/ is about, and their names. */
#pragma once

#include "result/add_finding.h"
#include "result/cells.h"

/* Which rows one finding is about: a status with its reason, or a flag. */
struct cs_cause {
	int node, status;
	uint32_t flag;	    /* 0: by status */
	const char *reason; /* by status; NULL: any */
	/* Of cells that others use, or that slowed down: those that this agent has, any has,
	 * or none has.  Of bad cells: an end of each is this agent, or any; all of them. */
	int of;
	uint64_t described; /* agents with findings of their own: an end of none */
};
#define CS_OF_NONE (-2)
#define CS_OF_ANY CS_ALL_GPUS

int cs_is_of_cause(const struct cs_run *run, const struct cs_row *row,
		   const struct cs_cause *cause);
/* Cells are in the order of the matrices: by test, source, destination. */
uint64_t cs_cell_key(const struct cs_row *row);
/* The first cell of a cause after the cell `after`, and how many there are. */
const struct cs_row *cs_next_cell(const struct cs_run *run,
				  const struct cs_cause *cause, uint64_t after,
				  size_t *left);
/* "peer.ce.write.pair 0->1, 0->2, 1->0 and 4 more cells"; NULL without any. */
const char *cs_cells_text(const struct cs_run *run, const struct cs_cause *cause);

/* Does the row of a step's total repeat that of a transfer with the same status? */
int cs_repeats_a_rate(const struct cs_row_list *rows, size_t i);
/* Processes of others at either reading; 0 also when unknown. */
int cs_others_on(const struct cs_agent_facts *agent);
/* Why that GPU, or any, slowed down while it was an end of the cell; 0 it did not. */
uint64_t cs_slow_bits(const struct cs_row *row, int gpu);
