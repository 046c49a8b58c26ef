/* alone.c - what was measured alone, and whether it vouches for what was not. */
#include "config.h"

#include <math.h>

#include "base/quant.h"
#include "node/coordinator.h"

/* What is 0.5 % slower than the median of those alone is in doubt, which one pair that
 * is slow by itself does not move; and what is slower than some of them and like none,
 * where pairs differ by design. */
int cs_company_doubts(const struct cs_company *company, double gbs)
{
	const double *alone = company->alone.data;
	double most = 0;
	size_t i;

	if (gbs < (1 - CS_COMPANY_MATTERS) * company->median)
		return 1;
	for (i = 0; i < company->alone.n; i++) {
		if (fabs(gbs / alone[i] - 1) <= CS_COMPANY_MATTERS)
			return 0;
		most = fmax(most, alone[i]);
	}
	return gbs < most;
}

void cs_company_learn(struct cs_company *company, const double *alone, uint32_t n)
{
	struct cs_err err;

	for (uint32_t k = 0; k < n; k++)
		if (!isnan(alone[k]) && cs_vec_push(&company->alone, &alone[k], &err))
			company->matters = 1;
	if (company->alone.n)
		company->median = cs_median(company->alone.data, company->alone.n);
}
