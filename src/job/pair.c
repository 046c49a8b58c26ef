#include "job/pair.h"

#include <math.h>
#include <sched.h>
#include <string.h>

#define ANOTHER 1.3 /* times the last sample must be left for one more */
#define SLOT_TAGS 8192u
#define IDLE_S 0.1
#define COUNTING 0.1 /* of a slot, for each reading of counters, at most */

enum what { HELLO, NEXT, READY, ACK, VERDICT, STOP, CARRIED, DECLINE };

#define OUT (1u << CS_NET_OUT)
#define IN (1u << CS_NET_IN)

struct word {
	uint64_t what;
	union {
		struct cs_check found;
		struct cs_carried carried;
	};
};
_Static_assert(sizeof(struct word) <= CS_SAY_MOST, "it is a small message");

static int word_tag(const struct cs_pair *p)
{
	return (int)(8 + p->slot % SLOT_TAGS * 2);
}

static int data_tag(const struct cs_pair *p)
{
	return word_tag(p) + 1;
}

/* ---- words ---- */

static int say_word(const struct cs_pair *p, const struct word *word)
{
	return p->mover->say(p->peer, word_tag(p), word, sizeof(*word));
}

static int say(const struct cs_pair *p, enum what what)
{
	return say_word(p, &(struct word){ .what = what });
}

/* A turn of a loop that waits. */
static int waits(struct cs_pair *p)
{
	double now_s = cs_clock_s();

	if (now_s > p->end_s)
		return 0;
	if (now_s - p->idled_s > IDLE_S) {
		p->idle(p->ctx);
		p->idled_s = now_s;
	}
	sched_yield();
	return 1;
}

/* Wait for one of two words. */
static int hear(struct cs_pair *p, enum what a, enum what b, struct word *word)
{
	while (!p->mover->hear(p->peer, word_tag(p), word, sizeof(*word), NULL))
		if (!waits(p))
			return -1;
	return word->what == a || word->what == b ? 0 : -1;
}

static int hear_one(struct cs_pair *p, enum what what)
{
	struct word word;

	return hear(p, what, what, &word);
}

/* Wait for all messages that began. */
static int await(struct cs_pair *p)
{
	int rc;

	while (!(rc = p->ends->is->test(p->ends)))
		if (!waits(p))
			return -1;
	return rc < 0 ? -1 : 0;
}

/* ---- a window ---- */

static int is_checked(const struct cs_pair *p, uint32_t sample)
{
	return p->verify == CS_VERIFY_ALL ||
	       (p->verify == CS_VERIFY_LAST && sample == CS_SLOT_SAMPLES);
}

/* Make ready for a window to send, or to receive. */
static int prepare(struct cs_pair *p, unsigned ways, uint32_t sample)
{
	struct cs_ends *ends = p->ends;

	ends->window = (struct cs_window){ p->peer, data_tag(p), p->window,
					   p->message_bytes };
	return ends->is->prepare(ends, ways, (ways & IN) && is_checked(p, sample)) ||
			       await(p) ?
		     -1 :
		     0;
}

static int post_window(struct cs_pair *p, unsigned ways, uint32_t sample)
{
	return prepare(p, ways, sample) ? -1 : p->ends->is->receive(p->ends);
}

/* Send the other the result of the check of its messages. */
static int judge(struct cs_pair *p, uint32_t sample)
{
	struct word word = { .what = VERDICT, .found.first_word = UINT64_MAX };
	struct cs_ends *ends = p->ends;

	ends->found = word.found;
	if (is_checked(p, sample) && (ends->is->check(ends, p->peer_key) || await(p)))
		return -1;
	word.found = ends->found;
	return say_word(p, &word);
}

static int hear_verdict(struct cs_pair *p, uint32_t sample)
{
	struct word word;

	if (hear(p, VERDICT, VERDICT, &word))
		return -1;
	p->checked += is_checked(p, sample) != 0;
	if (word.found.wrong_words)
		cs_check_add(&p->found, &word.found, 0);
	return 0;
}

/* ---- a sample, of the leader and of the follower ---- */

static int send_one(struct cs_pair *p, uint32_t sample, double *took)
{
	double began_s;

	if (prepare(p, OUT, sample) || hear_one(p, READY))
		return -1;
	began_s = cs_clock_s();
	if (p->ends->is->send(p->ends) || await(p) || hear_one(p, ACK))
		return -1;
	*took = cs_clock_s() - began_s;
	return hear_verdict(p, sample);
}

