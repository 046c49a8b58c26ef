/* whole.c - nodes and sockets that are slow as a whole, by a little: what no cell of
 * theirs shows, their medians do.
 *
 * A node's median is compared with those of the other nodes.  Nodes differ by 0.3 % in
 * each family of cells, now and then by 2 %: so what one family says by itself has to
 * be plain, and what several say together may be less.  Two nodes do not show which
 * is right, of three and four the others may agree by chance.  Where many are slow alike
 * they have a cause in common, or the others are fast: none of them is drained.
 *
 * A socket's links to the host are compared with the other sockets of its node, less
 * what these differ by on the other nodes, for on one model sockets may differ, on all
 * nodes alike; and with the same socket of the other nodes, for its neighbour may be
 * fast. */
#include "check/cells/anomaly.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "check/link/expect.h"
#include "check/cells/locate.h"

/* Slow by less is nothing, as logarithms. */
#define OF_ONE_FAMILY 0.04
#define OF_FAMILIES 0.015	/* of two or more */
#define OF_A_NOTE 0.022		/* of one family */
#define OF_SOCKETS 0.05
#define OF_OWN_SOCKETS 0.08	/* how much they may differ is unknown */
#define LITTLE 0.06		/* no reason to drain a node */
#define FAMILIES_AGREE 2
/* Nodes: enough to show which of them is slow; to keep it out; to report a little. */
#define NODES_LEAST 3
#define NODES_SURE 5
#define NODES_MANY 8
#define GPUS_OF_SOCKET 2
/* In spreads; of n nodes it is taken 1 + FEW_NODES / n times as large. */
#define SPREADS 4.5
#define SPREADS_OF_SOCKETS 5.5
#define SPREADS_OF_A_NOTE 9
#define FEW_NODES 1.2
#define FAR_SLOWER 2.5
#define NEAR 0.75 /* of a part's loss: a GPU whose cells are less slow has none */
#define MEDIAN_SE 1.25		/* of a mean's standard error, Gauss */
#define FEW_IN_SOCKET 1.5	/* four cells lie near their own median */

/* The cells judged[from..end) of one test on a node, or those of a socket, as one. */
struct whole {
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
	double off, spread; /* of what is usual; between healthy ones */
	double noise;
};

struct wholes {
	const struct cs_judged_cells *judged_cells;
	char *explained;   /* by spot: a part of the node explains it */
	struct cs_vec all; /* struct whole */
	struct cs_vec *anomalies;
};

static const struct cs_row *row_at(const struct wholes *w, size_t i)
{
	return cs_rows_get(&w->judged_cells->run->rows, w->judged_cells->judged[i].at);
}

static int socket_of(const struct wholes *w, size_t i)
{
	const struct cs_row *row = row_at(w, i);

	return w->judged_cells->run->node[row->node].agent[cs_gpu_of(row)].numa;
}

static int is_of(const struct wholes *w, const struct whole *of, size_t i)
{
	if (w->judged_cells->judged[i].unsure)
		return 0;
	return of->socket < 0 ? !w->explained[i] :
				socket_of(w, i) == of->socket &&
					cs_is_near(w->judged_cells->run, row_at(w, i));
}

/* The median of cells: the greater of the middle two, because the slower half may be
 * cells of one socket.  NAN: there are none. */
