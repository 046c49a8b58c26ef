/* Plans: what is in them, that they travel as bytes, and that no bytes whatever
 * are trusted without being a plan. */
#include "base/facts.h"
#include "plan/plan.h"
#include "plan/choose.h"
#include "plan/rounds.h"
#include "plan/settings.h"
#include "result/cells.h"
#include "tap.h"

/* Some of each kind; all there are would be too many bytes to change each. */
#define MIXED "peer.ce.*.pair,peer.sm.write.all-to-one,h2d.ce.pinned.bidiload"

static struct cs_plan_request request(int n_agents, const char *tests,
				      enum cs_backend_kind backend)
{
	static struct cs_choices chosen;

	chosen.n = 0;
	t_eq_int(cs_tests_choose(tests, backend, CS_TRANSPORT_AUTO, &chosen, NULL), 0);
	return (struct cs_plan_request){
		.n_agents = n_agents,
		.chosen = &chosen,
		.set = { .copy_bytes = 64 << 20,
			 .seed = 20261120,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .verify = CS_VERIFY_ALL,
			 .backend = (uint32_t)backend,
			 .random = 2,
			 .spread_bytes = 256 << 20,
			 .schedule = CS_SCHEDULE_SERIAL,
			 .numa_nodes = 3 },
	};
}

/* Freed after the test. */
static struct cs_plan *built(const struct cs_plan_request *req)
{
	struct cs_plan *plan = NULL;
	struct cs_err err = { "" };

	if (!t_eq_int(cs_plan_build(req, &plan, &err), 0) ||
	    !t_eq_int(cs_plan_validate(plan, plan->total_bytes, &err), 0))
		t_eq_str(err.text, "");
	return t_free_later(plan);
}

static struct cs_plan *plan_of(int n_agents, const char *tests,
			       enum cs_backend_kind backend)
{
	struct cs_plan_request req = request(n_agents, tests, backend);

	return built(&req);
}

#define EACH_STEP(plan, step)                                              \
	for (const struct cs_step *step = cs_plan_step(plan, 0);           \
	     step < cs_plan_step(plan, 0) + (plan)->n_steps; step++)

/* How often src -> dst comes in steps of `matrix` that are no controls. */
static int times_measured(const struct cs_plan *plan, uint32_t matrix, int src,
			  int dst)
{
	int times = 0;

	EACH_STEP(plan, step) {
		if (step->matrix != matrix || (step->flags & CS_STEP_CONTROL))
			continue;
		for (uint32_t k = 0; k < step->count; k++) {
			const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

			times += t->src.index == src && t->dst.index == dst;
		}
	}
	return times;
}

/* Rounds: disjoint pairs, and that many of them in each. */
static void rounds_are(const struct cs_plan *plan, uint32_t pairs, uint32_t count)
{
	uint32_t n, rounds = 0;

	for (uint32_t s = 0; s < plan->n_steps; s += n) {
		char busy[CS_MAX_AGENTS] = { 0 };
		int within;

		n = cs_plan_round(plan, s);
		if (!cs_plan_step(plan, s)->round)
			continue;
		rounds++;
		t_eq_int(n, pairs);
		for (uint32_t i = s; i < s + n; i++) {
			const struct cs_step *step = cs_plan_step(plan, i);
			const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);

			within = t->src.index == t->dst.index;
			t_ok(!busy[t->src.index]++ &&
			     (within || !busy[t->dst.index]++));
			for (uint32_t k = 1; k < step->count; k++)
				t_ok(t[k].src.index == t->dst.index);
		}
	}
	t_eq_int(rounds, count);
}

static void each_cell_is_measured_once(const struct cs_plan *plan, uint32_t matrix)
{
	int n = (int)plan->n_agents;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			t_eq_int(times_measured(plan, matrix, i, j), i != j);
}

HOLDS("pair: every ordered pair is one step") {
	for (int n = 2; n <= 16; n++) {
		struct cs_plan *plan = plan_of(n, "peer.ce.write.pair",
					       CS_BACKEND_CUDA);
		uint32_t cells = (uint32_t)(n * (n - 1));

		t_eq_int(plan->n_matrices, 1);
		t_eq_int(cs_plan_matrix_at(plan, 0)->steps, cells);
		t_eq_int(plan->n_steps, cells + (cells >= 4 ? 2 : 0));
		t_eq_int(plan->n_transfers, plan->n_steps);
		each_cell_is_measured_once(plan, 0);
	}
}

HOLDS("bidi: every unordered pair is one step of both ways") {
	for (int n = 2; n <= 16; n++) {
		struct cs_plan *plan = plan_of(n, "peer.ce.write.bidi",
					       CS_BACKEND_CUDA);
		uint32_t cells = (uint32_t)(n * (n - 1) / 2);

		t_eq_int(cs_plan_matrix_at(plan, 0)->steps, cells);
		t_eq_int(plan->n_steps, cells + (cells >= 4 ? 2 : 0));
		t_eq_int(plan->n_transfers, 2 * plan->n_steps);
		each_cell_is_measured_once(plan, 0);
		for (uint32_t s = 0; s < plan->n_steps; s++) {
			const struct cs_step *step = cs_plan_step(plan, s);
			const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);

			t_eq_int(step->count, 2);
			t_ok(t[0].src.index < t[0].dst.index);
			t_eq_int(t[0].src.index, t[1].dst.index);
			t_eq_int(t[0].dst.index, t[1].src.index);
		}
	}
}

/* Every transfer: the right ends, sizes, and the issuer that `op` wants. */
static void transfers_are(const char *tests, enum cs_backend_kind backend, int kind,
			  int memory, int op)
{
	struct cs_plan *plan = plan_of(5, tests, backend);
	const struct cs_transfer *t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);

	for (uint32_t i = 0; i < plan->n_transfers; i++) {
		if (cs_transfer_is_flops(&t[i]))
			continue;
		t_eq_int(t[i].src.kind, kind);
		t_eq_int(t[i].dst.kind, kind);
		t_eq_int(t[i].src.memory, memory);
		t_eq_int(t[i].dst.memory, memory);
		t_eq_int(t[i].op, op);
		t_eq_int(t[i].issuer,
			 op == CS_OP_WRITE ? t[i].src.index : t[i].dst.index);
		t_eq_int(t[i].bytes, 64 << 20);
	}
}

