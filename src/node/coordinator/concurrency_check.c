/* concurrency_check.c - compares rates measured concurrently with those measured alone. */
#include "node/coordinator/coordinator_state.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"

/* A rate is in doubt if it is 0.5 %, and more than it is uncertain, below the median of
 * pairs measured alone, which one slow pair does not move; or, if pairs differ by design,
 * if it is slower than some of them and similar to none. */
int cs_concurrency_doubts(const struct cs_concurrency *concurrent,
			  const struct cs_rates *rates, uint32_t k, uint32_t n)
{
	const double *alone = concurrent->alone.data, gbs = rates->median[k];
	double most = 0, usual = concurrent->median, all[CS_STEP_MAX];
	double matters = isfinite(rates->margin[k]) ?
				 fmax(CS_CONCURRENCY_MATTERS, rates->margin[k]) :
				 CS_CONCURRENCY_MATTERS;

	if (!concurrent->alone.n) {
		memcpy(all, rates->median, n * sizeof(*all));
		usual = cs_median(all, n);
	}
	if (gbs < (1 - matters) * usual)
		return 1;
	for (size_t i = 0; i < concurrent->alone.n; i++) {
		if (fabs(gbs / alone[i] - 1) <= matters)
			return 0;
		most = fmax(most, alone[i]);
	}
	return gbs < most;
}

void cs_concurrency_learn(struct cs_concurrency *concurrent, const double *alone,
			  uint32_t n)
{
	struct cs_err err;

	for (uint32_t k = 0; k < n; k++)
		if (!isnan(alone[k]) &&
		    cs_vec_push(&concurrent->alone, &alone[k], &err))
			concurrent->matters = 1;
	if (concurrent->alone.n)
		concurrent->median = cs_median(concurrent->alone.data,
					       concurrent->alone.n);
}
