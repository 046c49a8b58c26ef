/* build.c - plans made: of tests by their patterns, and of the steps of a file. */
#include "config.h"

#include "plan/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/vec.h"
#include "plan/urgent.h"

#define CONTROL_LEAST 4u /* cells; fewer show no drift */
/* Fewer pairs are measured alone sooner than it is shown that company does not
 * matter. */
#define ROUNDS_FROM 16u

/* A plan that grows. */
struct draft {
	const struct cs_plan_request *req;
	struct cs_vec steps, transfers, views;
	struct cs_rng lot;	/* who is drawn for RANDOM */
	uint32_t n;		/* agents that the view is of */
	uint32_t flags;		/* of all its transfers */
	uint32_t round;		/* of the steps to come; 0 none */
	uint32_t rounds;	/* so far */
	struct cs_err *err;
};

static uint64_t bytes_of(const struct cs_test *test,
			 const struct cs_settings *set)
{
	return test->bytes ? test->bytes : set->copy_bytes;
}

/* ---- building ---- */

static int refuse_size(uint64_t steps, uint64_t transfers, struct cs_err *err)
{
	return cs_err_set(err, "a plan of %" PRIu64 " steps and %" PRIu64
			  " transfers would be larger than %u MiB: ask for fewer "
			  "tests, sizes or NUMA domains", steps, transfers,
			  CS_PLAN_MOST >> 20);
}

/* What is not done yet would not fit either. */
static int is_too_large(const struct draft *d)
{
	struct cs_plan_layout at;

	cs_plan_lay_out(d->steps.n, d->transfers.n, d->views.n, &at);
	return at.total_bytes > CS_PLAN_MOST;
}

static int add_step(struct draft *d)
{
	struct cs_step *step = cs_vec_add(&d->steps, 1, d->err);
	struct cs_view *view = (struct cs_view *)d->views.data + d->views.n - 1;

	if (!step)
		return -1;
	*step = (struct cs_step){ .first = (uint32_t)d->transfers.n,
				  .view = (uint32_t)d->views.n - 1,
				  .round = d->round };
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
	if (is_too_large(d))
		return refuse_size(d->steps.n, d->transfers.n, d->err);
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
			  const struct cs_test *test, const struct cs_asked *asked)
{
	const struct cs_end *src = &asked->src, *dst = &asked->dst;
	uint32_t n = asked->flags & CS_TRANSFER_LONE ? 1 : (uint32_t)req->n_agents;
	int pulls = test->op == CS_OP_READ || test->method == CS_METHOD_CHASE;

	if (cs_end_is_numa(src) && cs_end_is_numa(dst))
		return (domain_place(&req->set, src->index) *
				(uint32_t)__builtin_popcountll(req->set.domains) +
			domain_place(&req->set, dst->index)) % n;
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
		.issuer = (uint16_t)issuer_of(req, test, asked),
		.flags = (uint16_t)asked->flags, .bytes = asked->bytes,
	};
}

