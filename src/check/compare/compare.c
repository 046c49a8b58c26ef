#include "check/compare/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/vec.h"

#define CELL_RATE 0.05
/* 5 % are promised for a matrix.  Far out, Welch's t of few blocks errs up to five
 * times as often as its level when one side is ten times as restless (simulated). */
#define MATRIX_RATE 0.01
#define NEEDED_LEAST 3 /* blocks */
#define NEEDED_MOST 1000 /* more is not practical */

/* One side, in logarithms. */
struct level {
	double mean, within; /* of block medians; variance of one by its samples */
	double between, df;  /* of blocks; 0 degrees of freedom: not known */
	uint32_t n, in_last; /* blocks, samples of the last */
	double squares;	     /* of block medians about their mean */
	double when, when_squares, products; /* the same of their times, and of both */
};

/* The error of the difference of two sides. */
struct error {
	double variance, df;
};

/* The difference of two sides, and the drift in it. */
struct difference {
	double d, drift;
	struct error error;
};

/* ---- can they be compared? ---- */

static uint32_t blocks_used(const struct cs_side *side)
{
	uint32_t used = 0;

	for (size_t i = 0; i < side->n; i++)
		used += side->blocks[i].n > 0;
	return used;
}

static size_t longest_block(const struct cs_side *side)
{
	size_t most = 0;

	for (size_t i = 0; i < side->n; i++)
		if (side->blocks[i].n > most)
			most = side->blocks[i].n;
	return most;
}

static int all_zero(const struct cs_side *side)
{
	for (size_t i = 0; i < side->n; i++)
		for (size_t k = 0; k < side->blocks[i].n; k++)
			if (side->blocks[i].samples[k] != 0)
				return 0;
	return 1;
}

static int has_logs(const struct cs_side *side)
{
	for (size_t i = 0; i < side->n; i++)
		for (size_t k = 0; k < side->blocks[i].n; k++) {
			double x = side->blocks[i].samples[k];

			if (!(x > 0) || !isfinite(x))
				return 0;
		}
	return 1;
}

/* ---- one side ---- */

/* `logs` has room for the longest block. */
static double block_median(const struct cs_block *block, double *logs,
			   double *variance)
{
	double median;

	for (size_t k = 0; k < block->n; k++)
		logs[k] = log(block->samples[k]);
	median = cs_median(logs, block->n); /* sorts */
	*variance = cs_median_variance(logs, block->n);
	return median;
}

/* Mean and variance of the medians in one pass (Welford 1962): equal ones leave
 * a variance of exactly 0. */
static void side_level(const struct cs_side *side, const uint32_t *when, double *logs,
		       struct level *out)
{
	double mean = 0, squares = 0, within = 0;
	uint32_t n = 0;

	for (size_t i = 0; i < side->n; i++) {
		double median, off, variance, later;

		if (!side->blocks[i].n)
			continue;
		out->in_last = (uint32_t)side->blocks[i].n;
		median = block_median(&side->blocks[i], logs, &variance);
		off = median - mean;
		mean += off / ++n;
		squares += off * (median - mean);
		within += variance;
		later = when ? when[i] - out->when : 0;
		out->when += later / n;
		out->when_squares += later * later * (n - 1) / n;
		out->products += later * (median - mean);
	}
	out->mean = mean;
	out->squares = squares;
	out->within = within / n;
	out->n = n;
	out->df = n - 1;
	out->between = n > 1 ? squares / (n - 1) : NAN;
}

/* ---- two sides ---- */

static double variance_of(const struct level *level, double between)
{
	return fmax(between, level->within) / level->n;
}

/* Welch and Satterthwaite: of a sum of variances that are each known so well. */
static struct error sum_of(double a, double df_a, double b, double df_b)
{
	struct error e = { .variance = a + b };
	double share = a / e.variance;

	if (e.variance > 0)
		e.df = 1 / (share * share / df_a + (1 - share) * (1 - share) / df_b);
	return e;
}

