/* team.h - the ranks of a job and how they exchange bytes.
 *
 * The only user of MPI.  Without a launcher it is a team of one that makes no
 * MPI call.  All calls come from the main thread and are collective unless they
 * say "local"; all have a deadline, for MPI reports no dead peer.  While waiting
 * they ask `interrupted`, so that a signal ends the wait. */
#ifndef CS_JOB_TEAM_H
#define CS_JOB_TEAM_H

#include <stddef.h>

#include "base/err.h"
#include "base/facts.h"

/* A rank, as all the others know it. */
struct cs_team_place {
	int node;
	char host[CS_HOST];
};

struct cs_team {
	const char *version, *commit;  /* of this program */
	int mpi;		       /* 0: alone, no MPI call */
	int rank, size;		       /* of the job */
	int local_rank, local_size;    /* of the node */
	int node, n_nodes;	       /* nodes are numbered by lowest rank */
	int coordinator;	       /* world rank of this node's lowest rank */
	struct cs_team_place *place;   /* of each rank; NULL before they are known */
	char apart[120];	       /* "are of several users": why the machine
					 * makes further nodes; "" it does not */
	struct cs_team_comms *comms;   /* MPI's side, known to team.c alone */
	double limit_s;		       /* deadline of every call */
	double end_s;		       /* by cs_clock_s(): no call lasts beyond */
	int (*interrupted)(void *ctx); /* may be NULL */
	void *ctx;
};

/* Who takes part in a call. */
enum cs_team_scope { CS_TEAM_JOB, CS_TEAM_NODE };

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

/* Local: what the MPI library says it is, on one line.  Needs no team. */
void cs_team_library(char *to, size_t size);
/* MPI_Init and size of the world; `use_mpi` 0: alone. */
int cs_team_start(struct cs_team *team, int use_mpi, struct cs_err *err);
/* Is it the same program in all ranks?  Then find those of this node: same host, boot,
 * user and PID namespace. */
int cs_team_split(struct cs_team *team, struct cs_err *err);

/* The lowest rank of a node; -1: there is none. */
int cs_team_lowest(const struct cs_team *team, int node);

/* Everyone on the node gets what everyone gave: all[local_size * bytes]. */
int cs_team_share(struct cs_team *team, const void *mine, size_t bytes, void *all,
		  struct cs_err *err);
/* The root's bytes to all ranks of the job, or of the node. */
int cs_team_spread(struct cs_team *team, enum cs_team_scope scope, int root,
		   void *data, size_t bytes, struct cs_err *err);
/* The largest of everyone's numbers, element by element; in place. */
int cs_team_max(struct cs_team *team, long *values, int n, struct cs_err *err);

/* One verdict on a phase: 0 if all ranks had rc 0.  Else -1 on all ranks with the
 * text of the lowest failing one and how many share it. */
int cs_team_agree(struct cs_team *team, int rc, struct cs_err *err);

/* Local: send a copy of the bytes to a rank; completes in the background. */
int cs_team_post(struct cs_team *team, int rank, enum cs_tag tag, const void *data,
		 size_t bytes, struct cs_err *err);
/* Local: has a message come?  1 with *from, *tag, *data (malloc'ed) and *bytes;
 * 0 none; -1 error. */
int cs_team_next(struct cs_team *team, int *from, int *tag, void **data,
		 size_t *bytes, struct cs_err *err);
/* Local: wait until all posts have left, at most limit_s. */
void cs_team_flush(struct cs_team *team, double limit_s);

/* MPI_Finalize if every rank is there to call it, within 2 s; some launchers kill
 * the others, and take the status from that, when a rank ends without.  All leave with
 * the highest status then: MPICH's launcher makes one of all by OR. */
void cs_team_leave(struct cs_team *team, int *status);
/* MPI_Finalize, which never returns when a peer is dead: so not before every rank is
 * there to call it.  -1 when they did not come within limit_s: leave by _exit. */
int cs_team_end(struct cs_team *team, double limit_s, struct cs_err *err);

#endif
