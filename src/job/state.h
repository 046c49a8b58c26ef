/* state.h - a job at work: what its files share. */
#ifndef CS_JOB_STATE_H
#define CS_JOB_STATE_H

#include "job/args.h"
#include "job/discovery.h"
#include "job/resumed.h"
#include "job/sides.h"
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

#endif
