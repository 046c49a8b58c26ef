/* below.c - less than the live links usually give, where there is nothing to hold a
 * cell against but what is known of such links: two GPUs, or all alike. */
#include "config.h"

#include "check/suspect.h"

#include <math.h>

#include "base/quant.h"
#include "check/expect.h"

/* Other systems may be a little below the least that is on record. */
#define PEER_LEAST 0.95
#define HOST_LEAST 0.9

/* Its share of the least that is usual; NAN not known. */
static double share_of(const struct cs_run *run, const struct cs_row *row)
{
	double low, high;

	return cs_is_unsure(row) || cs_expected_gbs(run, row, &low, &high) ?
		       NAN : row->stats.median / low;
}

/* One test on one node: its cells from peer to peer as a whole, a GPU's with the host. */
static int judge(const struct cs_spots *spots, size_t from, size_t end,
		 struct cs_vec *suspects, struct cs_err *err)
{
	const struct cs_run *run = spots->run;
	const struct cs_row *row = cs_rows_get(&run->rows, spots->spot[from].at);
	struct cs_suspect s = { .node = (int)row->node, .cause = CS_CAUSE_BELOW,
				.sends = 1, .receives = 1, .a = -1, .b = -1,
				.test = row->test, .tests = 1 };
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS], noise[CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n = 0;

	s.family = cs_family_of(row);
	for (size_t i = from; i < end && n < sizeof(x) / sizeof(x[0]); i++) {
		row = cs_rows_get(&run->rows, spots->spot[i].at);
		x[n] = share_of(run, row);
		noise[n] = spots->spot[i].noise;
		if (s.family == CS_FAMILY_HOST &&
		    cs_is_beyond_noise(log(x[n] / HOST_LEAST), noise[n], 0)) {
			struct cs_suspect one = s;

			one.part = CS_PART_GPU;
			one.a = cs_gpu_of(row);
			one.drop = 1 - x[n];
			cs_suspect_row(&one, spots->spot[i].at);
			if (cs_suspect_add(suspects, &one, err))
				return -1;
		}
		if (isnan(x[n]))
			continue;
		cs_suspect_row(&s, spots->spot[i].at);
		n++;
	}
	if (s.family != CS_FAMILY_PEER || !n)
		return 0;
	s.drop = 1 - cs_median(x, n);
	s.part = CS_PART_NODE;
	if (run->node[s.node].facts.n_agents == 2) {
		s.part = CS_PART_LINK;
		s.a = 0;
		s.b = 1;
	}
	return cs_is_beyond_noise(log1p(-s.drop) - log(PEER_LEAST),
				  cs_median(noise, n), 0) ?
		       cs_suspect_add(suspects, &s, err) : 0;
}

int cs_below_find(const struct cs_spots *spots, struct cs_vec *suspects,
		  struct cs_err *err)
{
	int rc = 0;

	for (size_t i = 0, k; i < spots->n && !rc; i = k) {
		k = cs_spots_node_end(spots, i);
		rc = judge(spots, i, k, suspects, err);
	}
	return rc;
}
