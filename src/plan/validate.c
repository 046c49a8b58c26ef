/* validate.c - checks requested values, and bytes that claim to be a plan. */
#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- valid requests ---- */

static int agents_check(int64_t n, struct cs_err *err)
{
	if (n < 1)
		return cs_err_set(err, "a plan needs at least 1 GPU or arena");
	if (n > CS_MAX_AGENTS)
		return cs_err_set(err,
				  "cannot measure between %" PRId64 " agents: "
				  "at most %d are possible",
				  n, CS_MAX_AGENTS);
	return 0;
}

static int bytes_check(uint64_t bytes, struct cs_err *err)
{
	if (!cs_bytes_are_sound(bytes))
		return cs_err_set(err,
				  "copy size of %" PRIu64 " bytes: it must be a "
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
		return cs_err_set(err,
				  "precision or a time limit is negative or not a number");
	if (set->verify > CS_VERIFY_OFF || set->backend > CS_BACKEND_CPU)
		return cs_err_set(err, "unknown verify mode %u or backend %u",
				  set->verify, set->backend);
	if (set->last_bytes &&
	    (bytes_check(set->last_bytes, err) || set->last_bytes < set->copy_bytes ||
	     !(set->growth > 1) || !isfinite(set->growth)))
		return cs_err_set(err,
				  "a sweep from %" PRIu64 " to %" PRIu64
				  " bytes by %g",
				  set->copy_bytes, set->last_bytes, set->growth);
	if (set->spread_bytes > CS_COPY_MAX)
		return cs_err_set(err,
				  "copies spread over %" PRIu64 " bytes: at "
				  "most 1024 TiB",
				  set->spread_bytes);
	if (set->schedule >= CS_SCHEDULES)
		return cs_err_set(err, "unknown schedule %u", set->schedule);
	if (set->via >= CS_TRANSPORTS || set->urgent > 1 ||
	    (set->via != CS_TRANSPORT_AUTO && set->backend == CS_BACKEND_CPU))
		return cs_err_set(err,
				  "unknown transport %u between agents of backend %u",
				  set->via, set->backend);
	if (set->filter_names > CS_NAMES_THEIRS ||
	    !memchr(set->filter, '\0', sizeof(set->filter)))
		return cs_err_set(err,
				  "a filter of cells that has no end, or of unknown names");
	return 0;
}

int cs_request_check(int64_t n_agents, const struct cs_settings *set,
		     struct cs_err *err)
{
	return agents_check(n_agents, err) || settings_check(set, err) ? -1 : 0;
}

int cs_test_check(const struct cs_test *test, const struct cs_settings *set,
		  struct cs_err *err)
{
	if (!cs_test_is_of(test, (enum cs_backend_kind)set->backend))
		return cs_err_set(err, "test '%s' is of the other backend",
				  test->name);
	if (!cs_method_fits((int)test->method, (enum cs_transport)set->via))
		return cs_err_set(err, "test '%s' is of another --via", test->name);
	return 0;
}

/* Printable, without characters that have a meaning in a plan file. */
int cs_step_name_is_sound(const char *name)
{
	size_t n = strnlen(name, CS_STEP_NAME), i;

	for (i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~' || strchr(",\"#", name[i]))
			return 0;
	return n < CS_STEP_NAME;
}

/* ---- trusting ---- */

/* The one layout that cs_plan_build makes. */
static int layout_check(const struct cs_plan *plan, struct cs_err *err)
{
	struct cs_plan_layout at;

	cs_plan_lay_out(plan->n_steps, plan->n_transfers, plan->n_matrices, &at);
	if (!plan->n_matrices || plan->pad || plan->steps_at != sizeof(*plan) ||
	    plan->transfers_at != at.transfers_at ||
	    plan->matrices_at != at.matrices_at || plan->total_bytes != at.total_bytes)
		return cs_err_set(err,
				  "plan is damaged: its parts do not fit its %" PRIu64
				  " bytes",
				  plan->total_bytes);
	return 0;
}

static int end_is_sound(const struct cs_plan *plan, const struct cs_endpoint *end)
{
	struct cs_endpoint agent = cs_agent_end(&plan->set, end->index);

	if (cs_endpoint_is_numa(end))
		return end->kind == CS_ENDPOINT_HOST && end->memory < CS_MEMORIES &&
		       (end->index < CS_NUMA_MOST || end->index == CS_NUMA_LOCAL);
	return end->index < plan->n_agents && cs_endpoints_are_same(end, &agent);
}

/* Are its bytes those of its shape? */
static int is_of_its_shape(const struct cs_transfer *t)
{
	if (t->zero[0] || t->zero[1] || t->zero[2])
		return 0;
	return !cs_method_is_shaped(t->method) ||
	       (t->variant.shape &&
		t->bytes == cs_shape_bytes(t->variant.shape,
					   cs_variant_element(&t->variant),
					   cs_transfer_box(t).span));
}

/* Multiply-adds of a GPU that copies, beside the measured transfer. */
static int is_flops_of(const struct cs_plan *plan, const struct cs_transfer *t,
		       const struct cs_test *test)
{
	return cs_transfer_is_flops(t) && test->pattern == CS_PATTERN_LOADFLOPS &&
	       end_is_sound(plan, &t->src) && !cs_endpoint_is_numa(&t->src) &&
	       cs_endpoints_are_same(&t->src, &t->dst) && t->issuer == t->src.index &&
	       t->op == CS_OP_FP64 && t->bytes == CS_FLOPS_BYTES &&
	       cs_variant_is_usual(&t->variant) &&
	       !(t->flags & ~(CS_TRANSFER_LOAD | CS_TRANSFER_LONE)) &&
	       (!cs_transfer_is_lone(t) || cs_transfer_applies(t, 1));
}

static int transfer_check(const struct cs_plan *plan, const struct cs_transfer *t,
			  struct cs_err *err)
{
	const struct cs_plan_matrix *matrix;
	const struct cs_test *test;

	if (t->matrix >= plan->n_matrices)
		return cs_err_set(err,
				  "plan is damaged: a transfer of matrix %u of %u",
				  t->matrix, plan->n_matrices);
	matrix = cs_plan_matrix_at(plan, t->matrix);
	test = cs_transfer_test(plan, t);
	if (is_flops_of(plan, t, test))
		return 0;
	if (!end_is_sound(plan, &t->src) || !end_is_sound(plan, &t->dst) ||
	    t->issuer >= plan->n_agents || !cs_transfer_fits(t, test))
		return cs_err_set(err,
				  "plan is damaged: transfer between agents %u and %u of %u",
				  t->src.index, t->dst.index, plan->n_agents);
	if (cs_variant_compare(&t->variant, &matrix->variant) ||
	    t->method != test->method || t->op >= CS_OPS ||
	    ((!cs_test_has_host(test) || cs_method_is_stream(t->method)) &&
	     t->op != test->op) ||
	    (cs_transfer_is_load(t) ? t->bytes > matrix->bytes :
				      t->bytes != matrix->bytes) ||
	    (t->flags & ~(CS_TRANSFER_LOAD | CS_TRANSFER_LONE)) ||
	    (cs_transfer_is_lone(t) && !cs_transfer_applies(t, 1)) ||
	    !cs_bytes_are_sound(t->bytes) || !is_of_its_shape(t))
		return cs_err_set(err,
				  "plan is damaged: a transfer of '%s' is not of its kind",
				  test->name);
	return 0;
}

/* Does the test have such a variant? */
static int has_variant(const struct cs_test *test, const struct cs_variant *v)
{
	const struct cs_variant own = cs_variant_of(test, v);

	return !cs_variant_compare(&own, v);
}

static int views_check(const struct cs_plan *plan, struct cs_err *err)
{
	size_t n_tests;
	const struct cs_test *table = cs_catalogue(&n_tests);

	for (uint32_t v = 0; v < plan->n_matrices; v++) {
		const struct cs_plan_matrix *matrix = cs_plan_matrix_at(plan, v);

		/* ascending: so no test twice at a size and variant */
		if (v >= CS_MATRICES_MAX || matrix->test >= n_tests ||
		    !cs_variant_is_sound(&matrix->variant) ||
		    !has_variant(&table[matrix->test], &matrix->variant) ||
		    (v && cs_plan_matrices_compare(&matrix[-1], matrix) >= 0) ||
		    cs_test_check(&table[matrix->test], &plan->set, NULL))
			return cs_err_set(err,
					  "plan is damaged: matrix %u is of test %u",
					  v, matrix->test);
	}
	return 0;
}

/* Only matrices between nodes have no steps. */
static int empty_check(const struct cs_plan *plan, struct cs_err *err)
{
	if (plan->n_steps || !cs_plan_first_between(plan))
		return 0;
	return cs_err_set(err, "plan is damaged: it has no steps");
}

static int slots_check(const struct cs_plan *plan, const struct cs_transfer *t,
		       uint32_t count, struct cs_err *err)
{
	struct cs_transfer again[CS_STEP_MAX];

	memcpy(again, t, count * sizeof(*t));
	cs_assign_slots(plan, again, count);
	for (uint32_t k = 0; k < count; k++)
		if (again[k].src_slot != t[k].src_slot ||
		    again[k].dst_slot != t[k].dst_slot)
			return cs_err_set(err,
					  "plan is damaged: a transfer's slots are %u and %u",
					  t[k].src_slot, t[k].dst_slot);
	return 0;
}

/* Is the rest after the name's end zero? */
static int name_is_sound(const char *name)
{
	size_t i = strnlen(name, CS_STEP_NAME);

	for (; i < CS_STEP_NAME && !name[i]; i++)
		;
	return i == CS_STEP_NAME && cs_step_name_is_sound(name);
}

/* The transfers of a step lie within the plan: can they be carried out together? */
static int step_transfers_check(const struct cs_plan *plan,
				const struct cs_step *step, struct cs_err *err)
{
	const struct cs_transfer *first = cs_plan_transfer(plan, step, 0);

	for (uint32_t k = 0; k < step->count; k++)
		if (transfer_check(plan, cs_plan_transfer(plan, step, k), err))
			return -1;
	for (uint32_t k = 1; k < step->count; k++)
		if (cs_transfer_is_lone(&first[k]) != cs_transfer_is_lone(first))
			return cs_err_set(
				err,
				"plan is damaged: a step of nodes with one GPU and of others");
	if (cs_transfer_is_load(first) || first->matrix != step->matrix)
		return cs_err_set(err,
				  "plan is damaged: a step of '%s' begins with something else",
				  cs_plan_test(plan, step)->name);
	return slots_check(plan, first, step->count, err);
}

/* Steps own the transfers in order, all of them, and none twice. */
static int steps_check(const struct cs_plan *plan, struct cs_err *err)
{
	uint32_t next = 0;

	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		if (step->first != next || step->matrix >= plan->n_matrices ||
		    (step->flags & ~CS_STEP_CONTROL) || !step->count ||
		    step->count > CS_STEP_MAX || !name_is_sound(step->name) ||
		    step->count > plan->n_transfers - next)
			return cs_err_set(err, "plan is damaged: step %u", s);
		if (step_transfers_check(plan, step, err))
			return -1;
		next += step->count;
	}
	if (next != plan->n_transfers)
		return cs_err_set(err, "plan is damaged: %u transfers without a step",
				  plan->n_transfers - next);
	return 0;
}

/* Steps of a round: one matrix's, sampled, without load, each a pair or within an agent,
 * and no agent in two.  The first that is not so; s + n: all are. */
static uint32_t bad_in_round(const struct cs_plan *plan, uint32_t s, uint32_t n)
{
	const struct cs_step all = cs_plan_together(plan, s, n);
	char busy[CS_MAX_AGENTS] = { 0 };
	uint32_t i;

	for (i = s; i < s + n && all.count <= CS_STEP_MAX; i++) {
		const struct cs_step *step = cs_plan_step(plan, i);
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);
		const struct cs_test *test = cs_plan_test(plan, step);
		int within = cs_test_goes_in_rounds_within(test);

		if (step->flags || test->how != CS_HOW_GATED ||
		    (within ? step->count > 1 : cs_transfer_far(t) < 0) ||
		    busy[t->src.index]++ || (!within && busy[t->dst.index]++))
			break;
		for (uint32_t k = 0; k < step->count; k++)
			if (t[k].matrix != all.matrix || cs_transfer_is_load(&t[k]) ||
			    (k && (t[k].src.index != t->dst.index ||
				   t[k].dst.index != t->src.index)))
				return i;
	}
	return i;
}

