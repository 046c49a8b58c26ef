#include "check/cells/anomaly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_evidence(struct cs_anomaly *anomaly, uint32_t at, double off)
{
	if (anomaly->n_evidence == CS_EVIDENCE)
		return;
	anomaly->off[anomaly->n_evidence] = off;
	anomaly->evidence[anomaly->n_evidence++] = at;
}

void cs_anomaly_row(struct cs_anomaly *anomaly, uint32_t at, double off)
{
	anomaly->cells++;
	add_evidence(anomaly, at, off);
}

struct cs_anomaly cs_node_test_anomaly(const struct cs_node_test *of,
				       enum cs_cause cause, enum cs_part part, int a,
				       int b)
{
	const struct cs_row *row = cs_judged_row(of->cells, of->from);

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

int cs_is_of_gpus(const struct cs_row *row, uint64_t gpus, int sends, int receives)
{
	const struct cs_endpoint *src = &row->what.src, *dst = &row->what.dst;

	return (sends && !cs_endpoint_is_numa(src) && gpus >> src->index & 1) ||
	       (receives && !cs_endpoint_is_numa(dst) && gpus >> dst->index & 1);
}

int cs_is_party(const struct cs_anomaly *anomaly)
{
	return anomaly->part == CS_PART_NODE && anomaly->gpus && !anomaly->nodes;
}

/* Is the cell of the GPUs of a node that are slow?  Those of a node among others are only
 * named. */
static int is_of_its_gpus(const struct cs_anomaly *s, const struct cs_row *row)
{
	return !cs_is_party(s) || cs_is_of_gpus(row, s->gpus, s->sends, s->receives);
}

int cs_anomaly_bears(const struct cs_run *run, const struct cs_anomaly *anomaly,
		     const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[anomaly->node].agent;
	const int from = cs_endpoint_agent(&row->what.src);
	const int to = cs_endpoint_agent(&row->what.dst);

	if ((int)row->node != anomaly->node || cs_family_of(row) != anomaly->family)
		return 0;
	switch (anomaly->part) {
	case CS_PART_GPU:
		return (from == anomaly->a && anomaly->sends) ||
		       (to == anomaly->a && anomaly->receives);
	case CS_PART_LINK:
		return (from == anomaly->a && to == anomaly->b && anomaly->sends) ||
		       (from == anomaly->b && to == anomaly->a && anomaly->receives);
	case CS_PART_SOCKET:
		if (anomaly->b >= 0)
			return agent[from].numa != agent[to].numa;
		return (from >= 0 && agent[from].numa == anomaly->a) ||
		       (to >= 0 && agent[to].numa == anomaly->a);
	default:
		return is_of_its_gpus(anomaly, row);
	}
}

int cs_is_of_figures(const struct cs_anomaly *anomaly)
{
	return anomaly->drop > 0 && anomaly->cause <= CS_CAUSE_IN_USE;
}

static int by_place(const struct cs_anomaly *a, const struct cs_anomaly *b)
{
	return CS_KEYS(CS_ORDER(a->node, b->node), CS_ORDER(a->family, b->family),
		       CS_ORDER(a->part, b->part), CS_ORDER(a->a, b->a),
		       CS_ORDER(a->b, b->b));
}

/* By place, at one place the worst first; equal ones in the order of their rows. */
CS_ORDERING(by_place_and_drop, struct cs_anomaly, by_place(a, b),
	    CS_ORDER(b->drop, a->drop), CS_ORDER(b->cause, a->cause),
	    CS_ORDER(a->evidence[0], b->evidence[0]))

/* Make two anomalies of one place one: figures of the worse, the more specific cause, the
 * evidence of both. */
static void join(struct cs_anomaly *worse, const struct cs_anomaly *other)
{
	if (other->cause > worse->cause) {
		worse->cause = other->cause;
		worse->is = other->is;
		worse->of = other->of;
		worse->usual = other->usual;
	}
	worse->half_duplex |= other->half_duplex;
	worse->most = worse->most < other->most ? worse->most : other->most;
	worse->cells += other->cells;
	worse->tests += other->test != worse->test || !worse->tests ? other->tests : 0;
	if (worse->gpus && other->gpus)
		worse->gpus |= other->gpus;
	worse->sends |= other->sends;
	worse->receives |= other->receives;
	worse->sure = fmax(worse->sure, other->sure);
	for (uint32_t i = 0; i < other->n_evidence; i++)
		add_evidence(worse, other->evidence[i], other->off[i]);
}

/* ---- of all GPUs ---- */

/* Only a few of them are measured again: one that was not agrees with a confirmed one. */
static int remeasurements_agree(const struct cs_anomaly *a, const struct cs_anomaly *b)
{
	return a->remeasured == b->remeasured ||
	       (a->remeasured <= CS_REMEASURED_CONFIRMED &&
		b->remeasured <= CS_REMEASURED_CONFIRMED);
}

static int is_like(const struct cs_run *run, const struct cs_anomaly *a,
		   const struct cs_anomaly *b)
{
	const struct cs_agent_facts *agent = run->node[a->node].agent;

	return b->node == a->node && b->family == a->family &&
	       b->part == CS_PART_GPU && b->cause == a->cause && b->is == a->is &&
	       b->of == a->of && b->usual == a->usual && b->sends == a->sends &&
	       b->receives == a->receives && b->nodes == a->nodes &&
	       (b->drop > 0) == (a->drop > 0) && remeasurements_agree(a, b) &&
	       (a->cause != CS_CAUSE_PCIE ||
		cs_same_pcie(&agent[a->a].link, &agent[b->a].link));
}

/* s[0..n), one of each GPU: as one, with the worst evidence of each. */
static struct cs_anomaly unite(const struct cs_anomaly *s, size_t n)
{
	struct cs_anomaly all = s[0];

	all.part = CS_PART_NODE;
	all.n_evidence = all.cells = 0;
	all.drop_least = all.drop;
	for (size_t i = 0; i < n; i++) {
		all.cells += s[i].cells;
		all.tests = s[i].tests > all.tests ? s[i].tests : all.tests;
		all.drop = fmax(all.drop, s[i].drop);
		all.drop_least = fmin(all.drop_least, s[i].drop);
		all.sure = fmin(all.sure, s[i].sure);
		if (s[i].remeasured == CS_REMEASURED_CONFIRMED)
			all.remeasured = CS_REMEASURED_CONFIRMED;
	}
	for (uint32_t k = 0; k < CS_EVIDENCE; k++)
		for (size_t i = 0; i < n; i++)
			if (k < s[i].n_evidence)
				add_evidence(&all, s[i].evidence[k], s[i].off[k]);
	return all;
}

void cs_anomalies_unite(const struct cs_run *run, struct cs_vec *anomalies)
{
	struct cs_anomaly *s = anomalies->data;
	size_t n = 0;

	CS_EACH_GROUP(i, k, anomalies->n,
		      s[i].part == CS_PART_GPU && is_like(run, &s[i], &s[k])) {
		if (k - i > 1 && k - i == (size_t)run->node[s[i].node].facts.n_agents) {
			s[n++] = unite(s + i, k - i);
			continue;
		}
		for (; i < k; i++)
			s[n++] = s[i];
	}
	anomalies->n = n;
}

size_t cs_anomalies_first(const struct cs_vec *anomalies, int node)
{
	const struct cs_anomaly *s = anomalies->data;

	return CS_FIRST(i, anomalies->n, s[i].node >= node);
}

void cs_anomalies_settle(struct cs_vec *anomalies)
{
	struct cs_anomaly *s = anomalies->data;
	size_t n = 0;

	if (anomalies->n)
		qsort(s, anomalies->n, sizeof(*s), by_place_and_drop);
	for (size_t i = 0; i < anomalies->n; i++) {
		if (n && !by_place(&s[n - 1], &s[i]))
			join(&s[n - 1], &s[i]);
		else
			s[n++] = s[i];
	}
	anomalies->n = n;
}

static int is_at(const struct cs_endpoint *end, int agent)
{
	return !cs_endpoint_is_numa(end) && end->index == agent;
}

static int bears_on(const struct cs_anomaly *s, const struct cs_row *row)
{
	return (s->part == CS_PART_NODE && is_of_its_gpus(s, row)) ||
	       s->part == CS_PART_SOCKET || is_at(&row->what.src, s->a) ||
	       is_at(&row->what.dst, s->a) ||
	       (s->b >= 0 &&
		(is_at(&row->what.src, s->b) || is_at(&row->what.dst, s->b)));
}

int cs_anomalies_bear_on(const struct cs_anomaly *anomaly, size_t n,
			 const struct cs_row *row)
{
	return CS_ANY(i, n,
		      anomaly[i].family == cs_family_of(row) &&
			      bears_on(&anomaly[i], row));
}

size_t cs_anomalies_node_end(const struct cs_vec *anomalies, size_t i)
{
	const struct cs_anomaly *s = anomalies->data;
	size_t k = i + 1;

	while (k < anomalies->n && s[k].node == s[i].node)
		k++;
	return k;
}
