#include "node/agent/agent_parts.h"

#include <string.h>

#include "base/fma.h"
#include "base/matmul.h"
#include "node/agent/copy.h"
#include "node/agent/lane.h"
#include "node/agent/tiles.h"
#include "node/board/stage.h"

static int wait_lane(struct cs_endpoints *e, int lane, double *ns)
{
	return cs_lane_wait(e->backend, e->dev, e->board, e->slot, lane, ns);
}

static void report_armed(struct cs_endpoints *e)
{
	cs_lane_armed(e->board, e->slot);
}

int cs_agent_cell_stamp(struct cs_endpoints *e)
{
	_Atomic uint32_t *word = &e->board->stamp[e->me].word;
	double ns;

	if (e->backend->arm_stamp(e->dev, 0, (const uint32_t *)&e->board->gate,
				  e->slot->seq, (uint32_t *)word, &e->slot->err))
		return -1;
	report_armed(e);
	return wait_lane(e, 0, &ns);
}

int cs_agent_cell_prepare(struct cs_agent_cell *c, struct cs_endpoints *e)
{
	c->filled_seq = 0;
	cs_endpoints_release(e); /* of a cell that failed */
	return cs_endpoints_prepare(e, e->plan->set.verify == CS_VERIFY_OFF);
}

static int is_to_check(struct cs_agent_cell *c, struct cs_endpoints *e)
{
	return !(e->slot->flags & CS_CMD_UNCHECKED) && c->filled_seq;
}

/* All gates are open: make the calls that may block, before the sample is armed. */
int cs_agent_cell_reset(struct cs_agent_cell *c, struct cs_endpoints *e)
{
	int checks = is_to_check(c, e);
	uint32_t seq = c->filled_seq;

	if (e->slot->flags & CS_CMD_AFTER) {
		if (cs_endpoints_settle(e))
			return -1;
	} else {
		c->filled_seq = 0;
		if ((seq && cs_endpoints_judge(e, seq, checks)) ||
		    (checks && cs_endpoints_check(e, 0)) || cs_endpoints_reset(e) ||
		    cs_reset_buffers(e, &c->cpu, c->flush ? c->flush : cs_flush_ways()))
			return -1;
	}
	if (e->slot->flags & CS_CMD_COUNT)
		cs_endpoints_count(e, 1);
	return 0;
}

/* Use the coordinator's division of kernels; it tries all of them. */
static void set_geometry(struct cs_endpoints *e, struct cs_copy *desc)
{
	const struct cs_backend *backend = e->backend;
	struct cs_slot *slot = e->slot;
	uint32_t n = 0, blocks, threads;

	while (backend->geometry &&
	       backend->geometry(e->dev, desc, n, &blocks, &threads)) {
		if (n++ != slot->geometry)
			continue;
		desc->blocks = slot->blocks = blocks;
		desc->threads = slot->threads = threads;
	}
	slot->geometries = n;
}

/* The transfers of a lane: transfer k of the step, and by the same kernel another one back;
 * NO_BACK: none. */
struct burden {
	uint32_t k, back;
};
#define NO_BACK UINT32_MAX

/* My transfers of the step on as many lanes as they need, or -1.  Two kernels get
 * multiprocessors as it happens, and now the one, now the other is slow: one kernel
 * makes twins. */
static int share_out(struct cs_endpoints *e, struct burden *mine)
{
	int n = 0, i;

	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		if (!cs_copy_is_mine(e, t))
			continue;
		for (i = 0; i < n; i++)
			if (e->backend->lasted_back && mine[i].back == NO_BACK &&
			    cs_transfers_are_twins(cs_endpoints_transfer(e, mine[i].k),
						   t))
				break;
		if (i == CS_LANES) {
			e->slot->refused = 1;
			return cs_err_set(&e->slot->err,
					  "more than %d transfers by one agent",
					  CS_LANES);
		}
		if (i < n)
			mine[i].back = k;
		else
			mine[n++] = (struct burden){ k, NO_BACK };
	}
	return n;
}

static struct cs_copy copy_of(const struct cs_endpoints *e, uint32_t k)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);

	return cs_copy_of(e, t, e->slot->copies[k], e->slot->flags & CS_CMD_FIRST);
}

static void add_back(struct cs_copy *desc, const struct cs_copy *back)
{
	desc->back.dst = back->dst;
	desc->back.src = back->src;
	desc->back.bytes = back->bytes;
	desc->back.key = back->key;
	desc->back.copies = back->copies;
	desc->back.positions = back->positions;
}

