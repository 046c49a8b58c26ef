/* between_slot.c - slots and rounds of them: this node meets the others of its part, or says
 * why not. */
#include "job/between_state.h"

#define LATE 0.75     /* of a slot: a node that is later does not begin it */

static void meet(struct cs_between_phase *b, const struct cs_between_slot *slot,
		 struct cs_pair *pair)
{
	enum cs_pair_end how;
	int own;

	pair->half_s = slot->begin_s + (slot->seconds + b->schedule.slots.late_s) / 2;
	pair->end_s = slot->begin_s + slot->seconds;
	pair->ends->err.text[0] = '\0';
	how = cs_pair_meet(pair);
	own = cs_between_is_own_fault(b, pair, how);
	if (pair->whole && pair->n)
		cs_between_give_measured(b, slot, pair);
	else if (slot->part.to >= 0)
		cs_between_give_ended(b, slot, pair, how, own);
	cs_between_replace_ends(b, pair);
}

/* Tell the others, which need not wait. */
static void decline(struct cs_between_phase *b, const struct cs_between_slot *slot,
		    const struct cs_pair *pair, enum cs_status status)
{
	cs_pair_decline(pair);
	cs_between_give_missing(b, slot, status, pair->ends->err.text);
}

/* Those that were not there before are not waited for again. */
static void leave_out_missed(struct cs_between_phase *b, struct cs_between_slot *slot)
{
	struct cs_part *part = &slot->part;
	uint32_t n = 0;

	for (uint32_t i = 0; i < part->n_from; i++)
		if (!b->missed[part->from[i]])
			part->from[n++] = part->from[i];
	part->n_from = n;
	if (part->to < 0 || !b->missed[part->to])
		return;
	cs_between_give_missing(b, slot, CS_SKIPPED,
				"the other node did not answer before");
	part->to = -1;
}

void cs_between_take_slot(struct cs_between_phase *b, struct cs_between_slot *slot)
{
	const uint32_t number = slot->again ?
					b->n_rounds * b->n_matrices + slot->again :
					1 + slot->round * b->n_matrices + slot->matrix;
	struct cs_pair pair;
	struct cs_ends *ends;

	if (b->why[0] || slot->round >= b->schedule.rounds) {
		cs_between_give_missing(b, slot, CS_SKIPPED,
					b->why[0] ? b->why : CS_LEFT_OUT);
		return;
	}
	leave_out_missed(b, slot);
	if (slot->part.to < 0 && !slot->part.n_from)
		return;
	ends = cs_between_ends(b, slot->matrix);
	pair = cs_between_pair(b, slot, cs_between_test(b, slot->matrix), ends,
			       number);
	if (!ends->is_open) {
		decline(b, slot, &pair, ends->has_failed ? CS_FAILED : CS_SKIPPED);
		return;
	}
	cs_between_sleep(b, slot->begin_s);
	if (cs_between_memory_of(pair.test) != CS_ENDS_HOST &&
	    cs_net_ready(&ends->net, &ends->err))
		decline(b, slot, &pair, CS_FAILED);
	else if (cs_clock_s() > slot->begin_s + LATE * slot->seconds)
		cs_between_give_missing(b, slot, CS_FAILED,
					"this node was late for its time slot");
	else
		meet(b, slot, &pair);
}

void cs_between_take_round(struct cs_between_phase *b, uint32_t round)
{
	const uint64_t every = cs_between_clock_rounds(b);
	const double begin_s = b->schedule.begin_s + cs_between_begin_s(b, round, 0);

	if (round && round % every == 0 && round < b->schedule.rounds)
		cs_between_set_clock(b, cs_between_own_time(b, begin_s) -
						b->schedule.slots.late_s);
	for (uint32_t v = 0; v < b->n_matrices && !b->is_over; v++) {
		const double at_s = b->schedule.begin_s +
				    cs_between_begin_s(b, round, v);
		struct cs_between_slot slot = {
			.round = round,
			.matrix = v,
			.part = cs_between_part(b, cs_between_test(b, v), round, b->me),
			.seconds = cs_between_slot_s(b, v),
			.begin_s = cs_between_own_time(b, at_s),
		};

		if (round < cs_between_rounds(b, v) &&
		    (slot.part.to >= 0 || slot.part.n_from))
			cs_between_take_slot(b, &slot);
	}
}
