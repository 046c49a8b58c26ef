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
_Static_assert(sizeof(struct cs_settings) == 64, "padding in cs_settings");
_Static_assert(sizeof(struct cs_plan) == 120, "padding in cs_plan");
_Static_assert(sizeof(struct cs_step) == 16, "padding in cs_step");
_Static_assert(sizeof(struct cs_transfer) == 24, "padding in cs_transfer");
_Static_assert(sizeof(struct cs_view) == 8, "padding in cs_view");

#define CONTROL_LEAST 4u /* cells; fewer show no drift */

/* One step to be, within a view: a pair of agents; of SHIFT a is how far; of
 * ALONE and GATED a is the agent; ALL has but one. */
struct cell {
	uint32_t view;
	uint16_t a, b;
};

/* From where to where a transfer goes. */
struct way {
	uint16_t src, dst;
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

static uint32_t transfers_per_step(const struct cs_test *test, uint32_t n_agents)
{
	switch (test->pattern) {
	case CS_PATTERN_BIDI:
		return 2;
	case CS_PATTERN_SHIFT:
	case CS_PATTERN_ALL:
		return n_agents;
	default:
		return 1;
	}
}

/* Within its GPU, or to the next one. */
static struct way way_alone(const struct cs_test *test, uint32_t agent,
			    uint32_t n_agents)
{
	uint32_t dst = test->path == CS_PATH_LOCAL ? agent :
						     (agent + 1) % n_agents;

	return (struct way){ (uint16_t)agent, (uint16_t)dst };
}

/* The k-th transfer of a step. */
static struct way way_of(const struct cs_test *test, const struct cell *cell,
			 uint32_t k, uint32_t n_agents)
{
	switch (test->pattern) {
	case CS_PATTERN_SHIFT:
		return (struct way){ (uint16_t)k,
				     (uint16_t)((k + cell->a) % n_agents) };
	case CS_PATTERN_ALL:
		return way_alone(test, k, n_agents);
	case CS_PATTERN_ALONE:
	case CS_PATTERN_GATED:
		return way_alone(test, cell->a, n_agents);
	default:
		return k ? (struct way){ cell->b, cell->a } :
			   (struct way){ cell->a, cell->b };
	}
}

/* The cell of a step whose first transfer goes so; the inverse of way_of(). */
static struct cell cell_of(const struct cs_test *test, struct way first,
			   uint32_t n_agents)
{
	uint32_t far = (n_agents + first.dst - first.src) % n_agents;

	if (test->pattern == CS_PATTERN_SHIFT)
		return (struct cell){ .a = (uint16_t)far };
	return (struct cell){ .a = first.src, .b = first.dst };
}

static uint64_t bytes_of(const struct cs_test *test,
			 const struct cs_settings *set)
{
	return test->bytes ? test->bytes : set->copy_bytes;
}

/* ---- what may be asked for ---- */

static int agents_check(int64_t n, struct cs_err *err)
{
	if (n < 2)
		return cs_err_set(err, "a matrix needs at least 2 GPUs or arenas: "
				  "there %s %" PRId64, n == 1 ? "is" : "are", n);
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
	if (set->via >= CS_WAYS || set->pad ||
	    (set->via != CS_WAY_AUTO && set->backend == CS_BACKEND_CPU))
		return cs_err_set(err, "unknown way %u between agents of "
				  "backend %u", set->via, set->backend);
	return 0;
}

/* ---- building ---- */

static int add_cell(struct cs_vec *cells, uint32_t view, int a, int b,
		    struct cs_err *err)
{
	struct cell *cell = cs_vec_add(cells, 1, err);