static int receive_one(struct cs_pair *p, uint32_t sample)
{
	return post_window(p, IN, sample) || say(p, READY) || await(p) || say(p, ACK) ?
		     -1 :
		     judge(p, sample);
}

/* Both ways, after both have posted their receives. */
static int exchange(struct cs_pair *p, uint32_t sample, double *took)
{
	double began_s = cs_clock_s();

	if (p->ends->is->send(p->ends) || await(p) || say(p, ACK) || hear_one(p, ACK))
		return -1;
	*took = cs_clock_s() - began_s;
	return judge(p, sample) ? -1 : hear_verdict(p, sample);
}

/* The bytes that are there and back again stay in the file: a slot that is given up leaves
 * MPI with them. */
static char ball[2][16];

static int ping(struct cs_pair *p, uint32_t sample, double *took)
{
	double began_s;
	uint32_t wrong = 0;

	if (hear_one(p, READY))
		return -1;
	began_s = cs_clock_s();
	for (uint32_t i = 0; i < CS_EXCHANGES; i++) {
		memset(ball[0], (int)(i + 1), sizeof(ball[0]));
		if (p->mover->receive(p->peer, data_tag(p), ball[1], sizeof(ball[1]),
				      NULL) ||
		    p->mover->send(p->peer, data_tag(p), ball[0], sizeof(ball[0]),
				   NULL) ||
		    await(p))
			return -1;
		for (size_t k = 0; k < sizeof(ball[1]); k++)
			wrong += ball[1][k] != ball[0][k];
	}
	*took = (cs_clock_s() - began_s) / CS_EXCHANGES;
	if (is_checked(p, sample)) {
		p->checked++;
		p->found.wrong_bytes += wrong;
		p->found.wrong_words += wrong != 0;
	}
	return 0;
}

static int pong(struct cs_pair *p)
{
	if (say(p, READY))
		return -1;
	for (uint32_t i = 0; i < CS_EXCHANGES; i++)
		if (p->mover->receive(p->peer, data_tag(p), ball[0], sizeof(ball[0]),
				      NULL) ||
		    await(p) ||
		    p->mover->send(p->peer, data_tag(p), ball[0], sizeof(ball[0]),
				   NULL) ||
		    await(p))
			return -1;
	return 0;
}

static int lead_one(struct cs_pair *p, uint32_t sample, double *took)
{
	int both = p->test->pattern == CS_PATTERN_BIDI;

	if (both && post_window(p, OUT | IN, sample))
		return -1;
	if (say(p, NEXT))
		return -1;
	if (p->test->op == CS_OP_PINGPONG)
		return ping(p, sample, took);
	if (!both)
		return send_one(p, sample, took);
	return hear_one(p, READY) ? -1 : exchange(p, sample, took);
}

static int follow_one(struct cs_pair *p, uint32_t sample, double *took)
{
	if (p->test->op == CS_OP_PINGPONG)
		return pong(p);
	if (p->test->pattern != CS_PATTERN_BIDI)
		return receive_one(p, sample);
	return post_window(p, OUT | IN, sample) || say(p, READY) ?
		     -1 :
		     exchange(p, sample, took);
}

/* ---- the devices that carried them ---- */

/* The counters now; of ping-pongs none: they are too few bytes. */
static int count(struct cs_pair *p, struct cs_nics_bytes *now)
{
	now->n = 0;
	if (p->test->op == CS_OP_PINGPONG)
		return 0;
	cs_nics_ask(p->nics, p->count_s);
	while (!cs_nics_take(p->nics, now))
		if (!waits(p))
			return -1;
	return 0;
}

/* Both tell each other on which devices they received, one way the sender in vain. */
static int prove(struct cs_pair *p, const struct cs_nics_bytes *before,
		 uint32_t samples, int sends)
{
	const uint64_t sent = (uint64_t)samples * p->window * p->message_bytes;
	struct word own = { .what = CARRIED }, other;
	struct cs_nics_bytes after;

	if (p->test->op == CS_OP_PINGPONG)
		return 0;
	if (count(p, &after))
		return -1;
	cs_nics_carried(before, &after, CS_NIC_IN, sent, &own.carried);
	if (say_word(p, &own) || hear(p, CARRIED, CARRIED, &other))
		return -1;
	if (sends) {
		cs_nics_carried(before, &after, CS_NIC_OUT, sent, &p->carried[0]);
		p->carried[1] = other.carried;
	}
	return 0;
}