/* The error of these two blocks, by their samples; unknown for a single sample. */
static struct error of_samples(const struct level *a, const struct level *b)
{
	if (a->in_last < 2 || b->in_last < 2)
		return (struct error){ .variance = INFINITY };
	return sum_of(a->within, a->in_last - 1, b->within, b->in_last - 1);
}

/* *flags notes the source of the spread between blocks. */
static struct error error_of(const struct level *a, const struct level *b,
			     const struct cs_spread *blocks, uint32_t *flags)
{
	const struct level *known = a->n > 1 ? a : b;
	double between = known->between, df = known->df;

	if (a->n > 1 && b->n > 1)
		return sum_of(variance_of(a, a->between), a->df,
			      variance_of(b, b->between), b->df);
	if (blocks->df > 0) {
		*flags |= CS_COMPARE_KNOWN;
		between = log1p(blocks->sd) * log1p(blocks->sd);
		df = blocks->df;
	} else if (known->n > 1) {
		*flags |= CS_COMPARE_SHARED;
	} else {
		*flags |= CS_COMPARE_ONE_BLOCK;
		return of_samples(a, b);
	}
	return (struct error){ variance_of(a, between) + variance_of(b, between), df };
}

/* The difference between the sides that the drift within them makes; 0: none is sure. */
static double drift_of(const struct level *a, const struct level *b)
{
	double times = a->when_squares + b->when_squares, df = a->df + b->df - 1;
	double slope = (a->products + b->products) / times, left;

	if (!(times > 0) || df < 1)
		return 0;
	left = fmax(a->squares + b->squares - slope * slope * times, 0);
	if (fabs(slope) <= cs_student_t(CELL_RATE, df) * sqrt(left / df / times))
		return 0;
	return slope * (b->when - a->when);
}

/* ---- pairs of neighbouring turns ---- */

/* Fewer than 2 pairs cannot be compared: 0.  `logs` has room for the longest block. */
static int compare_pairs(const struct cs_side *a, const struct cs_side *b,
			 double *logs, struct difference *out)
{
	double mean = 0, squares = 0, within = 0;
	uint32_t n = 0;

	for (size_t i = 0; i < a->n && i < b->n; i++) {
		const struct cs_block *x = &a->blocks[i], *y = &b->blocks[i];
		double in_x, in_y, d, off;

		if (!x->n || !y->n)
			continue;
		d = -block_median(x, logs, &in_x);
		d += block_median(y, logs, &in_y);
		off = d - mean;
		mean += off / ++n;
		squares += off * (d - mean);
		within += in_x + in_y;
	}
	if (n < 2)
		return 0;
	out->d = mean;
	out->error.variance = fmax(squares / (n - 1), within / n) / n;
	out->error.df = n - 1;
	return 1;
}

/* ---- verdict ---- */

/* Half the 95 % interval, and the chance that equal sides lie so far apart. */
static double half_interval(const struct error *e, double apart, double *p)
{
	if (e->variance == 0) {
		*p = apart > 0 ? 0 : 1;
		return 0;
	}
	if (isinf(e->variance)) {
		*p = 1;
		return INFINITY;
	}
	*p = cs_student_p(apart / sqrt(e->variance), e->df);
	return cs_student_t(CELL_RATE, e->df) * sqrt(e->variance);
}

static uint32_t judge(double d, double half, const struct cs_compare_how *how,
		      uint32_t flags)
{
	double edge = log1p(how->margin);

	if (fabs(d) + half <= edge)
		return CS_VERDICT_SAME;
	if (!(fabs(d) - half > edge))
		return CS_VERDICT_UNDECIDED;
	if (flags & CS_COMPARE_ONE_BLOCK)
		return CS_VERDICT_DIFFERS;
	return (d > 0) != !!how->low_is_better ? CS_VERDICT_FASTER : CS_VERDICT_SLOWER;
}

