#include "plan/plan_builder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- to grow ---- */

struct cs_plan_builder cs_plan_builder_of(const struct cs_plan_request *req,
					  struct cs_err *err)
{
	return (struct cs_plan_builder){ .req = req,
					 .steps = CS_VEC(struct cs_step),
					 .transfers = CS_VEC(struct cs_transfer),
					 .matrices = CS_VEC(struct cs_plan_matrix),
					 .lot = { ~req->set.seed },
					 .err = err };
}

void cs_plan_builder_release(struct cs_plan_builder *b)
{
	cs_vec_release(&b->matrices);
	cs_vec_release(&b->transfers);
	cs_vec_release(&b->steps);
}

struct cs_plan_matrix *cs_plan_builder_add_matrix(struct cs_plan_builder *b)
{
	if (b->matrices.n < CS_MATRICES_MAX)
		return cs_vec_add(&b->matrices, 1, b->err);
	cs_err_set(b->err, "more than %d tests, sizes and variants", CS_MATRICES_MAX);
	return NULL;
}

static int refuse_size(uint64_t steps, uint64_t transfers, struct cs_err *err)
{
	return cs_err_set(err,
			  "a plan of %" PRIu64 " steps and %" PRIu64
			  " transfers would be larger than %u MiB: ask for fewer "
			  "tests, sizes or NUMA nodes",
			  steps, transfers, CS_PLAN_MOST >> 20);
}

/* Would the plan exceed CS_PLAN_MOST? */
static int is_too_large(const struct cs_plan_builder *b)
{
	struct cs_plan_layout at;

	cs_plan_lay_out(b->steps.n, b->transfers.n, b->matrices.n, &at);
	return at.total_bytes > CS_PLAN_MOST;
}

int cs_plan_builder_add_step(struct cs_plan_builder *b)
{
	struct cs_step *step = cs_vec_add(&b->steps, 1, b->err);

	if (!step)
		return -1;
	*step = (struct cs_step){ .first = (uint32_t)b->transfers.n,
				  .matrix = (uint32_t)b->matrices.n - 1,
				  .round = b->round };
	return 0;
}

static int add_transfer(struct cs_plan_builder *b, const struct cs_transfer *transfer)
{
	struct cs_step *step = (struct cs_step *)b->steps.data + b->steps.n - 1;

	if (++step->count > CS_STEP_MAX)
		return cs_err_set(b->err, "more than %d transfers at the same time",
				  CS_STEP_MAX);
	if (is_too_large(b))
		return refuse_size(b->steps.n, b->transfers.n, b->err);
	return cs_vec_push(&b->transfers, transfer, b->err);
}

/* The place of a NUMA node among those there are. */
static uint32_t numa_place(const struct cs_settings *set, uint32_t numa)
{
	uint64_t below = numa < CS_NUMA_MOST ? (1ull << numa) - 1 : 0;

	return (uint32_t)__builtin_popcountll(set->numa_nodes & below);
}

/* A read is issued by the destination's agent, all others by the source's, one with a
 * host end by the GPU's; pairs of NUMA nodes take turns. */
static uint32_t issuer_of(const struct cs_plan_request *req,
			  const struct cs_test *test, const struct cs_asked *asked)
{
	const struct cs_endpoint *src = &asked->src, *dst = &asked->dst;
	uint32_t n = asked->flags & CS_TRANSFER_LONE ? 1 : (uint32_t)req->n_agents;
	int pulls = test->op == CS_OP_READ || test->method == CS_METHOD_CHASE;

	if (cs_endpoint_is_numa(src) && cs_endpoint_is_numa(dst))
		return (numa_place(&req->set, src->index) *
				(uint32_t)__builtin_popcountll(req->set.numa_nodes) +
			numa_place(&req->set, dst->index)) %
		       n;
	if (cs_endpoint_is_numa(src) || cs_endpoint_is_numa(dst))
		return cs_endpoint_is_numa(src) ? dst->index : src->index;
	return pulls ? dst->index : src->index;
}

struct cs_transfer cs_asked_transfer(const struct cs_plan_request *req,
				     const struct cs_asked *asked)
{
	const struct cs_test *test = cs_test_at(asked->test);
	int by_ends = (test->path == CS_PATH_H2D || test->path == CS_PATH_D2H) &&
		      test->method != CS_METHOD_CHASE &&
		      !cs_method_is_stream((int)test->method);

	return (struct cs_transfer){
		.src = asked->src,
		.dst = asked->dst,
		.method = (uint8_t)test->method,
		.op = (uint8_t)(!by_ends			 ? test->op :
				cs_endpoint_is_numa(&asked->src) ? CS_OP_READ :
								   CS_OP_WRITE),
		.issuer = (uint16_t)issuer_of(req, test, asked),
		.flags = (uint16_t)asked->flags,
		.bytes = asked->bytes,
		.variant = asked->variant,
	};
}

