#include "config.h"

#include "node/endpoints.h"

#include <sched.h>
#include <string.h>

#include "base/chain.h"
#include "base/fill.h"
#include "node/carry.h"
#include "node/hostbuf.h"
#include "node/hostpass.h"
#include "node/places.h"
#include "node/stage.h"

/* Slots of host memory: one that all agents of the process take in turn, behind it
 * those of each (plan.h); the same again for chains; tiles of each. */
#define SLOT_CHAINS (1 + CS_STEP_MAX * CS_MAX_AGENTS)
#define SLOT_TILES (2 * SLOT_CHAINS)

/* A buffer of host memory, or why there is none. */
struct host_place {
	struct cs_hostbuf_key key;
	struct cs_hostbuf buf;
	uint64_t most;		   /* transfers that want more have no room */
	char refused[CS_ERR_TEXT]; /* why not; "" */
};

void cs_endpoints_init(struct cs_endpoints *e)
{
	e->host = (struct cs_vec)CS_VEC(struct host_place);
}

void cs_endpoints_release(struct cs_endpoints *e)
{
	if (e->host.n)
		cs_hostbuf_put(e->backend, e->dev);
	cs_vec_release(&e->host);
	cs_endpoints_init(e);
}

/* ---- host memory ---- */

/* Its place among the agents of its process. */
static int ordinal_of(const struct cs_endpoints *e, int agent)
{
	int64_t pid = cs_board_slot(e->board, agent)->pid;
	int n = 0;

	for (int i = 0; i < agent; i++)
		n += cs_board_slot(e->board, i)->pid == pid;
	return n;
}

/* Does it go through host memory of its issuer, which is no end of it? */
static int has_tiles(const struct cs_transfer *t)
{
	return t->method == CS_METHOD_OVERLAP && !cs_transfer_is_managed(t);
}

/* Is there host memory for that end? */
static int is_hosted(const struct cs_transfer *t, int is_dst)
{
	return (cs_endpoint_is_numa(is_dst ? &t->dst : &t->src) &&
		!cs_transfer_is_managed(t)) ||
	       has_tiles(t);
}

/* The buffer of a transfer's end in host memory. */
static struct cs_hostbuf_key key_of(const struct cs_endpoints *e,
				    const struct cs_transfer *t, int is_dst)
{
	const struct cs_endpoint *end = is_dst ? &t->dst : &t->src;
	int chain = t->method == CS_METHOD_CHASE;
	int own = is_dst ? t->dst_slot : t->src_slot;
	const struct cs_agent_facts *f = &cs_board_slot(e->board, t->issuer)->facts;

	if (has_tiles(t))
		return (struct cs_hostbuf_key){
			.memory = CS_MEM_PINNED,
			.numa = f->numa,
			.slot = SLOT_TILES + ordinal_of(e, t->issuer),
			.is_dst = is_dst,
		};
	return (struct cs_hostbuf_key){
		.memory = end->memory == CS_MEM_PAGEABLE ? CS_MEM_ARENA : end->memory,
		.numa = end->index == CS_NUMA_LOCAL ? f->numa : end->index,
		.slot = (own ? 1 + (own - 1) * CS_MAX_AGENTS + ordinal_of(e, t->issuer) :
			       0) +
			(chain ? SLOT_CHAINS : 0),
		.is_dst = is_dst || chain,
	};
}

static int same_key(const struct cs_hostbuf_key *a, const struct cs_hostbuf_key *b)
{
	return a->memory == b->memory && a->numa == b->numa && a->slot == b->slot &&
	       a->is_dst == b->is_dst;
}

/* The same for all that use the buffer. */
static uint64_t fill_key(const struct cs_endpoints *e,
			 const struct cs_hostbuf_key *key)
{
	uint32_t which = (uint32_t)(key->numa + 1) << 20 |
			 (uint32_t)key->memory << 16 | (uint32_t)key->slot;

	return cs_fill_key(e->plan->set.seed, CS_MAX_AGENTS + which);
}

static struct host_place *find_place(const struct cs_endpoints *e,
				     const struct cs_transfer *t, int is_dst)
{
	struct cs_hostbuf_key key = key_of(e, t, is_dst);
	struct host_place *place = e->host.data;

	for (size_t i = 0; i < e->host.n; i++)
		if (same_key(&place[i].key, &key))
			return &place[i];
	return NULL;
}

static const struct cs_transfer *first_transfer(const struct cs_plan *plan)
{
	return cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);
}

