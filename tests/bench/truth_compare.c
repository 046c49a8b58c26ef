/* truth_compare.c - are placements that are alike called the same, whatever drifts
 * meanwhile, and those that differ different?  And runs?
 *
 * Turns are drawn in the order of plan/turns.h, runs as blocks, and compared by the
 * program's own code.  One table by what disturbs, one by the number of runs.  Status 1
 * when a promise of doc/METHOD.md is not kept. */
#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../noise.h"
#include "base/statistics.h"
#include "check/compare/compare.h"
#include "plan/turns.h"

#define CELLS 12	/* of a matrix: ordered pairs of 4 GPUs */
#define MATRICES 1000
#define RUNS_MOST 20
#define SLOWER 0.02
#define OUTER 40	/* period: first and last turn of each 4 */
#define PATH 0.05	/* how far one period or the warming up goes */

/* What is promised, in shares of cells; of matrices that are called different. */
#define SAME 0.99
#define FOUND 0.99
#define DIFFERENT 0.05
#define PLANNED 0.90

static struct cs_rng rng;
static int broken;

/* ---- what disturbs: a factor at a time, which counts turns of all cells ---- */

enum form { STEADY, OF_CELL, WARM, WALK, PERIODIC };

struct disturbance {
	const char *name;
	enum form form;
	double by;     /* a visit, a turn, in all, a turn; of a period */
	size_t period; /* turns; the first half of each is slow */
	double noise;  /* of a sample */
	int decides;   /* else the most that is promised is no wrong verdict */
};

static const struct disturbance disturbances[] = {
	{ "noise 0.1 %", STEADY, 0, 1, 0.001, 1 },
	{ "noise 0.3 %", STEADY, 0, 1, 0.003, 1 },
	{ "drift 0.5 % a visit", STEADY, 0.005, 1, 0.001, 1 },
	{ "drift 0.5 % a turn of a cell", OF_CELL, 0.005, 1, 0.001, 1 },
	{ "warms up by 5 %", WARM, PATH, 1, 0.001, 1 },
	{ "random walk, 0.1 % a turn", WALK, 0.001, 1, 0.001, 1 },
	{ "every 2nd turn 5 % slow", PERIODIC, PATH, 2, 0.001, 0 },
	{ "2 turns of 4", PERIODIC, PATH, 4, 0.001, 0 },
	{ "outer 2 turns of 4", PERIODIC, PATH, OUTER, 0.001, 0 },
	{ "3 turns of 6", PERIODIC, PATH, 6, 0.001, 0 },
	{ "4 turns of 8", PERIODIC, PATH, 8, 0.001, 0 },
	{ "6 turns of 12", PERIODIC, PATH, 12, 0.001, 0 },
	{ "3 turns of 7", PERIODIC, PATH, 7, 0.001, 0 },
};

static double periodic(const struct disturbance *d, size_t at)
{
	if (d->period == OUTER)
		return at % 4 == 0 || at % 4 == 3 ? d->by : 0;
	return at % d->period < d->period / 2 ? d->by : 0;
}

/* `nth`: of the turns of its cell. */
static double slower_by(const struct disturbance *d, size_t at, size_t n, int nth,
			double *walk)
{
	switch (d->form) {
	case STEADY:
		return d->by * (double)at / 4;
	case OF_CELL:
		return d->by * nth;
	case WARM:
		return d->by * (1 - exp(-8.0 * (double)at / (double)n));
	case WALK:
		return *walk += d->by * noise_gauss(&rng);
	default:
		return periodic(d, at);
	}
}

/* ---- a matrix whose sides took turns ---- */

#define SIDES_MOST 3
#define TURNS_MOST (2 * CS_TURNS_VISITS)

struct cell {
	double x[SIDES_MOST][TURNS_MOST];
	struct cs_block block[SIDES_MOST][TURNS_MOST];
	int n[SIDES_MOST], turns;
};

static void take_turns(const struct disturbance *d, uint32_t sides, double difference,
		       struct cell *cells)
{
	const struct cs_turns turns = { CELLS, sides, CS_TURNS_VISITS };
	static struct cs_turn order[CELLS * SIDES_MOST * TURNS_MOST];
	size_t n = cs_turns_count(&turns);
	double walk = 0;

	if (cs_turns_order(&turns, &rng, order, NULL))
		exit(2);
	for (size_t at = 0; at < n; at++) {
		struct cell *c = &cells[order[at].cell];
		uint32_t side = order[at].placement;
		int k = c->n[side]++;

		c->x[side][k] = 400 * (1 + d->noise * noise_gauss(&rng)) *
				(side ? 1 - difference : 1) /
				(1 + slower_by(d, at, n, c->turns++, &walk));
		c->block[side][k] = (struct cs_block){ &c->x[side][k], 1 };
	}
}

struct count {
	int of[CS_VERDICTS], matrices;
};

/* The last side against the first. */
static void judge_turns(const struct disturbance *d, uint32_t sides,
			double difference, struct count *count)
{
	const struct cs_compare_how how = { .margin = CS_MARGIN, .paired = 1 };
	struct cell cells[CELLS] = { { .turns = 0 } };
	struct cs_comparison c[CELLS];
	struct cs_compare_sum sum;

	take_turns(d, sides, difference, cells);
	for (int i = 0; i < CELLS; i++) {
		const struct cs_side a = { cells[i].block[0], TURNS_MOST };
		const struct cs_side b = { cells[i].block[sides - 1], TURNS_MOST };

		c[i] = cs_compare(&a, &b, &how);
	}
	sum = cs_compare_cells(c, CELLS);
	for (int v = 0; v < CS_VERDICTS; v++)
		count->of[v] += (int)sum.count[v];
	count->matrices +=
		sum.count[CS_VERDICT_FASTER] + sum.count[CS_VERDICT_SLOWER] > 0;
}

