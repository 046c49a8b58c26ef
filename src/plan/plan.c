#include "config.h"

#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/facts.h"
#include "base/rng.h"
#include "base/vec.h"

/* The blob travels and is hashed as bytes: no padding anywhere, and every part
 * begins where its alignment wants it. */
_Static_assert(sizeof(struct cs_settings) == 112, "padding in cs_settings");
_Static_assert(sizeof(struct cs_plan) == 168, "padding in cs_plan");
_Static_assert(sizeof(struct cs_step) == 48, "padding in cs_step");
_Static_assert(sizeof(struct cs_transfer) == 32, "padding in cs_transfer");
_Static_assert(sizeof(struct cs_view) == 16, "padding in cs_view");

#define CONTROL_LEAST 4u /* cells; fewer show no drift */

/* A plan that grows. */
struct draft {
	const struct cs_plan_request *req;
	struct cs_vec steps, transfers, views;
	struct cs_rng lot;	/* who is drawn for RANDOM */
	struct cs_err *err;
};

/* FNV-1a, 64 bits (Fowler, Noll, Vo), of all that follows the field `id`. */
static uint64_t plan_hash(const struct cs_plan *plan)
{
	const size_t from = offsetof(struct cs_plan, id) + sizeof(plan->id);
	const unsigned char *byte = (const unsigned char *)plan + from;
	const unsigned char *end = (const unsigned char *)plan + plan->total_bytes;
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; byte < end; byte++)
		hash = (hash ^ *byte) * 0x100000001b3ull;
	return hash;
}

static uint64_t bytes_of(const struct cs_test *test,
			 const struct cs_settings *set)
{
	return test->bytes ? test->bytes : set->copy_bytes;
}

static uint64_t align_up(uint64_t bytes)
{
	return (bytes + CS_ARENA_ALIGN - 1) / CS_ARENA_ALIGN * CS_ARENA_ALIGN;
}

/* ---- what may be asked for ---- */

static int agents_check(int64_t n, struct cs_err *err)
{
	if (n < 1)
		return cs_err_set(err, "a plan needs at least 1 GPU or arena");
	if (n > CS_MAX_AGENTS)
		return cs_err_set(err, "cannot measure between %" PRId64 " agents: "
				  "at most %d are possible", n, CS_MAX_AGENTS);
	return 0;
}

static int bytes_check(uint64_t bytes, struct cs_err *err)
{
	if (!bytes || bytes % 16 || bytes > CS_COPY_MAX)
		return cs_err_set(err, "copy size of %" PRIu64 " bytes: it must be a "
				  "multiple of 16, above 0 and at most 1024 TiB",
				  bytes);
	return 0;
}

static int not_a_limit(double x)
{
	return !isfinite(x) || x < 0;
}

static int settings_check(const struct cs_settings *set, struct cs_err *err)
{
	if (bytes_check(set->copy_bytes, err))
		return -1;
	if (not_a_limit(set->precision) || not_a_limit(set->cell_limit_s) ||
	    not_a_limit(set->start_limit_s))
		return cs_err_set(err, "precision or a time limit is negative or "
				  "not a number");
	if (set->verify > CS_VERIFY_OFF || set->backend > CS_BACKEND_CPU)
		return cs_err_set(err, "unknown verify mode %u or backend %u",
				  set->verify, set->backend);
	if (set->last_bytes && (bytes_check(set->last_bytes, err) ||
				set->last_bytes < set->copy_bytes ||
				!(set->growth > 1) || !isfinite(set->growth)))
		return cs_err_set(err, "a sweep from %" PRIu64 " to %" PRIu64
				  " bytes by %g", set->copy_bytes,
				  set->last_bytes, set->growth);
	if (set->spread_bytes > CS_COPY_MAX)
		return cs_err_set(err, "copies spread over %" PRIu64 " bytes: at "
				  "most 1024 TiB", set->spread_bytes);
	if (set->via >= CS_WAYS || set->pad ||
	    (set->via != CS_WAY_AUTO && set->backend == CS_BACKEND_CPU))
		return cs_err_set(err, "unknown way %u between agents of "
				  "backend %u", set->via, set->backend);
	return 0;
}

/* ---- building ---- */

static int add_step(struct draft *d)
{
	struct cs_step *step = cs_vec_add(&d->steps, 1, d->err);
	struct cs_view *view = (struct cs_view *)d->views.data + d->views.n - 1;

	if (!step)
		return -1;
	*step = (struct cs_step){ .first = (uint32_t)d->transfers.n,
				  .view = (uint32_t)d->views.n - 1 };
	view->steps++;
	return 0;
}

/* To the last step. */
static int add_transfer(struct draft *d, const struct cs_transfer *transfer)
{
	struct cs_step *step = (struct cs_step *)d->steps.data + d->steps.n - 1;
	struct cs_transfer *t;

	if (++step->count > CS_STEP_MAX)
		return cs_err_set(d->err, "more than %d transfers at the same time",
				  CS_STEP_MAX);
	t = cs_vec_add(&d->transfers, 1, d->err);
	if (!t)
		return -1;
	*t = *transfer;
	return 0;
}

/* The place of a domain among those there are. */
static uint32_t domain_place(const struct cs_settings *set, uint32_t numa)
{
	uint64_t below = numa < CS_NUMA_MOST ? (1ull << numa) - 1 : 0;

	return (uint32_t)__builtin_popcountll(set->domains & below);
}

/* A read is issued by the destination's agent, all else by the source's, what has a
 * host end by the GPU's; pairs of domains take turns. */
static uint32_t issuer_of(const struct cs_plan_request *req,
			  const struct cs_test *test, const struct cs_end *src,
			  const struct cs_end *dst)
{
	int pulls = test->op == CS_OP_READ || test->method == CS_METHOD_CHASE;

	if (cs_end_is_numa(src) && cs_end_is_numa(dst))
		return (domain_place(&req->set, src->index) *
				(uint32_t)__builtin_popcountll(req->set.domains) +
			domain_place(&req->set, dst->index)) %
		       (uint32_t)req->n_agents;
	if (cs_end_is_numa(src) || cs_end_is_numa(dst))
		return cs_end_is_numa(src) ? dst->index : src->index;
	return pulls ? dst->index : src->index;
}