/* The most bytes that agents of this process want of a buffer. */
static uint64_t wanted(const struct cs_endpoints *e, const struct cs_hostbuf_key *key,
		       uint64_t most)
{
	const struct cs_transfer *t = first_transfer(e->plan);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < e->plan->n_transfers; i++, t++)
		for (int is_dst = 0; is_dst < 2; is_dst++) {
			struct cs_hostbuf_key of;

			if (cs_transfer_room(t) > most ||
			    !cs_transfer_applies(t, (int)e->board->n_agents) ||
			    !is_hosted(t, is_dst) ||
			    cs_board_slot(e->board, t->issuer)->pid != e->slot->pid)
				continue;
			of = key_of(e, t, is_dst);
			if (same_key(&of, key) && cs_transfer_span(e->plan, t) > bytes)
				bytes = cs_transfer_span(e->plan, t);
		}
	return bytes;
}

/* All of it, or as much as there is room for. */
static void make_place(struct cs_endpoints *e, struct host_place *place)
{
	struct cs_err err;

	for (place->most = cs_plan_smaller(e->plan, UINT64_MAX); place->most;
	     place->most = cs_plan_smaller(e->plan, place->most)) {
		uint64_t bytes = wanted(e, &place->key, place->most);

		if (!bytes)
			break;
		if (!cs_hostbuf_get(e->backend, e->dev, &place->key, bytes,
				    fill_key(e, &place->key), &place->buf, &err))
			return;
		if (!place->refused[0])
			cs_text(place->refused, sizeof(place->refused), "%s",
				err.text);
	}
	place->most = 0;
}

/* The first one stands for all in the facts; rows say where one is not proven. */
static void note_proof(struct cs_endpoints *e, const struct host_place *place)
{
	struct cs_agent_facts *f = &e->slot->facts;

	if (!place->buf.at || f->pages_proof[0])
		return;
	f->pages_numa = place->buf.numa;
	cs_text(f->pages_proof, sizeof(f->pages_proof), "%s", place->buf.proof);
	if (place->buf.why[0] && !f->note[0])
		cs_text(f->note, sizeof(f->note), "%s", place->buf.why);
}

int cs_endpoints_host(struct cs_endpoints *e)
{
	const struct cs_transfer *t = first_transfer(e->plan);

	for (uint32_t i = 0; i < e->plan->n_transfers; i++, t++)
		for (int is_dst = 0; is_dst < 2; is_dst++) {
			struct host_place *place;

			if (t->issuer != e->me || !is_hosted(t, is_dst) ||
			    find_place(e, t, is_dst))
				continue;
			place = cs_vec_add(&e->host, 1, &e->slot->err);
			if (!place)
				return -1;
			memset(place, 0, sizeof(*place));
			place->key = key_of(e, t, is_dst);
			make_place(e, place);
			note_proof(e, place);
		}
	return 0;
}

/* ---- copies ---- */

int cs_endpoints_is_mine(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return t->issuer == e->me ||
	       (cs_transfer_far(t) >= 0 && t->dst.index == e->me &&
		cs_stage_is(e->board, t));
}

/* An issuer's copy: by the way that there is to the other end. */
static uint32_t copy_kind(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	int far = cs_transfer_far(t);

	if (far < 0)
		return cs_carry_is(t) ? CS_COPY_PAGEABLE : CS_COPY_ENGINE;
	if (t->issuer != e->me)
		return CS_COPY_IN;
	if (e->map[far].via == CS_VIA_STAGED)
		return CS_COPY_OUT;
	return e->map[far].via == CS_VIA_DRIVER || t->method == CS_METHOD_PEERCOPY ?
		       CS_COPY_PEER :
		       CS_COPY_ENGINE;
}

