/* signatures.c - known patterns, and facts that explain an anomaly. */
#include "check/cells/anomaly.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "check/link/expect.h"

#define LINKS_MOST 64
#define DETOUR_MOST (1.0 / 3) /* of what is usual: PCIe 5 is 0.14 of 18 NVLinks */
#define PCIE_SLACK 1.1
#define BETTER 1.05	/* than the NUMA node that is reported as next to it */
#define REDIRECTED 0.97
#define OFF_LEAST 0.01	/* less is no drop */
#define HALF_DUPLEX 0.6	/* of one way alone, each way */

/* ---- links that are live, and that could be ---- */

/* Over the GPUs of a class. */
struct fleet {
	int links[LINKS_MOST + 1]; /* GPUs with that many up */
	int slots, full;	   /* with PCIe known; at the most they can do */
};

static int pcie_is_below(const struct cs_link_facts *l)
{
	return cs_link_pcie_gbs(l) <
	       0.99 * cs_pcie_peak_gbs(l->pcie_gen_max, l->pcie_width_max);
}

static void count_links(const struct cs_judged_cells *judged_cells,
			struct fleet *fleet)
{
	for (int i = 0; i < judged_cells->run->n_nodes; i++) {
		const struct cs_run_node *nd = &judged_cells->run->node[i];
		struct fleet *f = &fleet[judged_cells->class[i]];

		for (int a = 0; a < nd->facts.n_agents; a++) {
			const struct cs_link_facts *l = &nd->agent[a].link;

			if (l->nvlinks_up >= 0 && l->nvlinks_up <= LINKS_MOST)
				f->links[l->nvlinks_up]++;
			f->slots += l->pcie_gen_max > 0;
			f->full += l->pcie_gen_max > 0 && !pcie_is_below(l);
		}
	}
}

/* As most have; of as many the greater. */
static int usual_links(const struct fleet *fleet)
{
	int most = 0;

	for (int i = 0; i <= LINKS_MOST; i++)
		if (fleet->links[i] >= fleet->links[most])
			most = i;
	return most;
}

/* Are copies with the host faster than a link in the state that was read?  One that rests
 * runs at generation 1. */
static int is_refuted(const struct cs_run *run, int node, int gpu)
{
	const double peak = cs_link_pcie_gbs(&run->node[node].agent[gpu].link);

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED))
		if (row->status == CS_OK && cs_is_bandwidth(row) &&
		    cs_family_of(row) == CS_FAMILY_HOST && cs_gpu_of(row) == gpu &&
		    row->stats.median > PCIE_SLACK * peak)
			return 1;
	return 0;
}

static void find_links_of(const struct cs_run *run, int node,
			  const struct fleet *fleet, struct cs_vec *anomalies)
{
	const struct cs_run_node *nd = &run->node[node];
	int usual = usual_links(fleet);

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_link_facts *l = &nd->agent[a].link;
		int wired = cs_nvlinks_wired(nd, a);
		struct cs_anomaly s = { .node = node,
					.part = CS_PART_GPU,
					.a = a,
					.b = -1,
					.sends = 1,
					.receives = 1 };

		s.family = CS_FAMILY_PEER;
		s.cause = CS_CAUSE_LANES;
		s.is = l->nvlinks_up;
		s.of = wired > usual ? wired : usual;
		if (l->nvlinks_up >= 0 && l->nvlinks_up < s.of)
			cs_list_push(anomalies, &s);
		s.family = CS_FAMILY_HOST;
		s.cause = CS_CAUSE_PCIE;
		s.usual = 2 * fleet->full <= fleet->slots;
		if (pcie_is_below(l) && !is_refuted(run, node, a))
			cs_list_push(anomalies, &s);
	}
}

void cs_links_find(const struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	const struct cs_run *run = cells->run;
	struct fleet *fleet = cs_new(struct fleet, (size_t)run->n_nodes);

	count_links(cells, fleet);
	for (int i = 0; i < run->n_nodes; i++)
		if (!cs_run_is_other_placement(run, i))
			find_links_of(run, i, &fleet[cells->class[i]], anomalies);
}

/* ---- transports that are not as they should be ---- */

/* judged[from..end): one test on one node. */
struct part {
	const struct cs_judged_cells *judged_cells;
	size_t from, end;
	struct cs_vec *anomalies;
};