struct cs_transfer cs_asked_transfer(const struct cs_plan_request *req,
				     const struct cs_asked *asked)
{
	size_t n;
	const struct cs_test *test = &cs_catalogue(&n)[asked->test];
	int by_ends = (test->path == CS_PATH_H2D || test->path == CS_PATH_D2H) &&
		      test->method != CS_METHOD_CHASE;

	return (struct cs_transfer){
		.src = asked->src, .dst = asked->dst,
		.method = (uint8_t)test->method,
		.op = (uint8_t)(!by_ends ? test->op :
				cs_end_is_numa(&asked->src) ? CS_OP_READ :
							      CS_OP_WRITE),
		.issuer = (uint16_t)issuer_of(req, test, &asked->src, &asked->dst),
		.flags = (uint16_t)asked->flags, .bytes = asked->bytes,
	};
}

/* Of the last view. */
static int add_between(struct draft *d, struct cs_end src, struct cs_end dst,
		       uint64_t bytes, uint32_t flags)
{
	const struct cs_view *view =
		(struct cs_view *)d->views.data + d->views.n - 1;
	const struct cs_asked asked = { view->test, flags, src, dst, bytes };
	struct cs_transfer t = cs_asked_transfer(d->req, &asked);

	t.view = (uint16_t)(d->views.n - 1);
	return add_transfer(d, &t);
}

static struct cs_end agent_end(const struct draft *d, uint32_t agent)
{
	if (d->req->set.backend == CS_BACKEND_CPU)
		return (struct cs_end){ CS_END_HOST, CS_MEM_ARENA,
					(uint16_t)agent };
	return (struct cs_end){ CS_END_GPU, CS_MEM_DEVICE, (uint16_t)agent };
}

static struct cs_end numa_end(const struct cs_test *test, uint32_t numa)
{
	return (struct cs_end){ CS_END_HOST, (uint8_t)test->memory,
				(uint16_t)numa };
}

static uint64_t view_bytes(const struct draft *d)
{
	return ((struct cs_view *)d->views.data)[d->views.n - 1].bytes;
}

/* From agent to agent, of the view's size. */
static int add_way(struct draft *d, uint32_t src, uint32_t dst)
{
	return add_between(d, agent_end(d, src), agent_end(d, dst), view_bytes(d),
			   0);
}

/* A step of one transfer; of BIDI both directions. */
static int add_pair(struct draft *d, const struct cs_test *test, uint32_t a,
		    uint32_t b)
{
	return add_step(d) || add_way(d, a, b) ||
	       (test->pattern == CS_PATTERN_BIDI && add_way(d, b, a));
}

static int add_pairs(struct draft *d, const struct cs_test *test)
{
	uint32_t n = (uint32_t)d->req->n_agents, a, b;

	for (a = 0; a < n; a++)
		for (b = test->pattern == CS_PATTERN_BIDI ? a + 1 : 0; b < n; b++)
			if (a != b && add_pair(d, test, a, b))
				return -1;
	return 0;
}

/* Each agent and `random` others that are drawn, all of them if there are no more. */
static int add_drawn(struct draft *d, const struct cs_test *test)
{
	uint32_t n = (uint32_t)d->req->n_agents, far[CS_MAX_AGENTS], a, k;

	for (a = 0; a < n; a++) {
		cs_rng_shuffle(&d->lot, far, n - 1);
		for (k = 0; k + 1 < n && k < d->req->set.random; k++)
			if (add_pair(d, test, a, (a + 1 + far[k]) % n))
				return -1;
	}
	return 0;
}

/* All agents at once, i to i + far. */
static int add_shift(struct draft *d, uint32_t far)
{
	uint32_t n = (uint32_t)d->req->n_agents, a;

	if (add_step(d))
		return -1;
	for (a = 0; a < n; a++)
		if (add_way(d, a, (a + far) % n))
			return -1;
	return 0;
}

static int add_shifts(struct draft *d, const struct cs_test *test)
{
	uint32_t n = (uint32_t)d->req->n_agents, far = 1, last = n - 1;

	if (n < 2)
		return 0;
	if (test->pattern == CS_PATTERN_RING)
		last = 1;
	else if (test->pattern == CS_PATTERN_BISECT)
		far = last = n / 2;
	else if (d->req->set.shift)
		far = last = d->req->set.shift;
	for (; far <= last && last < n; far++)
		if (add_shift(d, far))
			return -1;
	return 0;
}

/* The k-th pair of a round: one agent stays, the others go round it.  With an odd
 * number one of each round has nobody. */
static void round_pair(uint32_t places, uint32_t round, uint32_t k, uint32_t *a,
		       uint32_t *b)
{
	uint32_t wheel = places - 1;

	*a = k ? (round + k) % wheel : wheel;
	*b = k ? (round + wheel - k) % wheel : round;
}

/* Disjoint pairs at the same time, one way only: every agent sends or receives. */
static int add_round(struct draft *d, uint32_t round, int back)
{
	uint32_t n = (uint32_t)d->req->n_agents, places = n + n % 2, k, a, b;

	if (add_step(d))
		return -1;
	for (k = 0; k < places / 2; k++) {
		round_pair(places, round, k, &a, &b);
		if (a < n && b < n &&
		    add_way(d, back ? b : a, back ? a : b))
			return -1;
	}
	return 0;
}

static int add_rounds(struct draft *d)
{
	uint32_t n = (uint32_t)d->req->n_agents, round;

	for (round = 0; n > 1 && round + 1 < n + n % 2; round++)
		if (add_round(d, round, 0) || add_round(d, round, 1))
			return -1;
	return 0;
}

