/* memory_managed.c - managed memory of a step: ranges, each of one transfer and its
 * issuer, that have two places, the transfer's source and its destination.
 *
 * A range lives as long as its cell. Before each sample its pages are brought to the
 * source, by a prefetch and never by touching, and after it they are located at the
 * destination: the kernel shows which are in host memory, and a pass of a GPU reads
 * only its own memory so fast. A sample whose pages were in another place fails, with
 * slot->not_moved.  The bytes are compared where that takes less time: at the
 * destination, or, unless the sample is the last, back at the source. */
#include <unistd.h>

#include "base/units.h"
#include "node/agent/host_fill_check.h"
#include "node/agent/lane.h"
#include "node/agent/pages.h"

/* Apart from those of agents and host buffers. */
#define KEYS 0x40000000u
/* A warp faults on this much at a time, as in the published experiment. */
#define STREAM_PAGE (64u << 10)

static uint64_t key_of(const struct cs_endpoints *e, uint32_t k)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);

	return cs_fill_key(e->plan->set.seed, KEYS + t->issuer * CS_STEP_MAX + k);
}

static int is_on(const struct cs_endpoint *end, int agent)
{
	return end->kind == CS_ENDPOINT_GPU && end->index == agent;
}

static int is_mine(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return cs_transfer_is_managed(t) && t->issuer == e->me;
}

/* ---- how much there may be ---- */

/* Bytes that may come to the agent's GPU. */
static uint64_t to_come(const struct cs_endpoints *e)
{
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		if (cs_transfer_is_managed(t) &&
		    (is_on(&t->src, e->me) || is_on(&t->dst, e->me)))
			bytes += t->bytes;
	}
	return bytes;
}

static uint64_t limit_of(const struct cs_endpoints *e)
{
	uint64_t bytes = e->plan->set.managed_bytes;

	return bytes ? bytes : CS_MANAGED_BYTES;
}

static int refuse_bytes(struct cs_endpoints *e, uint64_t bytes, uint64_t room)
{
	char want[24], left[24], limit[24];

	cs_size_text(bytes, want, sizeof(want));
	cs_size_text(room, left, sizeof(left));
	cs_size_text(limit_of(e), limit, sizeof(limit));
	return cs_err_set(&e->slot->err,
			  "%s of managed memory may come to GPU %s, of which %s are free: "
			  "allowed are half of that, and %s (--set managed-limit)",
			  want, e->slot->facts.label, left, limit);
}

/* A GPU that is asked for more than it has may hang. */
static int guard(struct cs_endpoints *e)
{
	const uint64_t percent = e->plan->set.oversubscribe;
	uint64_t bytes = to_come(e), room;

	if (e->backend->um->room(e->dev, &room, &e->slot->err))
		return -1;
	if (percent ? bytes <= room / 100 * percent :
		      bytes <= room / 2 && bytes <= limit_of(e))
		return 0;
	e->slot->refused = 1;
	return refuse_bytes(e, bytes, room);
}

/* ---- to make ---- */

/* Pages are touched each so many bytes. */
static uint64_t touch_stride(const struct cs_transfer *t)
{
	return cs_op_is_fault(t->op) ? CS_FAULT_STRIDE :
				       (uint64_t)sysconf(_SC_PAGESIZE);
}

static int can(struct cs_endpoints *e)
{
	return e->backend->um->can(e->dev, &e->slot->err);
}

static int alloc(struct cs_endpoints *e, uint64_t bytes, uint64_t *at)
{
	return e->backend->um->make(e->dev, bytes, at, &e->slot->err);
}

static void give_back(struct cs_endpoints *e, uint64_t at, uint64_t bytes)
{
	(void)bytes;
	e->backend->um->free(e->dev, at);
}

static const struct cs_range_kind managed = { can, alloc, give_back };

static const struct cs_range_kind *kind_of(const struct cs_endpoints *e,
					   const struct cs_transfer *t)
{
	return t->op == CS_OP_SYSTEM ||
			       cs_transfer_test(e->plan, t)->memory == CS_MEM_SYSTEM ?
		     &cs_range_system :
		     &managed;
}

