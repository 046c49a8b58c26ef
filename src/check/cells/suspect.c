#include "config.h"

#include "check/cells/suspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_evidence(struct cs_suspect *suspect, uint32_t at, double off)
{
	if (suspect->n_evidence == CS_EVIDENCE)
		return;
	suspect->off[suspect->n_evidence] = off;
	suspect->evidence[suspect->n_evidence++] = at;
}

void cs_suspect_row(struct cs_suspect *suspect, uint32_t at, double off)
{
	suspect->cells++;
	add_evidence(suspect, at, off);
}

int cs_suspect_bears(const struct cs_run *run, const struct cs_suspect *s,
		     const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[s->node].agent;
	const struct cs_end *src = &row->what.src, *dst = &row->what.dst;
	int from = cs_end_is_numa(src) ? -1 : src->index;
	int to = cs_end_is_numa(dst) ? -1 : dst->index;

	if ((int)row->node != s->node || cs_family_of(row) != s->family)
		return 0;
	switch (s->part) {
	case CS_PART_GPU:
		return (from == s->a && s->sends) || (to == s->a && s->receives);
	case CS_PART_LINK:
		return (from == s->a && to == s->b && s->sends) ||
		       (from == s->b && to == s->a && s->receives);
	case CS_PART_SOCKET:
		if (s->b >= 0)
			return agent[from].numa != agent[to].numa;
		return (from >= 0 && agent[from].numa == s->a) ||
		       (to >= 0 && agent[to].numa == s->a);
	default:
		return 1;
	}
}

int cs_suspect_add(struct cs_vec *suspects, const struct cs_suspect *suspect,
		   struct cs_err *err)
{
	return cs_vec_push(suspects, suspect, err);
}

static int by_place(const struct cs_suspect *a, const struct cs_suspect *b)
{
	const int64_t x[] = { a->node, a->family, a->part, a->a, a->b };
	const int64_t y[] = { b->node, b->family, b->part, b->a, b->b };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Of one place the worst first; what is equal in all that as its rows stand. */
static int by_place_and_drop(const void *x, const void *y)
{
	const struct cs_suspect *a = x, *b = y;
	int d = by_place(a, b);

	if (d)
		return d;
	if (a->drop < b->drop || a->drop > b->drop)
		return a->drop > b->drop ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause > b->cause ? -1 : 1;
	return a->evidence[0] < b->evidence[0] ? -1 :
	       a->evidence[0] > b->evidence[0];
}

/* Of two that are of one place the worse one tells the figures, the more telling cause
 * stays, and evidence is of both. */
static void join(struct cs_suspect *worse, const struct cs_suspect *other)
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
	worse->tests += other->test != worse->test || !worse->tests ?
				other->tests : 0;
	worse->sends |= other->sends;
	worse->receives |= other->receives;
	worse->sure = fmax(worse->sure, other->sure);
	for (uint32_t i = 0; i < other->n_evidence; i++)
		add_evidence(worse, other->evidence[i], other->off[i]);
}

/* ---- of all GPUs ---- */

static int same_pcie(const struct cs_link_facts *a, const struct cs_link_facts *b)
{
	return a->pcie_gen == b->pcie_gen && a->pcie_width == b->pcie_width &&
	       a->pcie_gen_max == b->pcie_gen_max &&
	       a->pcie_width_max == b->pcie_width_max;
}

/* A look at some of them, of which a few at most are repeated, is one at all. */
static int looks_agree(const struct cs_suspect *a, const struct cs_suspect *b)
{
	return a->look == b->look ||
	       (a->look <= CS_LOOK_CONFIRMED && b->look <= CS_LOOK_CONFIRMED);
}

