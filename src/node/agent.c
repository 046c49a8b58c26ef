#include "config.h"

#include "node/agent.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fill.h"
#include "base/hints.h"
#include "node/stage.h"

/* NVML reads link and clocks while this much memory traffic runs. */
#define LOAD_MS 20
/* NVML may need this long to start; without it, its columns are unknown. */
#define NVML_LIMIT_S 10.0

struct cs_agent {
	struct cs_agent_args args;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t attached;
	struct cs_board *board;	/* NULL until attached */
	struct cs_call_watch watch;
	char call[CS_CALL_NAME];	/* watched before there is a slot */

	struct cs_slot *slot;
	const struct cs_plan *plan;
	struct cs_dev *dev;
	struct cs_nvml_gpu *nvml;
	struct cs_hostmem host;	/* cpu backend's arena; cuda: the ring */
	struct cs_err open_err;	/* of binding or opening, until OPEN asks */
	struct cs_mapping map[CS_MAX_AGENTS];
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
		cs_err_set(&err, "NUMA domain unknown; not bound");
	else if (a->args.bind == CS_BIND_NONE)
		cs_topo_unbind(a->args.topo, &err);
	f->bound = cs_topo_binding(a->args.topo, f->numa, f->cpus,
				   sizeof(f->cpus)) == 1;
	cs_text(f->note, sizeof(f->note), "%s", err.text);
}

static void open_self(struct cs_agent *a)
{
	double begun = cs_clock_s();

	bind_self(a);
	if (a->open_err.text[0])
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

	slot->facts = a->args.facts;
	if (!a->dev)
		return cs_err_set(&slot->err, "%s", a->open_err.text);
	return a->args.backend->board(a->dev, a->board, CS_BOARD_SHARED_BYTES,
				      &slot->err);
}

/* Host memory on the agent's domain, if it needs some. */
static int open_host(struct cs_agent *a, uint64_t bytes)
{
	struct cs_slot *slot = a->slot;
	char why[160] = "";

	if (!bytes)
		return 0;
	if (cs_hostmem_open(bytes, a->args.facts.numa, &a->host, why, &slot->err))
		return -1;
	slot->facts.pages_numa = a->host.numa;
	cs_text(slot->facts.pages_proof, sizeof(slot->facts.pages_proof), "%s",
		a->host.proof);
	if (why[0] && !slot->facts.note[0])
		cs_text(slot->facts.note, sizeof(slot->facts.note), "%s", why);
	return 0;
}

/* The ways that are allowed, and the ring through which others reach us. */
static int open_ways(struct cs_agent *a)
{
	const struct cs_backend *backend = a->args.backend;
	uint64_t bytes = cs_stage_ring_bytes(a->board, me(a));

	if (!backend->via)
		return 0;
	backend->via(a->dev, (enum cs_way)a->plan->set.via);
	if (!bytes)
		return 0;
	return open_host(a, bytes) || backend->ring(a->dev, a->host.at, bytes,
						    a->host.fd, &a->slot->err);
}

static int fill_source(struct cs_agent *a)
{
	return a->args.backend->fill(
		a->dev, a->slot->arena.address, a->slot->layout.src_bytes,
		cs_fill_key(a->plan->set.seed, (uint32_t)me(a)), &a->slot->err);
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
	return fill_source(a);
}

