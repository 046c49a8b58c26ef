/* How often the healthy are accused and the sick are missed: simulated allocations, the
 * same in every run.
 *
 * A figure is usual x node x run, where logarithms of both factors have Student's
 * distribution with 5 degrees of freedom (tails as heavy as those of real fleets or
 * heavier), the spread between nodes 0.3 % and between runs 0.1 %. */
#include "config.h"

#include "check/cells.h"
#include "check/check.h"

#include <stdio.h>

#include "base/rng.h"
#include "tap.h"
#include "canned.h"

#define SEED 20261121
#define NODES 64
#define GPUS 8
#define ALLOCATIONS 500
#define BETWEEN_NODES 0.003
#define BETWEEN_RUNS 0.001
#define TESTS "peer.ce.write.pair,peer.ce.read.pair,h2d.ce.pinned.pair,d2h.ce.pinned.pair,local.ce.copy.alone"

static struct cs_rng rng = { SEED };

static double uniform(void)
{
	return ((double)(cs_rng_next(&rng) >> 11) + 0.5) / 9007199254740992.0;
}

/* Student's, 5 degrees of freedom, scaled to a standard deviation of 1: a normal
 * number over the root of the sum of five squares, of which two pairs come as
 * logarithms (Box and Muller). */
static double heavy(void)
{
	double radius = sqrt(-2 * log(uniform())), angle = 2 * acos(-1) * uniform();
	double one = radius * cos(angle), other = radius * sin(angle);
	double squares = other * other - 2 * log(uniform() * uniform());

	return one / sqrt(squares / 5) / sqrt(5. / 3);
}

static double usual(const struct cs_row *row)
{
	switch (cs_row_test(row)->path) {
	case CS_PATH_PEER:
		return canned_rate(row->what.src.index, row->what.dst.index);
	case CS_PATH_LOCAL:
		return 2085;
	case CS_PATH_H2D:
		/* sockets differ, on all nodes alike */
		return row->what.dst.index < GPUS / 2 ? 55.3 : 53.9;
	default:
		return 55.2;
	}
}

static void begin(struct canned *c, int nodes)
{
	canned_init(c, nodes, GPUS, 0, TESTS, 1);
	c->run.checks = CS_CHECK_OUTLIER | CS_CHECK_LINK;
}

/* New figures for all rows, and no findings. */
static void draw(struct canned *c)
{
	struct cs_row *row = c->run.rows.rows.data;
	double node[NODES][3];

	for (int i = 0; i < c->run.n_nodes; i++)
		for (int k = 0; k < 3; k++)
			node[i][k] = BETWEEN_NODES * heavy();
	for (size_t i = 0; i < c->run.rows.rows.n; i++) {
		enum cs_path path = cs_row_test(&row[i])->path;
		int kind = path == CS_PATH_PEER ? 0 : path == CS_PATH_LOCAL ? 1 : 2;

		row[i].stats.median = usual(&row[i]) *
			exp(node[row[i].node][kind] + BETWEEN_RUNS * heavy());
	}
	c->run.findings.n = 0;
}

static int warnings(const struct canned *c)
{
	const struct cs_finding *f = c->run.findings.data;
	int n = 0;

	for (size_t i = 0; i < c->run.findings.n; i++)
		n += f[i].severity >= CS_WARNING;
	return n;
}

static void healthy_allocations(void)
{
	struct canned c;
	struct cs_vec told;
	struct cs_err err;
	int warned = 0;

	begin(&c, NODES);
	for (int i = 0; i < ALLOCATIONS; i++) {
		draw(&c);
		t_eq_int(cs_cells_judge(&c.run, &told, &err), 0);
		cs_vec_release(&told);
		warned += warnings(&c) > 0;
	}
	printf("# %d of %d healthy allocations of %d nodes raise a warning\n", warned,
	       ALLOCATIONS, NODES);
	t_ok(warned <= 1);
	canned_release(&c);
}

static void healthy_nodes(void)
{
	struct canned c;
	struct cs_err err;
	uint32_t step[32];
	int again = 0, n = 10 * ALLOCATIONS;

	begin(&c, 1);
	for (int i = 0; i < n; i++) {
		draw(&c);
		again += cs_cells_again(&c.run, step, 32, &err) != 0;
	}
	printf("# %d of %d healthy nodes alone are looked at again\n", again, n);
	t_ok(again <= n / 1000);
	canned_release(&c);
}

/* One NVLink of 18 of one GPU is dead, and no counter says so. */
static void break_lane(struct canned *c, int node, int gpu)
{
	struct cs_row *row = c->run.rows.rows.data;

	for (size_t i = 0; i < c->run.rows.rows.n; i++)
		if ((int)row[i].node == node &&
		    cs_row_test(&row[i])->path == CS_PATH_PEER &&
		    (row[i].what.src.index == gpu || row[i].what.dst.index == gpu))
			row[i].stats.median *= 17. / 18;
}

static int is_found(const struct canned *c, int node, int gpu)
{
	const struct cs_finding *f = c->run.findings.data;
	int found = 0, others = 0;

	for (size_t i = 0; i < c->run.findings.n; i++) {
		int it = f[i].node == node && !strcmp(f[i].part, "gpu") &&
			 !strcmp(f[i].bus_id, c->run.node[node].agent[gpu].gpu.bus_id);

		found += it;
		others += !it && f[i].severity >= CS_WARNING;
	}
	return found == 1 && !others;
}

static void find_lanes(int nodes, int rounds)
{
	struct canned c;
	struct cs_vec told;
	struct cs_err err;
	int found = 0;

	begin(&c, nodes);
	for (int i = 0; i < rounds; i++) {
		int node = (int)cs_rng_below(&rng, (uint64_t)nodes);
		int gpu = (int)cs_rng_below(&rng, GPUS);

		draw(&c);
		break_lane(&c, node, gpu);
		t_eq_int(cs_cells_judge(&c.run, &told, &err), 0);
		cs_vec_release(&told);
		found += is_found(&c, node, gpu);
	}
	printf("# 1 dead NVLink of 18 on one of %d GPUs, and nothing else: found in %d of %d\n",
	       nodes * GPUS, found, rounds);
	t_ok(found >= 0.99 * rounds);
	canned_release(&c);
}

static void dead_lanes(void)
{
	find_lanes(NODES, ALLOCATIONS / 4);
	find_lanes(1, ALLOCATIONS);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "of 500 healthy allocations at most one raises a warning",
		  healthy_allocations },
		{ "a healthy node alone is looked at again once in a thousand runs at most",
		  healthy_nodes },
		{ "one dead NVLink of 18 is found in 99 % and nothing else accused",
		  dead_lanes },
		{ NULL, NULL },
	};

	return tap_main("fleet", NULL, NULL, tests);
}
