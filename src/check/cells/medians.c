/* medians.c - the median of the cells of each node and socket, and the usual one.
 *
 * A socket's links to the host are compared with the other sockets of its node, less
 * what these differ by on the other nodes, for on one model sockets may differ, on all
 * nodes alike; and with the same socket of the other nodes, for its neighbour may be
 * fast. */
#include "check/cells/internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "check/link/expect.h"

#define GPUS_OF_SOCKET 2
#define FEW_NODES 1.2	  /* the spread of n nodes is taken 1 + FEW_NODES / n as large */
#define MEDIAN_SE 1.25	  /* of a mean's standard error, Gauss */
#define FEW_IN_SOCKET 1.5 /* four cells lie near their own median */

static int socket_of(const struct cs_wholes *w, size_t i)
{
	const struct cs_row *row = cs_judged_row(w->cells, i);

	return w->cells->run->node[row->node].agent[cs_gpu_of(row)].numa;
}

int cs_is_of_whole(const struct cs_wholes *w, const struct cs_whole *of, size_t i)
{
	if (w->cells->judged[i].unsure)
		return 0;
	return of->socket < 0 ?
		       !w->cells->judged[i].covered :
		       socket_of(w, i) == of->socket &&
			       cs_is_near(w->cells->run, cs_judged_row(w->cells, i));
}

/* The median of cells: the greater of the middle two, because the slower half may be
 * cells of one socket.  NAN: there are none. */
static void settle(const struct cs_wholes *w, struct cs_whole *of)
{
	double y[CS_MAX_AGENTS * CS_MAX_AGENTS], noise[CS_MAX_AGENTS * CS_MAX_AGENTS];
	size_t n = 0;

	for (size_t i = of->from; i < of->end && n < sizeof(y) / sizeof(y[0]); i++) {
		if (!cs_is_of_whole(w, of, i))
			continue;
		y[n] = w->cells->judged[i].y;
		noise[n++] = w->cells->judged[i].noise;
	}
	of->cells = n;
	of->y = cs_upper_median(y, n);
	of->noise = n ? cs_median(noise, n) : 0;
}

/* ---- the usual figure, in one group ---- */

CS_ORDERING(by_socket, struct cs_whole, CS_ORDER(a->socket, b->socket),
	    CS_ORDER(a->node, b->node))

/* The median of y[0..n), ascending, without `own`: of two in the middle the slower,
 * because half of the others may be fast. */
static double others_median(const double *y, size_t n, double own)
{
	size_t at = (n - 2) / 2;

	return y[at + (own <= y[at])];
}

static void count_nodes(struct cs_whole *w, const double *y, size_t n)
{
	w->nodes = (int)n;
	w->slower = cs_count_nodes(y, n, w->y, w->off, &w->alike);
}

/* The number of slow ones in y[0..n), ascending, if a wide gap separates many slow
 * nodes from many others; 0: it does not. */
static size_t count_slow(const double *y, size_t n)
{
	double widest = CS_OF_ONE_FAMILY;
	size_t slow = 0;

	for (size_t i = 1; i < n; i++)
		if (y[i] - y[i - 1] > widest && cs_is_of_many((int)i, (int)n) &&
		    cs_is_of_many((int)(n - i), (int)n)) {
			widest = y[i] - y[i - 1];
			slow = i;
		}
	return slow;
}

/* w[0..n) are the same part of n nodes.  The usual figure is that of the faster of two
 * parties, even if most are slow; the spread of nodes is taken within each. */
static void settle_nodes(struct cs_whole *w, size_t n, double *room)
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
	if (n >= CS_NODES_SHOW)
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
static double spread_in_sockets(const struct cs_wholes *in, const struct cs_whole *w,
				size_t n, double *room)
{
	size_t m = 0;

	for (size_t s = 0; s < n; s++) {
		for (size_t i = w[s].from; i < w[s].end; i++)
			if (cs_is_of_whole(in, &w[s], i))
				room[m++] = in->cells->judged[i].y - w[s].y;
	}
	return FEW_IN_SOCKET * cs_scaled_mad(room, m);
}

/* The same socket w[0..n) of n nodes.  One is slow if it is slower than the others of
 * its node, by more than on the other nodes, and than the same socket of these.  If many
 * are slow, all nodes may be built with such a socket, some with one and some with
 * another. */
static void settle_sockets(struct cs_whole *w, size_t n, double cells, double *room)
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
		struct cs_whole *s = &w[i];

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

static void add(struct cs_wholes *w, const struct cs_whole *one, size_t least)
{
	struct cs_whole whole = *one;

	settle(w, &whole);
	cs_ways_of(cs_judged_row(w->cells, whole.from), &whole.sends, &whole.receives);
	if (whole.cells >= least)
		cs_list_push(&w->all, &whole);
}

/* Each socket of a node that has several. */
static void add_sockets(struct cs_wholes *w, const struct cs_whole *node)
{
	size_t first = w->all.n, n;
	struct cs_whole *at;

	for (size_t i = node->from; i < node->end; i++) {
		struct cs_whole socket = *node;
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
	at = (struct cs_whole *)w->all.data + first;
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
static void add_all(struct cs_wholes *w, size_t from, size_t end, int sockets)
{
	for (size_t i = from, k; i < end; i = k) {
		const struct cs_row *row = cs_judged_row(w->cells, i);
		struct cs_whole node = { .node = (int)row->node,
					 .socket = -1,
					 .family = cs_family_of(row),
					 .test = row->test,
					 .from = i };

		k = node.end = cs_judged_cells_node_end(w->cells, i);
		if (!sockets)
			add(w, &node, 1);
		else if (node.family == CS_FAMILY_HOST)
			add_sockets(w, &node);
	}
}

/* w[0..n): each socket with those of the same number on the other nodes. */
static void settle_all_sockets(const struct cs_wholes *in, struct cs_whole *w,
			       size_t n, double *room)
{
	double cells = spread_in_sockets(in, w, n, room);

	qsort(w, n, sizeof(*w), by_socket);
	CS_EACH_GROUP(i, k, n, w[k].socket == w[i].socket)
		settle_sockets(w + i, k - i, cells, room);
}

void cs_wholes_take(struct cs_wholes *w, size_t from, size_t end)
{
	CS_SCOPE;
	double *room = cs_new(double, 2 * (end - from + 1));
	size_t first = w->all.n, sockets;
	struct cs_whole *at;

	add_all(w, from, end, 0);
	sockets = w->all.n;
	add_all(w, from, end, 1);
	at = w->all.data;
	if (sockets > first)
		settle_nodes(at + first, sockets - first, room);
	if (w->all.n > sockets)
		settle_all_sockets(w, at + sockets, w->all.n - sockets, room);
}
