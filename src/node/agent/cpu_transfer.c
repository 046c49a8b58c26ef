#include "node/agent/cpu_transfer.h"

#include <sched.h>

#include "base/chain.h"
#include "base/fma.h"
#include "base/matmul.h"
#include "base/vec.h"

/* ---- what workers do ---- */

struct fma_part {
	uint32_t rounds;
	uint64_t expected;
};

static int fma_part(void *arg, struct cs_err *err)
{
	const struct fma_part *part = arg;
	const uint64_t sum = cs_fma_host(part->rounds);

	return sum == part->expected ?
		       0 :
		       cs_err_set(err,
				  "the results add up to %#llx, those of a plain loop to "
				  "%#llx",
				  (unsigned long long)sum,
				  (unsigned long long)part->expected);
}

struct product_part {
	uint64_t c, ab, rows;
	uint32_t block, copies;
};

/* Its blocks follow C, for which there is as much room as for A and B. */
static int product_part(void *arg, struct cs_err *err)
{
	const struct product_part *part = arg;
	double *c = (double *)(uintptr_t)part->c;

	for (uint32_t i = 0; i < part->copies; i++)
		cs_matmul_host(c, (const uint64_t *)(uintptr_t)part->ab, part->rows,
			       part->block, c + part->rows * part->rows);
	(void)err;
	return 0;
}

/* 3 to 7 ms; out of caches 0.4 ms and more */
#define CHASE_LOADS 32768u
#define CHASE_WARM_LOADS 262144u

uint64_t cs_cpu_transfer_loads(const struct cs_transfer *t)
{
	const uint64_t nodes = t->bytes / CS_CHAIN_STRIDE;

	if (t->op == CS_OP_WARM)
		return CHASE_WARM_LOADS;
	return nodes > CHASE_LOADS ? CHASE_LOADS : nodes > 1 ? nodes - 1 : 1;
}

struct chase_part {
	uint64_t first, loads, expected;
};

/* Each load has the address of the next. */
static int chase_part(void *arg, struct cs_err *err)
{
	const struct chase_part *part = arg;
	uint64_t at = part->first;

	for (uint64_t i = 0; i < part->loads; i++)
		at = *(const volatile uint64_t *)(uintptr_t)at;
	return at == part->expected ?
		       0 :
		       cs_err_set(err,
				  "a chase of %llu loads ended at byte %lld of its chain, "
				  "not at byte %lld",
				  (unsigned long long)part->loads,
				  (long long)(at - part->first),
				  (long long)(part->expected - part->first));
}

struct touched {
	void *at;
	uint64_t bytes;
	struct cs_touched pattern;
};

static int touch_part(void *arg, struct cs_err *err)
{
	const struct touched *part = arg;

	(void)err;
	cs_touch_host(part->at, part->bytes, &part->pattern);
	return 0;
}

struct asked {
	const struct cs_backend *backend;
	struct cs_dev *dev;
	struct cs_copy desc;
	const uint32_t *gate;
	uint32_t seq;
	int lane, spins;
	struct cs_cpu_transfers *cpu;
	int goes_on;
};

_Static_assert(sizeof(struct asked) <= CS_WORK_BYTES, "a worker is told more");

/* Wait for enqueued work, also after an error. */
static int drain(const struct asked *a, int failed, double *ns, struct cs_err *err)
{
	struct cs_err last;
	int rc;

	while (!(rc = a->backend->poll(a->dev, a->lane, ns, failed ? &last : err)))
		if (!a->spins)
			sched_yield();
	return failed || rc < 0 ? -1 : 0;
}

static int others_are_timed(const struct asked *a)
{
	return CS_ANY(i, CS_LANES, i != a->lane && atomic_load(&a->cpu->timed[i]));
}

/* Without marks of its own. */
static int copy(const struct asked *a, const struct cs_copy *desc, struct cs_err *err)
{
	const struct cs_backend_costs *calls = a->backend->costs;
	double ns;

	return drain(a,
		     calls->copy(a->dev, a->lane, desc, err) ||
			     calls->mark(a->dev, a->lane, err),
		     &ns, err);
}