/* Of the last view. */
static int add_between(struct draft *d, struct cs_end src, struct cs_end dst,
		       uint64_t bytes, uint32_t flags)
{
	const struct cs_view *view =
		(struct cs_view *)d->views.data + d->views.n - 1;
	const struct cs_asked asked = { view->test, flags | d->flags, src, dst,
					bytes };
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

/* The k-th pair of a round: one agent stays, the others go round it.  With an odd
 * number one of each round has nobody. */
static void round_pair(uint32_t places, uint32_t round, uint32_t k, uint32_t *a,
		       uint32_t *b)
{
	uint32_t wheel = places - 1;

	*a = k ? (round + k) % wheel : wheel;
	*b = k ? (round + wheel - k) % wheel : round;
}

/* Could its pairs run at the same time, and is that wanted? */
static int goes_in_rounds(const struct draft *d, const struct cs_test *test)
{
	const struct cs_settings *set = &d->req->set;
	uint32_t n = d->n;
	uint32_t pairs = n * (n - 1) / (test->pattern == CS_PATTERN_BIDI ? 2 : 1);

	return cs_test_goes_in_rounds(test) && set->schedule != CS_SCHEDULE_SERIAL &&
	       set->arms <= 1 && !set->block_samples && n > 3 &&
	       (set->schedule == CS_SCHEDULE_PARALLEL || pairs >= ROUNDS_FROM);
}

/* Each pair a step of its own, those of a round behind one another. */
static int add_pairs_in_rounds(struct draft *d, const struct cs_test *test)
{
	uint32_t n = d->n, places = n + n % 2;
	uint32_t ways = test->pattern == CS_PATTERN_BIDI ? 1 : 2, r, k, a, b;
	int rc = 0;

	for (r = 0; r < ways * (places - 1) && !rc; r++) {
		d->round = ++d->rounds;
		for (k = 0; k < places / 2 && !rc; k++) {
			round_pair(places, r / ways, k, &a, &b);
			if (a < n && b < n)
				rc = r % ways ? add_pair(d, test, b, a) :
						add_pair(d, test, a, b);
		}
	}
	d->round = 0;
	return rc;
}

static int add_pairs(struct draft *d, const struct cs_test *test)
{
	uint32_t n = d->n, a, b;

	if (goes_in_rounds(d, test))
		return add_pairs_in_rounds(d, test);
	for (a = 0; a < n; a++)
		for (b = test->pattern == CS_PATTERN_BIDI ? a + 1 : 0; b < n; b++)
			if (a != b && add_pair(d, test, a, b))
				return -1;
	return 0;
}

/* Each agent and `random` others that are drawn, all of them if there are no more. */
static int add_drawn(struct draft *d, const struct cs_test *test)
{
	uint32_t n = d->n, far[CS_MAX_AGENTS], a, k;

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
	uint32_t n = d->n, a;

	if (add_step(d))
		return -1;
	for (a = 0; a < n; a++)
		if (add_way(d, a, (a + far) % n))
			return -1;
	return 0;
}

static int add_shifts(struct draft *d, const struct cs_test *test)
{
	uint32_t n = d->n, far = 1, last = n - 1;

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

/* Disjoint pairs at the same time, one way only: every agent sends or receives. */
static int add_round(struct draft *d, uint32_t round, int back)
{
	uint32_t n = d->n, places = n + n % 2, k, a, b;

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
	uint32_t n = d->n, round;

	for (round = 0; round + 1 < n + n % 2; round++)
		if (add_round(d, round, 0) || add_round(d, round, 1))
			return -1;
	return 0;
}

/* Into or out of each agent in turn. */
static int add_hubs(struct draft *d, const struct cs_test *test)
{
	uint32_t n = d->n, hub, a;

	for (hub = 0; hub < n; hub++) {
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
	uint32_t n = d->n;

	return add_way(d, agent, test->path == CS_PATH_LOCAL ? agent :
							       (agent + 1) % n);
}

static int add_lists(struct draft *d, const struct cs_test *test)
{
	uint32_t n = d->n, a;
	int together = test->pattern == CS_PATTERN_ALL;

	if (together && add_step(d))
		return -1;
	for (a = 0; a < n; a++)
		if ((!together && add_step(d)) || add_alone(d, test, a))
			return -1;
	return 0;
}

/* ---- building, with the host ---- */

enum { HOST_BACK = 1, HOST_LOAD = 2, HOST_WHOLE = 4 };

/* Between a NUMA domain and a GPU, as the test says or (BACK) the other way. */
static int add_host_way(struct draft *d, const struct cs_test *test,
			uint32_t numa, uint32_t gpu, int how)
{
	int down = (test->path == CS_PATH_H2D) != ((how & HOST_BACK) != 0);
	uint64_t bytes = view_bytes(d);

	if (how & HOST_LOAD && !(how & HOST_WHOLE) && bytes > CS_LOAD_BYTES)
		bytes = CS_LOAD_BYTES;
	return add_between(d, down ? numa_end(test, numa) : agent_end(d, gpu),
			   down ? agent_end(d, gpu) : numa_end(test, numa), bytes,
			   how & HOST_LOAD ? CS_TRANSFER_LOAD : 0);
}

static int add_host_loads(struct draft *d, const struct cs_test *test,
			  uint32_t numa, uint32_t gpu)
{
	int both = test->pattern == CS_PATTERN_BIDILOAD;
	/* the twin of what is measured lasts as long */
	int twin = test->method == CS_METHOD_SM ? HOST_WHOLE : 0;
	uint32_t a;

	if (both && add_host_way(d, test, numa, gpu,
				 HOST_BACK | HOST_LOAD | twin))
		return -1;
	for (a = 0; a < d->n; a++)
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

	for (a = 0; a < d->n; a++)
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
	for (a = 0; a < d->n; a++)
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
	int is_lone = d->req->chosen[index] == CS_CHOSEN_LONE;
	struct cs_view *view;

	d->n = is_lone ? 1 : (uint32_t)d->req->n_agents;
	d->flags = is_lone ? CS_TRANSFER_LONE : 0;
	if (d->n < cs_test_least_agents(test))
		return 0;
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

/* Nothing of what is chosen can be measured with so many agents. */
static int refuse_all(const struct draft *d)
{
	const struct cs_plan_request *req = d->req;
	int cpu = req->set.backend == CS_BACKEND_CPU;
	size_t n, i, first = 0, chosen = 0;
	const struct cs_test *test = cs_catalogue(&n);
	char more[32] = "";

	for (i = n; i-- > 0;)
		if (req->chosen[i]) {
			first = i;
			chosen++;
		}
	if (chosen > 1)
		cs_text(more, sizeof(more), " and %zu more", chosen - 1);
	if (test[first].path == CS_PATH_HOST)
		return cs_err_set(d->err, "%s%s: no NUMA domain with memory is "
				  "known here", test[first].name, more);
	return cs_err_set(d->err, "%s%s: need%s %s %s, and there %s %d",
			  test[first].name, more, chosen > 1 ? "" : "s",
			  req->n_agents > 1 ? "more" : "two",
			  cpu ? "arenas" : "GPUs",
			  req->n_agents > 1 ? "are" : "is", req->n_agents);
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
	return d->views.n ? 0 : refuse_all(d);
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
	cs_assign_slots(plan, to, from->count);
	plan->n_transfers += from->count;
}

/* The step that is measured again: the first one whose figure is known well
 * enough to show drift.  NULL: none, or too few to need it. */
static const struct cs_step *control_step(const struct draft *d, int lone)
{
	const struct cs_step *step = d->steps.data, *first = NULL;
	const struct cs_view *view = d->views.data;
	const struct cs_transfer *t = d->transfers.data;
	size_t n_tests, i, n = 0;
	const struct cs_test *table = cs_catalogue(&n_tests);

	for (i = 0; i < d->steps.n; i++) {
		if (cs_transfer_is_lone(&t[step[i].first]) != lone)
			continue;
		n++;
		if (!first &&
		    table[view[step[i].view].test].how == CS_HOW_GATED)
			first = &step[i];
	}
	return n >= CONTROL_LEAST ? first : NULL;
}

/* That of all nodes, and that of nodes with one GPU. */
struct controls {
	const struct cs_step *step[2];
};

static struct controls control_steps(const struct draft *d)
{
	return (struct controls){ { control_step(d, 0), control_step(d, 1) } };
}

/* Where what is shuffled as one begins: a step, or a round of them. */
static int find_heads(const struct draft *d, struct cs_vec *heads)
{
	const struct cs_step *step = d->steps.data;
	uint32_t i, *head;

	for (i = 0; i < d->steps.n; i++) {
		if (i && step[i].round && step[i].round == step[i - 1].round)
			continue;
		head = cs_vec_add(heads, 1, d->err);
		if (!head)
			return -1;
		*head = i;
	}
	return 0;
}

static void put_controls(struct cs_plan *plan, const struct draft *d,
			 const struct controls *controls)
{
	for (int i = 0; i < 2; i++) {
		struct cs_step alone;

		if (!controls->step[i])
			continue;
		alone = *controls->step[i];
		alone.round = 0;
		put_step(plan, d, &alone, CS_STEP_CONTROL);
	}
}

/* The steps behind the heads, which are shuffled; controls in the middle and at the
 * end. */
static void put_steps(struct cs_plan *plan, const struct draft *d,
		      const struct cs_vec *heads, const uint32_t *order)
{
	const struct cs_step *step = d->steps.data;
	const struct controls controls = control_steps(d);
	const uint32_t *head = heads->data;
	size_t i;
	uint32_t s;

	for (i = 0; i < heads->n; i++) {
		if (i == heads->n / 2)
			put_controls(plan, d, &controls);
		s = head[order[i]];
		do
			put_step(plan, d, &step[s], 0);
		while (++s < d->steps.n && step[s].round &&
		       step[s].round == step[s - 1].round);
	}
	put_controls(plan, d, &controls);
}

/* Where each part lies when there are so many of each. */
static int lay_out(struct cs_plan *plan, uint64_t n_steps, uint64_t n_transfers,
		   struct cs_err *err)
{
	struct cs_plan_layout at;

	cs_plan_lay_out(n_steps, n_transfers, plan->n_views, &at);
	if (at.total_bytes > CS_PLAN_MOST)
		return refuse_size(n_steps, n_transfers, err);
	plan->n_steps = (uint32_t)n_steps;
	plan->n_transfers = (uint32_t)n_transfers;
	plan->steps_at = sizeof(*plan);
	plan->transfers_at = (uint32_t)at.transfers_at;
	plan->views_at = (uint32_t)at.views_at;
	plan->total_bytes = at.total_bytes;
	return 0;
}

/* A zeroed blob with its header and views, and room for the steps, and for those that
 * are put twice more; they are still to come. */
static struct cs_plan *new_plan(const struct draft *d,
				const struct controls *controls)
{
	uint64_t steps = d->steps.n, transfers = d->transfers.n;
	struct cs_plan head = {
		.magic = CS_PLAN_MAGIC, .version = CS_PLAN_VERSION,
		.n_agents = (uint32_t)d->req->n_agents, .set = d->req->set,
		.n_views = (uint32_t)d->views.n,
	};
	struct cs_plan *plan;

	for (int i = 0; i < 2; i++)
		if (controls->step[i]) {
			steps += 2;
			transfers += 2 * controls->step[i]->count;
		}
	if (lay_out(&head, steps, transfers, d->err))
		return NULL;
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

/* A draw, from which a run with a budget takes the most telling steps first. */
static int draw_order(const struct draft *d, const struct cs_vec *heads,
		      uint32_t *order)
{
	const struct cs_urgent all = {
		.n_agents = d->req->n_agents, .step = d->steps.data,
		.n_steps = (uint32_t)d->steps.n, .head = heads->data,
		.n_heads = (uint32_t)heads->n,
		.transfer = d->transfers.data, .view = d->views.data,
		.n_views = (uint32_t)d->views.n,
	};
	struct cs_rng rng = { d->req->set.seed };

	cs_rng_shuffle(&rng, order, heads->n);
	return d->req->set.urgent ? cs_urgent_order(&all, order, d->err) : 0;
}

int cs_plan_build(const struct cs_plan_request *req, struct cs_plan **out,
		  struct cs_err *err)
{
	struct draft d = new_draft(req, err);
	struct cs_vec heads = CS_VEC(uint32_t), order = CS_VEC(uint32_t);
	struct cs_plan *plan = NULL;
	struct controls controls;

	if (!cs_agents_check(req->n_agents, err) &&
	    !cs_settings_check(&req->set, err) && !add_tests(&d) &&
	    !find_heads(&d, &heads) && cs_vec_add(&order, heads.n, err) &&
	    !draw_order(&d, &heads, order.data)) {
		controls = control_steps(&d);
		plan = new_plan(&d, &controls);
	}
	if (plan) {
		put_steps(plan, &d, &heads, order.data);
		plan->id = cs_plan_hash(plan);
		*out = plan;
	}
	cs_vec_release(&order);
	cs_vec_release(&heads);
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
	cs_vec_sort(&d->views, by_test_and_size);
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
	int rc = cs_agents_check(req->n_agents, err) ||
		 cs_settings_check(&req->set, err) ||
		 take_views(&d, step, n_steps, asked);
	size_t s;

	for (s = 0; !rc && s < n_steps; s++)
		rc = take_step(&d, &step[s], asked);
	if (!rc)
		plan = new_plan(&d, &(struct controls){ { NULL, NULL } });
	for (s = 0; plan && s < n_steps; s++)
		put_step(plan, &d, (struct cs_step *)d.steps.data + s, 0);
	release_draft(&d);
	if (!plan)
		return -1;
	plan->id = cs_plan_hash(plan);
	if (cs_plan_validate(plan, plan->total_bytes, err)) {
		free(plan);
		return -1;
	}
	*out = plan;
	return 0;
}
