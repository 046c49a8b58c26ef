#include "node/agent/endpoints.h"

#include <sched.h>

#include "node/agent/copy.h"
#include "node/agent/lane.h"
#include "node/board/stage.h"
#include "system/system.h"

static const struct cs_memory_kind *const *const kinds = cs_memory_kinds;

/* ---- for the agent's life ---- */

int cs_endpoints_open(struct cs_endpoints *e)
{
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->open && kinds[i]->open(e))
			return -1;
	return 0;
}

void cs_endpoints_close(struct cs_endpoints *e)
{
	cs_endpoints_release(e);
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->close)
			kinds[i]->close(e);
}

int cs_endpoints_source(struct cs_endpoints *e)
{
	e->slot->check[0] = (struct cs_check){ .first_word = UINT64_MAX };
	return e->slot->layout.src_bytes ? cs_memory_device.source(e) : 0;
}

/* ---- before samples ---- */

/* Does a kernel read it, and leave nothing but the sum? */
static int is_summed(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	uint32_t kind = cs_copy_kind(e, t);

	return kind == CS_COPY_SM_READ || kind == CS_COPY_ZERO_READ ||
	       kind == CS_COPY_CONSUME || cs_method_is_on_chip(t->method) ||
	       (t->method == CS_METHOD_TEAM && t->op == CS_OP_READ);
}

struct cs_endpoints_memory cs_endpoints_memory(const struct cs_endpoints *e,
					       uint32_t k, int is_dst)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_memory_kind *memory = cs_memory_of(t, is_dst);
	void *at = memory->cpu_address ? memory->cpu_address(e, t, is_dst) : NULL;

	if (!at)
		return (struct cs_endpoints_memory){ 0 };
	return (struct cs_endpoints_memory){ at, cs_transfer_span(e->plan, t),
					     cs_memory_of(t, 0)->key(e, t) };
}

/* Does it write anything that lasts, for me to check? */
static int is_mine_to_check(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return cs_transfer_checker(t) == e->me &&
	       (t->op <= CS_OP_BURST64K || cs_method_is_stream(t->method) ||
		cs_method_is_shaped(t->method)) &&
	       t->method != CS_METHOD_CHASE && t->method != CS_METHOD_OVERLAP &&
	       cs_memory_of(t, 1)->check && !is_summed(e, t);
}

void cs_endpoints_read(struct cs_endpoints *e, uint32_t k)
{
	if (e->plan->set.verify == CS_VERIFY_OFF ||
	    cs_transfer_is_managed(cs_endpoints_transfer(e, k)) ||
	    !is_summed(e, cs_endpoints_transfer(e, k)))
		return;
	e->slot->checked[k]++;
	e->slot->checked_whole[k]++;
}

/* Note the NUMA node of the memory through which it is staged. */
static int note_ring(struct cs_endpoints *e, uint32_t k)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	struct cs_cpu_side *side = &e->slot->side[k];
	int wanted;

	if (t->issuer != e->me || t->method != CS_METHOD_STAGED ||
	    !cs_stage_is(e->board, t))
		return 0;
	side->ring_numa = cs_stage_numa(e->board, t, &wanted);
	e->slot->unproven |= side->ring_numa < 0 || side->ring_numa != wanted;
	if (!t->variant.cpu_numa || !cs_hostmem_numa(wanted, &e->slot->err))
		return 0;
	e->slot->refused = 1;
	return -1;
}

static void forget(struct cs_slot *slot, uint32_t k)
{
	cs_fields_init(&cs_cpu_side_fields, &slot->side[k]);
	slot->checked[k] = slot->checked_whole[k] = 0;
	slot->stayed[k] = 0;
	slot->checked_part[k] = slot->wrong_copy[k] = 0;
	slot->check[k] = (struct cs_check){ .first_word = UINT64_MAX };
}