static uint32_t kind_of(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	int local = cs_transfer_far(t) < 0 && !cs_endpoint_is_numa(&t->src) &&
		    !cs_endpoint_is_numa(&t->dst);

	switch (t->method) {
	case CS_METHOD_SM:
		return local && t->op == CS_OP_READ  ? CS_COPY_SM_READ :
		       local && t->op == CS_OP_WRITE ? CS_COPY_SM_WRITE :
						       CS_COPY_SM;
	case CS_METHOD_TMA:
		return CS_COPY_TMA;
	case CS_METHOD_ZEROCOPY:
		return t->op == CS_OP_READ ? CS_COPY_ZERO_READ : CS_COPY_ZERO_WRITE;
	case CS_METHOD_FMA:
		return CS_COPY_FMA;
	case CS_METHOD_STREAM:
		return CS_COPY_CONSUME;
	case CS_METHOD_STREAMW:
		return CS_COPY_PRODUCE;
	case CS_METHOD_COPY2D:
		return CS_COPY_2D;
	case CS_METHOD_COPY3D:
		return CS_COPY_3D;
	case CS_METHOD_PACK:
		return t->issuer == e->me ? CS_COPY_PACK : CS_COPY_UNPACK;
	case CS_METHOD_SM3D:
	case CS_METHOD_CHUNK:
	case CS_METHOD_STRIDE:
		return CS_COPY_BOX;
	case CS_METHOD_CHASE:
		return t->op == CS_OP_BULK ? CS_COPY_CHASE_TMA : CS_COPY_CHASE;
	default:
		return copy_kind(e, t);
	}
}

static uint64_t arena_of(const struct cs_endpoints *e, int agent)
{
	return agent == e->me ? e->slot->arena.address : e->map[agent].address;
}

/* Who moves it sees its source there. */
static uint64_t src_of(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	const struct host_place *place;

	if (cs_endpoint_is_numa(&t->src)) {
		place = find_place(e, t, 0);
		return place ? place->buf.address : 0;
	}
	return arena_of(e, t->src.index) +
	       (t->method == CS_METHOD_CHASE ?
			cs_board_slot(e->board, t->src.index)->layout.chain_at :
			0);
}

static const struct cs_arena_layout *layout_of(const struct cs_endpoints *e,
					       const struct cs_endpoint *end)
{
	return &cs_board_slot(e->board, end->index)->layout;
}

/* Where that many copies go; in host memory all to one place. */
static struct cs_places places_of(const struct cs_endpoints *e,
				  const struct cs_transfer *t, uint32_t copies,
				  int uncounted)
{
	return cs_places_of(e->plan, &e->slot->step, t,
			    cs_endpoint_is_numa(&t->dst) ?
				    0 :
				    layout_of(e, &t->dst)->dst_bytes,
			    copies, uncounted);
}

static uint64_t dst_of(const struct cs_endpoints *e, const struct cs_transfer *t,
		       const struct cs_places *places)
{
	const struct host_place *place;

	if (cs_endpoint_is_numa(&t->dst)) {
		place = find_place(e, t, 1);
		return place ? place->buf.address : 0;
	}
	return arena_of(e, t->dst.index) + layout_of(e, &t->dst)->dst_at + places->at;
}

/* The pattern in its source; what a kernel writes without one is the agent's. */
static uint64_t key_of_source(const struct cs_endpoints *e,
			      const struct cs_transfer *t)
{
	const struct cs_hostbuf_key key = key_of(e, t, 0);

	return cs_endpoint_is_numa(&t->src) ?
		       fill_key(e, &key) :
		       cs_fill_key(e->plan->set.seed, t->src.index);
}

/* … and what is at its destination then: a kernel may write over what was copied. */
static uint64_t key_left(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	const uint64_t key = key_of_source(e, t);

	return t->method == CS_METHOD_STREAMW && t->op == CS_OP_COPY ?
		       cs_fill_key(key, 1) :
		       key;
}

/* Of the order of a chain; 0: one node after the other. */
static uint64_t chain_seed(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return t->op == CS_OP_RANDOM ? e->plan->set.seed | 1 : 0;
}

/* Where its bytes begin, and where those are that were packed. */
static void add_shape(const struct cs_endpoints *e, const struct cs_transfer *t,
		      struct cs_copy *f)
{
	f->box = cs_transfer_box(t);
	f->src += f->box.src_at;
	f->dst += f->box.dst_at;
	if (t->method != CS_METHOD_PACK)
		return;
	f->packed = arena_of(e, e->me) + e->slot->layout.dst_at;
	if (t->issuer == e->me)
		f->dst = arena_of(e, t->dst.index) + layout_of(e, &t->dst)->dst_at +
			 cs_transfer_packed_at(t);
	else
		f->packed += cs_transfer_packed_at(t);
}

