/* bench_collect.c - rank 0's share of a fleet in one job: what a node's facts, rows and
 * words cost it, in bytes and CPU.
 *
 *	mpirun -np 2 bench_collect [NODES [GPUS [ROWS [SAMPLES]]]]
 *
 * Rank 1 says what that many nodes would: facts before and after, and rows between.
 * Rank 0 takes them as a job does, and nothing else; the journal that it may write is
 * timed by bench_fleet -j. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "job/collect.h"

static int nodes = 1000, gpus = 8, rows = 226, samples = 8;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_node(void *ctx, int node)
{
	(void)node;
	++*(long *)ctx;
}

static void on_index(void *ctx, size_t index)
{
	(void)ctx;
	(void)index;
}

static void say_node(struct cs_collect *c, struct cs_run_node *nd, int index)
{
	struct cs_row row = { .node = (uint32_t)index,
			      .n_samples = (uint32_t)samples };
	double x[64] = { 0 };

	cs_collect_node(c, index, nd);
	for (int i = 0; i < rows; i++)
		cs_collect_row(c, &row, x);
	cs_collect_node(c, index, nd);
	cs_comm_flush(c->comm, 10);
}

static int speak(struct cs_collect *c)
{
	struct cs_run_node *nd = calloc(1, sizeof(*nd));

	if (!nd)
		return -1;
	cs_node_facts_init(&nd->facts);
	nd->facts.n_agents = nd->facts.n_known_gpus = nd->facts.n_ranks = gpus;
	if (cs_node_make_agents(nd, gpus, NULL) || cs_node_make_gpus(nd, gpus, NULL) ||
	    cs_node_make_ranks(nd, gpus, NULL) || cs_node_make_ways(nd, NULL))
		return -1;
	for (int i = 0; i < nodes; i++)
		say_node(c, nd, nodes + i);
	cs_collect_done(c, CS_NODE_COMPLETE);
	cs_comm_flush(c->comm, 10);
	return 0;
}

static void hear(struct cs_collect *c, const long *told)
{
	struct timespec nap = { 0, 1000000 };
	double began = cpu_s(), took;

	c->ended[0] = CS_NODE_COMPLETE;
	while (!cs_collect_state(c)) {
		cs_collect_drain(c, 60, 0);
		nanosleep(&nap, NULL);
	}
	took = cpu_s() - began;
	printf("%d nodes of %d GPUs told of themselves %ld times and sent %zu rows of %d samples\n",
	       nodes, gpus, *told, cs_rows_count(&c->run->rows), samples);
	printf("%.2f s of rank 0's CPU: %.2f ms a node, %.2f us a row with its share of the rest\n",
	       took, 1e3 * took / nodes, 1e6 * took / nodes / rows);
	printf("a row is %zu bytes\n",
	       sizeof(struct cs_row) + (size_t)samples * sizeof(double));
}

static int start(struct cs_collect *c, struct cs_comm *comm, struct cs_err *err)
{
	comm->version = comm->commit = "";
	if (cs_comm_start(comm, 1, err))
		return -1;
	setenv("CS_TEST_SCOPE", comm->rank ? "one" : "none", 1);
	if (cs_comm_split(comm, err))
		return -1;
	if (comm->n_nodes != 2)
		return cs_err_set(err, "start it with mpirun -np 2");
	c->rank_of_node = calloc(2, sizeof(int));
	c->heard_s = calloc(2, sizeof(double));
	c->ended = calloc(2, 1);
	c->run->node = calloc(2 * (size_t)nodes, sizeof(*c->run->node));
	if (!c->rank_of_node || !c->heard_s || !c->ended || !c->run->node)
		return cs_err_set(err, "no memory");
	c->rank_of_node[1] = 1;
	return 0;
}

int main(int argc, char **argv)
{
	int *const number[] = { &nodes, &gpus, &rows, &samples };
	struct cs_run run = { .n_ranks = 2 };
	struct cs_comm comm = { .limit_s = 60, .end_s = INFINITY };
	long told = 0;
	struct cs_collect_hooks hooks = { &told, on_node, on_index, on_index };
	struct cs_collect c = { .comm = &comm, .run = &run, .hooks = &hooks };
	struct cs_err err;

	for (int i = 1; i < argc && i <= 4; i++)
		*number[i - 1] = atoi(argv[i]);
	if (nodes < 1 || gpus < 1 || gpus > CS_MAX_AGENTS || rows < 1 ||
	    samples < 0 || samples > 64) {
		fprintf(stderr,
			"usage: bench_collect [NODES [GPUS [ROWS [SAMPLES]]]]\n");
		return 64;
	}
	cs_rows_init(&run.rows);
	run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	c.placements = nodes;
	if (start(&c, &comm, &err)) {
		fprintf(stderr, "bench_collect: %s\n", err.text);
		return 1;
	}
	if (comm.rank)
		speak(&c);
	else
		hear(&c, &told);
	return cs_comm_end(&comm, 10, &err) ? 1 : 0;
}
