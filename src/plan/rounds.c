#include "plan/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/statistics.h"

#define SAMPLE_S 10e-3	 /* a sample at least, … */
#define WINDOW_LEAST 4.0 /* messages, or a slow network shows the start of each */
#define SAMPLE_TRIPS 200 /* … whose start and end then take half a per cent, … */
#define TRIPS_MOST_S 50e-3 /* … unless CPUs are so busy */
#define LATE_LEAST_S 0.02
#define LATE_MOST_S 1.0
#define LATE_TIMES 4.0	/* the latest of a trial */
#define ROOM 1.3	/* times the intended length of samples */
#define PING_S 10e-6	/* rank 0 answers one */
#define FIRST 0.25	/* of a window: the first sample of a slot */
#define SLOW_MOST 8.0	/* a pair that needs more than that many medians has fewer samples */
#define GPU_TIMES 2.0	/* the time of a sample in host memory, of one in a GPU's not known */
#define TRUNK_TIMES 4.0 /* that of a pair, where all go the same way */
#define SLOT_MOST_S 5.0 /* of a slow network: fewer samples */

void cs_round_pair(uint32_t places, uint32_t round, uint32_t k, uint32_t *a,
		   uint32_t *b)
{
	uint32_t wheel = places - 1;

	*a = k ? (round + k) % wheel : wheel;
	*b = k ? (round + wheel - k) % wheel : round;
}

int64_t cs_round_partner(uint32_t nodes, uint32_t round, uint32_t node)
{
	uint32_t wheel = nodes + nodes % 2 - 1, partner;

	if (node == wheel)
		partner = round;
	else if (node == round)
		partner = wheel;
	else
		partner = (2 * round + wheel - node) % wheel;
	return partner < nodes ? (int64_t)partner : -1;
}

uint32_t cs_rounds_of(uint32_t nodes)
{
	return nodes < 2 ? 0 : nodes + nodes % 2 - 1;
}

uint32_t cs_rounds_count(uint32_t asked, uint32_t nodes)
{
	uint32_t all = cs_rounds_of(nodes);

	if (asked == CS_ROUNDS_AUTO)
		asked = nodes <= CS_ROUNDS_WHOLE ? all : CS_ROUNDS_DRAWN;
	return asked < all ? asked : all;
}

int cs_rounds_draw(uint64_t seed, uint32_t nodes, uint32_t **round, struct cs_err *err)
{
	struct cs_rng rng = { seed };
	/* an even number has one more round of incast */
	uint32_t n = cs_rounds_of(nodes), *all = calloc(n + 1, sizeof(*all));

	if (!all)
		return cs_err_set(err, "no memory for %u rounds", n);
	cs_rng_shuffle(&rng, all, n);
	*round = all;
	return 0;
}

/* ---- patterns ---- */

static uint32_t groups_of(uint32_t nodes)
{
	return nodes ? (nodes + CS_INCAST_MOST) / (CS_INCAST_MOST + 1) : 1;
}

/* The first node of a group; all have as many, or one more. */
static uint32_t first_of(uint32_t nodes, uint32_t group)
{
	const uint32_t groups = groups_of(nodes);

	return (uint32_t)(((uint64_t)group * nodes + groups - 1) / groups);
}

static struct cs_part incast_part(uint32_t nodes, uint32_t at, uint32_t node)
{
	struct cs_part part = { -1, 0, { 0 } };
	const uint32_t group = (uint32_t)((uint64_t)node * groups_of(nodes) / nodes);
	const uint32_t first = first_of(nodes, group);
	const uint32_t end = first_of(nodes, group + 1);

	if (first + at >= end)
		return part;
	if (node != first + at)
		part.to = first + at;
	else
		for (uint32_t i = first; i < end; i++)
			if (i != node)
				part.from[part.n_from++] = i;
	return part;
}

static struct cs_part shift_part(uint32_t nodes, uint32_t k, uint32_t node)
{
	if (k % nodes == 0)
		return (struct cs_part){ -1, 0, { 0 } };
	k %= nodes;
	return (struct cs_part){ (node + k) % nodes,
				 1,
				 { (node + nodes - k) % nodes } };
}

static struct cs_part pair_part(int64_t other)
{
	return (struct cs_part){ other, other >= 0, { (uint32_t)other } };
}

static int64_t across(uint32_t nodes, uint32_t node)
{
	const uint32_t half = nodes / 2;

	return node < half     ? node + half :
	       node < 2 * half ? (int64_t)node - half :
				 -1;
}

/* Are its rounds those that are drawn?  Others have theirs first. */
static int are_drawn(const struct cs_test *test, uint32_t only)
{
	return test->pattern != CS_PATTERN_BISECT &&
	       test->pattern != CS_PATTERN_INCAST &&
	       !(test->pattern == CS_PATTERN_SHIFT && only);
}

uint32_t cs_rounds_with(const struct cs_test *test, uint32_t only, uint32_t nodes,
			uint32_t asked)
{
	uint32_t all = 1;

	if (are_drawn(test, only) || nodes < 2)
		return cs_rounds_count(asked, nodes);
	if (test->pattern == CS_PATTERN_INCAST)
		all = first_of(nodes, 1); /* the first group has the most nodes */
	return asked == CS_ROUNDS_AUTO || asked > all ? all : asked;
}

