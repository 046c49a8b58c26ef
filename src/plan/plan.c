/* plan.c - plans read: their parts, the memory of their transfers, their time. */
#include "plan/plan.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "base/vec.h"

uint64_t cs_arena_aligned(uint64_t bytes)
{
	return (bytes + CS_ARENA_ALIGN - 1) / CS_ARENA_ALIGN * CS_ARENA_ALIGN;
}

/* ---- reading ---- */

const char *const cs_schedule_words[] = { "auto", "serial", "parallel", NULL };
const char *const cs_verify_words[] = { "all", "last", "off", NULL };

uint32_t cs_plan_round(const struct cs_plan *plan, uint32_t step)
{
	uint32_t round = cs_plan_step(plan, step)->round, n = 1;

	while (round && step + n < plan->n_steps &&
	       cs_plan_step(plan, step + n)->round == round)
		n++;
	return n;
}

struct cs_step cs_plan_together(const struct cs_plan *plan, uint32_t step,
				uint32_t count)
{
	struct cs_step all = *cs_plan_step(plan, step);

	for (uint32_t i = 1; i < count; i++)
		all.count += cs_plan_step(plan, step + i)->count;
	return all;
}

uint32_t cs_plan_step_of(const struct cs_plan *plan, uint32_t step, uint32_t k)
{
	while (k >= cs_plan_step(plan, step)->count)
		k -= cs_plan_step(plan, step++)->count;
	return step;
}

const struct cs_step *cs_plan_step(const struct cs_plan *plan, uint32_t step)
{
	const char *at = (const char *)plan + plan->steps_at;

	return (const struct cs_step *)at + step;
}

static const struct cs_transfer *transfers_of(const struct cs_plan *plan)
{
	const char *at = (const char *)plan + plan->transfers_at;

	return (const struct cs_transfer *)at;
}

const struct cs_transfer *cs_plan_transfer(const struct cs_plan *plan,
					   const struct cs_step *step, uint32_t k)
{
	return transfers_of(plan) + step->first + k;
}

int cs_plan_matrices_compare(const void *x, const void *y)
{
	const struct cs_plan_matrix *a = x, *b = y;

	return CS_KEYS(CS_ORDER(a->test, b->test), CS_ORDER(a->bytes, b->bytes),
		       cs_variant_compare(&a->variant, &b->variant));
}

struct cs_plan_matrix_words cs_plan_matrix_words(const struct cs_plan_matrix *matrix)
{
	const struct cs_variant_text variant = cs_variant_words(&matrix->variant);
	struct cs_plan_matrix_words to;

	cs_size_text(matrix->bytes, to.text, sizeof(to.text));
	if (variant.text[0])
		cs_text_add(to.text, sizeof(to.text), ", %s", variant.text);
	return to;
}

const struct cs_plan_matrix *cs_plan_matrix_at(const struct cs_plan *plan,
					       uint32_t matrix)
{
	const char *at = (const char *)plan + plan->matrices_at;

	return (const struct cs_plan_matrix *)at + matrix;
}

const struct cs_test *cs_plan_matrix_test(const struct cs_plan *plan, uint32_t matrix)
{
	return cs_test_at(cs_plan_matrix_at(plan, matrix)->test);
}

const struct cs_test *cs_plan_test(const struct cs_plan *plan,
				   const struct cs_step *step)
{
	return cs_plan_matrix_test(plan, step->matrix);
}

int cs_endpoint_is_numa(const struct cs_endpoint *end)
{
	return end->kind == CS_ENDPOINT_NODE ||
	       (end->kind == CS_ENDPOINT_HOST && end->memory > CS_MEM_ARENA);
}

int cs_endpoint_agent(const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ? -1 : end->index;
}

struct cs_endpoint cs_agent_end(const struct cs_settings *set, uint32_t agent)
{
	if (set->backend == CS_BACKEND_CPU)
		return (struct cs_endpoint){ CS_ENDPOINT_HOST, CS_MEM_ARENA,
					     (uint16_t)agent };
	return (struct cs_endpoint){ CS_ENDPOINT_GPU, CS_MEM_DEVICE, (uint16_t)agent };
}

