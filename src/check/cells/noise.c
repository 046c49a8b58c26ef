/* noise.c - how far the figure of a cell can be trusted. */
#include "check/cells/anomaly.h"

#include <math.h>

int cs_is_unsure(const struct cs_row *row)
{
	/* a turn has few samples by intent */
	return (row->flags & CS_ROW_LOW_OVERLAP) ||
	       ((row->flags & CS_ROW_NOT_CONVERGED) &&
		!isfinite(cs_stats_margin(&row->stats)));
}

double cs_noise_of(const struct cs_row *row)
{
	const struct cs_stats *s = &row->stats;
	double interval = (s->ci_high - s->ci_low) / 2 / s->median;
	double spread = (s->p95 - s->p5) / 2 / s->median;

	/* of few samples there is no interval */
	return fmax(isfinite(interval) ? interval : 0, isfinite(spread) ? spread : 0);
}

int cs_is_beyond_noise(double off, double own, double others)
{
	return -off > own + others;
}
