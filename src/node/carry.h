/* carry.h - transfers that CPUs carry: their own copies, and copies of a driver that
 * hold up whoever asks for them until they have been made.
 *
 * Workers do both (workers.h).  A copy of several threads is shared by that many.  A
 * copy of the driver from or to pageable memory would block behind the closed gate of its
 * own stream, so a worker asks for it when the gate is open.  Of several such copies at
 * once the rates differ by more than their number can make up for, so who has ended goes on,
 * untimed, until the last has: each is timed while all others copy. */
#ifndef CS_NODE_CARRY_H
#define CS_NODE_CARRY_H

#include "node/workers.h"

/* Who works on one transfer of the sample at hand. */
#define CS_TEAM_MOST 256 /* workers */
struct cs_team {
	struct cs_worker *worker[CS_TEAM_MOST];
	uint64_t sum[CS_TEAM_MOST]; /* of what each of them has read, … */
	uint64_t expected;	    /* … all together; */
	int reads;		    /* 0: they read nothing */
	int n;			    /* 0: nobody */
	uint32_t k;		    /* the transfer of the step */
	int by_stream;	      /* its time is that between two marks in the lane */
	double stream_ns;     /* … as its worker has read it; 0: not by stream */
	struct cs_worked did; /* all of them together */
};

/* Of one agent.  All zero but what it is given: it has no workers yet. */
struct cs_carry {
	struct cs_workers workers;
	const struct cs_backend *backend;
	struct cs_dev *dev;
	struct cs_slot *slot; /* the agent's */
	const struct cs_plan *plan;
	struct cs_team team[CS_LANES];
	struct cs_summed {
		uint64_t key, bytes,
			sum; /* of a pattern: what is read again and again */
	} summed;
	_Atomic int timed[CS_LANES]; /* its copies count now, and others go on */
};

/* Do CPUs carry it? */
int cs_carry_is(const struct cs_transfer *t);
/* By one worker for each core of a NUMA node? */
int cs_carry_is_by_all_cores(const struct cs_transfer *t);
/* How many loads a sample of a CPU's chase has: through no line twice. */
uint64_t cs_carry_loads(const struct cs_transfer *t);
/* The NUMA node whose CPUs work on a transfer: as its variant wants, between NUMA nodes
 * the second, or the one that writes; -1: wherever the agent may run, which is beside its GPU. */
int cs_carry_numa(const struct cs_carry *carry, const struct cs_transfer *t);

/* The step's k-th transfer, on a lane of the agent's that is the workers' until the end.
 * Errors are in the slot, where what cannot be done here is refused; then nobody works on
 * it. */
int cs_carry_arm(struct cs_carry *carry, int lane, uint32_t k,
		 const struct cs_transfer *t, const struct cs_copy *desc);
/* Until all workers of a lane have ended; at once where there are none. */
int cs_carry_await(struct cs_carry *carry, int lane);
/* How long it took: between the marks in its stream, else from where the first worker
 * began to where the last ended; 0 of what was cancelled or failed. */
double cs_carry_ns(const struct cs_carry *carry, int lane);

#endif
