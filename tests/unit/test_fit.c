/* The fit of a sweep, against lines that are known and against closed forms. */
#include "base/statistics.h"
#include "check/model/fit.h"
#include "tap.h"

#define MIB 1048576.0

/* From 4 KiB on, each size four times the one before. */
static size_t draw(struct cs_fit_point *p, size_t n, double alpha_us, double gbs)
{
	double bytes = 4096;

	for (size_t i = 0; i < n; i++, bytes *= 4)
		p[i] = (struct cs_fit_point){ bytes, alpha_us + 1e-3 * bytes / gbs };
	return n;
}

HOLDS("a line is found as it is") {
	struct cs_fit_point p[10];
	struct cs_fit fit;

	draw(p, 10, 2.71, 393.7);
	t_must(!cs_fit_sweep(p, 10, &fit));
	t_near(fit.alpha_us.value, 2.71, 1e-9);
	t_near(fit.gbs.value, 393.7, 1e-6);
	t_near(fit.half_bytes.value, 2710 * 393.7, 1e-2);
	t_near(fit.switch_bytes, 0, 0);
	t_near(fit.worst, 0, 1e-9);
	t_eq_int(fit.n, 10);
	t_ok(fit.alpha_us.low <= 2.71 && 2.71 <= fit.alpha_us.high);
	t_ok(fit.alpha_us.high - fit.alpha_us.low < 1e-6);
}

/* Nothing of alpha in a time that only grows: half of the rate at no size. */
HOLDS("a link without latency has no half size") {
	struct cs_fit_point p[6];
	struct cs_fit fit;

	draw(p, 6, -0.001, 100);
	t_eq_int(cs_fit_sweep(p, 6, &fit), 0);
	t_near(fit.alpha_us.value, -0.001, 1e-9);
	t_near(fit.half_bytes.value, NAN, 0);
}

HOLDS("one size that is off does not move the line") {
	struct cs_fit_point p[10];
	struct cs_fit fit;

	draw(p, 10, 2.5, 396);
	p[4].us *= 1.3;
	t_eq_int(cs_fit_sweep(p, 10, &fit), 0);
	t_near(fit.alpha_us.value, 2.5, 1e-6);
	t_near(fit.gbs.value, 396, 1e-3);
	t_near(fit.worst, 0.3, 1e-6);
	t_near(fit.worst_bytes, MIB, 0);
	t_near(fit.switch_bytes, 0, 0);
}

/* x = (1, n) / line of each point: inverse of the sum of x x', and a point's leverage. */
struct design {
	double aa, ab, bb;
};

static double line_at(const struct cs_fit *fit, double bytes)
{
	return fit->alpha_us.value + 1e-3 * bytes / fit->gbs.value;
}

static struct design invert(const struct cs_fit *fit, const struct cs_fit_point *p,
			    int n)
{
	double aa = 0, ab = 0, bb = 0, det;

	for (int i = 0; i < n; i++) {
		double t = line_at(fit, p[i].bytes);

		aa += 1 / t / t;
		ab += p[i].bytes / t / t;
		bb += p[i].bytes * p[i].bytes / t / t;
	}
	det = aa * bb - ab * ab;
	return (struct design){ bb / det, -ab / det, aa / det };
}

/* Residuals below Huber's bound: weighted least squares, whose estimate and interval
 * are formulas. */