HOLDS("the source issues writes, the destination reads") {
	transfers_are("peer.ce.write.*", CS_BACKEND_CUDA, CS_ENDPOINT_GPU,
		      CS_MEM_DEVICE, CS_OP_WRITE);
	transfers_are("peer.ce.read.*", CS_BACKEND_CUDA, CS_ENDPOINT_GPU,
		      CS_MEM_DEVICE, CS_OP_READ);
	transfers_are("peer.cpu.write.*", CS_BACKEND_CPU, CS_ENDPOINT_HOST,
		      CS_MEM_ARENA, CS_OP_WRITE);
	transfers_are("peer.cpu.read.*", CS_BACKEND_CPU, CS_ENDPOINT_HOST,
		      CS_MEM_ARENA, CS_OP_READ);
}

HOLDS("tests are matrices in the order of the catalogue") {
	struct cs_plan *plan = plan_of(4, "peer.ce.read.bidi,peer.ce.write.pair",
				       CS_BACKEND_CUDA);

	t_eq_int(plan->n_matrices, 2);
	t_eq_int(cs_plan_matrix_at(plan, 0)->test,
		 cs_test_index("peer.ce.write.pair"));
	t_eq_int(cs_plan_matrix_at(plan, 1)->test, cs_test_index("peer.ce.read.bidi"));
	t_eq_int(cs_plan_matrix_at(plan, 0)->steps, 12);
	t_eq_int(cs_plan_matrix_at(plan, 1)->steps, 6);
	t_eq_int(plan->n_steps, 12 + 6 + 2);
	each_cell_is_measured_once(plan, 0);
	each_cell_is_measured_once(plan, 1);
	EACH_STEP(plan, step) {
		t_eq_str(cs_plan_test(plan, step)->name,
			 step->matrix ? "peer.ce.read.bidi" : "peer.ce.write.pair");
	}
}

HOLDS("cells of all tests are mixed") {
	struct cs_plan *plan = plan_of(8, "*.pair", CS_BACKEND_CUDA);
	uint32_t changes = 0;

	for (uint32_t s = 1; s < plan->n_steps; s++)
		changes += cs_plan_step(plan, s)->matrix !=
			   cs_plan_step(plan, s - 1)->matrix;
	t_ok(changes > 30); /* 56 are expected, 1 if in order */
}

HOLDS("the seed fixes the plan") {
	struct cs_plan_request req = request(8, "*", CS_BACKEND_CUDA);
	struct cs_plan *a, *b, *c;

	a = built(&req);
	b = built(&req);
	req.set.seed++;
	c = built(&req);
	t_eq_int(memcmp(a, b, a->total_bytes), 0);
	t_ok(a->id != c->id);
	t_ok(memcmp(cs_plan_step(a, 0), cs_plan_step(c, 0),
		    a->n_steps * sizeof(struct cs_step)) != 0);
}

HOLDS("the id is of everything asked") {
	struct cs_plan_request req = request(4, "peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_plan *a, *b;

	a = built(&req);
	req.set.precision = 0.01;
	b = built(&req);
	t_ok(a->id != b->id);
}

HOLDS("a control stands in the middle and at the end") {
	struct cs_plan *plan = plan_of(8, "peer.ce.read.pair,peer.ce.read.bidi",
				       CS_BACKEND_CUDA);
	uint32_t n = plan->n_steps, controls = 0;

	for (uint32_t s = 0; s < n; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);

		if (!(step->flags & CS_STEP_CONTROL))
			continue;
		controls++;
		t_ok(s == (n - 2) / 2 || s == n - 1);
		t_eq_int(step->matrix, 0);
		t_eq_int(t->src.index, 0);
		t_eq_int(t->dst.index, 1);
	}
	t_eq_int(controls, 2);
}

HOLDS("fewer than 4 cells have no control") {
	struct cs_plan *plan = plan_of(2, "peer.ce.write.[pb]*i[rd]*",
				       CS_BACKEND_CUDA);

	t_eq_int(plan->n_steps, 3);
	plan = plan_of(2, "peer.ce.[rw]*[de].[pb]*i[rd]*", CS_BACKEND_CUDA);
	t_eq_int(plan->n_steps, 6 + 2);
}

HOLDS("a control is sampled until it is known") {
	struct cs_plan *plan = plan_of(4, "local.sm.launch.*,local.driver.*",
				       CS_BACKEND_CUDA);

	t_eq_int(plan->n_steps, 4 + 1 + 4 + 4);
	plan = plan_of(4, "peer.ce.enqueue.*,peer.ce.write4k.pair", CS_BACKEND_CUDA);
	t_eq_int(plan->n_steps, 12 + 4 + 1 + 2);
	t_eq_str(cs_plan_test(plan, cs_plan_step(plan, plan->n_steps - 1))->name,
		 "peer.ce.write4k.pair");
	plan = plan_of(4, "h2d.ce.pageable.pair", CS_BACKEND_CUDA);
	t_eq_int(plan->n_steps, 4);
	plan = plan_of(4, "h2d.ce.pageable.pair,h2d.ce.wc.pair", CS_BACKEND_CUDA);
	t_eq_int(plan->n_steps, 8 + 2);
	t_eq_str(cs_plan_test(plan, cs_plan_step(plan, plan->n_steps - 1))->name,
		 "h2d.ce.wc.pair");
}

/* ---- what is no pair ---- */

HOLDS("a shift has every agent in every step") {
	struct cs_plan *plan = plan_of(5, "peer.ce.read.shift", CS_BACKEND_CUDA);

	EACH_STEP(plan, step) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);
		uint32_t k, far = (5u + t->dst.index - t->src.index) % 5;

		t_eq_int(step->count, 5);
		for (k = 0; k < 5; k++) {
			t_eq_int(t[k].src.index, k);
			t_eq_int(t[k].dst.index, (k + far) % 5);
			t_eq_int(t[k].issuer, t[k].dst.index);
		}
	}
	each_cell_is_measured_once(plan, 0);
}

/* Cells of a node with that many agents; steps that repeat one, apart. */
static uint32_t cells_on(const struct cs_plan *plan, int n_agents, uint32_t *controls)
{
	uint32_t cells = 0;

	*controls = 0;
	EACH_STEP(plan, step) {
		if (!cs_step_applies(plan, step, n_agents))
			continue;
		cells += !(step->flags & CS_STEP_CONTROL);
		*controls += (step->flags & CS_STEP_CONTROL) != 0;
	}
	return cells;
}