static double share(int n)
{
	return (double)n / (CELLS * MATRICES);
}

static void row_of_turns(const struct disturbance *d, uint32_t sides)
{
	struct count equal = { .matrices = 0 }, slower = { .matrices = 0 };
	double same, found, wrong;

	rng.state = (uint64_t)(d - disturbances) * 100 + sides;
	for (int i = 0; i < MATRICES; i++) {
		judge_turns(d, sides, 0, &equal);
		judge_turns(d, sides, SLOWER, &slower);
	}
	same = share(equal.of[CS_VERDICT_SAME]);
	found = share(slower.of[CS_VERDICT_SLOWER]);
	wrong = (double)equal.matrices / MATRICES;
	printf("%-30s %6u %8.1f %10.1f %10.1f %8.1f\n", d->name, sides, 100 * same,
	       100 * wrong, 100 * found, 100 * share(slower.of[CS_VERDICT_SAME]));
	fflush(stdout);
	if (wrong > DIFFERENT || slower.of[CS_VERDICT_FASTER] ||
	    share(slower.of[CS_VERDICT_SAME]) > 0.01 ||
	    (d->decides && (same < SAME || found < FOUND))) {
		printf("NOT KEPT\n");
		broken = 1;
	}
}

/* ---- runs: a block each ---- */

#define SAMPLES 6

static struct cs_comparison compare_runs(int n, double spread, double difference)
{
	static double x[2][RUNS_MOST][SAMPLES];
	struct cs_block block[2][RUNS_MOST];
	const struct cs_compare_how how = { .margin = CS_MARGIN };

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < n; i++) {
			double level = 1 + spread * noise_gauss(&rng);

			for (int k = 0; k < SAMPLES; k++)
				x[side][i][k] = 400 * level *
						(1 + 0.001 * noise_gauss(&rng)) *
						(side ? 1 - difference : 1);
			block[side][i] = (struct cs_block){ x[side][i], SAMPLES };
		}
	return cs_compare(&(struct cs_side){ block[0], (size_t)n },
			  &(struct cs_side){ block[1], (size_t)n }, &how);
}

/* Counts verdicts of cells and of matrices; returns how many runs these say it takes, in
 * the middle of the matrices. */
static uint32_t count_runs(int n, double spread, double difference,
			   struct count *count)
{
	static double needed[MATRICES];
	struct cs_compare_sum sum;

	for (int i = 0; i < MATRICES; i++) {
		struct cs_comparison c[CELLS];

		for (int k = 0; k < CELLS; k++)
			c[k] = compare_runs(n, spread, difference);
		sum = cs_compare_cells(c, CELLS);
		needed[i] = cs_compare_needed(c, CELLS, CS_MARGIN);
		for (int v = 0; v < CS_VERDICTS; v++)
			count->of[v] += (int)sum.count[v];
		count->matrices += sum.count[CS_VERDICT_FASTER] +
					   sum.count[CS_VERDICT_SLOWER] >
				   0;
	}
	return (uint32_t)cs_median(needed, MATRICES);
}

static void row_of_runs(double spread, int n)
{
	struct count equal = { .matrices = 0 }, slower = { .matrices = 0 };
	double wrong, same;
	uint32_t needed;

	rng.state = (uint64_t)(1e6 * spread) + (uint64_t)n;
	needed = count_runs(n, spread, 0, &equal);
	count_runs(n, spread, SLOWER, &slower);
	wrong = (double)equal.matrices / MATRICES;
	same = share(equal.of[CS_VERDICT_SAME]);
	printf("%-8.1f %6d %8.1f %10.1f %10.1f %10.1f %8u\n", 100 * spread, n,
	       100 * same, 100 * wrong, 100 * share(equal.of[CS_VERDICT_DIFFERS]),
	       100 * share(slower.of[CS_VERDICT_SLOWER]), needed);
	fflush(stdout);
	if (wrong > DIFFERENT || (n == 1 && equal.matrices + slower.matrices) ||
	    (n > 1 && (uint32_t)n >= needed && same < PLANNED)) {
		printf("NOT KEPT\n");
		broken = 1;
	}
}

static void table_of_runs(void)
{
	static const int runs[] = { 1, 2, 3, 4, 6, 10, 20 };
	static const double spreads[] = { 0.001, 0.003, 0.008 };

	printf("\nRuns that differ, %d matrices of %d cells, in %%\n"
	       "%-8s %6s %8s %10s %10s %10s %8s\n",
	       MATRICES, CELLS, "spread", "runs", "same", "different", "in these",
	       "2 % found", "needed");
	for (size_t i = 0; i < sizeof(spreads) / sizeof(*spreads); i++)
		for (size_t k = 0; k < sizeof(runs) / sizeof(*runs); k++)
			row_of_runs(spreads[i], runs[k]);
}

static int measure(void *unused)
{
	(void)unused;
	printf("Placements by turns, %d matrices of %d cells, in %%\n"
	       "%-30s %6s %8s %10s %10s %8s\n",
	       MATRICES, CELLS, "disturbed by", "sides", "same", "different",
	       "2 % found", "missed");
	for (size_t i = 0; i < sizeof(disturbances) / sizeof(*disturbances); i++)
		for (uint32_t sides = 2; sides <= SIDES_MOST; sides++)
			row_of_turns(&disturbances[i], sides);
	table_of_runs();
	printf("%s\n",
	       broken ? "Not all promises are kept." : "All promises are kept.");
	return broken;
}

int main(void)
{
	return cs_arena_run(measure, NULL, NULL);
}
