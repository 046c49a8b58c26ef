/* parts.c - the parts of one node that are slow, by the cells that agree: GPUs by their rows
 * and columns, links, and the way between sockets.
 *
 * How many spreads make an anomaly follows from how many cells agree.  With these
 * numbers healthy allocations have no anomaly (tests/bench/truth_fleet.c); suspicious
 * cells are also re-measured. */
#include <math.h>

#include "base/statistics.h"
#include "check/cells/internal.h"

/* The least spread of GPUs and links within a node: those of H200 differ by 0.1 %. */
#define SPREAD_LEAST_PEER (CS_OFF_FLOOR / 2)
#define MANY_CELLS 4 /* of a row or column */
/* In spreads; others are in internal.h. */
#define OF_FEW 4.5
#define OF_HALF 4.0 /* a row without its column */
#define OF_BETWEEN 5.0

/* ---- how far healthy parts are apart ---- */

/* The least of a GPU, or a link, of a node. */
static double part_least(const struct cs_node_group *g)
{
	return g->family == CS_FAMILY_PEER ? SPREAD_LEAST_PEER : CS_SPREAD_LEAST;
}

/* Results of the fits of some nodes: residuals of cells, and effects of rows and columns.
 * Rows and columns are kept apart, because half of the rows may be slow. */
struct parts {
	struct cs_vec cells, rows, cols; /* lists of double */
};

static void take_known(struct cs_vec *to, const double *x, int n)
{
	for (int i = 0; i < n; i++)
		if (!isnan(x[i]))
			cs_list_push(to, &x[i]);
}

static void take_effects(struct parts *to, const struct cs_effects *effects)
{
	for (int i = 0; i < effects->rows; i++)
		take_known(&to->cells, effects->cell[i], effects->cols);
	take_known(&to->rows, effects->row, effects->rows);
	take_known(&to->cols, effects->col, effects->cols);
}

/* How far GPUs and links of healthy nodes are apart: the level of a node does not count,
 * nor for its links that of a GPU.  Only cells between GPUs are known that closely. */
static void settle_spreads(struct cs_node_group *g, struct parts *of)
{
	const double least = part_least(g);
	/* as in cs_usual_of_nodes() */
	const double few = g->nodes ? 1 + 2.0 / g->nodes : 1;
	const double links = cs_spread_of(of->cells.data, of->cells.n, least);
	const double rows = cs_spread_of(of->rows.data, of->rows.n, least);
	const double cols = cs_spread_of(of->cols.data, of->cols.n, least);

	g->spread_link = few * links;
	g->spread_gpu = few * fmax(links, fmax(rows, cols));
}

/* With a bad GPU among three most cells are slow: the common part of the fit is the
 * usual.  Healthy cells of a node may also differ by more than the least. */
static void settle_by_fit(struct cs_node_group *g)
{
	struct parts parts = { CS_LIST(double), CS_LIST(double), CS_LIST(double) };

	for (size_t i = g->from; i < g->end; i++)
		g->cells->judged[i].off -= g->effects.whole;
	if (g->family != CS_FAMILY_PEER)
		return;
	take_effects(&parts, &g->effects);
	settle_spreads(g, &parts);
	g->spread = fmax(CS_SPREAD_LEAST, g->spread_gpu);
}

/* More nodes make their spread no more certain. */
#define SPREAD_NODES 256

/* The spreads, from at most SPREAD_NODES nodes: every k-th one of more. */
void cs_parts_settle(struct cs_node_group *g, size_t from, size_t end)
{
	CS_SCOPE;
	const int each = 1 + (g->nodes - 1) / SPREAD_NODES;
	struct parts parts = { CS_LIST(double), CS_LIST(double), CS_LIST(double) };

	for (int i = 0; from < end; i++) {
		from = cs_node_group_choose(g, from);
		if (i % each)
			continue;
		cs_node_group_fit(g);
		take_effects(&parts, &g->effects);
	}
	settle_spreads(g, &parts);
}

/* ---- slow parts ---- */