HOLDS("a node with one GPU has what there is of one, and it alone") {
	struct cs_plan_request req = request(4, "peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_plan *pairs, *mixed;
	struct cs_arena_layout layout, alone;
	struct cs_choices chosen;
	uint32_t controls;

	pairs = built(&req);
	chosen = *req.chosen;
	cs_tests_lone(&chosen);
	req.chosen = &chosen;
	mixed = built(&req);
	t_eq_int(cells_on(mixed, 4, &controls), 12);
	t_eq_int(controls, 2);
	t_eq_int(cells_on(mixed, 2, &controls), 2);
	t_eq_int(cells_on(mixed, 1, &controls), 8);
	t_eq_int(controls, 2);
	t_eq_int(cells_on(mixed, 0, &controls), 0);
	cs_plan_arena(pairs, 0, 4, UINT64_MAX, &alone);
	cs_plan_arena(mixed, 0, 4, UINT64_MAX, &layout);
	t_ok(!memcmp(&layout, &alone, sizeof(layout)));
	cs_plan_arena(mixed, 0, 1, UINT64_MAX, &layout);
	t_ok(layout.chain_bytes > 0 && !alone.chain_bytes);
	/* what was asked for can be measured there */
	req = request(4, "peer.ce.write.pair,h2d.ce.pinned.pair", CS_BACKEND_CUDA);
	chosen = *req.chosen;
	cs_tests_lone(&chosen);
	t_eq_int(chosen.n, req.chosen->n);
}

HOLDS("a choice may have a size and a variant of its own") {
	struct cs_plan_request req = request(2, "h2d.ce.pinned.pair", CS_BACKEND_CUDA);
	struct cs_choices chosen = *req.chosen;
	struct cs_choice own = chosen.choice[0];
	struct cs_plan *plan;
	const struct cs_transfer *t;

	req.chosen = &chosen;
	req.set.last_bytes = 128 << 20;
	req.set.growth = 2;
	own.bytes = 128 << 20;
	t_eq_int(cs_choices_add(&chosen, &own, NULL), 0);
	own.variant.cache = CS_CACHE_COLD;
	t_eq_int(cs_choices_add(&chosen, &own, NULL), 0);
	t_eq_int(cs_choices_add(&chosen, &own, NULL), 0);
	t_eq_int(chosen.n, 3);
	plan = built(&req);
	/* what two choices mean is one matrix */
	t_eq_int(plan->n_matrices, 3);
	t_eq_int(cs_plan_matrix_at(plan, 0)->bytes, 64 << 20);
	t_eq_int(cs_plan_matrix_at(plan, 1)->bytes, 128 << 20);
	t_eq_int(cs_plan_matrix_at(plan, 1)->variant.cache, CS_CACHE_ANY);
	t_eq_int(cs_plan_matrix_at(plan, 2)->bytes, 128 << 20);
	t_eq_int(cs_plan_matrix_at(plan, 2)->variant.cache, CS_CACHE_COLD);
	for (uint32_t s = 0; s < plan->n_steps; s++) {
		t = cs_plan_transfer(plan, cs_plan_step(plan, s), 0);
		t_ok(!cs_variant_compare(&t->variant,
					 &cs_plan_matrix_at(plan, t->matrix)->variant));
	}
}

HOLDS("one figure an agent goes to its neighbour") {
	struct cs_plan *plan = plan_of(3, "peer.ce.burst4k.*", CS_BACKEND_CUDA);
	const struct cs_transfer *t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);

	t_eq_int(plan->n_steps, 3 + 1);
	t_eq_int(plan->n_transfers, 3 + 3);
	for (uint32_t k = 0; k < plan->n_transfers; k++) {
		t_eq_int(t[k].dst.index, (t[k].src.index + 1) % 3);
		t_eq_int(t[k].issuer, t[k].src.index);
		t_eq_int(t[k].bytes, 4096);
	}
}

HOLDS("what stays within a GPU needs no buffer") {
	struct cs_plan *plan = plan_of(3, "local.sm.launch.*,local.driver.*",
				       CS_BACKEND_CUDA);
	struct cs_arena_layout layout;

	cs_plan_arena(plan, 1, (int)plan->n_agents, UINT64_MAX, &layout);
	t_eq_int(layout.total_bytes, 0);
	t_eq_int(cs_plan_needs_peer(plan, 1, 2, 0), 0);
}

/* ---- with the host, hubs, sweeps ---- */

HOLDS("one GPU has what needs no other") {
	struct cs_plan *plan =
		plan_of(1, "peer.ce.write.pair,h2d.ce.pinned.pair,local.ce.copy.alone",
			CS_BACKEND_CUDA);

	t_eq_int(plan->n_matrices, 2);
	t_eq_int(plan->n_steps, 2);
}

HOLDS("a load is beside what is measured") {
	struct cs_plan *plan = plan_of(4, "d2h.ce.pinned.bidiload", CS_BACKEND_CUDA);

	EACH_STEP(plan, step) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);

		t_eq_int(step->count, 8);
		t_ok(!cs_transfer_is_load(&t[0]) && cs_endpoint_is_numa(&t[0].dst));
		t_ok(cs_endpoint_is_numa(&t[1].src));
		t_eq_int(t[1].issuer, t[0].issuer);
		for (uint32_t k = 0; k < step->count; k++) {
			t_ok(!k || cs_transfer_is_load(&t[k]));
			/* as many in its direction come before it */
			t_eq_int(cs_endpoint_is_numa(&t[k].src) ? t[k].src_slot :
								  t[k].dst_slot,
				 k / 2);
		}
	}
}

/* Steps of other tests that are the same transfers as the first step of `test`. */
static int alike(const struct cs_plan *plan, const char *test)
{
	const struct cs_step *step = cs_plan_step(plan, 0);
	int n = 0;

	while (strcmp(cs_plan_test(plan, step)->name, test) != 0 ||
	       step->flags & CS_STEP_CONTROL)
		step++;
	for (uint32_t s = 0; s < plan->n_steps; s++)
		n += cs_steps_are_alike(plan, step, cs_plan_step(plan, s));
	return n;
}

HOLDS("pages of malloc are not alike managed memory") {
	struct cs_plan *plan =
		plan_of(3, "peer.prefetch.system.pair,peer.prefetch.managed.pair",
			CS_BACKEND_CUDA);

	t_eq_int(alike(plan, "peer.prefetch.system.pair"), 0);
}

HOLDS("of two GPUs patterns are alike") {
	const char *tests = "peer.ce.write.pair,peer.ce.write.one-to-all,"
			    "peer.ce.write.all-to-one,peer.ce.read.pair,"
			    "peer.ce.write.bidi,peer.ce.write.ring";
	struct cs_plan *two = plan_of(2, tests, CS_BACKEND_CUDA);
	struct cs_plan *three = plan_of(3, tests, CS_BACKEND_CUDA);

	t_eq_int(alike(two, "peer.ce.write.pair"), 2);
	t_eq_int(alike(two, "peer.ce.read.pair"), 0);
	t_eq_int(alike(two, "peer.ce.write.bidi"), 1);
	t_eq_int(alike(three, "peer.ce.write.pair"), 0);
}

