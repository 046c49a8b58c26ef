/* below.c - cells below what their live links usually give, if there is nothing else to
 * compare them with: two GPUs, or all alike. */
#include "check/cells/anomaly.h"

#include <math.h>

#include "base/statistics.h"
#include "check/link/expect.h"

/* Other systems may be a little below the least that is on record. */
#define PEER_LEAST 0.95
#define HOST_LEAST 0.9

/* Its share of the least that is usual; NAN not known, or covered. */
static double share_of(const struct cs_node_test *p, size_t i)
{
	const struct cs_row *row = cs_judged_row(p->cells, i);
	double low, high;

	if (p->cells->judged[i].unsure || p->cells->judged[i].covered)
		return NAN;
	if (cs_family_of(row) == CS_FAMILY_LOCAL)
		return row->stats.median / cs_local_least_gbs(p->cells->run, row);
	return cs_expected_gbs(p->cells->run, row, &low, &high) ?
		       NAN :
		       row->stats.median / low;
}

static struct cs_anomaly anomaly_of(const struct cs_node_test *p, enum cs_part part,
				    int a, int b, double share)
{
	struct cs_anomaly s = cs_node_test_anomaly(p, CS_CAUSE_BELOW, part, a, b);

	s.drop = 1 - share;
	cs_ways_of(cs_judged_row(p->cells, p->from), &s.sends, &s.receives);
	return s;
}

/* Each cell with the host, or within a GPU, by itself; `least`: share of the usual
 * figure. */
static void judge_each(const struct cs_node_test *p, double least)
{
	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_judged_cell *judged = &p->cells->judged[i];
		const struct cs_row *row = cs_judged_row(p->cells, i);
		double share = share_of(p, i);
		struct cs_anomaly s = anomaly_of(p, CS_PART_GPU, cs_gpu_of(row), -1,
						 share);

		if (!cs_is_beyond_noise(log(share / least), judged->noise, 0))
			continue;
		cs_anomaly_row(&s, judged->at, log(share));
		cs_list_push(p->anomalies, &s);
	}
}

/* Are cells from peer to peer below it as a whole, those from GPU `from`, or all (-1)? */
static int are_below(const struct cs_node_test *p, int from, struct cs_anomaly *s)
{
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS], noise[CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n = 0;

	*s = anomaly_of(p, CS_PART_NODE, -1, -1, NAN);
	for (size_t i = p->from; i < p->end && n < sizeof(x) / sizeof(x[0]); i++) {
		if (from >= 0 && cs_judged_row(p->cells, i)->what.src.index != from)
			continue;
		x[n] = share_of(p, i);
		noise[n] = p->cells->judged[i].noise;
		if (isnan(x[n]))
			continue;
		cs_anomaly_row(s, p->cells->judged[i].at, log(x[n]));
		n++;
	}
	if (!n)
		return 0;
	s->drop = 1 - cs_median(x, n);
	return cs_is_beyond_noise(log1p(-s->drop) - log(PEER_LEAST),
				  cs_median(noise, n), 0);
}

/* Judge two GPUs: each way by itself, but one anomaly if both ways are slow. */
static void judge_two(const struct cs_node_test *p)
{
	struct cs_anomaly there, back, both;
	const int sends = are_below(p, 0, &there), receives = are_below(p, 1, &back);

	if (!sends && !receives)
		return;
	are_below(p, -1, &both);
	if (!sends || !receives)
		both = sends ? there : back;
	both.part = CS_PART_LINK;
	both.a = 0;
	both.b = 1;
	both.sends = sends;
	both.receives = receives;
	cs_list_push(p->anomalies, &both);
}

static void judge_peers(const struct cs_node_test *p)
{
	struct cs_anomaly s;

	if (p->cells->run->node[cs_judged_row(p->cells, p->from)->node].facts.n_agents ==
	    2)
		judge_two(p);
	else if (are_below(p, -1, &s))
		cs_list_push(p->anomalies, &s);
}

void cs_below_find(struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct cs_node_test p = { .cells = cells, .anomalies = anomalies };

	for (; p.from < cells->n; p.from = p.end) {
		const struct cs_row *row = cs_judged_row(cells, p.from);

		p.end = cs_judged_cells_node_end(cells, p.from);
		if (cs_family_of(row) == CS_FAMILY_HOST)
			judge_each(&p, HOST_LEAST);
		else if (cs_family_of(row) == CS_FAMILY_LOCAL)
			judge_each(&p, 1);
		else if (cs_family_of(row) == CS_FAMILY_PEER)
			judge_peers(&p);
	}
}
