/* pair.c - a slot of one node: greetings, then samples, each a handshake, a window out or in
 * or both, and its check. */
#include "job/pair.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define ANOTHER 1.3 /* times the last sample must be left for one more */
#define SLOT_TAGS 8192u
#define IDLE_S 0.1
#define PAUSE_LEAST_S 50e-6 /* sooner, others are let run and no more */
#define PAUSE_MOST_S 1e-3
#define PROMPT 0.0 /* where a clock runs: on a busy machine to sleep costs a figure much */
#define COUNTING 0.1 /* of a slot, for each reading of counters, at most */

enum what { HELLO, NEXT, READY, ACK, VERDICT, STOP, CARRIED, DECLINE };

#define OUT (1u << CS_NET_OUT)
#define IN (1u << CS_NET_IN)

struct word {
	uint64_t what;
	union {
		uint64_t senders;
		double seconds;
		struct cs_check found;
		struct cs_carried carried;
	};
};
_Static_assert(sizeof(struct word) <= CS_SAY_MOST, "it is a small message");

static int word_tag(const struct cs_pair *p)
{
	return (int)(CS_PAIR_TAGS + p->slot % SLOT_TAGS * 2);
}

static int data_tag(const struct cs_pair *p)
{
	return word_tag(p) + 1;
}

/* ---- words ---- */

static int say_word(const struct cs_pair *p, int rank, const struct word *word)
{
	return p->mover->say(rank, word_tag(p), word, sizeof(*word));
}

static int say(const struct cs_pair *p, int rank, enum what what)
{
	return say_word(p, rank, &(struct word){ .what = what });
}

/* To all that send to this node. */
static int say_senders(const struct cs_pair *p, const struct word *word)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->n_from; i++)
		rc |= say_word(p, p->from[i], word);
	return rc;
}

/* ---- waiting ---- */

void cs_wait_more(struct cs_wait *w)
{
	const double now_s = cs_clock_s();
	double pause_s;

	if (w->since_s == 0)
		w->since_s = now_s;
	pause_s = fmin(w->share * (now_s - w->since_s), PAUSE_MOST_S);
	if (pause_s < PAUSE_LEAST_S)
		sched_yield();
	else
		nanosleep(&(struct timespec){ 0, (long)(1e9 * pause_s) }, NULL);
}

/* A turn of a loop that waits. */
static int waits(struct cs_pair *p, struct cs_wait *wait)
{
	double now_s = cs_clock_s();

	if (now_s > p->wait_s)
		return 0;
	if (now_s - p->idled_s > IDLE_S) {
		p->idle(p->ctx);
		p->idled_s = now_s;
	}
	cs_wait_more(wait);
	return 1;
}

/* Wait for one of two words. */
static int hear(struct cs_pair *p, int rank, enum what a, enum what b,
		struct word *word)
{
	struct cs_wait wait = { p->share, 0 };

	while (!p->mover->hear(rank, word_tag(p), word, sizeof(*word), NULL))
		if (!waits(p, &wait))
			return -1;
	return word->what == a || word->what == b ? 0 : -1;
}

static int hear_one(struct cs_pair *p, int rank, enum what what)
{
	struct word word;

	return hear(p, rank, what, what, &word);
}

/* Wait for all messages that began. */
static int await(struct cs_pair *p)
{
	struct cs_wait wait = { p->share, 0 };
	int rc;

	while (!(rc = p->ends->is->test(p->ends)))
		if (!waits(p, &wait))
			return -1;
	return rc < 0 ? -1 : 0;
}

/* ---- a window ---- */

static int is_checked(const struct cs_pair *p, uint32_t sample)
{
	return p->verify == CS_VERIFY_ALL ||
	       (p->verify == CS_VERIFY_LAST && sample == CS_SLOT_SAMPLES);
}

static uint32_t messages_of(const struct cs_pair *p, uint32_t sample)
{
	return sample ? p->window : p->first;
}

/* Make ready for a window to send, or to receive. */
static int prepare(struct cs_pair *p, unsigned ways, uint32_t sample)
{
	struct cs_ends *ends = p->ends;

	ends->window = (struct cs_window){ .to = p->to,
					   .tag = data_tag(p),
					   .from = p->from,
					   .n_from = p->n_from,
					   .messages = messages_of(p, sample),
					   .bytes = p->message_bytes };
	return ends->is->prepare(ends, ways, (ways & IN) && is_checked(p, sample)) ||
			       await(p) ?
		     -1 :
		     0;
}

