/* between_slot.c - slots and rounds of them: this node meets the other, or says why not. */
#include "job/between_state.h"

#include <math.h>

#define CLOCK_EVERY_S 10.0 /* clocks drift by some microseconds a second */
#define LATE 0.75     /* of a slot: a node that is later does not begin it */

static void meet(struct cs_between_phase *b, const struct cs_between_slot *slot,
		 struct cs_pair *pair)
{
	enum cs_pair_end how;

	pair->half_s = slot->begin_s + (slot->seconds + b->s.of.late_s) / 2;
	pair->end_s = slot->begin_s + slot->seconds;
	pair->ends->err.text[0] = '\0';
	how = cs_pair_meet(pair);
	if (pair->whole && pair->n)
		cs_between_give_measured(b, slot, pair);
	else
		cs_between_give_ended(b, slot, pair, how);
	cs_between_replace_ends(b, pair);
}

/* Tell the other node, which need not wait. */
static void decline(struct cs_between_phase *b, const struct cs_between_slot *slot,
		    const struct cs_pair *pair, enum cs_status status)
{
	cs_pair_decline(pair);
	cs_between_give_missing(b, slot, status, pair->ends->err.text);
}

void cs_between_take_slot(struct cs_between_phase *b,
			  const struct cs_between_slot *slot)
{
	struct cs_pair pair =
		cs_between_pair(b, slot->other, cs_between_test(b, slot->matrix),
				slot->again ?
					b->n_rounds * b->n_matrices + slot->again :
					1 + slot->round * b->n_matrices + slot->matrix);
	struct cs_ends *ends = pair.ends;

	if (b->why[0] || slot->round >= b->s.rounds) {
		cs_between_give_missing(b, slot, CS_SKIPPED,
					b->why[0] ? b->why : CS_LEFT_OUT);
		return;
	}
	if (b->missed[slot->other]) {
		cs_between_give_missing(b, slot, CS_SKIPPED,
					"the other node did not answer before");
		return;
	}
	if (!ends->is_open) {
		decline(b, slot, &pair, CS_SKIPPED);
		return;
	}
	while (cs_clock_s() < slot->begin_s && !b->ends)
		cs_between_nap(b);
	if (cs_between_memory_of(pair.test) != CS_ENDS_HOST &&
	    cs_net_ready(&ends->net, &ends->err))
		decline(b, slot, &pair, CS_FAILED);
	else if (cs_clock_s() > slot->begin_s + LATE * slot->seconds)
		cs_between_give_missing(b, slot, CS_FAILED,
					"this node was late for its time slot");
	else
		meet(b, slot, &pair);
}

/* After so many rounds one has the time of a round for the clock. */
static uint64_t rounds_between_clocks(const struct cs_between_phase *b)
{
	return (uint64_t)fmin(fmax(1, CLOCK_EVERY_S / cs_between_round_s(b)),
			      UINT32_MAX);
}

void cs_between_take_round(struct cs_between_phase *b, uint32_t round)
{
	const uint64_t every = rounds_between_clocks(b), clocks = round / every;
	const double at_s = (double)(round + clocks) * cs_between_round_s(b);
	int64_t other = cs_round_partner(b->n, b->round[round], b->me);

	if (round && round % every == 0 && round < b->s.rounds)
		cs_between_set_clock(b,
				     cs_between_own_time(b, b->s.begin_s + at_s) -
					     b->s.of.late_s,
				     0);
	for (uint32_t v = 0; other >= 0 && v < b->n_matrices && !b->ends; v++) {
		const double root_s = b->s.begin_s + at_s + cs_between_offset_s(b, v);
		const struct cs_between_slot slot = { round,
						      v,
						      (uint32_t)other,
						      cs_between_own_time(b, root_s),
						      cs_between_slot_s(b, v),
						      0,
						      0 };

		cs_between_take_slot(b, &slot);
	}
}
