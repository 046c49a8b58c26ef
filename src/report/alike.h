/* alike.h - how far each cell is from the same cell of the other nodes of its class,
 * for pages.  It does not judge: check/fleet does. */
#ifndef CS_REPORT_ALIKE_H
#define CS_REPORT_ALIKE_H

#include "result/run.h"

struct cs_alike {
	const struct cs_run *run;
	int side;   /* agents of the largest node */
	int *class; /* by node: the first node like it; -1 nothing is known of it */
	double *worst; /* cs_alike_off() */
};

/* In the arena. */
const struct cs_alike *cs_alike_new(const struct cs_run *run);

/* Of a pair of agents, over all tests, the worst difference from the median of the
 * like, as a share, below 0 is worse: 0 within 1 %, or within 4 scaled MADs if
 * nodes differ more than that.  src == dst: what an agent has with the host and
 * within itself.  NAN: no figure. */
double cs_alike_off(const struct cs_alike *alike, int node, int src, int dst);
/* Has the node any figure? */
int cs_alike_measured(const struct cs_alike *alike, int node);

#endif
