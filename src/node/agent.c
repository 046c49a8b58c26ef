#include "config.h"

#include "node/agent.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fill.h"
#include "base/hints.h"
#include "node/budget.h"
#include "node/carry.h"
#include "node/cost.h"
#include "node/endpoints.h"
#include "node/home.h"
#include "node/lane.h"
#include "node/managed.h"
#include "node/overlap.h"
#include "node/prefetch.h"
#include "node/stage.h"
#include "node/usage.h"

/* NVML reads link and clocks while this much memory traffic runs. */
#define LOAD_MS 20
/* NVML may need this long to start; without it, its columns are unknown. */
#define NVML_LIMIT_S 10.0

struct cs_agent {
	struct cs_agent_args args;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t attached;
	struct cs_board *board; /* NULL until attached */
	struct cs_call_watch watch;
	char call[CS_CALL_NAME]; /* watched before there is a slot */

	struct cs_slot *slot;
	const struct cs_plan *plan;
	struct cs_dev *dev;
	struct cs_nvml_gpu *nvml;
	struct cs_hostmem host; /* cpu backend's arena; cuda: the ring */
	int closed;		/* may be opened again */
	struct cs_err open_err; /* of binding or opening, until OPEN asks */
	struct cs_mapping map[CS_MAX_AGENTS];
	struct cs_endpoints ends;
	struct cs_carry carry;
	struct cs_usage before; /* at the first look */
	uint32_t filled_seq;	/* the sample that wrote my destination; 0 none */
};

static int me(const struct cs_agent *agent)
{
	return agent->args.facts.index;
}

/* ---- opening, before there is a board ---- */

/* What the binding became is always read back, never assumed. */
static void bind_self(struct cs_agent *a)
{
	struct cs_agent_facts *f = &a->args.facts;
	struct cs_err err = { "" };

	if (a->args.bind == CS_BIND_AUTO && f->numa >= 0)
		cs_topo_bind(a->args.topo, f->numa, &err);
	else if (a->args.bind == CS_BIND_AUTO)
		cs_err_set(&err, "NUMA node unknown; not bound");
	else if (a->args.bind == CS_BIND_NONE)
		cs_topo_unbind(a->args.topo, &err);
	f->bound = cs_topo_binding(a->args.topo, f->numa, f->cpus, sizeof(f->cpus)) ==
		   1;
	cs_text(f->note, sizeof(f->note), "%s", err.text);
}

static void open_self(struct cs_agent *a)
{
	double begun = cs_clock_s();

	bind_self(a);
	if (a->args.cannot)
		return;
	a->args.backend->open(a->args.facts.gpu.ordinal, CS_LANES, &a->dev,
			      &a->open_err);
	a->args.facts.open_s = cs_clock_s() - begun;
}