HOLDS("small residuals give least squares") {
	static const double e[] = { 0.01, -0.01, -0.01, 0.01, 0.01, -0.01, -0.01, 0.01 };
	struct cs_fit_point p[8];
	double a = 0, b = 0, squares = 0, half;
	struct design inverse;
	struct cs_fit fit;

	draw(p, 8, 2, 100);
	for (int i = 0; i < 8; i++)
		p[i].us *= 1 + e[i];
	t_eq_int(cs_fit_sweep(p, 8, &fit), 0);
	inverse = invert(&fit, p, 8);
	for (int i = 0; i < 8; i++) {
		double t = line_at(&fit, p[i].bytes), r = p[i].us / t - 1;
		double n = p[i].bytes;
		double leverage =
			(inverse.aa + 2 * inverse.ab * n + inverse.bb * n * n) / t / t;

		a += r / t;
		b += r * n / t;
		squares += r * r / (1 - leverage);
	}
	/* the score is 0 at the estimate */
	t_near(a, 0, 1e-10);
	t_near(b / p[7].bytes, 0, 1e-10);
	half = cs_student_t(0.05, 6) * sqrt(squares / 6 * inverse.aa);
	t_near(fit.alpha_us.high - fit.alpha_us.value, half, 1e-9);
	t_near(fit.alpha_us.value - fit.alpha_us.low, half, 1e-9);
	half = cs_student_t(0.05, 6) * sqrt(squares / 6 * inverse.bb);
	t_near(1 / fit.gbs.low - 1 / fit.gbs.value, 1e3 * half, 1e-12);
	t_near(1 / fit.gbs.value - 1 / fit.gbs.high, 1e3 * half, 1e-12);
}

/* A protocol that costs four times as much to begin, and is twice as fast. */
HOLDS("a second piece is taken where it halves what is left") {
	struct cs_fit_point p[12], late[12];
	struct cs_fit fit;

	draw(p, 12, 2, 100);
	draw(late, 12, 8, 200);
	for (int i = 5; i < 12; i++)
		p[i] = late[i];
	t_eq_int(cs_fit_sweep(p, 12, &fit), 0);
	t_near(fit.switch_bytes, 4 * MIB, 0);
	t_near(fit.alpha_us.value, 2, 1e-6);
	t_near(fit.gbs.value, 200, 1e-4);
	/* 8 us * 200 GB/s lies before the switch: there 2 + n/100 = 2 n/200 never holds */
	t_near(fit.half_bytes.value, NAN, 0);
	t_near(fit.worst, 0, 1e-6);
}

/* Four sizes in a row are 10 % slow: the later ones are on the line of the earlier. */
HOLDS("a dip is no second piece") {
	struct cs_fit_point p[19];
	struct cs_fit fit;
	double bytes = 4096;

	for (int dip = 1; dip + 4 < 19; dip++) {
		bytes = 4096;
		for (int i = 0; i < 19; i++, bytes *= 2) {
			int slow = i >= dip && i < dip + 4;

			p[i] = (struct cs_fit_point){ bytes,
						      2.5 + 1e-3 * bytes / 396 };
			p[i].us *= (slow ? 1 / 0.9 : 1) + (i % 3 - 1) * 0.002;
		}
		t_eq_int(cs_fit_sweep(p, 19, &fit), 0);
		t_near(fit.switch_bytes, 0, 0);
	}
}

/* The size at which half of the last piece's rate is reached lies on the first one. */
HOLDS("half of the rate may lie on the first piece") {
	struct cs_fit_point p[12], late[12];
	struct cs_fit fit;

	draw(p, 12, 2, 100);
	draw(late, 12, 8, 150);
	for (int i = 6; i < 12; i++)
		p[i] = late[i];
	t_eq_int(cs_fit_sweep(p, 12, &fit), 0);
	t_near(fit.switch_bytes, 16 * MIB, 0);
	/* 2 + n/100e3 = 2 n/150e3 (us, bytes) */
	t_near(fit.half_bytes.value, 600e3, 1);
}

HOLDS("what is no sweep is refused") {
	struct cs_fit_point p[CS_FIT_MOST + 1];
	struct cs_fit fit = { .n = 77 };

	draw(p, 8, 2, 100);
	t_eq_int(cs_fit_sweep(p, CS_FIT_LEAST - 1, &fit), -1);
	t_eq_int(cs_fit_sweep(p, CS_FIT_MOST + 1, &fit), -1);
	for (int i = 0; i < 8; i++)
		p[i].us = 3;
	t_eq_int(cs_fit_sweep(p, 8, &fit), -1);
	t_eq_int(fit.n, 77);
	draw(p, CS_FIT_LEAST, 2, 100);
	t_eq_int(cs_fit_sweep(p, CS_FIT_LEAST, &fit), 0);
	t_eq_int(fit.n, CS_FIT_LEAST);
}
