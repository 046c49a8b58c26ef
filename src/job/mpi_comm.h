/* mpi_comm.h - the ranks of a job and how they exchange bytes.
 *
 * The only user of MPI.  Without a launcher there is one rank, and no MPI call is
 * made.  All functions are called from the main thread and are collective unless
 * marked "local".  All have a deadline, because MPI does not report dead peers.
 * While waiting they call `interrupted`, so that a signal ends the wait. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/facts.h"

/* The place of a rank, known to all ranks. */
struct cs_comm_place {
	int node;
	char host[CS_HOST];
};

struct cs_comm {
	const char *version, *commit;  /* of this program */
	int mpi;		       /* 0: alone, no MPI call */
	int rank, size;		       /* of the job */
	int local_rank, local_size;    /* of the node */
	int node, n_nodes;	       /* nodes are numbered by lowest rank */
	int coordinator;	       /* world rank of this node's lowest rank */
	struct cs_comm_place *place;   /* of each rank; NULL before they are known */
	char apart[120];	       /* why the machine counts as several nodes:
					 * "are of several users"; "" it does not */
	struct cs_mpi_comms *comms;    /* MPI's objects, only for mpi_comm.c */
	double limit_s;		       /* deadline of every call */
	double end_s;		       /* by cs_clock_s(): no call lasts longer */
	int (*interrupted)(void *ctx); /* may be NULL */
	void *ctx;
	int loads; /* a library's load hangs in this process */
};

/* The ranks that take part in a call. */
enum cs_comm_scope { CS_COMM_JOB, CS_COMM_NODE };

enum cs_tag {
	CS_TAG_NODE = 1,
	CS_TAG_ROW,
	CS_TAG_FINDING,
	CS_TAG_ALIVE,
	CS_TAG_DONE,
	CS_TAG_END,
	CS_TAG_WAITS,
	CS_TAG_REMEASURE
};

/* Local: name and version of the MPI library, on one line.  Allowed before
 * cs_comm_start(). */
void cs_comm_library(char *to, size_t size);
/* Call MPI_Init and get the size of the world; `use_mpi` 0: one rank, without MPI. */
int cs_comm_start(struct cs_comm *comm, int use_mpi, struct cs_err *err);
/* Check that all ranks run the same program.  Then find the ranks of this node: same
 * host, boot, user and PID namespace. */
int cs_comm_split(struct cs_comm *comm, struct cs_err *err);

/* The lowest rank of a node; -1: there is none. */
int cs_comm_lowest_rank(const struct cs_comm *comm, int node);

/* Exchange `bytes` of each rank of the node: all[local_size * bytes]. */
int cs_comm_gather_node(struct cs_comm *comm, const void *mine, size_t bytes,
			void *all, struct cs_err *err);
/* Broadcast the root's bytes to all ranks of the job, or of the node. */
int cs_comm_broadcast(struct cs_comm *comm, enum cs_comm_scope scope, int root,
		      void *data, size_t bytes, struct cs_err *err);
/* The maximum over all ranks, element by element; in place. */
int cs_comm_max(struct cs_comm *comm, long *values, int n, struct cs_err *err);

/* Agree on the result of a phase: 0 if all ranks had rc 0.  Else -1 on all ranks,
 * with the text of the lowest failing rank and the number of ranks that share it. */
int cs_comm_agree(struct cs_comm *comm, int rc, struct cs_err *err);

/* Local: send a copy of the bytes to a rank; completes in the background. */
int cs_comm_send(struct cs_comm *comm, int rank, enum cs_tag tag, const void *data,
		 size_t bytes, struct cs_err *err);
/* Local: take a message, if one has arrived.  1 with *from, *tag, *data (malloc'ed)
 * and *bytes; 0 none; -1 error. */
int cs_comm_receive(struct cs_comm *comm, int *from, int *tag, void **data,
		    size_t *bytes, struct cs_err *err);
/* Local: wait until all posts are sent, at most limit_s. */
void cs_comm_flush(struct cs_comm *comm, double limit_s);

/* Both: if a library's load hangs in a rank (comm->loads), MPI_Finalize would wait for
 * it, so no rank calls it.
 *
 * Call MPI_Finalize if every rank arrives within 2 s to call it: if a rank ends
 * without it, some launchers kill the others and take the job's status from that.
 * All ranks then leave with the highest status, because MPICH's launcher combines all
 * by OR. */
void cs_comm_leave(struct cs_comm *comm, int *status);
/* Call MPI_Finalize when every rank has arrived to call it, because it never returns
 * if a peer is dead.  -1 if they did not arrive within limit_s: leave by _exit. */
int cs_comm_end(struct cs_comm *comm, double limit_s, struct cs_err *err);
