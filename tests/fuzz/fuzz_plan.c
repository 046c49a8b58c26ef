
#include "base/facts.h"
#include "fuzz.h"
#include "plan/plan.h"

/* How the input reads: four bytes that say what plan to build, then edits. */
#define WITH_CPU 1	/* data[2]: of the cpu backend */
#define SEALED 2	/* the id is made to fit after the edits */
#define RAW 4		/* no plan is built: the rest is the blob */
#define EDIT 4		/* bytes of one edit: where (2), how, what */

static void walk_agent(const struct cs_plan *plan, int agent)
{
	struct cs_arena_layout arena;

	cs_plan_arena(plan, agent, (int)plan->n_agents, UINT64_MAX, &arena);
	MUST(arena.src_bytes <= CS_COPY_MAX && arena.dst_bytes <= CS_COPY_MAX);
	MUST(arena.dst_at % CS_ARENA_ALIGN == 0 && arena.dst_at >= arena.src_bytes);
	MUST(arena.total_bytes >= arena.src_bytes + arena.dst_bytes);
	MUST(!cs_plan_needs_peer(plan, agent, agent, 0));
	MUST(!cs_plan_needs_peer(plan, agent, (int)plan->n_agents, 0));
}

/* Everything that users of a trusted plan read. */
static void walk(const struct cs_plan *plan)
{
	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);
		const struct cs_test *test = cs_plan_test(plan, step);

		MUST(step->matrix < plan->n_matrices && step->count <= CS_STEP_MAX);
		MUST(cs_test_index(test->name) ==
		     (int)cs_plan_matrix_at(plan, step->matrix)->test);
		MUST(cs_step_applies(plan, step,
				     cs_transfer_is_lone(cs_plan_transfer(plan, step,
									  0)) ?
					     1 :
					     (int)plan->n_agents));
		MUST(!cs_step_applies(plan, step, 0));
		for (uint32_t k = 0; k < step->count; k++) {
			const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

			MUST(t->src.index < plan->n_agents &&
			     t->dst.index < plan->n_agents);
			MUST(t->issuer == t->src.index || t->issuer == t->dst.index);
			MUST(t->bytes && t->bytes <= CS_COPY_MAX);
		}
	}
	for (int a = 0; a < (int)plan->n_agents; a += a < 4 ? 1 : 20)
		walk_agent(plan, a);
	MUST(cs_plan_estimate_s(plan, 400) > 0);
	MUST(isnan(cs_plan_estimate_s(plan, 0)));
}

static int validate(const void *blob, size_t bytes)
{
	struct cs_err err = { "" };

	if (cs_plan_validate(blob, bytes, &err)) {
		MUST(*err.text);
		return -1;
	}
	walk(blob);
	return 0;
}

/* FNV-1a as in plan.c: who forges a plan can forge its id. */
static void seal(struct cs_plan *plan, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	const unsigned char *all = (const unsigned char *)plan;

	for (size_t i = offsetof(struct cs_plan, n_agents); i < bytes; i++)
		hash = (hash ^ all[i]) * 0x100000001b3ull;
	plan->id = hash;
}

static struct cs_plan *build(const uint8_t *data)
{
	static const int large[] = { CS_MAX_AGENTS, CS_MAX_AGENTS + 1 };
	struct cs_plan_request req = { .n_agents = data[0] % 16 };
	struct cs_err err = { "" };
	struct cs_plan *plan = NULL;
	struct cs_choices chosen = { .n = 0 };
	size_t n;

	cs_catalogue(&n);
	for (size_t i = 0; i < n; i++)
		if (data[1] >> i % 8 & 1)
			MUST(!cs_choices_add(&chosen,
					     &(struct cs_choice){
						     .test = (uint16_t)i,
						     .lone = data[2] >> 3 & 1,
						     .variant.cache = data[2] >> 4 & 3 },
					     &err));
	if (data[0] >= 254)
		req.n_agents = large[data[0] - 254];
	req.chosen = &chosen;
	req.set.copy_bytes = 16ull << data[3] % 48;
	req.set.seed = data[0] + 256u * data[3];
	req.set.precision = 0.005;
	req.set.cell_limit_s = 2;
	req.set.start_limit_s = 30;
	req.set.backend = data[2] & WITH_CPU ? CS_BACKEND_CPU : CS_BACKEND_CUDA;
	if (cs_plan_build(&req, &plan, &err))
		MUST(!plan && *err.text);
	return plan;
}

/* Half of the edits hit the header or the first steps. */
static void edit(struct cs_plan *plan, size_t bytes, const uint8_t *data)
{
	size_t at = data[0] + 256u * (data[1] & 0x7f);
	uint8_t *byte = (uint8_t *)plan;

	byte += data[1] & 0x80 ? bytes - 1 - at % bytes : at % bytes;
	if (data[2] & 1)
		*byte = data[3];
	else
		*byte ^= data[3];
}

static void plan_is_edited(const uint8_t *data, size_t size)
{
	struct cs_plan *plan = build(data), *before;
	size_t bytes;

	if (!plan)
		return;
	bytes = plan->total_bytes;
	MUST(!validate(plan, bytes));
	MUST(validate(plan, bytes - 1));
	before = malloc(bytes);
	MUST(before);
	memcpy(before, plan, bytes);
	for (size_t at = 4; at + EDIT <= size; at += EDIT)
		edit(plan, bytes, data + at);
	if (data[2] & SEALED) {
		seal(plan, bytes);
		validate(plan, bytes);
	} else if (memcmp(before, plan, bytes) && size < 4 + 2 * EDIT) {
		/* one byte alone always changes the hash */
		MUST(validate(plan, bytes));
	} else {
		validate(plan, bytes);
	}
	free(before);
	free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *blob;

	if (size < 4)
		return 0;
	if (!(data[2] & RAW)) {
		plan_is_edited(data, size);
		return 0;
	}
	blob = fuzz_text(data + 4, size - 4);
	if (data[2] & SEALED && size - 4 >= sizeof(struct cs_plan))
		seal((struct cs_plan *)blob, size - 4);
	validate(blob, size - 4);
	if (size > 4)
		validate(blob + 1, size - 5);
	free(blob);
	return 0;
}