/* Copy a piece of the issuer's buffer onto itself: the driver loads code at its first
 * copy of a shape, and must not do that at a closed gate. */
static int touch_shaped(struct cs_endpoints *e, const struct cs_transfer *t)
{
	const struct cs_backend_costs *costs = e->backend->costs;
	const struct cs_copy own = {
		.dst = e->slot->arena.address,
		.src = e->slot->arena.address,
		.copies = 1,
		.kind = cs_copy_kind(e, t),
		.box = { .width = 16,
			 .pitch = 32,
			 .rows = 2,
			 .grid = { 16, 32, 2, 1, 2 } },
	};
	double ns;
	int rc;

	if (t->issuer != e->me || !own.dst ||
	    (own.kind != CS_COPY_2D && own.kind != CS_COPY_3D))
		return 0;
	if (costs->copy(e->dev, 0, &own, &e->slot->err) ||
	    costs->mark(e->dev, 0, &e->slot->err))
		return -1;
	while (!(rc = e->backend->poll(e->dev, 0, &ns, &e->slot->err)))
		sched_yield();
	return rc < 0 ? -1 : 0;
}

int cs_endpoints_prepare(struct cs_endpoints *e, int unchecked)
{
	const uint32_t n = e->slot->step.count;

	e->slot->unproven = 0;
	for (uint32_t k = 0; k < n; k++) {
		forget(e->slot, k);
		if (note_ring(e, k))
			return -1;
	}
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->begin && kinds[i]->begin(e))
			return -1;
	for (uint32_t k = 0; k < n; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		if (touch_shaped(e, t) ||
		    (t->method == CS_METHOD_CHASE && cs_memory_of(t, 0)->chain &&
		     cs_memory_of(t, 0)->chain(e, t, cs_copy_chain_seed(e, t))) ||
		    (is_mine_to_check(e, t) && !unchecked &&
		     cs_memory_of(t, 1)->poison(e, t)))
			return -1;
	}
	return 0;
}

void cs_endpoints_release(struct cs_endpoints *e)
{
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->end)
			kinds[i]->end(e);
}

int cs_endpoints_reset(struct cs_endpoints *e)
{
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->reset && kinds[i]->reset(e))
			return -1;
	return 0;
}

int cs_endpoints_settle(struct cs_endpoints *e)
{
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->settle && kinds[i]->settle(e))
			return -1;
	return 0;
}

void cs_endpoints_count(struct cs_endpoints *e, int on)
{
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->count)
			kinds[i]->count(e, on);
}

/* ---- after samples ---- */

int cs_endpoints_judge(struct cs_endpoints *e, uint32_t seq, int checked)
{
	for (int i = 0; kinds[i]; i++)
		if (kinds[i]->judge && kinds[i]->judge(e, seq, checked))
			return -1;
	return 0;
}

int cs_endpoints_check(struct cs_endpoints *e, int last)
{
	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);
		struct cs_left left;

		if (!is_mine_to_check(e, t) || (!last && cs_transfer_is_load(t)))
			continue;
		left = cs_copy_left(e, k);
		if (cs_memory_of(t, 1)->check(e, k, &left, last))
			return -1;
	}
	return 0;
}

int cs_endpoints_check_at(struct cs_endpoints *e, uint32_t k, uint64_t address)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_expected one = CS_EXPECTED(cs_memory_of(t, 0)->key(e, t),
						   t->bytes);
	struct cs_check found;

	if (e->backend->check(e->dev, address, &one, 0, &found, &e->slot->err))
		return -1;
	cs_slot_found(e->slot, k, &one, &found);
	e->slot->checked_whole[k]++;
	return 0;
}

struct cs_tiles cs_endpoints_tiles(const struct cs_endpoints *e,
				   const struct cs_transfer *t)
{
	return cs_memory_of(t, 1)->tiles ? cs_memory_of(t, 1)->tiles(e, t) :
					   cs_memory_host.tiles(e, t);
}
