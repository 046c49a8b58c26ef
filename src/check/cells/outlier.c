/* outlier.c - cells that are slower than their like, and what they have in common.
 *
 * A cell is held against the same cell of the other nodes of its class where at least
 * five have measured it, else against the cells of its own node that go the same kind
 * of way.  How far apart healthy ones are is measured in the same figures, and taken to
 * be at least 1 %: nodes differ by 0.3 %, runs by 0.1 %, and one NVLink of 18 is 5.6 %.
 *
 * A median distance of few figures is small by chance now and then, and then the one
 * furthest off looks like an outlier: of few figures the spread is taken to be larger.
 *
 * How many spreads make a suspect follows from how many cells agree.  With these
 * healthy allocations are left in peace (tests/bench/truth_fleet.c), and what is
 * suspected is looked at again besides.
 *
 * No cell bears witness within its own noise and that of those it is held against
 * (noise.c), whatever the others do. */
#include "config.h"

#include "check/cells/suspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "check/link/expect.h"
#include "check/cells/locate.h"

#define NODES_LEAST 5
#define CELLS_LEAST 3	/* of one node, to have a usual one */
#define SPREAD_LEAST CS_OFF_FLOOR
/* The spread of n figures is taken MANY_FIGURES + FEW_FIGURES / n times as large.  Of 8
 * Gaussian ones that differ by 2 % one is then OF_FEW off in 1 of 10,000 (else in 1 of
 * 50), of 1,024 in 1 of 50,000. */
#define MANY_FIGURES 1.25
#define FEW_FIGURES 26.0

/* In spreads. */
#define MANY_CELLS 4
#define OF_MANY 3.0	/* that many cells of a row or column agree */
#define OF_FEW 4.5
#define OF_HALF 4.0	/* a row without its column */
#define OF_BETWEEN 5.0
#define OF_PAIR 4.0	/* both ways of it */
#define OF_ONE_WAY 8.0

/* The cells of one node in one group. */
struct look {
	struct cs_spots *spots;
	struct cs_vec *suspects;
	struct cs_err *err;
	const struct cs_run_node *nd;
	struct cs_spot *spot;	/* n of them */
	size_t n;
	int node, nodes;	/* nodes: behind what is usual; 0: its own cells */
	enum cs_family family;
	double spread;		/* of healthy ones, as logarithms */
	double noise;		/* of the figure that is usual */
	struct cs_fit fit;
	char bad[CS_MAX_AGENTS];	/* GPUs */
};

static const struct cs_row *row_of(const struct cs_spots *spots,
				   const struct cs_spot *spot)
{
	return cs_rows_get(&spots->run->rows, spot->at);
}

static int place_of(const struct cs_end *end)
{
	return !cs_end_is_numa(end) ? end->index :
	       end->index == CS_NUMA_LOCAL ? 0 : end->index + 1;
}

/* Of healthy figures, as far as these n tell; x is sorted. */
static double spread_of(double *x, size_t n)
{
	return n ? fmax(SPREAD_LEAST, cs_scaled_mad(x, n) *
					      (MANY_FIGURES +
					       FEW_FIGURES / (double)n)) :
		   SPREAD_LEAST;
}

/* ---- what is usual ---- */

/* Cells of one node with the same number are alike. */
static int kind_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;
	int from, to;

	if (cs_family_of(row) == CS_FAMILY_LOCAL)
		return 0;
	if (cs_family_of(row) == CS_FAMILY_HOST)
		return cs_is_near(run, row);
	from = agent[row->what.src.index].numa;
	to = agent[row->what.dst.index].numa;
	return cs_on_nvlink(run, row) ? 0 : from < 0 || to < 0 ? 1 : 2 + (from == to);
}
#define KINDS 4

static int is_alike(const struct look *look, size_t i, int kind)
{
	const struct cs_spot *spot = &look->spot[i];

	return !spot->unsure &&
	       kind_of(look->spots->run, row_of(look->spots, spot)) == kind;
}

/* The noise of what is usual: of half the cells it is less. */
static double usual_noise(const struct cs_spot *spot, size_t n, double *x)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (!spot[i].unsure)
			x[known++] = spot[i].noise;
	return known ? cs_median(x, known) : 0;
}

/* Among the cells of the node itself. */
static int settle_alone(struct look *look)
{
	double *x = calloc(look->n, sizeof(*x));

	if (!x)
		return cs_err_set(look->err, "no memory to judge cells");
	for (int kind = 0; kind < KINDS; kind++) {
		size_t n = 0;
		double usual;

		for (size_t i = 0; i < look->n; i++)
			if (is_alike(look, i, kind))
				x[n++] = look->spot[i].y;
		usual = cs_upper_median(x, n);
		for (size_t i = 0; i < look->n && n >= CELLS_LEAST; i++)
			if (is_alike(look, i, kind))
				look->spot[i].off = look->spot[i].y - usual;
	}
	look->noise = usual_noise(look->spot, look->n, x);
	free(x);
	return 0;
}

