/* between_state.h - the phase between nodes on one of them, which its files share: each file
 * uses those above it alone. */
#pragma once

#include "job/pair.h"
#include "job/state.h"
#include "plan/rounds.h"

/* The kinds of memory that messages leave and come to. */
enum cs_between_memory {
	CS_ENDS_HOST,
	CS_ENDS_STAGED,
	CS_ENDS_DEVICE,
	CS_ENDS_RDMA,
	CS_ENDS_KINDS
};

/* The tags of messages from and to rank 0. */
enum cs_between_tag {
	CS_PING = 1,
	CS_PONG,
	CS_BEGIN,
	CS_TRIAL,
	CS_SLOTS,
	CS_READY,
	CS_LOOKS
};
_Static_assert(CS_LOOKS < CS_PAIR_TAGS, "pairs use the tags after them");

#define CS_ROOT_S 60.0 /* for an answer of rank 0, which waits for the others */
#define CS_TRIAL_S 5.0
#define CS_SOON_S 0.05 /* from a message to all until what it announces */

/* The message of rank 0 to all: the begin of the first round on its clock, and the
 * number of rounds. */
struct cs_between_schedule {
	double begin_s;
	struct cs_slots slots;
	uint64_t rounds;
	uint64_t kinds; /* bits: those that two nodes or more have */
};

struct cs_between_phase {
	struct cs_job *job;
	const struct cs_mover *mover;
	int *rank_of; /* coordinators, by node */
	uint32_t n, me;
	size_t n_tried; /* rank 0: nodes whose trials came in time */
	uint32_t first_matrix, n_matrices; /* of the plan */
	uint32_t *round, n_rounds; /* in the order in which they are measured */
	struct cs_clock clock;	   /* INFINITY round trip: not known */
	struct cs_between_schedule schedule;
	struct cs_ends *memory; /* by kind and place: cs_between_ends() */
	struct cs_nics *nics;
	struct cs_err cannot[CS_ENDS_KINDS]; /* why the MPI does not take it; "" it does */
	char *missed;	  /* by node: it was not there when it should have been */
	char why[120];	  /* this node cannot take part: the reason of its cells */
	double check_s;	  /* of a message */
	double watched_s; /* signals and messages were read */
	int has_left_gpu; /* messages that have not ended have its memory */
	int is_over;	  /* rank 0 is gone, or has ended the job */
};

/* This node's slot: the matrices of a round follow each other. */
struct cs_between_slot {
	uint32_t round, matrix;	 /* rounds count in the order of measuring */
	struct cs_part part;	 /* whom it meets */
	double begin_s, seconds; /* on this node's clock */
	uint32_t again; /* number of a second look, from 1 on; 0 it is the first */
	int alone;	/* no other pair at the same time */
};

/* ---- between_clock.c: waiting, and rank 0's clock ---- */

/* Read signals and messages of the job; `ctx` is a phase. */
void cs_between_watch(void *ctx);
/* The same, and sleep: for a moment; until then. */
void cs_between_nap(struct cs_between_phase *b);
void cs_between_sleep(struct cs_between_phase *b, double until_s);
/* Wait for a message of rank 0.  -1: it did not come. */
int cs_between_hear_root(struct cs_between_phase *b, int tag, void *data,
			 size_t bytes, double end_s);
/* Find the clock's difference from rank 0's, which answers until all have asked, or
 * end_s. */
void cs_between_set_clock(struct cs_between_phase *b, double end_s);
/* This node's time of a time of rank 0's. */
double cs_between_own_time(const struct cs_between_phase *b, double root_s);

/* ---- between_memory.c: what a slot sends and receives ---- */

/* The test of a matrix, counted from the first between nodes. */
const struct cs_test *cs_between_test(const struct cs_between_phase *b,
				      uint32_t matrix);
/* To whom a node sends in a round of a test, and from whom it receives. */
struct cs_part cs_between_part(const struct cs_between_phase *b,
			       const struct cs_test *test, uint32_t round,
			       uint32_t node);
