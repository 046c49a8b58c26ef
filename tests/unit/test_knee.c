/* The ends of memories in the latency of chases, against stairs that are known. */
#include "config.h"

#include "base/rng.h"
#include "check/model/fit.h"
#include "tap.h"

#define KIB 1024.0
#define MIB 1048576.0

/* Sizes from 8 KiB on, three an octave: the latency of three levels and what follows. */
static size_t draw(struct cs_knee_point *p, size_t n, const double *knee,
		   const double *ns, int levels, double sharpness)
{
	for (size_t i = 0; i < n; i++) {
		p[i] = (struct cs_knee_point){ 8 * KIB * exp2((double)i / 3), ns[0] };
		for (int k = 0; k < levels; k++)
			if (p[i].bytes > knee[k])
				p[i].ns += (ns[k + 1] - ns[k]) *
					   (1 - pow(knee[k] / p[i].bytes, sharpness));
	}
	return n;
}

static const double knees[] = { 48 * KIB, 2 * MIB, 36 * MIB };
static const double ns[] = { 1.6, 5, 25, 110 };

HOLDS("caches are found as they are, by chance or by age, each size in its interval") {
	for (double sharpness = 1; sharpness <= 16; sharpness *= 4) {
		struct cs_knee_point p[48];
		struct cs_knees found;

		cs_knees_find(p, draw(p, 48, knees, ns, 3, sharpness), &found);
		t_eq_int(found.n, 3);
		for (int k = 0; k < found.n; k++) {
			t_near(found.bytes[k].value / knees[k], 1, 0.02);
			t_ok(found.bytes[k].low < knees[k] &&
			     knees[k] < found.bytes[k].high);
			t_near(found.ns[k] / ns[k], 1, 0.02);
		}
		t_near(found.ns[3] / ns[3], 1, 0.05);
	}
}

HOLDS("a memory that takes the same at all sizes has no end") {
	struct cs_knee_point p[20];
	struct cs_knees found;

	cs_knees_find(p, draw(p, 20, NULL, ns, 0, 1), &found);
	t_eq_int(found.n, 0);
	t_near(found.ns[0], 1.6, 1e-9);
}

/* Uniform within 3 % of either side. */
static double noise(struct cs_rng *rng)
{
	return 0.06 * ((double)cs_rng_below(rng, 1000001) / 1e6 - 0.5);
}

HOLDS("noise of 3 % has no knee, and moves those that are there by little") {
	struct cs_rng rng = { 20261126 };
	int none = 0, all = 0, within = 0, runs = TIMES(20);

	for (int run = 0; run < runs; run++) {
		struct cs_knee_point flat[40], p[48];
		struct cs_knees found;

		draw(flat, 40, NULL, ns, 0, 1);
		draw(p, 48, knees, ns, 3, 1);
		for (int i = 0; i < 40; i++)
			flat[i].ns *= 1 + noise(&rng);
		for (int i = 0; i < 48; i++)
			p[i].ns *= 1 + noise(&rng);
		cs_knees_find(flat, 40, &found);
		none += found.n == 0;
		cs_knees_find(p, 48, &found);
		all += found.n == 3;
		for (int k = 0; k < found.n && found.n == 3; k++)
			within += fabs(log2(found.bytes[k].value / knees[k])) < 0.25;
	}
	t_eq_int(none, runs);
	t_ok(all == runs);
	t_ok(within == 3 * runs);
}

HOLDS("too few sizes have no knee") {
	struct cs_knee_point p[4];
	struct cs_knees found;

	cs_knees_find(p, draw(p, 4, knees, ns, 1, 1), &found);
	t_eq_int(found.n, 0);
}