/* Samples until there are enough, or no further one would end in time. */
static int lead(struct cs_pair *p, double until_s)
{
	struct cs_nics_bytes before;
	double began_s, took_s = 0;

	if (count(p, &before))
		return -1;
	for (uint32_t i = 0; i <= CS_SLOT_SAMPLES; i++) {
		began_s = cs_clock_s();
		if (i && began_s + ANOTHER * took_s > until_s)
			break;
		if (lead_one(p, i, &p->sample[i]))
			return -1;
		p->n = i + 1;
		took_s = cs_clock_s() - began_s;
	}
	p->whole = 1;
	return say(p, STOP) || prove(p, &before, p->n, 1) ? -1 : 0;
}

static int follow(struct cs_pair *p)
{
	const int both = p->test->pattern == CS_PATTERN_BIDI;
	struct cs_nics_bytes before;
	struct word word;
	double took = NAN;

	if (count(p, &before))
		return -1;
	for (uint32_t i = 0;; i++) {
		if (hear(p, NEXT, STOP, &word))
			return -1;
		if (word.what == STOP) {
			p->whole |= both;
			return prove(p, &before, i, both);
		}
		if (i > CS_SLOT_SAMPLES || follow_one(p, i, &took))
			return -1;
		if (!both)
			continue;
		p->sample[i] = took;
		p->n = i + 1;
	}
}

/* ---- a slot ---- */

static enum cs_pair_end greet(struct cs_pair *p)
{
	struct word word;

	if (say(p, HELLO) || hear(p, HELLO, DECLINE, &word))
		return CS_PAIR_ABSENT;
	return word.what == DECLINE ? CS_PAIR_DECLINED : CS_PAIR_DONE;
}

void cs_pair_decline(const struct cs_pair *p)
{
	say(p, DECLINE);
}

/* One way: the first node sends until half of the slot is over, then the other. */
static int take_samples(struct cs_pair *p)
{
	if (p->test->pattern == CS_PATTERN_BIDI)
		return p->first ? lead(p, p->end_s) : follow(p);
	return p->first ? lead(p, p->half_s) || follow(p) :
			  follow(p) || lead(p, p->end_s);
}

static enum cs_pair_end ended(struct cs_pair *p, enum cs_pair_end how)
{
	if (how != CS_PAIR_DONE)
		p->memory_is_lost = p->ends->is->abandon(p->ends);
	return how;
}

enum cs_pair_end cs_pair_meet(struct cs_pair *p)
{
	enum cs_pair_end how;

	p->n = p->checked = 0;
	p->whole = 0;
	p->count_s = COUNTING * (p->end_s - cs_clock_s());
	p->found = (struct cs_check){ .first_word = UINT64_MAX };
	p->carried[0] = p->carried[1] = (struct cs_carried){ "", NAN };
	p->memory_is_lost = 0;
	how = greet(p);
	if (how == CS_PAIR_DONE && take_samples(p))
		how = CS_PAIR_STUCK;
	return ended(p, how);
}

/* The time to poison and check one message, without a network. */
static double check_s(struct cs_pair *p)
{
	double began_s = cs_clock_s();

	if (prepare(p, IN, CS_SLOT_SAMPLES) ||
	    p->ends->is->check(p->ends, p->peer_key))
		return 0;
	return (cs_clock_s() - began_s) / p->window;
}

void cs_pair_try(struct cs_pair *p, struct cs_trial *trial)
{
	const struct cs_test *pingpong =
		cs_test_at(cs_test_index("nethost.mpi.pingpong.pair"));
	const struct cs_test *pair =
		cs_test_at(cs_test_index("nethost.mpi.pinned.pair"));
	const double begin_s = cs_clock_s();
	double took = NAN;
	int rc;

	*trial = (struct cs_trial){ NAN, NAN, 0, NAN };
	p->window = CS_TRIAL_MESSAGES;
	if (p->verify != CS_VERIFY_OFF)
		trial->check_s = check_s(p);
	p->memory_is_lost = 0;
	rc = greet(p) != CS_PAIR_DONE;
	trial->late_s = cs_clock_s() - begin_s;
	for (int i = 0; i < 4 && !rc; i++) {
		struct word word;

		p->test = i < 2 ? pingpong : pair;
		if (p->first)
			rc = lead_one(p, 0, &took);
		else
			rc = hear(p, NEXT, NEXT, &word) || follow_one(p, 0, &took);
		if (i == 1)
			trial->trip_s = took;
	}
	ended(p, rc ? CS_PAIR_STUCK : CS_PAIR_DONE);
	/* a follower has no time: rank 0 takes the leaders' */
	trial->message_s = rc || !p->first ? NAN : took / CS_TRIAL_MESSAGES;
}
