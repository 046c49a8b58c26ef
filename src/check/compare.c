#include "config.h"

#include "check/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/quant.h"
#include "base/student.h"

#define CELL_RATE 0.05
/* Of a matrix 5 % are promised.  Far out, Welch's t of few blocks errs up to five
 * times as often as it says when one arm is ten times as restless (simulated). */
#define MATRIX_RATE 0.01

/* One arm, in logarithms. */
struct level {
	double mean, variance, df;
};

/* What is found before it is judged, in logarithms as well. */
struct finding {
	double d, half, wide; /* interval d -/+ half, widened by `wide` */
};

/* ---- what may be compared ---- */

static uint32_t blocks_used(const struct cs_arm *arm)
{
	uint32_t used = 0;
	size_t i;

	for (i = 0; i < arm->n; i++)
		used += arm->blocks[i].n > 0;
	return used;
}

static size_t longest_block(const struct cs_arm *arm)
{
	size_t most = 0, i;

	for (i = 0; i < arm->n; i++)
		if (arm->blocks[i].n > most)
			most = arm->blocks[i].n;
	return most;
}

static int all_zero(const struct cs_arm *arm)
{
	size_t i, k;

	for (i = 0; i < arm->n; i++)
		for (k = 0; k < arm->blocks[i].n; k++)
			if (arm->blocks[i].samples[k] != 0)
				return 0;
	return 1;
}

static int has_logs(const struct cs_arm *arm)
{
	size_t i, k;

	for (i = 0; i < arm->n; i++)
		for (k = 0; k < arm->blocks[i].n; k++) {
			double x = arm->blocks[i].samples[k];

			if (!(x > 0) || !isfinite(x))
				return 0;
		}
	return 1;
}

/* ---- one arm ---- */

/* `logs` has room for the longest block. */
static double block_median(const struct cs_block *block, double *logs,
			   double *variance)
{
	double median;
	size_t k;

	for (k = 0; k < block->n; k++)
		logs[k] = log(block->samples[k]);
	median = cs_median(logs, block->n); /* sorts */
	*variance = cs_median_variance(logs, block->n);
	return median;
}

/* Mean and variance of the medians in one pass (Welford 1962): equal ones leave
 * a variance of exactly 0. */
static void arm_level(const struct cs_arm *arm, double *logs, struct level *out)
{
	double mean = 0, squares = 0, within = 0;
	size_t i, n = 0, in_last = 0; /* samples of the last block */

	for (i = 0; i < arm->n; i++) {
		double median, off, variance;

		if (!arm->blocks[i].n)
			continue;
		in_last = arm->blocks[i].n;
		median = block_median(&arm->blocks[i], logs, &variance);
		off = median - mean;
		mean += off / (double)++n;
		squares += off * (median - mean);
		within += variance;
	}
	within /= (double)n;
	out->mean = mean;
	if (n > 1) {
		out->variance = fmax(squares / (double)(n - 1), within);
		out->variance /= (double)n;
		out->df = (double)(n - 1);
	} else {
		out->variance = in_last > 1 ? within : INFINITY;
		out->df = (double)(in_last - 1);
	}
}

/* ---- two arms ---- */

/* Half the 95 % interval, and the chance that equal arms lie `beyond` apart. */
static double half_interval(const struct level *a, const struct level *b,
			    double beyond, double *p)
{
	double variance = a->variance + b->variance, share_a, share_b, df;

	if (variance == 0) {
		*p = beyond > 0 ? 0 : 1;
		return 0;
	}
	if (isinf(variance)) {
		*p = 1;
		return INFINITY;
	}
	share_a = a->variance / variance;
	share_b = b->variance / variance;
	df = 1 / (share_a * share_a / a->df + share_b * share_b / b->df);
	*p = cs_student_p(fmax(beyond, 0) / sqrt(variance), df);
	return cs_student_t(CELL_RATE, df) * sqrt(variance);
}

static uint32_t judge(const struct finding *found,
		      const struct cs_compare_how *how)
{
	double edge = log1p(how->margin), far = found->half + found->wide;

	if (fabs(found->d) + found->half <= edge)
		return CS_VERDICT_SAME;
	if (!(fabs(found->d) - far > edge))
		return CS_VERDICT_UNDECIDED;
	return (found->d > 0) != !!how->low_is_better ? CS_VERDICT_FASTER :
							CS_VERDICT_SLOWER;
}