static int make(struct cs_endpoints *e, uint32_t k)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	const struct cs_um_place own = { e->slot->facts.gpu.ordinal, -1 };
	struct cs_range *range = &e->range[e->n_ranges];

	if (e->n_ranges == CS_LANES) {
		e->slot->refused = 1;
		return cs_err_set(&e->slot->err,
				  "more than %d transfers by one agent", CS_LANES);
	}
	*range = (struct cs_range){
		.kind = kind_of(e, t),
		.k = k,
		.bytes = t->bytes,
		.pattern = { key_of(e, k), touch_stride(t), 0 },
	};
	if (range->kind->make(e, t->bytes, &range->at))
		return -1;
	e->n_ranges++;
	e->slot->range_at[k] = range->at;
	return cs_rc(e->backend->um->bring(e->dev, range->at, t->bytes, &own,
					   &e->slot->err) ||
		     e->backend->fill(e->dev, range->at, t->bytes, range->pattern.key,
				      &e->slot->err));
}

/* Check that all ranges which may come to this GPU fit, those of other issuers
 * too. */
static int can_all(struct cs_endpoints *e)
{
	if (!e->backend->um)
		return cs_err_set(&e->slot->err, "this backend has no managed memory");
	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		if (cs_transfer_is_managed(t) && kind_of(e, t)->can(e))
			return -1;
	}
	return 0;
}

/* Allocate and fill the ranges that the agent issues, unless more than is allowed would
 * come to its GPU. */
static int make_all(struct cs_endpoints *e)
{
	if (!to_come(e))
		return 0;
	if (can_all(e)) {
		e->slot->refused = 1;
		return -1;
	}
	if (guard(e))
		return -1;
	for (uint32_t k = 0; k < e->slot->step.count; k++)
		if (is_mine(e, cs_endpoints_transfer(e, k)) && make(e, k))
			return -1;
	return 0;
}

static void release(struct cs_endpoints *e)
{
	cs_pages_count(e, 0); /* of a cell that failed */
	while (e->n_ranges) {
		const struct cs_range *range = &e->range[--e->n_ranges];

		range->kind->free(e, range->at, range->bytes);
	}
}

static uint32_t copy_kind_of(const struct cs_transfer *t)
{
	switch (t->method) {
	case CS_METHOD_PREFETCH:
		return CS_COPY_PREFETCH;
	case CS_METHOD_STREAM:
		return CS_COPY_CONSUME;
	case CS_METHOD_STREAMW:
		return CS_COPY_PRODUCE;
	case CS_METHOD_CHASE:
		return CS_COPY_FAULT;
	default:
		return CS_COPY_TOUCH;
	}
}

/* The key of the contents after sample `seq`; a range that is written gets another
 * pattern each time. */
static uint64_t key_left(const struct cs_endpoints *e, const struct cs_range *range,
			 uint32_t seq)
{
	const uint64_t key = key_of(e, range->k);

	return cs_endpoints_transfer(e, range->k)->method == CS_METHOD_STREAMW ?
		       cs_fill_key(key, seq) :
		       key;
}

static struct cs_copy copy_of(const struct cs_endpoints *e,
			      const struct cs_transfer *t)
{
	uint32_t k = (uint32_t)(t - cs_endpoints_transfer(e, 0));
	struct cs_copy f = {
		.kind = copy_kind_of(t),
		.bytes = t->bytes,
		.copies = 1,
		.positions = 1,
		.to = cs_page_place(e, &t->dst),
		.mark = e->slot->seq,
		.element = cs_variant_element(&t->variant),
		.page = t->op == CS_OP_WARP ? STREAM_PAGE : 0,
		.move = t->op == CS_OP_PREFETCH ? CS_MOVE_PREFETCH : CS_MOVE_NOT,
	};

	for (int i = 0; i < e->n_ranges; i++)
		if (e->range[i].k == k) {
			f.src = f.dst = e->range[i].at;
			f.key = key_left(e, &e->range[i], e->slot->seq);
			f.stride = e->range[i].pattern.page;
		}
	return f;
}