/* Send each sender the result of the check of its messages. */
static int judge(struct cs_pair *p, uint32_t sample)
{
	struct cs_ends *ends = p->ends;

	for (uint32_t i = 0; i < p->n_from; i++) {
		struct word word = { .what = VERDICT, .found.first_word = UINT64_MAX };

		ends->found = word.found;
		if (is_checked(p, sample) &&
		    (ends->is->check(ends, i, p->from_key[i]) || await(p)))
			return -1;
		word.found = ends->found;
		if (say_word(p, p->from[i], &word))
			return -1;
	}
	return 0;
}

static int hear_verdict(struct cs_pair *p, uint32_t sample)
{
	struct word word;

	if (hear(p, p->to, VERDICT, VERDICT, &word))
		return -1;
	p->checked += is_checked(p, sample) != 0;
	if (word.found.wrong_words)
		cs_check_add(&p->found, &word.found, 0);
	return 0;
}

/* ---- a sample ---- */

/* All windows that go out or come in at the same time.  1: another sender has no time. */
static int move(struct cs_pair *p, unsigned ways, uint32_t sample, double *took)
{
	struct cs_ends *ends = p->ends;
	struct word word;
	double began_s;

	if (prepare(p, ways, sample))
		return -1;
	if ((ways & IN) &&
	    (ends->is->receive(ends) ||
	     say_senders(p, &(struct word){ .what = READY, .senders = p->n_from })))
		return -1;
	p->share = PROMPT;
	if (ways & OUT) {
		if (hear(p, p->to, READY, STOP, &word))
			return -1;
		if (word.what == STOP)
			return 1;
		p->senders = (uint32_t)word.senders;
	}
	began_s = cs_clock_s();
	if (((ways & OUT) && ends->is->send(ends)) || await(p))
		return -1;
	word = (struct word){ .what = ACK, .seconds = cs_clock_s() - began_s };
	if (((ways & IN) && say_senders(p, &word)) ||
	    ((ways & OUT) && hear(p, p->to, ACK, ACK, &word)))
		return -1;
	*took = p->test->pattern == CS_PATTERN_INCAST ? word.seconds :
							cs_clock_s() - began_s;
	p->share = CS_RELAXED;
	if ((ways & IN) && judge(p, sample))
		return -1;
	return ways & OUT ? hear_verdict(p, sample) : 0;
}

/* The bytes that are there and back again stay in the file: a slot that is given up leaves
 * MPI with them. */
static char ball[2][16];

