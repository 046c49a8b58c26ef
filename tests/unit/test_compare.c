/* Comparisons of seeded samples whose truth is known; the rates are printed. */
#include "base/rng.h"
#include "base/arena.h"
#include "check/compare/compare.h"
#include "plan/turns.h"
#include "tap.h"

#define BLOCKS_MOST 8
#define SAMPLES_MOST 16
#define CELLS 56 /* ordered pairs of 8 GPUs */

/* What is true of the samples that are drawn, and how they are compared. */
struct truth {
	size_t blocks, samples; /* of each side; in each block */
	double noise;		/* standard deviation of a sample, relative */
	double shift;		/* of a block against its side */
	double difference;	/* b / a - 1 */
	double margin;
};

struct drawn {
	double x[BLOCKS_MOST][SAMPLES_MOST];
	struct cs_block blocks[BLOCKS_MOST];
	struct cs_side side;
};

/* Box and Muller 1958 */
static double normal(struct cs_rng *rng)
{
	double u = ((double)(cs_rng_next(rng) >> 11) + 0.5) / 9007199254740992.0;
	double v = ((double)(cs_rng_next(rng) >> 11) + 0.5) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

static void draw(struct cs_rng *rng, const struct truth *truth, double level,
		 struct drawn *out)
{
	for (size_t i = 0; i < truth->blocks; i++) {
		double block = level * exp(truth->shift * normal(rng));

		for (size_t k = 0; k < truth->samples; k++)
			out->x[i][k] = block * exp(truth->noise * normal(rng));
		out->blocks[i] = (struct cs_block){ out->x[i], truth->samples };
	}
	out->side = (struct cs_side){ out->blocks, truth->blocks };
}

static struct cs_comparison compare_pair(struct cs_rng *rng, const struct truth *of_a,
					 const struct truth *of_b)
{
	const struct cs_compare_how how = { .margin = of_a->margin };
	struct cs_comparison made = { .verdict = CS_VERDICTS };
	struct drawn a, b;

	draw(rng, of_a, 395.6, &a);
	draw(rng, of_b, 395.6 * (1 + of_b->difference), &b);
	made = cs_compare(&a.side, &b.side, &how);
	return made;
}

static struct cs_comparison compare_drawn(struct cs_rng *rng,
					  const struct truth *truth)
{
	return compare_pair(rng, truth, truth);
}

/* Shares of verdicts among `n` comparisons, of intervals that miss the truth and
 * of those that miss 0. */
struct rates {
	double same, faster, slower, undecided, missed;
};

static struct rates rates_of(const struct truth *truth, int n, uint64_t seed)
{
	struct cs_rng rng = { seed };
	int count[CS_VERDICTS] = { 0 }, missed = 0;
	struct rates rates;

	for (int i = 0; i < n; i++) {
		struct cs_comparison made = compare_drawn(&rng, truth);

		count[made.verdict]++;
		missed += !(made.low <= truth->difference &&
			    truth->difference <= made.high);
	}
	rates = (struct rates){
		.same = (double)count[CS_VERDICT_SAME] / n,
		.faster = (double)count[CS_VERDICT_FASTER] / n,
		.slower = (double)count[CS_VERDICT_SLOWER] / n,
		.undecided = (double)count[CS_VERDICT_UNDECIDED] / n,
		.missed = (double)missed / n,
	};
	printf("# %zu x %2zu samples, noise %4.1f %%, shifts %3.1f %%, difference "
	       "%2.0f %%, margin %.0f %%: same %5.1f, faster %5.1f, slower %4.1f, "
	       "undecided %5.1f, interval missed %3.1f %%\n",
	       truth->blocks, truth->samples, 100 * truth->noise, 100 * truth->shift,
	       100 * truth->difference, 100 * truth->margin, 100 * rates.same,
	       100 * rates.faster, 100 * rates.slower, 100 * rates.undecided,
	       100 * rates.missed);
	return rates;
}

/* ---- rates of cells ---- */

HOLDS("equal cells are called different in at most 5 %, whatever the noise") {
	static const double noise[] = { 0.001, 0.003, 0.01, 0.05, 0.3 };
	struct truth truth = { .samples = 6 };

	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		for (truth.blocks = 2; truth.blocks <= 8; truth.blocks *= 2)
			for (truth.margin = 0; truth.margin < 0.02;
			     truth.margin += 0.01) {
				struct rates r;

				truth.noise = noise[i];
				r = rates_of(&truth, 500, i + 10 * truth.blocks);
				t_ok(r.faster + r.slower <= 0.05);
				t_ok(r.missed <= 0.05);
			}
}

/* 6 %: 5 % and two deviations of 2000 draws */
HOLDS("shifts of 0.5 % between blocks are in the interval of 2, 4 and 8") {
	struct truth truth = { .samples = 6, .noise = 0.001, .shift = 0.005 };

	for (truth.blocks = 2; truth.blocks <= 8; truth.blocks *= 2)
		for (truth.margin = 0; truth.margin < 0.02; truth.margin += 0.01) {
			struct rates r = rates_of(&truth, 2000, truth.blocks);

			t_ok(r.missed <= 0.06);
			t_ok(r.faster + r.slower <= (truth.margin > 0 ? 0.01 : 0.06));
		}
}

HOLDS("a true difference lies in 95 of 100 intervals") {
	struct truth truth = { .samples = 6,
			       .noise = 0.01,
			       .shift = 0.01,
			       .difference = 0.3,
			       .margin = 0.01 };

	for (truth.blocks = 2; truth.blocks <= 8; truth.blocks *= 2)
		t_ok(rates_of(&truth, 1000, truth.blocks).missed <= 0.06);
}

HOLDS("a difference of 2 % at 0.3 % noise is found in at least 95 %") {
	struct truth truth = { .blocks = 4,
			       .samples = 6,
			       .noise = 0.003,
			       .difference = 0.02,
			       .margin = 0.01 };
	struct rates r = rates_of(&truth, 1000, 1);

	t_ok(r.faster >= 0.95);
	t_ok(r.slower <= 0);
	truth.samples = 3;
	t_ok(rates_of(&truth, 1000, 2).faster >= 0.95);
	truth.difference = -0.02;
	t_ok(rates_of(&truth, 1000, 3).slower >= 0.95);
	truth.blocks = 2; /* too few for this noise: not found, nor denied */
	r = rates_of(&truth, 1000, 4);
	t_ok(r.same + r.faster <= 0);
}

HOLDS("equal quiet sides are the same in at least 95 %") {
	struct truth truth = {
		.blocks = 4, .samples = 6, .noise = 0.003, .margin = 0.01
	};

	t_ok(rates_of(&truth, 1000, 1).same >= 0.95);
	truth.blocks = 2;
	truth.noise = 0.001;
	t_ok(rates_of(&truth, 1000, 2).same >= 0.95);
}

HOLDS("noise makes it undecided") {
	struct truth truth = { .blocks = 4, .samples = 6, .noise = 0.1, .margin = 0.01 };

	t_ok(rates_of(&truth, 500, 1).undecided >= 0.95);
	truth.difference = 0.02;
	t_ok(rates_of(&truth, 500, 2).undecided >= 0.95);
}

/* ---- one cell ---- */

static struct cs_side side_of(struct cs_block *block, const double *x, size_t n)
{
	*block = (struct cs_block){ x, n };
	return (struct cs_side){ block, 1 };
}

/* Of one block each, margin 1 %. */
static struct cs_comparison compare_two(const double *x, size_t n_x, const double *y,
					size_t n_y)
{
	const struct cs_compare_how how = { .margin = CS_MARGIN };
	struct cs_comparison made = { .verdict = CS_VERDICTS };
	struct cs_block block_x, block_y;
	struct cs_side a = side_of(&block_x, x, n_x), b = side_of(&block_y, y, n_y);

	made = cs_compare(&a, &b, &how);
	return made;
}

HOLDS("of one block a side only these two differ") {
	struct truth truth = {
		.blocks = 1, .samples = 6, .noise = 0.001, .shift = 0.008, .margin = 0.01
	};
	static const double equal[] = { 4, 4, 4, 4 };
	struct cs_comparison made = compare_two(equal, 4, equal, 4);
	struct rates r = rates_of(&truth, 500, 1);

	t_eq_int(r.faster + r.slower > 0, 0);
	t_ok(r.same + r.undecided < 1); /* some differ */
	truth.difference = 0.05;
	r = rates_of(&truth, 500, 2);
	t_eq_int(r.faster + r.slower > 0, 0);
	t_ok(r.same + r.undecided <= 0.05);
	t_eq_int(made.flags, CS_COMPARE_ONE_BLOCK);
	t_eq_int(made.verdict, CS_VERDICT_SAME);
	t_near(made.high, 0, 1e-15);
}

/* The share of equal sides of `a` and `b` blocks, 0.8 % apart from block to block, whose
 * verdict is faster or slower; where it is known how blocks differ, by that. */
static double called_different(size_t a, size_t b, const struct cs_spread *known,
			       uint32_t flags)
{
	const struct truth truth = {
		.blocks = a, .samples = 6, .noise = 0.001, .shift = 0.008
	};
	const struct cs_compare_how how = { .blocks = *known };
	struct cs_rng rng = { 10 * a + b };
	int different = 0;

	for (int i = 0; i < 2000; i++) {
		struct cs_comparison made;
		struct drawn x, y;

		draw(&rng, &truth, 55, &x);
		draw(&rng, &truth, 55, &y);
		y.side.n = b;
		made = cs_compare(&x.side, &y.side, &how);
		t_eq_int(made.flags, flags);
		different += made.verdict == CS_VERDICT_FASTER ||
			     made.verdict == CS_VERDICT_SLOWER;
	}
	printf("# %zu and %zu blocks: different in %.1f %%\n", a, b, different / 20.0);
	return different / 2000.0;
}

/* 6 %: 5 % and two deviations of 2000 draws. */
HOLDS("how blocks differ may be known from a baseline, or the other side") {
	const struct cs_spread unknown = { NAN, 0 }, known = { 0.008, 20 };

	t_ok(called_different(1, 1, &known, CS_COMPARE_KNOWN) <= 0.06);
	t_ok(called_different(4, 1, &known, CS_COMPARE_KNOWN) <= 0.06);
	t_ok(called_different(4, 1, &unknown, CS_COMPARE_SHARED) <= 0.06);
	t_ok(called_different(2, 1, &unknown, CS_COMPARE_SHARED) <= 0.06);
	t_ok(called_different(4, 4, &known, 0) <= 0.06);
}

HOLDS("one sample on a side decides nothing") {
	static const double x[] = { 55.3 }, y[] = { 50, 50.1, 49.9 };
	struct cs_comparison made = compare_two(x, 1, y, 3);

	t_eq_int(made.verdict, CS_VERDICT_UNDECIDED);
	t_near(made.difference, 50 / 55.3 - 1, 1e-12);
	t_near(made.a, 55.3, 1e-12);
	t_ok(isnan(made.low) && isnan(made.high));
	t_near(made.p, 1, 0);
}

HOLDS("one sample a block gives the spread of blocks") {
	struct truth truth = { .blocks = 4,
			       .samples = 1,
			       .noise = 0.001,
			       .difference = 0.03,
			       .margin = 0.01 };

	t_ok(rates_of(&truth, 500, 1).faster >= 0.95);
	truth.difference = 0;
	t_ok(rates_of(&truth, 500, 2).same >= 0.95);
}

/* The medians of both blocks of a side are alike, what they are made of is not. */
HOLDS("blocks that happen to agree do not hide the noise of samples") {
	static const double x[] = { 90, 95, 100, 105, 110 };
	static const double y[] = { 94, 99, 104, 109, 114 };
	const struct cs_block blocks_x[] = { { x, 5 }, { x, 5 } };
	const struct cs_block blocks_y[] = { { y, 5 }, { y, 5 } };
	const struct cs_side a = { blocks_x, 2 }, b = { blocks_y, 2 };
	const struct cs_compare_how how = { .margin = CS_MARGIN };
	struct cs_comparison made;

	made = cs_compare(&a, &b, &how);
	t_eq_int(made.verdict, CS_VERDICT_UNDECIDED);
	t_near(made.difference, 0.04, 1e-12);
	t_ok(made.low < -0.1 && made.high > 0.2);
}

HOLDS("equal values have an interval of no width") {
	static const double x[] = { 196.05, 196.05 }, y[] = { 196.15, 196.15 };
	const struct cs_block twice_x[] = { { x, 2 }, { x, 2 } };
	const struct cs_block twice_y[] = { { y, 2 }, { y, 1 } };
	const struct cs_side a = { twice_x, 2 }, b = { twice_y, 2 };
	struct cs_compare_how how = { .margin = 0 };
	struct cs_comparison made;

	made = cs_compare(&a, &a, &how);
	t_eq_int(made.verdict, CS_VERDICT_SAME);
	t_ok(made.low <= 0 && made.low >= 0 && made.high <= 0);
	t_near(made.p, 1, 0);
	t_eq_int(made.flags, 0);
	made = cs_compare(&a, &b, &how);
	t_eq_int(made.verdict, CS_VERDICT_FASTER);
	t_near(made.low, 0.1 / 196.05, 1e-9);
	t_near(made.high, made.low, 1e-12);
	t_near(made.p, 0, 0);
	how.margin = 0.001;
	made = cs_compare(&a, &b, &how);
	t_eq_int(made.verdict, CS_VERDICT_SAME);
}

HOLDS("what has no ratio is not compared, and both all 0 are the same") {
	static const double good[] = { 1, 2, 3 };
	static const double bad[][3] = {
		{ 1, NAN, 3 }, { 1, INFINITY, 3 }, { 1, 0, 3 },
		{ -1, 2, 3 },  { 0, 0, 0 },
	};
	struct cs_comparison made;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		made = compare_two(good, 3, bad[i], 3);
		t_eq_int(made.verdict, CS_VERDICT_NONE);
		t_ok(made.flags & CS_COMPARE_NO_RATIO);
		t_ok(isnan(made.difference) && isnan(made.low));
		t_eq_int(compare_two(bad[i], 3, good, 3).verdict, CS_VERDICT_NONE);
	}
	made = compare_two(bad[4], 3, bad[4], 2);
	t_eq_int(made.verdict, CS_VERDICT_SAME);
	t_near(made.difference, 0, 0);
}

