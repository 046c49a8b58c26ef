#include "check/model/fit.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"

#define HUBER 2.5
#define ROUNDS 60
#define OUTSIDE 0.05	/* of the 95 % interval */
#define LEAST_SD 1e-10	/* figures have ten digits */
/* A piece with fewer sizes may follow one that is off. */
#define PIECE_LEAST 5
/* A second piece has two ends and a place of its own. */
#define ONE_PIECE 2
#define TWO_PIECES 5
/* A dip has two ends, and at most one in so many sizes. */
#define ONE_AND_DIP 4
#define DIP_OF 3

/* T = a + b n, and how sure that is. */
struct line {
	double a, b;
	double var_a, var_b, cov;
};

static double at(const struct line *line, double bytes)
{
	return line->a + line->b * bytes;
}

/* The unit of residuals: the line's time, if it has one. */
static double unit_of(const struct line *line, const struct cs_fit_point *p)
{
	return fmax(at(line, p->bytes), p->us / 8);
}

static double residual(const struct line *line, const struct cs_fit_point *p)
{
	return (p->us - at(line, p->bytes)) / unit_of(line, p);
}

/* ---- least absolute deviations ---- */

static double deviations(const struct line *line, const struct cs_fit_point *p,
			 size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(p[i].us - at(line, p[i].bytes)) / p[i].us;
	return sum;
}

/* The best line goes through two of the points. */
static struct line least_deviations(const struct cs_fit_point *p, size_t n)
{
	struct line best = { 0 };
	double least = INFINITY;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			struct line line = { .b = (p[k].us - p[i].us) /
						  (p[k].bytes - p[i].bytes) };
			double sum;

			line.a = p[i].us - line.b * p[i].bytes;
			sum = deviations(&line, p, n);
			if (sum < least) {
				least = sum;
				best = line;
			}
		}
	return best;
}

/* ---- Huber ---- */

/* Sums over the points, each as a share of its time: of x = (1, n) / time. */
struct normal {
	double xx, xn, nn, det; /* xn: 1 * n; nn: n * n */
};

static struct normal normal_of(const struct line *line, const struct cs_fit_point *p,
			       const double *weight, size_t n)
{
	struct normal m = { 0, 0, 0, 0 };

	for (size_t i = 0; i < n; i++) {
		double t = unit_of(line, &p[i]), x = 1 / t, y = p[i].bytes / t;
		double w = weight ? weight[i] : 1;

		m.xx += w * x * x;
		m.xn += w * x * y;
		m.nn += w * y * y;
	}
	m.det = m.xx * m.nn - m.xn * m.xn;
	return m;
}

/* Residuals without the effect of their own point on the line. */
static void adjusted(const struct line *line, const struct cs_fit_point *p, size_t n,
		     double *r)
{
	const struct normal m = normal_of(line, p, NULL, n);

	for (size_t i = 0; i < n; i++) {
		double t = unit_of(line, &p[i]), x = 1 / t, y = p[i].bytes / t;
		double h = (m.nn * x * x - 2 * m.xn * x * y + m.xx * y * y) / m.det;

		r[i] = residual(line, &p[i]) / sqrt(1 - fmin(fmax(h, 0), 0.9999));
	}
}

/* The standard deviation by the median of their sizes; the least are those
 * that the line was drawn through. */
static double scale_of(const double *r, size_t n)
{
	double size[CS_FIT_MOST];

	for (size_t i = 0; i < n; i++)
		size[i] = fabs(r[i]);
	cs_sort(size, n);
	return fmax(CS_MAD_TO_SD * cs_quantile(size + 1, n - 1, 0.5), LEAST_SD);
}