struct cs_copy cs_endpoints_copy(const struct cs_endpoints *e,
				 const struct cs_transfer *t, uint32_t copies,
				 int uncounted)
{
	const struct cs_places places = places_of(e, t, copies, uncounted);
	struct cs_copy f = {
		.kind = kind_of(e, t),
		.bytes = t->bytes,
		.copies = copies,
		.positions =
			cs_method_is_kernel(t->method) ?
				(uint32_t)(cs_transfer_span(e->plan, t) / t->bytes) :
				places.n,
		.stride = places.stride,
		.key = t->method == CS_METHOD_CHASE ? chain_seed(e, t) :
		       t->method == CS_METHOD_FMA   ? (uint64_t)t->op - CS_OP_FP64 :
						      key_of_source(e, t),
	};

	if (cs_method_is_stream(t->method)) {
		f.element = cs_variant_element(&t->variant);
		f.move = t->op == CS_OP_COPY ? CS_MOVE_COPY : CS_MOVE_NOT;
	}
	if (f.kind == CS_COPY_PRODUCE)
		f.key = key_left(e, t);
	if (f.kind == CS_COPY_OUT) /* the ring is where it is */
		f.positions = 1;
	f.src = f.kind == CS_COPY_IN ? e->slot->arena.ring_address : src_of(e, t);
	f.dst = f.kind == CS_COPY_OUT	     ? e->map[t->dst.index].address :
		t->method == CS_METHOD_CHASE ? 0 :
					       dst_of(e, t, &places);
	if (f.kind == CS_COPY_IN)
		f.src += cs_stage_at(e->board, t);
	if (f.kind == CS_COPY_OUT)
		f.dst += cs_stage_at(e->board, t);
	if (cs_method_is_shaped(t->method))
		add_shape(e, t, &f);
	if (cs_stage_is(e->board, t))
		cs_stage_copy(e->board, t, e->slot->seq, &f);
	return f;
}

struct cs_tiles cs_endpoints_tiles(const struct cs_endpoints *e,
				   const struct cs_transfer *t)
{
	const struct cs_hostbuf_key key = key_of(e, t, 0);
	const struct host_place *src = find_place(e, t, 0), *dst = find_place(e, t, 1);

	return (struct cs_tiles){
		.src = src->buf.address,
		.dst = dst->buf.address,
		.key = fill_key(e, &key),
		.dst_at = dst->buf.at,
		.kernels = cs_variant_kernels(&t->variant),
	};
}

/* ---- sources ---- */

static uint64_t own_key(const struct cs_endpoints *e)
{
	return cs_fill_key(e->plan->set.seed, (uint32_t)e->me);
}

int cs_endpoints_fill(struct cs_endpoints *e)
{
	return e->backend->fill(e->dev, e->slot->arena.address,
				e->slot->layout.src_bytes, own_key(e), &e->slot->err);
}

int cs_endpoints_source(struct cs_endpoints *e)
{
	e->slot->check[0] = (struct cs_check){ .first_word = UINT64_MAX };
	if (!e->slot->layout.src_bytes)
		return 0;
	return e->backend->check(e->dev, e->slot->arena.address,
				 &CS_EXPECTED(own_key(e), e->slot->layout.src_bytes),
				 0, &e->slot->check[0], &e->slot->err);
}

/* ---- destinations ---- */

static const struct cs_step *step_of(const struct cs_endpoints *e)
{
	return &e->slot->step;
}

const struct cs_transfer *cs_endpoints_transfer(const struct cs_endpoints *e,
						uint32_t k)
{
	return cs_plan_transfer(e->plan, step_of(e), k);
}

/* Does a kernel read it, and leave nothing but the sum? */
static int is_summed(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	uint32_t kind = kind_of(e, t);

	return kind == CS_COPY_SM_READ || kind == CS_COPY_ZERO_READ ||
	       kind == CS_COPY_CONSUME || kind == CS_COPY_FMA;
}

static int is_mine(const struct cs_endpoints *e, const struct cs_transfer *t,
		   const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ?
		       t->issuer == e->me :
		       end->kind == CS_ENDPOINT_HOST && end->index == e->me;
}

struct cs_endpoints_memory cs_endpoints_memory(const struct cs_endpoints *e,
					       uint32_t k, int is_dst)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_endpoint *end = is_dst ? &t->dst : &t->src;
	const struct cs_places one = places_of(e, t, 1, 0);
	uint64_t at;

	if (!is_mine(e, t, end))
		return (struct cs_endpoints_memory){ 0 };
	if (cs_endpoint_is_numa(end))
		at = (uintptr_t)find_place(e, t, is_dst)->buf.at;
	else
		at = is_dst ? dst_of(e, t, &one) : src_of(e, t);
	return (struct cs_endpoints_memory){ (void *)(uintptr_t)at,
					     cs_transfer_span(e->plan, t),
					     key_of_source(e, t) };
}