HOLDS("a side without samples is not compared") {
	static const double x[] = { 1, 2, 3 };
	struct cs_comparison made = compare_two(x, 3, NULL, 0);

	t_eq_int(made.verdict, CS_VERDICT_NONE);
	t_eq_int(made.flags, CS_COMPARE_NO_SAMPLES);
	t_eq_int(made.blocks_b, 0);
	t_ok(isnan(made.difference));
}

HOLDS("a block that measured nothing is passed over") {
	static const double x[] = { 55, 55.1, 55.2 };
	const struct cs_block blocks[] = { { x, 3 }, { NULL, 0 }, { x, 3 } };
	const struct cs_block dense[] = { { x, 3 }, { x, 3 } };
	const struct cs_side a = { blocks, 3 }, b = { dense, 2 };
	const struct cs_compare_how how = { .margin = CS_MARGIN };
	struct cs_comparison made;

	made = cs_compare(&a, &b, &how);
	t_eq_int(made.blocks_a, 2);
	t_near(made.difference, 0, 0);
	t_eq_int(made.flags, 0);
}

HOLDS("exchanging the sides exchanges the verdict") {
	const struct truth truth = { .blocks = 3, .samples = 5, .noise = 0.004 };
	struct cs_compare_how how = { .margin = CS_MARGIN };
	struct cs_rng rng = { 8 };
	int seen[CS_VERDICTS] = { 0 };

	for (int i = 0; i < 60; i++) {
		struct cs_comparison ab, ba, times;
		struct drawn a, b;

		draw(&rng, &truth, 100, &a);
		draw(&rng, &truth, 100 + i % 3 * 1.5, &b);
		how.low_is_better = 0;
		ab = cs_compare(&a.side, &b.side, &how);
		ba = cs_compare(&b.side, &a.side, &how);
		how.low_is_better = 1;
		times = cs_compare(&b.side, &a.side, &how);
		t_near((1 + ab.low) * (1 + ba.high), 1, 1e-12);
		t_near(ab.p, ba.p, 1e-12);
		t_eq_int(times.verdict, ab.verdict);
		t_eq_int(ba.verdict, ab.verdict == CS_VERDICT_FASTER ?
					     CS_VERDICT_SLOWER :
					     ab.verdict);
		seen[ab.verdict]++;
	}
	t_ok(seen[CS_VERDICT_SAME] && seen[CS_VERDICT_FASTER] &&
	     seen[CS_VERDICT_UNDECIDED]);
}

