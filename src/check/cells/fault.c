/* fault.c - which anomalies are one fault: those of a GPU, or of a node, in several families
 * of cells, and those of nodes that are slow alike. */
#include <math.h>
#include <stdlib.h>

#include "base/hostlist.h"
#include "check/cells/anomaly.h"
#include "check/fleet/differs.h"

#define FURTHER 1.5 /* a loss so many times as large is another one */

/* ---- of one part ---- */

static int is_same_part(const struct cs_run *run, const struct cs_anomaly *a,
			const struct cs_anomaly *b)
{
	int whole = a->part == CS_PART_NODE && a->gpus == b->gpus;

	return cs_is_of_figures(a) && !a->is_of_many && !b->is_of_many &&
	       a->part == b->part && a->cause == b->cause &&
	       (whole || (a->part == CS_PART_GPU && a->a == b->a)) &&
	       (cs_anomaly_severity(run, a) > CS_NOTE) ==
		       (cs_anomaly_severity(run, b) > CS_NOTE);
}

static void join_parts(const struct cs_run *run, struct cs_vec *anomalies)
{
	struct cs_anomaly *s = anomalies->data;

	for (size_t first = 0, end; first < anomalies->n; first = end) {
		end = cs_anomalies_node_end(anomalies, first);
		for (size_t i = first; i < end; i++) {
			size_t k = first;

			while (k < i && !is_same_part(run, &s[k], &s[i]))
				k++;
			s[i].lead = k;
		}
	}
}

/* ---- of nodes that are slow alike ---- */

struct member {
	const struct cs_anomaly *s;
	int class, a, b; /* a, b: -1 for a node, whose anomalies may have others */
	enum cs_severity severity;
	size_t at;
	size_t n; /* of the first of a group: how many it has; else 0 */
};

static int by_fault(const struct member *x, const struct member *y)
{
	return CS_KEYS(CS_ORDER(x->class, y->class),
		       CS_ORDER(x->severity, y->severity),
		       CS_ORDER(x->s->cause, y->s->cause),
		       CS_ORDER(x->s->part, y->s->part), CS_ORDER(x->a, y->a),
		       CS_ORDER(x->b, y->b));
}

static int by_family(const struct member *x, const struct member *y)
{
	return CS_KEYS(by_fault(x, y), CS_ORDER(x->s->family, y->s->family));
}

CS_ORDERING(by_drop, struct member, by_family(a, b), CS_ORDER(a->s->drop, b->s->drop),
	    CS_ORDER(a->at, b->at))

CS_ORDERING(by_place, struct member, CS_ORDER(a->at, b->at))

static int are_same_nodes(const struct member *a, const struct member *b, size_t n)
{
	return CS_ALL(i, n, a[i].s->node == b[i].s->node);
}

/* m[from..from+n) are one group.  A group before it of the same nodes, in another family
 * of cells, is the same fault. */
static void join_group(struct cs_anomaly *s, struct member *m, size_t from, size_t n)
{
	size_t lead;

	qsort(m + from, n, sizeof(*m), by_place);
	m[from].n = n;
	lead = m[from].at;
	for (size_t i = from; i-- > 0 && !by_fault(&m[i], &m[from]);)
		if (m[i].n == n && are_same_nodes(&m[i], &m[from], n))
			lead = s[m[i].at].lead;
	for (size_t i = from; i < from + n; i++)
		s[m[i].at].lead = lead;
}

static void join_nodes(const struct cs_run *run, const int *class,
		       struct cs_vec *anomalies)
{
	struct cs_anomaly *s = anomalies->data;
	struct member *m = cs_new(struct member, anomalies->n);
	size_t n = 0;

