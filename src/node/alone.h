/* alone.h - what was measured alone, and so vouches for what runs concurrently. */
#ifndef CS_NODE_ALONE_H
#define CS_NODE_ALONE_H

#include <stdint.h>

#include "base/vec.h"

/* Whether concurrency changes the figures of a matrix. */
struct cs_concurrency {
	uint32_t rounds; /* that were carried out both ways */
	int matters;
	uint32_t remeasure;  /* transfers measured alone as well, being in doubt */
	struct cs_vec alone; /* double: GB/s of what was measured alone, in no order */
	double median;	     /* of these */
};

/* As the precision of a cell. */
#define CS_CONCURRENCY_MATTERS 0.005
/* n figures that were measured alone, NAN none.  Without memory for them nothing is
 * known, and pairs go one at a time. */
void cs_concurrency_learn(struct cs_concurrency *concurrent, const double *alone,
			  uint32_t n);
/* Is a concurrent rate too low for what was measured alone to vouch for it? */
int cs_concurrency_doubts(const struct cs_concurrency *concurrent, double gbs);

#endif