int cs_bytes_are_sound(uint64_t bytes)
{
	return bytes && bytes % 16 == 0 && bytes <= CS_COPY_MAX;
}

int cs_endpoints_are_same(const struct cs_endpoint *a, const struct cs_endpoint *b)
{
	return a->kind == b->kind && a->memory == b->memory && a->index == b->index;
}

int cs_transfers_are_twins(const struct cs_transfer *a, const struct cs_transfer *b)
{
	return (a->method == CS_METHOD_SM || a->method == CS_METHOD_ZEROCOPY) &&
	       a->method == b->method && a->issuer == b->issuer &&
	       !cs_variant_has_grid(&a->variant) &&
	       !cs_variant_has_grid(&b->variant) &&
	       cs_endpoint_is_numa(&a->src) != cs_endpoint_is_numa(&a->dst) &&
	       cs_endpoint_is_numa(&a->src) == cs_endpoint_is_numa(&b->dst) &&
	       cs_endpoint_is_numa(&a->dst) == cs_endpoint_is_numa(&b->src);
}

/* Is the issuer one of the ends?  Between NUMA nodes any agent may be. */
static int issuer_fits(const struct cs_transfer *t, int numas)
{
	return numas == 2 ||
	       (!cs_endpoint_is_numa(&t->src) && t->issuer == t->src.index) ||
	       (!cs_endpoint_is_numa(&t->dst) && t->issuer == t->dst.index);
}

int cs_endpoints_fit(const struct cs_test *test, const struct cs_endpoint *src,
		     const struct cs_endpoint *dst, int back)
{
	int from = cs_endpoint_is_numa(src), to = cs_endpoint_is_numa(dst);

	if (cs_test_is_between(test))
		return src->kind == CS_ENDPOINT_NODE &&
		       dst->kind == CS_ENDPOINT_NODE && src->index != dst->index;
	if (src->kind == CS_ENDPOINT_NODE || dst->kind == CS_ENDPOINT_NODE)
		return 0;
	if (test->path == CS_PATH_HOST)
		return from && to && src->index != CS_NUMA_LOCAL &&
		       dst->index != CS_NUMA_LOCAL;
	if (cs_test_has_host(test))
		return from != to && (back || from == (test->path == CS_PATH_H2D));
	return !from && !to && (src->index == dst->index) == cs_test_is_within(test);
}

int cs_transfer_fits(const struct cs_transfer *t, const struct cs_test *test)
{
	return cs_endpoints_fit(test, &t->src, &t->dst,
				cs_transfer_is_load(t) || cs_test_goes_back(test)) &&
	       issuer_fits(t, cs_endpoint_is_numa(&t->src) +
				      cs_endpoint_is_numa(&t->dst));
}

int cs_transfer_is_load(const struct cs_transfer *t)
{
	return (t->flags & CS_TRANSFER_LOAD) != 0;
}

int cs_transfer_is_flops(const struct cs_transfer *t)
{
	return cs_transfer_is_load(t) && t->method == CS_METHOD_FMA;
}

int cs_transfer_is_managed(const struct cs_transfer *t)
{
	return cs_method_is_managed(t->method) || t->src.memory == CS_MEM_MANAGED ||
	       t->dst.memory == CS_MEM_MANAGED ||
	       (t->method == CS_METHOD_OVERLAP && t->op != CS_OP_COPY) ||
	       cs_op_is_prefetch_call(t->op) || cs_op_is_fault(t->op);
}

int cs_transfer_is_cpu_chase(const struct cs_transfer *t)
{
	return t->method == CS_METHOD_CHASE && cs_endpoint_is_numa(&t->src) &&
	       cs_endpoint_is_numa(&t->dst);
}

/* A chase by the CPU measures the distance of memory, so no cache may hold any of it, unless
 * it is of the caches. */
int cs_transfer_is_cold(const struct cs_transfer *t)
{
	return t->variant.cache == CS_CACHE_COLD ||
	       (cs_transfer_is_cpu_chase(t) && t->op != CS_OP_WARM);
}

uint64_t cs_transfer_faults(const struct cs_transfer *t)
{
	return (t->bytes + CS_FAULT_STRIDE - 1) / CS_FAULT_STRIDE;
}

