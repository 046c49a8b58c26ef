/* The scales of reports: where each class begins, and that everyone can read them. */
#include <stddef.h>

#include "report/scale.h"
#include "tap.h"

/* ---- colours: sRGB (IEC 61966-2-1), L*a*b* (CIE 1976, D65) ---- */

struct rgb {
	double c[3]; /* linear light */
};

static struct rgb light_of(uint32_t hex)
{
	struct rgb light;

	for (int i = 0; i < 3; i++) {
		double v = (hex >> (16 - 8 * i) & 255) / 255.0;

		light.c[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
	}
	return light;
}

static double luminance(struct rgb x)
{
	return 0.2126 * x.c[0] + 0.7152 * x.c[1] + 0.0722 * x.c[2];
}

/* WCAG 2.1. */
static double contrast(uint32_t one, uint32_t other)
{
	double a = luminance(light_of(one)), b = luminance(light_of(other));

	return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
}

static struct rgb times(const double m[3][3], struct rgb x)
{
	struct rgb y;

	for (int i = 0; i < 3; i++)
		y.c[i] = m[i][0] * x.c[0] + m[i][1] * x.c[1] + m[i][2] * x.c[2];
	return y;
}

/* As eyes without one kind of cone see it: Vienot, Brettel and Mollon, 1999 (red and
 * green), and Brettel's plane of blue as one matrix. */
static const double seen[][3][3] = {
	{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	{ { 0.11238, 0.88762, 0 }, { 0.11238, 0.88762, 0 }, { 0.00401, -0.00401, 1 } },
	{ { 0.29275, 0.70725, 0 }, { 0.29275, 0.70725, 0 }, { -0.02234, 0.02234, 1 } },
	{ { 1.01277, 0.13548, -0.14826 },
	  { -0.01243, 0.86812, 0.14431 },
	  { 0.07589, 0.805, 0.11911 } },
};
#define EYES 4

static double lab_f(double t)
{
	return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static void lab(struct rgb x, double out[3])
{
	static const double to_xyz[3][3] = { { 0.4124564, 0.3575761, 0.1804375 },
					     { 0.2126729, 0.7151522, 0.0721750 },
					     { 0.0193339, 0.1191920, 0.9503041 } };
	struct rgb xyz = times(to_xyz, x);
	double fx = lab_f(fmax(xyz.c[0], 0) / 0.95047), fy = lab_f(fmax(xyz.c[1], 0));
	double fz = lab_f(fmax(xyz.c[2], 0) / 1.08883);

	out[0] = 116 * fy - 16;
	out[1] = 500 * (fx - fy);
	out[2] = 200 * (fy - fz);
}

static double apart(uint32_t one, uint32_t other, int eye)
{
	double a[3], b[3];

	lab(times(seen[eye], light_of(one)), a);
	lab(times(seen[eye], light_of(other)), b);
	return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

static const struct cs_scale *const scales[] = { &cs_scale_share,
						 &cs_scale_difference };

/* ---- what holds ---- */

HOLDS("every ink has 4.5 : 1 on its fill, light and dark") {
	for (int s = 0; s < 2; s++)
		for (int i = 0; i < scales[s]->n; i++)
			for (int page = 0; page < CS_THEMES; page++)
				t_ok(contrast(scales[s]->shade[i].fill[page],
					      scales[s]->shade[i].ink[page]) >= 4.5);
}

/* From what is quiet on: darker on a light page, lighter on a dark one. */
HOLDS("the order is kept in grey") {
	for (int s = 0; s < 2; s++)
		for (int i = s + 1; i < scales[s]->n; i++) {
			const struct cs_shade *x = &scales[s]->shade[i];

			t_ok(luminance(light_of(x->fill[CS_THEME_LIGHT])) <
			     luminance(light_of(x[-1].fill[CS_THEME_LIGHT])));
			t_ok(luminance(light_of(x->fill[CS_THEME_DARK])) >
			     luminance(light_of(x[-1].fill[CS_THEME_DARK])));
		}
}

HOLDS("neighbours are apart, for those who do not see all colours too") {
	for (int s = 0; s < 2; s++)
		for (int i = 1; i < scales[s]->n; i++)
			for (int k = 0; k < EYES * CS_THEMES; k++)
				t_ok(apart(scales[s]->shade[i].fill[k % CS_THEMES],
					   scales[s]->shade[i - 1].fill[k % CS_THEMES],
					   k / CS_THEMES) >= 10);
}

HOLDS("faster is like nothing that is slower") {
	const struct cs_shade *d = cs_scale_difference.shade;

	for (int i = 2; i < cs_scale_difference.n; i++)
		for (int k = 0; k < EYES * CS_THEMES; k++)
			t_ok(apart(d[0].fill[k % CS_THEMES], d[i].fill[k % CS_THEMES],
				   k / CS_THEMES) >= 12);
}

HOLDS("shares of the link have their class") {
	static const struct {
		double share;
		const char *name;
	} want[] = { { 1.3, "q5" }, { 0.8, "q5" },  { 0.799, "q4" }, { 0.7, "q4" },
		     { 0.5, "q3" }, { 0.25, "q2" }, { 0.249, "q1" }, { 0, "q1" },
		     { -1, "q1" },  { NAN, "q1" } };

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		t_eq_str(cs_shade_of_share(want[i].share)->name, want[i].name);
}

HOLDS("differences have their class") {
	static const struct {
		double difference;
		const char *name;
	} want[] = { { 0.02, "d6" },   { 0.01, "d5" },	 { 0, "d5" },
		     { -0.01, "d5" },  { -0.011, "d4" }, { -0.031, "d3" },
		     { -0.081, "d2" }, { -0.26, "d1" } };

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		t_eq_str(cs_shade_of_difference(want[i].difference)->name,
			 want[i].name);
}

HOLDS("a higher rate and a shorter time are better") {
	const struct cs_test rate = { .unit = CS_UNIT_GBS },
			     time = { .unit = CS_UNIT_NS };

	t_near(cs_difference(&rate, 88, 100), -0.12, 1e-12);
	t_near(cs_difference(&rate, 110, 100), 0.1, 1e-12);
	t_near(cs_difference(&time, 200, 100), -0.5, 1e-12);
	t_near(cs_difference(&time, 80, 100), 0.25, 1e-12);
}
