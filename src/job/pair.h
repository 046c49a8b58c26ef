/* pair.h - a pair of nodes in one time slot: they greet each other and take samples of
 * one test, and each receives the result of the other's check of its messages.
 *
 *	leader              follower          in one way the sender leads
 *	  NEXT  ─────────▶    poisons, posts all receives
 *	  ◀─────────  READY
 *	  starts its clock, sends its window (both ways: so does the follower)
 *	  ◀───────────  ACK   everything is here
 *	  stops it
 *	  ◀───────  VERDICT   what the follower found in every byte
 *	  STOP  ─────────▶    after the last sample, or when no further one would fit
 *	  CARRIED  ◀─────▶    by which of their NICs each received, except of ping-pongs */
#pragma once

#include "base/fill.h"
#include "catalogue/catalogue.h"
#include "job/ends.h"
#include "job/nics.h"
#include "plan/rounds.h"

#define CS_WINDOW_MOST 512u /* messages of a sample */
#define CS_TRIAL_MESSAGES 4u
#define CS_EXCHANGES 32u    /* of a sample of ping-pongs */

/* How a slot ended for a pair.  ABSENT: the other did not greet; DECLINED: it said that it
 * takes no part; STUCK: it greeted, and a sample did not end. */
enum cs_pair_end { CS_PAIR_DONE, CS_PAIR_ABSENT, CS_PAIR_DECLINED, CS_PAIR_STUCK };

struct cs_pair {
	const struct cs_mover *mover;
	struct cs_ends *ends;
	const struct cs_test *test;
	struct cs_nics *nics; /* NULL: nothing is counted */
	int peer, first;      /* the other's rank; does this node begin? */
	uint32_t slot;	      /* of the phase, by which messages differ */
	/* of the slot, on this node's clock: until half_s the first node may begin
	 * samples one way; nothing is waited for after end_s */
	double half_s, end_s;
	uint32_t window, verify; /* messages of a sample */
	uint64_t message_bytes;
	uint64_t peer_key;	 /* of what the other sends */
	void (*idle)(void *ctx); /* called now and then in long waits */
	void *ctx;
	double idled_s, count_s;
	int memory_is_lost; /* out: MPI may still use the ends */

	/* out: the errors in the messages that this node sent */
	int whole;
	double sample[CS_SLOT_SAMPLES + 1];
	uint32_t n;	       /* of all, the first that opened connections too */
	uint32_t checked;      /* of these */
	struct cs_check found; /* in all */
	/* all that this node sent, on its own devices and on the other's */
	struct cs_carried carried[2];
};

enum cs_pair_end cs_pair_meet(struct cs_pair *pair);
/* Tell the other that this node takes no part in the slot. */
void cs_pair_decline(const struct cs_pair *pair);
/* A trial instead of a test, with its results in `trial`. */
void cs_pair_try(struct cs_pair *pair, struct cs_trial *trial);
