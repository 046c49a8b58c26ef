/* between_clock.c - the clock of rank 0, by pings to it, and waiting for it. */
#include "job/between_state.h"

#include <math.h>

#define NAP_S 1e-3
#define WATCH_S 0.05

void cs_between_watch(void *ctx)
{
	struct cs_between_phase *b = ctx;

	if (cs_job_watch(b->job))
		b->is_over = 1;
}

/* For no longer than until then. */
static void nap(struct cs_between_phase *b, double until_s)
{
	double s;

	cs_between_watch(b);
	s = fmin(NAP_S, until_s - cs_clock_s());
	if (s > 0)
		nanosleep(&(struct timespec){ 0, (long)(1e9 * s) }, NULL);
}

void cs_between_nap(struct cs_between_phase *b)
{
	nap(b, INFINITY);
}

void cs_between_sleep(struct cs_between_phase *b, double until_s)
{
	while (cs_clock_s() < until_s && !b->is_over)
		nap(b, until_s);
}

/* Take a message, or wait a little more for it. */
static int hear(struct cs_between_phase *b, int rank, int tag, void *data,
		size_t bytes, int *from, struct cs_wait *wait)
{
	const double now_s = cs_clock_s();

	if (b->mover->hear(rank, tag, data, bytes, from))
		return 1;
	if (now_s - b->watched_s > WATCH_S) {
		cs_between_watch(b);
		b->watched_s = now_s;
	}
	cs_wait_more(wait);
	return 0;
}

int cs_between_hear_root(struct cs_between_phase *b, int tag, void *data,
			 size_t bytes, double end_s)
{
	struct cs_wait wait = { CS_RELAXED, 0 };

	while (!hear(b, 0, tag, data, bytes, NULL, &wait))
		if (cs_clock_s() > end_s || b->is_over)
			return -1;
	return 0;
}

/* The answer to a ping: when that left, and rank 0's time. */
struct pong {
	double left, root;
};

/* Rank 0: answer pings until then, or until all have come. */
static void answer_pings(struct cs_between_phase *b, double end_s)
{
	size_t left = (size_t)(b->n - 1) * CS_PINGS;
	struct cs_wait wait = { CS_RELAXED, 0 };
	struct pong pong;
	int from;

	while (cs_clock_s() < end_s && !b->is_over && left) {
		if (!hear(b, CS_MOVER_ANY, CS_PING, &pong.left, sizeof(pong.left),
			  &from, &wait))
			continue;
		pong.root = cs_clock_s();
		b->mover->say(from, CS_PONG, &pong, sizeof(pong));
		wait.since_s = 0;
		left--;
	}
}

/* Find rank 0's clock, as far as it answers in time.  An answer to a ping of before that
 * comes late is no answer. */
static void ask_clock(struct cs_between_phase *b, double end_s)
{
	struct cs_ping ping[CS_PINGS];
	struct pong pong = { 0, 0 };
	size_t n = 0;

	for (; n < CS_PINGS; n++) {
		ping[n].left = cs_clock_s();
		if (b->mover->say(0, CS_PING, &ping[n].left, sizeof(double)))
			break;
		do {
			if (cs_between_hear_root(b, CS_PONG, &pong, sizeof(pong),
						 end_s))
				break;
		} while (pong.left < ping[n].left);
		if (pong.left < ping[n].left)
			break;
		ping[n].root = pong.root;
		ping[n].back = cs_clock_s();
	}
	if (n)
		b->clock = cs_clock_of(ping, n);
}

void cs_between_set_clock(struct cs_between_phase *b, double end_s)
{
	if (b->me == 0)
		answer_pings(b, end_s);
	else
		ask_clock(b, end_s);
}

double cs_between_own_time(const struct cs_between_phase *b, double root_s)
{
	return root_s - b->clock.ahead_s;
}
