/* cpu_transfer.h - transfers that CPU threads make: copies by the CPU, and driver
 * copies that block their caller until they are done.
 *
 * Workers (workers.h) make both.  A copy by several threads is divided among as many
 * workers.  A driver copy from or to pageable memory would block at the closed gate of
 * its own stream, so a worker makes it once the gate is open.  The rates of several such
 * copies differ too much to make them end together by their number.  So a worker that
 * has finished continues, untimed, until the last has: each copy is timed while all
 * others run. */
#pragma once

#include "backend/backend.h"
#include "node/agent/workers.h"
#include "plan/plan.h"

/* The workers of one transfer of the current sample. */
#define CS_TEAM_MOST 256 /* workers */
struct cs_team {
	struct cs_worker *worker[CS_TEAM_MOST];
	uint64_t sum[CS_TEAM_MOST]; /* of the words that each of them has read */
	uint64_t expected;	    /* the correct total of all */
	int reads;		    /* 0: they read nothing */
	const double *product;	    /* of matrices, NULL: none */
	uint64_t rows;		    /* of that */
	int n;			    /* number of workers */
	uint32_t k;		    /* the transfer of the step */
	int by_stream;	      /* its time is measured between two marks in the lane */
	double stream_ns;     /* this time, read by its worker; 0: not by stream */
	struct cs_worked did; /* all of them together */
};

/* The state of one agent.  All zero except what the agent sets: no workers yet. */
struct cs_cpu_transfers {
	struct cs_workers workers;
	const struct cs_backend *backend;
	struct cs_dev *dev;
	struct cs_slot *slot; /* the agent's */
	const struct cs_plan *plan;
	struct cs_team team[CS_LANES];
	struct cs_summed {
		uint64_t key, bytes, sum; /* of a pattern that is read repeatedly,
					     * or of the product of so many rows */
	} summed;
	_Atomic int timed[CS_LANES]; /* its copies count now; others continue */
};

/* The number of loads in a sample of a CPU's chase: no line is used twice, unless it is
 * warm. */
uint64_t cs_cpu_transfer_loads(const struct cs_transfer *t);
/* The NUMA node whose CPUs work on a transfer: the one that its variant names;
 * between NUMA nodes the second, or the one that writes.  -1: wherever the agent may
 * run, which is near its GPU. */
int cs_cpu_transfer_numa(const struct cs_cpu_transfers *cpu,
			 const struct cs_transfer *t);

/* Arm the step's k-th transfer on a lane of the agent, which belongs to the workers
 * until they end.  Errors are in the slot, with `refused` if it cannot be done here;
 * then no worker has started. */
int cs_cpu_transfer_arm(struct cs_cpu_transfers *cpu, int lane, uint32_t k,
			const struct cs_transfer *t, const struct cs_copy *desc);
/* Wait until all workers of a lane have ended; returns at once if there are none. */
int cs_cpu_transfer_await(struct cs_cpu_transfers *cpu, int lane);
/* The time it took: between the marks in its stream, else from the start of the first
 * worker to the end of the last.  0 if it was cancelled or failed. */
double cs_cpu_transfer_ns(const struct cs_cpu_transfers *cpu, int lane);

/* ---- share.c: the contiguous shares of a transfer's workers, as of STREAM's threads ---- */

#define CS_SHARE_GRAIN ((uint64_t)4096) /* whole pages, except the last */

struct cs_share {
	char *dst;
	const char *src, *also; /* also: the other source of a triad */
	uint64_t bytes;		/* of each of these */
	uint32_t copies;
	uint64_t value; /* written */
	uint64_t *sum;	/* of the data that is read */
};

/* Bytes of each array that they share. */
uint64_t cs_share_whole(const struct cs_transfer *t);
/* The share of the i-th of n workers; the words that it reads are added to *sum. */
struct cs_share cs_share_of(const struct cs_transfer *t, const struct cs_copy *desc,
			    int i, int n, uint64_t *sum);
/* The function that works on a share, for cs_work. */
int (*cs_share_run(const struct cs_transfer *t))(void *share, struct cs_err *err);