/* The cells between two NUMA nodes, less those within them; 0: there are none. */
static double between_numa(const struct cs_node_group *g)
{
	double x[2][CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n[2] = { 0, 0 };

	for (size_t i = g->from; i < g->end; i++) {
		const struct cs_row *row = cs_judged_row(g->cells, i);
		int from = g->nd->agent[row->what.src.index].numa;
		int to = g->nd->agent[row->what.dst.index].numa;
		int across = from != to;

		if (from < 0 || to < 0 || isnan(g->cells->judged[i].off) ||
		    n[across] == CS_MAX_AGENTS * CS_MAX_AGENTS)
			continue;
		x[across][n[across]++] = g->cells->judged[i].off;
	}
	if (n[0] < MANY_CELLS || n[1] < MANY_CELLS)
		return 0;
	return cs_median(x[1], n[1]) - cs_median(x[0], n[0]);
}

/* A slow way between the sockets: taken out, for rows and columns do not show it. */
static void judge_between(struct cs_node_group *g)
{
	double off;

	if (!g->nodes || g->family != CS_FAMILY_PEER)
		return;
	off = between_numa(g);
	if (off > -OF_BETWEEN * g->spread)
		return;
	cs_node_group_add(g, cs_node_group_anomaly(g, CS_PART_SOCKET, 0, 1, off));
	for (size_t i = g->from; i < g->end; i++) {
		const struct cs_row *row = cs_judged_row(g->cells, i);

		if (g->nd->agent[row->what.src.index].numa !=
		    g->nd->agent[row->what.dst.index].numa)
			g->cells->judged[i].off -= off;
	}
}

/* A row or column that is missing is not slow. */
static double effect(double value)
{
	return isnan(value) ? 0 : value;
}

/* How slow a GPU is, by its row and its column; 0: it is not. */
static double gpu_off(const struct cs_node_group *g, int a, int *sends, int *receives)
{
	const struct cs_effects *effects = &g->effects;
	double row = effect(effects->row[a]), col = effect(effects->col[a]), off;
	int to_host = cs_endpoint_is_numa(&cs_judged_row(g->cells, g->from)->what.dst);
	int cells = to_host ? effects->in_row[a] : effects->in_col[a];
	double limit = -(cells >= MANY_CELLS ? CS_OF_MANY : OF_FEW) * g->spread_gpu;

	cs_ways_of(cs_judged_row(g->cells, g->from), sends, receives);
	if (g->family != CS_FAMILY_PEER) {
		off = to_host ? row : col;
		return off < limit ? off : 0;
	}
	off = fmax(row, col);
	if (off < -CS_OF_MANY * g->spread_gpu &&
	    effects->in_row[a] + cells >= MANY_CELLS)
		return off;
	*sends = row < col;
	*receives = !*sends;
	off = fmin(row, col);
	limit = -(cells >= MANY_CELLS ? OF_HALF : OF_FEW) * g->spread_gpu;
	return off < limit ? off : 0;
}

/* All GPUs next to a NUMA node, and not all there are; *off: of the one that is least so. */
static int whole_numa(const struct cs_node_group *g, int numa, const double *gpu_off,
		      int *first, double *off)
{
	int of = 0, bad = 0;

	*first = -1;
	*off = -INFINITY;
	for (int a = 0; a < g->nd->facts.n_agents; a++) {
		if (g->nd->agent[a].numa != numa)
			continue;
		if (*first < 0)
			*first = a;
		of++;
		bad += gpu_off[a] < 0;
		*off = fmax(*off, gpu_off[a]);
	}
	return numa >= 0 && of > 1 && bad == of && of < g->nd->facts.n_agents;
}

static void judge_gpus(struct cs_node_group *g)
{
	double off[CS_MAX_AGENTS];
	int sends[CS_MAX_AGENTS], receives[CS_MAX_AGENTS], first;

	for (int a = 0; a < g->nd->facts.n_agents; a++)
		off[a] = gpu_off(g, a, &sends[a], &receives[a]);
	for (int a = 0; a < g->nd->facts.n_agents; a++) {
		int numa = g->nd->agent[a].numa;
		struct cs_anomaly s;
		double least;

		if (!(off[a] < 0))
			continue;
		s = cs_node_group_anomaly(g, CS_PART_GPU, a, -1, off[a]);
		if (whole_numa(g, numa, off, &first, &least)) {
			if (a != first)
				continue;
			s = cs_node_group_anomaly(g, CS_PART_SOCKET, numa, -1, least);
		}
		s.sends = sends[a];
		s.receives = receives[a];
		cs_node_group_add(g, s);
	}
}

static void judge_pairs(struct cs_node_group *g)
{
	int n = g->nd->facts.n_agents;

	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++) {
			double there = effect(g->effects.cell[a][b]);
			double back = effect(g->effects.cell[b][a]);
			double both = fmax(there, back), one = fmin(there, back);
			int alike = both < -CS_OF_PAIR * g->spread_link;
			struct cs_anomaly s =
				cs_node_group_anomaly(g, CS_PART_LINK, a, b,
						      alike ? both : one);

			s.sends = alike || there < back;
			s.receives = alike || back < there;
			if ((alike || one < -CS_OF_ONE_WAY * g->spread_link))
				cs_node_group_add(g, s);
		}
}

/* A cell that is so near to the usual is no anomaly. */
static int all_near(const struct cs_node_group *g)
{
	double best = 0;

	for (size_t i = g->from; i < g->end; i++)
		best = fmax(best, g->nodes ? 0 : g->cells->judged[i].off);
	for (size_t i = g->from; i < g->end; i++)
		if (g->cells->judged[i].off < best - (CS_OF_MANY - 1) * part_least(g))
			return 0;
	return 1;
}

void cs_parts_judge(struct cs_node_group *g)
{
	if (all_near(g))
		return;
	judge_between(g);
	cs_node_group_fit(g);
	if (!g->nodes)
		settle_by_fit(g);
	judge_gpus(g);
	if (g->family == CS_FAMILY_PEER)
		judge_pairs(g);
}