	if (!cell)
		return -1;
	*cell = (struct cell){ view, (uint16_t)a, (uint16_t)b };
	return 0;
}

/* PAIR: every ordered pair.  BIDI: every unordered one, a < b. */
static int add_pairs(struct cs_vec *cells, const struct cs_test *test,
		     uint32_t view, int n_agents, struct cs_err *err)
{
	int a, b;

	for (a = 0; a < n_agents; a++)
		for (b = test->pattern == CS_PATTERN_BIDI ? a + 1 : 0; b < n_agents;
		     b++)
			if (a != b && add_cell(cells, view, a, b, err))
				return -1;
	return 0;
}

static int add_cells(struct cs_vec *cells, const struct cs_test *test,
		     uint32_t view, int n_agents, struct cs_err *err)
{
	int a, first = test->pattern == CS_PATTERN_SHIFT;
	int end = test->pattern == CS_PATTERN_ALL ? 1 : n_agents;

	if (!first && !cs_test_is_list(test))
		return add_pairs(cells, test, view, n_agents, err);
	for (a = first; a < end; a++)
		if (add_cell(cells, view, a, 0, err))
			return -1;
	return 0;
}

static int add_views(const struct cs_plan_request *req, struct cs_vec *cells,
		     struct cs_vec *views, struct cs_err *err)
{
	size_t n_tests, test;
	const struct cs_test *table = cs_catalogue(&n_tests);

	for (test = 0; test < n_tests; test++) {
		size_t before = cells->n;
		struct cs_view *view;

		if (!req->chosen[test])
			continue;
		if (table[test].backend != (enum cs_backend_kind)req->set.backend)
			return cs_err_set(err, "test '%s' is of the other backend",
					  table[test].name);
		if (!cs_method_fits(table[test].method,
				    (enum cs_way)req->set.via))
			return cs_err_set(err, "test '%s' is of another --via",
					  table[test].name);
		view = cs_vec_add(views, 1, err);
		if (!view || add_cells(cells, &table[test], (uint32_t)views->n - 1,
				       req->n_agents, err))
			return -1;
		view->test = (uint32_t)test;
		view->steps = (uint32_t)(cells->n - before);
	}
	return views->n ? 0 : cs_err_set(err, "no test is chosen (see --list)");
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

static struct cs_end end_of(const struct cs_plan *plan, uint16_t agent)
{
	if (plan->set.backend == CS_BACKEND_CPU)
		return (struct cs_end){ CS_END_HOST, CS_MEM_ARENA, agent };
	return (struct cs_end){ CS_END_GPU, CS_MEM_DEVICE, agent };
}

static void put_transfer(struct cs_plan *plan, const struct cs_test *test,
			 struct way way)
{
	struct cs_transfer *all =
		(struct cs_transfer *)((char *)plan + plan->transfers_at);

