/* build.c - a plan of the tests that are chosen, in the order in which they are
 * measured. */
#include <math.h>
#include <string.h>

#include "plan/plan_builder.h"
#include "plan/instance.h"

#define CONTROL_LEAST 4u /* cells; fewer show no drift */

/* A matrix to measure, and the choice that asked for it. */
struct wanted {
	struct cs_plan_matrix matrix;
	struct cs_choice choice;
};

/* The state of a build. */
struct build {
	struct cs_plan_builder *pb;
	struct cs_filter filter;
	struct cs_vec all; /* struct wanted */
};

/* Is it a cell that one of these choices means, and that the filter takes? */
static int is_meant(const struct build *b, const struct cs_step *step,
		    const struct wanted *wanted, size_t n)
{
	const struct cs_transfer *t = (struct cs_transfer *)b->pb->transfers.data +
				      step->first;
	int meant = 0, fits = 0;

	for (uint32_t k = 0; k < step->count; k++, t++) {
		const struct cs_instance cell = cs_instance_of(&b->pb->req->set,
							       &wanted->matrix, t);

		if (cs_transfer_is_load(t))
			continue;
		for (size_t i = 0; i < n && !meant; i++)
			meant = cs_instance_is_of(&cell, &wanted[i].choice);
		fits |= cs_filter_fits(&b->filter, &cell);
	}
	return meant && cs_filter_takes(&b->filter, fits);
}

/* Remove from the steps from `from` on, those of the last matrix, the ones that no choice
 * means. */
static void drop_cells(struct build *b, size_t from, const struct wanted *wanted,
		       size_t n)
{
	struct cs_plan_builder *pb = b->pb;
	struct cs_step *step = pb->steps.data;
	struct cs_transfer *t = pb->transfers.data;
	size_t kept = from, steps = pb->steps.n;
	uint32_t at = from < steps ? step[from].first : 0;

	for (size_t s = from; s < steps; s++) {
		if (!is_meant(b, &step[s], wanted, n))
			continue;
		memmove(&t[at], &t[step[s].first], step[s].count * sizeof(*t));
		step[kept] = step[s];
		step[kept].first = at;
		at += step[kept++].count;
	}
	if (kept < steps) {
		pb->steps.n = kept;
		pb->transfers.n = at;
	}
}

CS_ORDERING(compare_wanted, struct wanted,
	    cs_plan_matrices_compare(&a->matrix, &b->matrix))

/* The matrices of a test. */
static uint32_t count_sizes(const struct build *b, uint32_t test)
{
	const struct wanted *wanted = b->all.data;
	uint32_t n = 0;

	for (size_t i = 0; i < b->all.n; i++)
		n += wanted[i].matrix.test == test &&
		     (!i || compare_wanted(&wanted[i - 1], &wanted[i]));
	return n;
}