HOLDS("many into one have places of their own") {
	struct cs_plan *plan = plan_of(4, "peer.ce.write.all-to-one", CS_BACKEND_CUDA);
	struct cs_arena_layout layout;

	t_eq_int(cs_plan_matrix_at(plan, 0)->steps, 4);
	EACH_STEP(plan, step) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);

		t_eq_int(step->count, 3);
		for (uint32_t k = 0; k < 3; k++) {
			t_eq_int(t[k].dst.index, t[0].dst.index);
			t_eq_int(cs_transfer_dst_at(plan, &t[k]), k * (64 << 20));
		}
	}
	cs_plan_arena(plan, 0, (int)plan->n_agents, UINT64_MAX, &layout);
	t_eq_int(layout.src_bytes, 64 << 20);
	t_eq_int(layout.dst_bytes, 3 * (64 << 20));
}

HOLDS("one to all shares its source") {
	struct cs_plan *plan = plan_of(4, "peer.ce.read.one-to-all", CS_BACKEND_CUDA);
	const struct cs_transfer *t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);
	struct cs_arena_layout layout;

	t_eq_int(t[2].src.index, t[0].src.index);
	t_eq_int(t[2].issuer, t[2].dst.index);
	cs_plan_arena(plan, 0, (int)plan->n_agents, UINT64_MAX, &layout);
	t_eq_int(layout.total_bytes, 2 * (64 << 20));
}

HOLDS("NUMA nodes are rows") {
	struct cs_plan_request req =
		request(2, "h2d.ce.pinned.pair,h2d.ce.pinned.all,host.cpu.copy.pair",
			CS_BACKEND_CUDA);
	struct cs_plan *plan;

	req.set.numa = 0x5;
	plan = built(&req);
	t_eq_int(cs_plan_matrix_at(plan, 0)->steps, 4);
	t_eq_int(times_measured(plan, 0, 0, 1), 1);
	t_eq_int(times_measured(plan, 0, 2, 1), 1);
	t_eq_int(cs_plan_matrix_at(plan, 1)->steps, 2);
	t_eq_int(cs_plan_matrix_at(plan, 2)->steps, 4); /* the machine's, 0 and 1 */
	t_eq_int(times_measured(plan, 2, 1, 1), 1);
}

HOLDS("rails are matrices: of each GPU, of each NUMA node") {
	struct cs_plan_request req =
		request(3, "nethost.mpi.pinned.rails,net.mpi.staged.*",
			CS_BACKEND_CUDA);
	struct cs_plan *plan;

	req.set.numa_nodes = 0x5;
	plan = built(&req);
	t_eq_int(plan->n_matrices, 2 + 4 + 3);
	for (uint32_t v = 0; v < plan->n_matrices; v++) {
		const struct cs_test *test = cs_plan_matrix_test(plan, v);
		const int is_of_rails = test->pattern == CS_PATTERN_RAILS;
		const int rail = test->path == CS_PATH_NETHOST ? 1 + 2 * (int)v :
								 (int)v - 5;

		t_eq_int(cs_plan_matrix_at(plan, v)->variant.rail,
			 is_of_rails ? rail : 0);
	}
}

HOLDS("a sweep is a matrix for each size") {
	struct cs_plan_request req =
		request(2, "peer.ce.write.pair,peer.ce.write4k.pair", CS_BACKEND_CUDA);
	struct cs_plan *plan;
	struct cs_arena_layout layout;

	req.set.copy_bytes = 4096;
	req.set.last_bytes = 1 << 20;
	req.set.growth = 4;
	plan = built(&req);
	t_eq_int(plan->n_matrices, 5 + 1);
	t_eq_int(cs_plan_matrix_at(plan, 0)->bytes, 4096);
	t_eq_int(cs_plan_matrix_at(plan, 4)->bytes, 1 << 20);
	t_eq_int(cs_plan_matrix_at(plan, 5)->bytes, 4096);
	t_eq_int(cs_plan_smaller(plan, 1 << 20), 1 << 18);
	t_eq_int(cs_plan_smaller(plan, 4096), 0);
	cs_plan_arena(plan, 0, (int)plan->n_agents, 1 << 18, &layout);
	t_eq_int(layout.src_bytes, 1 << 18);
}

static void refused(const struct cs_plan_request *req, const char *why)
{
	struct cs_plan *plan = (struct cs_plan *)-1;
	struct cs_err err = { "" };

	t_eq_int(cs_plan_build(req, &plan, &err), -1);
	t_eq_str(err.text, why);
	t_ok(plan == (struct cs_plan *)-1);
}

static struct cs_variant variant_of_view(const struct cs_plan *plan, uint32_t matrix)
{
	return cs_plan_matrix_at(plan, matrix)->variant;
}

HOLDS("sizes and variants are matrices each") {
	struct cs_plan_request req =
		request(2, "host.cpu.copy.pair,peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_plan *plan;

	req.set.numa_nodes = 3;
	req.set.copy_bytes = 4096;
	req.set.last_bytes = 8192;
	req.set.growth = 2;
	req.vary = (struct cs_variants){ .caches = 1u << CS_CACHE_ANY |
						   1u << CS_CACHE_COLD,
					 .threads = 1 | 1 << 3,
					 .cpu_numa = UINT64_MAX };
	plan = built(&req);
	/* two sizes of the one that has no variants; 2 x 2 x 2 x 2 of the other */
	t_eq_int(plan->n_matrices, 2 + 16);
	for (uint32_t v = 0; v < 2; v++)
		t_ok(cs_variant_is_usual(&cs_plan_matrix_at(plan, v)->variant));
	for (uint32_t v = 2; v < plan->n_matrices; v++) {
		t_eq_int(cs_plan_matrix_at(plan, v)->bytes, v < 10 ? 4096 : 8192);
		t_eq_int(cs_plan_matrix_at(plan, v)->steps, 4);
		t_ok(variant_of_view(plan, v).cpu_numa == 1 ||
		     variant_of_view(plan, v).cpu_numa == 2);
		/* one thread is the usual */
		t_ok(!variant_of_view(plan, v).threads ||
		     variant_of_view(plan, v).threads == 4);
	}
	EACH_STEP(plan, step) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);

		t_ok(!cs_variant_compare(&t->variant,
					 &cs_plan_matrix_at(plan, t->matrix)->variant));
	}
}

