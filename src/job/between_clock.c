/* between_clock.c - the clock of rank 0, by pings to it, and waiting for it. */
#include "job/between_state.h"

#include <math.h>
#include <sched.h>

#define PINGS 32u
#define NAP_NS 200000

void cs_between_watch(void *ctx)
{
	struct cs_between_phase *b = ctx;

	if (cs_job_watch(b->job))
		b->is_over = 1;
}

void cs_between_nap(struct cs_between_phase *b)
{
	const struct timespec t = { 0, NAP_NS };

	cs_between_watch(b);
	nanosleep(&t, NULL);
}

/* Rank 0: answer pings until then, or until `enough` have come from each. */
static void answer_pings(struct cs_between_phase *b, double end_s, int enough)
{
	size_t left = (size_t)(b->n - 1) * PINGS;
	double watched_s = 0, now_s;
	int from;
	char none;

	while ((now_s = cs_clock_s()) < end_s && !b->is_over && (left || !enough)) {
		if (now_s - watched_s > 0.05) {
			cs_between_watch(b);
			watched_s = now_s;
		}
		if (!b->mover->hear(CS_MOVER_ANY, CS_PING, &none, 1, &from)) {
			sched_yield();
			continue;
		}
		now_s = cs_clock_s();
		b->mover->say(from, CS_PONG, &now_s, sizeof(now_s));
		left -= left > 0;
	}
}

int cs_between_hear_root(struct cs_between_phase *b, int tag, void *data,
			 size_t bytes, double end_s)
{
	double watched_s = cs_clock_s(), now_s;

	while (!b->mover->hear(0, tag, data, bytes, NULL)) {
		now_s = cs_clock_s();
		if (now_s > end_s || b->is_over)
			return -1;
		if (now_s - watched_s > 0.05) {
			cs_between_watch(b);
			watched_s = now_s;
		}
		sched_yield();
	}
	return 0;
}

/* Find rank 0's clock, as far as it answers in time.  An old answer that comes late belongs
 * to no ping, so all that have come before are left out. */
static void ask_clock(struct cs_between_phase *b, double end_s)
{
	struct cs_ping ping[PINGS];
	size_t n = 0;
	double old;

	while (b->mover->hear(0, CS_PONG, &old, sizeof(old), NULL))
		;
	while (n < PINGS) {
		ping[n].left = cs_clock_s();
		if (b->mover->say(0, CS_PING, "", 1) ||
		    cs_between_hear_root(b, CS_PONG, &ping[n].root, sizeof(double),
					 end_s))
			break;
		ping[n++].back = cs_clock_s();
	}
	if (n)
		b->clock = cs_clock_of(ping, n);
}

void cs_between_set_clock(struct cs_between_phase *b, double end_s, int enough)
{
	if (b->me == 0)
		answer_pings(b, end_s, enough);
	else
		ask_clock(b, end_s);
}

double cs_between_own_time(const struct cs_between_phase *b, double root_s)
{
	return root_s - b->clock.ahead_s;
}
