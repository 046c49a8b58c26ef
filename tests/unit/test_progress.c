/* How long a run still takes. */
#include "command/progress.h"
#include "planned.h"

#define TESTS "peer.ce.write.pair,h2d.demand.managed.pair,local.sm.copy.alone"

static struct cs_progress progress;
static struct cs_plan *plan;

/* Steps of a test take as long as each other, those of managed memory twenty times as
 * long as others. */
static double seconds_of(uint32_t s)
{
	const struct cs_test *test = cs_plan_test(plan, cs_plan_step(plan, s));

	return test->memory == CS_MEM_MANAGED ? 1 : 0.05;
}

static void begin(void)
{
	const struct cs_plan_request req = {
		.n_agents = 8,
		.set = { .copy_bytes = 1 << 20,
			 .seed = 8,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .numa_nodes = 1,
			 .backend = CS_BACKEND_CUDA },
	};

	plan = planned(req, TESTS);
	cs_progress_init(&progress, 100, 1);
	progress.plan = plan;
}

HOLDS("what is left follows the steps of each test, not their number") {
	double now_s = 200, left = 0; /* after the start, which takes long */

	begin();
	for (uint32_t s = 0; s < plan->n_steps; s++)
		left += seconds_of(s);
	cs_progress_step(&progress, 0, plan->n_steps, 0, now_s);
	t_ok(isnan(cs_progress_left(&progress)));
	for (uint32_t s = 0; s < plan->n_steps; s++) {
		now_s += seconds_of(s);
		left -= seconds_of(s);
		cs_progress_step(&progress, s + 1, plan->n_steps, 0, now_s);
		if (s >= plan->n_steps / 5)
			t_ok(fabs(cs_progress_left(&progress) - left) <=
			     0.2 * left + 1e-9);
	}
}

HOLDS("a test that has not begun takes as long as is usual for its kind") {
	double links = 0;
	uint32_t s;

	begin();
	cs_progress_step(&progress, 0, plan->n_steps, 0, 200);
	for (s = 0; seconds_of(s) < 1; s++)
		cs_progress_step(&progress, s + 1, plan->n_steps, 0,
				 200 + 0.05 * (s + 1));
	t_ok(s > 0);
	for (uint32_t rest = s; rest < plan->n_steps; rest++)
		links += 0.05;
	t_ok(cs_progress_left(&progress) > 1.1 * links);
}

HOLDS("of turns, and of a run without a plan, it is not known") {
	begin();
	cs_progress_step(&progress, 0, plan->n_steps + 1, 0, 200);
	cs_progress_step(&progress, 1, plan->n_steps + 1, 0, 201);
	t_ok(isnan(cs_progress_left(&progress)));
	progress.plan = NULL;
	cs_progress_step(&progress, 2, 10, 0, 202);
	t_ok(isnan(cs_progress_left(&progress)));
}

HOLDS("passes are counted, and end with the duration") {
	begin();
	progress.duration_s = 60;
	cs_progress_step(&progress, 0, 2, 0, 200);
	t_eq_int(progress.pass, 1);
	cs_progress_step(&progress, 1, 2, 0, 201);
	cs_progress_step(&progress, 2, 2, 0, 202);
	t_eq_int(progress.pass, 1);
	cs_progress_step(&progress, 1, 2, 0, 203);
	t_eq_int(progress.pass, 2);
	t_near(progress.end_s, 260, 0);
}