static int do_arena(struct cs_agent *a)
{
	struct cs_slot *slot = a->slot;
	struct cs_arena_layout layout;
	int on_host = a->args.backend->host_arena;

	if (slot->flags & (CS_CMD_BY_FD | CS_CMD_USUAL))
		return remake_arena(a);
	cs_plan_arena(a->plan, me(a), &layout);
	if (!layout.total_bytes)
		return 0;
	if (open_ways(a) || (on_host && open_host(a, layout.total_bytes)) ||
	    a->args.backend->arena(a->dev, layout.total_bytes,
				   on_host ? a->host.at : NULL,
				   on_host ? a->host.fd : -1, &slot->arena,
				   &slot->err))
		return -1;
	slot->layout = layout;
	return fill_source(a);
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

	for (int p = 0; p < (int)a->board->n_agents; p++) {
		struct cs_slot *other = cs_board_slot(a->board, p);
		struct cs_peer_facts *fact = &a->slot->peer[p];
		struct cs_err err = { "" };
		double begun = cs_clock_s();

		if (p == me(a) || !cs_plan_needs_peer(a->plan, me(a), p))
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
	nvml = cs_starter_nvml(a->args.starter, NVML_LIMIT_S, &err);
	if (nvml)
		a->nvml = cs_nvml_find(nvml, f->gpu.uuid, f->gpu.bus_id, &err);
	if (!a->nvml && !f->note[0])
		cs_text(f->note, sizeof(f->note), "%s", err.text);
}

static int do_look(struct cs_agent *a)
{
	struct cs_agent_facts *f = &a->slot->facts;
	const struct cs_arena_layout *l = &a->slot->layout;
	uint64_t at = a->slot->arena.address + l->dst_at;
	int first = (a->slot->flags & CS_CMD_FIRST) != 0;
	int64_t pids[CS_MAX_AGENTS];
	int rc = 0;

	find_nvml(a);
	if (!a->nvml)
		return 0;
	for (uint32_t p = 0; p < a->board->n_agents; p++)
		pids[p] = cs_board_slot(a->board, (int)p)->pid;
	if (first && l->dst_bytes)
		rc = a->args.backend->load(a->dev, at, l->dst_bytes, LOAD_MS,
					   &a->slot->err);
	if (first)
		cs_nvml_link(a->nvml, &f->link);
	cs_nvml_conditions(a->nvml, pids, (int)a->board->n_agents,
			   first ? &f->before : &f->after);
	if (first && l->dst_bytes && !rc)
		rc = a->args.backend->idle(a->dev, &a->slot->err);
	return rc;
}

/* Poll a lane until it has ended.  The coordinator keeps the deadline: when it
 * gives up, it opens the gate, and what was armed runs out. */
static int wait_lane(struct cs_agent *a, int lane, double *ns)
{
	struct timespec nap = { 0, 20000 };
	int rc;

	while (!(rc = a->args.backend->poll(a->dev, lane, ns, &a->slot->err)))
		if (!a->board->spin_ns)
			nanosleep(&nap, NULL);
	return rc < 0 ? -1 : 0;
}

static void say_armed(struct cs_agent *a)
{
	atomic_store(&a->slot->armed, a->slot->seq);
	cs_board_replied(a->board);
}

static int do_stamp(struct cs_agent *a)
{
	_Atomic uint32_t *word = &a->board->stamp[me(a)].word;
	double ns;

	if (a->args.backend->arm_stamp(a->dev, 0,
				       (const uint32_t *)&a->board->gate,
				       a->slot->seq, (uint32_t *)word,
				       &a->slot->err))
		return -1;
	say_armed(a);
	return wait_lane(a, 0, &ns);
}

static void look_throttle(struct cs_agent *a)
{
	if (a->nvml)
		a->slot->throttle |= cs_nvml_throttle(a->nvml);
}

/* The transfer of this step that writes my destination; NULL when none does. */
static const struct cs_transfer *my_inbound(const struct cs_agent *a)
{
	const struct cs_step *step = cs_plan_step(a->plan, a->slot->step);

	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(a->plan, step, k);

		if (t->dst.index == me(a))
			return t;
	}
	return NULL;
}

static uint64_t dst_address(const struct cs_agent *a)
{
	return a->slot->arena.address + a->slot->layout.dst_at;
}

static int do_prepare(struct cs_agent *a)
{
	const struct cs_transfer *t = my_inbound(a);

	a->slot->checked = 0;
	a->slot->throttle = 0;
	a->slot->check = (struct cs_check){ .first_word = UINT64_MAX };
	a->filled_seq = 0;
	look_throttle(a);
	if (!t || a->plan->set.verify == CS_VERIFY_OFF)
		return 0;
	return a->args.backend->poison(a->dev, dst_address(a), t->bytes,
				       &a->slot->err);
}

