/* assemble.c - a plan of the steps that a file asks for. */
#include <stdlib.h>

#include "plan/plan_builder.h"

static struct cs_plan_matrix *find_matrix(const struct cs_plan_builder *b,
					  const struct cs_plan_matrix *like)
{
	return b->matrices.n ? bsearch(like, b->matrices.data, b->matrices.n,
				       sizeof(*like), cs_plan_matrices_compare) :
			       NULL;
}

/* Are the multiply-adds a part of the other test? */
static int is_flops_beside(const struct cs_asked *flops, const struct cs_asked *other)
{
	const struct cs_test *test = cs_test_at(flops->test);

	return !(other->flags & CS_TRANSFER_LOAD) && test->method == CS_METHOD_FMA &&
	       test->op == CS_OP_FP64 &&
	       cs_test_at(other->test)->pattern == CS_PATTERN_LOADFLOPS;
}

/* That of its test, size and variant; of a load, that of the test measured beside it. */
static struct cs_plan_matrix matrix_of(const struct cs_step *step,
				       const struct cs_asked *asked, uint32_t k)
{
	const struct cs_asked *me = &asked[step->first + k], *other;

	for (uint32_t i = 0; i < step->count && me->flags & CS_TRANSFER_LOAD; i++) {
		other = &asked[step->first + i];
		if (is_flops_beside(me, other))
			me = other;
		if (!(other->flags & CS_TRANSFER_LOAD) && other->test == me->test &&
		    other->bytes >= me->bytes &&
		    !cs_variant_compare(&other->variant, &me->variant))
			return (struct cs_plan_matrix){ .test = me->test,
							.bytes = other->bytes,
							.variant = other->variant };
	}
	return (struct cs_plan_matrix){ .test = me->test,
					.bytes = me->bytes,
					.variant = me->variant };
}

/* Keep the matrices sorted; most often a new one goes to the end. */
static int need_matrix(struct cs_plan_builder *b, struct cs_plan_matrix matrix)
{
	struct cs_plan_matrix *to;

	if (find_matrix(b, &matrix))
		return 0;
	to = cs_plan_builder_add_matrix(b);
	if (!to)
		return -1;
	*to = matrix;
	cs_vec_sort(&b->matrices, cs_plan_matrices_compare);
	return 0;
}

static int take_matrices(struct cs_plan_builder *b, const struct cs_step *step,
			 size_t n_steps, const struct cs_asked *asked)
{
	for (size_t s = 0; s < n_steps; s++)
		for (uint32_t k = 0; k < step[s].count; k++)
			if (need_matrix(b, matrix_of(&step[s], asked, k)))
				return -1;
	return 0;
}

static int take_step(struct cs_plan_builder *b, const struct cs_step *from,
		     const struct cs_asked *asked)
{
	const struct cs_plan_matrix *matrices = b->matrices.data;
	struct cs_step *step = cs_vec_add(&b->steps, 1, b->err);
	struct cs_transfer *t = cs_vec_add(&b->transfers, from->count, b->err);

	if (!step || !t)
		return -1;
	*step = *from;
	step->first = (uint32_t)(b->transfers.n - from->count);
	for (uint32_t k = 0; k < from->count; k++) {
		struct cs_plan_matrix matrix = matrix_of(from, asked, k);

		t[k] = cs_asked_transfer(b->req, &asked[from->first + k]);
		t[k].matrix = (uint16_t)(find_matrix(b, &matrix) - matrices);
	}
	step->matrix = t[0].matrix;
	return 0;
}

int cs_plan_assemble(const struct cs_plan_request *req, const struct cs_step *step,
		     size_t n_steps, const struct cs_asked *asked,
		     struct cs_plan **out, struct cs_err *err)
{
	struct cs_plan_builder b = cs_plan_builder_of(req, err);
	struct cs_plan *plan = NULL;
	int rc = cs_request_check(req->n_agents, &req->set, err) ||
		 take_matrices(&b, step, n_steps, asked);

	for (size_t s = 0; !rc && s < n_steps; s++)
		rc = take_step(&b, &step[s], asked);
	if (!rc)
		plan = cs_plan_builder_make_plan(&b, 0, 0);
	for (size_t s = 0; plan && s < n_steps; s++)
		cs_plan_builder_put_step(plan, &b, (struct cs_step *)b.steps.data + s,
					 0);
	cs_plan_builder_release(&b);
	if (!plan)
		return -1;
	cs_plan_builder_finish(plan);
	*out = plan;
	return 0;
}