int cs_transfer_is_lone(const struct cs_transfer *t)
{
	return (t->flags & CS_TRANSFER_LONE) != 0;
}

int cs_transfer_applies(const struct cs_transfer *t, int n_agents)
{
	return (t->src.index < n_agents || cs_endpoint_is_numa(&t->src)) &&
	       (t->dst.index < n_agents || cs_endpoint_is_numa(&t->dst)) &&
	       t->issuer < n_agents && (!cs_transfer_is_lone(t) || n_agents == 1);
}

int cs_transfer_far(const struct cs_transfer *t)
{
	if (cs_endpoint_is_numa(&t->src) || cs_endpoint_is_numa(&t->dst) ||
	    t->src.index == t->dst.index)
		return -1;
	return t->issuer == t->src.index ? t->dst.index : t->src.index;
}

int cs_transfer_checker(const struct cs_transfer *t)
{
	return cs_endpoint_is_numa(&t->dst) ? t->issuer : t->dst.index;
}

struct cs_extent cs_transfer_box(const struct cs_transfer *t)
{
	return cs_variant_box(&t->variant, t->bytes);
}

uint64_t cs_transfer_packed_at(const struct cs_transfer *t)
{
	return cs_arena_aligned(cs_transfer_box(t).span);
}

/* A GPU's own memory is slower than its cache, all else is slower than its memory: there
 * a part that is still cached changes the figure (5 % of reads of 256 MiB, H200). */
#define SPREAD_WITHIN 4

uint64_t cs_transfer_span(const struct cs_plan *plan, const struct cs_transfer *t)
{
	uint64_t spread = plan->set.spread_bytes;

	if (cs_test_is_within(cs_transfer_test(plan, t)))
		spread *= SPREAD_WITHIN;
	if (cs_method_is_shaped(t->method))
		return cs_transfer_box(t).span;
	return cs_method_is_kernel(t->method) && t->bytes < spread ?
		       spread / t->bytes * t->bytes :
		       t->bytes;
}

uint64_t cs_transfer_dst_at(const struct cs_plan *plan, const struct cs_transfer *t)
{
	return cs_endpoint_is_numa(&t->dst) ?
		       0 :
		       t->dst_slot * cs_arena_aligned(cs_transfer_span(plan, t));
}

const struct cs_test *cs_transfer_test(const struct cs_plan *plan,
				       const struct cs_transfer *t)
{
	return cs_plan_matrix_test(plan, t->matrix);
}

int cs_step_applies(const struct cs_plan *plan, const struct cs_step *step,
		    int n_agents)
{
	return CS_ALL(k, step->count,
		      cs_transfer_applies(cs_plan_transfer(plan, step, k), n_agents));
}

/* But for the matrix that its figure belongs to. */
static int is_same_transfer(const struct cs_transfer *a, const struct cs_transfer *b)
{
	struct cs_transfer other = *b;

	other.matrix = a->matrix;
	return !memcmp(a, &other, sizeof(other));
}

int cs_steps_are_alike(const struct cs_plan *plan, const struct cs_step *a,
		       const struct cs_step *b)
{
	const struct cs_test *one = cs_plan_test(plan, a), *other;
	uint32_t k = 0;

	if (a->matrix == b->matrix || a->count != b->count ||
	    (a->flags | b->flags) & CS_STEP_CONTROL)
		return 0;
	other = cs_plan_test(plan, b);
	/* between GPUs an end does not tell managed memory from malloc's */
	if (one->memory != other->memory || one->how != other->how ||
	    one->unit != other->unit || one->least_precision != other->least_precision)
		return 0;
	while (k < a->count && is_same_transfer(cs_plan_transfer(plan, a, k),
						cs_plan_transfer(plan, b, k)))
		k++;
	return k == a->count;
}

int cs_step_is_in_turn(const struct cs_plan *plan, const struct cs_step *step)
{
	for (uint32_t k = 1; k < step->count; k++)
		for (uint32_t i = 0; i < k; i++) {
			const struct cs_transfer *a = cs_plan_transfer(plan, step, i);
			const struct cs_transfer *b = cs_plan_transfer(plan, step, k);

			if (a->issuer == b->issuer && a->op == b->op &&
			    !cs_transfer_is_load(a) && !cs_transfer_is_load(b))
				return 1;
		}
	return 0;
}