	for (size_t i = 0; i < anomalies->n; i++) {
		int part = s[i].part != CS_PART_NODE;

		if (s[i].is_of_many && cs_is_of_figures(&s[i]))
			m[n++] = (struct member){ &s[i],
						  class[s[i].node],
						  part ? s[i].a : -1,
						  part ? s[i].b : -1,
						  cs_anomaly_severity(run, &s[i]),
						  i,
						  0 };
	}
	qsort(m, n, sizeof(*m), by_drop);
	CS_EACH_GROUP(i, k, n,
		      !by_family(&m[k], &m[i]) &&
			      m[k].s->drop < FURTHER * m[k - 1].s->drop)
		join_group(s, m, i, k - i);
}

void cs_faults_find(const struct cs_run *run, const int *class,
		    struct cs_vec *anomalies)
{
	join_parts(run, anomalies);
	join_nodes(run, class, anomalies);
}

/* ---- one fault ---- */

/* One more, of the same family of cells. */
static void widen(struct cs_anomaly *all, const struct cs_anomaly *s)
{
	double least = all->drop_least > 0 ? all->drop_least : all->drop;

	all->drop_least = fmin(least, s->drop_least > 0 ? s->drop_least : s->drop);
	all->drop = fmax(all->drop, s->drop);
	all->sends |= s->sends;
	all->receives |= s->receives;
	all->gpus = all->gpus == s->gpus ? all->gpus : 0;
	all->slower = s->slower < all->slower ? s->slower : all->slower;
	all->tests = s->tests > all->tests ? s->tests : all->tests;
	if (all->remeasured != s->remeasured &&
	    all->remeasured != CS_REMEASURED_CONFIRMED)
		all->remeasured = s->remeasured == CS_REMEASURED_NONE ?
					  all->remeasured :
					  s->remeasured;
}

static void add(struct cs_fault *fault, const struct cs_anomaly *s)
{
	int i = 0;

	while (i < fault->n && fault->of[i].family != s->family)
		i++;
	if (i == fault->n)
		fault->of[fault->n++] = *s;
	else
		widen(&fault->of[i], s);
	fault->confirmed[i] += s->remeasured == CS_REMEASURED_CONFIRMED;
}

/* The nodes, and what they have in common. */
static void add_nodes(const struct cs_run *run, const int *class,
		      const struct cs_anomaly *s, const size_t *at, size_t n,
		      struct cs_fault *fault)
{
	const char **host = cs_new(const char *, n);
	char *side = cs_new(char, (size_t)run->n_nodes);

	for (int node = 0; node < run->n_nodes; node++)
		side[node] = class[node] == class[s[at[0]].node] ? CS_SIDE_OTHERS :
								   CS_SIDE_NONE;
	for (size_t i = 0; i < n; i++) {
		int node = s[at[i]].node;

		if (side[node] != CS_SIDE_THEIRS)
			host[fault->nodes++] = run->node[node].facts.host;
		side[node] = CS_SIDE_THEIRS;
	}
	cs_hostlist_fold(host, fault->nodes, fault->hosts, sizeof(fault->hosts));
	cs_text(fault->shared, sizeof(fault->shared), "%s", cs_shared_text(run, side));
}

void cs_fault_make(const struct cs_run *run, const int *class,
		   const struct cs_vec *anomalies, const size_t *at, size_t n,
		   struct cs_fault *fault)
{
	const struct cs_anomaly *s = anomalies->data;
	size_t worst = 0;

	*fault = (struct cs_fault){ .n = 0 };
	for (size_t i = 1; i < n; i++)
		if (cs_anomaly_severity(run, &s[at[i]]) >
		    cs_anomaly_severity(run, &s[at[worst]]))
			worst = i;
	for (size_t i = 0; i < n; i++)
		add(fault, &s[at[(worst + i) % n]]);
	for (uint32_t k = 0; k < CS_EVIDENCE; k++)
		for (size_t i = 0; i < n && fault->n_evidence < CS_EVIDENCE; i++) {
			const struct cs_anomaly *of = &s[at[(worst + i) % n]];

			if (k < of->n_evidence)
				fault->evidence[fault->n_evidence++] = of->evidence[k];
		}
	if (n > 1 && s[at[0]].node != s[at[n - 1]].node)
		add_nodes(run, class, s, at, n, fault);
}
