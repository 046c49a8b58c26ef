/* slow_alike.c - nodes that are slow alike. */
#include <math.h>

#include "check/cells/anomaly.h"

#define NODES_LEAST 5
#define ONE_IN 4 /* more than one in so many nodes */

static size_t count_below(const double *y, size_t n, double limit)
{
	size_t low = 0;

	while (low < n) {
		size_t mid = low + (n - low) / 2;

		if (y[mid] < limit)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

int cs_count_nodes(const double *y, size_t n, double own, double off, int *alike)
{
	double near = fabs(off) / 2;
	size_t below = count_below(y, n, own + near);

	*alike = (int)(below - count_below(y, n, own - near));
	return (int)(n - below);
}

int cs_is_of_many(int alike, int nodes)
{
	return nodes >= NODES_LEAST && alike > 1 && ONE_IN * alike > nodes;
}