/* Does it write anything that lasts, for me to check? */
static int is_mine_to_check(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return cs_transfer_checker(t) == e->me &&
	       (t->op <= CS_OP_BURST64K || cs_method_is_stream(t->method) ||
		cs_method_is_shaped(t->method)) &&
	       t->method != CS_METHOD_CHASE && !cs_transfer_is_managed(t) &&
	       !has_tiles(t) && !is_summed(e, t);
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

/* The buffer of an end in host memory is there and large enough. */
static int place_check(struct cs_endpoints *e, uint32_t k, int is_dst)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	struct cs_cpu_side *side = &e->slot->side[k];
	const struct host_place *place;

	if (t->issuer != e->me || !is_hosted(t, is_dst))
		return 0;
	place = find_place(e, t, is_dst);
	if (place && place->buf.at && cs_transfer_room(t) <= place->most) {
		e->slot->unproven |= place->buf.numa < 0 ||
				     place->buf.numa != place->key.numa;
		*(is_dst ? &side->dst_numa : &side->src_numa) = place->buf.numa;
		if (side->huge_percent < 0 ||
		    (place->buf.huge_percent >= 0 &&
		     place->buf.huge_percent < side->huge_percent))
			side->huge_percent = place->buf.huge_percent;
		return 0;
	}
	e->slot->refused = 1;
	return cs_err_set(&e->slot->err, "%s",
			  place ? place->refused : "no host buffer");
}

/* Where the memory lies through which it is staged. */
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

/* Wherever a sample may write. */
static int poison(struct cs_endpoints *e, const struct cs_transfer *t)
{
	const struct cs_places one = places_of(e, t, 1, 0);
	struct cs_places most;

	if (cs_endpoint_is_numa(&t->dst)) {
		cs_hostpass_poison(find_place(e, t, 1)->buf.at,
				   cs_transfer_span(e->plan, t));
		return 0;
	}
	most = cs_places_most(e->plan, &e->slot->step, t,
			      layout_of(e, &t->dst)->dst_bytes);
	if (e->backend->poison(e->dev, dst_of(e, t, &one),
			       cs_transfer_span(e->plan, t), &e->slot->err))
		return -1;
	return most.n < 2 ? 0 :
			    e->backend->poison(e->dev, dst_of(e, t, &most),
					       most.n * most.stride, &e->slot->err);
}

/* The chain that an issuer will follow, as that sees it. */
static int build_chain(struct cs_endpoints *e, const struct cs_transfer *t)
{
	uint64_t own = e->slot->arena.address, seen = own;
	uint64_t seed = chain_seed(e, t);
	struct host_place *place;

	if (cs_endpoint_is_numa(&t->src)) {
		if (t->issuer != e->me)
			return 0;
		place = find_place(e, t, 0);
		cs_chain_host(place->buf.at, t->bytes, place->buf.address, seed);
		return 0;
	}
	if (t->src.index != e->me)
		return 0;
	if (t->issuer != e->me)
		seen = cs_board_slot(e->board, t->issuer)->sees[e->me];
	return e->backend->chain(e->dev, own + e->slot->layout.chain_at, t->bytes,
				 seen + e->slot->layout.chain_at, seed != 0, seed,
				 &e->slot->err);
}

/* What a driver loads for its first copy of a shape is not loaded behind a closed gate: a
 * piece of the issuer's own buffer is copied to where it is. */
