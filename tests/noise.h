/* noise.h - seeded noise of known median, for simulations and the driver's double.
 *
 * What is drawn is how far a time lies from its median, as a share of it. */
#ifndef CS_TESTS_NOISE_H
#define CS_TESTS_NOISE_H

#include "base/rng.h"

enum noise_shape {
	NOISE_GAUSS,
	NOISE_UNIFORM,
	NOISE_EXPONENTIAL, /* its tail is slow */
	NOISE_T3,	   /* Student's t of 3 degrees of freedom */
	NOISE_BIMODAL,	   /* 70 % and, slower, 30 % */
	NOISE_OUTLIERS,	   /* Gauss; of 1 %, 10 standard deviations slower */
	NOISE_SHAPES
};

extern const char *const noise_name[NOISE_SHAPES];

struct noise {
	enum noise_shape shape;
	double sd;  /* standard deviation; of outliers that of the others */
	double phi; /* correlation of successive ones before they get their shape */
	struct cs_rng rng;
	double z; /* the last, of a Gaussian AR(1) */
};

void noise_init(struct noise *noise, uint64_t seed);
double noise_next(struct noise *noise);
/* Standard normal. */
double noise_gauss(struct cs_rng *rng);

#endif