static int ping(struct cs_pair *p, uint32_t sample, double *took)
{
	double began_s;
	uint32_t wrong = 0;

	if (hear_one(p, p->to, READY))
		return -1;
	p->share = PROMPT;
	began_s = cs_clock_s();
	for (uint32_t i = 0; i < CS_EXCHANGES; i++) {
		memset(ball[0], (int)(i + 1), sizeof(ball[0]));
		if (p->mover->receive(p->to, data_tag(p), ball[1], sizeof(ball[1]),
				      NULL) ||
		    p->mover->send(p->to, data_tag(p), ball[0], sizeof(ball[0]), NULL) ||
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
	if (say(p, p->to, READY))
		return -1;
	p->share = PROMPT;
	for (uint32_t i = 0; i < CS_EXCHANGES; i++)
		if (p->mover->receive(p->to, data_tag(p), ball[0], sizeof(ball[0]),
				      NULL) ||
		    await(p) ||
		    p->mover->send(p->to, data_tag(p), ball[0], sizeof(ball[0]), NULL) ||
		    await(p))
			return -1;
	return 0;
}

static int take_one(struct cs_pair *p, unsigned ways, uint32_t sample, double *took)
{
	int rc = p->test->op != CS_OP_PINGPONG ? move(p, ways, sample, took) :
		 ways & OUT		       ? ping(p, sample, took) :
						 pong(p);

	p->share = CS_RELAXED;
	return rc;
}

/* ---- the devices that carried them ---- */

/* The counters now; of ping-pongs none: they are too few bytes. */
static int count(struct cs_pair *p, struct cs_nics_bytes *now)
{
	struct cs_wait wait = { CS_RELAXED, 0 };

	now->n = 0;
	if (p->test->op == CS_OP_PINGPONG)
		return 0;
	cs_nics_ask(p->nics, p->count_s);
	while (!cs_nics_take(p->nics, now))
		if (!waits(p, &wait))
			return -1;
	return 0;
}

/* A sender is told by which devices its messages came in: so many from each, of which it
 * sent `sent`. */
static int prove(struct cs_pair *p, unsigned ways, const struct cs_nics_bytes *before,
		 uint32_t sent, uint32_t received)
{
	struct word own = { .what = CARRIED }, other;
	struct cs_nics_bytes after;

	if (p->test->op == CS_OP_PINGPONG)
		return 0;
	if (count(p, &after))
		return -1;
	cs_nics_carried(before, &after, CS_NIC_IN,
			p->n_from * received * p->message_bytes, &own.carried);
	if ((ways & IN) && say_senders(p, &own))
		return -1;
	if (!(ways & OUT))
		return 0;
	if (hear(p, p->to, CARRIED, CARRIED, &other))
		return -1;
	cs_nics_carried(before, &after, CS_NIC_OUT, sent * p->message_bytes,
			&p->carried[0]);
	p->carried[1] = other.carried;
	return 0;
}

/* Do all senders have time for one more sample?  If not all have, the others learn it. */
static int all_offer(struct cs_pair *p, int *offer)
{
	struct word word[CS_INCAST_MOST];

	*offer = 1;
	for (uint32_t i = 0; i < p->n_from; i++) {
		if (hear(p, p->from[i], NEXT, STOP, &word[i]))
			return -1;
		*offer &= word[i].what == NEXT;
	}
	for (uint32_t i = 0; i < p->n_from && !*offer; i++)
		if (word[i].what == NEXT)
			say(p, p->from[i], STOP);
	return 0;
}

/* Samples of those ways at the same time, until there are enough, or no further one would
 * end in time.  What comes after one way has ended does not count. */
static int take_samples(struct cs_pair *p, unsigned ways, double until_s)
{
	struct cs_nics_bytes before;
	unsigned going = ways;
	uint32_t sent = 0, received = 0;
	const uint32_t most = p->is_trial ? 2 : CS_SLOT_SAMPLES + 1;
	double began_s = 0, took_s = 0, took = NAN;
	int rc, offer;

	if (!ways)
		return 0;
	if (count(p, &before))
		return -1;
	for (uint32_t i = 0;; i++) {
		began_s = cs_clock_s();
		if (going & OUT) {
			offer = going == ways && i < most &&
				(!i || began_s + ANOTHER * took_s <= until_s);
			if (say(p, p->to, offer ? NEXT : STOP))
				return -1;
			going &= offer ? ~0u : ~OUT;
		}
		if (going & IN) {
			if (i > CS_SLOT_SAMPLES + 1 || all_offer(p, &offer))
				return -1;
			going &= offer ? ~0u : ~IN;
		}
		rc = going ? take_one(p, going, i, &took) : 0;
		if (rc < 0)
			return -1;
		going &= rc ? ~OUT : ~0u;
		if (!going)
			break;
		sent += going & OUT ? messages_of(p, i) : 0;
		received += going & IN ? messages_of(p, i) : 0;
		if ((going & OUT) && going == ways) {
			p->sample[i] = took;
			p->n = i + 1;
		}
		took_s = (cs_clock_s() - began_s) * p->window / messages_of(p, i);
		if (going & OUT)
			p->took_s = took_s;
	}
	p->whole |= (ways & OUT) != 0;
	return prove(p, ways, &before, sent, received);
}

/* ---- a slot ---- */

static enum cs_pair_end greeting(struct cs_pair *p, int rank)
{
	struct word word;

	if (hear(p, rank, HELLO, DECLINE, &word))
		return CS_PAIR_ABSENT;
	return word.what == DECLINE ? CS_PAIR_DECLINED : CS_PAIR_DONE;
}

/* All whom a node meets: first the one that it sends to. */
static uint32_t others(const struct cs_pair *p, int *rank)
{
	uint32_t n = 0;

	if (p->to >= 0)
		rank[n++] = p->to;
	for (uint32_t i = 0; i < p->n_from; i++)
		if (p->from[i] != p->to)
			rank[n++] = p->from[i];
	return n;
}

static void say_others(const struct cs_pair *p, enum what what)
{
	int rank[CS_INCAST_MOST + 1];
	const uint32_t n = others(p, rank);

	for (uint32_t i = 0; i < n; i++)
		say(p, rank[i], what);
}

static void drop_sender(struct cs_pair *p, uint32_t i)
{
	p->n_from--;
	for (; i < p->n_from; i++) {
		p->from[i] = p->from[i + 1];
		p->from_key[i] = p->from_key[i + 1];
	}
}

/* Those that do not greet are left out; one of several is not waited for as long as the
 * slot takes. */
static enum cs_pair_end greet(struct cs_pair *p)
{
	int rank[CS_INCAST_MOST + 1];
	enum cs_pair_end how = CS_PAIR_DONE, of;

	p->wait_s = others(p, rank) > 1 ? p->half_s : p->end_s;
	say_others(p, HELLO);
	if (p->to >= 0)
		how = greeting(p, p->to);
	for (uint32_t i = p->n_from; i-- > 0;) {
		of = p->from[i] == p->to ? how : greeting(p, p->from[i]);
		if (of != CS_PAIR_DONE)
			drop_sender(p, i);
	}
	p->wait_s = p->end_s;
	return how;
}

void cs_pair_decline(const struct cs_pair *p)
{
	say_others(p, DECLINE);
}

/* One way: the first node sends until half of the slot is over, then the other. */
static int take_all(struct cs_pair *p, unsigned ways)
{
	const enum cs_pattern pattern = p->test->pattern;

	if (pattern != CS_PATTERN_PAIR && pattern != CS_PATTERN_BISECT &&
	    pattern != CS_PATTERN_RAILS)
		return take_samples(p, ways, p->end_s);
	return p->sends_first ? take_samples(p, ways & OUT, p->half_s) ||
					take_samples(p, ways & IN, p->end_s) :
				take_samples(p, ways & IN, p->half_s) ||
					take_samples(p, ways & OUT, p->end_s);
}

enum cs_pair_end cs_pair_meet(struct cs_pair *p)
{
	enum cs_pair_end how;
	unsigned ways;

	p->n = p->checked = 0;
	p->whole = 0;
	p->senders = 1;
	p->count_s = COUNTING * (p->end_s - cs_clock_s());
	p->share = CS_RELAXED;
	p->found = (struct cs_check){ .first_word = UINT64_MAX };
	p->carried[0] = p->carried[1] = (struct cs_carried){ "", NAN };
	p->memory_is_lost = 0;
	how = greet(p);
	ways = (p->to >= 0 && how == CS_PAIR_DONE ? OUT : 0) | (p->n_from ? IN : 0);
	if (take_all(p, ways)) {
		how = how == CS_PAIR_DONE ? CS_PAIR_STUCK : how;
		p->memory_is_lost = p->ends->is->abandon(p->ends);
	}
	return how;
}

double cs_pair_check_s(const struct cs_pair *p)
{
	struct cs_ends *ends = p->ends;
	double began_s = cs_clock_s(), poison_s;

	if (p->verify == CS_VERIFY_OFF)
		return 0;
	ends->window = (struct cs_window){ .n_from = 1,
					   .messages = p->window,
					   .bytes = p->message_bytes };
	ends->is->prepare(ends, IN, 1);
	poison_s = cs_clock_s() - began_s;
	/* wrong words take much longer to check than those that are there */
	memcpy(ends->dst, ends->src, ends->bytes);
	began_s = cs_clock_s();
	ends->is->check(ends, 0, ends->key);
	return (poison_s + cs_clock_s() - began_s) / p->window;
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

	p->window = p->first = CS_TRIAL_MESSAGES;
	p->wait_s = p->end_s;
	p->share = CS_RELAXED;
	p->memory_is_lost = 0;
	rc = greet(p) != CS_PAIR_DONE;
	trial->late_s = cs_clock_s() - begin_s;
	for (int i = 0; i < 4 && !rc; i++) {
		p->test = i < 2 ? pingpong : pair;
		rc = p->sends_first ?
			     say(p, p->to, NEXT) || take_one(p, OUT, 0, &took) :
			     hear_one(p, p->to, NEXT) || take_one(p, IN, 0, &took);
		if (i == 1)
			trial->trip_s = took;
	}
	if (rc)
		p->memory_is_lost = p->ends->is->abandon(p->ends);
	/* a follower has no time: rank 0 takes the leaders' */
	trial->message_s = rc || !p->sends_first ? NAN : took / CS_TRIAL_MESSAGES;
}