/* Did the last sample write what it should?  The first fault found is kept. */
static int check_inbound(struct cs_agent *a, int poison)
{
	const struct cs_transfer *t = my_inbound(a);
	struct cs_check found = { .first_word = UINT64_MAX };

	if (!t || !a->filled_seq)
		return 0;
	if (a->args.backend->check(a->dev, dst_address(a), t->bytes,
				   cs_fill_key(a->plan->set.seed, t->src.index),
				   poison, &found, &a->slot->err))
		return -1;
	a->slot->checked++;
	if (found.wrong_words && !a->slot->check.wrong_words)
		a->slot->check = found;
	return 0;
}

/* An issuer's copy: by the way that there is to the other end. */
static uint32_t kind_of(const struct cs_agent *a, const struct cs_transfer *t)
{
	int far = t->src.index == me(a) ? t->dst.index : t->src.index;

	if (a->map[far].via == CS_VIA_STAGED)
		return CS_FLIGHT_OUT;
	return a->map[far].via == CS_VIA_DRIVER ||
			       t->method == CS_METHOD_PEERCOPY ?
		       CS_FLIGHT_PEER_COPY : CS_FLIGHT_COPY;
}

/* Where the transfer's ends lie as I see them: its issuer, or who fetches from its
 * own ring what the issuer has put there. */
static struct cs_flight flight_of(const struct cs_agent *a,
				  const struct cs_transfer *t, uint32_t copies)
{
	const struct cs_slot *dst = cs_board_slot(a->board, t->dst.index);
	struct cs_flight f = {
		.dst = dst->layout.dst_at, .bytes = t->bytes, .copies = copies,
		.kind = t->issuer == me(a) ? kind_of(a, t) : CS_FLIGHT_IN,
	};

	if (f.kind == CS_FLIGHT_IN)
		f.src = a->slot->arena.ring_address;
	else
		f.src = t->src.index == me(a) ? a->slot->arena.address :
						a->map[t->src.index].address;
	if (f.kind == CS_FLIGHT_OUT)
		f.dst = a->map[t->dst.index].address;
	else
		f.dst += t->dst.index == me(a) ? a->slot->arena.address :
						 a->map[t->dst.index].address;
	cs_stage_flight(a->board, t, a->slot->seq, &f);
	return f;
}

static int is_mine(const struct cs_agent *a, const struct cs_transfer *t)
{
	return t->issuer == me(a) ||
	       (t->dst.index == me(a) && cs_stage_is(a->board, t));
}

/* My transfers of the step, a lane each: mine[lane].  *lanes counts that which
 * failed as well, for it may hold a part. */
static int arm_mine(struct cs_agent *a, uint32_t *mine, int *lanes)
{
	const struct cs_step *step = cs_plan_step(a->plan, a->slot->step);
	int rc = 0;

	for (uint32_t k = 0; k < step->count && !rc; k++) {
		const struct cs_transfer *t = cs_plan_transfer(a->plan, step, k);
		struct cs_flight flight;

		if (!is_mine(a, t))
			continue;
		if (*lanes == CS_LANES)
			return cs_err_set(&a->slot->err,
					  "more than %d transfers by one agent",
					  CS_LANES);
		flight = flight_of(a, t, a->slot->copies[k]);
		rc = a->args.backend->arm(a->dev, *lanes,
					  (const uint32_t *)&a->board->gate,
					  a->slot->seq, &flight, &a->slot->err);
		mine[(*lanes)++] = k;
	}
	return rc;
}

/* What was enqueued cannot be taken back: also a failed sample runs out before it
 * is answered, or it would run into the next cell. */