/* Into or out of each agent in turn. */
static int add_hubs(struct draft *d, const struct cs_test *test)
{
	uint32_t n = (uint32_t)d->req->n_agents, hub, a;

	for (hub = 0; hub < n && n > 1; hub++) {
		if (add_step(d))
			return -1;
		for (a = 0; a < n; a++)
			if (a != hub &&
			    (test->pattern == CS_PATTERN_ALL_TO_ONE ?
				     add_way(d, a, hub) : add_way(d, hub, a)))
				return -1;
	}
	return 0;
}

/* Within its GPU, or to the next one. */
static int add_alone(struct draft *d, const struct cs_test *test, uint32_t agent)
{
	uint32_t n = (uint32_t)d->req->n_agents;

	return add_way(d, agent, test->path == CS_PATH_LOCAL ? agent :
							       (agent + 1) % n);
}

static int add_lists(struct draft *d, const struct cs_test *test)
{
	uint32_t n = (uint32_t)d->req->n_agents, a;
	int together = test->pattern == CS_PATTERN_ALL;

	if (test->path == CS_PATH_PEER && n < 2)
		return 0;
	if (together && add_step(d))
		return -1;
	for (a = 0; a < n; a++)
		if ((!together && add_step(d)) || add_alone(d, test, a))
			return -1;
	return 0;
}

/* ---- building, with the host ---- */

enum { HOST_BACK = 1, HOST_LOAD = 2 };

/* Between a NUMA domain and a GPU, as the test says or (BACK) the other way. */
static int add_host_way(struct draft *d, const struct cs_test *test,
			uint32_t numa, uint32_t gpu, int how)
{
	int down = (test->path == CS_PATH_H2D) != ((how & HOST_BACK) != 0);
	uint64_t bytes = view_bytes(d);

	if (how & HOST_LOAD && bytes > CS_LOAD_BYTES)
		bytes = CS_LOAD_BYTES;
	return add_between(d, down ? numa_end(test, numa) : agent_end(d, gpu),
			   down ? agent_end(d, gpu) : numa_end(test, numa), bytes,
			   how & HOST_LOAD ? CS_TRANSFER_LOAD : 0);
}

static int add_host_loads(struct draft *d, const struct cs_test *test,
			  uint32_t numa, uint32_t gpu)
{
	int both = test->pattern == CS_PATTERN_BIDILOAD;
	uint32_t a;

	if (both && add_host_way(d, test, numa, gpu, HOST_BACK | HOST_LOAD))
		return -1;
	for (a = 0; a < (uint32_t)d->req->n_agents; a++)
		if (a != gpu &&
		    (add_host_way(d, test, CS_NUMA_LOCAL, a, HOST_LOAD) ||
		     (both && add_host_way(d, test, CS_NUMA_LOCAL, a,
					   HOST_BACK | HOST_LOAD))))
			return -1;
	return 0;
}

/* The domain and every GPU, one after the other. */
static int add_host_pairs(struct draft *d, const struct cs_test *test,
			  uint32_t numa)
{
	int loaded = test->pattern == CS_PATTERN_LOAD ||
		     test->pattern == CS_PATTERN_BIDILOAD;
	uint32_t a;

	for (a = 0; a < (uint32_t)d->req->n_agents; a++)
		if (add_step(d) || add_host_way(d, test, numa, a, 0) ||
		    (test->pattern == CS_PATTERN_BIDI &&
		     add_host_way(d, test, numa, a, HOST_BACK)) ||
		    (loaded && add_host_loads(d, test, numa, a)))
			return -1;
	return 0;
}

/* The domain and all GPUs at once. */
static int add_host_every(struct draft *d, const struct cs_test *test,
			  uint32_t numa)
{
	uint32_t a;

	if (add_step(d))
		return -1;
	for (a = 0; a < (uint32_t)d->req->n_agents; a++)
		if (add_host_way(d, test, numa, a, 0) ||
		    (test->pattern == CS_PATTERN_BIDIEVERY &&
		     add_host_way(d, test, numa, a, HOST_BACK)))
			return -1;
	return 0;
}

static int add_host(struct draft *d, const struct cs_test *test)
{
	int every = test->pattern == CS_PATTERN_EVERY ||
		    test->pattern == CS_PATTERN_BIDIEVERY;
	uint64_t numa = d->req->set.numa;
	uint32_t i;

	if (!numa)
		return every ? add_host_every(d, test, CS_NUMA_LOCAL) :
			       add_host_pairs(d, test, CS_NUMA_LOCAL);
	for (i = 0; i < CS_NUMA_MOST; i++)
		if ((numa >> i & 1) && (every ? add_host_every(d, test, i) :
						add_host_pairs(d, test, i)))
			return -1;
	return 0;
}

/* Domain to domain, also to itself, by agents in turn. */
static int add_domains(struct draft *d, const struct cs_test *test)
{
	uint64_t all = d->req->set.domains;
	uint32_t a, b;

	for (a = 0; a < CS_NUMA_MOST; a++)
		for (b = 0; b < CS_NUMA_MOST; b++)
			if ((all >> a & 1) && (all >> b & 1) &&
			    (add_step(d) ||
			     add_between(d, numa_end(test, a), numa_end(test, b),
					 view_bytes(d), 0)))
				return -1;
	return 0;
}

/* ---- building, all of it ---- */

static int add_cells(struct draft *d, const struct cs_test *test)
{
	if (test->path == CS_PATH_HOST)
		return add_domains(d, test);
	if (cs_test_has_host(test))
		return add_host(d, test);
	switch (test->pattern) {
	case CS_PATTERN_SHIFT:
	case CS_PATTERN_RING:
	case CS_PATTERN_BISECT:
		return add_shifts(d, test);
	case CS_PATTERN_ALL_TO_ONE:
	case CS_PATTERN_ONE_TO_ALL:
		return add_hubs(d, test);
	case CS_PATTERN_ROUNDS:
		return add_rounds(d);
	case CS_PATTERN_RANDOM:
		return add_drawn(d, test);
	case CS_PATTERN_ALONE:
	case CS_PATTERN_ALL:
	case CS_PATTERN_GATED:
		return add_lists(d, test);
	default:
		return add_pairs(d, test);
	}
}