static int go_on(const struct asked *a, struct cs_err *err)
{
	struct cs_copy one = a->desc;

	one.copies = 1;
	while (others_are_timed(a))
		if (copy(a, &one, err))
			return -1;
	return 0;
}

/* Between two marks in its stream, whose gate is open. */
static int ask_behind_gate(void *arg, struct cs_err *err)
{
	const struct asked *a = arg;
	double *ns = &a->cpu->team[a->lane].stream_ns;
	int rc = a->backend->enter(a->dev, err);

	if (!rc)
		rc = drain(a,
			   a->backend->arm(a->dev, a->lane, a->gate, a->seq, &a->desc,
					   err),
			   ns, err);
	atomic_store(&a->cpu->timed[a->lane], 0);
	return rc || (a->goes_on && go_on(a, err)) ? -1 : 0;
}

/* A driver copy between host memories is timed by the clock: no stream takes part. */
static int ask(void *arg, struct cs_err *err)
{
	const struct asked *a = arg;

	return a->backend->enter(a->dev, err) || copy(a, &a->desc, err) ? -1 : 0;
}

/* ---- teams ---- */

static int is_of_host(const struct cs_transfer *t)
{
	return cs_endpoint_is_numa(&t->src) && cs_endpoint_is_numa(&t->dst);
}

int cs_cpu_transfer_numa(const struct cs_cpu_transfers *c, const struct cs_transfer *t)
{
	if (t->variant.cpu_numa)
		return t->variant.cpu_numa - 1;
	if (is_of_host(t)) {
		const struct cs_endpoint *at = t->method == CS_METHOD_TEAM &&
							       t->op == CS_OP_WRITE ?
						     &t->src :
						     &t->dst;

		return at->index == CS_NUMA_LOCAL ? c->slot->facts.numa : at->index;
	}
	return -1;
}

static int threads_of(const struct cs_cpu_transfers *c, const struct cs_transfer *t,
		      int numa)
{
	int n = t->variant.threads ? t->variant.threads : 1;

	if (cs_transfer_is_by_all_cores(t))
		n = cs_topo_cores(c->workers.topo, numa);
	if (n > CS_TEAM_MOST)
		n = CS_TEAM_MOST;
	if (t->method != CS_METHOD_FMA &&
	    (uint64_t)n > cs_share_whole(t) / CS_SHARE_GRAIN)
		n = (int)(cs_share_whole(t) / CS_SHARE_GRAIN);
	return n > 1 && (t->method == CS_METHOD_CPU || cs_transfer_is_by_all_cores(t) ||
			 cs_transfer_is_cpu_touch(t)) ?
		       n :
		       1;
}

/* Take n workers or none; with one for each core, bind each to its core. */
static int team_take(struct cs_cpu_transfers *c, struct cs_team *team, int n,
		     int numa, int by_cores)
{
	while (team->n < n) {
		struct cs_worker *w = cs_worker_take(&c->workers, numa,
						     by_cores ? team->n : -1,
						     &c->slot->err);

		if (!w)
			break;
		team->worker[team->n++] = w;
	}
	if (team->n == n)
		return 0;
	while (team->n)
		cs_worker_put(team->worker[--team->n]);
	c->slot->refused = 1;
	return -1;
}

/* The sum of a pattern's words, computed once for all samples of a cell. */
static uint64_t sum_of(struct cs_cpu_transfers *c, uint64_t key, uint64_t bytes)
{
	struct cs_summed *s = &c->summed;

	if (s->bytes != bytes || s->key != key) {
		*s = (struct cs_summed){ key, bytes, 0 };
		for (uint64_t i = 0; i < bytes / 8; i++)
			s->sum += cs_fill_word(key, i);
	}
	return s->sum;
}

static void arm_shares(struct cs_cpu_transfers *c, struct cs_team *team,
		       const struct cs_transfer *t, const struct cs_copy *f)
{
	if (t->method == CS_METHOD_TEAM && t->op == CS_OP_READ) {
		team->reads = team->n;
		team->expected = f->copies * sum_of(c, f->key, f->bytes);
	}
	for (int i = 0; i < team->n; i++) {
		struct cs_share share = cs_share_of(t, f, i, team->n, &team->sum[i]);

		cs_worker_arm(team->worker[i], c->slot->seq,
			      &(struct cs_work){ cs_share_run(t), &share,
						 sizeof(share) });
	}
}

