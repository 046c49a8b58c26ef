/* state.h - the state of a running job, which its files share. */
#ifndef CS_JOB_STATE_H
#define CS_JOB_STATE_H

#include "job/args.h"
#include "job/discovery.h"
#include "job/resumed.h"
#include "job/placements.h"
#include "job/mpi_comm.h"

/* A node that is silent for so long is given up: its coordinator looks at messages
 * every 50 ms, whatever it measures.  Rank 0 also writes files, and file systems may
 * stall. */
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
	struct cs_rows own_rows; /* of this node, to choose what to re-measure */
	int coordinates, opened, lost, collects;
	int one_at_a_time; /* GPUs allow only one process, so placements hold them in turn */
	int boardless; /* no measurement, and nothing to open */
	int lone;      /* there are nodes with one GPU */
	int signal_fd, signal;
	struct cs_process coordinator; /* of this node, if it is another process */
	double began_s;
	double measuring_s; /* when the measurement began; 0: not measuring */
};

#endif
