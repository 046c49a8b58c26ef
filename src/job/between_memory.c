/* between_memory.c - the memory at this node's end, and the pairs that use it. */
#include "job/between_state.h"

#include <stdlib.h>

#include "job/gpu_trial.h"

#define KEYS (1u << 16) /* of fill patterns of each memory, after those of agents */
#define PLACES (1 + CS_MAX_AGENTS) /* of a kind: any NUMA node, then each, or agents */
#define SETTLE_S 0.5	/* for a GPU to answer, when its slot was given up */

static const struct cs_ends_kind *const kinds[CS_ENDS_KINDS] = {
	[CS_ENDS_HOST] = &cs_ends_host,
	[CS_ENDS_STAGED] = &cs_ends_staged,
	[CS_ENDS_DEVICE] = &cs_ends_device,
	[CS_ENDS_RDMA] = &cs_ends_rdma,
};

const struct cs_test *cs_between_test(const struct cs_between_phase *b,
				      uint32_t matrix)
{
	return cs_plan_matrix_test(b->job->plan, b->first_matrix + matrix);
}

struct cs_part cs_between_part(const struct cs_between_phase *b,
			       const struct cs_test *test, uint32_t round,
			       uint32_t node)
{
	return cs_round_part(test, b->job->plan->set.shift, b->n,
			     (struct cs_round){ round, b->round[round] }, node);
}

enum cs_between_memory cs_between_memory_of(const struct cs_test *test)
{
	return test->path == CS_PATH_NETHOST ? CS_ENDS_HOST :
	       test->op == CS_OP_DEVICE	     ? CS_ENDS_DEVICE :
	       test->op == CS_OP_RDMA	     ? CS_ENDS_RDMA :
					       CS_ENDS_STAGED;
}

enum cs_via cs_between_via(const struct cs_test *test)
{
	return kinds[cs_between_memory_of(test)]->via;
}

static struct cs_coordinator *own_coordinator(const struct cs_between_phase *b)
{
	return &b->job->placements.at[0].co;
}

static struct cs_ends *ends_at(const struct cs_between_phase *b,
			       enum cs_between_memory kind, int place)
{
	return &b->memory[(int)kind * PLACES + 1 + place];
}

struct cs_ends *cs_between_first_ends(const struct cs_between_phase *b,
				      enum cs_between_memory kind)
{
	return ends_at(b, kind, kind == CS_ENDS_HOST ? -1 : 0);
}

struct cs_ends *cs_between_ends(const struct cs_between_phase *b, uint32_t matrix)
{
	const uint32_t v = b->first_matrix + matrix;
	const int rail = cs_plan_matrix_at(b->job->plan, v)->variant.rail - 1;
	const enum cs_between_memory kind =
		cs_between_memory_of(cs_between_test(b, matrix));

	return ends_at(b, kind, kind != CS_ENDS_HOST && rail < 0 ? 0 : rail);
}

int cs_between_make_ends(struct cs_between_phase *b)
{
	b->memory = calloc(CS_ENDS_KINDS * PLACES, sizeof(*b->memory));
	for (int i = 0; b->memory && i < CS_ENDS_KINDS * PLACES; i++)
		b->memory[i] = (struct cs_ends){ .is = kinds[i / PLACES],
						 .mover = b->mover,
						 .place = i % PLACES - 1,
						 .rings = { .fd = -1, .numa = -1 } };
	return b->memory ? 0 : -1;
}

static int has_gpu(const struct cs_between_phase *b)
{
	const struct cs_coordinator *co = own_coordinator(b);

	return CS_ANY(i, co->board->n_agents, co->state[i] == CS_AGENT_OK);
}

uint64_t cs_between_own_kinds(const struct cs_between_phase *b)
{
	uint64_t own = 1u << CS_ENDS_HOST;

	for (uint32_t v = 0; v < b->n_matrices; v++) {
		const enum cs_between_memory kind =
			cs_between_memory_of(cs_between_test(b, v));

		if (has_gpu(b) && !b->cannot[kind].text[0])
			own |= 1ull << kind;
	}
	return own;
}