/* In the order that plan/turns.h gives, each turn of a cell later by `drift` than the
 * one before, and B slower by `difference`. */
static struct cs_comparison compare_turns(double drift, double difference,
					  uint64_t seed)
{
	const struct cs_turns turns = { 1, 2, CS_TURNS_VISITS };
	const struct cs_compare_how how = { .margin = CS_MARGIN, .paired = 1 };
	struct cs_rng rng = { seed };
	struct cs_turn order[4 * CS_TURNS_VISITS];
	struct cs_block blocks[2][2 * CS_TURNS_VISITS];
	size_t n[2] = { 0 };
	double x[4 * CS_TURNS_VISITS];
	struct cs_comparison made;

	t_eq_int(cs_turns_order(&turns, &rng, order, NULL), 0);
	for (size_t i = 0; i < 4 * CS_TURNS_VISITS; i++) {
		uint32_t side = order[i].placement;

		x[i] = 100 * exp(drift * (double)i + 0.001 * normal(&rng)) *
		       (side ? 1 - difference : 1);
		blocks[side][n[side]++] = (struct cs_block){ &x[i], 1 };
	}
	made = cs_compare(&(struct cs_side){ blocks[0], n[0] },
			  &(struct cs_side){ blocks[1], n[1] }, &how);
	return made;
}

