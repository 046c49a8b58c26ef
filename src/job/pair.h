/* pair.h - a node in one time slot: it meets the other of its pair, or in a pattern the node
 * that it sends to and those that it receives from, and takes samples of one test.  Each
 * sender receives the result of the check of its messages.
 *
 *	sender              receiver
 *	  NEXT  ─────────▶    poisons, posts all receives
 *	  ◀─────────  READY   (STOP: another of its senders has no time for a sample)
 *	  starts its clock, sends its window
 *	  ◀───────────  ACK   everything is here, from all that send to it, and how long
 *	                      that took since READY
 *	  stops it; of incast it takes the receiver's time
 *	  ◀───────  VERDICT   what the receiver found in every byte
 *	  STOP  ─────────▶    after the last sample, or when no further one would fit
 *	  ◀───────  CARRIED   by which of its NICs it received, except of ping-pongs
 *
 * Where a node sends and receives at the same time it takes each step for both ways: the
 * clock stops when its window is acknowledged and those of others have come. */
#pragma once

#include "base/fill.h"
#include "catalogue/catalogue.h"
#include "job/ends.h"
#include "job/nics.h"
#include "plan/rounds.h"

#define CS_WINDOW_MOST 512u /* messages of a sample */
#define CS_TRIAL_MESSAGES 4u
#define CS_EXCHANGES 32u    /* of a sample of ping-pongs */

/* A loop that waits: it lets others run, then sleeps, for no more than this share of the time
 * that it has waited.  since_s is 0 when it begins. */
struct cs_wait {
	double share, since_s;
};
#define CS_RELAXED 0.1
void cs_wait_more(struct cs_wait *wait);

#define CS_PAIR_TAGS 8 /* pairs use the tags of messages from this one on */

/* How a slot ended for a node.  ABSENT: the one that it sends to did not greet; DECLINED:
 * that said that it takes no part; STUCK: a sample did not end. */
enum cs_pair_end { CS_PAIR_DONE, CS_PAIR_ABSENT, CS_PAIR_DECLINED, CS_PAIR_STUCK };

struct cs_pair {
	const struct cs_mover *mover;
	struct cs_ends *ends;
	const struct cs_test *test;
	struct cs_nics *nics; /* NULL: nothing is counted */
	/* ranks; -1: it sends to nobody.  Of a pair the other is both */
	int to, from[CS_INCAST_MOST];
	uint32_t n_from;
	int sends_first; /* one way after the other: does this node begin? */
	uint32_t slot;	 /* of the phase, by which messages differ */
	/* of the slot, on this node's clock: until half_s the first node may begin
	 * samples one way; nothing is waited for after end_s */
	double half_s, end_s;
	int is_trial; /* of a kind of memory: two samples each way */
	/* messages of a sample, from each sender; of the first, which opens connections */
	uint32_t window, first, verify;
	uint64_t message_bytes;
	uint64_t from_key[CS_INCAST_MOST]; /* of what each sends */
	void (*idle)(void *ctx);	   /* called now and then in long waits */
	void *ctx;
	double wait_s, idled_s, count_s, share; /* of struct cs_wait */
	int memory_is_lost;			/* out: MPI may still use the ends */

	/* out: the errors in the messages that this node sent */
	int whole;
	double sample[CS_SLOT_SAMPLES + 1];
	double took_s;	       /* the last one, with its check */
	uint32_t n;	       /* of all, the first too */
	uint32_t checked;      /* of these */
	uint32_t senders;      /* to the same node, this one too */
	struct cs_check found; /* in all */
	/* all that this node sent, on its own devices and on the other's */
	struct cs_carried carried[2];
};

enum cs_pair_end cs_pair_meet(struct cs_pair *pair);
/* Tell the others that this node takes no part in the slot. */
void cs_pair_decline(const struct cs_pair *pair);
/* The time to poison and check one of a window of messages, without a network. */
double cs_pair_check_s(const struct cs_pair *pair);
/* A trial instead of a test, with its other results in `trial`. */
void cs_pair_try(struct cs_pair *pair, struct cs_trial *trial);