static void settle(const struct wholes *w, struct whole *of)
{
	double y[CS_MAX_AGENTS * CS_MAX_AGENTS], noise[CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n = 0;

	for (size_t i = of->from; i < of->end && n < sizeof(y) / sizeof(y[0]); i++) {
		if (!is_of(w, of, i))
			continue;
		y[n] = w->judged_cells->judged[i].y;
		noise[n++] = w->judged_cells->judged[i].noise;
	}
	of->cells = n;
	of->y = cs_upper_median(y, n);
	of->noise = n ? cs_median(noise, n) : 0;
}

/* ---- the usual figure, in one group ---- */

CS_ORDERING(by_socket, struct whole, CS_ORDER(a->socket, b->socket),
	    CS_ORDER(a->node, b->node))

/* The median of y[0..n), ascending, without `own`: of two in the middle the slower,
 * because half of the others may be fast. */
static double others_median(const double *y, size_t n, double own)
{
	size_t at = (n - 2) / 2;

	return y[at + (own <= y[at])];
}

static void count_nodes(struct whole *w, const double *y, size_t n)
{
	w->nodes = (int)n;
	w->slower = cs_count_nodes(y, n, w->y, w->off, &w->alike);
}

/* The number of slow ones in y[0..n), ascending, if a wide gap separates many slow
 * nodes from many others; 0: it does not. */
static size_t count_slow(const double *y, size_t n)
{
	double widest = OF_ONE_FAMILY;
	size_t slow = 0;

	for (size_t i = 1; i < n; i++)
		if (y[i] - y[i - 1] > widest && cs_is_of_many((int)i, (int)n) &&
		    cs_is_of_many((int)(n - i), (int)n)) {
			widest = y[i] - y[i - 1];
			slow = i;
		}
	return slow;
}

/* w[0..n) are the same part of n nodes.  What is usual is what the fast of two parties
 * have, even where most are slow; how far nodes are apart shows within each. */
static void settle_nodes(struct whole *w, size_t n, double *room)
{
	double few = 1 + FEW_NODES / (double)n, *y = room, *near = room + n,
	       spread = 0;
	size_t slow;

	for (size_t i = 0; i < n; i++)
		y[i] = w[i].y;
	cs_sort(y, n);
	slow = count_slow(y, n);
	for (size_t i = 0; i < n; i++)
		near[i] = y[i] - (i < slow ? y[slow / 2] : y[slow + (n - slow) / 2]);
	if (n >= NODES_LEAST)
		spread = few * cs_scaled_mad(near, n);
	for (size_t i = 0; i < n; i++) {
		w[i].spread = spread;
		w[i].off = n < 2 ? NAN :
			   slow && w[i].y < y[slow] ?
				   w[i].y - y[slow + (n - slow - 1) / 2] :
				   w[i].y - others_median(y + slow, n - slow, w[i].y);
		count_nodes(&w[i], y, n);
	}
}

/* How far healthy cells of a socket are from its median, in all sockets w[0..n). */
static double spread_in_sockets(const struct wholes *in, const struct whole *w,
				size_t n, double *room)
{
	size_t m = 0;

	for (size_t s = 0; s < n; s++) {
		for (size_t i = w[s].from; i < w[s].end; i++)
			if (is_of(in, &w[s], i))
				room[m++] = in->judged_cells->judged[i].y - w[s].y;
	}
	return FEW_IN_SOCKET * cs_scaled_mad(room, m);
}

/* The same socket w[0..n) of n nodes.  Slow is what is so beside its own node's others,
 * more so than on the other nodes, and beside the same socket of these.  If many are,
 * all nodes may have such a socket, some one and some another: so they are built. */
static void settle_sockets(struct whole *w, size_t n, double cells, double *room)
{
	double *y = room, *beside = room + n, *lowest = room + 2 * n;

	for (size_t i = 0; i < n; i++) {
		y[i] = w[i].y;
		beside[i] = w[i].beside;
		lowest[i] = w[i].lowest;
	}
	for (size_t k = 0; k < 3; k++)
		cs_sort(room + k * n, n);
	for (size_t i = 0; i < n; i++) {
		struct whole *s = &w[i];

		s->spread = cells * MEDIAN_SE * sqrt(2 / (double)s->cells);
		s->off = s->beside;
		if (n > 1)
			s->off = fmax(s->beside - others_median(beside, n, s->beside),
				      s->y - others_median(y, n, s->y));
		count_nodes(s, y, n);
		if (cs_is_of_many(s->alike, s->nodes))
			s->off = fmax(s->off,
				      s->lowest - others_median(lowest, n, s->lowest));
	}
}

static void add(struct wholes *w, const struct whole *one, size_t least)
{
	struct whole whole = *one;

	settle(w, &whole);
	cs_ways_of(row_at(w, whole.from), &whole.sends, &whole.receives);
	if (whole.cells >= least)
		cs_list_push(&w->all, &whole);
}

/* Each socket of a node that has several. */
static void add_sockets(struct wholes *w, const struct whole *node)
{
	size_t first = w->all.n, n;
	struct whole *at;

	for (size_t i = node->from; i < node->end; i++) {
		struct whole socket = *node;
		size_t k = first;

		socket.socket = socket_of(w, i);
		at = w->all.data;
		while (k < w->all.n && at[k].socket != socket.socket)
			k++;
		if (socket.socket >= 0 && k == w->all.n)
			add(w, &socket, GPUS_OF_SOCKET);
	}
	n = w->all.n - first;
	if (n < 2)
		w->all.n = first;
	at = (struct whole *)w->all.data + first;
	for (size_t i = 0; i < w->all.n - first; i++) {
		double best = -INFINITY;

		at[i].lowest = at[i].y;
		for (size_t k = 0; k < n; k++) {
			best = k == i ? best : fmax(best, at[k].y);
			at[i].lowest = fmin(at[i].lowest, at[k].y);
		}
		at[i].beside = at[i].y - best;
	}
}

/* Every node of judged[from..end), or the sockets of every node. */
static void add_all(struct wholes *w, size_t from, size_t end, int sockets)
{
	for (size_t i = from, k; i < end; i = k) {
		const struct cs_row *row = row_at(w, i);
		struct whole node = { .node = (int)row->node,
				      .socket = -1,
				      .family = cs_family_of(row),
				      .test = row->test,
				      .from = i };

		k = node.end = cs_judged_cells_node_end(w->judged_cells, i);
		if (!sockets)
			add(w, &node, 1);
		else if (node.family == CS_FAMILY_HOST)
			add_sockets(w, &node);
	}
}

/* w[0..n): each socket with those of the same number on the other nodes. */
static void settle_all_sockets(const struct wholes *in, struct whole *w, size_t n,
			       double *room)
{
	double cells = spread_in_sockets(in, w, n, room);

	qsort(w, n, sizeof(*w), by_socket);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && w[k].socket == w[i].socket; k++)
			;
		settle_sockets(w + i, k - i, cells, room);
	}
}