struct cs_part cs_round_part(const struct cs_test *test, uint32_t only,
			     uint32_t nodes, struct cs_round round, uint32_t node)
{
	if (round.at >= cs_rounds_with(test, only, nodes, CS_ROUNDS_ALL))
		return pair_part(-1);
	switch (test->pattern) {
	case CS_PATTERN_SHIFT:
		return shift_part(nodes, only ? only : round.drawn + 1, node);
	case CS_PATTERN_BISECT:
		return pair_part(across(nodes, node));
	case CS_PATTERN_INCAST:
		return incast_part(nodes, round.at, node);
	default:
		return pair_part(cs_round_partner(nodes, round.drawn, node));
	}
}

uint32_t cs_round_senders(const struct cs_test *test, uint32_t only, uint32_t nodes,
			  struct cs_round round)
{
	uint32_t n = 0;

	if (test->pattern == CS_PATTERN_SHIFT) /* all nodes, or none */
		return cs_round_part(test, only, nodes, round, 0).to < 0 ? 0 : nodes;
	if (test->pattern != CS_PATTERN_INCAST)
		return nodes / 2 * 2;
	for (uint32_t node = 0; node < nodes; node++)
		n += cs_round_part(test, only, nodes, round, node).to >= 0;
	return n;
}

uint32_t cs_round_transfers(const struct cs_test *test, uint32_t nodes)
{
	return test->pattern == CS_PATTERN_SHIFT  ? nodes :
	       test->pattern == CS_PATTERN_INCAST ? nodes - groups_of(nodes) :
	       test->pattern == CS_PATTERN_BIDI	  ? nodes / 2 * 2 :
						    nodes / 2;
}

/* ---- the clock ---- */

struct cs_clock cs_clock_of(const struct cs_ping *ping, size_t n)
{
	struct cs_clock clock = { 0, INFINITY };

	for (size_t i = 0; i < n; i++) {
		double trip = ping[i].back - ping[i].left;

		if (trip < clock.trip_s)
			clock = (struct cs_clock){
				ping[i].root - (ping[i].left + ping[i].back) / 2, trip
			};
	}
	return clock;
}

static double messages_of(const struct cs_trial *trial)
{
	double trips_s = fmin(SAMPLE_TRIPS * trial->trip_s, TRIPS_MOST_S);

	return ceil(fmax(SAMPLE_S, trips_s) / trial->message_s);
}

static double sample_of(const struct cs_trial *trial, double window)
{
	return window * (trial->message_s + trial->check_s) + 4 * trial->trip_s;
}

double cs_sample_s(const struct cs_trial *trial, size_t n, uint64_t window)
{
	double *x = calloc(n + 1, sizeof(*x)), slowest = 0;
	size_t found = 0;

	for (size_t i = 0; x && i < n; i++)
		if (trial[i].message_s > 0) {
			x[found] = sample_of(&trial[i], (double)window);
			slowest = fmax(slowest, x[found++]);
		}
	if (found)
		slowest = fmin(slowest, SLOW_MOST * cs_median(x, found));
	free(x);
	return ROOM * slowest;
}

struct cs_slots cs_slots_of(const struct cs_trial *trial, size_t n, uint32_t most)
{
	struct cs_slots slots = { .late_s = LATE_LEAST_S };
	double *x = calloc(n + 1, sizeof(*x));
	size_t found = 0;

	for (size_t i = 0; x && i < n; i++)
		if (trial[i].message_s > 0) {
			x[found++] = messages_of(&trial[i]);
			slots.late_s = fmax(slots.late_s,
					    LATE_TIMES * trial[i].late_s);
		}
	if (found) {
		slots.window = (uint64_t)fmin(fmax(cs_median(x, found), WINDOW_LEAST),
					      most);
		slots.sample_s = cs_sample_s(trial, n, slots.window);
		slots.late_s = fmin(slots.late_s, LATE_MOST_S);
	}
	free(x);
	return slots;
}

double cs_slot_s(const struct cs_slots *slots, const struct cs_test *test)
{
	/* one way, then the other; or both ways, which may share a link */
	double samples = 2 * (CS_SLOT_SAMPLES + FIRST), sample_s = slots->sample_s;

	if (test->path == CS_PATH_NET) {
		samples = 2 * (CS_SLOT_SAMPLES + 1);
		sample_s = slots->gpu_s > 0 ? slots->gpu_s : GPU_TIMES * sample_s;
	}
	if (test->op == CS_OP_PINGPONG)
		samples = 2;
	if (test->pattern == CS_PATTERN_BISECT)
		samples *= TRUNK_TIMES;
	return fmin(SLOT_MOST_S, slots->late_s + samples * sample_s);
}

double cs_clock_gap_s(const struct cs_slots *slots, uint32_t nodes)
{
	return 2 * slots->late_s + nodes * CS_PINGS * PING_S;
}

uint32_t cs_first_messages(const struct cs_test *test, uint32_t window, int is_used)
{
	return test->path == CS_PATH_NETHOST && test->op != CS_OP_PINGPONG && is_used ?
		       (uint32_t)ceil(FIRST * window) :
		       window;
}