static struct cs_tiles tiles_of(const struct cs_endpoints *e,
				const struct cs_transfer *t)
{
	const struct cs_copy all = copy_of(e, t);

	return (struct cs_tiles){
		.src = all.dst,
		.dst = all.dst,
		.key = all.key,
		.dst_at = (void *)(uintptr_t)all.dst,
		.kernels = cs_variant_kernels(&t->variant),
		.bytes = t->variant.tile,
		.managed = 1,
		.gpu = all.to,
		.home = { -1, e->slot->facts.numa },
	};
}

/* Check the contents of the range from the side that can read it without moving pages. */
static int check_contents(struct cs_endpoints *e, const struct cs_range *range,
			  int by_cpu, struct cs_check *found, int *near)
{
	*near = 1;
	if (!by_cpu)
		return e->backend->um->check(e->dev, range->at, range->bytes,
					     &range->pattern, found, near,
					     &e->slot->err);
	cs_check_touched_parallel((void *)(uintptr_t)range->at, range->bytes,
				  &range->pattern, found);
	return 0;
}

static int refuse_stayed(struct cs_endpoints *e)
{
	e->slot->refused = 1;
	return cs_err_set(&e->slot->err,
			  "as advised its pages stay where they are and are used from "
			  "there: nothing moves, so there is no rate");
}

static void note_checked(struct cs_endpoints *e, const struct cs_range *range,
			 const struct cs_check *found)
{
	cs_slot_found(e->slot, range->k,
		      &CS_EXPECTED(range->pattern.key, range->bytes), found);
	e->slot->checked_whole[range->k]++;
}

/* Are the contents compared when its pages are back?  The agent's GPU reads them there to
 * prove that, and a chase of faults left most pages there. */
static int is_checked_at_source(const struct cs_endpoints *e,
				const struct cs_transfer *t)
{
	return e->slot->what != CS_CMD_CHECK && cs_transfer_far(t) < 0 &&
	       (is_on(&t->src, e->me) || cs_op_is_fault(t->op));
}

static int judge(struct cs_endpoints *e, struct cs_range *range, int checked)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, range->k);
	struct cs_check found = { .first_word = UINT64_MAX };
	int stayed = cs_pages_have_stayed(e, range), copied, by_cpu, known = 1, near;

	copied = stayed && t->method == CS_METHOD_PREFETCH;
	by_cpu = cs_endpoint_is_numa(stayed && !copied ? &t->src : &t->dst);
	if (!stayed && cs_pages_prove_host(e, range, 1, &known))
		return -1;
	range->owed = checked && !stayed && is_checked_at_source(e, t);
	if (range->owed)
		checked = 0;
	else if ((!by_cpu || checked) &&
		 check_contents(e, range, by_cpu, &found, &near))
		return -1;
	/* untouched pages have just come: the speed of a pass proves nothing */
	if (cs_op_is_fault(t->op) && !by_cpu)
		near = cs_pages_may_stay(t) && cs_transfer_far(t) >= 0 ? 0 : -1;
	if (!by_cpu && !near && cs_pages_may_stay(t) && cs_transfer_far(t) >= 0)
		stayed = 1; /* used from afar, or it would have come */
	else if (!by_cpu && cs_pages_prove_near(e, t, 1, near, known))
		return -1;
	e->slot->stayed[range->k] |= stayed || copied ||
				     (cs_transfer_far(t) >= 0 && cs_pages_may_stay(t) &&
				      t->method == CS_METHOD_PREFETCH);
	if (checked)
		note_checked(e, range, &found);
	return stayed && !copied && !found.wrong_words ? refuse_stayed(e) : 0;
}

static int is_of_tiles(const struct cs_transfer *t)
{
	return t->method == CS_METHOD_OVERLAP || t->method == CS_METHOD_CALL;
}

