/* memory_host.c - ends in host memory: buffers of this process, which its agents take in
 * turn. */
#include <string.h>

#include "base/chain.h"
#include "node/agent/hostbuf.h"
#include "node/agent/host_fill_check.h"
#include "node/agent/lane.h"
#include "node/agent/memory.h"

/* Slots of host memory: as many as transfers of a step use at once; the same again for
 * chains; tiles of each agent. */
#define SLOT_CHAINS CS_STEP_MAX
#define SLOT_TILES (2 * SLOT_CHAINS)

/* A buffer of host memory, or the reason why there is none. */
struct host_place {
	struct cs_hostbuf_key key;
	struct cs_hostbuf buf;
	uint64_t fill;		   /* the key of its pattern */
	uint64_t most;		   /* larger transfers have no room */
	char refused[CS_ERR_TEXT]; /* why not; "" */
};

/* ---- which buffers there are ---- */

/* Its place among the agents of its process. */
static int ordinal_of(const struct cs_endpoints *e, int agent)
{
	int64_t pid = cs_board_slot(e->board, agent)->pid;

	return CS_COUNT(i, agent, cs_board_slot(e->board, i)->pid == pid);
}

/* Which of the buffers of its issuer's process: one for each that uses it at the same
 * time.  Most of the time before the first sample is pinning memory. */
static int slot_of(const struct cs_endpoints *e, const struct cs_transfer *t,
		   int is_dst)
{
	const int64_t pid = cs_board_slot(e->board, t->issuer)->pid;
	int before = is_dst ? t->dst_slot : t->src_slot, n = 0;

	while (before) { /* the other transfers of its step come before it */
		t--;
		if (!cs_endpoint_is_numa(is_dst ? &t->dst : &t->src))
			continue;
		n += cs_board_slot(e->board, t->issuer)->pid == pid;
		before--;
	}
	return n;
}

/* Does it go through host memory of its issuer, which is no end of it? */
static int has_tiles(const struct cs_transfer *t)
{
	return t->method == CS_METHOD_OVERLAP && !cs_transfer_is_managed(t);
}

/* Is there host memory for that end?  A CPU that chases has only its registers. */
static int is_hosted(const struct cs_transfer *t, int is_dst)
{
	return (cs_endpoint_is_numa(is_dst ? &t->dst : &t->src) &&
		!cs_transfer_is_managed(t) &&
		!(is_dst && cs_transfer_is_cpu_chase(t))) ||
	       has_tiles(t);
}

/* Do all GPUs read it? */
static int is_shared(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return cs_transfer_test(e->plan, t)->pattern == CS_PATTERN_SHARED;
}

/* The buffer of a transfer's end in host memory; one that is shared is next to the first
 * GPU. */
static struct cs_hostbuf_key key_of(const struct cs_endpoints *e,
				    const struct cs_transfer *t, int is_dst)
{
	const struct cs_endpoint *end = is_dst ? &t->dst : &t->src;
	enum cs_hostbuf_use use = is_dst ? CS_HOSTBUF_TARGET : CS_HOSTBUF_SOURCE;
	int chain = t->method == CS_METHOD_CHASE;
	const int near = is_shared(e, t) ? 0 : t->issuer;
	const struct cs_agent_facts *f = &cs_board_slot(e->board, near)->facts;
	/* such a GPU may reach pages of ours in another way than the driver's */
	const int by_driver = f->gpu.host_tables == 1;

	if (has_tiles(t))
		return (struct cs_hostbuf_key){
			.memory = CS_MEM_PINNED,
			.numa = f->numa,
			.slot = SLOT_TILES + ordinal_of(e, t->issuer),
			.by_driver = by_driver,
			.use = use,
		};
	return (struct cs_hostbuf_key){
		.memory = end->memory == CS_MEM_PAGEABLE ? CS_MEM_ARENA : end->memory,
		.numa = end->index == CS_NUMA_LOCAL ? f->numa : end->index,
		.slot = slot_of(e, t, is_dst) + (chain ? SLOT_CHAINS : 0),
		.by_driver = by_driver,
		.use = chain ? CS_HOSTBUF_CHAIN : use,
	};
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
	const struct cs_hostbuf_key key = key_of(e, t, is_dst);

	CS_EACH(struct host_place, place, &e->host)
		if (cs_hostbuf_same(&place->key, &key))
			return place;
	return NULL;
}

static const struct cs_transfer *first_transfer(const struct cs_plan *plan)
{
	return cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);
}

/* The largest size in which agents of this process use a buffer. */
static uint64_t wanted(const struct cs_endpoints *e, const struct cs_hostbuf_key *key,
		       uint64_t most)
{
	const struct cs_transfer *t = first_transfer(e->plan);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < e->plan->n_transfers; i++, t++)
		for (int is_dst = 0; is_dst < 2; is_dst++) {
			struct cs_hostbuf_key of;

			if (cs_transfer_room(e->plan, t) > most ||
			    !cs_transfer_applies(t, (int)e->board->n_agents) ||
			    !is_hosted(t, is_dst) ||
			    cs_board_slot(e->board, t->issuer)->pid != e->slot->pid)
				continue;
			of = key_of(e, t, is_dst);
			if (cs_hostbuf_same(&of, key) &&
			    cs_transfer_span(e->plan, t) > bytes)
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
				    place->fill, &place->buf, &err))
			return;
		if (!place->refused[0])
			cs_text(place->refused, sizeof(place->refused), "%s",
				err.text);
	}
	place->most = 0;
}