/* A matrix without a cell is none. */
static int add_view(struct draft *d, size_t index, uint64_t bytes)
{
	size_t n;
	const struct cs_test *test = &cs_catalogue(&n)[index];
	struct cs_view *view;

	if (d->views.n == CS_VIEWS_MAX)
		return cs_err_set(d->err, "more than %d tests and sizes",
				  CS_VIEWS_MAX);
	view = cs_vec_add(&d->views, 1, d->err);
	if (!view)
		return -1;
	*view = (struct cs_view){ .test = (uint32_t)index, .bytes = bytes };
	if (add_cells(d, test))
		return cs_err_prefix(d->err, "%s", test->name);
	view = (struct cs_view *)d->views.data + d->views.n - 1;
	d->views.n -= !view->steps;
	return 0;
}

uint64_t cs_size_next(const struct cs_settings *set, uint64_t bytes)
{
	double next = (double)bytes * set->growth;

	if (!set->last_bytes || !(next <= (double)set->last_bytes))
		return 0;
	next = floor(next / 16) * 16;
	return next > (double)bytes ? (uint64_t)next : bytes + 16;
}

static int add_sizes(struct draft *d, size_t index)
{
	size_t n;
	const struct cs_test *test = &cs_catalogue(&n)[index];
	uint64_t bytes = bytes_of(test, &d->req->set);

	do {
		if (add_view(d, index, bytes))
			return -1;
		bytes = test->bytes ? 0 : cs_size_next(&d->req->set, bytes);
	} while (bytes);
	return 0;
}

static int add_tests(struct draft *d)
{
	const struct cs_plan_request *req = d->req;
	size_t n, i, chosen = 0;
	const struct cs_test *test = cs_catalogue(&n);

	for (i = 0; i < n; i++) {
		if (!req->chosen[i])
			continue;
		chosen++;
		if (!cs_test_is_of(&test[i],
				   (enum cs_backend_kind)req->set.backend))
			return cs_err_set(d->err, "test '%s' is of the other "
					  "backend", test[i].name);
		if (!cs_method_fits((int)test[i].method,
				    (enum cs_way)req->set.via))
			return cs_err_set(d->err, "test '%s' is of another --via",
					  test[i].name);
		if (add_sizes(d, i))
			return -1;
	}
	if (!chosen)
		return cs_err_set(d->err, "no test is chosen (see --list)");
	if (!d->views.n)
		return cs_err_set(d->err, "a matrix needs at least 2 GPUs or "
				  "arenas: there is %d", req->n_agents);
	return 0;
}

/* Where each part lies when there are so many of each. */
static void lay_out(struct cs_plan *plan)
{
	plan->steps_at = sizeof(*plan);
	plan->transfers_at = plan->steps_at +
			     plan->n_steps * (uint32_t)sizeof(struct cs_step);
	plan->views_at = plan->transfers_at +
			 plan->n_transfers * (uint32_t)sizeof(struct cs_transfer);
	plan->total_bytes = plan->views_at +
			    plan->n_views * (uint32_t)sizeof(struct cs_view);
}

/* Host ends in one direction: the step's first, then by issuer. */
static uint8_t host_slot(const struct cs_transfer *t, uint32_t k, int is_dst)
{
	uint32_t i, before = 0, own = 0;

	if (!cs_end_is_numa(is_dst ? &t[k].dst : &t[k].src))
		return 0;
	for (i = 0; i < k; i++) {
		if (!cs_end_is_numa(is_dst ? &t[i].dst : &t[i].src))
			continue;
		own += before && t[i].issuer == t[k].issuer;
		before++;
	}
	return (uint8_t)(before ? 1 + own : 0);
}

