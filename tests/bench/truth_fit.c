/* truth_fit.c - do the intervals of alpha, 1/beta and n1/2 hold the truth?
 *
 * Sweeps over sizes of known alpha and beta, 1,000 of each kind: figures with noise, also
 * with one size or two that are 30 % slow.  One table of lines, one of lines with some sizes
 * in a row that are slow, one of links whose protocol changes.  Status 1 when a promise of
 * doc/METHOD.md is not kept. */
#include <stdio.h>

#include "../noise.h"
#include "check/model/fit.h"

#define SEEDS 1000
#define ALPHA_US 2.5
#define GBS 396.0
#define SLOW 1.3
#define SWITCH (256u << 10)

/* What is promised, in shares of sweeps. */
#define COVERED 0.93
#define SIZES_A_SLOW_ONE 8
#define ONE_LINE 0.99
#define FOUND 0.99

struct sweep {
	const char *name;
	double first, times;
	int n;
};

static const struct sweep sweeps[] = {
	{ "4K:1G:x8", 4 << 10, 8, 7 },
	{ "4K:1G:x4", 4 << 10, 4, 10 },
	{ "4K:1G:x2", 4 << 10, 2, 19 },
};
#define SWEEPS (sizeof(sweeps) / sizeof(*sweeps))

struct kind {
	enum noise_shape shape;
	double sd;
	int n_slow;
	/* of copies of SWITCH and more: so many times as long to begin, and as fast */
	double later, faster;
};

struct seen {
	int alpha, rate, half, one_line;
};

static int broken;

static void promise(int kept, const char *what)
{
	if (kept)
		return;
	printf("NOT KEPT: %s\n", what);
	broken = 1;
}

static double time_of(const struct kind *kind, double bytes)
{
	int late = kind->later > 0 && bytes >= SWITCH;

	return ALPHA_US * (late ? kind->later : 1) +
	       1e-3 * bytes / (GBS * (late ? kind->faster : 1));
}

static void draw(const struct sweep *sweep, const struct kind *kind,
		 struct noise *noise, struct cs_fit_point *points)
{
	double bytes = sweep->first;
	uint64_t at;

	for (int i = 0; i < sweep->n; i++, bytes *= sweep->times) {
		points[i].bytes = bytes;
		points[i].us = time_of(kind, bytes) * (1 + noise_next(noise));
	}
	at = cs_rng_below(&noise->rng, (uint64_t)sweep->n);
	for (int i = 0; i < kind->n_slow; i++) {
		points[at].us *= SLOW;
		at = (at + 1 + cs_rng_below(&noise->rng, (uint64_t)sweep->n - 1)) %
		     (uint64_t)sweep->n;
	}
}

static int holds(const struct cs_fit_value *x, double truth)
{
	return x->low <= truth && truth <= x->high;
}

static struct seen run(const struct sweep *sweep, const struct kind *kind)
{
	double gbs = GBS * (kind->later > 0 ? kind->faster : 1);
	struct cs_fit_point points[CS_FIT_MOST];
	struct seen seen = { 0, 0, 0, 0 };
	struct cs_fit fit;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct noise noise = { .shape = kind->shape, .sd = kind->sd };

		noise_init(&noise, seed * 7919 + (uint64_t)(1e4 * kind->sd));
		draw(sweep, kind, &noise, points);
		if (cs_fit_sweep(points, (size_t)sweep->n, &fit))
			continue;
		seen.alpha += holds(&fit.alpha_us, ALPHA_US);
		seen.rate += holds(&fit.gbs, gbs);
		seen.half += holds(&fit.half_bytes, 1e3 * ALPHA_US * GBS);
		seen.one_line += fit.switch_bytes == 0;
	}
	return seen;
}

static double percent(int n)
{
	return 100.0 * n / SEEDS;
}

static const double sds[] = { 0.002, 0.01, 0.03 };
#define SDS (sizeof(sds) / sizeof(*sds))