static void arm_fma(struct cs_cpu_transfers *c, struct cs_team *team,
		    const struct cs_copy *f)
{
	const struct fma_part part = { f->copies, cs_fma_host_expected(f->copies) };

	for (int i = 0; i < team->n; i++)
		cs_worker_arm(team->worker[i], c->slot->seq,
			      &(struct cs_work){ fma_part, &part, sizeof(part) });
}

static void arm_product(struct cs_cpu_transfers *c, struct cs_team *team,
			const struct cs_copy *f)
{
	const uint64_t n = cs_matmul_rows(f->bytes, f->element);
	const struct product_part part = { f->dst, f->src, n, f->element, f->copies };

	if (c->summed.bytes != n || c->summed.key != f->key)
		c->summed = (struct cs_summed){ f->key, n,
						cs_matmul_expected(f->key, n) };
	team->product = (const double *)(uintptr_t)f->dst;
	team->rows = n;
	team->expected = c->summed.sum;
	memset((void *)(uintptr_t)f->dst, 0xFF, n * n * sizeof(double));
	cs_worker_arm(team->worker[0], c->slot->seq,
		      &(struct cs_work){ product_part, &part, sizeof(part) });
}

/* From its first node, which is at the beginning; of a warm one each sample begins at
 * the end of the last, so that all of a long chain is used. */
static void arm_chase(struct cs_cpu_transfers *c, struct cs_team *team,
		      const struct cs_transfer *t, const struct cs_copy *f)
{
	const struct cs_chain chain = cs_chain_of(f->bytes, f->key);
	const uint64_t loads = cs_cpu_transfer_loads(t);
	const uint64_t from = t->op == CS_OP_WARM ? c->slot->seq * loads : 0;
	const struct chase_part part = {
		f->src + cs_chain_node(&chain, from) * CS_CHAIN_STRIDE, loads,
		f->src + cs_chain_node(&chain, from + loads) * CS_CHAIN_STRIDE
	};

	cs_worker_arm(team->worker[0], c->slot->seq,
		      &(struct cs_work){ chase_part, &part, sizeof(part) });
}

/* Have they read the expected data, or made the right product? */
static int check_read(const struct cs_team *team, struct cs_err *err)
{
	uint64_t sum = 0;

	if (team->product)
		return cs_matmul_sum(team->product, team->rows) == team->expected ?
			       0 :
			       cs_err_set(err, CS_MATMUL_WRONG);
	for (int i = 0; i < team->reads; i++)
		sum += team->sum[i];
	return !team->reads || sum == team->expected ?
		       0 :
		       cs_err_set(err,
				  "what was read adds up to %#llx, the pattern to %#llx",
				  (unsigned long long)sum,
				  (unsigned long long)team->expected);
}

/* Whole pages each. */
static void arm_touch(struct cs_cpu_transfers *c, struct cs_team *team,
		      const struct cs_copy *f)
{
	uint64_t pages = (f->bytes + f->stride - 1) / f->stride;

	for (int i = 0; i < team->n; i++) {
		uint64_t at = pages * (uint64_t)i / (uint64_t)team->n * f->stride;
		uint64_t end = pages * (uint64_t)(i + 1) / (uint64_t)team->n *
			       f->stride;
		struct touched part = {
			.at = (void *)(uintptr_t)(f->dst + at),
			.bytes = (end < f->bytes ? end : f->bytes) - at,
			.pattern = { f->key + cs_fill_step(at / sizeof(uint64_t)),
				     f->stride, f->mark },
		};

		cs_worker_arm(team->worker[i], c->slot->seq,
			      &(struct cs_work){ touch_part, &part, sizeof(part) });
	}
}

static void arm_call(struct cs_cpu_transfers *c, struct cs_team *team, int lane,
		     const struct cs_copy *f)
{
	struct cs_board *board = c->workers.board;
	struct asked asked = {
		.backend = c->backend,
		.dev = c->dev,
		.desc = *f,
		.gate = (const uint32_t *)&board->gate,
		.seq = c->slot->seq,
		.lane = lane,
		.spins = board->spin_ns > 0,
		.cpu = c,
		.goes_on = cs_step_goes_on(c->plan, &c->slot->step),
	};

	asked.desc.lent = 1;
	atomic_store(&c->timed[lane], asked.goes_on);
	cs_worker_arm(team->worker[0], c->slot->seq,
		      &(struct cs_work){ team->by_stream ? ask_behind_gate : ask,
					 &asked, sizeof(asked) });
}