static int is_pageable(const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) && end->memory == CS_MEM_PAGEABLE;
}

int cs_step_goes_on(const struct cs_plan *plan, const struct cs_step *step)
{
	const struct cs_transfer *first = cs_plan_transfer(plan, step, 0);

	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		if (t->method != CS_METHOD_CE || t->issuer != first->issuer ||
		    cs_transfer_is_load(t) ||
		    is_pageable(&t->src) == is_pageable(&t->dst))
			return 0;
	}
	return step->count > 1;
}

uint32_t cs_plan_first_between(const struct cs_plan *plan)
{
	uint32_t v = plan->n_matrices;

	while (v && cs_test_is_between(cs_plan_matrix_test(plan, v - 1)))
		v--;
	return v;
}

int cs_plan_has_between(const struct cs_plan *plan)
{
	return cs_plan_first_between(plan) < plan->n_matrices;
}

const char *cs_plan_between_word(const struct cs_plan *plan)
{
	uint32_t first = cs_plan_first_between(plan);

	return cs_path_text((int)cs_plan_matrix_test(plan, first)->path);
}

struct cs_transfer cs_between_transfer(const struct cs_plan_matrix *matrix,
				       uint32_t src, uint32_t dst)
{
	const struct cs_test *test = cs_test_at(matrix->test);
	const uint8_t memory = (uint8_t)test->memory;

	return (struct cs_transfer){
		.src = { CS_ENDPOINT_NODE, memory, (uint16_t)src },
		.dst = { CS_ENDPOINT_NODE, memory, (uint16_t)dst },
		.method = (uint8_t)test->method,
		.op = (uint8_t)test->op,
		.issuer = UINT16_MAX, /* no agent's */
		.bytes = matrix->bytes,
		.variant = matrix->variant,
	};
}

int cs_plan_matrix_is_lone(const struct cs_plan *plan, uint32_t matrix)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;

	while (t < end && t->matrix != matrix)
		t++;
	return t < end && cs_transfer_is_lone(t);
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Does it use buffers that last?  Calls of a driver make their own, or none. */
static int has_buffers(const struct cs_transfer *t)
{
	return t->op <= CS_OP_BURST64K || t->op == CS_OP_HALO ||
	       t->method == CS_METHOD_MATMUL || cs_endpoint_is_numa(&t->src) ||
	       t->src.kind != t->dst.kind || t->src.index != t->dst.index;
}

uint64_t cs_transfer_room(const struct cs_plan *plan, const struct cs_transfer *t)
{
	return has_buffers(t) ?
		       cs_transfer_dst_at(plan, t) + cs_transfer_span(plan, t) :
		       0;
}

uint64_t cs_plan_smaller(const struct cs_plan *plan, uint64_t below)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;
	uint64_t best = 0;

	for (; t < end; t++) {
		const uint64_t room = cs_transfer_room(plan, t);

		if (room < below)
			best = most(best, room);
	}
	return best;
}

/* Lay out the places after the source. */
static void lay_out(struct cs_arena_layout *l)
{
	l->chain_at = cs_arena_aligned(l->dst_at + l->dst_bytes);
	l->total_bytes = l->chain_bytes ? l->chain_at + l->chain_bytes :
			 l->dst_bytes	? l->dst_at + l->dst_bytes :
					  l->src_bytes;
}

/* The bytes of its buffer that an agent needs for packed data. */
static uint64_t packed_bytes(const struct cs_transfer *t, int agent)
{
	if (t->dst.index == agent)
		return cs_transfer_packed_at(t) + t->bytes;
	return t->src.index == agent ? t->bytes : 0;
}