static struct cs_board *wait_board(struct cs_agent *a)
{
	pthread_mutex_lock(&a->lock);
	while (!a->board)
		pthread_cond_wait(&a->attached, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return a->board;
}

/* ---- commands: each returns 0, or -1 with the slot's error set ---- */

static int do_open(struct cs_agent *a)
{
	struct cs_slot *slot = a->slot;

	if (a->closed)
		open_self(a); /* what is known of it stays */
	else
		slot->facts = a->args.facts;
	a->ends.backend = a->args.backend;
	a->ends.dev = a->dev;
	cs_hostmem_count_in(&a->board->claimed);
	a->ends.board = a->board;
	a->ends.plan = a->plan;
	a->ends.slot = slot;
	a->ends.map = a->map;
	a->ends.me = me(a);
	a->carry.workers.topo = a->args.topo;
	a->carry.workers.board = a->board;
	a->carry.backend = a->args.backend;
	a->carry.dev = a->dev;
	a->carry.slot = slot;
	a->carry.plan = a->plan;
	if (a->args.cannot)
		return 0;
	if (!a->dev)
		return cs_err_set(&slot->err, "%s", a->open_err.text);
	if (a->args.backend->costs && !a->closed &&
	    a->args.backend->costs->memory(a->dev, &slot->facts.used_bytes, &slot->err))
		return -1;
	return a->args.backend->board(a->dev, a->board, CS_BOARD_SHARED_BYTES,
				      &slot->err);
}

static void note_pages(struct cs_agent *a, const char *why)
{
	struct cs_agent_facts *f = &a->slot->facts;

	f->pages_numa = a->host.numa;
	cs_text(f->pages_proof, sizeof(f->pages_proof), "%s", a->host.proof);
	if (why[0] && !f->note[0])
		cs_text(f->note, sizeof(f->note), "%s", why);
}

/* The ring: a part on each NUMA node through which others stage what they send here.  Where
 * one cannot be bound or proven, rows say so. */
static int open_ring(struct cs_agent *a)
{
	struct cs_stage_parts parts;
	struct cs_slot *slot = a->slot;
	char why[160] = "";

	cs_stage_parts(a->board, me(a), &parts);
	if (!parts.n)
		return 0;
	if (cs_hostmem_open_parts(parts.each, parts.numa, parts.n, &a->host,
				  slot->ring_numa, why, &slot->err))
		return -1;
	note_pages(a, why);
	return a->args.backend->ring(a->dev, a->host.at, a->host.bytes, a->host.fd,
				     &slot->err);
}

/* Host memory on the agent's NUMA node, if it needs some. */
static int open_host(struct cs_agent *a, uint64_t bytes)
{
	struct cs_slot *slot = a->slot;
	char why[160] = "";

	if (!bytes)
		return 0;
	if (cs_hostmem_open(bytes, a->args.facts.numa, &a->host, why, &slot->err))
		return -1;
	note_pages(a, why);
	return 0;
}

/* What is staged takes no other way. */
static void set_way(struct cs_agent *a)
{
	if (a->args.backend->via)
		a->args.backend->via(a->dev,
				     a->slot->flags & CS_CMD_STAGED ?
					     CS_TRANSPORT_STAGED :
					     (enum cs_transport)a->plan->set.via);
}

/* The transports that are allowed, and the ring through which others reach us. */
static int open_ways(struct cs_agent *a)
{
	if (!a->args.backend->via)
		return 0;
	set_way(a);
	return open_ring(a);
}

/* Was a peer of another process refused that wanted my arena? */
static int is_refused(struct cs_agent *a)
{
	for (int p = 0; p < (int)a->board->n_agents; p++) {
		const struct cs_slot *other = cs_board_slot(a->board, p);

		if (other->pid != a->slot->pid &&
		    other->peer[me(a)].via == CS_VIA_FAILED)
			return 1;
	}
	return 0;
}

/* The second round: nobody has my arena mapped. */
static int remake_arena(struct cs_agent *a)
{
	int by_fd = (a->slot->flags & CS_CMD_BY_FD) != 0;

	if (!a->slot->arena.bytes ||
	    (by_fd ? !is_refused(a) : !a->slot->arena.fd_bytes))
		return 0;
	if (a->args.backend->rearena(a->dev, a->slot->layout.total_bytes, by_fd,
				     &a->slot->arena, &a->slot->err))
		return -1;
	return cs_endpoints_fill(&a->ends);
}

/* For transfers of at most that many bytes; copies of a sample share a place where not
 * all of `left` is enough for more. */
static void plan_arena(const struct cs_agent *a, uint64_t most, uint64_t left,
		       struct cs_arena_layout *layout)
{
	int n = (int)a->board->n_agents;

