#include "node/agent/agent.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node/agent/agent_parts.h"

struct cs_agent {
	struct cs_agent_args args;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t attached;
	struct cs_board *board; /* NULL until attached */
	struct cs_call_watch watch;
	char call[CS_CALL_NAME]; /* watched before there is a slot */

	struct cs_slot *slot;
	int closed; /* may be opened again */
	struct {    /* facts that the slot gets with OPEN */
		int32_t bound;
		char cpus[128], note[160];
		double open_s;
	} opened;
	struct cs_err open_err; /* of binding or opening, until OPEN asks */
	struct cs_endpoints ends;
	struct cs_agent_arena arena;
	struct cs_agent_cell cell;
	struct cs_agent_reading reading;
	struct cs_link_counters counters;
	struct cs_agent_net net;
};

static int me(const struct cs_agent *agent)
{
	return agent->args.facts.index;
}

/* ---- opening, before there is a board ---- */

/* Bind the thread, and read back the CPUs that it really got. */
static void bind_self(struct cs_agent *a)
{
	const int numa = a->args.facts.numa;
	struct cs_err err = { "" };

	if (a->args.bind == CS_BIND_AUTO && numa >= 0)
		cs_topo_bind(a->args.topo, numa, -1, &err);
	else if (a->args.bind == CS_BIND_AUTO)
		cs_err_set(&err, "NUMA node unknown; not bound");
	else if (a->args.bind == CS_BIND_NONE)
		cs_topo_unbind(a->args.topo, &err);
	a->opened.bound = cs_topo_binding(a->args.topo, numa, a->opened.cpus,
					  sizeof(a->opened.cpus)) == 1;
	cs_text(a->opened.note, sizeof(a->opened.note), "%s", err.text);
}

static void open_self(struct cs_agent *a)
{
	double begun = cs_clock_s();

	bind_self(a);
	if (a->args.cannot)
		return;
	a->args.backend->open(a->args.facts.gpu.ordinal, CS_LANES, &a->ends.dev,
			      &a->open_err);
	a->cell.cpu.dev = a->ends.dev;
	a->opened.open_s = cs_clock_s() - begun;
}

static struct cs_board *wait_board(struct cs_agent *a)
{
	pthread_mutex_lock(&a->lock);
	while (!a->board)
		pthread_cond_wait(&a->attached, &a->lock);
	pthread_mutex_unlock(&a->lock);
	return a->board;
}

/* Set what commands work on; some come before OPEN. */
static void take_board(struct cs_agent *a)
{
	a->board = wait_board(a);
	a->slot = cs_board_slot(a->board, me(a));
	a->ends.backend = a->cell.cpu.backend = a->args.backend;
	a->ends.board = a->cell.cpu.workers.board = a->board;
	a->ends.plan = a->cell.cpu.plan = cs_board_plan(a->board);
	a->ends.slot = a->cell.cpu.slot = a->slot;
	a->ends.map = a->arena.map;
	a->ends.me = me(a);
	a->cell.cpu.workers.topo = a->args.topo;
}

/* Add the facts of opening.  Label and rank stay, because they may be read
 * at any time. */
static void add_opened(const struct cs_agent *a, struct cs_agent_facts *f)
{
	f->bound = a->opened.bound;
	f->open_s = a->opened.open_s;
	cs_text(f->cpus, sizeof(f->cpus), "%s", a->opened.cpus);
	cs_text(f->note, sizeof(f->note), "%s", a->opened.note);
}

/* ---- commands: each returns 0, or -1 with the slot's error set ---- */

static int do_open(struct cs_agent *a)
{
	struct cs_slot *slot = a->slot;

	if (a->closed)
		open_self(a); /* known values stay */
	else
		add_opened(a, &slot->facts);
	cs_hostmem_count_in(&a->board->claimed);
	if (a->args.cannot)
		return 0;
	if (!a->ends.dev)
		return cs_err_set(&slot->err, "%s", a->open_err.text);
	if (a->args.backend->costs && !a->closed &&
	    a->args.backend->costs->memory(a->ends.dev, &slot->facts.used_bytes,
					   &slot->err))
		return -1;
	return a->args.backend->board(a->ends.dev, a->board, CS_BOARD_SHARED_BYTES,
				      &slot->err);
}

