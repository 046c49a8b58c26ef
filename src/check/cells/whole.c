/* whole.c - nodes and sockets that are slow as a whole, by a little: no single cell
 * shows it, their medians do.
 *
 * A node's median is compared with those of the other nodes.  Nodes differ by 0.3 % in
 * each family of cells, now and then by 2 %: so the evidence of one family alone must be
 * larger than that of several together.  Two nodes do not show which is right, of three
 * and four the others may agree by chance.  If many are slow alike they have a cause in
 * common, or the others are fast: none of them is drained. */
#include "check/cells/internal.h"

#include <math.h>
#include <stdlib.h>

#include "check/link/expect.h"

/* Slow by less is nothing, as logarithms. */
#define OF_FAMILIES 0.015	/* of two or more */
#define OF_A_NOTE 0.022		/* of one family */
#define OF_SOCKETS 0.05
#define OF_OWN_SOCKETS 0.08	/* how much they may differ is unknown */
#define LITTLE 0.06		/* no reason to drain a node */
#define FAMILIES_AGREE 2
/* Nodes: enough to drain one; to report a little. */
#define NODES_SURE 5
#define NODES_MANY 8
/* In spreads. */
#define SPREADS 4.5
#define SPREADS_OF_SOCKETS 5.5
#define SPREADS_OF_A_NOTE 9
#define FAR_SLOWER 2.5
#define NEAR 0.75 /* of a part's loss: a GPU whose cells are less slow has none */

CS_ORDERING(by_part, struct cs_whole, CS_ORDER(a->node, b->node),
	    CS_ORDER(a->socket, b->socket), CS_ORDER(a->family, b->family),
	    CS_ORDER(a->test, b->test), CS_ORDER(a->from, b->from))

static int same_part(const struct cs_whole *a, const struct cs_whole *b)
{
	return a->node == b->node && a->socket == b->socket && a->family == b->family;
}

static int is_slow(const struct cs_whole *w, double least, double spreads)
{
	return w->off < -fmax(least, spreads * w->spread) &&
	       cs_is_beyond_noise(w->off, w->noise, w->noise);
}

/* The weight of a test: the more, the more nodes show it. */
static int weight_of(const struct cs_whole *w)
{
	return !is_slow(w, OF_FAMILIES, SPREADS) ? 0 :
	       w->nodes < CS_NODES_SHOW		 ? 1 :
	       w->nodes < NODES_SURE		 ? 2 :
						   3;
}

/* Report one part of a node in the tests of one family, w[0..n), by the test in which
 * it is slowest: its own figures are reported and measured again, because a mean
 * would hide what one of many tests shows.  A socket is surer if others agree: two at
 * most, which share GPUs. */