HOLDS("what a name says of a variant stays") {
	struct cs_choices chosen = { .n = 0 };
	struct cs_choice choice = {
		.test = (uint16_t)cs_test_index("h2d.ce.pinned.pair"),
		.variant = { .cache = CS_CACHE_COLD, .threads = 4 },
	};
	struct cs_plan_request req = request(2, "peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_plan *plan;

	cs_choices_add(&chosen, &choice, NULL);
	choice.variant.cache = 0;
	cs_choices_add(&chosen, &choice, NULL);
	req.chosen = &chosen;
	req.vary = (struct cs_variants){ .caches = 1u << CS_CACHE_WARM };
	plan = built(&req);
	t_eq_int(plan->n_matrices, 2);
	t_eq_int(variant_of_view(plan, 0).cache, CS_CACHE_COLD);
	t_eq_int(variant_of_view(plan, 1).cache, CS_CACHE_WARM);
	/* no CPU copies it */
	t_eq_int(variant_of_view(plan, 0).threads, 0);
}

HOLDS("a variant that changes nothing of its test is no plan") {
	struct cs_plan_request req = request(2, "peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_plan *plan;
	struct cs_plan_matrix *matrix;
	struct cs_transfer *t;
	struct cs_err err = { "" };

	req.vary.caches = 1u << CS_CACHE_COLD;
	refused(&req,
		"--set cache: none of the chosen tests copies from or to host memory");
	req.vary.caches = 0;
	plan = built(&req);
	matrix = (struct cs_plan_matrix *)((char *)plan + plan->matrices_at);
	t = (struct cs_transfer *)((char *)plan + plan->transfers_at);
	matrix->variant.cache = CS_CACHE_COLD;
	for (uint32_t k = 0; k < plan->n_transfers; k++)
		t[k].variant.cache = CS_CACHE_COLD;
	plan->id = cs_plan_hash(plan);
	t_eq_int(cs_plan_validate(plan, plan->total_bytes, &err), -1);
	t_has(err.text, "matrix 0 is of test");
}

HOLDS("pairs are drawn") {
	struct cs_plan_request req = request(6, "peer.ce.write.random",
					     CS_BACKEND_CUDA);
	struct cs_plan *plan;
	int most = 0;

	req.set.random = 3;
	plan = built(&req);
	t_eq_int(cs_plan_matrix_at(plan, 0)->steps, 18);
	for (int a = 0; a < 6; a++)
		for (int b = 0; b < 6; b++)
			if (times_measured(plan, 0, a, b) > most)
				most = times_measured(plan, 0, a, b);
	t_eq_int(most, 1);
}

HOLDS("small copies of kernels are spread") {
	struct cs_plan *plan = plan_of(2, "local.sm.copy.alone,local.ce.copy.alone",
				       CS_BACKEND_CUDA);
	const struct cs_transfer *t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);

	for (uint32_t i = 0; i < plan->n_transfers; i++)
		t_eq_int(cs_transfer_span(plan, &t[i]),
			 t[i].method == CS_METHOD_SM ? 1 << 30 : 64 << 20);
}

HOLDS("what cannot be planned is refused with the reason") {
	struct cs_plan_request good = request(4, "peer.*", CS_BACKEND_CUDA), bad;
	static const struct cs_choices none;

	bad = good, bad.n_agents = 1;
	refused(&bad, "peer.ce.write.pair and 96 more: need two GPUs, and there is 1");
	bad = request(1, "peer.ce.write.pair", CS_BACKEND_CUDA);
	refused(&bad, "peer.ce.write.pair: needs two GPUs, and there is 1");
	bad = request(2, "peer.ce.write.shift", CS_BACKEND_CUDA);
	bad.set.shift = 2;
	refused(&bad, "peer.ce.write.shift: needs more GPUs, and there are 2");
	good = request(4, "peer.*", CS_BACKEND_CUDA);
	bad = good, bad.n_agents = 0;
	refused(&bad, "a plan needs at least 1 GPU or arena");
	bad = good, bad.set.last_bytes = 4096, bad.set.growth = 2;
	refused(&bad, "a sweep from 67108864 to 4096 bytes by 2");
	bad = good, bad.set.last_bytes = 128 << 20, bad.set.growth = 1;
	refused(&bad, "a sweep from 67108864 to 134217728 bytes by 1");
	bad = good, bad.n_agents = 65;
	refused(&bad, "cannot measure between 65 agents: at most 64 are possible");
	bad = good, bad.chosen = &none;
	refused(&bad, "no test is chosen (see --list)");
	bad = good, bad.set.copy_bytes = 0;
	refused(&bad, "copy size of 0 bytes: it must be a multiple of 16, above 0 "
		      "and at most 1024 TiB");
	bad = good, bad.set.copy_bytes = 4100;
	refused(&bad, "copy size of 4100 bytes: it must be a multiple of 16, above 0 "
		      "and at most 1024 TiB");
	bad = good, bad.set.copy_bytes = UINT64_MAX - 15;
	refused(&bad, "copy size of 18446744073709551600 bytes: it must be a "
		      "multiple of 16, above 0 and at most 1024 TiB");
	bad = good, bad.set.precision = NAN;
	refused(&bad, "precision or a time limit is negative or not a number");
	bad = good, bad.set.via = CS_TRANSPORTS;
	refused(&bad, "unknown transport 5 between agents of backend 0");
	bad = good, bad.set.via = CS_TRANSPORT_IPC, bad.set.backend = CS_BACKEND_CPU;
	refused(&bad, "unknown transport 2 between agents of backend 1");
	bad = good, bad.set.via = CS_TRANSPORT_STAGED;
	refused(&bad, "test 'peer.ce.write.pair' is of another --via");
	bad = good, bad.set.backend = CS_BACKEND_CPU;
	refused(&bad, "test 'peer.ce.write.pair' is of the other backend");
	bad = request(64, "h2d.ce.pinned.bidiload", CS_BACKEND_CUDA);
	bad.set.numa = UINT64_MAX >> 1;
	bad.set.last_bytes = (uint64_t)64 << 40;
	bad.set.growth = 1.05;
	refused(&bad, "h2d.ce.pinned.bidiload: a plan of 37159 steps and 4756316 "
		      "transfers would be larger than 256 MiB: ask for fewer tests, "
		      "sizes or NUMA nodes");
}

HOLDS("another transport is another plan") {
	struct cs_plan_request req = request(4, "peer.ce.*", CS_BACKEND_CUDA);
	struct cs_plan *plan[2];

	plan[0] = built(&req);
	req.set.via = CS_TRANSPORT_FD;
	plan[1] = built(&req);
	t_ok(plan[0]->id != plan[1]->id);
}

HOLDS("a plan travels as bytes") {
	for (int n = 2; n <= CS_MAX_AGENTS; n += n < 16 ? 1 : 16) {
		struct cs_plan *plan = plan_of(n, "*", CS_BACKEND_CPU);
		struct cs_err err = { "" };
		size_t bytes = plan->total_bytes;
		void *copy = malloc(bytes);

		memcpy(copy, plan, bytes);
		memset(plan, 0xff, bytes);
		t_eq_int(cs_plan_validate(copy, bytes, &err), 0);
		t_eq_str(err.text, "");
		each_cell_is_measured_once(copy, 3);
		free(copy);
	}
}

/* ---- bytes that are no plan ---- */

/* Give changed bytes the id that fits, as somebody who wants to be believed
 * would: FNV-1a of what follows the id. */
static void seal(struct cs_plan *plan, size_t bytes)
{
	const unsigned char *all = (const unsigned char *)plan;
	size_t i = offsetof(struct cs_plan, n_agents);
	uint64_t hash = 0xcbf29ce484222325u;

	for (; i < bytes; i++)
		hash = (hash ^ all[i]) * 0x100000001b3u;
	plan->id = hash;
}

/* A block of just these bytes, so that a sanitizer sees every look beyond. */
static struct cs_plan *copy_of(const struct cs_plan *plan, size_t bytes)
{
	struct cs_plan *copy = malloc(bytes);

	memcpy(copy, plan, bytes);
	return copy;
}

/* A plan that was believed must be safe to use. */
static void use(const struct cs_plan *plan)
{
	struct cs_arena_layout layout;

	EACH_STEP(plan, step) {
		t_ok(cs_plan_test(plan, step)->name != NULL);
		t_ok(cs_step_applies(plan, step, (int)plan->n_agents) ||
		     cs_step_applies(plan, step, 1));
	}
	for (int a = 0; a < (int)plan->n_agents; a++) {
		cs_plan_arena(plan, a, (int)plan->n_agents, UINT64_MAX, &layout);
		t_ok(layout.total_bytes >= layout.src_bytes);
	}
	cs_plan_estimate_s(plan, 400);
}

HOLDS("every changed byte is seen") {
	struct cs_plan *plan = plan_of(3, MIXED, CS_BACKEND_CUDA);
	size_t bytes = plan->total_bytes;
	struct cs_err err;

	for (size_t i = 0; i < bytes; i++) {
		struct cs_plan *bad = copy_of(plan, bytes);

		((unsigned char *)bad)[i] ^= 0xff;
		t_eq_int(cs_plan_validate(bad, bytes, &err), -1);
		free(bad);
	}
}

/* Outside the settings and the order of steps there is nothing to change
 * without being seen; inside, what is believed must be safe. */
HOLDS("a change with an id that fits is refused or harmless") {
	static const unsigned char change[] = { 0xff, 0x01, 0x80, 0x02, 0x7f };
	struct cs_plan *plan = plan_of(3, MIXED, CS_BACKEND_CUDA);
	size_t bytes = plan->total_bytes;
	struct cs_err err;

	for (size_t i = 0; i < bytes; i++) {
		for (size_t c = 0; c < sizeof(change); c++) {
			struct cs_plan *bad = copy_of(plan, bytes);

			((unsigned char *)bad)[i] ^= change[c];
			if (i < offsetof(struct cs_plan, id) ||
			    i >= offsetof(struct cs_plan, n_agents))
				seal(bad, bytes);
			if (!cs_plan_validate(bad, bytes, &err))
				use(bad);
			free(bad);
		}
	}
	t_eq_int(cs_plan_validate(plan, bytes, NULL), 0);
}

HOLDS("a cut at every length is seen") {
	struct cs_plan *plan = plan_of(3, MIXED, CS_BACKEND_CUDA);
	size_t bytes = plan->total_bytes;
	struct cs_err err;

	for (size_t n = 0; n < bytes; n++) {
		struct cs_plan *cut = copy_of(plan, n);

		t_eq_int(cs_plan_validate(cut, n, &err), -1);
		if (n >= sizeof(*cut)) { /* cut, and made to say so */
			cut->total_bytes = n;
			seal(cut, n);
			t_eq_int(cs_plan_validate(cut, n, &err), -1);
		}
		free(cut);
	}
}

HOLDS("bytes behind a plan are seen") {
	struct cs_plan *plan = plan_of(3, MIXED, CS_BACKEND_CUDA);
	size_t bytes = plan->total_bytes;
	struct cs_plan *longer = calloc(1, bytes + 8);
	struct cs_err err;

	memcpy(longer, plan, bytes);
	t_eq_int(cs_plan_validate(longer, bytes + 8, &err), -1);
	longer->total_bytes = bytes + 8;
	seal(longer, bytes + 8);
	t_eq_int(cs_plan_validate(longer, bytes + 8, &err), -1);
	free(longer);
}

HOLDS("a plan at an odd address is refused") {
	struct cs_plan *plan = plan_of(3, MIXED, CS_BACKEND_CUDA);
	size_t bytes = plan->total_bytes;
	char *room = malloc(bytes + 8);
	struct cs_err err;

	for (size_t shift = 1; shift < 8; shift++) {
		memcpy(room + shift, plan, bytes);
		t_eq_int(cs_plan_validate(room + shift, bytes, &err), -1);
	}
	free(room);
}

/* Apply one lie to a sound plan of 3 agents, seal it, and want it refused. */
#define LIE(member, value) do {                                             \
	struct cs_plan *plan = plan_of(3, MIXED, CS_BACKEND_CUDA);             \
	struct cs_step *step = (struct cs_step *)cs_plan_step(plan, 0);      \
	struct cs_transfer *transfer =                                       \
		(struct cs_transfer *)cs_plan_transfer(plan, step, 0);       \
	struct cs_plan_matrix *matrix = (struct cs_plan_matrix *)cs_plan_matrix_at(plan, 0);      \
	size_t bytes_ = plan->total_bytes;                                   \
	struct cs_err err_;                                                  \
	(void)transfer, (void)matrix;                                          \
	member = value;                                                      \
	seal(plan, bytes_);                                                  \
	t_eq_int(cs_plan_validate(plan, bytes_, &err_), -1);                 \
} while (0)