/* judged[from..end): one group, of all nodes of a class. */
static void settle_group(struct wholes *w, size_t from, size_t end)
{
	CS_SCOPE;
	double *room = cs_new(double, 2 * (end - from + 1));
	size_t first = w->all.n, sockets;
	struct whole *at;

	add_all(w, from, end, 0);
	sockets = w->all.n;
	add_all(w, from, end, 1);
	at = w->all.data;
	if (sockets > first)
		settle_nodes(at + first, sockets - first, room);
	if (w->all.n > sockets)
		settle_all_sockets(w, at + sockets, w->all.n - sockets, room);
}

/* ---- slow nodes and sockets ---- */

CS_ORDERING(by_part, struct whole, CS_ORDER(a->node, b->node),
	    CS_ORDER(a->socket, b->socket), CS_ORDER(a->family, b->family),
	    CS_ORDER(a->test, b->test), CS_ORDER(a->from, b->from))

static int same_part(const struct whole *a, const struct whole *b)
{
	return a->node == b->node && a->socket == b->socket && a->family == b->family;
}

static int is_slow(const struct whole *w, double least, double spreads)
{
	return w->off < -fmax(least, spreads * w->spread) &&
	       cs_is_beyond_noise(w->off, w->noise, w->noise);
}

/* The weight of a test: the more, the more nodes show it. */
static int weight_of(const struct whole *w)
{
	return !is_slow(w, OF_FAMILIES, SPREADS) ? 0 :
	       w->nodes < NODES_LEAST		 ? 1 :
	       w->nodes < NODES_SURE		 ? 2 :
						   3;
}

/* Report one part of a node in the tests of one family, w[0..n), by the test in which
 * it is slowest: its own figures are reported and measured again, because a mean
 * would hide what one of many tests shows.  A socket is surer if others agree: two at
 * most, which share GPUs. */
static struct whole slowest(const struct whole *w, size_t n)
{
	struct whole worst = w[0];
	double off = 0, spread = 0;

	for (size_t i = 0; i < n; i++) {
		int more = weight_of(&w[i]) - weight_of(&worst);

		if (more > 0 || (!more && w[i].off < worst.off))
			worst = w[i];
		off += w[i].off / (double)n;
		spread = fmax(spread, w[i].spread);
	}
	for (size_t i = 0; i < n; i++)
		if (w[i].off < worst.off / 2) {
			worst.sends |= w[i].sends;
			worst.receives |= w[i].receives;
		}
	if (worst.socket >= 0 && n > 1 && off < 0)
		worst.spread = fmin(worst.spread, spread / sqrt(2) * worst.off / off);
	return worst;
}