uint32_t cs_plan_bad_round(const struct cs_plan *plan)
{
	uint32_t n, bad;

	for (uint32_t s = 0; s < plan->n_steps; s += n) {
		n = cs_plan_round(plan, s);
		if (!cs_plan_step(plan, s)->round)
			continue;
		bad = bad_in_round(plan, s, n);
		if (bad < s + n)
			return bad;
	}
	return plan->n_steps;
}

static int rounds_check(const struct cs_plan *plan, struct cs_err *err)
{
	uint32_t bad = cs_plan_bad_round(plan);

	if (bad == plan->n_steps)
		return 0;
	return cs_err_set(err,
			  "plan is damaged: step %u cannot run beside the "
			  "others of its round",
			  bad);
}

static int view_counts_check(const struct cs_plan *plan, struct cs_err *err)
{
	uint32_t steps[CS_MATRICES_MAX];

	cs_plan_count_steps(plan, steps);
	for (uint32_t v = 0; v < plan->n_matrices; v++)
		if (steps[v] != cs_plan_matrix_at(plan, v)->steps)
			return cs_err_set(err,
					  "plan is damaged: matrix %u has %u steps",
					  v, steps[v]);
	return 0;
}

int cs_plan_validate(const void *blob, size_t bytes, struct cs_err *err)
{
	const struct cs_plan *plan = blob;

	if ((uintptr_t)blob % _Alignof(struct cs_plan))
		return cs_err_set(err, "plan is not aligned to %zu bytes",
				  _Alignof(struct cs_plan));
	if (bytes < sizeof(*plan))
		return cs_err_set(err,
				  "plan is cut: %zu bytes, the header alone has %zu",
				  bytes, sizeof(*plan));
	if (plan->magic != CS_PLAN_MAGIC || plan->version != CS_PLAN_VERSION)
		return cs_err_set(err,
				  "not a plan of version %u: magic 0x%08x, version %u",
				  CS_PLAN_VERSION, plan->magic, plan->version);
	if (plan->total_bytes != bytes)
		return cs_err_set(err, "plan is cut: %zu bytes of %" PRIu64, bytes,
				  plan->total_bytes);
	if (plan->id != cs_plan_hash(plan))
		return cs_err_set(err, "plan is damaged: its hash is not its id");
	if (layout_check(plan, err) ||
	    cs_request_check(plan->n_agents, &plan->set, err) ||
	    views_check(plan, err) || empty_check(plan, err) ||
	    steps_check(plan, err) || rounds_check(plan, err) ||
	    view_counts_check(plan, err))
		return -1;
	return 0;
}