/* Ascending by size, equal ones as they stand. */
static void order_by_span(const struct cs_plan *plan, const struct cs_transfer *t,
			  uint32_t count, uint32_t *order)
{
	uint32_t i, k;

	for (i = 0; i < count; i++) {
		for (k = i; k && cs_transfer_span(plan, &t[order[k - 1]]) >
					 cs_transfer_span(plan, &t[i]); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

/* Of a whole step.  What goes into one agent lies by size, so that each begins at a
 * multiple of its own size no further than its place among them. */
static void assign_slots(const struct cs_plan *plan, struct cs_transfer *t,
			 uint32_t count)
{
	uint32_t order[CS_STEP_MAX], i;
	uint64_t end[CS_MAX_AGENTS] = { 0 };

	order_by_span(plan, t, count, order);
	for (i = 0; i < count; i++) {
		uint32_t k = order[i];
		uint64_t own = align_up(cs_transfer_span(plan, &t[k]));

		t[k].src_slot = host_slot(t, k, 0);
		t[k].dst_slot = host_slot(t, k, 1);
		if (cs_end_is_numa(&t[k].dst) || t[k].method == CS_METHOD_CHASE)
			continue;
		t[k].dst_slot = (uint8_t)((end[t[k].dst.index] + own - 1) / own);
		end[t[k].dst.index] = (t[k].dst_slot + 1) * own;
	}
}

static void put_step(struct cs_plan *plan, const struct draft *d,
		     const struct cs_step *from, uint32_t flags)
{
	struct cs_step *step = (struct cs_step *)((char *)plan + plan->steps_at) +
			       plan->n_steps++;
	struct cs_transfer *to =
		(struct cs_transfer *)((char *)plan + plan->transfers_at) +
		plan->n_transfers;

	*step = *from;
	step->first = plan->n_transfers;
	step->flags |= flags;
	memcpy(to, (const struct cs_transfer *)d->transfers.data + from->first,
	       from->count * sizeof(*to));
	assign_slots(plan, to, from->count);
	plan->n_transfers += from->count;
}

/* The step that is measured again: the first one whose figure is known well
 * enough to show drift.  NULL: none, or too few to need it. */
static const struct cs_step *control_step(const struct draft *d)
{
	const struct cs_step *step = d->steps.data;
	const struct cs_view *view = d->views.data;
	size_t n_tests, i;
	const struct cs_test *table = cs_catalogue(&n_tests);

	for (i = 0; d->steps.n >= CONTROL_LEAST && i < d->steps.n; i++)
		if (table[view[step[i].view].test].how == CS_HOW_GATED)
			return &step[i];
	return NULL;
}

/* The shuffled steps; the control in the middle and at the end. */
static void put_steps(struct cs_plan *plan, const struct draft *d,
		      const uint32_t *order)
{
	const struct cs_step *step = d->steps.data;
	const struct cs_step *control = control_step(d);
	size_t i;

	for (i = 0; i < d->steps.n; i++) {
		if (control && i == d->steps.n / 2)
			put_step(plan, d, control, CS_STEP_CONTROL);
		put_step(plan, d, &step[order[i]], 0);
	}
	if (control)
		put_step(plan, d, control, CS_STEP_CONTROL);
}

/* A zeroed blob with its header and views, and room for the steps, and for a step
 * that is put twice more; they are still to come. */
static struct cs_plan *new_plan(const struct draft *d,
				const struct cs_step *control)
{
	struct cs_plan head = {
		.magic = CS_PLAN_MAGIC, .version = CS_PLAN_VERSION,
		.n_agents = (uint32_t)d->req->n_agents, .set = d->req->set,
		.n_views = (uint32_t)d->views.n,
		.n_steps = (uint32_t)(d->steps.n + (control ? 2 : 0)),
		.n_transfers = (uint32_t)(d->transfers.n +
					  (control ? 2 * control->count : 0)),
	};
	struct cs_plan *plan;

	lay_out(&head);
	plan = calloc(1, head.total_bytes);
	if (!plan) {
		cs_err_set(d->err, "no memory for a plan of %zu steps",
			   d->steps.n);
		return NULL;
	}
	*plan = head;
	memcpy((char *)plan + plan->views_at, d->views.data,
	       d->views.n * sizeof(struct cs_view));
	plan->n_steps = plan->n_transfers = 0; /* counted as they are put */
	return plan;
}

static struct draft new_draft(const struct cs_plan_request *req,
			      struct cs_err *err)
{
	return (struct draft){ .req = req, .steps = CS_VEC(struct cs_step),
			       .transfers = CS_VEC(struct cs_transfer),
			       .views = CS_VEC(struct cs_view),
			       .lot = { ~req->set.seed }, .err = err };
}

static void release_draft(struct draft *d)
{
	cs_vec_release(&d->views);
	cs_vec_release(&d->transfers);
	cs_vec_release(&d->steps);
}

int cs_plan_build(const struct cs_plan_request *req, struct cs_plan **out,
		  struct cs_err *err)
{
	struct draft d = new_draft(req, err);
	struct cs_vec order = CS_VEC(uint32_t);
	struct cs_rng rng = { req->set.seed };
	struct cs_plan *plan = NULL;

	if (!agents_check(req->n_agents, err) &&
	    !settings_check(&req->set, err) && !add_tests(&d) &&
	    cs_vec_add(&order, d.steps.n, err))
		plan = new_plan(&d, control_step(&d));
	if (plan) {
		cs_rng_shuffle(&rng, order.data, order.n);
		put_steps(plan, &d, order.data);
		plan->id = plan_hash(plan);
		*out = plan;
	}
	cs_vec_release(&order);
	release_draft(&d);
	return plan ? 0 : -1;
}

/* ---- building what a file asks for ---- */

static int by_test_and_size(const void *x, const void *y)
{
	const struct cs_view *a = x, *b = y;

	return a->test != b->test ? (a->test > b->test) - (a->test < b->test) :
				    (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static struct cs_view *find_view(const struct draft *d, const struct cs_view *like)
{
	return d->views.n ? bsearch(like, d->views.data, d->views.n, sizeof(*like),
				    by_test_and_size) : NULL;
}

/* That of its test and size; of a load, that of the test measured beside it. */
static struct cs_view view_of(const struct cs_step *step,
			      const struct cs_asked *asked, uint32_t k)
{
	const struct cs_asked *me = &asked[step->first + k], *other;
	uint32_t i;

	for (i = 0; i < step->count && me->flags & CS_TRANSFER_LOAD; i++) {
		other = &asked[step->first + i];
		if (!(other->flags & CS_TRANSFER_LOAD) &&
		    other->test == me->test && other->bytes >= me->bytes)
			return (struct cs_view){ .test = me->test,
						 .bytes = other->bytes };
	}
	return (struct cs_view){ .test = me->test, .bytes = me->bytes };
}

/* The views stay sorted: where a new one comes is most often known at once. */
static int need_view(struct draft *d, struct cs_view view)
{
	struct cs_view *to;

	if (find_view(d, &view))
		return 0;
	if (d->views.n == CS_VIEWS_MAX)
		return cs_err_set(d->err, "more than %d tests and sizes",
				  CS_VIEWS_MAX);
	to = cs_vec_add(&d->views, 1, d->err);
	if (!to)
		return -1;
	*to = view;
	qsort(d->views.data, d->views.n, sizeof(view), by_test_and_size);
	return 0;
}

static int take_views(struct draft *d, const struct cs_step *step, size_t n_steps,
		      const struct cs_asked *asked)
{
	size_t s;
	uint32_t k;

	for (s = 0; s < n_steps; s++)
		for (k = 0; k < step[s].count; k++)
			if (need_view(d, view_of(&step[s], asked, k)))
				return -1;
	return 0;
}

/* A step counts once for each view that it measures for. */
static void count_step(const struct draft *d, const struct cs_transfer *t,
		       uint32_t count)
{
	struct cs_view *view = d->views.data;
	uint32_t i, k;

	for (k = 0; k < count; k++) {
		for (i = 0; i < k; i++)
			if (t[i].view == t[k].view && !cs_transfer_is_load(&t[i]))
				break;
		view[t[k].view].steps += i == k && !cs_transfer_is_load(&t[k]);
	}
}

static int take_step(struct draft *d, const struct cs_step *from,
		     const struct cs_asked *asked)
{
	const struct cs_view *views = d->views.data;
	struct cs_step *step = cs_vec_add(&d->steps, 1, d->err);
	struct cs_transfer *t = cs_vec_add(&d->transfers, from->count, d->err);
	uint32_t k;

	if (!step || !t)
		return -1;
	*step = *from;
	step->first = (uint32_t)(d->transfers.n - from->count);
	for (k = 0; k < from->count; k++) {
		struct cs_view view = view_of(from, asked, k);

		t[k] = cs_asked_transfer(d->req, &asked[from->first + k]);
		t[k].view = (uint16_t)(find_view(d, &view) - views);
	}
	step->view = t[0].view;
	if (!(step->flags & CS_STEP_CONTROL))
		count_step(d, t, from->count);
	return 0;
}

int cs_plan_assemble(const struct cs_plan_request *req,
		     const struct cs_step *step, size_t n_steps,
		     const struct cs_asked *asked, struct cs_plan **out,
		     struct cs_err *err)
{
	struct draft d = new_draft(req, err);
	struct cs_plan *plan = NULL;
	int rc = agents_check(req->n_agents, err) ||
		 settings_check(&req->set, err) ||
		 take_views(&d, step, n_steps, asked);
	size_t s;

	for (s = 0; !rc && s < n_steps; s++)
		rc = take_step(&d, &step[s], asked);
	if (!rc)
		plan = new_plan(&d, NULL);
	for (s = 0; plan && s < n_steps; s++)
		put_step(plan, &d, (struct cs_step *)d.steps.data + s, 0);
	release_draft(&d);
	if (!plan)
		return -1;
	plan->id = plan_hash(plan);
	if (cs_plan_validate(plan, plan->total_bytes, err)) {
		free(plan);
		return -1;
	}
	*out = plan;
	return 0;
}

/* ---- trusting ---- */

/* The one layout that cs_plan_build makes; in 64 bits nothing overflows. */
static int layout_check(const struct cs_plan *plan, struct cs_err *err)
{
	uint64_t transfers_at = sizeof(*plan) +
				(uint64_t)plan->n_steps * sizeof(struct cs_step);
	uint64_t views_at = transfers_at + (uint64_t)plan->n_transfers *
						   sizeof(struct cs_transfer);
	uint64_t total = views_at +
			 (uint64_t)plan->n_views * sizeof(struct cs_view);

	if (!plan->n_steps || !plan->n_views || plan->pad ||
	    plan->steps_at != sizeof(*plan) ||
	    plan->transfers_at != transfers_at || plan->views_at != views_at ||
	    plan->total_bytes != total)
		return cs_err_set(err, "plan is damaged: its parts do not fit "
				  "its %" PRIu64 " bytes", plan->total_bytes);
	return 0;
}

static int end_is_sound(const struct cs_plan *plan, const struct cs_end *end)
{
	int cpu = plan->set.backend == CS_BACKEND_CPU;

	if (cs_end_is_numa(end))
		return end->memory < CS_MEMORIES && (end->index < CS_NUMA_MOST ||
						     end->index == CS_NUMA_LOCAL);
	return end->index < plan->n_agents &&
	       end->kind == (cpu ? CS_END_HOST : CS_END_GPU) &&
	       end->memory == (cpu ? CS_MEM_ARENA : CS_MEM_DEVICE);
}

/* An issuer is one of the ends, where those are agents. */
static int issuer_is_sound(const struct cs_plan *plan,
			   const struct cs_transfer *t)
{
	if (cs_end_is_numa(&t->src) && cs_end_is_numa(&t->dst))
		return t->issuer < plan->n_agents;
	return (!cs_end_is_numa(&t->src) && t->issuer == t->src.index) ||
	       (!cs_end_is_numa(&t->dst) && t->issuer == t->dst.index);
}

static int transfer_check(const struct cs_plan *plan,
			  const struct cs_transfer *t, struct cs_err *err)
{
	int numas = cs_end_is_numa(&t->src) + cs_end_is_numa(&t->dst);
	const struct cs_view *view;
	const struct cs_test *test;

	if (t->view >= plan->n_views || t->pad[0] || t->pad[1] || t->pad[2])
		return cs_err_set(err, "plan is damaged: a transfer of view %u of "
				  "%u", t->view, plan->n_views);
	view = cs_plan_view(plan, t->view);
	test = cs_transfer_test(plan, t);
	if (!end_is_sound(plan, &t->src) || !end_is_sound(plan, &t->dst) ||
	    !issuer_is_sound(plan, t) ||
	    (!numas && (t->src.index == t->dst.index) !=
			       (test->path == CS_PATH_LOCAL)))
		return cs_err_set(err, "plan is damaged: transfer between agents %u "
				  "and %u of %u", t->src.index, t->dst.index,
				  plan->n_agents);
	if (t->method != test->method || t->op > CS_OP_OPEN ||
	    (!cs_test_has_host(test) && t->op != test->op) ||
	    (cs_transfer_is_load(t) ? t->bytes > view->bytes :
				      t->bytes != view->bytes) ||
	    (t->flags & ~CS_TRANSFER_LOAD) || !t->bytes || t->bytes % 16 ||
	    t->bytes > CS_COPY_MAX ||
	    numas != (test->path == CS_PATH_HOST) + cs_test_has_host(test))
		return cs_err_set(err, "plan is damaged: a transfer of '%s' is not "
				  "of its kind", test->name);
	return 0;
}

static int views_check(const struct cs_plan *plan, struct cs_err *err)
{
	size_t n_tests;
	const struct cs_test *table = cs_catalogue(&n_tests);
	uint32_t v;

	for (v = 0; v < plan->n_views; v++) {
		const struct cs_view *view = cs_plan_view(plan, v);

		/* ascending: so no test twice at a size */
		if (v >= CS_VIEWS_MAX || view->test >= n_tests ||
		    (v && (view->test < view[-1].test ||
			   (view->test == view[-1].test &&
			    view->bytes <= view[-1].bytes))) ||
		    !cs_test_is_of(&table[view->test],
				   (enum cs_backend_kind)plan->set.backend) ||
		    !cs_method_fits((int)table[view->test].method,
				    (enum cs_way)plan->set.via))
			return cs_err_set(err, "plan is damaged: view %u is of test "
					  "%u", v, view->test);
	}
	return 0;
}

static int slots_check(const struct cs_plan *plan, const struct cs_transfer *t,
		       uint32_t count, struct cs_err *err)
{
	struct cs_transfer again[CS_STEP_MAX];
	uint32_t k;

	memcpy(again, t, count * sizeof(*t));
	assign_slots(plan, again, count);
	for (k = 0; k < count; k++)
		if (again[k].src_slot != t[k].src_slot ||
		    again[k].dst_slot != t[k].dst_slot)
			return cs_err_set(err, "plan is damaged: a transfer's slots "
					  "are %u and %u", t[k].src_slot,
					  t[k].dst_slot);
	return 0;
}

/* Printable, without what a plan file gives a meaning, and ended. */
static int name_is_sound(const char *name)
{
	size_t n = strnlen(name, CS_STEP_NAME), i;

	for (i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == ',' ||
		    name[i] == '"' || name[i] == '#')
			return 0;
	for (i = n; i < CS_STEP_NAME; i++)
		if (name[i])
			return 0;
	return n < CS_STEP_NAME;
}

/* The transfers of a step lie within the plan: can they be carried out together? */
static int step_transfers_check(const struct cs_plan *plan,
				const struct cs_step *step, struct cs_err *err)
{
	const struct cs_transfer *first = cs_plan_transfer(plan, step, 0);
	uint32_t k;

	for (k = 0; k < step->count; k++)
		if (transfer_check(plan, cs_plan_transfer(plan, step, k), err))
			return -1;
	if (cs_transfer_is_load(first) || first->view != step->view)
		return cs_err_set(err, "plan is damaged: a step of '%s' begins with "
				  "something else", cs_plan_test(plan, step)->name);
	return slots_check(plan, first, step->count, err);
}

/* Steps own the transfers in order, all of them, and none twice. */
static int steps_check(const struct cs_plan *plan, struct cs_err *err)
{
	uint32_t s, next = 0;

	for (s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		if (step->first != next || step->view >= plan->n_views ||
		    (step->flags & ~CS_STEP_CONTROL) || !step->count ||
		    step->count > CS_STEP_MAX || !name_is_sound(step->name) ||
		    step->count > plan->n_transfers - next)
			return cs_err_set(err, "plan is damaged: step %u", s);
		if (step_transfers_check(plan, step, err))
			return -1;
		next += step->count;
	}
	if (next != plan->n_transfers)
		return cs_err_set(err, "plan is damaged: %u transfers without a "
				  "step", plan->n_transfers - next);
	return 0;
}

static int view_counts_check(const struct cs_plan *plan, struct cs_err *err)
{
	uint32_t v, s;

	for (v = 0; v < plan->n_views; v++) {
		uint32_t steps = 0;

		for (s = 0; s < plan->n_steps; s++) {
			const struct cs_step *step = cs_plan_step(plan, s);

			steps += !(step->flags & CS_STEP_CONTROL) &&
				 cs_step_measures(plan, step, v);
		}
		if (steps != cs_plan_view(plan, v)->steps)
			return cs_err_set(err, "plan is damaged: view %u has %u "
					  "steps", v, steps);
	}
	return 0;
}

int cs_plan_validate(const void *blob, size_t bytes, struct cs_err *err)
{
	const struct cs_plan *plan = blob;

	if ((uintptr_t)blob % _Alignof(struct cs_plan))
		return cs_err_set(err, "plan is not aligned to %zu bytes",
				  _Alignof(struct cs_plan));
	if (bytes < sizeof(*plan))
		return cs_err_set(err, "plan is cut: %zu bytes, the header alone "
				  "has %zu", bytes, sizeof(*plan));
	if (plan->magic != CS_PLAN_MAGIC || plan->version != CS_PLAN_VERSION)
		return cs_err_set(err, "not a plan of version %u: magic 0x%08x, "
				  "version %u", CS_PLAN_VERSION, plan->magic,
				  plan->version);
	if (plan->total_bytes != bytes)
		return cs_err_set(err, "plan is cut: %zu bytes of %" PRIu64, bytes,
				  plan->total_bytes);
	if (plan->id != plan_hash(plan))
		return cs_err_set(err, "plan is damaged: its hash is not its id");
	if (layout_check(plan, err) || agents_check(plan->n_agents, err) ||
	    settings_check(&plan->set, err) || views_check(plan, err) ||
	    steps_check(plan, err) || view_counts_check(plan, err))
		return -1;
	return 0;
}

/* ---- reading ---- */

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
					   const struct cs_step *step,
					   uint32_t k)
{
	return transfers_of(plan) + step->first + k;
}

const struct cs_view *cs_plan_view(const struct cs_plan *plan, uint32_t view)
{
	const char *at = (const char *)plan + plan->views_at;

	return (const struct cs_view *)at + view;
}

const struct cs_test *cs_plan_test(const struct cs_plan *plan,
				   const struct cs_step *step)
{
	size_t n;

	return &cs_catalogue(&n)[cs_plan_view(plan, step->view)->test];
}

int cs_end_is_numa(const struct cs_end *end)
{
	return end->kind == CS_END_HOST && end->memory > CS_MEM_ARENA;
}

int cs_transfer_is_load(const struct cs_transfer *t)
{
	return (t->flags & CS_TRANSFER_LOAD) != 0;
}

int cs_transfer_far(const struct cs_transfer *t)
{
	if (cs_end_is_numa(&t->src) || cs_end_is_numa(&t->dst) ||
	    t->src.index == t->dst.index)
		return -1;
	return t->issuer == t->src.index ? t->dst.index : t->src.index;
}

int cs_transfer_checker(const struct cs_transfer *t)
{
	return cs_end_is_numa(&t->dst) ? t->issuer : t->dst.index;
}

static int is_by_kernel(const struct cs_transfer *t)
{
	return t->method == CS_METHOD_SM || t->method == CS_METHOD_TMA;
}

uint64_t cs_transfer_span(const struct cs_plan *plan,
			    const struct cs_transfer *t)
{
	uint64_t spread = plan->set.spread_bytes;

	return is_by_kernel(t) && t->bytes < spread ? spread / t->bytes * t->bytes :
						      t->bytes;
}

uint64_t cs_transfer_dst_at(const struct cs_plan *plan,
			    const struct cs_transfer *t)
{
	return cs_end_is_numa(&t->dst) ? 0 :
					 t->dst_slot * align_up(cs_transfer_span(plan, t));
}

const struct cs_test *cs_transfer_test(const struct cs_plan *plan,
				       const struct cs_transfer *t)
{
	size_t n;

	return &cs_catalogue(&n)[cs_plan_view(plan, t->view)->test];
}

int cs_step_measures(const struct cs_plan *plan, const struct cs_step *step,
		     uint32_t view)
{
	uint32_t k;

	for (k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		if (t->view == view && !cs_transfer_is_load(t))
			return 1;
	}
	return 0;
}

int cs_step_applies(const struct cs_plan *plan, const struct cs_step *step,
		    int n_agents)
{
	uint32_t k;

	for (k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		if ((t->src.index >= n_agents && !cs_end_is_numa(&t->src)) ||
		    (t->dst.index >= n_agents && !cs_end_is_numa(&t->dst)) ||
		    t->issuer >= n_agents)
			return 0;
	}
	return 1;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t cs_plan_smaller(const struct cs_plan *plan, uint64_t below)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;
	uint64_t best = 0;

	for (; t < end; t++)
		if (t->bytes < below)
			best = most(best, t->bytes);
	return best;
}

/* Does it use buffers that last?  Calls of a driver make their own, or none. */
static int has_buffers(const struct cs_transfer *t)
{
	return t->op <= CS_OP_BURST64K || t->src.index != t->dst.index;
}

void cs_plan_arena(const struct cs_plan *plan, int agent, uint64_t limit,
		   struct cs_arena_layout *out)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;
	uint64_t src = 0, dst = 0, chain = 0;

	for (; t < end; t++) {
		if (!has_buffers(t) || t->bytes > limit)
			continue;
		if (!cs_end_is_numa(&t->src) && t->src.index == agent &&
		    t->method == CS_METHOD_CHASE)
			chain = most(chain, t->bytes);
		else if (!cs_end_is_numa(&t->src) && t->src.index == agent)
			src = most(src, cs_transfer_span(plan, t));
		if (!cs_end_is_numa(&t->dst) && t->dst.index == agent &&
		    t->method != CS_METHOD_CHASE)
			dst = most(dst, cs_transfer_dst_at(plan, t) +
						cs_transfer_span(plan, t));
	}
	*out = (struct cs_arena_layout){
		.src_bytes = src, .dst_bytes = dst, .chain_bytes = chain,
		.dst_at = align_up(src), .most = limit,
	};
	out->chain_at = align_up(out->dst_at + dst);
	out->total_bytes = chain ? out->chain_at + chain :
			   dst	 ? out->dst_at + dst : src;
}

int cs_plan_needs_peer(const struct cs_plan *plan, int agent, int peer)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;

	for (; agent != peer && t < end; t++)
		if (t->issuer == agent && cs_transfer_far(t) == peer)
			return 1;
	return 0;
}

/* ---- expecting ---- */

#define ESTIMATE_SAMPLES 8
#define ESTIMATE_SAMPLE_S 5e-3
#define ESTIMATE_STEP_S 1e-3	/* commands, replies, arming */
#define ESTIMATE_CHASE_S 25e-3
#define HOST_GBS 55.0
#define CHECK_GBS 2000.0	/* of device memory, read and poisoned */

/* The fewest copies that take 5 ms, at most 16 from 1 MiB on, 512 below. */
static double sample_s(uint64_t bytes, double link_gbs)
{
	double copy_s = (double)bytes / (link_gbs * 1e9);
	double most_copies = bytes >= 1u << 20 ? 16 : 512;

	return copy_s * fmin(fmax(ceil(ESTIMATE_SAMPLE_S / copy_s), 1), most_copies);
}

/* What is not sampled until it is known has a fixed number of rounds. */
static double probe_s(enum cs_how how)
{
	switch (how) {
	case CS_HOW_STALL:
		return 7 * 1e-3 * CS_HOLD_MS;
	case CS_HOW_OPEN: /* 2.5 ms an opening on H200, two of them a round */
		return 7 * 6e-3;
	default: /* 9 batches of 64 calls, 9 of 512 copies: 3 to 5 us each */
		return 20e-3;
	}
}

/* Host memory is behind PCIe, of generation 5 here; a chase has a fixed length. */
static double step_sample_s(const struct cs_plan *plan, const struct cs_step *step,
			    uint64_t bytes, double link_gbs)
{
	const struct cs_test *test = cs_plan_test(plan, step);

	if (test->method == CS_METHOD_CHASE)
		return ESTIMATE_CHASE_S;
	return sample_s(bytes, cs_test_has_host(test) ? fmin(link_gbs, HOST_GBS) :
							link_gbs);
}

double cs_plan_estimate_s(const struct cs_plan *plan, double link_gbs)
{
	double seconds = 0;
	uint32_t s, k;

	if (!(link_gbs > 0))
		return NAN;
	for (s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);
		enum cs_how how = cs_plan_test(plan, step)->how;
		uint64_t bytes = 0;
		double check_s;

		seconds += ESTIMATE_STEP_S;
		if (how != CS_HOW_GATED) {
			seconds += probe_s(how);
			continue;
		}
		/* transfers of a step run together: the longest counts */
		for (k = 0; k < step->count; k++)
			bytes = most(bytes, cs_plan_transfer(plan, step, k)->bytes);
		check_s = (double)bytes / (CHECK_GBS * 1e9);
		if (plan->set.verify == CS_VERIFY_OFF)
			check_s = 0;
		seconds += ESTIMATE_SAMPLES *
			   (step_sample_s(plan, step, bytes, link_gbs) +
			    check_s);
	}
	return seconds;
}