static void compare_levels(const struct level *a, const struct level *b,
			   const struct cs_compare_how *how,
			   struct cs_comparison *out)
{
	struct finding found = { .d = b->mean - a->mean };

	if (out->flags & CS_COMPARE_ONE_BLOCK)
		found.wide = log1p(how->margin);
	found.half = half_interval(a, b, fabs(found.d) - found.wide, &out->p);
	out->a = exp(a->mean);
	out->b = exp(b->mean);
	out->difference = expm1(found.d);
	if (isfinite(found.half)) {
		out->low = expm1(found.d - found.half - found.wide);
		out->high = expm1(found.d + found.half + found.wide);
	}
	out->verdict = judge(&found, how);
}

/* Arms that both have samples. */
static int compare_samples(const struct cs_arm *a, const struct cs_arm *b,
			   const struct cs_compare_how *how,
			   struct cs_comparison *out, struct cs_err *err)
{
	size_t n_a = longest_block(a), n_b = longest_block(b);
	struct level level_a, level_b;
	double *logs;

	if (all_zero(a) && all_zero(b)) {
		out->a = out->b = out->difference = out->low = out->high = 0;
		out->verdict = CS_VERDICT_SAME;
		return 0;
	}
	if (!has_logs(a) || !has_logs(b)) {
		out->flags |= CS_COMPARE_NO_RATIO;
		return 0;
	}
	logs = malloc((n_a > n_b ? n_a : n_b) * sizeof(*logs));
	if (!logs)
		return cs_err_set(err, "no memory to compare samples");
	arm_level(a, logs, &level_a);
	arm_level(b, logs, &level_b);
	free(logs);
	compare_levels(&level_a, &level_b, how, out);
	return 0;
}

int cs_compare(const struct cs_arm *a, const struct cs_arm *b,
	       const struct cs_compare_how *how, struct cs_comparison *out,
	       struct cs_err *err)
{
	struct cs_comparison made = {
		.a = NAN, .b = NAN, .difference = NAN, .low = NAN, .high = NAN,
		.p = 1, .blocks_a = blocks_used(a), .blocks_b = blocks_used(b),
	};

	if (!isfinite(how->margin) || how->margin < 0)
		return cs_err_set(err, "margin %g: it must be a number of at "
				  "least 0", how->margin);
	if (made.blocks_a == 1 || made.blocks_b == 1)
		made.flags |= CS_COMPARE_ONE_BLOCK;
	if (!made.blocks_a || !made.blocks_b)
		made.flags = CS_COMPARE_NO_SAMPLES;
	else if (compare_samples(a, b, how, &made, err))
		return -1;
	*out = made;
	return 0;
}

/* ---- all cells of a matrix ---- */

struct ranked {
	double key;
	size_t cell;
};

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->cell < y->cell ? -1 : 1;
}

static int is_different(uint32_t verdict)
{
	return verdict == CS_VERDICT_FASTER || verdict == CS_VERDICT_SLOWER;
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
	size_t i, m = 0;

	for (i = 0; i < n; i++)
		if (bears(&cells[i], sum->verdict))
			order[m++] = (struct ranked){ -reach(&cells[i]), i };
	qsort(order, m, sizeof(*order), by_key);
	for (i = 0; i < m && i < CS_COMPARE_WORST; i++)
		sum->worst[sum->n_worst++] = order[i].cell;
}

int cs_compare_cells(struct cs_comparison *cells, size_t n,
		     struct cs_compare_sum *out, struct cs_err *err)
{
	struct cs_compare_sum sum = { 0 };
	struct ranked *order = malloc((n ? n : 1) * sizeof(*order));
	size_t i;

	if (!order)
		return cs_err_set(err, "no memory to judge %zu cells", n);
	holm(cells, n, order);
	for (i = 0; i < n; i++)
		sum.count[cells[i].verdict]++;
	sum.verdict = verdict_of(sum.count);
	find_worst(cells, n, order, &sum);
	free(order);
	*out = sum;
	return 0;
}

const char *cs_verdict_text(int verdict)
{
	static const char *const text[CS_VERDICTS] = {
		"not compared", "same", "faster", "slower", "undecided", "mixed",
	};

	return verdict >= 0 && verdict < CS_VERDICTS ? text[verdict] : "unknown";
}