static void describe(const struct difference *found, const struct cs_compare_how *how,
		     struct cs_comparison *out)
{
	double d = found->d, half = half_interval(&found->error, fabs(d), &out->p);

	out->difference = expm1(d);
	if (isfinite(half)) {
		out->low = expm1(d - half);
		out->high = expm1(d + half);
	}
	out->drift = expm1(found->drift);
	out->verdict = judge(d, half, how, out->flags);
	if (out->verdict == CS_VERDICT_UNDECIDED ||
	    out->verdict == judge(d - found->drift, half, how, out->flags))
		return;
	out->verdict = CS_VERDICT_UNDECIDED;
	out->flags |= CS_COMPARE_DRIFT;
}

/* The spread of both sides together; NAN if each has one block. */
static double spread_of(const struct level *a, const struct level *b)
{
	double squares = (a->n > 1 ? a->df * a->between : 0) +
			 (b->n > 1 ? b->df * b->between : 0);

	return sqrt(squares / (a->df + b->df));
}

/* Sides that both have samples. */
static void compare_samples(const struct cs_side *a, const struct cs_side *b,
			    const struct cs_compare_how *how,
			    struct cs_comparison *out)
{
	size_t n_a = longest_block(a), n_b = longest_block(b);
	struct difference found = { .drift = 0 };
	struct level of_a = { .n = 0 }, of_b = { .n = 0 };
	double *logs;
	CS_SCOPE;

	if (all_zero(a) && all_zero(b)) {
		out->a = out->b = out->difference = out->low = out->high = 0;
		out->verdict = CS_VERDICT_SAME;
		return;
	}
	if (!has_logs(a) || !has_logs(b)) {
		out->flags |= CS_COMPARE_NO_RATIO;
		return;
	}
	logs = cs_new(double, n_a > n_b ? n_a : n_b);
	side_level(a, how->when[0], logs, &of_a);
	side_level(b, how->when[1], logs, &of_b);
	out->a = exp(of_a.mean);
	out->b = exp(of_b.mean);
	if (!how->paired || !compare_pairs(a, b, logs, &found)) {
		found.d = of_b.mean - of_a.mean;
		found.error = error_of(&of_a, &of_b, &how->blocks, &out->flags);
		found.drift = drift_of(&of_a, &of_b);
		out->spread = spread_of(&of_a, &of_b);
	}
	describe(&found, how, out);
}

struct cs_comparison cs_compare(const struct cs_side *a, const struct cs_side *b,
				const struct cs_compare_how *how)
{
	struct cs_comparison made = {
		.a = NAN,
		.b = NAN,
		.difference = NAN,
		.low = NAN,
		.high = NAN,
		.spread = NAN,
		.p = 1,
		.blocks_a = blocks_used(a),
		.blocks_b = blocks_used(b),
	};

	if (!isfinite(how->margin) || how->margin < 0)
		cs_arena_fail("margin %g: it must be a number of at least 0",
			      how->margin);
	if (!made.blocks_a || !made.blocks_b)
		made.flags = CS_COMPARE_NO_SAMPLES;
	else
		compare_samples(a, b, how, &made);
	return made;
}

/* ---- all cells of a matrix ---- */

struct ranked {
	double key;
	size_t cell;
};

CS_ORDERING(by_key, struct ranked, CS_ORDER(a->key, b->key),
	    CS_ORDER(a->cell, b->cell))

static int is_different(uint32_t verdict)
{
	return verdict == CS_VERDICT_FASTER || verdict == CS_VERDICT_SLOWER ||
	       verdict == CS_VERDICT_DIFFERS;
}