enum cs_between_memory cs_between_memory_of(const struct cs_test *test);
enum cs_via cs_between_via(const struct cs_test *test);
/* The kinds of memory that the plan asks for and this node has. */
uint64_t cs_between_own_kinds(const struct cs_between_phase *b);
/* Find out whether MPI takes the GPU's memory. */
void cs_between_try_gpu(struct cs_between_phase *b);
/* The ends of a matrix: host memory of any NUMA node or of a rail's, a GPU's. */
struct cs_ends *cs_between_ends(const struct cs_between_phase *b, uint32_t matrix);
/* Those of a kind that trials use: of any NUMA node, of the first GPU. */
struct cs_ends *cs_between_first_ends(const struct cs_between_phase *b,
				      enum cs_between_memory kind);
/* Before all others.  -1: no memory. */
int cs_between_make_ends(struct cs_between_phase *b);
/* Memory for a window. */
void cs_between_open_ends(struct cs_between_phase *b, struct cs_ends *ends);
/* Open what matrices need and two nodes have, or note why it is not there. */
void cs_between_prepare_ends(struct cs_between_phase *b);
void cs_between_close_ends(struct cs_between_phase *b);
/* The slot as what pair.h takes; `number` is its own among all of the phase. */
struct cs_pair cs_between_pair(struct cs_between_phase *b,
			       const struct cs_between_slot *slot,
			       const struct cs_test *test, struct cs_ends *ends,
			       uint32_t number);
/* A slot that ended so: was it this node's memory?  A GPU that works answers soon after, and
 * is ready for the next slot. */
int cs_between_is_own_fault(struct cs_between_phase *b, const struct cs_pair *pair,
			    enum cs_pair_end how);
/* After a slot: memory that MPI may still use is left to it. */
void cs_between_replace_ends(struct cs_between_phase *b, const struct cs_pair *pair);

/* ---- between_schedule.c: trials, and the times of slots ---- */

/* Open memory for a trial, and find out how fast this node checks it. */
void cs_between_try_check(struct cs_between_phase *b);
/* The pairs of the first round find out how fast they are; rank 0 learns it. */
void cs_between_try_pair(struct cs_between_phase *b);
/* Rank 0: make slots of the trials, and tell all. */
void cs_between_make_schedule(struct cs_between_phase *b);
/* The memory of this node is open: the same pairs send that of their GPUs, if they have any;
 * rank 0 learns it. */
void cs_between_say_ready(struct cs_between_phase *b);
/* Rank 0: when all are ready, make slots of these trials, too, and tell all when they begin. */
void cs_between_await_ready(struct cs_between_phase *b);
/* Rank 0: send the schedule to all. */
void cs_between_tell_all(struct cs_between_phase *b, int tag);
/* The time of a slot of a matrix, 0 of memory that fewer than two nodes have. */
double cs_between_slot_s(const struct cs_between_phase *b, uint32_t matrix);
/* The rounds of a matrix. */
uint32_t cs_between_rounds(const struct cs_between_phase *b, uint32_t matrix);
/* After so many rounds one has the time of a round for the clock. */
uint64_t cs_between_clock_rounds(const struct cs_between_phase *b);
/* From the begin of the first round to that of a matrix in a round, in which patterns of
 * fewer rounds may have no slot. */
double cs_between_begin_s(const struct cs_between_phase *b, uint32_t round,
			  uint32_t matrix);

/* ---- between_rows.c: what came of a slot, as a row for rank 0 ---- */

/* Nothing, of a node that sends to nobody or of a second look. */
void cs_between_give_missing(struct cs_between_phase *b,
			     const struct cs_between_slot *slot,
			     enum cs_status status, const char *reason);
void cs_between_give_measured(struct cs_between_phase *b,
			      const struct cs_between_slot *slot,
			      const struct cs_pair *pair);
/* The slot ended before a figure was there; `own`: by this node's fault. */
void cs_between_give_ended(struct cs_between_phase *b,
			   const struct cs_between_slot *slot,
			   const struct cs_pair *pair, enum cs_pair_end how, int own);

/* ---- between_slot.c: what this node does in slots ---- */

/* Meet those of the slot's part, without those that were not there before. */
void cs_between_take_slot(struct cs_between_phase *b, struct cs_between_slot *slot);
void cs_between_take_round(struct cs_between_phase *b, uint32_t round);

/* ---- between_looks.c ---- */

/* Suspicious pairs meet once more, with nothing beside them, and rounds as a whole.  All
 * wait until the end of it. */
void cs_between_look_again(struct cs_between_phase *b);