/* An MPI that refuses memory of cuMemAlloc is not tried with other memory. */
void cs_between_try_gpu(struct cs_between_phase *b)
{
	const struct cs_coordinator *co = own_coordinator(b);
	const int ordinal = cs_board_slot(co->board, 0)->facts.gpu.ordinal;
	const uint64_t wanted = cs_between_own_kinds(b);

	if (!(wanted >> CS_ENDS_DEVICE))
		return;
	if (cs_gpu_trial(ordinal, CS_NET_PLAIN, cs_between_watch, b,
			 &b->cannot[CS_ENDS_DEVICE]))
		b->cannot[CS_ENDS_RDMA] = b->cannot[CS_ENDS_DEVICE];
	else if (wanted >> CS_ENDS_RDMA & 1)
		cs_gpu_trial(ordinal, CS_NET_RDMA, cs_between_watch, b,
			     &b->cannot[CS_ENDS_RDMA]);
}

static enum cs_between_memory kind_of(const struct cs_between_phase *b,
				      const struct cs_ends *ends)
{
	return (enum cs_between_memory)((ends - b->memory) / PLACES);
}

/* The key of the fill pattern that a node sends from there. */
static uint64_t key_of(const struct cs_between_phase *b, uint32_t node,
		       const struct cs_ends *ends)
{
	const enum cs_between_memory kind = kind_of(b, ends);
	const uint32_t memory = kind == CS_ENDS_DEVICE ? CS_ENDS_STAGED :
							 kind; /* the same */
	const uint32_t place = memory * PLACES + 1 + (uint32_t)ends->place;

	return cs_fill_key(b->job->plan->set.seed, KEYS * (1 + place) + node);
}

/* The bytes of a window, of a GPU in whole chunks. */
static uint64_t window_bytes(const struct cs_between_phase *b,
			     enum cs_between_memory kind)
{
	const uint64_t grain = kind == CS_ENDS_HOST ? CS_MESSAGE_BYTES : CS_NET_CHUNK;
	const uint64_t bytes = b->schedule.slots.window * CS_MESSAGE_BYTES;

	return (bytes + grain - 1) / grain * grain;
}

/* In host memory there is room for a message of each that sends to one node. */
void cs_between_open_ends(struct cs_between_phase *b, struct cs_ends *ends)
{
	const enum cs_between_memory kind = kind_of(b, ends);
	const uint64_t window = window_bytes(b, kind);
	const uint64_t least = kind == CS_ENDS_HOST ?
				       CS_INCAST_MOST * CS_MESSAGE_BYTES :
				       0;

	ends->bytes = window > least ? window : least;
	ends->key = key_of(b, b->me, ends);
	ends->is_open = !ends->is->open(ends, own_coordinator(b));
}

static void prepare_ends(struct cs_between_phase *b, struct cs_ends *ends)
{
	const struct cs_coordinator *co = own_coordinator(b);
	const enum cs_between_memory kind = kind_of(b, ends);

	if (ends->is_open || ends->err.text[0])
		return;
	if (b->cannot[kind].text[0])
		ends->err = b->cannot[kind];
	else if (kind != CS_ENDS_HOST && ends->place >= (int)co->board->n_agents)
		cs_err_set(&ends->err, "this node has no %s %d", cs_agent_noun(co),
			   ends->place);
	else if (kind != CS_ENDS_HOST && co->state[ends->place] != CS_AGENT_OK)
		cs_err_set(&ends->err, "%s", co->fault[ends->place]);
	else if (!(b->schedule.kinds >> kind & 1))
		cs_err_set(&ends->err, "no other node has a GPU that works");
	else
		cs_between_open_ends(b, ends);
}