/* Note the CPUs and NUMA node of a copy, for rows. */
static void note(struct cs_cpu_transfers *c, const struct cs_team *team, int numa,
		 struct cs_cpu_side *side)
{
	const struct cs_agent_facts *f = &c->slot->facts;

	side->workers = (uint32_t)team->n;
	side->cpus_numa = numa >= 0 ? numa : f->bound ? f->numa : -1;
	cs_text(side->cpus, sizeof(side->cpus), "%s", cs_worker_cpus(team->worker[0]));
	for (int i = 1; i < team->n; i++)
		cs_topo_add_cpus(side->cpus, sizeof(side->cpus),
				 cs_worker_cpus(team->worker[i]));
}

int cs_cpu_transfer_arm(struct cs_cpu_transfers *c, int lane, uint32_t k,
			const struct cs_transfer *t, const struct cs_copy *desc)
{
	struct cs_team *team = &c->team[lane];
	int numa = cs_cpu_transfer_numa(c, t);

	team->k = k;
	team->by_stream = 0;
	team->stream_ns = 0;
	team->reads = 0;
	team->product = NULL;
	team->did = (struct cs_worked){ 0 };
	if (team_take(c, team, threads_of(c, t, numa), numa,
		      cs_transfer_is_by_all_cores(t)))
		return -1;
	note(c, team, numa, &c->slot->side[k]);
	team->by_stream = !is_of_host(t) && !cs_transfer_is_cpu_touch(t);
	if (cs_transfer_is_cpu_touch(t))
		arm_touch(c, team, desc);
	else if (t->method == CS_METHOD_CHASE)
		arm_chase(c, team, t, desc);
	else if (t->method == CS_METHOD_FMA)
		arm_fma(c, team, desc);
	else if (t->method == CS_METHOD_MATMUL)
		arm_product(c, team, desc);
	else if (t->method == CS_METHOD_CPU || t->method == CS_METHOD_TEAM)
		arm_shares(c, team, t, desc);
	else
		arm_call(c, team, lane, desc);
	for (int i = 0; i < team->n; i++)
		cs_worker_ready(team->worker[i]);
	return 0;
}

int cs_cpu_transfer_await(struct cs_cpu_transfers *c, int lane)
{
	struct cs_team *team = &c->team[lane];
	struct cs_worked one, *all = &team->did;

	if (!team->n)
		return 0;
	*all = (struct cs_worked){ .begin_ns = UINT64_MAX, .counts = 1 };
	while (team->n) {
		struct cs_worker *w = team->worker[--team->n];

		cs_worker_await(w, &one);
		cs_worker_put(w);
		if (one.begin_ns < all->begin_ns)
			all->begin_ns = one.begin_ns;
		if (one.end_ns > all->end_ns)
			all->end_ns = one.end_ns;
		all->counts &= one.counts;
		all->faults += one.faults;
		all->major_faults += one.major_faults;
		if (one.rc && !all->rc) {
			all->rc = one.rc;
			all->err = one.err;
		}
	}
	if (cs_transfer_is_cpu_touch(cs_plan_transfer(c->plan, &c->slot->step,
						      team->k))) {
		c->slot->side[team->k].faults = all->faults;
		c->slot->side[team->k].major_faults = all->major_faults;
	}
	/* a cancelled one has not reset it */
	atomic_store(&c->timed[lane], 0);
	if (!all->rc && all->counts)
		all->rc = check_read(team, &all->err);
	if (all->rc)
		c->slot->err = all->err;
	return all->rc;
}

double cs_cpu_transfer_ns(const struct cs_cpu_transfers *c, int lane)
{
	const struct cs_team *team = &c->team[lane];

	if (!team->did.counts || team->did.rc)
		return 0;
	return team->by_stream ? team->stream_ns :
				 (double)(team->did.end_ns - team->did.begin_ns);
}