HOLDS("a lying header is refused") {
	LIE(plan->magic, 0);
	LIE(plan->version, 1);
	LIE(plan->total_bytes, UINT64_MAX);
	LIE(plan->n_agents, 0);
	LIE(plan->n_agents, 2);
	LIE(plan->n_agents, 65);
	LIE(plan->n_agents, UINT32_MAX);
	LIE(plan->n_steps, 0);
	LIE(plan->n_steps, UINT32_MAX);
	LIE(plan->n_steps, 0x10000000u); /* times 16 is 0 in 32 bits */
	LIE(plan->n_transfers, UINT32_MAX);
	LIE(plan->n_matrices, 0);
	LIE(plan->n_matrices, UINT32_MAX);
	LIE(plan->steps_at, 0);
	LIE(plan->steps_at, plan->steps_at + 1);
	LIE(plan->transfers_at, UINT32_MAX);
	LIE(plan->matrices_at, plan->matrices_at - 8);
	LIE(plan->pad, 1);
	LIE(plan->set.copy_bytes, 8);
	LIE(plan->set.precision, NAN);
	LIE(plan->set.cell_limit_s, INFINITY);
	LIE(plan->set.start_limit_s, -1);
	LIE(plan->set.verify, 3);
	LIE(plan->set.backend, CS_BACKEND_CPU);
	LIE(plan->set.backend, 2);
}