/* The full table is made by tests/bench/truth_compare. */
HOLDS("a steady drift does not look like a difference") {
	int same = 0, slower = 0;

	for (uint64_t seed = 0; seed < 500; seed++) {
		same += compare_turns(0.005, 0, seed).verdict == CS_VERDICT_SAME;
		slower += compare_turns(0.005, 0.02, seed).verdict ==
			  CS_VERDICT_SLOWER;
	}
	printf("# 0.5 %% a turn: %d of 500 the same, %d slower\n", same, slower);
	t_ok(same >= 495);
	t_ok(slower >= 495);
}

HOLDS("a turn that failed costs its pair") {
	static const double x[] = { 100, 200, 300, 400 }, y[] = { 101, 202, 303, 404 };
	const struct cs_block a[] = {
		{ &x[0], 1 }, { NULL, 0 }, { &x[2], 1 }, { &x[3], 1 }
	};
	const struct cs_block b[] = {
		{ &y[0], 1 }, { &y[1], 1 }, { &y[2], 1 }, { NULL, 0 }
	};
	const struct cs_compare_how how = { .margin = 0.001, .paired = 1 };
	struct cs_comparison made;

	made = cs_compare(&(struct cs_side){ a, 4 }, &(struct cs_side){ b, 4 }, &how);
	t_near(made.difference, 0.01, 1e-12);
	t_eq_int(made.verdict, CS_VERDICT_FASTER);
	t_ok(isnan(made.spread));
}