static const struct cs_row *row_at(const struct part *p, size_t i)
{
	return cs_rows_get(&p->judged_cells->run->rows, p->judged_cells->judged[i].at);
}

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
static int is_half_duplex(const struct part *p)
{
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t count, n = 0;
	const struct cs_test *table = cs_catalogue(&count);
	const struct cs_test *pair = cs_row_test(row_at(p, p->from));

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
				cs_judged_cells_like(p->judged_cells, row_at(p, i),
						     (uint32_t)t, 1);

			if (both)
				x[n++] = exp(both->y - p->judged_cells->judged[i].y);
		}
	}
	return n && cs_median(x, n) < HALF_DUPLEX;
}

static struct cs_anomaly sign_of(const struct part *p, enum cs_part part, int a,
				 int b, enum cs_cause cause)
{
	const struct cs_row *row = row_at(p, p->from);

	return (struct cs_anomaly){
		.node = (int)row->node,
		.part = part,
		.family = cs_family_of(row),
		.cause = cause,
		.a = a,
		.b = b,
		.sends = 1,
		.receives = 1,
		.test = row->test,
		.tests = 1,
	};
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
static double off_of(const struct part *p, size_t i)
{
	const struct cs_row *row = row_at(p, i);
	double low, high;

	return cs_expected_gbs(p->judged_cells->run, row, &low, &high) ?
		       p->judged_cells->judged[i].off :
		       log(row->stats.median / low);
}

/* With the rows that show it, if there are any. */
static void add_sign(const struct part *p, is_sign *is, struct cs_anomaly s)
{
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS], off;
	size_t n = 0;

	for (size_t i = p->from; i < p->end; i++) {
		if (!is(p->judged_cells->run, row_at(p, i)) ||
		    !touches(row_at(p, i), &s))
			continue;
		off = off_of(p, i);
		cs_anomaly_row(&s, p->judged_cells->judged[i].at, off);
		if (n < sizeof(x) / sizeof(x[0]) && !isnan(off))
			x[n++] = off;
	}
	off = n ? cs_median(x, n) : 0;
	s.drop = off < -OFF_LEAST ? -expm1(off) : 0;
	if (p->from < p->end)
		s.half_duplex = is_half_duplex(p);
	cs_list_push(p->anomalies, &s);
}

/* All ways of the node, all of a GPU, or pairs; s has what they have in common. */
static void describe_ways(const struct part *p, is_sign *is, const struct ways *w,
			  struct cs_anomaly s)
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

static void find_sign(const struct part *p, is_sign *is, enum cs_cause cause)
{
	struct ways w = {
		.n = p->judged_cells->run->node[row_at(p, p->from)->node].facts.n_agents
	};
	int of, bear;

	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_transfer *t = &row_at(p, i)->what;

		w.tried[t->src.index][t->dst.index] = 1;
		w.bear[t->src.index][t->dst.index] = is(p->judged_cells->run,
							row_at(p, i)) != 0;
	}
	/* a few of many that are slow are parts that are slow, whatever it looks like */
	count(&w, -1, -1, &of, &bear);
	if (cause == CS_CAUSE_DETOUR && w.n > 2 && 2 * bear <= of)
		return;
	describe_ways(p, is, &w, sign_of(p, CS_PART_NODE, -1, -1, cause));
}

