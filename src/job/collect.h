/* collect.h - rows, facts and findings on their way to rank 0.
 *
 * A node coordinator gives them here; on rank 0 they go straight into the run,
 * elsewhere they are posted.  Rank 0 drains what has come whenever it asks. */
#ifndef CS_JOB_COLLECT_H
#define CS_JOB_COLLECT_H

#include "job/team.h"
#include "result/run.h"

/* Called on rank 0 after something arrived; index in the run's arrays. */
struct cs_collect_hooks {
	void *ctx;
	void (*node)(void *ctx, int node);
	void (*row)(void *ctx, size_t row);
	void (*finding)(void *ctx, size_t finding);
};

struct cs_collect {
	struct cs_team *team;
	struct cs_run *run; /* rank 0: everything; else unused */
	int sides;	    /* of a node: each is a node of the run */
	const struct cs_collect_hooks *hooks;
	int *rank_of_node; /* rank 0: coordinators, by node of the team */
	double *heard_s;   /* last word of each node; of rank 0: [0] */
	char *ended;	   /* rank 0: 1 complete, 2 early, 3 given up */
	double said_s;	   /* last word said */
	double listened_s; /* last time that words were taken */
	int end;	   /* others: how rank 0 ended the job; 0 not yet */
	int how;	   /* others: how this node ended, to be said; 0 */
	size_t n_lost;	   /* records for which there was no memory */
	/* What rank 0 has this node measure again: uint32_t, steps.  came: it has had
	 * its say. */
	struct cs_vec remeasure;
	int remeasure_came;
};

/* How a node's measuring ended.  MEASURED: not yet, it has carried out the plan and
 * waits to hear what is measured again. */
enum {
	CS_NODE_RUNS,
	CS_NODE_COMPLETE,
	CS_NODE_EARLY,
	CS_NODE_SILENT,
	CS_NODE_MEASURED
};

/* The node of the run that a side of this one is. */
int cs_collect_index(const struct cs_collect *c, int side);
/* `index` is that number; so is row->node. */
void cs_collect_node(struct cs_collect *c, int index, const struct cs_run_node *node);
void cs_collect_row(struct cs_collect *c, const struct cs_row *row,
		    const double *samples);
void cs_collect_finding(struct cs_collect *c, int index, enum cs_severity severity,
			enum cs_finding_id id, const char *text);
/* This node's measuring has ended; early, if a record was lost. */
void cs_collect_done(struct cs_collect *c, int how);
/* This node has carried out the plan. */
void cs_collect_measured(struct cs_collect *c);
/* Rank 0: has every node, or will it not any more? */
int cs_collect_all_measured(const struct cs_collect *c);
/* Rank 0: say to every node what it is to measure again, n of them in order of nodes,
 * of the run's nodes; those that have nothing hear that as well. */
void cs_collect_remeasure(struct cs_collect *c, const struct cs_remeasure *remeasure,
			  size_t n);
/* Rank 0, when all has come: a finding if there was no memory for some of it. */
void cs_collect_say_lost(struct cs_collect *c, int index);
/* Still here: coordinators to rank 0 once a second, it to all of them every 5 s. */
void cs_collect_alive(struct cs_collect *c);
/* Has rank 0 ended the job?  How (CS_NODE_…), CS_NODE_SILENT when it has said
 * nothing for limit_s, CS_NODE_RUNS when it goes on.  Here and below silence is
 * counted while this rank listens: who was stopped himself reports nobody. */
int cs_collect_listen(struct cs_collect *c, double limit_s);

/* Rank 0: take all that has come.  Gives up nodes silent for limit_s and, with `now`,
 * those that are not ready. */
void cs_collect_drain(struct cs_collect *c, double limit_s, int now);
/* Rank 0: say the end to all coordinators. */
void cs_collect_end(struct cs_collect *c, int how);
/* Rank 0: have all nodes ended?  The worst way, or CS_NODE_RUNS. */
int cs_collect_state(const struct cs_collect *c);
/* Rank 0: does a node other than this one measure yet? */
int cs_collect_others_run(const struct cs_collect *c);

#endif
