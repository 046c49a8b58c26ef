#include "check/model/fit.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"

#define LEAST_STEP 1.15
#define LEAST_SD 0.005	   /* of a figure: healthy medians vary by as much */
#define STEPS_A_OCTAVE 8.0 /* of the search, … */
#define FINEST 0.01	   /* … which ends with steps of that many octaves */
#define ROUNDS 3
#define DESCENTS 60
#define APART 8 /* steps of FINEST from one place of an interval to the next */
#define OUTSIDE 0.05
#define LEAST 5 /* sizes */

struct stairs {
	int n;
	double knee[CS_KNEES_MOST], step[CS_KNEES_MOST + 1], sharpness;
};

struct sweep {
	const struct cs_knee_point *p;
	size_t n;
};

/* The share of the k-th step that a size has; the first is of all. */
static double share(const struct stairs *s, int k, double bytes)
{
	double knee = k ? s->knee[k - 1] : 0;

	return !k ? 1 : bytes <= knee ? 0 : 1 - pow(knee / bytes, s->sharpness);
}

#define TERMS (CS_KNEES_MOST + 1)

/* Solve a[m][m] x = b in place, a positive definite.  -1: it is singular. */
static int solve(double a[TERMS][TERMS], double *b, int m)
{
	for (int i = 0; i < m; i++) {
		double pivot = a[i][i];

		if (!(pivot > 1e-9))
			return -1;
		for (int r = i + 1; r < m; r++) {
			double f = a[r][i] / pivot;

			for (int c = i; c < m; c++)
				a[r][c] -= f * a[i][c];
			b[r] -= f * b[i];
		}
	}
	for (int i = m - 1; i >= 0; i--) {
		for (int c = i + 1; c < m; c++)
			b[i] -= a[i][c] * b[c];
		b[i] /= a[i][i];
	}
	return 0;
}

/* Sets the steps that fit best, and returns the sum of squares of the residuals, each as
 * a share of its time; INFINITY if a step goes down. */
static double fit(const struct sweep *sweep, struct stairs *s)
{
	double a[TERMS][TERMS] = { { 0 } }, b[TERMS] = { 0 }, left = 0;
	int m = s->n + 1;

	for (size_t i = 0; i < sweep->n; i++) {
		const struct cs_knee_point *p = &sweep->p[i];
		double part[TERMS];

		for (int k = 0; k < m; k++)
			part[k] = share(s, k, p->bytes);
		for (int r = 0; r < m; r++) {
			double x = part[r] / p->ns;

			b[r] += x;
			for (int c = 0; c < m; c++)
				a[r][c] += x * part[c] / p->ns;
		}
	}
	if (solve(a, b, m))
		return INFINITY;
	memcpy(s->step, b, sizeof(s->step));
	for (int k = 0; k < m; k++)
		if (!(b[k] > 0))
			return INFINITY;
	for (size_t i = 0; i < sweep->n; i++) {
		double ns = 0;

		for (int k = 0; k < m; k++)
			ns += b[k] * share(s, k, sweep->p[i].bytes);
		left += pow(ns / sweep->p[i].ns - 1, 2);
	}
	return left;
}

/* Is it better with its k-th knee there?  Then it is moved. */
static int move(const struct sweep *sweep, struct stairs *s, int k, double knee,
		double *left)
{
	struct stairs moved = *s;
	double now;

	if (knee < sweep->p[0].bytes / 2 || knee > sweep->p[sweep->n - 1].bytes)
		return 0;
	moved.knee[k] = knee;
	now = fit(sweep, &moved);
	if (!(now < *left))
		return 0;
	*s = moved;
	*left = now;
	return 1;
}

/* Move knees by ever smaller steps until none gets better, all but `held` (-1: all). */
static double descend(const struct sweep *sweep, struct stairs *s, int held,
		      double left)
{
	for (double by = 1 / STEPS_A_OCTAVE; by > FINEST; by /= 2)
		for (int better = 1, i = 0; better && i < DESCENTS; i++) {
			better = 0;
			for (int k = 0; k < s->n; k++)
				if (k != held)
					better |= move(sweep, s, k,
						       s->knee[k] * exp2(by), &left) ||
						  move(sweep, s, k,
						       s->knee[k] * exp2(-by), &left);
		}
	return left;
}

