/* signatures.c - known patterns: transports and NUMA nodes that are not as they should be. */
#include "check/cells/anomaly.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "check/link/expect.h"

#define DETOUR_MOST (1.0 / 3) /* of the usual figure: PCIe 5 is 0.14 of 18 NVLinks */
#define PCIE_SLACK 1.1
#define BETTER 1.05	/* than the NUMA node that is reported as next to it */
#define REDIRECTED 0.97
#define OFF_LEAST 0.01	/* less is no drop */
#define HALF_DUPLEX 0.6	/* of one way alone, each way */

static int was_asked(const struct cs_run *run, const struct cs_row *row)
{
	return cs_row_test(row)->method == CS_METHOD_STAGED ||
	       (run->plan && run->plan->set.via == CS_TRANSPORT_STAGED);
}

static int is_staged(const struct cs_run *run, const struct cs_row *row)
{
	return (row->via == CS_VIA_STAGED || row->via == CS_VIA_DRIVER) &&
	       !was_asked(run, row);
}

static int is_detour(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_link_facts *l =
		&run->node[row->node].agent[row->what.src.index].link;
	double pcie = cs_link_pcie_gbs(l), low, high;

	return cs_via_crosses(row->via) && !cs_is_unsure(row) &&
	       !cs_expected_gbs(run, row, &low, &high) &&
	       row->stats.median < DETOUR_MOST * low &&
	       !(row->stats.median > PCIE_SLACK * pcie);
}

/* Are both ways of the pairs together no faster than one? */
static int is_half_duplex(const struct cs_node_test *p)
{
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t count, n = 0;
	const struct cs_test *table = cs_catalogue(&count);
	const struct cs_test *pair = cs_row_test(cs_judged_row(p->cells, p->from));

	if (pair->pattern != CS_PATTERN_PAIR)
		return 0;
	for (size_t t = 0; t < count; t++) {
		if (table[t].path != pair->path || table[t].op != pair->op ||
		    table[t].method != pair->method ||
		    table[t].pattern != CS_PATTERN_BIDI)
			continue;
		for (size_t i = p->from; i < p->end && n < sizeof(x) / sizeof(x[0]);
		     i++) {
			const struct cs_judged_cell *both =
				cs_judged_cells_like(p->cells,
						     cs_judged_row(p->cells, i),
						     (uint32_t)t, 1);

			if (both)
				x[n++] = exp(both->y - p->cells->judged[i].y);
		}
	}
	return n && cs_median(x, n) < HALF_DUPLEX;
}

typedef int is_sign(const struct cs_run *run, const struct cs_row *row);

/* Which of the ways between the agents of a node bear a sign. */
struct ways {
	int n;
	char tried[CS_MAX_AGENTS][CS_MAX_AGENTS];
	char bear[CS_MAX_AGENTS][CS_MAX_AGENTS];
};

/* Count the cells of a, or between a and b (-1: all), and those that show the
 * signature. */
static void count(const struct ways *w, int a, int b, int *of, int *bear)
{
	*of = *bear = 0;
	for (int i = 0; i < w->n; i++)
		for (int k = 0; k < w->n; k++) {
			if ((a >= 0 && i != a && k != a) ||
			    (b >= 0 && i != b && k != b))
				continue;
			*of += w->tried[i][k];
			*bear += w->bear[i][k];
		}
}

/* Do all ways from a GPU bear it, or all to it? */
static int all_bear(const struct ways *w, int a)
{
	int of[2] = { 0, 0 }, bear[2] = { 0, 0 };

	for (int k = 0; k < w->n; k++) {
		of[0] += w->tried[a][k];
		bear[0] += w->bear[a][k];
		of[1] += w->tried[k][a];
		bear[1] += w->bear[k][a];
	}
	return of[0] + of[1] > 2 &&
	       ((of[0] > 1 && bear[0] == of[0]) || (of[1] > 1 && bear[1] == of[1]));
}

static int touches(const struct cs_row *row, const struct cs_anomaly *s)
{
	int from = row->what.src.index, to = row->what.dst.index;

	return (s->a < 0 || from == s->a || to == s->a) &&
	       (s->b < 0 || from == s->b || to == s->b);
}

