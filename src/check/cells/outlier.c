/* outlier.c - cells that are slower than their like, and what they have in common.
 *
 * A cell is compared with the same cell of the other nodes of its class where at least
 * five have measured it, else against the cells of its own node over the same kind of
 * link.  How far apart healthy ones are is measured in the same figures, and taken to
 * be at least 1 %: nodes differ by 0.3 %, runs by 0.1 %, and one NVLink of 18 is 5.6 %.
 *
 * A median distance of few figures is small by chance now and then, and then the one
 * furthest off looks like an outlier: of few figures the spread is taken to be larger.
 *
 * How many spreads make an anomaly follows from how many cells agree.  With these
 * healthy allocations are left in peace (tests/bench/truth_fleet.c), and what is
 * suspected is re-measured besides.
 *
 * No cell bears witness within its own noise and that of those it is compared with
 * (noise.c), whatever the others do. */
#include "check/cells/anomaly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "check/link/expect.h"
#include "check/cells/locate.h"

#define NODES_LEAST 5
#define CELLS_LEAST 3	/* of one node, to have a usual one */
#define SPREAD_LEAST CS_OFF_FLOOR
/* The least spread of GPUs and links within a node: those of H200 differ by 0.1 %. */
#define SPREAD_LEAST_PEER (CS_OFF_FLOOR / 2)
/* The spread of n figures is taken MANY_FIGURES + FEW_FIGURES / n times as large.  Of 8
 * Gaussian ones that differ by 2 % one is then OF_FEW off in 1 of 10,000 (else in 1 of
 * 50), of 1,024 in 1 of 50,000. */
#define MANY_FIGURES 1.25
#define FEW_FIGURES 26.0
/* … and that by the differences of like figures, which are better known, so many times. */
#define FEW_LIKE 14.0
#define PAIRS_TO_SD 1.048

/* In spreads. */
#define MANY_CELLS 4
#define OF_MANY 3.0	/* that many cells of a row or column agree */
#define OF_FEW 4.5
#define OF_HALF 4.0	/* a row without its column */
#define OF_BETWEEN 5.0
#define OF_PAIR 4.0	/* both ways of it */
#define OF_ONE_WAY 8.0

/* The cells of one node in one group. */
struct scope {
	struct cs_judged_cells *judged_cells;
	struct cs_vec *anomalies;
	const struct cs_run_node *nd;
	struct cs_judged_cell *judged; /* n of them */
	size_t n;
	int node, nodes; /* nodes: that the usual figure is of; 0: its own cells */
	enum cs_family family;
	double spread; /* of healthy ones, as logarithms … */
	/* … of GPUs less their node, of links less their GPUs */
	double spread_gpu, spread_link;
	double noise;			    /* of the figure that is usual */
	struct cs_party party[NODES_LEAST]; /* of few nodes, taken out */
	struct cs_fit fit;
	char bad[CS_MAX_AGENTS]; /* GPUs */
};

static const struct cs_row *row_of(const struct cs_judged_cells *judged_cells,
				   const struct cs_judged_cell *judged)
{
	return cs_rows_get(&judged_cells->run->rows, judged->at);
}

static int place_of(const struct cs_endpoint *end)
{
	return !cs_endpoint_is_numa(end)   ? end->index :
	       end->index == CS_NUMA_LOCAL ? 0 :
					     end->index + 1;
}

/* The spread of healthy figures, estimated from these n; overwrites x. */
static double spread_of(double *x, size_t n, double least)
{
	return n ? fmax(least, cs_scaled_mad(x, n) *
				       (MANY_FIGURES + FEW_FIGURES / (double)n)) :
		   least;
}

/* The least of a GPU, or a link, of a node. */
static double part_least(const struct scope *scope)
{
	return scope->family == CS_FAMILY_PEER ? SPREAD_LEAST_PEER : SPREAD_LEAST;
}

/* The cells of one node, from judged[from] on; the first of the next. */
static size_t choose_node(struct scope *scope, size_t from)
{
	struct cs_judged_cells *cells = scope->judged_cells;
	const size_t end = cs_judged_cells_node_end(cells, from);

	scope->judged = cells->judged + from;
	scope->n = end - from;
	scope->node = (int)scope->judged->node;
	scope->nd = &cells->run->node[scope->node];
	return end;
}

/* ---- the usual figure ---- */

/* The NUMA node of its GPU, counted from 1, where enough GPUs are: of those of several
 * sockets healthy ones may differ.  0: all of the node are compared. */