static struct cs_anomaly anomaly_of(const struct whole *w, enum cs_weight most)
{
	return (struct cs_anomaly){
		.node = w->node,
		.family = w->family,
		.cause = CS_CAUSE_SLOW,
		.part = w->socket < 0 ? CS_PART_NODE : CS_PART_SOCKET,
		.a = w->socket,
		.b = -1,
		.sends = w->sends,
		.receives = w->receives,
		.drop = -expm1(w->off),
		.sure = -w->off / fmax(w->spread, CS_OFF_FLOOR),
		.most = most,
		.nodes = w->nodes,
		.slower = w->slower,
		.test = w->test,
		.tests = 1,
	};
}

/* The part's GPUs that have no cell far faster than most of its cells. */
static uint64_t slow_gpus(const struct wholes *w, const struct whole *of)
{
	const struct cs_judged_cell *judged = w->judged_cells->judged;
	double *off = cs_new(double, of->end - of->from), limit;
	uint64_t seen = 0, fast = 0;
	size_t n = 0;

	for (size_t i = of->from; i < of->end; i++)
		if (is_of(w, of, i) && !isnan(judged[i].off))
			off[n++] = judged[i].off;
	limit = cs_upper_median(off, n) - NEAR * of->off;
	for (size_t i = of->from; i < of->end; i++) {
		uint64_t gpus = cs_row_agents(row_at(w, i));

		if (!is_of(w, of, i))
			continue;
		seen |= gpus;
		if (judged[i].off > limit)
			fast |= gpus;
	}
	return seen & ~fast;
}

struct distance {
	double more; /* than the median */
	uint32_t at;
};

CS_ORDERING(by_distance, struct distance, CS_ORDER(fabs(a->more), fabs(b->more)),
	    CS_ORDER(a->at, b->at))

/* GPUs of a slow socket are no anomalies of their own, unless they are far slower. */
static void absorb(const struct wholes *w, const struct cs_anomaly *socket)
{
	const struct cs_agent_facts *agent =
		w->judged_cells->run->node[socket->node].agent;

	CS_KEEP(struct cs_anomaly, s, w->anomalies,
		s->node != socket->node || s->family != socket->family ||
			s->part != CS_PART_GPU || agent[s->a].numa != socket->a ||
			s->drop > FAR_SLOWER * socket->drop);
}

/* With the cells nearest to the median: none that was busy speaks for the others. */
static void add_anomaly(const struct wholes *w, const struct whole *of,
			enum cs_weight most)
{
	struct cs_anomaly s = anomaly_of(of, most);
	struct distance *to = cs_new(struct distance, of->end - of->from);
	size_t n = 0;

	for (size_t i = of->from; i < of->end; i++)
		if (is_of(w, of, i))
			to[n++] = (struct distance){ w->judged_cells->judged[i].y -
							     of->y,
						     w->judged_cells->judged[i].at };
	s.gpus = slow_gpus(w, of);
	s.is_of_many = cs_is_of_many(of->alike, of->nodes);
	qsort(to, n, sizeof(*to), by_distance);
	for (size_t i = 0; i < n; i++)
		cs_anomaly_row(&s, to[i].at, of->off + to[i].more);
	if (of->socket >= 0)
		absorb(w, &s);
	cs_list_push(w->anomalies, &s);
}

/* A node alone, or one of many that are slow alike: most nodes are not at fault. */
static enum cs_weight most_of(const struct whole *of, enum cs_weight alone)
{
	return !cs_is_of_many(of->alike, of->nodes) ? alone :
	       2 * of->alike > of->nodes	    ? CS_WEIGHT_NOTE :
						      CS_WEIGHT_WARNING;
}

