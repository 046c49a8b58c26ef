/* state.h - the state of a running job, which its files share. */
#pragma once

#include "job/args.h"
#include "job/discovery.h"
#include "job/mpi_comm.h"
#include "job/placements.h"
#include "result/run.h"

/* ---- resumed.c: the rows of an earlier job, whether this one may continue with them, and
 * which steps are left ---- */

/* How much of the plan is measured already. */
enum cs_resumed { CS_RESUMED_NONE, CS_RESUMED_SOME, CS_RESUMED_ALL };

/* Collective, when all ranks have the plan: sends rank 0's *resumed to all.  Unless
 * it is NONE, rank 0's run has the old rows and their nodes; the job fails if a node
 * has another host, placement, GPUs or ranks.  On coordinators *done is one byte per
 * step, not 0 if this node has its rows; NULL if every step must be measured; the
 * caller frees it. */
int cs_resumed_share(struct cs_comm *comm, const struct cs_discovery *discovery,
		     const char *placement, const struct cs_plan *plan,
		     const struct cs_run *run, enum cs_resumed *resumed, char **done,
		     struct cs_err *err);

/* A node that is silent for so long is given up: its coordinator reads messages every
 * 50 ms while it measures. Rank 0 also writes files, and file systems may stall. */
#define NODE_SILENCE_S 10.0
#define ROOT_SILENCE_S 60.0

/* The hooks of a coordinator, with its node's index in the run. */
struct placement_hooks {
	struct cs_job *job;
	int index;
	struct cs_coordinator_hooks table;
};

struct cs_job {
	const struct cs_job_args *args;
	struct cs_run *run;
	struct cs_comm comm;
	struct cs_launcher launcher;
	struct cs_discovery discovery;
	struct cs_plan *plan;
	struct cs_placements placements;
	struct placement_hooks hooks[CS_PLACEMENTS_MAX];
	struct cs_collect collect;
	struct cs_node_facts facts; /* of this node */
	enum cs_resumed resumed;
	char *done;		 /* steps that this node need not measure */
	struct cs_rows own_rows; /* of this node, to choose steps to re-measure */
	int coordinates, opened, lost, collects;
	int one_at_a_time; /* GPUs allow only one process, so placements hold them in turn */
	int boardless; /* no measurement, and nothing to open */
	int lone;      /* there are nodes with one GPU */
	int signal_fd, signal;
	struct cs_process coordinator; /* of this node, if it is another process */
	double began_s;
	double measuring_s; /* when the measurement began; 0: not measuring */
};

/* ---- watch.c: signals and messages; leaving where waiting for others is impossible ---- */

/* After a death mpirun sends SIGTERM within 1 s and SIGKILL 1 s later, or each at
 * once when a further process ends.  So no process ends before rank 0 has written the
 * results. */
#define TERM_S 1.0
#define GRACE_S 0.8

/* Has a signal to end arrived?  Remembers it. */
int cs_job_signal(struct cs_job *job);
/* Read signals and messages.  Not 0: stop, rank 0 would not take the rows. */
int cs_job_watch(struct cs_job *job);
/* Is the budget used up? */
int cs_job_is_spent(const struct cs_job *job);
/* Open the gates, then exit with the status of the signal. */
void cs_job_leave(struct cs_job *job);
/* The same, if there was a signal.  Rank 0 first saves the results; the others give
 * it time for that. */
void cs_job_leave_on_signal(struct cs_job *job);
/* Exit after rank 0.  A launcher ends the job at the first bad status and takes that
 * as the job's; it must be rank 0's, after rank 0 has reported the reason. */
void cs_job_leave_after_root(struct cs_job *job, int status);

/* ---- remeasure.c ---- */

/* Suspicious cells of this node are measured again, after the plan; not if placements are
 * compared, whose cells are measured in turns.  First the node
 * chooses by its own rows; then rank 0 chooses by the rows of all nodes, and sends
 * each node its steps. */

/* Keep a row, without samples, to choose by; the node is number 0 in it. */
void cs_job_add_own_row(struct cs_job *job, const struct cs_row *row);
/* A further pass begins: its rows replace those of the last one. */
void cs_job_forget_own_rows(struct cs_job *job);
/* Choose and measure again.  All nodes take part, also one that has stopped. */
void cs_job_remeasure(struct cs_job *job);

/* ---- run_plan.c ---- */

/* Measure everything on this node, in all of its placements. */
void cs_job_run_plan(struct cs_job *job);
