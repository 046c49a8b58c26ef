/* What the coordinator costs: microseconds per step, for 2 to 32 agents of this
 * process that copy 16 bytes of host memory.  Neither must grow with the number
 * of steps: each step orders only the agents that it names.
 *
 *	agents  steps  samples/step  us/step  cpu us/step  ratio to the size before
 *
 * "us" is wall time, with the agents' threads in it; "cpu us", whose ratio is
 * shown, is the coordinator's own thread. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "node/agent/agent.h"
#include "node/coordinator/coordinator.h"
#include "plan/choose.h"

#define AGENTS_MAX 32
#define ROUND_S 1.0 /* plans of one size are repeated for so long */

struct node {
	struct cs_plan *plan;
	struct cs_board_map board;
	struct cs_topo *topo;
	struct cs_agent *agent[AGENTS_MAX];
	int n_agents;
	struct cs_coordinator co;
	long rows, samples; /* good rows */
};

static void on_row(void *ctx, const struct cs_row *row, const double *samples)
{
	struct node *node = ctx;

	(void)samples;
	node->rows += row->status == CS_OK;
	node->samples += row->n_samples + row->discarded;
}

static void on_finding(void *ctx, const struct cs_finding *finding)
{
	(void)ctx;
	fprintf(stderr, "bench_coordinator: %s: %s\n",
		cs_finding_line(finding->id)->id, finding->text);
}

static int on_watch(void *ctx)
{
	(void)ctx;
	return 0;
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	(void)ctx;
	(void)done;
	(void)all;
}

/* Any two samples agree, so that every cell takes as many. */
static int build(struct node *node, struct cs_err *err)
{
	struct cs_choices chosen = { .n = 0 };
	struct cs_plan_request req = {
		.n_agents = node->n_agents,
		.chosen = &chosen,
		.set = { .copy_bytes = 16,
			 .seed = 1,
			 .precision = 1e6,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .verify = CS_VERIFY_OFF,
			 .backend = CS_BACKEND_CPU },
	};

	return cs_tests_choose("peer.cpu.write.pair", CS_BACKEND_CPU,
			       CS_TRANSPORT_AUTO, &chosen, err) ||
	       cs_plan_build(&req, &node->plan, err);
}

static int start(struct node *node, const struct cs_coordinator_hooks *hooks,
		 struct cs_err *err)
{
	struct cs_agent_args args = { .backend = &cs_backend_cpu,
				      .bind = CS_BIND_NONE };

	if (build(node, err) || cs_topo_open(NULL, &node->topo, err) ||
	    cs_board_create(node->plan, node->n_agents, 0, &node->board, err))
		return -1;
	args.topo = node->topo;
	for (int i = 0; i < node->n_agents; i++) {
		cs_agent_facts_init(&args.facts);
		args.facts.index = i;
		if (cs_agent_start(&args, &node->agent[i], err))
			return -1;
		cs_agent_attach(node->agent[i], node->board.at);
	}
	cs_coordinator_init(&node->co, node->board.at, 0, hooks);
	cs_coordinator_open(&node->co);
	cs_coordinator_setup(&node->co);
	return 0;
}

static void finish(struct node *node)
{
	cs_coordinator_dismiss(&node->co);
	for (int i = 0; i < node->n_agents; i++)
		cs_agent_join(node->agent[i], 5);
	cs_coordinator_close(&node->co);
	cs_board_release(&node->board);
	cs_topo_close(node->topo);
	free(node->plan);
}

static double now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

struct cost {
	double wall, own; /* microseconds per step */
	double samples;	  /* per step */
	uint32_t steps;
};

/* One plan, once.  Every cell must be good. */
static int run_once(int n_agents, struct cost *cost)
{
	struct node node = { .n_agents = n_agents };
	struct cs_coordinator_hooks hooks = { &node, on_row, on_finding, on_watch,
					      on_progress };
	double wall, own, steps;
	struct cs_err err;
	int whole;

	if (start(&node, &hooks, &err)) {
		fprintf(stderr, "bench_coordinator: %s\n", err.text);
		return -1;
	}
	wall = now_us(CLOCK_MONOTONIC);
	own = now_us(CLOCK_THREAD_CPUTIME_ID);
	whole = cs_coordinator_run(&node.co);
	own = now_us(CLOCK_THREAD_CPUTIME_ID) - own;
	wall = now_us(CLOCK_MONOTONIC) - wall;

	steps = node.plan->n_steps;
	*cost = (struct cost){ wall / steps, own / steps,
			       (double)node.samples / steps, node.plan->n_steps };
	whole = whole && node.rows == node.plan->n_steps;
	finish(&node);
	if (!whole)
		fprintf(stderr, "bench_coordinator: not every cell is good\n");
	return whole ? 0 : -1;
}

/* The run of least own time among those that fit into ROUND_S. */
static int measure(int n_agents, struct cost *least)
{
	double begin = now_us(CLOCK_MONOTONIC);
	struct cost cost;

	*least = (struct cost){ .own = 1e9 };
	do {
		if (run_once(n_agents, &cost))
			return -1;
		if (cost.own < least->own)
			*least = cost;
	} while (now_us(CLOCK_MONOTONIC) - begin < ROUND_S * 1e6);
	return 0;
}

int main(void)
{
	struct cost cost;
	double before = 0;

	printf("agents  steps  samples/step  us/step  cpu us/step  ratio\n");
	for (int n = 2; n <= AGENTS_MAX; n *= 2) {
		if (measure(n, &cost))
			return 1;
		printf("%6d %6u %13.1f %8.1f %12.2f", n, cost.steps, cost.samples,
		       cost.wall, cost.own);
		if (before > 0)
			printf(" %6.2f", cost.own / before);
		printf("\n");
		before = cost.own;
	}
	return 0;
}