	all[plan->n_transfers++] = (struct cs_transfer){
		.src = end_of(plan, way.src),
		.dst = end_of(plan, way.dst),
		.method = (uint8_t)test->method,
		.op = (uint8_t)test->op,
		.issuer = test->op == CS_OP_READ ? way.dst : way.src,
		.bytes = bytes_of(test, &plan->set),
	};
}

static void put_step(struct cs_plan *plan, const struct cell *cell,
		     uint32_t flags)
{
	struct cs_step *all = (struct cs_step *)((char *)plan + plan->steps_at);
	struct cs_step *step = &all[plan->n_steps++];
	const struct cs_test *test;
	uint32_t k;

	step->first = plan->n_transfers;
	step->view = cell->view;
	step->flags = flags;
	test = cs_plan_test(plan, step);
	step->count = transfers_per_step(test, plan->n_agents);
	for (k = 0; k < step->count; k++)
		put_transfer(plan, test, way_of(test, cell, k, plan->n_agents));
}

/* The cell that is measured again: the first one whose figure is known well
 * enough to show drift.  NULL: none, or too few to need it. */
static const struct cell *control_cell(const struct cs_vec *cells,
				       const struct cs_view *view)
{
	const struct cell *cell = cells->data;
	size_t n_tests, i;
	const struct cs_test *table = cs_catalogue(&n_tests);

	for (i = 0; cells->n >= CONTROL_LEAST && i < cells->n; i++)
		if (table[view[cell[i].view].test].how == CS_HOW_GATED)
			return &cell[i];
	return NULL;
}

/* The shuffled cells; the control in the middle and at the end. */
static void put_steps(struct cs_plan *plan, const struct cs_vec *cells,
		      const uint32_t *order)
{
	const struct cell *cell = cells->data;
	const struct cell *control = control_cell(cells, cs_plan_view(plan, 0));
	size_t i;

	for (i = 0; i < cells->n; i++) {
		if (control && i == cells->n / 2)
			put_step(plan, control, CS_STEP_CONTROL);
		put_step(plan, &cell[order[i]], 0);
	}
	if (control)
		put_step(plan, control, CS_STEP_CONTROL);
}

/* A zeroed blob with its header and views; steps and transfers still to come. */
static struct cs_plan *new_plan(const struct cs_plan_request *req,
				const struct cs_vec *cells,
				const struct cs_vec *views)
{
	struct cs_plan head = {
		.magic = CS_PLAN_MAGIC, .version = CS_PLAN_VERSION,
		.n_agents = (uint32_t)req->n_agents, .set = req->set,
		.n_views = (uint32_t)views->n,
	};
	const struct cs_view *view = views->data;
	const struct cell *control = control_cell(cells, view);
	size_t n_tests, v;
	const struct cs_test *table = cs_catalogue(&n_tests);
	struct cs_plan *plan;

	head.n_steps = (uint32_t)(cells->n + (control ? 2 : 0));
	if (control)
		head.n_transfers =
			2 * transfers_per_step(&table[view[control->view].test],
					       head.n_agents);
	for (v = 0; v < views->n; v++)
		head.n_transfers += view[v].steps *
				    transfers_per_step(&table[view[v].test],
						       head.n_agents);
	lay_out(&head);
	plan = calloc(1, head.total_bytes);
	if (!plan)
		return NULL;
	*plan = head;
	memcpy((char *)plan + plan->views_at, view, views->n * sizeof(*view));
	plan->n_steps = plan->n_transfers = 0; /* counted as they are put */
	return plan;
}

int cs_plan_build(const struct cs_plan_request *req, struct cs_plan **out,
		  struct cs_err *err)
{
	struct cs_vec cells = CS_VEC(struct cell), views = CS_VEC(struct cs_view);
	struct cs_vec order = CS_VEC(uint32_t);
	struct cs_rng rng = { req->set.seed };
	struct cs_plan *plan;
	int rc = -1;

	if (agents_check(req->n_agents, err) || settings_check(&req->set, err) ||
	    add_views(req, &cells, &views, err) ||
	    !cs_vec_add(&order, cells.n, err))
		goto out;
	plan = new_plan(req, &cells, &views);
	if (!plan) {
		cs_err_set(err, "no memory for a plan of %zu cells", cells.n);
		goto out;
	}
	cs_rng_shuffle(&rng, order.data, order.n);
	put_steps(plan, &cells, order.data);
	plan->id = plan_hash(plan);
	*out = plan;
	rc = 0;
out:
	cs_vec_release(&order);
	cs_vec_release(&views);
	cs_vec_release(&cells);
	return rc;
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
	struct cs_end sound = end_of(plan, end->index);