static int arm_and_wait(struct cs_agent *a)
{
	uint32_t mine[CS_LANES];
	struct cs_err first;
	int lanes = 0, rc;

	if (!(a->slot->flags & CS_CMD_UNCHECKED) &&
	    check_inbound(a, 1))
		return -1;
	rc = arm_mine(a, mine, &lanes);
	first = a->slot->err;
	a->filled_seq = a->slot->seq;
	say_armed(a);
	for (int i = 0; i < lanes; i++)
		if (wait_lane(a, i, &a->slot->ns[mine[i]]) && !rc) {
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
	cs_stage_give_up(a->board, cs_plan_step(a->plan, a->slot->step), me(a),
			 a->slot->seq);
	return -1;
}

static int do_check(struct cs_agent *a)
{
	int rc = 0;

	look_throttle(a);
	if (!(a->slot->flags & CS_CMD_UNCHECKED))
		rc = check_inbound(a, 0);
	return rc;
}

static int do_source(struct cs_agent *a)
{
	if (!a->slot->layout.src_bytes)
		return 0;
	a->slot->check = (struct cs_check){ .first_word = UINT64_MAX };
	return a->args.backend->check(
		a->dev, a->slot->arena.address, a->slot->layout.src_bytes,
		cs_fill_key(a->plan->set.seed, (uint32_t)me(a)), 0,
		&a->slot->check, &a->slot->err);
}

static int do_unmap(struct cs_agent *a)
{
	for (uint32_t p = 0; p < a->board->n_agents; p++) {
		if (a->map[p].address)
			a->args.backend->unimport(a->dev, &a->map[p]);
		a->map[p] = (struct cs_mapping){ 0 };
	}
	return 0;
}

static int do_close(struct cs_agent *a)
{
	if (a->dev)
		a->args.backend->close(a->dev);
	a->dev = NULL;
	cs_hostmem_close(&a->host);
	cs_nvml_release(a->nvml);
	a->nvml = NULL;
	return 0;
}

static int (*const commands[])(struct cs_agent *) = {
	[CS_CMD_OPEN] = do_open,	[CS_CMD_ARENA] = do_arena,
	[CS_CMD_MAP] = do_map,		[CS_CMD_LOOK] = do_look,
	[CS_CMD_STAMP] = do_stamp,	[CS_CMD_PREPARE] = do_prepare,
	[CS_CMD_ARM] = do_arm,		[CS_CMD_CHECK] = do_check,
	[CS_CMD_SOURCE] = do_source,	[CS_CMD_UNMAP] = do_unmap,
	[CS_CMD_CLOSE] = do_close,
};

/* Returns what was obeyed: after the answer the slot is the coordinator's. */
static uint32_t obey(struct cs_agent *a, uint32_t number)
{
	struct cs_slot *slot = a->slot;
	uint32_t what = slot->what;

	slot->err.text[0] = '\0';
	if (!a->dev && what != CS_CMD_OPEN && what != CS_CMD_CLOSE)
		cs_err_set(&slot->err, "%s", a->open_err.text);
	else if (!commands[what](a))
		slot->err.text[0] = '\0';
	slot->state = CS_AGENT_OK;
	if (slot->err.text[0])
		slot->state = a->dev && a->args.backend->broken(a->dev) ?
				      CS_AGENT_BROKEN : CS_AGENT_FAILED;
	atomic_store(&slot->reply, number);
	cs_board_replied(a->board);
	return what;
}

static void *agent_main(void *arg)
{
	struct cs_agent *a = arg;
	uint32_t seen = 0, now, what;

	cs_call_watch(&a->watch);
	open_self(a);
	a->board = wait_board(a);
	a->slot = cs_board_slot(a->board, me(a));
	a->plan = cs_board_plan(a->board);
	do {
		while ((now = atomic_load(&a->slot->command)) == seen)
			cs_board_wait_command(a->board, a->slot, seen, 1000);
		seen = now;
		what = obey(a, now);
	} while (what != CS_CMD_CLOSE);
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
	if (args->cannot)
		cs_err_set(&a->open_err, "%s", args->cannot);
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
	slot->pid = getpid();
	slot->facts.index = facts->index;
	slot->facts.rank = facts->rank;
	slot->facts.gpu = facts->gpu;
	cs_text(slot->facts.label, sizeof(slot->facts.label), "%s", facts->label);
	memcpy(slot->call, agent->call, sizeof(slot->call));
	agent->watch.to = slot->call;
	pthread_mutex_lock(&agent->lock);
	agent->board = board;
	pthread_cond_signal(&agent->attached);
	pthread_mutex_unlock(&agent->lock);
}

int cs_agent_join(struct cs_agent *agent, double limit_s)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)limit_s + 1;
	if (pthread_timedjoin_np(agent->thread, NULL, &until))
		return -1;
	pthread_mutex_destroy(&agent->lock);
	pthread_cond_destroy(&agent->attached);
	free(agent);
	return 0;
}
