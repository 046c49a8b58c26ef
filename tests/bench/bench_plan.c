/* How long it takes to plan: microseconds per step for 2 to 64 agents, which
 * must not grow with the number of steps.
 *
 *	agents  steps  us/build  us/step  ratio to the size before */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plan/choose.h"
#include "plan/plan.h"

#define ROUND_S 0.2 /* builds of one size are repeated for so long */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of building and checking once, the least of many; -1 on error. */
static double build_s(const struct cs_plan_request *req, uint32_t *n_steps)
{
	double begin = now_s(), least = 1e9;

	while (now_s() - begin < ROUND_S) {
		double start = now_s(), seconds;
		struct cs_plan *plan;
		struct cs_err err;

		if (cs_plan_build(req, &plan, &err)) {
			fprintf(stderr, "bench_plan: %s\n", err.text);
			return -1;
		}
		if (cs_plan_validate(plan, plan->total_bytes, &err)) {
			fprintf(stderr, "bench_plan: %s\n", err.text);
			free(plan);
			return -1;
		}
		seconds = now_s() - start;
		if (seconds < least)
			least = seconds;
		*n_steps = plan->n_steps;
		free(plan);
	}
	return least;
}

int main(void)
{
	struct cs_choices chosen = { .n = 0 };
	struct cs_plan_request req = {
		.chosen = &chosen,
		.set = { .copy_bytes = 512 << 20,
			 .seed = 1,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .backend = CS_BACKEND_CUDA },
	};
	struct cs_err err;
	double before = 0;

	if (cs_tests_choose("*", CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen, &err)) {
		fprintf(stderr, "bench_plan: %s\n", err.text);
		return 1;
	}
	printf("agents  steps  us/build  us/step  ratio\n");
	for (req.n_agents = 2; req.n_agents <= 64; req.n_agents *= 2) {
		uint32_t n_steps = 0;
		double us = 1e6 * build_s(&req, &n_steps), each;

		if (us < 0)
			return 1;
		each = us / n_steps;
		printf("%6d %6u %9.1f %8.4f", req.n_agents, n_steps, us, each);
		if (before > 0)
			printf(" %6.2f", each / before);
		printf("\n");
		before = each;
	}
	return 0;
}