/* How grave it is at most that a node is so slow in a family; `agree`: others are. */
static void judge_node(const struct wholes *w, const struct whole *of, int agree)
{
	int slow = is_slow(of, OF_ONE_FAMILY, SPREADS);

	if (of->nodes < 2)
		return;
	if (of->nodes < NODES_LEAST) {
		if (slow)
			add_anomaly(w, of, CS_WEIGHT_NOTE);
		return;
	}
	if (slow || (agree && is_slow(of, OF_FAMILIES, SPREADS))) {
		add_anomaly(w, of,
			    most_of(of, of->nodes < NODES_SURE || of->off > -LITTLE ?
						CS_WEIGHT_WARNING :
						CS_WEIGHT_ANY));
		return;
	}
	if (of->nodes >= NODES_MANY && is_slow(of, OF_A_NOTE, SPREADS_OF_A_NOTE))
		add_anomaly(w, of, CS_WEIGHT_NOTE);
}

static void judge_socket(const struct wholes *w, const struct whole *of)
{
	int few = of->nodes < NODES_LEAST;

	if (!is_slow(of, few ? OF_OWN_SOCKETS : OF_SOCKETS, SPREADS_OF_SOCKETS))
		return;
	add_anomaly(w, of,
		    most_of(of, of->nodes < NODES_SURE ? CS_WEIGHT_WARNING :
							 CS_WEIGHT_ANY));
}

/* Has a socket of the node just become an anomaly? */
static int has_slow_socket(const struct wholes *w, int node)
{
	const struct cs_anomaly *s = w->anomalies->data;
	size_t n = w->anomalies->n;

	return n && s[n - 1].part == CS_PART_SOCKET && s[n - 1].node == node;
}

/* w[0..n) is what there is of one node; first of all itself, then its sockets, which are
 * judged before: if one of them is slow, the node is not. */
static void judge(const struct wholes *all, const struct whole *w, size_t n)
{
	int agree = 0, slow_socket;

	for (size_t i = n; i-- > 0;) {
		if (w[i].socket >= 0)
			judge_socket(all, &w[i]);
		else
			agree += w[i].nodes >= NODES_LEAST &&
				 is_slow(&w[i], OF_FAMILIES, SPREADS);
	}
	slow_socket = has_slow_socket(all, w->node);
	for (size_t i = 0; i < n && w[i].socket < 0; i++)
		if (w[i].family != CS_FAMILY_HOST || !slow_socket)
			judge_node(all, &w[i], agree >= FAMILIES_AGREE);
}

/* One test speaks for a family; then each node is judged. */
static void judge_all(struct wholes *w)
{
	struct whole *at;
	size_t n = 0, i, k;

	cs_vec_sort(&w->all, by_part);
	at = w->all.data;
	for (i = 0; i < w->all.n; i = k) {
		for (k = i + 1; k < w->all.n && same_part(&at[k], &at[i]); k++)
			;
		at[n++] = slowest(at + i, k - i);
	}
	for (i = 0; i < n; i = k) {
		for (k = i + 1; k < n && at[k].node == at[i].node; k++)
			;
		judge(w, at + i, k - i);
	}
}

/* Mark the cells that anomalies of parts of a node explain: its median is that of the
 * others. */
static void mark_explained(struct wholes *w)
{
	const struct cs_judged_cells *cells = w->judged_cells;
	const struct cs_anomaly *s = w->anomalies->data;

	w->explained = cs_new(char, cells->n);
	for (size_t i = 0; i < cells->n; i++) {
		const struct cs_row *row = row_at(w, i);
		size_t k = cs_anomalies_first(w->anomalies, (int)row->node);

		for (; k < w->anomalies->n && s[k].node == (int)row->node; k++)
			w->explained[i] |= cs_anomaly_bears(cells->run, &s[k], row) !=
					   0;
	}
}

void cs_wholes_find(const struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct wholes w = { .judged_cells = cells,
			    .all = CS_LIST(struct whole),
			    .anomalies = anomalies };

	mark_explained(&w);
	/* it outlives the scopes, once it has memory */
	cs_list_add(&w.all, 1);
	w.all.n--;
	for (size_t i = 0, k; i < cells->n; i = k) {
		k = cs_judged_cells_group_end(cells, i);
		/* cells beside loads are less certain */
		if (!cs_own_concurrent(cells->run, row_at(&w, i)))
			settle_group(&w, i, k);
	}
	judge_all(&w);
}