void cs_plan_arena(const struct cs_plan *plan, int agent, int n_agents,
		   uint64_t limit, struct cs_arena_layout *out)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;
	uint64_t src = 0, dst = 0, chain = 0;

	for (; t < end; t++) {
		if (!has_buffers(t) || cs_transfer_room(plan, t) > limit ||
		    cs_transfer_is_managed(t) || !cs_transfer_applies(t, n_agents))
			continue;
		if (!cs_endpoint_is_numa(&t->src) && t->src.index == agent &&
		    t->method == CS_METHOD_CHASE)
			chain = most(chain, t->bytes);
		else if (!cs_endpoint_is_numa(&t->src) && t->src.index == agent)
			src = most(src, cs_transfer_span(plan, t));
		if (!cs_endpoint_is_numa(&t->dst) && t->dst.index == agent &&
		    t->method != CS_METHOD_CHASE)
			dst = most(dst, cs_transfer_dst_at(plan, t) +
						cs_transfer_span(plan, t));
		if (t->method == CS_METHOD_PACK)
			dst = most(dst, packed_bytes(t, agent));
	}
	*out = (struct cs_arena_layout){
		.src_bytes = src,
		.dst_bytes = dst,
		.chain_bytes = chain,
		.dst_at = cs_arena_aligned(src),
		.most = limit,
	};
	lay_out(out);
}

uint32_t cs_copies_most(uint64_t bytes)
{
	return bytes >= 1u << 20 ? 16 : 512;
}

int cs_transfer_rotates(const struct cs_transfer *t)
{
	return (t->method == CS_METHOD_CE || t->method == CS_METHOD_PEERCOPY ||
		t->method == CS_METHOD_STAGED) &&
	       t->op <= CS_OP_WRITE4K && !cs_transfer_is_load(t) &&
	       !cs_endpoint_is_numa(&t->dst);
}

/* The alignment of cuMemAlloc. */
#define PLACE_ALIGN 512u

uint64_t cs_transfer_stride(const struct cs_transfer *t)
{
	return (t->bytes + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
}

void cs_plan_arena_wide(const struct cs_plan *plan, int agent, int n_agents,
			uint64_t limit, struct cs_arena_layout *out)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;

	cs_plan_arena(plan, agent, n_agents, limit, out);
	for (; t < end; t++) {
		uint64_t places = (t->dst_slot + 1ull) * cs_copies_most(t->bytes);

		if (!cs_transfer_rotates(t) || t->dst.index != agent ||
		    cs_transfer_room(plan, t) > limit ||
		    !cs_transfer_applies(t, n_agents))
			continue;
		out->dst_bytes =
			most(out->dst_bytes,
			     least(places * cs_transfer_stride(t), CS_PLACES_BYTES));
	}
	lay_out(out);
}

int cs_plan_needs_peer(const struct cs_plan *plan, int agent, int peer, int staged)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;

	for (; agent != peer && t < end; t++)
		if (t->issuer == agent && cs_transfer_far(t) == peer &&
		    !cs_transfer_is_managed(t) &&
		    (t->method == CS_METHOD_STAGED) == staged)
			return 1;
	return 0;
}

/* ---- expecting ---- */

#define ESTIMATE_SAMPLES 8
#define ESTIMATE_SAMPLE_S 4.5e-3
#define ESTIMATE_STEP_S 1e-3	/* commands, replies, arming */
#define ESTIMATE_CHASE_S 25e-3
#define HOST_GBS 55.0
#define STAGED_GBS 40.0
#define PAGEABLE_GBS 7.0	/* by one CPU */
#define PREFETCH_GBS 15.0	/* the slower way */
#define DEMAND_GBS 5.0
#define CHECK_GBS 2000.0	/* of device memory, read and poisoned */

/* The fewest copies that take a sample's time. */
static double sample_s(uint64_t bytes, double link_gbs)
{
	double copy_s = (double)bytes / (link_gbs * 1e9);

	return copy_s *
	       fmin(fmax(ceil(ESTIMATE_SAMPLE_S / copy_s), 1), cs_copies_most(bytes));
}

/* The duration of tests with a fixed number of rounds. */
static double probe_s(enum cs_how how)
{
	switch (how) {
	case CS_HOW_STALL:
		return 7 * 1e-3 * CS_HOLD_MS;
	case CS_HOW_OVERLAP: /* five schedules a round, of 256 MiB */
		return 7 * 60e-3;
	case CS_HOW_PREFETCH: /* there and back, and checked, 256 MiB */
		return 7 * 60e-3;
	case CS_HOW_OPEN: /* 2.5 ms an opening on H200, two of them a round */
		return 7 * 6e-3;
	default: /* 9 batches of 64 calls, 9 of 512 copies: 3 to 5 us each */
		return 20e-3;
	}
}