/* Search all places of each knee in turn, then near them. */
static double settle(const struct sweep *sweep, struct stairs *s, double left)
{
	const double first = sweep->p[0].bytes / 2;
	const double octaves = log2(sweep->p[sweep->n - 1].bytes / first);

	for (int round = 0; round < ROUNDS; round++)
		for (int k = s->n - 1; k >= 0; k--)
			for (int i = 0; i <= octaves * STEPS_A_OCTAVE; i++)
				move(sweep, s, k, first * exp2(i / STEPS_A_OCTAVE),
				     &left);
	return descend(sweep, s, -1, left);
}

/* Does each step go up by as much as a knee has at least? */
static int are_steps(const struct stairs *s)
{
	double below = s->step[0];

	for (int k = 1; k <= s->n; k++) {
		if (below + s->step[k] < LEAST_STEP * below)
			return 0;
		below += s->step[k];
	}
	return 1;
}

static void sort(struct stairs *s)
{
	for (int i = 1; i < s->n; i++)
		for (int k = i; k > 0 && s->knee[k] < s->knee[k - 1]; k--) {
			double knee = s->knee[k], step = s->step[k + 1];

			s->knee[k] = s->knee[k - 1];
			s->step[k + 1] = s->step[k];
			s->knee[k - 1] = knee;
			s->step[k] = step;
		}
}

/* Residual of a perfect fit: figures are no more exact. */
static double least_of(const struct sweep *sweep)
{
	return (double)sweep->n * LEAST_SD * LEAST_SD;
}

/* Add one knee after the other; the stairs of which each has halved the residuals, whose
 * sum is returned. */
static double climb(const struct sweep *sweep, struct stairs *best)
{
	struct stairs s = *best;
	double least = fmax(fit(sweep, best), least_of(sweep));

	while (s.n < CS_KNEES_MOST && sweep->n > 2 * (size_t)s.n + 5) {
		double left;

		s.knee[s.n++] = sweep->p[0].bytes;
		left = fmax(settle(sweep, &s, INFINITY), least_of(sweep));
		sort(&s);
		if (left * exp2(s.n - best->n) > least || !are_steps(&s))
			continue;
		*best = s;
		least = left;
	}
	return least;
}

/* The furthest place of a knee, upwards or downwards, that the residuals allow if the other
 * knees move with it. */
static double end_of(const struct sweep *sweep, const struct stairs *s, int k,
		     double most, double up)
{
	struct stairs moved = *s;
	double at = s->knee[k];

	do {
		at *= exp2(up * APART * FINEST);
		moved.knee[k] = at;
	} while (at > sweep->p[0].bytes / 4 && at < 2 * sweep->p[sweep->n - 1].bytes &&
		 descend(sweep, &moved, k, fit(sweep, &moved)) <= most);
	return at;
}

/* The stairs of each sharpness, and their residuals. */
struct found {
	struct stairs stairs;
	double left;
};
static const double sharpness[] = { 1, 1.5, 2, 4, 16 };
#define SHAPES (sizeof(sharpness) / sizeof(*sharpness))

/* The interval of all shapes that the residuals allow. */
static struct cs_fit_value value_of(const struct sweep *sweep,
				    const struct found *found,
				    const struct found *best, int k)
{
	const double df = (double)(sweep->n - 2 * (size_t)best->stairs.n - 1);
	const double t = cs_student_t(OUTSIDE, df),
		     most = best->left * (1 + t * t / df);
	const double at = best->stairs.knee[k];
	struct cs_fit_value value = { at, at, at };

	for (size_t i = 0; i < SHAPES; i++) {
		if (found[i].stairs.n != best->stairs.n || found[i].left > most)
			continue;
		value.low = fmin(value.low,
				 end_of(sweep, &found[i].stairs, k, most, -1));
		value.high = fmax(value.high,
				  end_of(sweep, &found[i].stairs, k, most, 1));
	}
	return value;
}

void cs_knees_find(const struct cs_knee_point *points, size_t n, struct cs_knees *out)
{
	const struct sweep sweep = { points, n };
	struct found found[SHAPES], *best = found;

	*out = (struct cs_knees){ 0 };
	if (n < LEAST)
		return;
	for (size_t i = 0; i < SHAPES; i++) {
		found[i].stairs = (struct stairs){ .sharpness = sharpness[i] };
		found[i].left = climb(&sweep, &found[i].stairs);
		if (found[i].left < best->left)
			best = &found[i];
	}
	out->n = best->stairs.n;
	out->ns[0] = best->stairs.step[0];
	for (int k = 0; k < out->n; k++) {
		out->ns[k + 1] = out->ns[k] + best->stairs.step[k + 1];
		out->bytes[k] = value_of(&sweep, found, best, k);
	}
}