/* One step towards Huber's estimate.  The change, as a share of the times. */
static double step(struct line *line, const struct cs_fit_point *p, size_t n)
{
	double r[CS_FIT_MOST], weight[CS_FIT_MOST], u = 0, v = 0, da, db;
	struct normal m;
	double sd;

	adjusted(line, p, n, r);
	sd = scale_of(r, n);
	for (size_t i = 0; i < n; i++)
		weight[i] = fmin(1, HUBER * sd / fabs(r[i]));
	m = normal_of(line, p, weight, n);
	for (size_t i = 0; i < n; i++) {
		double t = unit_of(line, &p[i]);
		double e = weight[i] * residual(line, &p[i]) / t;

		u += e;
		v += e * p[i].bytes;
	}
	da = (m.nn * u - m.xn * v) / m.det;
	db = (m.xx * v - m.xn * u) / m.det;
	line->a += da;
	line->b += db;
	return fabs(da) / unit_of(line, p) +
	       fabs(db) * p[n - 1].bytes / unit_of(line, &p[n - 1]);
}

/* Street, Carroll and Ruppert: the variance of one residual. */
static double variance_of(const double *r, size_t n)
{
	double sd = scale_of(r, n), squares = 0, flat = 0, k;

	for (size_t i = 0; i < n; i++) {
		double z = fmax(-HUBER, fmin(r[i] / sd, HUBER));

		squares += z * z;
		flat += fabs(r[i]) < HUBER * sd;
	}
	flat /= (double)n;
	k = 1 + ONE_PIECE / (double)n * (1 - flat) / flat;
	return sd * sd * squares / (double)(n - ONE_PIECE) * pow(k / flat, 2);
}

static struct line huber(const struct cs_fit_point *p, size_t n)
{
	struct line line = least_deviations(p, n);
	double r[CS_FIT_MOST], variance;
	struct normal m;

	for (int round = 0; round < ROUNDS && step(&line, p, n) > 1e-13; round++)
		;
	adjusted(&line, p, n, r);
	variance = variance_of(r, n);
	m = normal_of(&line, p, NULL, n);
	line.var_a = variance * m.nn / m.det;
	line.var_b = variance * m.xx / m.det;
	line.cov = -variance * m.xn / m.det;
	return line;
}

/* ---- pieces ---- */

/* The residuals of pieces: on the whole, and of most sizes.  A size that is far off by
 * itself makes the first less when it gets a line of its own, and not the second. */
struct left {
	double sum, most;
};

/* Residuals: of lines[0] before point k, of lines[1] from there on. */
static struct left left_of(const struct line lines[2], size_t k,
			   const struct cs_fit_point *p, size_t n, int parameters)
{
	double r[CS_FIT_MOST];
	struct left left = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		r[i] = fabs(residual(&lines[i >= k], &p[i]));
		left.sum += r[i];
	}
	cs_sort(r, n);
	/* those that lines were drawn through are 0 */
	left.most = cs_quantile(r + parameters, n - (size_t)parameters, 0.5);
	left.sum /= (double)n - parameters;
	return left;
}

/* Does one line leave no more than this over of all sizes but a few in a row?  Then
 * something else went on at these, which is a dip: the sizes above it are on the line of
 * those below it.  After a change of protocol they are not. */
static int is_dip(const struct cs_fit_point *p, size_t n, double most)
{
	const size_t k = n / DIP_OF;
	struct cs_fit_point rest[CS_FIT_MOST];

	for (size_t first = 1; first + k < n; first++) {
		double sum = 0;
		struct line line;

		memcpy(rest, p, first * sizeof(*p));
		memcpy(rest + first, p + first + k, (n - first - k) * sizeof(*p));
		line = huber(rest, n - k);
		for (size_t i = 0; i < n - k; i++)
			sum += fabs(residual(&line, &rest[i]));
		if (sum / ((double)(n - k) - ONE_AND_DIP) <= most)
			return 1;
	}
	return 0;
}

/* The first point of a second piece: of those that halve the residual the one with
 * the least; 0: one line suffices, except for a dip. */