/* Multiply-adds of a GPU beside the measured transfer. */
static struct cs_asked asked_flops(uint32_t flags, const struct cs_endpoint *gpu)
{
	const int test = cs_test_index(CS_FLOPS_TEST);

	return (struct cs_asked){ .test = (uint16_t)test,
				  .flags = flags | CS_TRANSFER_LOAD,
				  .src = *gpu,
				  .dst = *gpu,
				  .bytes = cs_test_at(test)->bytes };
}

int cs_plan_builder_add_transfer(struct cs_plan_builder *b, struct cs_endpoint src,
				 struct cs_endpoint dst, uint64_t bytes,
				 uint32_t flags)
{
	const struct cs_plan_matrix *matrix =
		(struct cs_plan_matrix *)b->matrices.data + b->matrices.n - 1;
	const struct cs_asked asked = { matrix->test, flags | b->flags, src, dst,
					bytes,	      matrix->variant };
	struct cs_transfer t = cs_asked_transfer(b->req, &asked);

	t.matrix = (uint16_t)(b->matrices.n - 1);
	return add_transfer(b, &t);
}

struct cs_endpoint cs_plan_builder_agent_end(const struct cs_plan_builder *b,
					     uint32_t agent)
{
	return cs_agent_end(&b->req->set, agent);
}

int cs_plan_builder_add_copy(struct cs_plan_builder *b, uint32_t src, uint32_t dst)
{
	return cs_plan_builder_add_transfer(b, cs_plan_builder_agent_end(b, src),
					    cs_plan_builder_agent_end(b, dst),
					    b->bytes, 0);
}

int cs_plan_builder_add_flops(struct cs_plan_builder *b, uint32_t agent)
{
	const struct cs_endpoint gpu = cs_plan_builder_agent_end(b, agent);
	const struct cs_asked asked = asked_flops(b->flags, &gpu);
	struct cs_transfer t = cs_asked_transfer(b->req, &asked);

	t.matrix = (uint16_t)(b->matrices.n - 1);
	return add_transfer(b, &t);
}

/* ---- to become a blob ---- */

/* Lay the parts out for that many of each. */
static int lay_out(struct cs_plan *plan, uint64_t n_steps, uint64_t n_transfers,
		   struct cs_err *err)
{
	struct cs_plan_layout at;

	cs_plan_lay_out(n_steps, n_transfers, plan->n_matrices, &at);
	if (at.total_bytes > CS_PLAN_MOST)
		return refuse_size(n_steps, n_transfers, err);
	plan->n_steps = (uint32_t)n_steps;
	plan->n_transfers = (uint32_t)n_transfers;
	plan->steps_at = sizeof(*plan);
	plan->transfers_at = (uint32_t)at.transfers_at;
	plan->matrices_at = (uint32_t)at.matrices_at;
	plan->total_bytes = at.total_bytes;
	return 0;
}

struct cs_plan *cs_plan_builder_make_plan(const struct cs_plan_builder *b,
					  uint64_t more_steps, uint64_t more_transfers)
{
	struct cs_plan head = {
		.magic = CS_PLAN_MAGIC,
		.version = CS_PLAN_VERSION,
		.n_agents = (uint32_t)b->req->n_agents,
		.set = b->req->set,
		.n_matrices = (uint32_t)b->matrices.n,
	};
	struct cs_plan *plan;

	if (lay_out(&head, b->steps.n + more_steps, b->transfers.n + more_transfers,
		    b->err))
		return NULL;
	plan = calloc(1, head.total_bytes);
	if (!plan) {
		cs_err_set(b->err, "no memory for a plan of %zu steps", b->steps.n);
		return NULL;
	}
	*plan = head;
	memcpy((char *)plan + plan->matrices_at, b->matrices.data,
	       b->matrices.n * sizeof(struct cs_plan_matrix));
	plan->n_steps = plan->n_transfers = 0; /* counted as they are put */
	return plan;
}

void cs_plan_builder_put_step(struct cs_plan *plan, const struct cs_plan_builder *b,
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
	memcpy(to, (const struct cs_transfer *)b->transfers.data + from->first,
	       from->count * sizeof(*to));
	cs_assign_slots(plan, to, from->count);
	plan->n_transfers += from->count;
}

void cs_plan_builder_finish(struct cs_plan *plan)
{
	struct cs_plan_matrix *matrix =
		(struct cs_plan_matrix *)((char *)plan + plan->matrices_at);
	uint32_t steps[CS_MATRICES_MAX];

	cs_plan_count_steps(plan, steps);
	for (uint32_t v = 0; v < plan->n_matrices; v++)
		matrix[v].steps = steps[v];
	plan->id = cs_plan_hash(plan);
}