static struct cs_whole slowest(const struct cs_whole *w, size_t n)
{
	struct cs_whole worst = w[0];
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

static struct cs_anomaly anomaly_of(const struct cs_whole *w, enum cs_weight most)
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
static uint64_t slow_gpus(const struct cs_wholes *w, const struct cs_whole *of)
{
	const struct cs_judged_cell *judged = w->cells->judged;
	double *off = cs_new(double, of->end - of->from), limit;
	uint64_t seen = 0, fast = 0;
	size_t n = 0;

	for (size_t i = of->from; i < of->end; i++)
		if (cs_is_of_whole(w, of, i) && !isnan(judged[i].off))
			off[n++] = judged[i].off;
	limit = cs_upper_median(off, n) - NEAR * of->off;
	for (size_t i = of->from; i < of->end; i++) {
		uint64_t gpus = cs_row_agents(cs_judged_row(w->cells, i));

		if (!cs_is_of_whole(w, of, i))
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
static void absorb(const struct cs_wholes *w, const struct cs_anomaly *socket)
{
	const struct cs_agent_facts *agent = w->cells->run->node[socket->node].agent;

	CS_KEEP(struct cs_anomaly, s, w->anomalies,
		s->node != socket->node || s->family != socket->family ||
			s->part != CS_PART_GPU || agent[s->a].numa != socket->a ||
			s->drop > FAR_SLOWER * socket->drop);
}

/* Its evidence is the cells nearest to the median: one that was busy does not represent
 * the others. */
static void add_anomaly(const struct cs_wholes *w, const struct cs_whole *of,
			enum cs_weight most)
{
	struct cs_anomaly s = anomaly_of(of, most);
	struct distance *to = cs_new(struct distance, of->end - of->from);
	size_t n = 0;

	for (size_t i = of->from; i < of->end; i++)
		if (cs_is_of_whole(w, of, i))
			to[n++] = (struct distance){ w->cells->judged[i].y - of->y,
						     w->cells->judged[i].at };
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
static enum cs_weight most_of(const struct cs_whole *of, enum cs_weight alone)
{
	return !cs_is_of_many(of->alike, of->nodes) ? alone :
	       2 * of->alike > of->nodes	    ? CS_WEIGHT_NOTE :
						      CS_WEIGHT_WARNING;
}

/* How grave it is at most that a node is so slow in a family; `agree`: others are. */
static void judge_node(const struct cs_wholes *w, const struct cs_whole *of, int agree)
{
	int slow = is_slow(of, CS_OF_ONE_FAMILY, SPREADS);

	if (of->nodes < 2)
		return;
	if (of->nodes < CS_NODES_SHOW) {
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

static void judge_socket(const struct cs_wholes *w, const struct cs_whole *of)
{
	int few = of->nodes < CS_NODES_SHOW;

	if (!is_slow(of, few ? OF_OWN_SOCKETS : OF_SOCKETS, SPREADS_OF_SOCKETS))
		return;
	add_anomaly(w, of,
		    most_of(of, of->nodes < NODES_SURE ? CS_WEIGHT_WARNING :
							 CS_WEIGHT_ANY));
}

/* Has a socket of the node just become an anomaly? */
static int has_slow_socket(const struct cs_wholes *w, int node)
{
	const struct cs_anomaly *s = w->anomalies->data;
	size_t n = w->anomalies->n;

	return n && s[n - 1].part == CS_PART_SOCKET && s[n - 1].node == node;
}

/* w[0..n) is what there is of one node; first of all itself, then its sockets, which are
 * judged before: if one of them is slow, the node is not. */
static void judge(const struct cs_wholes *all, const struct cs_whole *w, size_t n)
{
	int agree = 0, slow_socket;

	for (size_t i = n; i-- > 0;) {
		if (w[i].socket >= 0)
			judge_socket(all, &w[i]);
		else
			agree += w[i].nodes >= CS_NODES_SHOW &&
				 is_slow(&w[i], OF_FAMILIES, SPREADS);
	}
	slow_socket = has_slow_socket(all, w->node);
	for (size_t i = 0; i < n && w[i].socket < 0; i++)
		if (w[i].family != CS_FAMILY_HOST || !slow_socket)
			judge_node(all, &w[i], agree >= FAMILIES_AGREE);
}

/* One test represents a family; then each node is judged. */
static void judge_all(struct cs_wholes *w)
{
	struct cs_whole *at;
	size_t n = 0;

	cs_vec_sort(&w->all, by_part);
	at = w->all.data;
	CS_EACH_GROUP(i, k, w->all.n, same_part(&at[k], &at[i]))
		at[n++] = slowest(at + i, k - i);
	CS_EACH_GROUP(i, k, n, at[k].node == at[i].node)
		judge(w, at + i, k - i);
}

void cs_wholes_find(struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	struct cs_wholes w = { .cells = cells,
			       .all = CS_LIST(struct cs_whole),
			       .anomalies = anomalies };

	/* it outlives the scopes, once it has memory */
	cs_list_add(&w.all, 1);
	w.all.n--;
	for (size_t i = 0, k; i < cells->n; i = k) {
		k = cs_judged_cells_group_end(cells, i);
		/* cells beside loads are less certain */
		if (!cs_own_concurrent(cells->run, cs_judged_row(cells, i)))
			cs_wholes_take(&w, i, k);
	}
	judge_all(&w);
}