HOLDS("a lying step, transfer or matrix is refused") {
	LIE(step->first, 1);
	LIE(step->first, UINT32_MAX);
	LIE(step->count, 0);
	LIE(step->count, UINT32_MAX);
	LIE(step->matrix, 4);
	LIE(step->matrix, UINT32_MAX);
	LIE(step->flags, CS_STEP_CONTROL);
	LIE(step->flags, 2);
	LIE(matrix->test, matrix[1].test);
	LIE(matrix->bytes, 8);
	LIE(matrix->test, UINT32_MAX);
	LIE(matrix->steps, matrix->steps + 1);
	LIE(transfer->src.kind, CS_ENDPOINT_HOST);
	LIE(transfer->dst.memory, CS_MEM_ARENA);
	LIE(transfer->src.memory, 200);
	LIE(transfer->src.index, 3);
	LIE(transfer->dst.index, UINT16_MAX);
	LIE(transfer->dst.index, transfer->src.index);
	LIE(transfer->issuer, 3);
	LIE(transfer->method, CS_METHOD_CPU);
	LIE(transfer->op, !transfer->op);
	LIE(transfer->flags, 2);
	LIE(transfer->flags, 1); /* nothing measured */
	LIE(transfer->src_slot, 2);
	LIE(transfer->dst_slot, CS_STEP_MAX);
	LIE(transfer->bytes, 0);
	LIE(transfer->bytes, UINT64_MAX - 15);
	LIE(transfer->bytes, 4096);
}

/* ---- what agents ask of a plan ---- */

HOLDS("a smaller node leaves out the steps of others") {
	struct cs_plan *plan = plan_of(8, "peer.ce.write.pair", CS_BACKEND_CUDA);
	int want;

	for (int n = 0; n <= 9; n++) {
		int applies = 0;

		for (uint32_t s = 0; s < plan->n_steps; s++) {
			const struct cs_step *step = cs_plan_step(plan, s);

			if (!(step->flags & CS_STEP_CONTROL))
				applies += cs_step_applies(plan, step, n);
		}
		want = n < 8 ? n * (n - 1) : 56;
		t_eq_int(applies, want);
	}
}