void cs_between_prepare_ends(struct cs_between_phase *b)
{
	for (uint32_t v = 0; v < b->n_matrices; v++)
		prepare_ends(b, cs_between_ends(b, v));
}

void cs_between_close_ends(struct cs_between_phase *b)
{
	for (int i = 0; b->memory && i < CS_ENDS_KINDS * PLACES; i++)
		b->memory[i].is->close(&b->memory[i]);
	free(b->memory);
}

/* How many send to the same node as this one, or to this one: together a window. */
static uint32_t senders_of(const struct cs_between_phase *b,
			   const struct cs_between_slot *slot,
			   const struct cs_test *test)
{
	const int64_t to = slot->part.to < 0 ? b->me : slot->part.to;

	return test->pattern != CS_PATTERN_INCAST ?
		       1 :
		       cs_between_part(b, test, slot->round, (uint32_t)to).n_from;
}

struct cs_pair cs_between_pair(struct cs_between_phase *b,
			       const struct cs_between_slot *slot,
			       const struct cs_test *test, struct cs_ends *ends,
			       uint32_t number)
{
	const struct cs_settings *set = &b->job->plan->set;
	const struct cs_part *part = &slot->part;
	const enum cs_between_memory kind = kind_of(b, ends);
	const uint64_t bytes = kind == CS_ENDS_HOST ? CS_MESSAGE_BYTES : test->bytes;
	const uint64_t messages = window_bytes(b, kind) / bytes /
				  senders_of(b, slot, test);
	struct cs_pair pair = { .mover = b->mover,
				.ends = ends,
				.test = test,
				.nics = b->nics,
				.to = part->to < 0 ? -1 : b->rank_of[part->to],
				.n_from = part->n_from,
				.sends_first = part->to > b->me,
				.slot = number,
				.window = messages ? (uint32_t)messages : 1,
				.message_bytes = bytes,
				.verify = set->verify,
				.idle = cs_between_watch,
				.ctx = b };

	pair.first = cs_first_messages(test, pair.window, slot->round || slot->again);
	for (uint32_t i = 0; i < part->n_from; i++) {
		pair.from[i] = b->rank_of[part->from[i]];
		pair.from_key[i] = key_of(b, part->from[i], ends);
	}
	return pair;
}

int cs_between_is_own_fault(struct cs_between_phase *b, const struct cs_pair *pair,
			    enum cs_pair_end how)
{
	struct cs_ends *ends = pair->ends;
	const double end_s = cs_clock_s() + SETTLE_S;
	int rc;

	if (how != CS_PAIR_STUCK || kind_of(b, ends) == CS_ENDS_HOST ||
	    ends->err.text[0])
		return ends->err.text[0] != 0;
	while (!(rc = cs_net_answered(&ends->net, &ends->err)) && cs_clock_s() < end_s)
		cs_between_nap(b);
	return rc < 0 || cs_net_ready(&ends->net, &ends->err);
}

/* Its memory is MPI's from now on. */
static void leave_to_mpi(struct cs_ends *ends)
{
	ends->is_open = 0;
	cs_err_set(&ends->err,
		   "a message of an earlier time slot may still use the GPU's memory");
}

void cs_between_replace_ends(struct cs_between_phase *b, const struct cs_pair *pair)
{
	struct cs_ends *ends = pair->ends;
	const enum cs_between_memory kind = kind_of(b, ends);

	if (!pair->memory_is_lost)
		return;
	ends->rings = (struct cs_hostmem){ .fd = -1, .numa = -1 };
	if (kind < CS_ENDS_DEVICE) {
		cs_between_open_ends(b, ends);
		return;
	}
	b->has_left_gpu = 1;
	leave_to_mpi(ends);
	if (kind == CS_ENDS_DEVICE) /* staged messages use the same memory */
		leave_to_mpi(ends_at(b, CS_ENDS_STAGED, ends->place));
}
