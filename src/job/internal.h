/* internal.h - a job at work, for the files that carry it out: job.c has its phases,
 * conduct.c what a node coordinator does in the middle of them. */
#ifndef CS_JOB_INTERNAL_H
#define CS_JOB_INTERNAL_H

#include "job/sides.h"
#include "job/job.h"
#include "job/resumed.h"
#include "job/discovery.h"
#include "job/team.h"

/* A node without a word is given up: its coordinator looks every 50 ms, whatever it
 * measures.  Rank 0 also writes files, to file systems that may stall. */
#define NODE_SILENCE_S 10.0
#define ROOT_SILENCE_S 60.0

/* A coordinator's hooks know which node of the run they speak of. */
struct side_hooks {
	struct cs_job *job;
	int index;
	struct cs_coordinator_hooks table;
};

struct cs_job {
	const struct cs_job_args *args;
	struct cs_run *run;
	struct cs_team team;
	struct cs_launcher launcher;
	struct cs_discovery discovery;
	struct cs_plan *plan;
	struct cs_sides sides;
	struct side_hooks hooks[CS_SIDES_MAX];
	struct cs_collect collect;
	struct cs_node_facts facts; /* of this node */
	enum cs_resumed resumed;
	char *done;	     /* steps of this node that are not left */
	struct cs_rows seen; /* of this node, to be measured again */
	int coordinates, opened, lost, collects;
	int one_at_a_time; /* GPUs that take no second process: sides cannot all
			    * hold them */
	int boardless;	   /* only looked, and nothing to open */
	int lone;	   /* there are nodes with one GPU */
	int signal_fd, signal;
	struct cs_process coordinator; /* of this node, where that is another */
	double began_s;
	double measuring_s; /* since when; 0 not now */
};

/* ---- watch.c: signals and messages, and leaving where nobody can be waited for ---- */

/* After a death mpirun sends SIGTERM within 1 s and SIGKILL 1 s later, each at once when
 * a further process ends: none does before rank 0 has written what there is. */
#define TERM_S 1.0
#define GRACE_S 0.8

/* A signal to end?  Remembers it. */
int cs_job_signal(struct cs_job *job);
/* Look for signals and messages; not 0: nobody would take the rows. */
int cs_job_watch(struct cs_job *job);
/* Is the budget? */
int cs_job_is_spent(const struct cs_job *job);
/* With the status of the signal: lets the gate go first. */
void cs_job_leave(struct cs_job *job);
/* The same where there was one: rank 0 first saves what there is; the others give it
 * time. */
void cs_job_leave_on_signal(struct cs_job *job);
/* A launcher ends the job at the first bad status and takes it for the job's: it
 * shall be rank 0's, after rank 0 has said why. */
void cs_job_leave_after_root(struct cs_job *job, int status);

/* ---- conduct.c ---- */

/* All that this node measures, in all of its placements. */
void cs_job_conduct(struct cs_job *job);

#endif