static void arena_is(uint64_t copy_bytes, uint64_t dst_at)
{
	struct cs_plan_request req = request(3, "peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_arena_layout layout;
	struct cs_plan *plan;

	req.set.copy_bytes = copy_bytes;
	plan = built(&req);
	for (int a = 0; a < 3; a++) {
		cs_plan_arena(plan, a, (int)plan->n_agents, UINT64_MAX, &layout);
		t_eq_int(layout.src_bytes, copy_bytes);
		t_eq_int(layout.dst_at, dst_at);
		t_eq_int(layout.dst_bytes, copy_bytes);
		t_eq_int(layout.total_bytes, dst_at + copy_bytes);
	}
	cs_plan_arena(plan, 3, (int)plan->n_agents, UINT64_MAX, &layout);
	t_eq_int(layout.total_bytes, 0);
}

HOLDS("an arena holds source and destination") {
	arena_is(16, 2 << 20);
	arena_is(2 << 20, 2 << 20);
	arena_is((2 << 20) + 16, 4 << 20);
	arena_is(512 << 20, 512 << 20);
	arena_is(CS_COPY_MAX, CS_COPY_MAX);
}

HOLDS("every issuer needs the arenas of its peers") {
	struct cs_plan *plan = plan_of(4, "peer.cpu.read.pair", CS_BACKEND_CPU);

	for (int a = 0; a < 5; a++)
		for (int b = 0; b < 5; b++)
			t_eq_int(cs_plan_needs_peer(plan, a, b, 0),
				 a != b && a < 4 && b < 4);
}

static double estimate(uint64_t copy_bytes, enum cs_verify verify, double gbs)
{
	struct cs_plan_request req = request(2, "peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_plan *plan;
	double seconds;

	req.set.copy_bytes = copy_bytes;
	req.set.verify = verify;
	plan = built(&req);
	seconds = cs_plan_estimate_s(plan, gbs);
	return seconds;
}

HOLDS("an estimate follows the rules of sampling") {
	const uint64_t large = 512 << 20;
	const double bytes = 512 << 20;

	/* 2 steps of 8 samples: 4 copies of 1.34 ms, a check of 0.27 ms */
	t_near(estimate(large, CS_VERIFY_ALL, 400),
	       2 * (1e-3 + 8 * (4 * bytes / 400e9 + bytes / 2000e9)), 1e-12);
	/* one copy of 10 ms */
	t_near(estimate(large, CS_VERIFY_OFF, 50), 2 * (1e-3 + 8 * bytes / 50e9),
	       1e-12);
	/* copies end at 16 from 1 MiB on, at 512 below */
	t_near(estimate(1 << 20, CS_VERIFY_OFF, 400),
	       2 * (1e-3 + 8 * 16 * 1048576 / 400e9), 1e-12);
	t_near(estimate(1 << 12, CS_VERIFY_OFF, 400),
	       2 * (1e-3 + 8 * 512 * 4096 / 400e9), 1e-12);
	t_ok(isnan(estimate(large, CS_VERIFY_ALL, 0)));
	t_ok(isnan(estimate(large, CS_VERIFY_ALL, NAN)));
}

static void pairs_stand_in_rounds(const char *test, int n_agents,
				  enum cs_schedule schedule, uint32_t pairs,
				  uint32_t rounds)
{
	struct cs_plan_request req = request(n_agents, test,
					     strstr(test, "cpu") ? CS_BACKEND_CPU :
								   CS_BACKEND_CUDA);
	struct cs_plan *plan;

	req.set.schedule = schedule;
	req.set.within_rounds = 1;
	plan = built(&req);
	if (!strncmp(test, "peer.", 5))
		each_cell_is_measured_once(plan, 0);
	rounds_are(plan, pairs, rounds);
}

HOLDS("pairs stand in rounds of which none has a GPU twice, from 16 pairs on") {
	pairs_stand_in_rounds("peer.ce.write.pair", 8, CS_SCHEDULE_AUTO, 4, 14);
	pairs_stand_in_rounds("peer.ce.write.bidi", 8, CS_SCHEDULE_AUTO, 4, 7);
	pairs_stand_in_rounds("peer.sm.read.pair", 5, CS_SCHEDULE_AUTO, 2, 10);
	pairs_stand_in_rounds("peer.ce.write.pair", 4, CS_SCHEDULE_AUTO, 0, 0);
	pairs_stand_in_rounds("peer.ce.write.pair", 4, CS_SCHEDULE_PARALLEL, 2, 6);
	pairs_stand_in_rounds("peer.ce.write.pair", 3, CS_SCHEDULE_PARALLEL, 0, 0);
	pairs_stand_in_rounds("peer.ce.write.pair", 8, CS_SCHEDULE_SERIAL, 0, 0);
	pairs_stand_in_rounds("peer.chase.stride.pair", 8, CS_SCHEDULE_AUTO, 0, 0);
	/* arenas share the memory and the CPUs of the host */
	pairs_stand_in_rounds("peer.cpu.write.pair", 8, CS_SCHEDULE_PARALLEL, 0, 0);
	pairs_stand_in_rounds("peer.ce.write.pair", 64, CS_SCHEDULE_AUTO, 32, 126);
}

HOLDS("within GPUs all stand in a round where that saves four cells of a test") {
	pairs_stand_in_rounds("local.sm.read.alone", 8, CS_SCHEDULE_AUTO, 8, 1);
	pairs_stand_in_rounds("local.fma.fp64.alone", 6, CS_SCHEDULE_AUTO, 6, 1);
	pairs_stand_in_rounds("local.chase.stride.alone", 5, CS_SCHEDULE_AUTO, 0, 0);
	pairs_stand_in_rounds("local.sm.read.alone", 2, CS_SCHEDULE_PARALLEL, 2, 1);
	pairs_stand_in_rounds("local.sm.read.alone", 8, CS_SCHEDULE_SERIAL, 0, 0);
	/* they share the host's memory or the driver's locks */
	pairs_stand_in_rounds("h2d.ce.pinned.pair", 8, CS_SCHEDULE_PARALLEL, 0, 0);
	pairs_stand_in_rounds("local.sm.launch.alone", 8, CS_SCHEDULE_PARALLEL, 0, 0);
	pairs_stand_in_rounds("local.overlap.copy.alone", 8, CS_SCHEDULE_PARALLEL, 0,
			      0);
}

HOLDS("a round with an agent in two steps is a damaged plan") {
	struct cs_plan *plan = plan_of(4, "peer.ce.write.pair", CS_BACKEND_CUDA);
	struct cs_err err = { "" };

	for (uint32_t s = 0; s < plan->n_steps; s++)
		((struct cs_step *)(uintptr_t)cs_plan_step(plan, s))->round = 1;
	plan->id = cs_plan_hash(plan);
	t_eq_int(cs_plan_validate(plan, plan->total_bytes, &err), -1);
	t_has(err.text, "cannot run beside the others of its round");
}

/* Which setting reads otherwise after the word at `at` has changed; -1 none. */
static int reads_differently(const struct cs_settings *set, size_t at)
{
	struct cs_settings other = *set;
	char a[CS_SETTING], b[CS_SETTING];
	size_t i = 0;
	uint32_t word;

	memcpy(&word, (char *)&other + at, sizeof(word));
	word ^= 1;
	memcpy((char *)&other + at, &word, sizeof(word));
	return cs_settings_differ(set, &other, &i, a, b) ? (int)i : -1;
}

/* A new one that no comparison and no resumed journal would name. */
HOLDS("every setting reads differently when it is") {
	/* numbers of which the least change is seen in ten digits */
	const struct cs_settings set = { .last_bytes = 1 << 20,
					 .copy_bytes = 16,
					 .spread_bytes = 2 };

	for (size_t at = 0; at < sizeof(set); at += sizeof(uint32_t)) {
		int unread = at / 8 == offsetof(struct cs_settings, start_limit_s) /
					       8 ||
			     /* it tells versions apart, not runs */
			     at == offsetof(struct cs_settings, within_rounds) ||
			     (at > offsetof(struct cs_settings, filter) &&
			      at < offsetof(struct cs_settings, gpus)); /* its end */

		if (!t_ok((reads_differently(&set, at) < 0) == unread))
			t_eq_int(at, -1);
	}
}

HOLDS("matrices between nodes have no steps, and a cell for each partner that is met") {
	struct cs_plan_request req = request(2, "nethost.*", CS_BACKEND_CPU);

	for (uint32_t asked = 0; asked < 4; asked++)
		for (uint32_t nodes = 1; nodes < 8; nodes++) {
			struct cs_plan *plan;
			uint32_t *round;

			req.set.rounds = (uint16_t)asked;
			plan = built(&req);
			t_eq_int(plan->n_steps, 0);
			t_eq_int(plan->n_matrices, 8);
			t_eq_int(cs_plan_first_between(plan), 0);
			t_must(!cs_rounds_draw(plan->set.seed, nodes, &round, NULL));
			for (uint32_t v = 0; v < 8; v++) {
				const struct cs_test *test = cs_plan_matrix_test(plan,
										 v);
				size_t sent = 0;

				for (uint32_t i = 0;
				     i < cs_rounds_with(test, 0, nodes, asked); i++) {
					const struct cs_round of = { i, round[i] };
					uint32_t n = 0;

					for (uint32_t node = 0; node < nodes; node++)
						n += cs_round_part(test, 0, nodes, of,
								   node)
							     .to >= 0;
					t_eq_int(cs_round_senders(test, 0, nodes, of),
						 n);
					sent += n;
				}
				t_eq_int(cs_planned_between(plan, v, nodes), sent);
			}
			free(round);
		}
}
