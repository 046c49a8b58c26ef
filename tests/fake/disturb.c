/* disturb.c - what changes from sample to sample: noise and drift.
 *
 * A sample is what waits for one value of a gate word, so values count samples, on all
 * GPUs alike; all copies of a path behind it are disturbed alike. */
#include "fake.h"

#include <pthread.h>

#include "../noise.h"

#define PATHS (FAKE_ENGINES * FAKE_PLACES * FAKE_PLACES)

static struct path {
	struct noise noise;
	uint32_t sample;
	int begun;
	double off; /* of this sample */
} paths[PATHS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* "gauss:0.008" or "gauss:0.008:0.5"; not set, no noise. */
static void noise_read(struct noise *noise)
{
	const char *text = getenv("FAKE_SAMPLE_NOISE");
	char shape[16];
	int end = -1, i;

	if (!text || !*text)
		return;
	if (sscanf(text, "%15[a-z0-9]:%lf%n:%lf%n", shape, &noise->sd, &end,
		   &noise->phi, &end) < 2 ||
	    text[end] || !(noise->sd >= 0 && noise->phi >= 0 && noise->phi < 1))
		fake_bad("FAKE_SAMPLE_NOISE");
	for (i = 0; i < NOISE_SHAPES && strcmp(shape, noise_name[i]); i++)
		;
	if (i == NOISE_SHAPES)
		fake_bad("FAKE_SAMPLE_NOISE");
	noise->shape = (enum noise_shape)i;
}

void fake_disturb_read(void)
{
	const char *drift = getenv("FAKE_DRIFT");
	uint64_t seed = (uint64_t)fake_number("FAKE_SEED", 0, INT64_MAX, 0);
	struct noise noise = { 0 };

	fake.drift = drift && *drift ? strtod(drift, NULL) : 0;
	if (!(fake.drift >= 0 && fake.drift < 1))
		fake_bad("FAKE_DRIFT");
	noise_read(&noise);
	for (unsigned i = 0; i < PATHS && noise.sd > 0; i++) {
		paths[i].noise = noise;
		noise_init(&paths[i].noise, seed * PATHS + i);
	}
}

static double noise_of(struct path *path, uint32_t sample)
{
	double off;

	pthread_mutex_lock(&lock);
	if (!path->begun || path->sample != sample)
		path->off = noise_next(&path->noise);
	path->begun = 1;
	path->sample = sample;
	off = path->off;
	pthread_mutex_unlock(&lock);
	return off;
}

double fake_disturbance(const struct fake_flow *flow)
{
	struct path *path = &paths[fake_path(flow)];
	uint32_t sample = flow->gate.value;
	double factor = 1 + fake.drift * sample;

	if (!flow->gate.flows)
		return 1;
	if (path->noise.sd > 0)
		factor *= 1 + noise_of(path, sample);
	return factor > 0.01 ? factor : 0.01;
}