static void print_line(const struct sweep *sweep, const struct kind *kind)
{
	struct seen seen = run(sweep, kind);

	printf("%-10s %-8s %5.1f %6d  %7.1f %7.1f %7.1f  %8.1f\n", sweep->name,
	       noise_name[kind->shape], 100 * kind->sd, kind->n_slow,
	       percent(seen.alpha), percent(seen.rate), percent(seen.half),
	       percent(seen.one_line));
	/* half of the sizes tell alpha: more than that no fit can bear */
	if (kind->n_slow * SIZES_A_SLOW_ONE > sweep->n)
		return;
	promise(seen.alpha >= COVERED * SEEDS, "alpha");
	promise(seen.rate >= COVERED * SEEDS, "1/beta");
	promise(seen.half >= COVERED * SEEDS, "n1/2");
	promise(seen.one_line >= ONE_LINE * SEEDS, "one line is enough");
}

static void table_of_lines(void)
{
	static const enum noise_shape shapes[] = { NOISE_GAUSS, NOISE_T3 };

	printf("One line, %d sweeps each: intervals that hold the truth, in %%\n"
	       "%-10s %-8s %5s %6s  %7s %7s %7s  %8s\n",
	       SEEDS, "sizes", "noise", "sd", "slow", "alpha", "1/beta", "n1/2",
	       "one line");
	for (size_t s = 0; s < SWEEPS; s++)
		for (size_t shape = 0; shape < 2; shape++)
			for (size_t i = 0; i < SDS; i++)
				for (int n = 0; n < 3; n++)
					print_line(&sweeps[s],
						   &(struct kind){ shapes[shape],
								   sds[i], n, 0, 0 });
}

static void table_of_switches(void)
{
	static const double later[] = { 2, 4 }, faster[] = { 1, 2 };

	printf("\nA second piece from 256 KiB on, 4K:1G:x2, in %%\n"
	       "%5s %7s %7s  %7s %7s %7s\n",
	       "sd", "alpha x", "rate x", "found", "alpha", "1/beta");
	for (size_t i = 0; i < SDS - 1; i++)
		for (size_t k = 0; k < 2; k++)
			for (size_t f = 0; f < 2; f++) {
				struct kind kind = { NOISE_GAUSS, sds[i], 0, later[k],
						     faster[f] };
				struct seen seen = run(&sweeps[SWEEPS - 1], &kind);
				int found = SEEDS - seen.one_line;

				printf("%5.1f %7.0f %7.0f  %7.1f %7.1f %7.1f\n",
				       100 * sds[i], later[k], faster[f],
				       percent(found), percent(seen.alpha),
				       percent(seen.rate));
				promise(found >= FOUND * SEEDS, "a switch is found");
			}
}

/* Is a second piece found where `sizes` in a row are slow? */
static int finds_piece(double sd, double slow, int at, int sizes, int seed)
{
	const struct sweep *sweep = &sweeps[SWEEPS - 1];
	const struct kind kind = { NOISE_GAUSS, sd, 0, 0, 0 };
	struct noise noise = { .shape = kind.shape, .sd = sd };
	struct cs_fit_point points[CS_FIT_MOST];
	struct cs_fit fit;

	noise_init(&noise, (uint64_t)seed * 7919 + (uint64_t)at);
	draw(sweep, &kind, &noise, points);
	for (int i = at; i < at + sizes; i++)
		points[i].us /= 1 - slow;
	return !cs_fit_sweep(points, (size_t)sweep->n, &fit) && fit.switch_bytes > 0;
}

/* With other sizes below and above them. */
static void table_of_dips(void)
{
	static const double slow[] = { 0.1, 0.2 };

	printf("\nSizes in a row that are slow, 4K:1G:x2, in %%\n"
	       "%5s %6s %6s  %8s\n",
	       "sd", "slow", "sizes", "one line");
	for (size_t i = 0; i < SDS - 1; i++)
		for (size_t k = 0; k < 2; k++)
			for (int sizes = 2; sizes <= 6; sizes += 2) {
				int all = 0, one = 0;

				for (int at = 1; at + sizes < sweeps[SWEEPS - 1].n;
				     at++)
					for (int n = 0; n < SEEDS / 10; n++, all++)
						one += !finds_piece(sds[i], slow[k],
								    at, sizes, n);
				printf("%5.1f %6.0f %6d  %8.1f\n", 100 * sds[i],
				       100 * slow[k], sizes, 100.0 * one / all);
				promise(one >= ONE_LINE * all, "a dip is one line");
			}
}

int main(void)
{
	table_of_lines();
	table_of_dips();
	table_of_switches();
	printf("%s\n",
	       broken ? "Not all promises are kept." : "All promises are kept.");
	return broken;
}