/* The facts have the proof of the first buffer; rows are flagged if one is not proven. */
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

/* The host buffers that the agent's transfers need. */
static int open_places(struct cs_endpoints *e)
{
	const struct cs_transfer *t = first_transfer(e->plan);

	if (!e->host.n)
		e->host = (struct cs_vec)CS_VEC(struct host_place);
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
			place->fill = fill_key(e, &place->key);
			make_place(e, place);
			note_proof(e, place);
		}
	return 0;
}

static void close_places(struct cs_endpoints *e)
{
	if (e->host.n)
		cs_hostbuf_put(e->backend, e->dev);
	cs_vec_release(&e->host);
}

/* ---- for a transfer ---- */

static uint64_t address(const struct cs_endpoints *e, const struct cs_transfer *t,
			int is_dst, uint64_t offset)
{
	const struct host_place *place = find_place(e, t, is_dst);

	(void)offset; /* all copies go to one place */
	return place ? place->buf.address : 0;
}

static void *cpu_address(const struct cs_endpoints *e, const struct cs_transfer *t,
			 int is_dst)
{
	return t->issuer == e->me && is_hosted(t, is_dst) ?
		       find_place(e, t, is_dst)->buf.at :
		       NULL;
}

static uint64_t key_of_source(const struct cs_endpoints *e,
			      const struct cs_transfer *t)
{
	return find_place(e, t, 0)->fill;
}

static int poison(struct cs_endpoints *e, const struct cs_transfer *t)
{
	cs_poison_host_parallel(find_place(e, t, 1)->buf.at,
				cs_transfer_span(e->plan, t));
	return 0;
}

static int chain(struct cs_endpoints *e, const struct cs_transfer *t, uint64_t seed)
{
	const struct host_place *place = find_place(e, t, 0);

	if (t->issuer == e->me)
		cs_chain_host(place->buf.at, t->bytes, place->buf.address, seed);
	return 0;
}

/* Do all issuers of the step that share a buffer belong to one process? */
static int share_check(struct cs_endpoints *e, const struct cs_transfer *t)
{
	if (!is_shared(e, t))
		return 0;
	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const int issuer = cs_endpoints_transfer(e, k)->issuer;

		if (cs_board_slot(e->board, issuer)->pid == e->slot->pid)
			continue;
		e->slot->refused = 1;
		return cs_err_set(&e->slot->err,
				  "a buffer is of one process, which must have all "
				  "GPUs (--placement thread)");
	}
	return 0;
}

/* The buffer of an end in host memory is there and large enough. */
static int place_check(struct cs_endpoints *e, uint32_t k, int is_dst)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	struct cs_cpu_side *side = &e->slot->side[k];
	const struct host_place *place;

	if (t->issuer != e->me || !is_hosted(t, is_dst))
		return 0;
	if (share_check(e, t))
		return -1;
	place = find_place(e, t, is_dst);
	if (place && place->buf.at && cs_transfer_room(e->plan, t) <= place->most) {
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

static int begin(struct cs_endpoints *e)
{
	for (uint32_t k = 0; k < e->slot->step.count; k++)
		if (place_check(e, k, 0) || place_check(e, k, 1))
			return -1;
	return 0;
}

/* checked by a CPU in half a millisecond */
#define HOST_WHOLE_BYTES (4u << 20)

/* Small buffers are checked as a whole, and the last sample. */
static int check(struct cs_endpoints *e, uint32_t k, const struct cs_left *left,
		 int last)
{
	const struct cs_expected *bytes = &left->bytes;
	void *at = find_place(e, cs_endpoints_transfer(e, k), 1)->buf.at;
	int all = last || bytes->bytes <= HOST_WHOLE_BYTES;
	int by_words = bytes->inside.width || bytes->triad || bytes->same;
	struct cs_check found;

	if (by_words && all)
		cs_check_host_words_parallel(at, bytes, !last, &found);
	else if (by_words)
		cs_check_host_part(at, bytes, e->slot->seq, HOST_WHOLE_BYTES, &found);
	else if (last)
		cs_check_host_parallel(at, bytes->bytes, bytes->key, &found);
	else if (all)
		cs_check_host(at, bytes->bytes, bytes->key, 1, &found);
	else
		cs_check_host_some_parallel(at, bytes->bytes, bytes->key,
					    &(struct cs_some){ e->slot->seq, 1 },
					    &found);
	cs_slot_found(e->slot, k, bytes, &found);
	e->slot->checked_whole[k] += left->whole && all;
	e->slot->checked_part[k] += !all;
	return 0;
}

static struct cs_tiles tiles_of(const struct cs_endpoints *e,
				const struct cs_transfer *t)
{
	const struct host_place *src = find_place(e, t, 0), *dst = find_place(e, t, 1);

	return (struct cs_tiles){
		.src = src->buf.address,
		.dst = dst->buf.address,
		.key = key_of_source(e, t),
		.dst_at = dst->buf.at,
		.kernels = cs_variant_kernels(&t->variant),
		.bytes = t->variant.tile,
	};
}

const struct cs_memory_kind cs_memory_host = {
	.open = open_places,
	.close = close_places,
	.begin = begin,
	.address = address,
	.cpu_address = cpu_address,
	.key = key_of_source,
	.poison = poison,
	.chain = chain,
	.check = check,
	.tiles = tiles_of,
};