static int socket_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_run_node *nd = &run->node[row->node];
	const int numa = nd->agent[cs_gpu_of(row)].numa;
	int gpus = 0;

	for (int a = 0; a < nd->facts.n_agents; a++)
		gpus += nd->agent[a].numa == numa;
	return gpus >= MANY_CELLS && numa >= 0 && numa < CS_MAX_NUMA ? 1 + numa : 0;
}

/* Cells of one node with the same number are alike. */
static int kind_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;
	int from, to;

	if (cs_family_of(row) == CS_FAMILY_LOCAL)
		return 0;
	if (cs_family_of(row) == CS_FAMILY_HOST)
		return cs_is_near(run, row) ? 1 + socket_of(run, row) : 0;
	from = agent[row->what.src.index].numa;
	to = agent[row->what.dst.index].numa;
	return cs_on_nvlink(run, row) ? 0 : from < 0 || to < 0 ? 1 : 2 + (from == to);
}
#define KINDS (2 + CS_MAX_NUMA)

static int is_alike(const struct scope *scope, size_t i, int kind)
{
	const struct cs_judged_cell *judged = &scope->judged[i];

	return !judged->unsure && kind_of(scope->judged_cells->run,
					  row_of(scope->judged_cells, judged)) == kind;
}

/* The noise of the usual figure: of half the cells it is less. */
static double usual_noise(const struct cs_judged_cell *judged, size_t n, double *x)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (!judged[i].unsure)
			x[known++] = judged[i].noise;
	return known ? cs_median(x, known) : 0;
}

/* Among the cells of the node itself. */
static void settle_alone(struct scope *scope)
{
	double *x = cs_new(double, scope->n);

	for (int kind = 0; kind < KINDS; kind++) {
		size_t n = 0;
		double usual;

		for (size_t i = 0; i < scope->n; i++)
			if (is_alike(scope, i, kind))
				x[n++] = scope->judged[i].y;
		usual = cs_upper_median(x, n);
		for (size_t i = 0; i < scope->n && n >= CELLS_LEAST; i++)
			if (is_alike(scope, i, kind))
				scope->judged[i].off = scope->judged[i].y - usual;
	}
	scope->noise = usual_noise(scope->judged, scope->n, x);
}

/* How far figures that are alike, of one node each, are apart. */
struct likes {
	struct cs_vec pairs; /* list of double */
	size_t free;	     /* figures, less one for each usual one */
};

static void take_likes(struct likes *to, const struct scope *scope)
{
	for (size_t i = 0; i < scope->n; i++) {
		const int kind =
			kind_of(scope->judged_cells->run,
				row_of(scope->judged_cells, &scope->judged[i]));
		const size_t before = to->pairs.n;

		for (size_t k = 0; k < i; k++) {
			double apart =
				fabs(scope->judged[i].off - scope->judged[k].off);

			if (!isnan(apart) && is_alike(scope, k, kind))
				cs_list_push(&to->pairs, &apart);
		}
		to->free += to->pairs.n > before;
	}
}

static double spread_of_likes(const struct likes *of)
{
	double *x = of->pairs.data;

	cs_sort(x, of->pairs.n);
	return of->free ? fmax(SPREAD_LEAST,
			       PAIRS_TO_SD * x[(of->pairs.n - 1) / 2] *
				       (MANY_FIGURES + FEW_LIKE / (double)of->free)) :
			  SPREAD_LEAST;
}

CS_ORDERING_AT(by_cell, struct cs_judged_cell, CS_ORDER(a->cell, b->cell),
	       CS_ORDER(a, b))

