/* merge.h - joins runs of independent nodes into one run.  Pure.
 *
 * Nodes are sorted by host, each followed by its rows, for any order in which the
 * parts were added.  If several parts have the same host, the one that began last
 * counts; they have the clock of one machine.  Clocks of different hosts are never
 * compared.  Of the earlier ones the history stays.
 *
 * Parts that do not fit give a finding, and the rest stays.  Plans may differ: rows
 * know their test and transfer.  Time grows with the number of rows, memory with the
 * number of those that stay.
 *
 * In the work of an arena, which ends if memory is short (base/arena.h); what it has
 * merged is released apart. */
#pragma once

#include "result/history.h"

struct cs_merge {
	struct cs_run run; /* owns nodes, rows and findings; its texts and its
				 * plan are those of the base */
	struct cs_history history;
	struct cs_vec parts, places;
	size_t rows_most; /* from then on earlier runs of a host are dropped */
	int room;	  /* of run.node */
	char base_host[CS_HOST];
	uint32_t base; /* position in parts */
};

/* `nodes`: about how many there will be. */
void cs_merge_init(struct cs_merge *merge, int nodes);
/* Takes nodes, findings and rows out of a run.  1: it is the base from
 * now on, and stays alive as long as the merged run; the earlier base need not.
 * 0: it may be released. */
int cs_merge_add(struct cs_merge *merge, struct cs_run *run);
/* The expected hosts: one without a part becomes an unknown node, with a finding; a
 * part that was not expected is a note.  Once, after the last part. */
void cs_merge_expect(struct cs_merge *merge, const char (*host)[CS_HOST], size_t n);
/* When all parts are there. */
void cs_merge_end(struct cs_merge *merge);
void cs_merge_release(struct cs_merge *merge);
