#include "noise.h"

#include <math.h>

/* Each mode of the bimodal is uniform, and so wide, of the whole's deviation. */
#define MODE_SD 0.05
#define SLOW_SHARE 0.3

const char *const noise_name[NOISE_SHAPES] = {
	[NOISE_GAUSS] = "gauss",
	[NOISE_UNIFORM] = "uniform",
	[NOISE_EXPONENTIAL] = "exponential",
	[NOISE_T3] = "t3",
	[NOISE_BIMODAL] = "bimodal",
	[NOISE_OUTLIERS] = "outliers",
};

/* In (0, 1). */
static double uniform(struct cs_rng *rng)
{
	return ((double)(cs_rng_next(rng) >> 11) + 0.5) / 9007199254740992.0;
}

double noise_gauss(struct cs_rng *rng)
{
	double radius = sqrt(-2 * log(uniform(rng)));

	return radius * cos(2 * M_PI * uniform(rng));
}

/* Of uniform numbers u: standard deviation 1, median 0. */
static double bimodal(double u)
{
	double fast = 1 - SLOW_SHARE;
	double gap = sqrt((1 - MODE_SD * MODE_SD) / (fast * SLOW_SHARE));
	double within = u < fast ? u / fast : (u - fast) / SLOW_SHARE;

	return (u < fast ? 0 : gap) + MODE_SD * sqrt(12) * (within - 0.5 / fast);
}

static double t3(struct cs_rng *rng, double z)
{
	double squares = 0;

	for (int i = 0; i < 3; i++) {
		double g = noise_gauss(rng);

		squares += g * g;
	}
	return z / sqrt(squares / 3) / sqrt(3);
}

static double shaped(struct noise *noise, double z)
{
	double u = 0.5 * erfc(-z / M_SQRT2);

	switch (noise->shape) {
	case NOISE_UNIFORM:
		return sqrt(12) * (u - 0.5);
	case NOISE_EXPONENTIAL:
		return -log(0.5 * erfc(z / M_SQRT2)) - M_LN2;
	case NOISE_T3:
		return t3(&noise->rng, z);
	case NOISE_BIMODAL:
		return bimodal(u);
	case NOISE_OUTLIERS:
		return z + (uniform(&noise->rng) < 0.01 ? 10 : 0);
	default:
		return z;
	}
}

void noise_init(struct noise *noise, uint64_t seed)
{
	noise->rng.state = seed;
	noise->z = noise_gauss(&noise->rng);
}

double noise_next(struct noise *noise)
{
	double phi = noise->phi;

	noise->z = phi * noise->z + sqrt(1 - phi * phi) * noise_gauss(&noise->rng);
	return noise->sd * shaped(noise, noise->z);
}
