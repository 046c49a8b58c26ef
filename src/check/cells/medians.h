/* medians.h - the nodes and sockets as one figure each (medians.c), of which the slow ones
 * become anomalies (whole.c). */
#pragma once

#include "check/cells/usual.h"

#define CS_OF_ONE_FAMILY 0.04 /* slow by less is nothing, as a logarithm */
#define CS_NODES_SHOW 3	   /* so many nodes show which of them is slow */

/* The cells judged[from..end) of one test on a node, or those of a socket, as one. */
struct cs_whole {
	int node, socket; /* socket: NUMA node; -1 the node */
	uint32_t family, test;
	size_t from, end;
	/* compared, itself too; those that it is slower than; as slow, itself too */
	int nodes, slower, alike;
	int sends, receives; /* as anomalies have it */
	size_t cells;
	double y; /* the median of their figures, as a logarithm */
	double beside,
		lowest;	    /* of a socket: less that of the fastest other one of its
				* node; that of the slowest one of its node */
	double off, spread; /* of the usual figure; between healthy ones */
	double noise;
};

struct cs_wholes {
	const struct cs_judged_cells *cells;
	struct cs_vec all; /* struct cs_whole */
	struct cs_vec *anomalies;
};

/* Is that cell one of those? */
int cs_is_of_whole(const struct cs_wholes *w, const struct cs_whole *of, size_t i);
/* Append the nodes and sockets of one group, of all nodes of a class: judged[from..end). */
void cs_wholes_take(struct cs_wholes *w, size_t from, size_t end);
