/* Statistics of samples: the bytes as doubles, whatever they are. */
#include "fuzz.h"
#include "result/stats.h"

#define SAMPLES_MAX 4096

/* Figures of measurements: finite, and not below 0. */
static int all_sound(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]) || x[i] < 0)
			return 0;
	return 1;
}

static void in_order(const struct cs_stats *s)
{
	MUST(s->min <= s->p5 && s->p5 <= s->median);
	MUST(s->median <= s->p95 && s->p95 <= s->max);
	MUST(s->n < 6 ||
	     (0 <= s->ci_low && s->ci_low <= s->median && s->median <= s->ci_high));
	MUST(s->mad >= 0 && s->mad <= s->max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(double);
	struct cs_stats stats;
	double *x;

	if (!n || n > SAMPLES_MAX)
		return 0;
	x = malloc(n * sizeof(*x));
	MUST(x != NULL);
	memcpy(x, data, n * sizeof(*x));
	cs_stats_of(x, n, &stats);
	MUST(!memcmp(x, data, n * sizeof(*x)));
	MUST(stats.n == n);
	MUST(n >= 6 || isnan(stats.ci_low));
	/* a cell ends when this is small: it must not end on nonsense */
	MUST(cs_stats_margin(&stats) >= 0);
	if (all_sound(x, n))
		in_order(&stats);
	free(x);
	return 0;
}