/* A stream holds this much of copies that the driver stages; enqueuing more blocks while
 * the gate is closed (256 MiB do not, 512 MiB do: H200, driver 580). */
#define STAGED_MOST ((uint64_t)256 << 20)

/* Is the k-th transfer carried by CPUs?  If the driver stages it, CPUs call the driver
 * after the gate has opened if a stream would not hold the copies, or if those of a NUMA
 * node are requested: only the driver knows through which memory. */
static int is_carried(const struct cs_endpoints *e, uint32_t k)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	int far = cs_transfer_far(t);

	return cs_transfer_is_by_cpu(t) ||
	       (far >= 0 && e->map[far].via == CS_VIA_DRIVER &&
		(t->variant.cpu_numa || e->slot->copies[k] * t->bytes > STAGED_MOST));
}

/* *lanes counts that which failed as well, for it may hold a part. */
static int arm_mine(struct cs_agent_cell *c, struct cs_endpoints *e,
		    struct burden *mine, int *lanes)
{
	const struct cs_backend *backend = e->backend;
	int n = share_out(e, mine), rc = n < 0 ? -1 : 0;

	e->slot->blocks = e->slot->threads = e->slot->geometries = 0;
	while (*lanes < n && !rc) {
		const struct burden *with = &mine[*lanes];
		const struct cs_transfer *t = cs_endpoints_transfer(e, with->k);
		struct cs_copy desc = copy_of(e, with->k), back;

		if (is_carried(e, with->k)) {
			rc = cs_cpu_transfer_arm(&c->cpu, (*lanes)++, with->k, t,
						 &desc);
			continue;
		}
		if (with->back != NO_BACK) {
			back = copy_of(e, with->back);
			add_back(&desc, &back);
		}
		if (!cs_transfer_is_flops(t)) /* which has no row */
			set_geometry(e, &desc);
		if (backend->can && backend->can(e->dev, &desc, &e->slot->err)) {
			e->slot->refused = 1;
			return -1;
		}
		rc = backend->arm(e->dev, (*lanes)++,
				  (const uint32_t *)&e->board->gate, e->slot->seq,
				  &desc, &e->slot->err);
	}
	return rc;
}

/* Its time; for a chase or multiply-adds the time of one, by poll(). */
static int wait_mine(struct cs_agent_cell *c, struct cs_endpoints *e, int lane,
		     const struct burden *with)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, with->k);
	const int carried = is_carried(e, with->k);
	struct cs_slot *slot = e->slot;

	if (carried)
		slot->ns[with->k] = cs_cpu_transfer_ns(&c->cpu, lane);
	else if (wait_lane(e, lane, &slot->ns[with->k]))
		return -1;
	if (carried && t->method == CS_METHOD_FMA)
		slot->load_ns[with->k] = slot->ns[with->k] /
					 (cs_fma_host_flops() * slot->copies[with->k] *
					  slot->side[with->k].workers);
	if (carried && t->method == CS_METHOD_MATMUL)
		slot->load_ns[with->k] =
			slot->ns[with->k] /
			(cs_matmul_flops(cs_matmul_rows(t->bytes, cs_op_block(t->op))) *
			 slot->copies[with->k]);
	if (cs_transfer_is_cpu_chase(t))
		slot->load_ns[with->k] = slot->ns[with->k] /
					 (double)cs_cpu_transfer_loads(t);
	if (carried && (t->method == CS_METHOD_TEAM || t->method == CS_METHOD_FMA ||
			t->method == CS_METHOD_MATMUL))
		cs_endpoints_read(e, with->k);
	if (cs_op_is_fault(t->op))
		slot->load_ns[with->k] = slot->ns[with->k] /
					 (double)cs_transfer_faults(t);
	if (carried || cs_op_is_fault(t->op))
		return 0;
	cs_endpoints_read(e, with->k);
	if (t->method == CS_METHOD_PACK &&
	    e->backend->stages(e->dev, lane, slot->stage_ns[with->k], &slot->err))
		return -1;
	if (with->back != NO_BACK) {
		slot->ns[with->back] = e->backend->lasted_back(e->dev, lane);
		cs_endpoints_read(e, with->back);
	}
	if (!cs_method_reports_time(t->method))
		return 0;
	slot->load_ns[with->k] = slot->ns[with->k];
	slot->ns[with->k] = e->backend->lasted(e->dev, lane);
	return 0;
}

/* Enqueued work cannot be cancelled: wait for it also after an error, or it would run
 * into the next cell. */