static size_t find_switch(const struct cs_fit_point *p, size_t n, struct line lines[2])
{
	const struct line one = huber(p, n);
	struct left least;
	size_t best = 0;

	lines[0] = lines[1] = one;
	least = left_of(lines, n, p, n, ONE_PIECE);
	least.sum /= 2;
	least.most = fmax(least.most / 2, LEAST_SD);
	for (size_t k = PIECE_LEAST; k + PIECE_LEAST <= n; k++) {
		const struct line two[2] = { huber(p, k), huber(p + k, n - k) };
		struct left left = left_of(two, k, p, n, TWO_PIECES);

		if (left.sum >= least.sum || left.most >= least.most ||
		    !(two[0].b > 0) || !(two[1].b > 0))
			continue;
		least.sum = left.sum;
		best = k;
		memcpy(lines, two, sizeof(two));
	}
	if (best && is_dip(p, n, least.sum)) {
		lines[0] = lines[1] = one;
		best = 0;
	}
	return best;
}

/* ---- the result ---- */

static struct cs_fit_value value_of(double x, double half)
{
	return (struct cs_fit_value){ x, x - half, x + half };
}

/* 1 / beta; the interval of beta turned over. */
static struct cs_fit_value rate_of(const struct line *line, double t)
{
	double half = t * sqrt(line->var_b);

	return (struct cs_fit_value){
		1e-3 / line->b,
		1e-3 / (line->b + half),
		half < line->b ? 1e-3 / (line->b - half) : INFINITY,
	};
}

/* alpha / beta, by the variance of its logarithm. */
static struct cs_fit_value half_of(const struct line *line, double t)
{
	double half = line->a / line->b, log_sd;

	if (!(line->a > 0))
		return (struct cs_fit_value){ NAN, NAN, NAN };
	log_sd = sqrt(fmax(line->var_a / (line->a * line->a) +
				   line->var_b / (line->b * line->b) -
				   2 * line->cov / (line->a * line->b),
			   0));
	return (struct cs_fit_value){ half, half * exp(-t * log_sd),
				      half * exp(t * log_sd) };
}

/* The size at which a copy takes twice as long as by 1 / beta of the last piece: on
 * the last piece, else on the first. */
static struct cs_fit_value half_of_two(const struct line lines[2],
				       double switch_bytes, double t)
{
	struct cs_fit_value half = half_of(&lines[1], t);
	struct line to = lines[0];

	if (half.value >= switch_bytes)
		return half;
	to.b = 2 * lines[1].b - to.b;
	to.var_b += 4 * lines[1].var_b;
	to.cov = -to.cov;
	return to.b > 0 ? half_of(&to, t) : (struct cs_fit_value){ NAN, NAN, NAN };
}

static void find_worst(const struct cs_fit_point *p, size_t n, size_t at_switch,
		       const struct line lines[2], struct cs_fit *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct line *line = &lines[at_switch && i >= at_switch];
		double off = p[i].us / at(line, p[i].bytes) - 1;

		if (i && !(fabs(off) > fabs(out->worst)))
			continue;
		out->worst = off;
		out->worst_bytes = p[i].bytes;
	}
}

int cs_fit_sweep(const struct cs_fit_point *points, size_t n, struct cs_fit *out)
{
	struct cs_fit fit = { .n = n };
	struct line lines[2];
	double t_first, t_last;
	size_t k;

	if (n < CS_FIT_LEAST || n > CS_FIT_MOST)
		return -1;
	k = find_switch(points, n, lines);
	if (!(lines[1].b > 0))
		return -1;
	t_first = cs_student_t(OUTSIDE, (double)((k ? k : n) - ONE_PIECE));
	t_last = cs_student_t(OUTSIDE, (double)(n - k - ONE_PIECE));
	fit.alpha_us = value_of(lines[0].a, t_first * sqrt(lines[0].var_a));
	fit.gbs = rate_of(&lines[1], t_last);
	fit.switch_bytes = k ? points[k].bytes : 0;
	fit.half_bytes = k ? half_of_two(lines, fit.switch_bytes,
					 fmax(t_first, t_last)) :
			     half_of(&lines[0], t_last);
	find_worst(points, n, k, lines, &fit);
	*out = fit;
	return 0;
}