static int by_cell(const void *x, const void *y)
{
	const struct cs_spot *a = *(struct cs_spot *const *)x;
	const struct cs_spot *b = *(struct cs_spot *const *)y;

	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Among the nodes: spot[0..n) is a group.  The spread is of all its cells. */
static int settle_fleet(struct cs_spot *spot, size_t n, double *spread,
			double *noise, struct cs_err *err)
{
	struct cs_spot **at = calloc(n, sizeof(*at));
	double *x = calloc(n, sizeof(*x));
	size_t i, k, known = 0, nodes = NODES_LEAST;
	int rc = at && x ? 0 : cs_err_set(err, "no memory to judge cells");

	for (i = 0; !rc && i < n; i++)
		at[i] = &spot[i];
	if (!rc)
		qsort(at, n, sizeof(*at), by_cell);
	for (i = 0; !rc && i < n; i = k) {
		size_t sure = 0;
		double usual;

		for (k = i; k < n && at[k]->cell == at[i]->cell; k++)
			if (!at[k]->unsure)
				x[sure++] = at[k]->y;
		usual = sure >= NODES_LEAST ? cs_median(x, sure) : NAN;
		for (size_t m = i; m < k; m++)
			if (!at[m]->unsure)
				at[m]->off = at[m]->y - usual;
		nodes = sure > nodes ? sure : nodes;
	}
	for (i = 0; !rc && i < n; i++)
		if (!isnan(spot[i].off))
			x[known++] = spot[i].off;
	if (!rc) {
		/* each median is one of the figures, or between two: they seem nearer */
		*spread = spread_of(x, known) * (1 + 2.0 / (double)nodes);
		*noise = usual_noise(spot, n, x);
	}
	free(at);
	free(x);
	return rc;
}

/* ---- suspects ---- */

static struct cs_suspect suspect_of(const struct look *look, enum cs_part part, int a,
				    int b, double off)
{
	return (struct cs_suspect){
		.node = look->node, .part = part, .family = look->family,
		.cause = CS_CAUSE_SLOW, .a = a, .b = b,
		.drop = -expm1(off), .sure = -off / look->spread,
		.nodes = look->nodes, .tests = 1,
		.test = row_of(look->spots, look->spot)->test,
	};
}

/* A cell, and how slow it is by what is held against this part of the node alone. */
struct witness {
	const struct cs_spot *spot;
	double off;
};

static int by_off(const void *x, const void *y)
{
	const struct witness *a = x, *b = y;
	uint32_t p = a->spot->at, q = b->spot->at;

	return a->off < b->off ? -1 : a->off > b->off ? 1 : p < q ? -1 : p > q;
}

/* A node that is slow does not prove that a GPU of it is, nor a GPU its links. */
static struct witness witness_of(const struct look *look, enum cs_part part,
				 const struct cs_spot *spot)
{
	const struct cs_row *row = row_of(look->spots, spot);
	int from = place_of(&row->what.src), to = place_of(&row->what.dst);
	double off = spot->off;

	if (part == CS_PART_LINK)
		off = look->fit.cell[from][to];
	else if (part == CS_PART_GPU && look->nodes)
		off -= look->fit.whole;
	return (struct witness){ spot, off };
}

/* The slow cells that it explains, the slowest first: at least half as slow.  Those
 * whose noise could make them so do not count, and where they are most, nothing does. */
static int accuse(struct look *look, struct cs_suspect suspect)
{
	struct witness *at = calloc(look->n, sizeof(*at));
	size_t n = 0, slow = 0;

	if (!at)
		return cs_err_set(look->err, "no memory to judge cells");
	for (size_t i = 0; i < look->n; i++) {
		const struct cs_spot *spot = &look->spot[i];
		struct witness witness = witness_of(look, suspect.part, spot);

		if (!(witness.off < log1p(-suspect.drop) / 2) ||
		    !cs_suspect_bears(look->spots->run, &suspect,
				      row_of(look->spots, spot)))
			continue;
		slow++;
		if (cs_is_beyond_noise(witness.off, spot->noise, look->noise))
			at[n++] = witness;
	}
	n = 2 * n < slow ? 0 : n;
	qsort(at, n, sizeof(*at), by_off);
	for (size_t i = 0; i < n; i++)
		cs_suspect_row(&suspect, at[i].spot->at, at[i].off);
	free(at);
	return n ? cs_suspect_add(look->suspects, &suspect, look->err) : 0;
}

/* ---- one node ---- */

static void fill(struct look *look)
{
	struct cs_fit *fit = &look->fit;

	fit->rows = fit->cols = 0;
	for (int i = 0; i < CS_FIT_MOST; i++)
		for (int k = 0; k < CS_FIT_MOST; k++)
			fit->cell[i][k] = NAN;
	for (size_t i = 0; i < look->n; i++) {
		const struct cs_row *row = row_of(look->spots, &look->spot[i]);
		int from = place_of(&row->what.src), to = place_of(&row->what.dst);

		if (look->family == CS_FAMILY_LOCAL)
			from = 0;
		if (isnan(look->spot[i].off))
			continue;
		fit->cell[from][to] = look->spot[i].off;
		fit->rows = from >= fit->rows ? from + 1 : fit->rows;
		fit->cols = to >= fit->cols ? to + 1 : fit->cols;
	}
}

/* The cells between two domains, less those within them; 0 where there are none. */
static double between_domains(const struct look *look)
{
	double x[2][CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n[2] = { 0, 0 };

	for (size_t i = 0; i < look->n; i++) {
		const struct cs_row *row = row_of(look->spots, &look->spot[i]);
		int from = look->nd->agent[row->what.src.index].numa;
		int to = look->nd->agent[row->what.dst.index].numa;
		int across = from != to;

		if (from < 0 || to < 0 || isnan(look->spot[i].off) ||
		    n[across] == CS_MAX_AGENTS * CS_MAX_AGENTS)
			continue;
		x[across][n[across]++] = look->spot[i].off;
	}
	if (n[0] < MANY_CELLS || n[1] < MANY_CELLS)
		return 0;
	return cs_median(x[1], n[1]) - cs_median(x[0], n[0]);
}

/* A slow way between the sockets: taken out, for rows and columns do not show it. */
static int judge_between(struct look *look)
{
	double off;

	if (!look->nodes || look->family != CS_FAMILY_PEER)
		return 0;
	off = between_domains(look);
	if (off > -OF_BETWEEN * look->spread)
		return 0;
	if (accuse(look, suspect_of(look, CS_PART_SOCKET, 0, 1, off)))
		return -1;
	for (size_t i = 0; i < look->n; i++) {
		const struct cs_row *row = row_of(look->spots, &look->spot[i]);

		if (look->nd->agent[row->what.src.index].numa !=
		    look->nd->agent[row->what.dst.index].numa)
			look->spot[i].off -= off;
	}
	return 0;
}

/* A row or column that is missing is not slow. */
static double effect(double value)
{
	return isnan(value) ? 0 : value;
}

/* How slow a GPU is, by its row and its column; 0: it is not. */
static double gpu_off(const struct look *look, int a, int *sends, int *receives)
{
	const struct cs_fit *fit = &look->fit;
	double row = effect(fit->row[a]), col = effect(fit->col[a]), off;
	int to_host = cs_end_is_numa(&row_of(look->spots, look->spot)->what.dst);
	int cells = to_host ? fit->in_row[a] : fit->in_col[a];
	double limit = -(cells >= MANY_CELLS ? OF_MANY : OF_FEW) * look->spread;

	*sends = *receives = 1;
	if (look->family != CS_FAMILY_PEER) {
		off = to_host ? row : col;
		return off < limit ? off : 0;
	}
	off = fmax(row, col);
	if (off < -OF_MANY * look->spread && fit->in_row[a] + cells >= MANY_CELLS)
		return off;
	*sends = row < col;
	*receives = !*sends;
	off = fmin(row, col);
	limit = -(cells >= MANY_CELLS ? OF_HALF : OF_FEW) * look->spread;
	return off < limit ? off : 0;
}

/* All GPUs next to a domain, and not all there are; *off: of the one that is least so. */
static int whole_domain(const struct look *look, int numa, const double *gpu_off,
			int *first, double *off)
{
	int of = 0, bad = 0;

	*first = -1;
	*off = -INFINITY;
	for (int a = 0; a < look->nd->facts.n_agents; a++) {
		if (look->nd->agent[a].numa != numa)
			continue;
		if (*first < 0)
			*first = a;
		of++;
		bad += look->bad[a];
		*off = fmax(*off, gpu_off[a]);
	}
	return numa >= 0 && of > 1 && bad == of && of < look->nd->facts.n_agents;
}

static int judge_gpus(struct look *look)
{
	double off[CS_MAX_AGENTS];
	int sends[CS_MAX_AGENTS], receives[CS_MAX_AGENTS], first;

	memset(look->bad, 0, sizeof(look->bad));
	for (int a = 0; a < look->nd->facts.n_agents; a++) {
		off[a] = gpu_off(look, a, &sends[a], &receives[a]);
		look->bad[a] = off[a] < 0;
	}
	for (int a = 0; a < look->nd->facts.n_agents; a++) {
		int numa = look->nd->agent[a].numa;
		struct cs_suspect s;
		double least;

		if (!look->bad[a])
			continue;
		s = suspect_of(look, CS_PART_GPU, a, -1, off[a]);
		if (whole_domain(look, numa, off, &first, &least)) {
			if (a != first)
				continue;
			s = suspect_of(look, CS_PART_SOCKET, numa, -1, least);
		}
		s.sends = sends[a];
		s.receives = receives[a];
		if (accuse(look, s))
			return -1;
	}
	return 0;
}

static int judge_pairs(struct look *look)
{
	int n = look->nd->facts.n_agents;

	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++) {
			double there = effect(look->fit.cell[a][b]);
			double back = effect(look->fit.cell[b][a]);
			double both = fmax(there, back), one = fmin(there, back);
			int alike = both < -OF_PAIR * look->spread;
			struct cs_suspect s = suspect_of(look, CS_PART_LINK, a, b,
							 alike ? both : one);

			s.sends = alike || there < back;
			s.receives = alike || back < there;
			if ((alike || one < -OF_ONE_WAY * look->spread) &&
			    accuse(look, s))
				return -1;
		}
	return 0;
}

/* Of 3 GPUs with a bad one most cells are slow: what the fit has in common is what is
 * usual.  And healthy cells of a node may differ more than the least. */
static void settle_by_fit(struct look *look)
{
	double x[CS_MAX_AGENTS * CS_MAX_AGENTS];
	const struct cs_fit *fit = &look->fit;
	size_t n = 0, m = 0;

	for (size_t i = 0; i < look->n; i++)
		look->spot[i].off -= fit->whole;
	for (int i = 0; i < fit->rows; i++)
		for (int k = 0; k < fit->cols; k++)
			if (!isnan(fit->cell[i][k]) && n < sizeof(x) / sizeof(x[0]))
				x[n++] = fit->cell[i][k];
	look->spread = spread_of(x, n);
	for (int k = 0; k < fit->cols; k++)
		if (!isnan(fit->col[k]))
			x[m++] = fit->col[k];
	look->spread = fmax(look->spread, spread_of(x, m));
	for (m = 0, n = 0; n < (size_t)fit->rows; n++)
		if (!isnan(fit->row[n]))
			x[m++] = fit->row[n];
	look->spread = fmax(look->spread, spread_of(x, m));
}

/* Nothing that is so near to the usual is a suspect, whatever the fit makes of it. */
static int all_near(const struct look *look)
{
	double best = 0;

	for (size_t i = 0; i < look->n; i++)
		best = fmax(best, look->nodes ? 0 : look->spot[i].off);
	for (size_t i = 0; i < look->n; i++)
		if (look->spot[i].off < best - (OF_MANY - 1) * SPREAD_LEAST)
			return 0;
	return 1;
}

static int judge_node(struct look *look)
{
	if (!look->nodes) {
		/* loads of others differ from GPU to GPU */
		if (cs_own_company(look->spots->run,
				   row_of(look->spots, look->spot)) > 1)
			return 0;
		if (settle_alone(look))
			return -1;
	}
	if (all_near(look))
		return 0;
	if (judge_between(look))
		return -1;
	fill(look);
	cs_fit_polish(&look->fit);
	if (!look->nodes)
		settle_by_fit(look);
	if (judge_gpus(look))
		return -1;
	return look->family == CS_FAMILY_PEER ? judge_pairs(look) : 0;
}

/* ---- all of them ---- */

static int judge_group(struct cs_spots *spots, size_t from, size_t end,
		       struct look *look)
{
	int nodes = 0;
	double spread = SPREAD_LEAST, noise = 0;

	for (size_t i = from; i < end; i = cs_spots_node_end(spots, i))
		nodes++;
	look->family = cs_family_of(row_of(spots, &spots->spot[from]));
	look->nodes = nodes >= NODES_LEAST ? nodes : 0;
	if (look->nodes && settle_fleet(spots->spot + from, end - from, &spread,
					&noise, look->err))
		return -1;
	for (size_t i = from, k; i < end; i = k) {
		k = cs_spots_node_end(spots, i);
		look->spread = spread;
		look->noise = noise;
		look->node = (int)spots->spot[i].node;
		look->nd = &spots->run->node[look->node];
		look->spot = spots->spot + i;
		look->n = k - i;
		if (judge_node(look))
			return -1;
	}
	return 0;
}

int cs_outliers_find(struct cs_spots *spots, struct cs_vec *suspects,
		     struct cs_err *err)
{
	struct look *look = calloc(1, sizeof(*look));
	int rc = look ? 0 : cs_err_set(err, "no memory to judge cells");

	for (size_t i = 0, k; i < spots->n && !rc; i = k) {
		k = cs_spots_group_end(spots, i);
		look->spots = spots;
		look->suspects = suspects;
		look->err = err;
		rc = judge_group(spots, i, k, look);
	}
	free(look);
	return rc;
}