static int do_prepare(struct cs_agent *a)
{
	a->slot->throttle = 0;
	a->slot->calls = 0;
	cs_agent_reading_throttle(&a->reading, a->slot);
	cs_link_counters_begin(&a->counters);
	return cs_agent_cell_prepare(&a->cell, &a->ends);
}

static int do_reset(struct cs_agent *a)
{
	struct cs_nvml_gpu *nvml = cs_agent_reading_gpu(&a->reading);

	if (cs_link_counters_judge(&a->counters, nvml, &a->ends))
		return -1;
	cs_link_counters_before_reset(&a->counters, nvml, &a->ends);
	if (cs_agent_cell_reset(&a->cell, &a->ends))
		return -1;
	cs_link_counters_after_reset(&a->counters, nvml);
	return 0;
}

static int do_check(struct cs_agent *a)
{
	struct cs_nvml_gpu *nvml = cs_agent_reading_gpu(&a->reading);
	int rc = cs_link_counters_judge(&a->counters, nvml, &a->ends);
	struct cs_err err = a->slot->err;

	cs_agent_reading_throttle(&a->reading, a->slot);
	if (!cs_agent_cell_check(&a->cell, &a->ends) && !rc)
		return 0;
	if (rc)
		a->slot->err = err;
	return -1;
}

static int do_close(struct cs_agent *a)
{
	cs_workers_release(&a->cell.cpu.workers);
	cs_endpoints_close(&a->ends);
	if (a->ends.dev)
		a->args.backend->close(a->ends.dev);
	a->ends.dev = NULL;
	cs_hostmem_close(&a->arena.host);
	cs_agent_reading_release(&a->reading);
	a->closed = 1;
	return 0;
}

static int execute(struct cs_agent *a, uint32_t command)
{
	switch (command) {
	case CS_CMD_OPEN:
		return do_open(a);
	case CS_CMD_ARENA:
		return cs_agent_arena_make(&a->arena, &a->ends);
	case CS_CMD_MAP:
		return cs_agent_arena_map(&a->arena, &a->ends);
	case CS_CMD_READ_STATE:
		return cs_agent_reading_read(&a->reading, &a->ends);
	case CS_CMD_STAMP:
		return cs_agent_cell_stamp(&a->ends);
	case CS_CMD_PREPARE:
		return do_prepare(a);
	case CS_CMD_RESET:
		return do_reset(a);
	case CS_CMD_ARM:
		cs_link_counters_arm(&a->counters);
		return cs_agent_cell_arm(&a->cell, &a->ends);
	case CS_CMD_CHECK:
		return do_check(a);
	case CS_CMD_PROBE:
		return cs_agent_cell_probe(&a->cell, &a->ends);
	case CS_CMD_SOURCE:
		return cs_endpoints_source(&a->ends);
	case CS_CMD_NET:
		return cs_agent_net(&a->net, &a->ends);
	case CS_CMD_UNMAP:
		cs_agent_arena_unmap(&a->arena, &a->ends);
		return 0;
	default:
		return do_close(a);
	}
}

/* The time of a part of the start, up to the first byte; if something is opened again,
 * the first time counts. */
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
	if (!a->ends.dev && a->args.cannot && what != CS_CMD_OPEN)
		; /* there is nothing to do it with: cells are left out */
	else if (!a->ends.dev && what != CS_CMD_OPEN && what != CS_CMD_CLOSE)
		cs_err_set(&slot->err, "%s", a->open_err.text);
	else if (!execute(a, what))
		slot->err.text[0] = '\0';
	slot->state = CS_AGENT_OK;
	if (slot->err.text[0])
		slot->state = a->ends.dev && a->args.backend->broken(a->ends.dev) ?
				      CS_AGENT_BROKEN :
				      CS_AGENT_FAILED;
	if (slot->state == CS_AGENT_BROKEN)
		cs_agent_reading_broken(&a->reading, &slot->facts);
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
	take_board(a);
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
	a->cell.flush = args->flush;
	a->reading.starter = args->starter;
	a->reading.nvml_end_s = args->nvml_end_s;
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

	/* identify it now, in case opening its device never returns */
	if (agent->args.cannot)
		cs_text(slot->cannot, sizeof(slot->cannot), "%s", agent->args.cannot);
	slot->facts = *facts;
	cs_call_read(agent->call, slot->call);
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