HOLDS("how many blocks a verdict takes is told") {
	struct truth truth = { .blocks = 2,
			       .samples = 6,
			       .noise = 0.0005,
			       .shift = 0.003,
			       .margin = 0.01 };
	struct cs_comparison cells[CELLS];
	struct cs_rng rng = { 4 };

	for (int i = 0; i < CELLS; i++)
		cells[i] = compare_drawn(&rng, &truth);
	truth.blocks = cs_compare_needed(cells, CELLS, CS_MARGIN);
	t_eq_int(truth.blocks, 4);
	t_ok(rates_of(&truth, 500, 1).same >= 0.85);
	t_eq_int(cs_compare_needed(cells, CELLS, 0), 0);
	cells[0].spread = NAN; /* of one run a side */
	t_eq_int(cs_compare_needed(cells, 1, CS_MARGIN), 0);
}

static int compare_by(void *margin)
{
	const struct cs_compare_how how = { .margin = *(double *)margin };
	const struct cs_side side = { NULL, 0 };

	cs_compare(&side, &side, &how);
	return 0;
}

HOLDS("a margin that is none is an error") {
	double bad[] = { -0.01, NAN, INFINITY };
	struct cs_err err;

	for (size_t i = 0; i < 3; i++)
		t_eq_int(cs_arena_run(compare_by, &bad[i], &err), -1);
	t_eq_str(err.text, "margin inf: it must be a number of at least 0");
}