/* Add the matrix of n choices, unless it has no cell. */
static int add_matrix(struct build *b, const struct wanted *wanted, size_t n)
{
	struct cs_plan_builder *pb = b->pb;
	size_t steps = pb->steps.n;
	const struct cs_test *test = cs_test_at(wanted->matrix.test);
	struct cs_plan_matrix *matrix;

	pb->n = wanted->choice.lone ? 1 : (uint32_t)pb->req->n_agents;
	pb->flags = wanted->choice.lone ? CS_TRANSFER_LONE : 0;
	if (pb->n < cs_test_least_agents(test))
		return 0;
	matrix = cs_plan_builder_add_matrix(pb);
	if (!matrix)
		return -1;
	*matrix = wanted->matrix;
	pb->bytes = matrix->bytes;
	pb->sizes = count_sizes(b, matrix->test);
	if (cs_pattern_cells(pb, test))
		return cs_err_prefix(pb->err, "%s", test->name);
	drop_cells(b, steps, wanted, n);
	pb->matrices.n -= pb->steps.n == steps && !cs_test_is_between(test);
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

/* The settings of every choice, and the list that receives its matrices. */
struct asking {
	const struct cs_variants *vary;
	const struct cs_settings *set;
	struct cs_vec *all; /* struct wanted */
	struct cs_err *err;
};

/* The i-th shape of a test that is asked for; of one for which none is, of those that it
 * has at a size.  0: there are no more. */
static uint64_t nth_shape(const struct asking *a, const struct cs_choice *choice,
			  uint64_t size, size_t i)
{
	size_t fitting = 0;
	const struct cs_test *test = cs_test_at(choice->test);

	if (choice->variant.shape)
		return i ? 0 : choice->variant.shape;
	for (size_t k = 0; k < CS_SHAPES_MOST && a->vary->shape[k]; k++)
		if (cs_variant_has_shape(test, a->vary->shape[k]) && fitting++ == i)
			return a->vary->shape[k];
	return fitting ? 0 : cs_variant_shape(test, &choice->variant, size, i);
}

/* One matrix for each of its shapes, whose bytes are those of the shape. */
static int add_shapes(const struct asking *a, const struct cs_choice *choice,
		      uint64_t size)
{
	struct wanted one = { { .test = choice->test }, *choice };
	struct cs_variant *v = &one.choice.variant;

	for (size_t i = 0; (v->shape = nth_shape(a, choice, size, i)); i++) {
		if (choice->bytes)
			size = cs_variant_box(v, choice->bytes).span;
		one.matrix.bytes = cs_shape_bytes(v->shape, cs_variant_element(v),
						  size);
		one.matrix.variant = *v;
		if (cs_vec_push(a->all, &one, a->err))
			return -1;
	}
	return 0;
}

/* The matrices of a choice in one variant: one, or one at each size. */
static int add_sizes(const struct asking *a, const struct cs_choice *choice)
{
	const struct cs_test *test = cs_test_at(choice->test);
	uint64_t bytes = choice->bytes ?: test->bytes ?: a->set->copy_bytes;

	if (cs_test_check(test, a->set, a->err))
		return -1;
	do {
		const struct wanted one = {
			{ .test = choice->test,
			  .bytes = bytes,
			  .variant = choice->variant },
			*choice,
		};

		if (cs_method_is_shaped((int)test->method) ?
			    add_shapes(a, choice, bytes) :
			    cs_vec_push(a->all, &one, a->err))
			return -1;
		bytes = choice->bytes || test->bytes ? 0 : cs_size_next(a->set, bytes);
	} while (bytes);
	return 0;
}

/* The values requested of one member of a variant. */
struct axis {
	size_t at, size; /* after the last axis: the size of a variant */
	uint64_t values; /* bit i: i + more; 0: as in the choice */
	int more;	 /* POWER: 2^i */
};
#define AXIS(member, ...)                                                                \
	{ offsetof(struct cs_variant, member), sizeof(((struct cs_variant *)0)->member), \
	  __VA_ARGS__ }
enum { POWER = -1 };

static uint32_t on_axis(const struct cs_variant *v, const struct axis *axis)
{
	uint32_t is = 0;

	memcpy(&is, (const char *)v + axis->at, axis->size);
	return is;
}

/* Add the matrices of a choice: all variants from this axis on.  A variant that its
 * name fixes stays; variants that change nothing are one. */
static int add_variants(const struct asking *a, const struct cs_choice *choice,
			const struct axis *axis)
{
	const struct cs_test *test = cs_test_at(choice->test);
	struct cs_choice one = *choice;
	int usual = 0;

	if (axis->at == sizeof(one.variant)) {
		one.variant = cs_variant_of(test, &one.variant);
		return add_sizes(a, &one);
	}
	if (!axis->values || on_axis(&one.variant, axis))
		return add_variants(a, &one, axis + 1);
	for (uint64_t rest = axis->values; rest; rest &= rest - 1) {
		const int bit = __builtin_ctzll(rest);
		const uint32_t value = axis->more == POWER ?
					       1u << bit :
					       (uint32_t)(bit + axis->more);

		one.variant = choice->variant;
		memcpy((char *)&one.variant + axis->at, &value, axis->size);
		one.variant = cs_variant_of(test, &one.variant);
		if ((on_axis(&one.variant, axis) || !usual++) &&
		    add_variants(a, &one, axis + 1))
			return -1;
	}
	return 0;
}

/* In the order of matrices; a matrix of two choices is measured once. */
static int add_views(struct build *b)
{
	const struct wanted *wanted;
	size_t n;

	cs_vec_sort(&b->all, compare_wanted);
	wanted = b->all.data;
	for (size_t i = 0; i < b->all.n; i += n) {
		for (n = 1;
		     i + n < b->all.n && !compare_wanted(&wanted[i], &wanted[i + n]);
		     n++)
			;
		if (add_matrix(b, &wanted[i], n))
			return -1;
	}
	return 0;
}

/* None of the chosen tests can be measured with that many agents. */
static int refuse_all(const struct cs_plan_builder *pb)
{
	const struct cs_plan_request *req = pb->req;
	const struct cs_choice *choice = req->chosen->choice;
	int cpu = req->set.backend == CS_BACKEND_CPU;
	size_t first = choice[0].test, chosen = 1;
	char more[32] = "";

	for (size_t i = 1; i < req->chosen->n; i++)
		chosen += choice[i].test != choice[i - 1].test;
	if (chosen > 1)
		cs_text(more, sizeof(more), " and %zu more", chosen - 1);
	/* as Google Benchmark words it */
	if (req->set.filter[0] && req->set.filter_names == CS_NAMES_THEIRS)
		return cs_err_set(pb->err,
				  "Failed to match any benchmarks against regex: %s "
				  "(--benchmark_list_tests shows what there is)",
				  req->set.filter);
	if (req->set.filter[0])
		return cs_err_set(pb->err, "--filter '%s' takes no cell of %s%s",
				  req->set.filter, cs_test_at(first)->name, more);
	if (cs_test_at(first)->path == CS_PATH_HOST)
		return cs_err_set(pb->err,
				  "%s%s: no NUMA node with memory is known here",
				  cs_test_at(first)->name, more);
	return cs_err_set(pb->err, "%s%s: need%s %s %s, and there %s %d",
			  cs_test_at(first)->name, more, chosen > 1 ? "" : "s",
			  req->n_agents > 1 ? "more" : "two", cpu ? "arenas" : "GPUs",
			  req->n_agents > 1 ? "are" : "is", req->n_agents);
}

/* 0: it has none. */
static uint64_t rails_of(const struct cs_plan_request *req, const struct cs_test *test)
{
	return test->pattern != CS_PATTERN_RAILS ? 0 :
	       test->path == CS_PATH_NETHOST	 ? req->set.numa_nodes :
						   UINT64_MAX >> (64 - req->n_agents);
}

static int add_tests(struct cs_plan_builder *pb)
{
	const struct cs_plan_request *req = pb->req;
	const struct cs_variants *vary = &req->vary;
	struct axis axes[] = {
		AXIS(rail, 0, 1), /* each test's own */
		AXIS(cache, vary->caches, 0),
		AXIS(advice, vary->advices, 0),
		AXIS(threads, vary->threads, 1),
		AXIS(cpu_numa,
		     vary->cpu_numa == UINT64_MAX ? req->set.numa_nodes :
						    vary->cpu_numa,
		     1),
		AXIS(element, vary->elements, 1),
		AXIS(kernels, vary->kernels ? vary->kernels : CS_KERNELS_ALL, 1),
		AXIS(access, vary->accesses, 0),
		AXIS(blocks, vary->blocks, POWER),
		AXIS(block_threads, vary->block_threads, POWER),
		AXIS(tile, vary->tiles, POWER),
		{ sizeof(struct cs_variant), 0, 0, 0 },
	};
	struct build b = { .pb = pb, .all = CS_VEC(struct wanted) };
	const struct asking asking = { vary, &req->set, &b.all, pb->err };
	int rc;

	if (!req->chosen->n)
		return cs_err_set(pb->err, "no test is chosen (see --list)");
	if (cs_choices_take(req->chosen, vary, pb->err))
		return -1;
	rc = cs_filter_open(&b.filter, &req->set, pb->err);
	for (size_t i = 0; i < req->chosen->n && !rc; i++) {
		axes[0].values = rails_of(req,
					  cs_test_at(req->chosen->choice[i].test));
		rc = add_variants(&asking, &req->chosen->choice[i], axes);
	}
	if (!rc)
		rc = add_views(&b);
	cs_filter_close(&b.filter);
	cs_vec_release(&b.all);
	return rc || pb->matrices.n ? rc : refuse_all(pb);
}

/* Coarser than this, and with caches in a state, a figure shows no drift. */
#define DRIFT_PRECISION 0.02

/* Is its figure known well enough? */
static int shows_drift(const struct cs_settings *set, const struct cs_plan_matrix *m)
{
	const struct cs_test *test = cs_test_at(m->test);
	const int coarse = test->least_precision > DRIFT_PRECISION ||
			   m->variant.cache != CS_CACHE_ANY;

	return test->how == CS_HOW_GATED &&
	       (!coarse || set->precision_asked || set->precision >= DRIFT_PRECISION);
}

/* The step that is measured again: the first one whose figure is known well
 * enough to show drift.  NULL: none, or too few to need it. */
static const struct cs_step *control_step(const struct cs_plan_builder *pb, int lone)
{
	const struct cs_step *step = pb->steps.data, *first = NULL;
	const struct cs_plan_matrix *matrix = pb->matrices.data;
	const struct cs_transfer *t = pb->transfers.data;
	size_t n = 0;

	for (size_t i = 0; i < pb->steps.n; i++) {
		if (cs_transfer_is_lone(&t[step[i].first]) != lone)
			continue;
		n++;
		if (!first && shows_drift(&pb->req->set, &matrix[step[i].matrix]))
			first = &step[i];
	}
	return n >= CONTROL_LEAST ? first : NULL;
}

/* That of all nodes, and that of nodes with one GPU. */
struct controls {
	const struct cs_step *step[2];
};

static struct controls control_steps(const struct cs_plan_builder *pb)
{
	return (struct controls){ { control_step(pb, 0), control_step(pb, 1) } };
}

/* Find the beginnings of units that are shuffled: steps, or rounds of them. */
static int find_heads(const struct cs_plan_builder *pb, struct cs_vec *heads)
{
	const struct cs_step *step = pb->steps.data;

	for (uint32_t i = 0; i < pb->steps.n; i++) {
		if (i && step[i].round && step[i].round == step[i - 1].round)
			continue;
		if (cs_vec_push(heads, &i, pb->err))
			return -1;
	}
	return 0;
}

static void put_controls(struct cs_plan *plan, const struct cs_plan_builder *pb,
			 const struct controls *controls)
{
	for (int i = 0; i < 2; i++) {
		struct cs_step alone;

		if (!controls->step[i])
			continue;
		alone = *controls->step[i];
		alone.round = 0;
		cs_plan_builder_put_step(plan, pb, &alone, CS_STEP_CONTROL);
	}
}

static int is_staged(const struct cs_plan_builder *pb, const struct cs_step *step)
{
	const struct cs_transfer *t = pb->transfers.data;

	return t[step->first].method == CS_METHOD_STAGED;
}

/* A step, or a round of them. */
static void put_head(struct cs_plan *plan, const struct cs_plan_builder *pb,
		     uint32_t s)
{
	const struct cs_step *step = pb->steps.data;

	do
		cs_plan_builder_put_step(plan, pb, &step[s], 0);
	while (++s < pb->steps.n && step[s].round &&
	       step[s].round == step[s - 1].round);
}

/* Put the heads first, then the other steps in their shuffled order, with controls in
 * the middle and at the end.  Staged steps come last, because peer access is disabled
 * for them, unless there are no others. */
static void put_steps(struct cs_plan *plan, const struct cs_plan_builder *pb,
		      const struct cs_vec *heads, const uint32_t *order)
{
	const struct cs_step *step = pb->steps.data;
	const struct controls controls = control_steps(pb);
	const uint32_t *head = heads->data;
	size_t done = 0, usual = 0;

	for (size_t i = 0; i < heads->n; i++)
		usual += !is_staged(pb, &step[head[i]]);
	for (size_t i = 0; i < heads->n; i++) {
		if (usual && is_staged(pb, &step[head[order[i]]]))
			continue;
		if (done++ == (usual ? usual : heads->n) / 2)
			put_controls(plan, pb, &controls);
		put_head(plan, pb, head[order[i]]);
	}
	put_controls(plan, pb, &controls);
	for (size_t i = 0; i < heads->n && usual; i++)
		if (is_staged(pb, &step[head[order[i]]]))
			put_head(plan, pb, head[order[i]]);
}

/* Each control is put twice more. */
static struct cs_plan *plan_with_controls(const struct cs_plan_builder *pb)
{
	const struct controls controls = control_steps(pb);
	uint64_t steps = 0, transfers = 0;

	for (int i = 0; i < 2; i++)
		if (controls.step[i]) {
			steps += 2;
			transfers += 2 * controls.step[i]->count;
		}
	return cs_plan_builder_make_plan(pb, steps, transfers);
}

/* A draw, from which a run with a budget takes the most telling steps first. */
static int draw_order(const struct cs_plan_builder *pb, const struct cs_vec *heads,
		      uint32_t *order)
{
	const struct cs_priority_steps all = {
		.n_agents = pb->req->n_agents,
		.step = pb->steps.data,
		.n_steps = (uint32_t)pb->steps.n,
		.head = heads->data,
		.n_heads = (uint32_t)heads->n,
		.transfer = pb->transfers.data,
		.matrix = pb->matrices.data,
		.n_matrices = (uint32_t)pb->matrices.n,
	};
	struct cs_rng rng = { pb->req->set.seed };

	cs_rng_shuffle(&rng, order, heads->n);
	return pb->req->set.urgent ? cs_priority_order(&all, order, pb->err) : 0;
}

int cs_plan_build(const struct cs_plan_request *req, struct cs_plan **out,
		  struct cs_err *err)
{
	struct cs_plan_builder pb = cs_plan_builder_of(req, err);
	struct cs_vec heads = CS_VEC(uint32_t), order = CS_VEC(uint32_t);
	struct cs_plan *plan = NULL;

	if (!cs_request_check(req->n_agents, &req->set, err) && !add_tests(&pb) &&
	    !find_heads(&pb, &heads) && cs_vec_add(&order, heads.n, err) &&
	    !draw_order(&pb, &heads, order.data)) {
		plan = plan_with_controls(&pb);
	}
	if (plan) {
		put_steps(plan, &pb, &heads, order.data);
		cs_plan_builder_finish(plan);
		*out = plan;
	}
	cs_vec_release(&order);
	cs_vec_release(&heads);
	cs_plan_builder_release(&pb);
	return plan ? 0 : -1;
}