static int arm_and_wait(struct cs_agent_cell *c, struct cs_endpoints *e)
{
	struct burden mine[CS_LANES];
	struct cs_err first;
	int lanes = 0, rc;

	if (is_to_check(c, e) && cs_endpoints_check(e, 0))
		return -1;
	rc = arm_mine(c, e, mine, &lanes);
	first = e->slot->err;
	c->filled_seq = e->slot->seq;
	memcpy(e->copies, e->slot->copies, sizeof(e->copies));
	e->uncounted = (e->slot->flags & CS_CMD_FIRST) != 0;
	report_armed(e);
	/* what workers were lent is theirs until all of them have ended */
	for (int i = 0; i < lanes; i++)
		if (cs_cpu_transfer_await(&c->cpu, i) && !rc) {
			first = e->slot->err;
			rc = -1;
		}
	for (int i = 0; i < lanes; i++)
		if (wait_mine(c, e, i, &mine[i]) && !rc) {
			first = e->slot->err;
			rc = -1;
		}
	if (rc)
		e->slot->err = first;
	return rc;
}

int cs_agent_cell_arm(struct cs_agent_cell *c, struct cs_endpoints *e)
{
	if (!arm_and_wait(c, e))
		return 0;
	cs_stage_give_up(e->board, &e->slot->step, e->me, e->slot->seq);
	return -1;
}

/* The transfer of this step that I issue, else its first. */
static uint32_t my_probe(const struct cs_endpoints *e)
{
	uint32_t k = e->slot->step.count;

	while (--k > 0 && cs_endpoints_transfer(e, k)->issuer != e->me)
		;
	return k;
}

/* All of the first round is checked. */
static int probe_tiles(struct cs_endpoints *e, uint32_t k, const struct cs_cost *cost,
		       int first)
{
	const struct cs_tiles tiles = cs_endpoints_tiles(e,
							 cs_endpoints_transfer(e, k));
	const int is_prefetch = cost->test->how == CS_HOW_PREFETCH;
	const int whole = first || is_prefetch;
	struct cs_slot *slot = e->slot;

	if (is_prefetch ? cs_prefetch_probe(cost, &tiles, &slot->check[k]) :
			  cs_overlap_probe(cost, &tiles, first, &slot->check[k]))
		return -1;
	if (slot->flags & CS_CMD_UNCHECKED)
		return 0;
	slot->checked[k]++;
	slot->checked_whole[k] += whole;
	slot->checked_part[k] += !whole;
	return 0;
}

/* Check what a peer wrote to the spare buffer before the buffer is freed. */
int cs_agent_cell_probe(struct cs_agent_cell *c, struct cs_endpoints *e)
{
	uint32_t k = my_probe(e);
	const struct cs_transfer *t = cs_endpoints_transfer(e, k);
	struct cs_slot *slot = e->slot;
	struct cs_cost cost = {
		e->backend,
		e->dev,
		e->board,
		slot,
		cs_plan_test(e->plan, &e->slot->step),
		cs_copy_of(e, t, 1, 0),
		&cs_board_slot(e->board, t->dst.index)->spare,
	};
	int checked = cost.test->how == CS_HOW_OPEN &&
		      !(slot->flags & CS_CMD_UNCHECKED);
	int first = !c->filled_seq;

	if (cost.test->how != CS_HOW_OPEN) {
		c->filled_seq = slot->seq;
		memset(e->copies, 0, sizeof(e->copies));
	}
	if (t->issuer != e->me && cost.test->how != CS_HOW_OPEN) {
		report_armed(e);
		return 0;
	}
	if (checked && (slot->flags & CS_CMD_AFTER) &&
	    cs_endpoints_check_at(e, k, slot->spare.address))
		return -1;
	if (cost.test->how == CS_HOW_OVERLAP || cost.test->how == CS_HOW_PREFETCH)
		return probe_tiles(e, k, &cost, first);
	if (cost.test->how == CS_HOW_BATCHES)
		return cs_batch_probe(&cost, &c->host_calls);
	if (cs_cost_probe(&cost))
		return -1;
	if (checked && (slot->flags & CS_CMD_BEFORE))
		return e->backend->poison(e->dev, slot->spare.address, t->bytes,
					  &slot->err);
	return 0;
}

int cs_agent_cell_check(struct cs_agent_cell *c, struct cs_endpoints *e)
{
	int checks = is_to_check(c, e), rc;

	cs_endpoints_count(e, 0);
	rc = c->filled_seq ? cs_endpoints_judge(e, c->filled_seq, checks) : 0;
	cs_endpoints_release(e);
	return rc || (checks && cs_endpoints_check(e, 1)) ? -1 : 0;
}