/* How slow a cell is against its live links, if that is known, else its like. */
static double off_of(const struct cs_node_test *p, size_t i)
{
	const struct cs_row *row = cs_judged_row(p->cells, i);
	double low, high;

	return cs_expected_gbs(p->cells->run, row, &low, &high) ?
		       p->cells->judged[i].off :
		       log(row->stats.median / low);
}

/* With the rows that show it, if there are any. */
static void add_sign(const struct cs_node_test *p, is_sign *is, struct cs_anomaly s)
{
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS], off;
	size_t n = 0;

	for (size_t i = p->from; i < p->end; i++) {
		if (!is(p->cells->run, cs_judged_row(p->cells, i)) ||
		    !touches(cs_judged_row(p->cells, i), &s))
			continue;
		off = off_of(p, i);
		cs_anomaly_row(&s, p->cells->judged[i].at, off);
		if (n < sizeof(x) / sizeof(x[0]) && !isnan(off))
			x[n++] = off;
	}
	off = n ? cs_median(x, n) : 0;
	s.drop = off < -OFF_LEAST ? -expm1(off) : 0;
	if (p->from < p->end)
		s.half_duplex = is_half_duplex(p);
	cs_list_push(p->anomalies, &s);
}

/* All ways of the node, all of a GPU, or pairs; s has their common properties. */
static void describe_ways(const struct cs_node_test *p, is_sign *is,
			  const struct ways *w, struct cs_anomaly s)
{
	char bad[CS_MAX_AGENTS] = { 0 };
	int of, bear;

	count(w, -1, -1, &of, &bear);
	if (!bear)
		return;
	s.part = CS_PART_NODE;
	s.a = s.b = -1;
	if (bear == of && w->n > 2) {
		add_sign(p, is, s);
		return;
	}
	s.part = CS_PART_GPU;
	for (s.a = 0; s.a < w->n; s.a++) {
		bad[s.a] = (char)all_bear(w, s.a);
		if (bad[s.a])
			add_sign(p, is, s);
	}
	s.part = CS_PART_LINK;
	for (s.a = 0; s.a < w->n; s.a++)
		for (s.b = s.a + 1; s.b < w->n; s.b++) {
			count(w, s.a, s.b, &of, &bear);
			if (!bad[s.a] && !bad[s.b] && bear)
				add_sign(p, is, s);
		}
}

static void find_sign(const struct cs_node_test *p, is_sign *is, enum cs_cause cause)
{
	struct ways w = { .n = p->cells->run
				       ->node[cs_judged_row(p->cells, p->from)->node]
				       .facts.n_agents };
	int of, bear;

	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_transfer *t = &cs_judged_row(p->cells, i)->what;

		w.tried[t->src.index][t->dst.index] = 1;
		w.bear[t->src.index][t->dst.index] =
			is(p->cells->run, cs_judged_row(p->cells, i)) != 0;
	}
	/* a few of many are slow parts, not a pattern */
	count(&w, -1, -1, &of, &bear);
	if (cause == CS_CAUSE_DETOUR && w.n > 2 && 2 * bear <= of)
		return;
	describe_ways(p, is, &w, cs_node_test_anomaly(p, cause, CS_PART_NODE, -1, -1));
}

/* Ways that were refused have no figures.  Instances of MIG have none by design. */
static void find_refused(struct cs_node_test *p, int node)
{
	const struct cs_run_node *nd = &p->cells->run->node[node];
	struct ways w = { .n = nd->facts.n_agents };
	struct cs_anomaly s = { .node = node,
				.family = CS_FAMILY_PEER,
				.cause = CS_CAUSE_REFUSED,
				.sends = 1,
				.receives = 1 };

	for (int i = 0; i < w.n && nd->ways; i++)
		for (int k = 0; k < w.n; k++) {
			int via = cs_node_way(nd, i, k)->via;

			w.tried[i][k] = via != CS_VIA_NONE;
			w.bear[i][k] = via == CS_VIA_FAILED;
		}
	p->from = p->end = 0;
	if (w.n > 0 && cs_is_mig(nd->agent[0].gpu.uuid))
		return;
	describe_ways(p, NULL, &w, s);
}