/* After sample `seq`: are all pages at the destination? */
static int judge_all(struct cs_endpoints *e, uint32_t seq, int checked)
{
	for (int i = 0; i < e->n_ranges; i++) {
		struct cs_range *range = &e->range[i];

		if (cs_pages_are_touched(cs_endpoints_transfer(e, range->k)))
			range->pattern.mark = seq;
		range->pattern.key = key_left(e, range, seq);
		/* rounds of tiles are judged when they are measured */
		if (is_of_tiles(cs_endpoints_transfer(e, range->k)))
			continue;
		if (judge(e, range, checked))
			return -1;
	}
	return 0;
}

/* By a pass of the agent's own GPU over what is there, which finds what is wrong. */
static int prove_own(struct cs_endpoints *e, uint32_t k, uint64_t at,
		     const struct cs_touched *pattern, int known,
		     struct cs_check *found)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	int near;

	return cs_rc(e->backend->um->check(e->dev, at, t->bytes, pattern, found,
					   &near, &e->slot->err) ||
		     cs_pages_prove_near(e, t, 0, near, known));
}

/* Give (`on`) or take back the advice of the range's transfer. */
static int advise(struct cs_endpoints *e, const struct cs_range *range, int on)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, range->k);
	const uint8_t advice = t->variant.advice;
	const struct cs_um_place of =
		cs_page_place(e, advice == CS_ADVICE_PREFER_SRC ? &t->src : &t->dst);

	if (advice == CS_ADVICE_NONE)
		return 0;
	return e->backend->um->advise(e->dev, range->at, range->bytes,
				      advice == CS_ADVICE_READ_MOSTLY ?
					      CS_UM_READ_MOSTLY :
				      advice == CS_ADVICE_ACCESSED_BY ?
					      CS_UM_ACCESSED_BY :
					      CS_UM_PREFERRED,
				      &of, on, &e->slot->err);
}

/* Give the advice of the step's transfers, when all pages are at their sources, with proof. */
static int advise_all(struct cs_endpoints *e)
{
	for (int i = 0; i < e->n_ranges; i++)
		if (advise(e, &e->range[i], 1))
			return -1;
	return 0;
}

/* Bring its pages to the source of its transfer, prove it, and compare what is owed. */
static int reset_range(struct cs_endpoints *e, struct cs_range *range)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, range->k);
	const struct cs_um_place home = cs_page_place(e, &t->src);
	struct cs_check found = { .first_word = UINT64_MAX };
	const int own = is_on(&t->src, e->me), owed = range->owed;
	int known, near;

	range->owed = 0;
	if (advise(e, range, 0) ||
	    e->backend->um->bring(e->dev, range->at, range->bytes, &home,
				  &e->slot->err) ||
	    cs_pages_prove_host(e, range, 0, &known) ||
	    (own && prove_own(e, range->k, range->at, &range->pattern, known, &found)) ||
	    (owed && !own && check_contents(e, range, 1, &found, &near)))
		return -1;
	if (owed)
		note_checked(e, range, &found);
	return 0;
}

static int reset_pages(struct cs_endpoints *e)
{
	for (int i = 0; i < e->n_ranges; i++)
		if (reset_range(e, &e->range[i]))
			return -1;
	return 0;
}

/* The same question of ranges of others of this process, which lie on the agent's GPU. */
static int prove_others(struct cs_endpoints *e)
{
	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);
		uint64_t at = cs_board_slot(e->board, t->issuer)->range_at[k];
		/* a word that is not what it looks for takes it long: the pattern that
		 * is there */
		const struct cs_touched pattern = { key_of(e, k),
						    (uint64_t)sysconf(_SC_PAGESIZE),
						    0 };
		struct cs_check unused;

		if (cs_transfer_is_managed(t) && !is_mine(e, t) &&
		    is_on(&t->src, e->me) && prove_own(e, k, at, &pattern, 1, &unused))
			return -1;
	}
	return 0;
}

static int settle(struct cs_endpoints *e)
{
	return prove_others(e) || advise_all(e) ? -1 : 0;
}

const struct cs_memory_kind cs_memory_managed = {
	.begin = make_all,
	.end = release,
	.reset = reset_pages,
	.settle = settle,
	.count = cs_pages_count,
	.judge = judge_all,
	.copy = copy_of,
	.tiles = tiles_of,
};
