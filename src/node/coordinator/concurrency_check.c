/* concurrency_check.c - what was measured alone, and whether it vouches for what was
 * not. */
#include "config.h"

#include "node/coordinator/concurrency_check.h"

#include <math.h>

#include "base/quant.h"

/* What is 0.5 % slower than the median of those alone is in doubt, which one pair that
 * is slow by itself does not move; and what is slower than some of them and like none,
 * where pairs differ by design. */
int cs_concurrency_doubts(const struct cs_concurrency *concurrent, double gbs)
{
	const double *alone = concurrent->alone.data;
	double most = 0;
	size_t i;

	if (gbs < (1 - CS_CONCURRENCY_MATTERS) * concurrent->median)
		return 1;
	for (i = 0; i < concurrent->alone.n; i++) {
		if (fabs(gbs / alone[i] - 1) <= CS_CONCURRENCY_MATTERS)
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