/* Is it of two GPUs below one PCIe switch, without NVLink? */
static int is_redirected(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;

	return cs_via_crosses(row->via) && !cs_on_nvlink(run, row) &&
	       agent[row->what.src.index].numa >= 0 &&
	       agent[row->what.src.index].numa == agent[row->what.dst.index].numa;
}

static void find_redirect(const struct cs_node_test *p)
{
	double x[2][CS_MAX_AGENTS * CS_MAX_AGENTS], near, far;
	size_t n[2] = { 0, 0 };

	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_row *row = cs_judged_row(p->cells, i);
		int same = is_redirected(p->cells->run, row);

		if (cs_via_crosses(row->via) && !cs_is_unsure(row) &&
		    !cs_on_nvlink(p->cells->run, row) &&
		    n[same] < sizeof(x[0]) / sizeof(x[0][0]))
			x[same][n[same]++] = row->stats.median;
	}
	if (n[0] < 2 || n[1] < 2)
		return;
	near = cs_median(x[1], n[1]);
	far = cs_median(x[0], n[0]);
	if (near > far * (is_half_duplex(p) ? 2 - REDIRECTED : REDIRECTED))
		return;
	add_sign(p, is_redirected,
		 cs_node_test_anomaly(p, CS_CAUSE_REDIRECT, CS_PART_NODE, -1, -1));
}

/* ---- which NUMA node is next to a GPU ---- */

/* The row of a GPU with the fastest host memory; near: of the NUMA node that is
 * reported as next to it. */
static const struct cs_row *fastest(const struct cs_node_test *p, int gpu, int near)
{
	const struct cs_row *best = NULL;

	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_row *row = cs_judged_row(p->cells, i);

		if (cs_gpu_of(row) == gpu && !cs_is_unsure(row) &&
		    cs_is_near(p->cells->run, row) == near &&
		    (!best || row->stats.median > best->stats.median))
			best = row;
	}
	return best;
}

static void find_affinity(const struct cs_node_test *p)
{
	const struct cs_run_node *nd =
		&p->cells->run->node[cs_judged_row(p->cells, p->from)->node];

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_row *near = fastest(p, a, 1);
		const struct cs_row *far = fastest(p, a, 0);
		struct cs_anomaly s;

		if (!near || !far || far->stats.median < BETTER * near->stats.median ||
		    !cs_is_beyond_noise(log(near->stats.median / far->stats.median),
					cs_noise_of(near), cs_noise_of(far)))
			continue;
		s = cs_node_test_anomaly(p, CS_CAUSE_NUMA, CS_PART_GPU, a, -1);
		s.is = nd->agent[a].numa;
		s.of = cs_endpoint_is_numa(&far->what.src) ? far->what.src.index :
							     far->what.dst.index;
		s.drop = 1 - near->stats.median / far->stats.median;
		cs_anomaly_row(&s,
			       (uint32_t)(near - cs_rows_get(&p->cells->run->rows, 0)),
			       NAN);
		cs_anomaly_row(&s,
			       (uint32_t)(far - cs_rows_get(&p->cells->run->rows, 0)),
			       NAN);
		cs_list_push(p->anomalies, &s);
	}
}

void cs_signatures_find(struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct cs_node_test p = { .cells = cells, .anomalies = anomalies };

	for (int i = 0; i < cells->run->n_nodes; i++)
		find_refused(&p, i);
	for (p.from = 0; p.from < cells->n; p.from = p.end) {
		const struct cs_row *row = cs_judged_row(cells, p.from);

		p.end = cs_judged_cells_node_end(cells, p.from);
		if (cs_family_of(row) == CS_FAMILY_HOST &&
		    !cs_own_concurrent(cells->run, row)) {
			find_affinity(&p);
		} else if (cs_family_of(row) == CS_FAMILY_PEER) {
			find_sign(&p, is_staged, CS_CAUSE_STAGED);
			find_sign(&p, is_detour, CS_CAUSE_DETOUR);
			find_redirect(&p);
		}
	}
}