	cs_plan_arena_wide(a->plan, me(a), n, most, layout);
	if (layout->total_bytes > left)
		cs_plan_arena(a->plan, me(a), n, most, layout);
}

/* As large as there is room for: transfers of more are left out. */
static int make_arena(struct cs_agent *a, struct cs_arena_layout *layout)
{
	const struct cs_backend *backend = a->args.backend;
	struct cs_slot *slot = a->slot;
	uint64_t most = cs_plan_smaller(a->plan, UINT64_MAX); /* all of them */
	uint64_t left = UINT64_MAX;

	if (backend->left && backend->left(a->dev, &left, &slot->err))
		return -1;
	for (;;) {
		plan_arena(a, most, left, layout);
		if (!layout->total_bytes)
			return slot->no_room[0] ? -1 : 0;
		if (!(backend->host_arena && open_host(a, layout->total_bytes)) &&
		    !backend->arena(a->dev, layout->total_bytes,
				    backend->host_arena ? a->host.at : NULL,
				    backend->host_arena ? a->host.fd : -1,
				    &slot->arena, &slot->err))
			return 0;
		cs_hostmem_close(&a->host);
		if (!slot->no_room[0])
			cs_text(slot->no_room, sizeof(slot->no_room), "%s",
				slot->err.text);
		most = cs_plan_smaller(a->plan, most);
	}
}

static int do_arena(struct cs_agent *a)
{
	struct cs_slot *slot = a->slot;
	struct cs_arena_layout layout;

	if (slot->flags & (CS_CMD_BY_FD | CS_CMD_USUAL))
		return remake_arena(a);
	slot->no_room[0] = '\0';
	cs_plan_arena(a->plan, me(a), (int)a->board->n_agents, UINT64_MAX, &layout);
	if (layout.total_bytes && (open_ways(a) || make_arena(a, &layout)))
		return -1;
	slot->layout = layout;
	if (cs_endpoints_host(&a->ends))
		return -1;
	return layout.total_bytes ? cs_endpoints_fill(&a->ends) : 0;
}

/* In a second round the first refusal stays the reason, and has the second. */
static void refuse(struct cs_peer_facts *fact, const struct cs_err *err)
{
	char before[sizeof(fact->reason)];

	cs_text(before, sizeof(before), "%s",
		fact->via == CS_VIA_FAILED ? fact->reason : "");
	if (!before[0])
		cs_text(fact->reason, sizeof(fact->reason), "%s", err->text);
	else if (!strstr(before, err->text))
		cs_text(fact->reason, sizeof(fact->reason), "%s; by descriptor: %s",
			before, err->text);
}

/* A peer that refuses is a fact about the pair, not a failure of the agent. */
static int do_map(struct cs_agent *a)
{
	int cuda = a->plan->set.backend == CS_BACKEND_CUDA;
	int staged = (a->slot->flags & CS_CMD_STAGED) != 0;

	set_way(a);
	for (int p = 0; p < (int)a->board->n_agents; p++) {
		struct cs_slot *other = cs_board_slot(a->board, p);
		struct cs_peer_facts *fact = &a->slot->peer[p];
		struct cs_err err = { "" };
		double begun = cs_clock_s();

		if (p == me(a) || !cs_plan_needs_peer(a->plan, me(a), p, staged))
			continue;
		if (!other->arena.bytes)
			cs_err_set(&err, "%s %s has no buffer",
				   cuda ? "GPU" : "arena", other->facts.label);
		else
			a->args.backend->import(a->dev, &other->arena, &a->map[p],
						&err);
		/* tried, but one reason for all: the words differ by the way */
		if (err.text[0] && (cs_is_mig(other->facts.gpu.uuid) ||
				    cs_is_mig(a->slot->facts.gpu.uuid)))
			cs_err_set(&err, "%s", cs_hint_brief(CS_HINT_IPC_MIG));
		if (!a->map[p].address)
			refuse(fact, &err);
		else if (a->map[p].via != CS_VIA_FD)
			fact->reason[0] = '\0'; /* else: why by descriptor */
		fact->via = a->map[p].address ? a->map[p].via : CS_VIA_FAILED;
		a->slot->sees[p] = a->map[p].address;
		fact->open_ms = (cs_clock_s() - begun) * 1e3;
	}
	return 0;
}

static void find_nvml(struct cs_agent *a)
{
	struct cs_agent_facts *f = &a->slot->facts;
	struct cs_err err = { "" };
	struct cs_nvml *nvml;

	if (a->nvml || !a->args.starter)
		return;
	nvml = cs_starter_nvml(a->args.starter,
			       cs_within(NVML_LIMIT_S, a->args.nvml_end_s), &err);
	if (nvml)
		a->nvml = cs_nvml_find(nvml, f->gpu.uuid, f->gpu.bus_id, &err);
	if (!a->nvml && !f->note[0])
		cs_text(f->note, sizeof(f->note), "%s", err.text);
}

static void read_usage(struct cs_agent *a, int first)
{
	struct cs_usage now;

	cs_usage_read(!first, first ? &a->before : &now);
	if (!first)
		cs_usage_since(&a->before, &now, &a->slot->facts.usage);
}

static int read_briefly(struct cs_agent *a)
{
	a->slot->state_now = (struct cs_gpu_state){ -1, -1, NAN };
	if (a->nvml)
		cs_nvml_state(a->nvml, &a->slot->state_now);
	return 0;
}

/* Of what our processes have on the GPU; the buffer is allocated in whole blocks. */
static int64_t besides_arena(int64_t ours_bytes, uint64_t arena_bytes)
{
	int64_t arena = (int64_t)((arena_bytes + CS_ARENA_ALIGN - 1) /
				  CS_ARENA_ALIGN * CS_ARENA_ALIGN);

	return ours_bytes < arena ? -1 : ours_bytes - arena;
}

static int do_read_state(struct cs_agent *a)
{
	struct cs_agent_facts *f = &a->slot->facts;
	const struct cs_arena_layout *l = &a->slot->layout;
	uint64_t at = a->slot->arena.address + l->dst_at;
	uint64_t load = l->dst_bytes < a->plan->set.copy_bytes ?
				l->dst_bytes :
				a->plan->set.copy_bytes;
	int first = (a->slot->flags & CS_CMD_FIRST) != 0;
	int64_t pids[CS_MAX_AGENTS + CS_KIN_MAX];
	int rc = 0;

	if (a->slot->flags & CS_CMD_BRIEF)
		return read_briefly(a);
	read_usage(a, first);
	find_nvml(a);
	if (!a->nvml)
		return 0;
	for (uint32_t p = 0; p < a->board->n_agents; p++)
		pids[p] = cs_board_slot(a->board, (int)p)->pid;
	memcpy(pids + a->board->n_agents, a->board->kin,
	       a->board->n_kin * sizeof(*pids));
	if (first && l->dst_bytes)
		rc = a->args.backend->load(a->dev, at, load, LOAD_MS, &a->slot->err);
	if (first)
		cs_nvml_link(a->nvml, &f->link);
	cs_nvml_conditions(a->nvml, pids, (int)(a->board->n_agents + a->board->n_kin),
			   (int)a->board->n_agents, first ? &f->before : &f->after);
	if (first)
		f->context_bytes = besides_arena(f->before.ours_bytes, l->total_bytes);
	if (first && l->dst_bytes && !rc)
		rc = a->args.backend->idle(a->dev, &a->slot->err);
	return rc;
}

static int wait_lane(struct cs_agent *a, int lane, double *ns)
{
	return cs_lane_wait(a->args.backend, a->dev, a->board, a->slot, lane, ns);
}

static void say_armed(struct cs_agent *a)
{
	cs_lane_armed(a->board, a->slot);
}

static int do_stamp(struct cs_agent *a)
{
	_Atomic uint32_t *word = &a->board->stamp[me(a)].word;
	double ns;

	if (a->args.backend->arm_stamp(a->dev, 0, (const uint32_t *)&a->board->gate,
				       a->slot->seq, (uint32_t *)word, &a->slot->err))
		return -1;
	say_armed(a);
	return wait_lane(a, 0, &ns);
}

static void read_throttle(struct cs_agent *a)
{
	if (a->nvml)
		a->slot->throttle |= cs_nvml_throttle(a->nvml);
}

static int do_prepare(struct cs_agent *a)
{
	a->slot->throttle = 0;
	a->filled_seq = 0;
	read_throttle(a);
	cs_managed_release(&a->ends); /* of a cell that failed */
	if (cs_endpoints_prepare(&a->ends, a->plan->set.verify == CS_VERIFY_OFF))
		return -1;
	return cs_managed_make(&a->ends);
}

static int is_to_check(const struct cs_agent *a)
{
	return !(a->slot->flags & CS_CMD_UNCHECKED) && a->filled_seq;
}

/* All gates are open: what may block is done here, and the sample is armed behind it. */
static int do_home(struct cs_agent *a)
{
	int checks = is_to_check(a);
	uint32_t seq = a->filled_seq;

	if (a->slot->flags & CS_CMD_AFTER)
		return cs_managed_prove(&a->ends) || cs_managed_advise(&a->ends) ? -1 :
										   0;
	a->filled_seq = 0;
	if ((seq && cs_managed_judge(&a->ends, seq, checks)) ||
	    (checks && cs_endpoints_check(&a->ends, 0)) || cs_managed_home(&a->ends))
		return -1;
	return cs_home_bring(&a->ends, &a->carry,
			     a->args.flush ? a->args.flush : cs_flush_ways());
}

static const struct cs_step *my_step(const struct cs_agent *a)
{
	return &a->slot->step;
}

/* Kernels are divided as the coordinator says, which tries all that there are. */
static void set_geometry(struct cs_agent *a, struct cs_copy *desc)
{
	const struct cs_backend *backend = a->args.backend;
	struct cs_slot *slot = a->slot;
	uint32_t n = 0, blocks, threads;

	while (backend->geometry &&
	       backend->geometry(a->dev, desc, n, &blocks, &threads)) {
		if (n++ != slot->geometry)
			continue;
		desc->blocks = slot->blocks = blocks;
		desc->threads = slot->threads = threads;
	}
	slot->geometries = n;
}

/* What a lane moves: transfer k of the step, and by the same kernel another one back;
 * NO_BACK: none. */
struct burden {
	uint32_t k, back;
};
#define NO_BACK UINT32_MAX

/* My transfers of the step on as many lanes as they need, or -1.  Two kernels get
 * multiprocessors as it happens, and now the one, now the other is slow: one kernel
 * makes twins. */
static int share_out(struct cs_agent *a, struct burden *mine)
{
	const struct cs_step *step = my_step(a);
	int n = 0, i;

	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(a->plan, step, k);

		if (!cs_endpoints_is_mine(&a->ends, t))
			continue;
		for (i = 0; i < n; i++)
			if (a->args.backend->lasted_back && mine[i].back == NO_BACK &&
			    cs_transfers_are_twins(cs_plan_transfer(a->plan, step,
								    mine[i].k),
						   t))
				break;
		if (i == CS_LANES) {
			a->slot->refused = 1;
			return cs_err_set(&a->slot->err,
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

static struct cs_copy copy_of(const struct cs_agent *a, uint32_t k)
{
	const struct cs_transfer *t = cs_plan_transfer(a->plan, my_step(a), k);

	return cs_transfer_is_managed(t) ?
		       cs_managed_copy(&a->ends, t) :
		       cs_endpoints_copy(&a->ends, t, a->slot->copies[k],
					 a->slot->flags & CS_CMD_FIRST);
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

/* Is it carried by CPUs?  Where the driver stages, those of the node that is asked for
 * call it: it alone knows through which memory. */
static int is_carried(const struct cs_agent *a, const struct cs_transfer *t)
{
	int far = cs_transfer_far(t);

	return cs_carry_is(t) ||
	       (t->variant.cpu_numa && far >= 0 && a->map[far].via == CS_VIA_DRIVER);
}

/* *lanes counts that which failed as well, for it may hold a part. */
static int arm_mine(struct cs_agent *a, struct burden *mine, int *lanes)
{
	const struct cs_backend *backend = a->args.backend;
	int n = share_out(a, mine), rc = n < 0 ? -1 : 0;

	a->slot->blocks = a->slot->threads = a->slot->geometries = 0;
	while (*lanes < n && !rc) {
		const struct burden *with = &mine[*lanes];
		const struct cs_transfer *t = cs_plan_transfer(a->plan, my_step(a),
							       with->k);
		struct cs_copy desc = copy_of(a, with->k), back;

		if (is_carried(a, t)) {
			rc = cs_carry_arm(&a->carry, (*lanes)++, with->k, t, &desc);
			continue;
		}
		if (with->back != NO_BACK) {
			back = copy_of(a, with->back);
			add_back(&desc, &back);
		}
		set_geometry(a, &desc);
		if (backend->can && backend->can(a->dev, &desc, &a->slot->err)) {
			a->slot->refused = 1;
			return -1;
		}
		rc = backend->arm(a->dev, (*lanes)++,
				  (const uint32_t *)&a->board->gate, a->slot->seq,
				  &desc, &a->slot->err);
	}
	return rc;
}

/* How long it took; of a chase, or multiply-adds, what poll() says is the time of one. */
static int wait_mine(struct cs_agent *a, int lane, const struct burden *with)
{
	const struct cs_transfer *t = cs_plan_transfer(a->plan, my_step(a), with->k);
	struct cs_slot *slot = a->slot;

	if (is_carried(a, t)) {
		slot->ns[with->k] = cs_carry_ns(&a->carry, lane);
		return 0;
	}
	if (wait_lane(a, lane, &slot->ns[with->k]))
		return -1;
	cs_endpoints_read(&a->ends, with->k);
	if (with->back != NO_BACK) {
		slot->ns[with->back] = a->args.backend->lasted_back(a->dev, lane);
		cs_endpoints_read(&a->ends, with->back);
	}
	if (!cs_method_tells_time(t->method))
		return 0;
	slot->load_ns[with->k] = slot->ns[with->k];
	slot->ns[with->k] = a->args.backend->lasted(a->dev, lane);
	return 0;
}

/* What was enqueued cannot be taken back: also a failed sample runs out before it
 * is answered, or it would run into the next cell. */
static int arm_and_wait(struct cs_agent *a)
{
	struct burden mine[CS_LANES];
	struct cs_err first;
	int lanes = 0, rc, i;

	if (is_to_check(a) && cs_endpoints_check(&a->ends, 0))
		return -1;
	rc = arm_mine(a, mine, &lanes);
	first = a->slot->err;
	a->filled_seq = a->slot->seq;
	memcpy(a->ends.copies, a->slot->copies, sizeof(a->ends.copies));
	a->ends.uncounted = (a->slot->flags & CS_CMD_FIRST) != 0;
	say_armed(a);
	/* what workers were lent is theirs until all of them have ended */
	for (i = 0; i < lanes; i++)
		if (cs_carry_await(&a->carry, i) && !rc) {
			first = a->slot->err;
			rc = -1;
		}
	for (i = 0; i < lanes; i++)
		if (wait_mine(a, i, &mine[i]) && !rc) {
			first = a->slot->err;
			rc = -1;
		}
	if (rc)
		a->slot->err = first;
	return rc;
}

static int do_arm(struct cs_agent *a)
{
	if (!arm_and_wait(a))
		return 0;
	cs_stage_give_up(a->board, my_step(a), me(a), a->slot->seq);
	return -1;
}

/* The transfer of this step that I issue, else its first. */
static uint32_t my_probe(const struct cs_agent *a)
{
	uint32_t k = my_step(a)->count;

	while (--k > 0 && cs_plan_transfer(a->plan, my_step(a), k)->issuer != me(a))
		;
	return k;
}

/* All of the first round is checked. */
static int probe_tiles(struct cs_agent *a, uint32_t k, const struct cs_cost *cost,
		       int first)
{
	const struct cs_transfer *t = cs_plan_transfer(a->plan, my_step(a), k);
	const struct cs_tiles tiles = cs_transfer_is_managed(t) ?
					      cs_managed_tiles(&a->ends, t) :
					      cs_endpoints_tiles(&a->ends, t);
	struct cs_slot *slot = a->slot;

	const int whole = first || cost->test->how == CS_HOW_PREFETCH;

	if (cost->test->how == CS_HOW_PREFETCH ?
		    cs_prefetch_probe(cost, &tiles, &slot->check[k]) :
		    cs_overlap_probe(cost, &tiles, first, &slot->check[k]))
		return -1;
	if (slot->flags & CS_CMD_UNCHECKED)
		return 0;
	slot->checked[k]++;
	slot->checked_whole[k] += whole;
	slot->checked_part[k] += !whole;
	return 0;
}

/* What a peer wrote to my spare buffer is checked before that goes. */
static int do_probe(struct cs_agent *a)
{
	uint32_t k = my_probe(a);
	const struct cs_transfer *t = cs_plan_transfer(a->plan, my_step(a), k);
	struct cs_slot *slot = a->slot;
	struct cs_cost cost = {
		a->args.backend,
		a->dev,
		a->board,
		slot,
		cs_plan_test(a->plan, my_step(a)),
		cs_endpoints_copy(&a->ends, t, 1, 0),
		&cs_board_slot(a->board, t->dst.index)->spare,
	};
	int checked = cost.test->how == CS_HOW_OPEN &&
		      !(slot->flags & CS_CMD_UNCHECKED);
	int first = !a->filled_seq;

	if (cost.test->how != CS_HOW_OPEN) {
		a->filled_seq = slot->seq;
		memset(a->ends.copies, 0, sizeof(a->ends.copies));
	}
	if (t->issuer != me(a) && cost.test->how != CS_HOW_OPEN) {
		say_armed(a);
		return 0;
	}
	if (checked && (slot->flags & CS_CMD_AFTER) &&
	    cs_endpoints_check_at(&a->ends, k, slot->spare.address))
		return -1;
	if (cost.test->how == CS_HOW_OVERLAP || cost.test->how == CS_HOW_PREFETCH)
		return probe_tiles(a, k, &cost, first);
	if (cs_cost_probe(&cost))
		return -1;
	if (checked && (slot->flags & CS_CMD_BEFORE))
		return a->args.backend->poison(a->dev, slot->spare.address, t->bytes,
					       &slot->err);
	return 0;
}

static int do_check(struct cs_agent *a)
{
	int checks = is_to_check(a), rc;

	read_throttle(a);
	rc = a->filled_seq ? cs_managed_judge(&a->ends, a->filled_seq, checks) : 0;
	cs_managed_release(&a->ends);
	return rc || (checks && cs_endpoints_check(&a->ends, 1)) ? -1 : 0;
}

static int do_source(struct cs_agent *a)
{
	return cs_endpoints_source(&a->ends);
}

static int do_unmap(struct cs_agent *a)
{
	set_way(a);
	for (uint32_t p = 0; p < a->board->n_agents; p++) {
		if (a->map[p].address)
			a->args.backend->unimport(a->dev, &a->map[p]);
		a->map[p] = (struct cs_mapping){ 0 };
		a->slot->sees[p] = 0;
	}
	return 0;
}

static int do_close(struct cs_agent *a)
{
	cs_workers_release(&a->carry.workers);
	if (a->dev)
		cs_managed_release(&a->ends);
	cs_endpoints_release(&a->ends);
	if (a->dev)
		a->args.backend->close(a->dev);
	a->dev = NULL;
	cs_hostmem_close(&a->host);
	cs_nvml_release(a->nvml);
	a->nvml = NULL;
	a->closed = 1;
	return 0;
}

static int (*const commands[])(struct cs_agent *) = {
	[CS_CMD_OPEN] = do_open,     [CS_CMD_ARENA] = do_arena,
	[CS_CMD_MAP] = do_map,	     [CS_CMD_READ_STATE] = do_read_state,
	[CS_CMD_STAMP] = do_stamp,   [CS_CMD_PREPARE] = do_prepare,
	[CS_CMD_HOME] = do_home,     [CS_CMD_ARM] = do_arm,
	[CS_CMD_CHECK] = do_check,   [CS_CMD_PROBE] = do_probe,
	[CS_CMD_SOURCE] = do_source, [CS_CMD_UNMAP] = do_unmap,
	[CS_CMD_CLOSE] = do_close,
};

/* How long a part of the way to the first byte took; of what was opened again the
 * first time counts. */
static void note_time(struct cs_agent *a, uint32_t what, double begun_s)
{
	struct cs_agent_facts *f = &a->slot->facts;
	double took = cs_clock_s() - begun_s;

	if (what == CS_CMD_ARENA && isnan(f->arena_s))
		f->arena_s = took;
	else if (what == CS_CMD_MAP && isnan(f->peers_s))
		f->peers_s = took;
	else if ((what == CS_CMD_ARM || what == CS_CMD_PROBE) &&
		 isnan(f->first_sample_s))
		f->first_sample_s = took;
}

/* Is there more to come?  After the answer the slot is the coordinator's. */
static int obey(struct cs_agent *a, uint32_t number)
{
	struct cs_slot *slot = a->slot;
	uint32_t what = slot->what, flags = slot->flags;
	double begun_s = cs_clock_s();

	slot->err.text[0] = '\0';
	slot->refused = slot->not_moved = 0;
	if (!a->dev && a->args.cannot && what != CS_CMD_OPEN)
		; /* there is nothing to do it with: cells are left out */
	else if (!a->dev && what != CS_CMD_OPEN && what != CS_CMD_CLOSE)
		cs_err_set(&slot->err, "%s", a->open_err.text);
	else if (!commands[what](a))
		slot->err.text[0] = '\0';
	slot->state = CS_AGENT_OK;
	if (slot->err.text[0])
		slot->state = a->dev && a->args.backend->broken(a->dev) ?
				      CS_AGENT_BROKEN :
				      CS_AGENT_FAILED;
	note_time(a, what, begun_s);
	atomic_store(&slot->reply, number);
	cs_board_replied(a->board);
	return what != CS_CMD_CLOSE || flags & CS_CMD_STAY;
}

static void *agent_main(void *arg)
{
	struct cs_agent *a = arg;
	uint32_t seen = 0, now;
	int more;

	cs_call_watch(&a->watch);
	open_self(a);
	a->board = wait_board(a);
	a->slot = cs_board_slot(a->board, me(a));
	a->plan = cs_board_plan(a->board);
	cs_endpoints_init(&a->ends);
	do {
		while ((now = atomic_load(&a->slot->command)) == seen)
			cs_board_wait_command(a->board, a->slot, seen, 1000);
		seen = now;
		more = obey(a, now);
	} while (more);
	return NULL;
}

int cs_agent_start(const struct cs_agent_args *args, struct cs_agent **out,
		   struct cs_err *err)
{
	struct cs_agent *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return cs_err_set(err, "no memory");
	a->args = *args;
	a->watch.to = a->call;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->attached, NULL);
	rc = pthread_create(&a->thread, NULL, agent_main, a);
	if (rc) {
		free(a);
		return cs_err_set(err, "cannot start a thread: %s", strerror(rc));
	}
	*out = a;
	return 0;
}

void cs_agent_attach(struct cs_agent *agent, struct cs_board *board)
{
	const struct cs_agent_facts *facts = &agent->args.facts;
	struct cs_slot *slot = cs_board_slot(board, facts->index);

	/* who it is, should it never come back from opening its device */
	if (agent->args.cannot)
		cs_text(slot->cannot, sizeof(slot->cannot), "%s", agent->args.cannot);
	slot->facts.index = facts->index;
	slot->facts.rank = facts->rank;
	slot->facts.gpu = facts->gpu;
	cs_text(slot->facts.label, sizeof(slot->facts.label), "%s", facts->label);
	memcpy(slot->call, agent->call, sizeof(slot->call));
	agent->watch.to = slot->call;
	atomic_store(&slot->pid, getpid());
	pthread_mutex_lock(&agent->lock);
	agent->board = board;
	pthread_cond_signal(&agent->attached);
	pthread_mutex_unlock(&agent->lock);
}

int cs_agent_join(struct cs_agent *agent, double limit_s)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)limit_s;
	until.tv_nsec += (long)((limit_s - floor(limit_s)) * 1e9);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (pthread_timedjoin_np(agent->thread, NULL, &until))
		return -1;
	pthread_mutex_destroy(&agent->lock);
	pthread_cond_destroy(&agent->attached);
	free(agent);
	return 0;
}
