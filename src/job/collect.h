/* collect.h - rows, facts and findings on their way to rank 0.
 *
 * A node coordinator passes them to these functions.  On rank 0 they go directly into
 * the run; other ranks post them, and rank 0 takes them with cs_collect_drain(). */
#pragma once

#include "job/mpi_comm.h"
#include "result/run.h"

/* Called on rank 0 after something arrived; index in the run's arrays. */
struct cs_collect_hooks {
	void *ctx;
	void (*node)(void *ctx, int node);
	void (*row)(void *ctx, size_t row);
	void (*finding)(void *ctx, size_t finding);
};

struct cs_collect {
	struct cs_comm *comm;
	struct cs_run *run; /* rank 0: everything; else unused */
	int placements;	    /* per node; each placement is a node of the run */
	const struct cs_collect_hooks *hooks;
	int *rank_of_node; /* rank 0: coordinators, by node */
	double *heard_s; /* time of the last message of each node; others: of rank 0, [0] */
	char *ended;	   /* rank 0: 1 complete, 2 early, 3 given up */
	double said_s;	   /* time of the last message sent */
	double listened_s; /* time of the last receiving of messages */
	int end;	   /* others: how rank 0 ended the job; 0 not yet */
	int how;	   /* others: how this node ended, still to be sent; 0 */
	size_t n_lost;	   /* records for which there was no memory */
	/* Steps (uint32_t) that rank 0 wants this node to re-measure; `came`: its
	 * message has arrived. */
	struct cs_vec remeasure;
	int remeasure_came;
};

/* How a node's measurement ended.  MEASURED: not ended yet; it has executed the plan
 * and waits for the steps to re-measure. */
enum {
	CS_NODE_RUNS,
	CS_NODE_COMPLETE,
	CS_NODE_EARLY,
	CS_NODE_SILENT,
	CS_NODE_MEASURED
};

/* The index in the run of a placement of this node. */
int cs_collect_index(const struct cs_collect *c, int placement);
/* `index`, and row->node, are such an index. */
void cs_collect_node(struct cs_collect *c, int index, const struct cs_run_node *node);
void cs_collect_row(struct cs_collect *c, const struct cs_row *row,
		    const double *samples);
void cs_collect_add(struct cs_collect *c, int index, const struct cs_finding *finding);
void cs_collect_finding(struct cs_collect *c, int index, enum cs_severity severity,
			enum cs_finding_id id, const char *text);
/* This node's measurement has ended; it counts as early if a record was lost. */
void cs_collect_done(struct cs_collect *c, int how);
/* This node has executed the plan. */
void cs_collect_measured(struct cs_collect *c);
/* Rank 0: has every node executed the plan, or ended? */
int cs_collect_all_measured(const struct cs_collect *c);
/* Rank 0: send every node its steps to re-measure, also if it has none: n steps, in
 * order of the run's nodes. */
void cs_collect_remeasure(struct cs_collect *c, const struct cs_remeasure *remeasure,
			  size_t n);
/* Rank 0, at the end: add a finding if there was no memory for some records. */
void cs_collect_report_lost(struct cs_collect *c, int index);
/* Send a sign of life: coordinators to rank 0 once a second, rank 0 to all of them
 * every 5 s. */
void cs_collect_alive(struct cs_collect *c);
/* Has rank 0 ended the job?  Returns how (CS_NODE_…); CS_NODE_SILENT if it has sent
 * nothing for limit_s; CS_NODE_RUNS if it continues.  Here and below silence counts
 * only while this rank listens: a rank that was itself stopped gives up no other. */
int cs_collect_listen(struct cs_collect *c, double limit_s);

/* Rank 0: take all messages that have arrived.  Gives up nodes silent for limit_s
 * and, with `now`, those that are not ready. */
void cs_collect_drain(struct cs_collect *c, double limit_s, int now);
/* Rank 0: announce the end to all coordinators. */
void cs_collect_end(struct cs_collect *c, int how);
/* Rank 0: have all nodes ended?  Returns the worst end, or CS_NODE_RUNS. */
int cs_collect_state(const struct cs_collect *c);
/* Rank 0: does another node still measure? */
int cs_collect_others_run(const struct cs_collect *c);
