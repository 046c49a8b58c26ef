/* concurrency_check.h - compares concurrent results with those of pairs that were
 * measured alone. */
#ifndef CS_NODE_COORDINATOR_CONCURRENCY_CHECK_H
#define CS_NODE_COORDINATOR_CONCURRENCY_CHECK_H

#include <stdint.h>

#include "base/vec.h"

/* Whether concurrency changes the figures of a matrix. */
struct cs_concurrency {
	uint32_t rounds; /* that were measured both alone and concurrently */
	int matters;
	uint32_t remeasure; /* doubtful transfers that were also measured alone */
	struct cs_vec alone; /* double: GB/s of transfers measured alone, in no order */
	double median;	     /* of these */
};

/* A larger relative difference counts: the default precision of a cell. */
#define CS_CONCURRENCY_MATTERS 0.005
/* Add n figures that were measured alone, NAN none.  If there is no memory for them,
 * nothing is known, and pairs are measured one at a time. */
void cs_concurrency_learn(struct cs_concurrency *concurrent, const double *alone,
			  uint32_t n);
/* Is a concurrent rate lower than the results measured alone can confirm? */
int cs_concurrency_doubts(const struct cs_concurrency *concurrent, double gbs);

#endif