static int touch_shaped(struct cs_endpoints *e, const struct cs_transfer *t)
{
	const struct cs_backend_costs *costs = e->backend->costs;
	const struct cs_copy own = {
		.dst = e->slot->arena.address,
		.src = e->slot->arena.address,
		.copies = 1,
		.kind = kind_of(e, t),
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
	e->slot->unproven = 0;
	for (uint32_t k = 0; k < step_of(e)->count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		cs_fields_init(&cs_cpu_side_fields, &e->slot->side[k]);
		e->slot->checked[k] = e->slot->checked_whole[k] = 0;
		e->slot->stayed[k] = 0;
		e->slot->checked_part[k] = e->slot->wrong_copy[k] = 0;
		e->slot->check[k] = (struct cs_check){ .first_word = UINT64_MAX };
		if (note_ring(e, k) || place_check(e, k, 0) || place_check(e, k, 1) ||
		    (t->method == CS_METHOD_CHASE && build_chain(e, t)) ||
		    touch_shaped(e, t) ||
		    (is_mine_to_check(e, t) && !unchecked && poison(e, t)))
			return -1;
	}
	return 0;
}

/* What was found in one sample; the first fault of all is told. */
static void keep(struct cs_endpoints *e, uint32_t k, const struct cs_expected *left,
		 const struct cs_check *found)
{
	struct cs_check *sum = &e->slot->check[k], now = *found;
	uint64_t words = left->stride / sizeof(uint64_t);

	e->slot->checked[k]++;
	if (!now.wrong_words)
		return;
	if (!sum->wrong_words && left->places > 1) {
		e->slot->wrong_copy[k] = (uint32_t)(now.first_word / words) + 1;
		now.first_word %= words;
	}
	/* behind the first */
	cs_check_add(sum, &now, sum->wrong_words ? sum->first_word + 1 : 0);
}

/* Behind it and around it nothing was written. */
static struct cs_inside inside_of(const struct cs_transfer *t)
{
	const struct cs_box box = cs_transfer_box(t);

	return (struct cs_inside){ box.dst_at, box.width, box.pitch, box.rows,
				   box.dst_at - box.src_at };
}

/* What the last sample has left behind; `*whole`: all of its copies. */
static struct cs_expected left_by(const struct cs_endpoints *e, uint32_t k, int *whole)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_places places = places_of(e, t, e->copies[k], e->uncounted);
	uint64_t span = cs_transfer_span(e->plan, t), bytes = t->bytes * e->copies[k];
	struct cs_expected left = {
		key_left(e, t), t->bytes, places.stride, places.n, { 0 }
	};

	*whole = places.n > 1 ||
		 (cs_method_is_shaped(t->method) ? e->copies[k] <= 1 : bytes <= span);
	if (places.n == 1) /* all positions of a kernel */
		left = CS_EXPECTED(left.key, bytes && bytes < span ? bytes : span);
	if (cs_method_is_shaped(t->method)) {
		left = CS_EXPECTED(left.key, span);
		left.inside = inside_of(t);
	}
	return left;
}

static int check_device(struct cs_endpoints *e, uint32_t k, int again)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_places places = places_of(e, t, e->copies[k], e->uncounted);
	struct cs_check found;
	int whole;
	const struct cs_expected left = left_by(e, k, &whole);

	if (e->backend->check(e->dev, dst_of(e, t, &places), &left, again, &found,
			      &e->slot->err))
		return -1;
	keep(e, k, &left, &found);
	e->slot->checked_whole[k] += whole != 0;
	return 0;
}

/* What a CPU checks in half a millisecond. */
#define HOST_WHOLE_BYTES (4u << 20)

/* As a whole what is small, and the last sample. */
static void check_host(struct cs_endpoints *e, uint32_t k, int last)
{
	struct cs_check found;
	int whole;
	const struct cs_expected left = left_by(e, k, &whole);
	void *at = find_place(e, cs_endpoints_transfer(e, k), 1)->buf.at;
	int all = last || left.bytes <= HOST_WHOLE_BYTES;

	if (left.inside.width && all)
		cs_hostpass_check_inside(at, &left, !last, &found);
	else if (left.inside.width)
		cs_check_host_part(at, &left, e->slot->seq, HOST_WHOLE_BYTES, &found);
	else if (last)
		cs_hostpass_check(at, left.bytes, left.key, &found);
	else if (all)
		cs_check_host(at, left.bytes, left.key, 1, &found);
	else
		cs_check_host_some(at, left.bytes, left.key, e->slot->seq, &found);
	keep(e, k, &left, &found);
	e->slot->checked_whole[k] += whole && all;
	e->slot->checked_part[k] += !all;
}

int cs_endpoints_check(struct cs_endpoints *e, int last)
{
	for (uint32_t k = 0; k < step_of(e)->count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		if (!is_mine_to_check(e, t) || (!last && cs_transfer_is_load(t)))
			continue;
		if (cs_endpoint_is_numa(&t->dst))
			check_host(e, k, last);
		else if (check_device(e, k, !last))
			return -1;
	}
	return 0;
}

int cs_endpoints_check_at(struct cs_endpoints *e, uint32_t k, uint64_t address)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_expected one = CS_EXPECTED(key_of_source(e, t), t->bytes);
	struct cs_check found;

	if (e->backend->check(e->dev, address, &one, 0, &found, &e->slot->err))
		return -1;
	keep(e, k, &one, &found);
	e->slot->checked_whole[k]++;
	return 0;
}