static int is_like(const struct cs_run *run, const struct cs_suspect *a,
		   const struct cs_suspect *b)
{
	const struct cs_agent_facts *agent = run->node[a->node].agent;

	return b->node == a->node && b->family == a->family &&
	       b->part == CS_PART_GPU && b->cause == a->cause &&
	       b->is == a->is && b->of == a->of && b->usual == a->usual &&
	       b->sends == a->sends && b->receives == a->receives &&
	       b->nodes == a->nodes && (b->drop > 0) == (a->drop > 0) &&
	       looks_agree(a, b) &&
	       (a->cause != CS_CAUSE_PCIE ||
		same_pcie(&agent[a->a].link, &agent[b->a].link));
}

/* s[0..n), one of each GPU: as one, with the worst evidence of each. */
static struct cs_suspect unite(const struct cs_suspect *s, size_t n)
{
	struct cs_suspect all = s[0];

	all.part = CS_PART_NODE;
	all.n_evidence = all.cells = 0;
	all.drop_least = all.drop;
	for (size_t i = 0; i < n; i++) {
		all.cells += s[i].cells;
		all.tests = s[i].tests > all.tests ? s[i].tests : all.tests;
		all.drop = fmax(all.drop, s[i].drop);
		all.drop_least = fmin(all.drop_least, s[i].drop);
		all.sure = fmin(all.sure, s[i].sure);
		if (s[i].look == CS_LOOK_CONFIRMED)
			all.look = CS_LOOK_CONFIRMED;
	}
	for (uint32_t k = 0; k < CS_EVIDENCE; k++)
		for (size_t i = 0; i < n; i++)
			if (k < s[i].n_evidence)
				add_evidence(&all, s[i].evidence[k], s[i].off[k]);
	return all;
}

void cs_suspects_unite(const struct cs_run *run, struct cs_vec *suspects)
{
	struct cs_suspect *s = suspects->data;
	size_t n = 0, i, k;

	for (i = 0; i < suspects->n; i = k) {
		for (k = i + 1; k < suspects->n && s[i].part == CS_PART_GPU &&
		     is_like(run, &s[i], &s[k]); k++)
			;
		if (k - i > 1 &&
		    k - i == (size_t)run->node[s[i].node].facts.n_agents) {
			s[n++] = unite(s + i, k - i);
			continue;
		}
		for (; i < k; i++)
			s[n++] = s[i];
	}
	suspects->n = n;
}

size_t cs_suspects_first(const struct cs_vec *suspects, int node)
{
	const struct cs_suspect *s = suspects->data;
	size_t low = 0, high = suspects->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s[mid].node < node)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void cs_suspects_settle(struct cs_vec *suspects)
{
	struct cs_suspect *s = suspects->data;
	size_t n = 0;

	if (suspects->n)
		qsort(s, suspects->n, sizeof(*s), by_place_and_drop);
	for (size_t i = 0; i < suspects->n; i++) {
		if (n && !by_place(&s[n - 1], &s[i]))
			join(&s[n - 1], &s[i]);
		else
			s[n++] = s[i];
	}
	suspects->n = n;
}

static int is_at(const struct cs_end *end, int agent)
{
	return !cs_end_is_numa(end) && end->index == agent;
}

static int bears_on(const struct cs_suspect *s, const struct cs_row *row)
{
	return s->part == CS_PART_NODE || s->part == CS_PART_SOCKET ||
	       is_at(&row->what.src, s->a) || is_at(&row->what.dst, s->a) ||
	       (s->b >= 0 && (is_at(&row->what.src, s->b) ||
			      is_at(&row->what.dst, s->b)));
}

int cs_suspects_bear_on(const struct cs_suspect *s, size_t n, const struct cs_row *row)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].family == cs_family_of(row) && bears_on(&s[i], row))
			return 1;
	return 0;
}

size_t cs_suspects_node_end(const struct cs_vec *suspects, size_t i)
{
	const struct cs_suspect *s = suspects->data;
	size_t k = i + 1;

	while (k < suspects->n && s[k].node == s[i].node)
		k++;
	return k;
}
