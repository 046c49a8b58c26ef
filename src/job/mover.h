/* mover.h - eight functions that move bytes between nodes: one file for each mover.
 *
 * All are called from the main thread, of the coordinators of nodes, which are named by
 * their ranks.  None blocks but open and close. */
#pragma once

#include "job/mpi_comm.h"

#define CS_MOVER_ANY (-1) /* rank: any */
#define CS_SAY_MOST 80	  /* bytes of a small message */

struct cs_mover {
	enum cs_via via;
	/* Collective over all ranks of the job. */
	int (*open)(struct cs_comm *comm, struct cs_err *err);
	/* Send a copy of a small message, in the background. */
	int (*say)(int rank, int tag, const void *data, size_t bytes);
	/* Take such a message, if one is there: 1 with its rank in *from, which may be
	 * NULL; 0 none. */
	int (*hear)(int rank, int tag, void *data, size_t bytes, int *from);
	/* Begin to send and to receive; both memories stay until test() returns 1, or sets
	 * *ended, which may be NULL. */
	int (*send)(int rank, int tag, const void *data, size_t bytes, int *ended);
	int (*receive)(int rank, int tag, void *data, size_t bytes, int *ended);
	/* 1: everything that began has ended; 0: not yet; -1: an error. */
	int (*test)(void);
	/* Forget the messages that have not ended.  1: some may still use their
	 * memory. */
	int (*abandon)(void);
	/* 1: it is not closed yet, because some of these still do. */
	int (*close)(void);
};

extern const struct cs_mover cs_mover_mpi;
