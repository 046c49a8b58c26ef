/* memory_device.c - ends in the arenas: the agent's own, and those that it has mapped. */
#include "node/agent/lane.h"
#include "node/agent/copy.h"

static uint64_t own_key(const struct cs_endpoints *e)
{
	return cs_fill_key(e->plan->set.seed, (uint32_t)e->me);
}

/* The sources of the agent's own arena. */
static int fill(struct cs_endpoints *e)
{
	if (!e->slot->layout.total_bytes)
		return 0;
	return e->backend->fill(e->dev, e->slot->arena.address,
				e->slot->layout.src_bytes, own_key(e), &e->slot->err);
}

static int check_source(struct cs_endpoints *e)
{
	return e->backend->check(e->dev, e->slot->arena.address,
				 &CS_EXPECTED(own_key(e), e->slot->layout.src_bytes),
				 0, &e->slot->check[0], &e->slot->err);
}

static uint64_t arena_of(const struct cs_endpoints *e, int agent)
{
	return agent == e->me ? e->slot->arena.address : e->map[agent].address;
}

static const struct cs_arena_layout *layout_of(const struct cs_endpoints *e,
					       const struct cs_endpoint *end)
{
	return &cs_board_slot(e->board, end->index)->layout;
}

static uint64_t address(const struct cs_endpoints *e, const struct cs_transfer *t,
			int is_dst, uint64_t offset)
{
	if (is_dst)
		return arena_of(e, t->dst.index) + layout_of(e, &t->dst)->dst_at +
		       offset;
	return arena_of(e, t->src.index) +
	       (t->method == CS_METHOD_CHASE ? layout_of(e, &t->src)->chain_at : 0);
}

/* CPUs can access arenas of host memory alone. */
static void *cpu_address(const struct cs_endpoints *e, const struct cs_transfer *t,
			 int is_dst)
{
	const struct cs_endpoint *end = is_dst ? &t->dst : &t->src;

	if (end->kind != CS_ENDPOINT_HOST || end->index != e->me)
		return NULL;
	return (void *)(uintptr_t)address(e, t, is_dst,
					  is_dst ? cs_transfer_dst_at(e->plan, t) : 0);
}

static uint64_t key_of(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return cs_fill_key(e->plan->set.seed, t->src.index);
}

static uint64_t room(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return layout_of(e, &t->dst)->dst_bytes;
}

static int poison(struct cs_endpoints *e, const struct cs_transfer *t)
{
	const struct cs_copy_offsets most =
		cs_copy_offsets_most(e->plan, &e->slot->step, t, room(e, t));

	if (e->backend->poison(e->dev, address(e, t, 1, cs_transfer_dst_at(e->plan, t)),
			       cs_transfer_span(e->plan, t), &e->slot->err))
		return -1;
	return most.n < 2 ? 0 :
			    e->backend->poison(e->dev, address(e, t, 1, most.at),
					       most.n * most.stride, &e->slot->err);
}

static int chain(struct cs_endpoints *e, const struct cs_transfer *t, uint64_t seed)
{
	uint64_t own = e->slot->arena.address, seen = own;

	if (t->src.index != e->me)
		return 0;
	if (t->issuer != e->me)
		seen = cs_board_slot(e->board, t->issuer)->sees[e->me];
	return e->backend->chain(e->dev, own + e->slot->layout.chain_at, t->bytes,
				 seen + e->slot->layout.chain_at, seed != 0, seed,
				 &e->slot->err);
}

static int check(struct cs_endpoints *e, uint32_t k, const struct cs_left *left,
		 int last)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	struct cs_check found;

	if (e->backend->check(e->dev, address(e, t, 1, left->offset), &left->bytes,
			      !last, &found, &e->slot->err))
		return -1;
	cs_slot_found(e->slot, k, &left->bytes, &found);
	e->slot->checked_whole[k] += left->whole != 0;
	return 0;
}

const struct cs_memory_kind cs_memory_device = {
	.open = fill,
	.source = check_source,
	.address = address,
	.cpu_address = cpu_address,
	.key = key_of,
	.room = room,
	.poison = poison,
	.chain = chain,
	.check = check,
};