/* ---- matrices ---- */

/* The share of `n` matrices that are called different; `alone`: of those in which
 * some cell by itself is. */
static double different_matrices(const struct truth *a, const struct truth *b, int n,
				 double *alone)
{
	struct cs_rng rng = { 56 };
	int different = 0, by_itself = 0;

	for (int i = 0; i < n; i++) {
		struct cs_comparison cells[CELLS];
		struct cs_compare_sum sum = { .verdict = CS_VERDICTS };
		uint32_t kept, left = 0;

		for (size_t k = 0; k < CELLS; k++)
			cells[k] = compare_pair(&rng, a, b);
		sum = cs_compare_cells(cells, CELLS);
		kept = sum.count[CS_VERDICT_FASTER] + sum.count[CS_VERDICT_SLOWER];
		for (size_t k = 0; k < CELLS; k++)
			left += !!(cells[k].flags & CS_COMPARE_FAMILY);
		different += kept > 0;
		by_itself += kept + left > 0;
	}
	*alone = (double)by_itself / n;
	printf("# %d cells, %zu x %zu samples, noise %.1f %%, shifts %.1f and "
	       "%.1f %%, margin %.0f %%: equal matrices called different "
	       "%.1f %%, without Holm %.1f %%\n",
	       CELLS, a->blocks, a->samples, 100 * a->noise, 100 * a->shift,
	       100 * b->shift, 100 * a->margin, 100.0 * different / n, 100 * *alone);
	return (double)different / n;
}

/* There must be something to correct. */
HOLDS("equal matrices are called different in at most 5 %") {
	struct truth t = { .samples = 3, .noise = 0.001, .shift = 0.005 };
	double alone;

	for (t.blocks = 2; t.blocks <= 8; t.blocks *= 2) {
		t_ok(different_matrices(&t, &t, 200, &alone) <= 0.05);
		t_ok(alone >= (t.blocks > 2 ? 0.8 : 0.5));
	}
	t.blocks = 2;
	t.margin = 0.01;
	t_ok(different_matrices(&t, &t, 100, &alone) <= 0.05);
	t = (struct truth){ .blocks = 4, .samples = 3, .noise = 0.003 };
	t_ok(different_matrices(&t, &t, 100, &alone) <= 0.05);
}

/* 8 %: 5 % and two deviations of 200 draws */
HOLDS("so they are if one side is ten times as restless") {
	struct truth a = { .samples = 3, .noise = 0.001, .shift = 0.02 };
	struct truth b = a;
	double alone;

	b.shift = a.shift / 10;
	for (a.blocks = 2; a.blocks <= 8; a.blocks *= 2) {
		b.blocks = a.blocks;
		t_ok(different_matrices(&a, &b, 200, &alone) <= 0.08);
		t_ok(alone >= 0.5);
	}
}