	return end->index < plan->n_agents && end->kind == sound.kind &&
	       end->memory == sound.memory;
}

static int transfer_check(const struct cs_plan *plan, const struct cs_test *test,
			  const struct cs_transfer *t, struct cs_err *err)
{
	const struct cs_end *issuer = test->op == CS_OP_READ ? &t->dst : &t->src;
	int local = test->path == CS_PATH_LOCAL;

	if (!end_is_sound(plan, &t->src) || !end_is_sound(plan, &t->dst) ||
	    (t->src.index == t->dst.index) != local)
		return cs_err_set(err, "plan is damaged: transfer between agents %u "
				  "and %u of %u", t->src.index, t->dst.index,
				  plan->n_agents);
	if (t->method != test->method || t->op != test->op ||
	    t->issuer != issuer->index || t->flags ||
	    t->bytes != bytes_of(test, &plan->set))
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

		/* ascending: so no test twice, and no more views than tests */
		if (view->test >= n_tests || (v && view->test <= view[-1].test) ||
		    table[view->test].backend !=
			    (enum cs_backend_kind)plan->set.backend ||
		    !cs_method_fits(table[view->test].method,
				    (enum cs_way)plan->set.via))
			return cs_err_set(err, "plan is damaged: view %u is of test "
					  "%u", v, view->test);
	}
	return 0;
}

/* The transfers of a step lie within the plan: are they what its test wants? */
static int step_transfers_check(const struct cs_plan *plan,
				const struct cs_step *step, struct cs_err *err)
{
	const struct cs_test *test = cs_plan_test(plan, step);
	const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);
	const struct way first = { t->src.index, t->dst.index };
	struct cell cell;
	uint32_t k;

	if (transfer_check(plan, test, t, err))
		return -1;
	cell = cell_of(test, first, plan->n_agents);
	for (k = 0; k < step->count; k++) {
		struct way way = way_of(test, &cell, k, plan->n_agents);

		if (transfer_check(plan, test, &t[k], err))
			return -1;
		if (t[k].src.index != way.src || t[k].dst.index != way.dst)
			return cs_err_set(err, "plan is damaged: %u->%u is no part "
					  "of a step of '%s'", t[k].src.index,
					  t[k].dst.index, test->name);
	}
	return 0;
}

/* Steps own the transfers in order, all of them, and none twice. */
static int steps_check(const struct cs_plan *plan, struct cs_err *err)
{
	uint32_t s, next = 0;

	for (s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		if (step->first != next || step->view >= plan->n_views ||
		    (step->flags & ~CS_STEP_CONTROL) || step->count > CS_STEP_MAX ||
		    step->count > plan->n_transfers - next ||
		    step->count != transfers_per_step(cs_plan_test(plan, step),
						      plan->n_agents))
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

			steps += step->view == v && !(step->flags & CS_STEP_CONTROL);
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

int cs_step_applies(const struct cs_plan *plan, const struct cs_step *step,
		    int n_agents)
{
	uint32_t k;

	for (k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		if (t->src.index >= n_agents || t->dst.index >= n_agents ||
		    t->issuer >= n_agents)
			return 0;
	}
	return 1;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void cs_plan_arena(const struct cs_plan *plan, int agent,
		   struct cs_arena_layout *out)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;
	uint64_t src = 0, dst = 0;

	for (; t < end; t++) {
		if (t->src.index == t->dst.index)
			continue; /* within a GPU no buffer is needed */
		if (t->src.index == agent)
			src = most(src, t->bytes);
		if (t->dst.index == agent)
			dst = most(dst, t->bytes);
	}
	out->src_bytes = src;
	out->dst_bytes = dst;
	out->dst_at = (src + CS_ARENA_ALIGN - 1) / CS_ARENA_ALIGN * CS_ARENA_ALIGN;
	out->total_bytes = dst ? out->dst_at + dst : src;
}

int cs_plan_needs_peer(const struct cs_plan *plan, int agent, int peer)
{
	const struct cs_transfer *t = transfers_of(plan);
	const struct cs_transfer *end = t + plan->n_transfers;

	for (; agent != peer && t < end; t++)
		if (t->issuer == agent &&
		    (t->src.index == peer || t->dst.index == peer))
			return 1;
	return 0;
}

/* ---- expecting ---- */

#define ESTIMATE_SAMPLES 8
#define ESTIMATE_SAMPLE_S 5e-3
#define ESTIMATE_STEP_S 1e-3	/* commands, replies, arming */
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
			   (sample_s(bytes, link_gbs) + check_s);
	}
	return seconds;
}