static void holm(struct cs_comparison *cells, size_t n, struct ranked *order)
{
	size_t i, m = 0;

	for (i = 0; i < n; i++)
		if (cells[i].verdict != CS_VERDICT_NONE)
			order[m++] = (struct ranked){ cells[i].p, i };
	qsort(order, m, sizeof(*order), by_key);
	for (i = 0; i < m; i++)
		if (order[i].key > MATRIX_RATE / (double)(m - i))
			break;
	for (; i < m; i++) {
		struct cs_comparison *cell = &cells[order[i].cell];

		if (!is_different(cell->verdict))
			continue;
		cell->verdict = CS_VERDICT_UNDECIDED;
		cell->flags |= CS_COMPARE_FAMILY;
	}
}

static uint32_t verdict_of(const uint32_t *count)
{
	if (count[CS_VERDICT_FASTER] && count[CS_VERDICT_SLOWER])
		return CS_VERDICT_MIXED;
	if (count[CS_VERDICT_FASTER])
		return CS_VERDICT_FASTER;
	if (count[CS_VERDICT_SLOWER])
		return CS_VERDICT_SLOWER;
	if (count[CS_VERDICT_DIFFERS])
		return CS_VERDICT_DIFFERS;
	if (count[CS_VERDICT_UNDECIDED])
		return CS_VERDICT_UNDECIDED;
	return count[CS_VERDICT_SAME] ? CS_VERDICT_SAME : CS_VERDICT_NONE;
}

static int bears(const struct cs_comparison *cell, uint32_t verdict)
{
	if (verdict == CS_VERDICT_MIXED)
		return is_different(cell->verdict);
	return cell->verdict == verdict && verdict != CS_VERDICT_NONE;
}

/* How far from 0 the interval reaches, in logarithms. */
static double reach(const struct cs_comparison *cell)
{
	if (isnan(cell->low))
		return INFINITY;
	return fmax(fabs(log1p(cell->low)), fabs(log1p(cell->high)));
}

static void find_worst(const struct cs_comparison *cells, size_t n,
		       struct ranked *order, struct cs_compare_sum *sum)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (bears(&cells[i], sum->verdict))
			order[m++] = (struct ranked){ -reach(&cells[i]), i };
	qsort(order, m, sizeof(*order), by_key);
	for (size_t i = 0; i < m && i < CS_COMPARE_WORST; i++)
		sum->worst[sum->n_worst++] = order[i].cell;
}

struct cs_compare_sum cs_compare_cells(struct cs_comparison *cells, size_t n)
{
	struct cs_compare_sum sum = { 0 };
	CS_SCOPE;
	struct ranked *order = cs_new(struct ranked, n);

	holm(cells, n, order);
	for (size_t i = 0; i < n; i++)
		sum.count[cells[i].verdict]++;
	sum.verdict = verdict_of(sum.count);
	find_worst(cells, n, order, &sum);
	return sum;
}

/* The spread of all cells together: that of one cell, from few blocks, is chance. */
static double common_spread(const struct cs_comparison *cells, size_t n)
{
	double squares = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(cells[i].spread))
			continue;
		squares += cells[i].spread * cells[i].spread;
		k++;
	}
	return k ? sqrt(squares / (double)k) : NAN;
}

uint32_t cs_compare_needed(const struct cs_comparison *cells, size_t n, double margin)
{
	double spread = common_spread(cells, n), edge = log1p(margin);

	for (uint32_t blocks = NEEDED_LEAST; blocks <= NEEDED_MOST && !isnan(spread);
	     blocks++) {
		double error = spread * sqrt(2.0 / blocks);
		double t = cs_student_t(CELL_RATE, 2.0 * (blocks - 1));

		/* half the interval, and the difference that chance makes */
		if ((t + 2) * error <= edge)
			return blocks;
	}
	return 0;
}

const char *cs_verdict_text(int verdict)
{
	static const char *const text[CS_VERDICTS] = {
		"not compared", "same",	 "faster",  "slower",
		"undecided",	"mixed", "differs",
	};

	return verdict >= 0 && verdict < CS_VERDICTS ? text[verdict] : "unknown";
}