/* Host memory is reached over PCIe, generation 5 is assumed; a chase has a fixed
 * length. */
static double step_sample_s(const struct cs_plan *plan, const struct cs_step *step,
			    uint64_t bytes, double link_gbs)
{
	const struct cs_test *test = cs_plan_test(plan, step);

	if (cs_method_reports_time((int)test->method))
		return ESTIMATE_CHASE_S;
	/* once, and home */
	if (test->memory == CS_MEM_MANAGED || test->memory == CS_MEM_SYSTEM)
		return 1e-9 * (double)bytes *
		       (1 / PREFETCH_GBS +
			1 / (test->method == CS_METHOD_DEMAND ||
					     test->op == CS_OP_NAIVE ||
					     test->op == CS_OP_WARP ?
				     DEMAND_GBS :
				     PREFETCH_GBS));
	if (test->memory == CS_MEM_PAGEABLE)
		return sample_s(bytes, fmin(link_gbs, PAGEABLE_GBS));
	if (test->method == CS_METHOD_STAGED)
		return sample_s(bytes, fmin(link_gbs, STAGED_GBS));
	return sample_s(bytes,
			cs_test_has_host(test) ? fmin(link_gbs, HOST_GBS) : link_gbs);
}

double cs_plan_estimate_s(const struct cs_plan *plan, double link_gbs)
{
	double seconds = 0;

	if (!(link_gbs > 0))
		return NAN;
	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);
		enum cs_how how = cs_plan_test(plan, step)->how;
		uint64_t bytes = 0;
		double check_s;

		if (s && step->round &&
		    step->round == cs_plan_step(plan, s - 1)->round &&
		    cs_test_goes_in_rounds_within(cs_plan_test(plan, step)))
			continue;
		seconds += ESTIMATE_STEP_S;
		if (how != CS_HOW_GATED) {
			seconds += probe_s(how);
			continue;
		}
		/* transfers of a step run together: the longest counts */
		for (uint32_t k = 0; k < step->count; k++)
			bytes = most(bytes, cs_plan_transfer(plan, step, k)->bytes);
		check_s = (double)bytes / (CHECK_GBS * 1e9);
		if (plan->set.verify == CS_VERIFY_OFF)
			check_s = 0;
		seconds += ESTIMATE_SAMPLES *
			   (step_sample_s(plan, step, bytes, link_gbs) + check_s);
	}
	return seconds;
}

int cs_transfer_is_cpu_touch(const struct cs_transfer *t)
{
	return (t->method == CS_METHOD_DEMAND || cs_op_is_fault(t->op)) &&
	       cs_endpoint_is_numa(&t->dst);
}

int cs_transfer_is_by_all_cores(const struct cs_transfer *t)
{
	return t->method == CS_METHOD_TEAM ||
	       (t->method == CS_METHOD_FMA && cs_endpoint_is_numa(&t->src));
}

int cs_transfer_is_by_cpu(const struct cs_transfer *t)
{
	int numas = cs_endpoint_is_numa(&t->src) + cs_endpoint_is_numa(&t->dst);

	if (t->method == CS_METHOD_CPU || t->method == CS_METHOD_MATMUL ||
	    cs_transfer_is_by_all_cores(t))
		return numas == 2;
	if (cs_transfer_is_managed(t))
		return cs_transfer_is_cpu_touch(t);
	return numas &&
	       (t->src.memory == CS_MEM_PAGEABLE || t->dst.memory == CS_MEM_PAGEABLE);
}

int cs_step_resets_buffers(const struct cs_plan *plan, const struct cs_step *step)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		if (t->variant.cache != CS_CACHE_ANY || cs_transfer_is_cold(t) ||
		    cs_transfer_is_managed(t))
			return 1;
	}
	return 0;
}

int cs_step_resets_twice(const struct cs_plan *plan, const struct cs_step *step)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		if (cs_transfer_is_managed(t) &&
		    (cs_transfer_far(t) >= 0 || t->variant.advice != CS_ADVICE_NONE))
			return 1;
	}
	return 0;
}