/* How many of 100 matrices have the one cell that is 2 % slower first of all;
 * *others: in how many a cell beside it is called different. */
static int found_matrices(struct truth truth, int *others)
{
	struct cs_rng rng = { 9 };
	int found = 0;

	*others = 0;
	for (int i = 0; i < 100; i++) {
		struct cs_comparison cells[CELLS];
		struct cs_compare_sum sum = { .verdict = CS_VERDICTS };
		int is_slower;

		for (size_t k = 0; k < CELLS; k++) {
			truth.difference = k == 17 ? -0.02 : 0;
			cells[k] = compare_drawn(&rng, &truth);
		}
		sum = cs_compare_cells(cells, CELLS);
		is_slower = cells[17].verdict == CS_VERDICT_SLOWER;
		found += is_slower && sum.verdict == CS_VERDICT_SLOWER &&
			 sum.worst[0] == 17;
		*others += sum.count[CS_VERDICT_FASTER] > 0 ||
			   sum.count[CS_VERDICT_SLOWER] > (uint32_t)is_slower;
	}
	printf("# one of %d cells 2 %% slower, %zu x %zu samples, noise %.2f %%: "
	       "found in %d %%, others in %d %%\n",
	       CELLS, truth.blocks, truth.samples, 100 * truth.noise, found, *others);
	return found;
}

HOLDS("one slower cell is found in a matrix, and no other") {
	struct truth truth = {
		.blocks = 4, .samples = 6, .noise = 0.003, .margin = 0.01
	};
	int others;

	t_ok(found_matrices(truth, &others) >= 95);
	t_ok(others <= 5);
	truth.samples = 3;
	t_ok(found_matrices(truth, &others) >= 80);
	t_ok(others <= 5);
	truth.blocks = 8;
	t_ok(found_matrices(truth, &others) >= 95);
	t_ok(others <= 5);
	truth = (struct truth){
		.blocks = 2, .samples = 6, .noise = 0.0003, .margin = 0.01
	};
	found_matrices(truth, &others);
	t_ok(others <= 5);
}

static struct cs_comparison cell_of(uint32_t verdict, double low, double high,
				    double p)
{
	return (struct cs_comparison){
		.low = low, .high = high, .p = p, .verdict = verdict
	};
}

HOLDS("a matrix is what its worst cells are") {
	struct cs_comparison cells[] = {
		cell_of(CS_VERDICT_SAME, -0.001, 0.001, 0.9),
		cell_of(CS_VERDICT_NONE, NAN, NAN, 1),
		cell_of(CS_VERDICT_UNDECIDED, -0.02, 0.03, 0.7),
		cell_of(CS_VERDICT_UNDECIDED, NAN, NAN, 1),
		cell_of(CS_VERDICT_SLOWER, -0.05, -0.03, 1e-6),
		cell_of(CS_VERDICT_SLOWER, -0.21, -0.19, 1e-8),
		cell_of(CS_VERDICT_FASTER, 0.09, 0.11, 1e-7),
	};
	struct cs_compare_sum sum;

	sum = cs_compare_cells(cells, 7);
	t_eq_int(sum.verdict, CS_VERDICT_MIXED);
	t_eq_int(sum.n_worst, 3);
	t_eq_int(sum.worst[0], 5);
	t_eq_int(sum.worst[1], 6);
	t_eq_int(sum.worst[2], 4);
	t_eq_int(sum.count[CS_VERDICT_UNDECIDED], 2);
	t_eq_int(sum.count[CS_VERDICT_NONE], 1);
	sum = cs_compare_cells(cells, 6);
	t_eq_int(sum.verdict, CS_VERDICT_SLOWER);
	t_eq_int(sum.n_worst, 2);
	sum = cs_compare_cells(cells, 4);
	t_eq_int(sum.verdict, CS_VERDICT_UNDECIDED);
	t_eq_int(sum.worst[0], 3); /* nothing is known of it */
	t_eq_int(sum.worst[1], 2);
	sum = cs_compare_cells(cells, 2);
	t_eq_int(sum.verdict, CS_VERDICT_SAME);
	sum = cs_compare_cells(&cells[1], 1);
	t_eq_int(sum.verdict, CS_VERDICT_NONE);
	t_eq_int(sum.n_worst, 0);
	sum = cs_compare_cells(NULL, 0);
	t_eq_int(sum.verdict, CS_VERDICT_NONE);
}