/* Among the nodes: judged[0..n) is a group.  The spread is of all its cells. */
static void settle_fleet(struct cs_judged_cell *judged, size_t n, double *spread,
			 double *noise)
{
	CS_SCOPE;
	struct cs_judged_cell **at = cs_new(struct cs_judged_cell *, n);
	double *x = cs_new(double, n);
	size_t k, known = 0, nodes = NODES_LEAST;

	for (size_t i = 0; i < n; i++)
		at[i] = &judged[i];
	qsort(at, n, sizeof(*at), by_cell);
	for (size_t i = 0; i < n; i = k) {
		size_t sure = 0;
		double usual;

		for (k = i; k < n && at[k]->cell == at[i]->cell; k++)
			if (!at[k]->unsure)
				x[sure++] = at[k]->y;
		cs_sort(x, sure);
		/* of two in the middle the slower: half may be fast */
		usual = sure >= NODES_LEAST ? x[(sure - 1) / 2] : NAN;
		for (size_t m = i; m < k; m++)
			if (!at[m]->unsure) {
				at[m]->off = at[m]->y - usual;
				at[m]->slower = cs_count_nodes(x, sure, at[m]->y,
							       at[m]->off,
							       &at[m]->alike);
			}
		nodes = sure > nodes ? sure : nodes;
	}
	for (size_t i = 0; i < n; i++)
		if (!isnan(judged[i].off))
			x[known++] = judged[i].off;
	/* each median is one of the figures, or between two: they seem nearer */
	*spread = spread_of(x, known, SPREAD_LEAST) * (1 + 2.0 / (double)nodes);
	*noise = usual_noise(judged, n, x);
}

/* ---- anomalies ---- */

static struct cs_anomaly anomaly_of(const struct scope *scope, enum cs_part part,
				    int a, int b, double off)
{
	return (struct cs_anomaly){
		.node = scope->node,
		.part = part,
		.family = scope->family,
		.cause = CS_CAUSE_SLOW,
		.a = a,
		.b = b,
		.drop = -expm1(off),
		.sure = -off / scope->spread,
		.nodes = scope->nodes,
		.tests = 1,
		.test = row_of(scope->judged_cells, scope->judged)->test,
	};
}

/* A cell, and how slow it is by this part of the node alone. */
struct witness {
	struct cs_judged_cell *judged;
	double off;
};

CS_ORDERING(by_off, struct witness, CS_ORDER(a->off, b->off),
	    CS_ORDER(a->judged->at, b->judged->at))

/* A node that is slow does not prove that a GPU of it is, nor a GPU its links. */
static struct witness witness_of(const struct scope *scope, enum cs_part part,
				 struct cs_judged_cell *judged)
{
	const struct cs_row *row = row_of(scope->judged_cells, judged);
	int from = place_of(&row->what.src), to = place_of(&row->what.dst);
	double off = judged->off;

	if (part == CS_PART_LINK)
		off = scope->fit.cell[from][to];
	else if (part == CS_PART_GPU && scope->nodes)
		off -= scope->fit.whole;
	return (struct witness){ judged, off };
}

/* Found because parts between GPUs are known closely, but too little to drain a node. */
static int is_little(const struct cs_anomaly *anomaly)
{
	double spreads = anomaly->part != CS_PART_LINK	     ? OF_MANY :
			 anomaly->sends && anomaly->receives ? OF_PAIR :
							       OF_ONE_WAY;

	return -log1p(-anomaly->drop) < spreads * SPREAD_LEAST;
}

/* The slow cells that it explains, the slowest first: at least half as slow.  Those
 * whose noise could make them so do not count, and where they are most, nothing does. */
static void add_anomaly(struct scope *scope, struct cs_anomaly anomaly)
{
	struct witness *at = cs_new(struct witness, scope->n);
	size_t n = 0, slow = 0, many = 0;

	for (size_t i = 0; i < scope->n; i++) {
		struct cs_judged_cell *judged = &scope->judged[i];
		struct witness witness = witness_of(scope, anomaly.part, judged);

		if (!(witness.off < log1p(-anomaly.drop) / 2) ||
		    !cs_anomaly_bears(scope->judged_cells->run, &anomaly,
				      row_of(scope->judged_cells, judged)))
			continue;
		slow++;
		if (cs_is_beyond_noise(witness.off, judged->noise, scope->noise))
			at[n++] = witness;
	}
	n = 2 * n < slow ? 0 : n;
	qsort(at, n, sizeof(*at), by_off);
	for (size_t i = 0; i < n; i++)
		many += (size_t)cs_is_of_many(at[i].judged->alike, scope->nodes);
	anomaly.is_of_many = 2 * many > n;
	if (anomaly.is_of_many || is_little(&anomaly))
		anomaly.most = CS_WEIGHT_WARNING;
	anomaly.slower = n ? at[0].judged->slower : 0;
	for (size_t i = 0; i < n; i++) {
		at[i].judged->odd = 1;
		cs_anomaly_row(&anomaly, at[i].judged->at, at[i].off);
	}
	if (n)
		cs_list_push(scope->anomalies, &anomaly);
}

/* ---- one node ---- */