/* Ways that were refused have no figures.  Instances of MIG have none by design. */
static void find_refused(struct part *p, int node)
{
	const struct cs_run_node *nd = &p->judged_cells->run->node[node];
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

static void find_redirect(const struct part *p)
{
	double x[2][CS_MAX_AGENTS * CS_MAX_AGENTS], near, far;
	size_t n[2] = { 0, 0 };

	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_row *row = row_at(p, i);
		int same = is_redirected(p->judged_cells->run, row);

		if (cs_via_crosses(row->via) && !cs_is_unsure(row) &&
		    !cs_on_nvlink(p->judged_cells->run, row) &&
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
		 sign_of(p, CS_PART_NODE, -1, -1, CS_CAUSE_REDIRECT));
}

/* ---- which NUMA node is next to a GPU ---- */

/* The row of a GPU with the fastest host memory; near: of the NUMA node that is
 * reported as next to it. */
static const struct cs_row *fastest(const struct part *p, int gpu, int near)
{
	const struct cs_row *best = NULL;

	for (size_t i = p->from; i < p->end; i++) {
		const struct cs_row *row = row_at(p, i);

		if (cs_gpu_of(row) == gpu && !cs_is_unsure(row) &&
		    cs_is_near(p->judged_cells->run, row) == near &&
		    (!best || row->stats.median > best->stats.median))
			best = row;
	}
	return best;
}

static void find_affinity(const struct part *p)
{
	const struct cs_run_node *nd =
		&p->judged_cells->run->node[row_at(p, p->from)->node];

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_row *near = fastest(p, a, 1);
		const struct cs_row *far = fastest(p, a, 0);
		struct cs_anomaly s;

		if (!near || !far || far->stats.median < BETTER * near->stats.median ||
		    !cs_is_beyond_noise(log(near->stats.median / far->stats.median),
					cs_noise_of(near), cs_noise_of(far)))
			continue;
		s = sign_of(p, CS_PART_GPU, a, -1, CS_CAUSE_NUMA);
		s.is = nd->agent[a].numa;
		s.of = cs_endpoint_is_numa(&far->what.src) ? far->what.src.index :
							     far->what.dst.index;
		s.drop = 1 - near->stats.median / far->stats.median;
		cs_anomaly_row(&s,
			       (uint32_t)(near -
					  cs_rows_get(&p->judged_cells->run->rows, 0)),
			       NAN);
		cs_anomaly_row(&s,
			       (uint32_t)(far -
					  cs_rows_get(&p->judged_cells->run->rows, 0)),
			       NAN);
		cs_list_push(p->anomalies, &s);
	}
}

void cs_signatures_find(const struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct part p = { .judged_cells = cells, .anomalies = anomalies };

	cs_links_find(cells, anomalies);
	for (int i = 0; i < cells->run->n_nodes; i++)
		find_refused(&p, i);
	for (p.from = 0; p.from < cells->n; p.from = p.end) {
		const struct cs_row *row = row_at(&p, p.from);

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

/* ---- causes of slow cells ---- */

static int half_have(const struct cs_run *run, const struct cs_anomaly *s,
		     uint32_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_evidence; i++)
		n += (cs_rows_get(&run->rows, s->evidence[i])->flags & flag) != 0;
	return n && 2 * n >= s->n_evidence;
}

/* The thread that drives a GPU is not next to it, as far as is known. */
static int is_away(const struct cs_run_node *nd, const struct cs_agent_facts *agent)
{
	return nd->facts.n_numa > 1 &&
	       (agent->bound == 0 || (agent->numa >= 0 && agent->gpu.host_numa >= 0 &&
				      agent->numa != agent->gpu.host_numa));
}

/* Is its traffic with others suspicious too?  Anomalies are in order of nodes. */
static int is_slow_elsewhere(const struct cs_vec *anomalies,
			     const struct cs_anomaly *of)
{
	const struct cs_anomaly *first = anomalies->data, *s;

	for (s = of; s > first && s[-1].node == of->node; s--)
		;
	for (; s < first + anomalies->n && s->node == of->node; s++)
		if (s->family != of->family && s->part == CS_PART_GPU && s->a == of->a)
			return 1;
	return 0;
}

static void explain(const struct cs_run *run, const struct cs_vec *anomalies,
		    struct cs_anomaly *s)
{
	const struct cs_run_node *nd = &run->node[s->node];

	if (s->cause != CS_CAUSE_SLOW)
		return;
	if (half_have(run, s, CS_ROW_IN_USE))
		s->cause = CS_CAUSE_IN_USE;
	else if (half_have(run, s, CS_ROW_THROTTLED))
		s->cause = CS_CAUSE_THROTTLED;
	else if (s->part != CS_PART_GPU)
		return;
	else if (s->family == CS_FAMILY_LOCAL && !is_slow_elsewhere(anomalies, s))
		s->cause = CS_CAUSE_MEMORY;
	else if (s->family == CS_FAMILY_HOST && is_away(nd, &nd->agent[s->a])) {
		s->cause = CS_CAUSE_AFFINITY;
		s->is = nd->agent[s->a].numa;
		s->of = nd->agent[s->a].gpu.host_numa;
	}
}

void cs_signatures_explain(const struct cs_run *run, struct cs_vec *anomalies)
{
	CS_EACH(struct cs_anomaly, s, anomalies)
		explain(run, anomalies, s);
}
