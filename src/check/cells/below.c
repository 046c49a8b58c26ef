/* below.c - cells below what their live links usually give, if there is nothing else to
 * compare them with: two GPUs, or all alike. */
#include "check/cells/anomaly.h"

#include <math.h>

#include "base/statistics.h"
#include "check/link/expect.h"

/* Other systems may be a little below the least that is on record. */
#define PEER_LEAST 0.95
#define HOST_LEAST 0.9

/* One test on one node. */
struct part {
	const struct cs_judged_cells *judged_cells;
	size_t from, end;
	struct cs_vec *anomalies;
	size_t first, after; /* of the node, of those that were there before */
};

static const struct cs_row *row_at(const struct part *p, size_t i)
{
	return cs_rows_get(&p->judged_cells->run->rows, p->judged_cells->judged[i].at);
}

/* Is the cell covered by another anomaly? */
static int is_explained(const struct part *p, const struct cs_row *row)
{
	const struct cs_anomaly *s = p->anomalies->data;

	for (size_t i = p->first; i < p->after; i++)
		if (cs_anomaly_bears(p->judged_cells->run, &s[i], row))
			return 1;
	return 0;
}

/* Its share of the least that is usual; NAN not known, or explained. */
static double share_of(const struct part *p, const struct cs_row *row)
{
	double low, high;

	if (cs_is_unsure(row) || is_explained(p, row))
		return NAN;
	if (cs_family_of(row) == CS_FAMILY_LOCAL)
		return row->stats.median /
		       cs_local_least_gbs(p->judged_cells->run, row);
	return cs_expected_gbs(p->judged_cells->run, row, &low, &high) ?
		       NAN :
		       row->stats.median / low;
}

static struct cs_anomaly anomaly_of(const struct part *p, enum cs_part part, int a,
				    int b, double share)
{
	const struct cs_row *row = row_at(p, p->from);

	struct cs_anomaly s = {
		.node = (int)row->node,
		.part = part,
		.family = cs_family_of(row),
		.cause = CS_CAUSE_BELOW,
		.a = a,
		.b = b,
		.drop = 1 - share,
		.test = row->test,
		.tests = 1,
	};

	cs_ways_of(row, &s.sends, &s.receives);
	return s;
}

/* Each cell with the host, or within a GPU, by itself; `least`: share of what is usual. */
static void judge_each(const struct part *p, double least)
{
	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_judged_cell *judged = &p->judged_cells->judged[i];
		const struct cs_row *row = row_at(p, i);
		double share = share_of(p, row);
		struct cs_anomaly s = anomaly_of(p, CS_PART_GPU, cs_gpu_of(row), -1,
						 share);

		if (!cs_is_beyond_noise(log(share / least), judged->noise, 0))
			continue;
		cs_anomaly_row(&s, judged->at, log(share));
		cs_list_push(p->anomalies, &s);
	}
}

/* Are cells from peer to peer below it as a whole, those from GPU `from`, or all (-1)? */
static int are_below(const struct part *p, int from, struct cs_anomaly *s)
{
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS], noise[CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n = 0;

	*s = anomaly_of(p, CS_PART_NODE, -1, -1, NAN);
	for (size_t i = p->from; i < p->end && n < sizeof(x) / sizeof(x[0]); i++) {
		if (from >= 0 && row_at(p, i)->what.src.index != from)
			continue;
		x[n] = share_of(p, row_at(p, i));
		noise[n] = p->judged_cells->judged[i].noise;
		if (isnan(x[n]))
			continue;
		cs_anomaly_row(s, p->judged_cells->judged[i].at, log(x[n]));
		n++;
	}
	if (!n)
		return 0;
	s->drop = 1 - cs_median(x, n);
	return cs_is_beyond_noise(log1p(-s->drop) - log(PEER_LEAST),
				  cs_median(noise, n), 0);
}

/* Judge two GPUs: each way by itself, but one anomaly if both ways are slow. */
static void judge_two(const struct part *p)
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

static void judge_peers(const struct part *p)
{
	struct cs_anomaly s;

	if (p->judged_cells->run->node[row_at(p, p->from)->node].facts.n_agents == 2)
		judge_two(p);
	else if (are_below(p, -1, &s))
		cs_list_push(p->anomalies, &s);
}

void cs_below_find(const struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct part p = { .judged_cells = cells, .anomalies = anomalies };
	const size_t n = anomalies->n;

	for (; p.from < cells->n; p.from = p.end) {
		const struct cs_row *row = row_at(&p, p.from);
		struct cs_vec known = *anomalies;

		p.end = cs_judged_cells_node_end(cells, p.from);
		known.n = n;
		p.first = cs_anomalies_first(&known, (int)row->node);
		p.after = cs_anomalies_first(&known, (int)row->node + 1);
		if (cs_family_of(row) == CS_FAMILY_HOST)
			judge_each(&p, HOST_LEAST);
		else if (cs_family_of(row) == CS_FAMILY_LOCAL)
			judge_each(&p, 1);
		else if (cs_family_of(row) == CS_FAMILY_PEER)
			judge_peers(&p);
	}
}