static void fill(struct scope *scope)
{
	struct cs_fit *fit = &scope->fit;

	fit->rows = fit->cols = 0;
	for (int i = 0; i < CS_FIT_MOST; i++)
		for (int k = 0; k < CS_FIT_MOST; k++)
			fit->cell[i][k] = NAN;
	for (size_t i = 0; i < scope->n; i++) {
		const struct cs_row *row = row_of(scope->judged_cells,
						  &scope->judged[i]);
		int from = place_of(&row->what.src), to = place_of(&row->what.dst);

		if (scope->family == CS_FAMILY_LOCAL)
			from = 0;
		if (isnan(scope->judged[i].off))
			continue;
		fit->cell[from][to] = scope->judged[i].off;
		fit->rows = from >= fit->rows ? from + 1 : fit->rows;
		fit->cols = to >= fit->cols ? to + 1 : fit->cols;
	}
}

/* The cells between two NUMA nodes, less those within them; 0: there are none. */
static double between_numa(const struct scope *scope)
{
	double x[2][CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n[2] = { 0, 0 };

	for (size_t i = 0; i < scope->n; i++) {
		const struct cs_row *row = row_of(scope->judged_cells,
						  &scope->judged[i]);
		int from = scope->nd->agent[row->what.src.index].numa;
		int to = scope->nd->agent[row->what.dst.index].numa;
		int across = from != to;

		if (from < 0 || to < 0 || isnan(scope->judged[i].off) ||
		    n[across] == CS_MAX_AGENTS * CS_MAX_AGENTS)
			continue;
		x[across][n[across]++] = scope->judged[i].off;
	}
	if (n[0] < MANY_CELLS || n[1] < MANY_CELLS)
		return 0;
	return cs_median(x[1], n[1]) - cs_median(x[0], n[0]);
}

/* A slow way between the sockets: taken out, for rows and columns do not show it. */
static void judge_between(struct scope *scope)
{
	double off;

	if (!scope->nodes || scope->family != CS_FAMILY_PEER)
		return;
	off = between_numa(scope);
	if (off > -OF_BETWEEN * scope->spread)
		return;
	add_anomaly(scope, anomaly_of(scope, CS_PART_SOCKET, 0, 1, off));
	for (size_t i = 0; i < scope->n; i++) {
		const struct cs_row *row = row_of(scope->judged_cells,
						  &scope->judged[i]);

		if (scope->nd->agent[row->what.src.index].numa !=
		    scope->nd->agent[row->what.dst.index].numa)
			scope->judged[i].off -= off;
	}
}

/* A row or column that is missing is not slow. */
static double effect(double value)
{
	return isnan(value) ? 0 : value;
}

static size_t first_of(const struct scope *scope)
{
	return (size_t)(scope->judged - scope->judged_cells->judged);
}

/* How slow a GPU is, by its row and its column; 0: it is not. */
static double gpu_off(const struct scope *scope, int a, int *sends, int *receives)
{
	const struct cs_fit *fit = &scope->fit;
	double row = effect(fit->row[a]), col = effect(fit->col[a]), off;
	int to_host = cs_endpoint_is_numa(&row_of(scope->judged_cells, scope->judged)
						   ->what.dst);
	int cells = to_host ? fit->in_row[a] : fit->in_col[a];
	double limit = -(cells >= MANY_CELLS ? OF_MANY : OF_FEW) * scope->spread_gpu;

	cs_ways_of(row_of(scope->judged_cells, scope->judged), sends, receives);
	if (scope->family != CS_FAMILY_PEER) {
		off = to_host ? row : col;
		return off < limit ? off : 0;
	}
	off = fmax(row, col);
	if (off < -OF_MANY * scope->spread_gpu && fit->in_row[a] + cells >= MANY_CELLS)
		return off;
	*sends = row < col;
	*receives = !*sends;
	off = fmin(row, col);
	limit = -(cells >= MANY_CELLS ? OF_HALF : OF_FEW) * scope->spread_gpu;
	return off < limit ? off : 0;
}

/* All GPUs next to a NUMA node, and not all there are; *off: of the one that is least so. */
static int whole_numa(const struct scope *scope, int numa, const double *gpu_off,
		      int *first, double *off)
{
	int of = 0, bad = 0;

	*first = -1;
	*off = -INFINITY;
	for (int a = 0; a < scope->nd->facts.n_agents; a++) {
		if (scope->nd->agent[a].numa != numa)
			continue;
		if (*first < 0)
			*first = a;
		of++;
		bad += scope->bad[a];
		*off = fmax(*off, gpu_off[a]);
	}
	return numa >= 0 && of > 1 && bad == of && of < scope->nd->facts.n_agents;
}

static void judge_gpus(struct scope *scope)
{
	double off[CS_MAX_AGENTS];
	int sends[CS_MAX_AGENTS], receives[CS_MAX_AGENTS], first;

	memset(scope->bad, 0, sizeof(scope->bad));
	for (int a = 0; a < scope->nd->facts.n_agents; a++) {
		off[a] = gpu_off(scope, a, &sends[a], &receives[a]);
		scope->bad[a] = off[a] < 0;
	}
	for (int a = 0; a < scope->nd->facts.n_agents; a++) {
		int numa = scope->nd->agent[a].numa;
		struct cs_anomaly s;
		double least;

		if (!scope->bad[a])
			continue;
		s = anomaly_of(scope, CS_PART_GPU, a, -1, off[a]);
		if (whole_numa(scope, numa, off, &first, &least)) {
			if (a != first)
				continue;
			s = anomaly_of(scope, CS_PART_SOCKET, numa, -1, least);
		}
		s.sends = sends[a];
		s.receives = receives[a];
		add_anomaly(scope, s);
	}
}

static void judge_pairs(struct scope *scope)
{
	int n = scope->nd->facts.n_agents;

	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++) {
			double there = effect(scope->fit.cell[a][b]);
			double back = effect(scope->fit.cell[b][a]);
			double both = fmax(there, back), one = fmin(there, back);
			int alike = both < -OF_PAIR * scope->spread_link;
			struct cs_anomaly s = anomaly_of(scope, CS_PART_LINK, a, b,
							 alike ? both : one);

			s.sends = alike || there < back;
			s.receives = alike || back < there;
			if ((alike || one < -OF_ONE_WAY * scope->spread_link))
				add_anomaly(scope, s);
		}
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

static void take_fit(struct parts *to, const struct cs_fit *fit)
{
	for (int i = 0; i < fit->rows; i++)
		take_known(&to->cells, fit->cell[i], fit->cols);
	take_known(&to->rows, fit->row, fit->rows);
	take_known(&to->cols, fit->col, fit->cols);
}

/* How far GPUs and links of healthy nodes are apart: what a node is as a whole does not
 * count, nor for its links what a GPU is.  Those between GPUs and none else are known
 * that closely. */
static void settle_spreads(struct scope *scope, struct parts *of)
{
	const double least = part_least(scope);
	/* as in settle_fleet() */
	const double few = scope->nodes ? 1 + 2.0 / scope->nodes : 1;
	const double links = spread_of(of->cells.data, of->cells.n, least);
	const double rows = spread_of(of->rows.data, of->rows.n, least);
	const double cols = spread_of(of->cols.data, of->cols.n, least);

	scope->spread_link = few * links;
	scope->spread_gpu = few * fmax(links, fmax(rows, cols));
}

/* With a bad GPU among three most cells are slow: the common part of the fit is the
 * usual.  Healthy cells of a node may also differ by more than the least. */
static void settle_by_fit(struct scope *scope)
{
	struct parts parts = { CS_LIST(double), CS_LIST(double), CS_LIST(double) };

	for (size_t i = 0; i < scope->n; i++)
		scope->judged[i].off -= scope->fit.whole;
	if (scope->family != CS_FAMILY_PEER)
		return;
	take_fit(&parts, &scope->fit);
	settle_spreads(scope, &parts);
	scope->spread = fmax(SPREAD_LEAST, scope->spread_gpu);
}

/* More nodes make their spread no more certain. */
#define SPREAD_NODES 256

/* Settle the spreads by the nodes of a group; of more than SPREAD_NODES, by so many that are
 * evenly chosen. */
static void settle_parts(struct scope *scope, size_t from, size_t end)
{
	CS_SCOPE;
	const int each = 1 + (scope->nodes - 1) / SPREAD_NODES;
	struct parts parts = { CS_LIST(double), CS_LIST(double), CS_LIST(double) };

	for (int i = 0; from < end; i++) {
		from = choose_node(scope, from);
		if (i % each)
			continue;
		fill(scope);
		cs_fit_polish(&scope->fit);
		take_fit(&parts, &scope->fit);
	}
	settle_spreads(scope, &parts);
}

/* A cell that is so near to the usual is no anomaly. */
static int all_near(const struct scope *scope)
{
	double best = 0;

	for (size_t i = 0; i < scope->n; i++)
		best = fmax(best, scope->nodes ? 0 : scope->judged[i].off);
	for (size_t i = 0; i < scope->n; i++)
		if (scope->judged[i].off < best - (OF_MANY - 1) * part_least(scope))
			return 0;
	return 1;
}

/* Add `off` to the cells of these GPUs. */
static void shift(struct scope *scope, const struct cs_party *party, double off)
{
	for (size_t i = 0; i < scope->n; i++)
		if (cs_is_of_gpus(row_of(scope->judged_cells, &scope->judged[i]),
				  party->gpus, party->sends, party->receives))
			scope->judged[i].off += off;
}

/* Half of the cells or more are of slow GPUs: they are compared with the others, and what
 * else there is with their like. */
static struct cs_party judge_party(struct scope *scope)
{
	const struct cs_party party = cs_slow_party(scope->judged_cells,
						    first_of(scope), scope->n);
	struct cs_anomaly s;

	if (!party.gpus)
		return party;
	for (size_t i = 0; i < scope->n; i++)
		if (!scope->judged[i].unsure)
			scope->judged[i].off = scope->judged[i].y - party.usual;
	s = anomaly_of(scope, CS_PART_NODE, -1, -1, party.off);
	s.gpus = party.gpus;
	s.others_gbs = exp(party.usual);
	/* the ways to the host may be built so */
	s.most = scope->family == CS_FAMILY_HOST ? CS_WEIGHT_WARNING : CS_WEIGHT_ANY;
	s.sends = party.sends;
	s.receives = party.receives;
	add_anomaly(scope, s);
	shift(scope, &party, -party.off);
	return party;
}

static void judge_parts(struct scope *scope)
{
	if (all_near(scope))
		return;
	judge_between(scope);
	fill(scope);
	cs_fit_polish(&scope->fit);
	if (!scope->nodes)
		settle_by_fit(scope);
	judge_gpus(scope);
	if (scope->family == CS_FAMILY_PEER)
		judge_pairs(scope);
}

/* ---- all of them ---- */

/* Few nodes: each is compared with itself, by the spread of all of them. */
static void judge_each(struct scope *scope, size_t from, size_t end)
{
	struct likes likes = { CS_LIST(double), 0 };
	struct cs_party *party = scope->party;

	for (size_t i = from; i < end; party++) {
		i = choose_node(scope, i);
		settle_alone(scope);
		*party = judge_party(scope);
		if (scope->family != CS_FAMILY_PEER)
			take_likes(&likes, scope);
	}
	party = scope->party;
	for (size_t i = from; i < end; party++) {
		scope->spread_gpu = scope->spread = spread_of_likes(&likes);
		i = choose_node(scope, i);
		judge_parts(scope);
		shift(scope, party, party->off);
	}
}

static void judge_fleet(struct scope *scope, size_t from, size_t end)
{
	settle_fleet(scope->judged_cells->judged + from, end - from, &scope->spread,
		     &scope->noise);
	scope->spread_gpu = scope->spread_link = scope->spread;
	/* the figures of host links and memory are each their own */
	if (scope->family == CS_FAMILY_PEER)
		settle_parts(scope, from, end);
	while (from < end) {
		from = choose_node(scope, from);
		judge_parts(scope);
	}
}

static void judge_group(struct scope *scope, size_t from, size_t end)
{
	const struct cs_judged_cells *cells = scope->judged_cells;
	const struct cs_row *row = row_of(cells, &cells->judged[from]);
	int nodes = 0;

	for (size_t i = from; i < end; i = cs_judged_cells_node_end(cells, i))
		nodes++;
	scope->family = cs_family_of(row);
	scope->nodes = nodes >= NODES_LEAST ? nodes : 0;
	scope->spread = SPREAD_LEAST;
	scope->noise = 0;
	if (scope->nodes)
		judge_fleet(scope, from, end);
	/* loads of others differ from GPU to GPU */
	else if (cs_own_concurrent(cells->run, row) <= 1)
		judge_each(scope, from, end);
}

void cs_outliers_find(struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct scope *scope = cs_new(struct scope, 1);

	scope->judged_cells = cells;
	scope->anomalies = anomalies;
	for (size_t i = 0, k; i < cells->n; i = k) {
		k = cs_judged_cells_group_end(cells, i);
		judge_group(scope, i, k);
	}
}