/* 0.01/4, 0.01/3, 0.01/2, 0.01: the first that is above ends it. */
HOLDS("Holm steps down from the least probability") {
	struct cs_comparison cells[] = {
		cell_of(CS_VERDICT_SLOWER, -0.2, -0.1, 0.0052),
		cell_of(CS_VERDICT_FASTER, 0.1, 0.2, 0.0024),
		cell_of(CS_VERDICT_NONE, NAN, NAN, 0),
		cell_of(CS_VERDICT_FASTER, 0.1, 0.2, 0.008),
		cell_of(CS_VERDICT_FASTER, 0.1, 0.2, 0.0032),
	};
	struct cs_compare_sum sum;

	sum = cs_compare_cells(cells, 5);
	t_eq_int(cells[1].verdict, CS_VERDICT_FASTER);
	t_eq_int(cells[4].verdict, CS_VERDICT_FASTER);
	t_eq_int(cells[0].verdict, CS_VERDICT_UNDECIDED);
	t_eq_int(cells[0].flags, CS_COMPARE_FAMILY);
	t_eq_int(cells[3].verdict, CS_VERDICT_UNDECIDED);
	t_eq_int(sum.verdict, CS_VERDICT_FASTER);
	t_eq_int(sum.count[CS_VERDICT_UNDECIDED], 2);
}

HOLDS("verdicts have words") {
	t_eq_str(cs_verdict_text(CS_VERDICT_NONE), "not compared");
	t_eq_str(cs_verdict_text(CS_VERDICT_FASTER), "faster");
	t_eq_str(cs_verdict_text(CS_VERDICT_MIXED), "mixed");
	t_eq_str(cs_verdict_text(CS_VERDICTS), "unknown");
	t_eq_str(cs_verdict_text(-1), "unknown");
}

/* Eight runs a side, all of A before all of B: 0.2 % a run is 1.6 % between them. */
HOLDS("a drift from side to side is no difference, a step is one") {
	static const uint32_t first[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const uint32_t then[] = { 8, 9, 10, 11, 12, 13, 14, 15 };
	struct cs_compare_how how = { .margin = CS_MARGIN };
	const struct truth truth = { 8, 6, 0.001, 0.0005, 0, CS_MARGIN };

	for (int drifts = 0; drifts < 2; drifts++) {
		struct cs_rng rng = { 7 };
		struct cs_comparison made;
		struct drawn a, b;

		draw(&rng, &truth, 100, &a);
		draw(&rng, &truth, 100, &b);
		for (size_t i = 0; i < 8; i++)
			for (size_t k = 0; k < 6; k++) {
				a.x[i][k] *= drifts ? exp(0.002 * (double)i) : 1;
				b.x[i][k] *= exp(0.002 * (drifts ? (double)i + 8 : 8));
			}
		how.when[0] = how.when[1] = NULL;
		made = cs_compare(&a.side, &b.side, &how);
		t_eq_int(made.verdict, CS_VERDICT_FASTER);
		t_near(made.drift, 0, 0);
		how.when[0] = first;
		how.when[1] = then;
		made = cs_compare(&a.side, &b.side, &how);
		t_eq_int(made.verdict,
			 drifts ? CS_VERDICT_UNDECIDED : CS_VERDICT_FASTER);
		t_eq_int(made.flags, drifts ? CS_COMPARE_DRIFT : 0);
		t_near(made.drift, drifts ? 0.0161 : 0, drifts ? 0.002 : 0);
	}
}
