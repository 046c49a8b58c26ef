#include "check/compare/pairing.h"

#include <string.h>

#include "base/arena.h"

static const struct cs_run_node *node_of(const struct cs_paired *item)
{
	return &item->run->node[item->node];
}

static const char *host_of(const struct cs_paired *item)
{
	return node_of(item)->facts.host;
}

/* A run may have been read from two files. */
static int same_run(const struct cs_paired *a, const struct cs_paired *b)
{
	return a->run == b->run || (a->run->id[0] && !strcmp(a->run->id, b->run->id));
}

static int same_host(const struct cs_paired *a, const struct cs_paired *b)
{
	return !strcmp(host_of(a), host_of(b));
}

static int same_name(const struct cs_paired *a, const struct cs_paired *b)
{
	return same_host(a, b) &&
	       !strcmp(node_of(a)->facts.placement, node_of(b)->facts.placement);
}

/* The same node again, of this run or another. */
static int same_node(const struct cs_paired *a, const struct cs_paired *b)
{
	return a->nth == b->nth && same_name(a, b);
}

static int same_class(const struct cs_paired *a, const struct cs_paired *b)
{
	const struct cs_run_node *x = node_of(a), *y = node_of(b);

	if (strcmp(x->facts.product, y->facts.product) != 0 ||
	    x->facts.n_agents != y->facts.n_agents)
		return 0;
	for (int i = 0; i < x->facts.n_agents; i++)
		if (strcmp(x->agent[i].gpu.name, y->agent[i].gpu.name) != 0)
			return 0;
	return 1;
}

static int any(const struct cs_paired *a, const struct cs_paired *b)
{
	(void)a;
	(void)b;
	return 1;
}

/* ---- the nodes of a side ---- */

static void add_item(struct cs_pairing *p, const struct cs_versus_item *it, int side)
{
	struct cs_paired made = { .run = it->run,
				  .node = it->node,
				  .side = side,
				  .run_nr = p->runs[side],
				  .pair = -1 };

	for (size_t i = 0; i < p->n; i++) {
		const struct cs_paired *other = &p->item[i];

		if (other->side != side || !same_run(other, &made))
			continue;
		if (other->node == made.node) {
			p->again++;
			return;
		}
		made.run_nr = other->run_nr;
		made.nth += same_name(other, &made);
	}
	p->runs[side] += made.run_nr == p->runs[side];
	p->item[p->n++] = made;
}

/* ---- pairs ---- */

static int share_a_host(const struct cs_pairing *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = i + 1; k < p->n; k++)
			if (p->item[i].side != p->item[k].side &&
			    same_host(&p->item[i], &p->item[k]))
				return 1;
	return 0;
}

/* Nodes of a side that have no partner yet; those of several runs count once. */
static size_t count_left(const struct cs_pairing *p, int side)
{
	size_t n = 0;

	for (size_t i = 0, k; i < p->n; i++) {
		if (p->item[i].side != side || p->item[i].pair >= 0)
			continue;
		for (k = 0; k < i; k++)
			if (p->item[k].side == side &&
			    same_node(&p->item[k], &p->item[i]))
				break;
		n += k == i;
	}
	return n;
}

static void give_number(struct cs_pairing *p, const struct cs_paired *like, int pair)
{
	const struct cs_paired first = *like;

	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].side == first.side && same_node(&p->item[i], &first))
			p->item[i].pair = pair;
}

/* Give each unpaired node of A the first unpaired node of B that is like it. */
static void pair_like(struct cs_pairing *p,
		      int (*like)(const struct cs_paired *, const struct cs_paired *))
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->n && p->item[i].side == 0; k++) {
			if (p->item[i].pair >= 0 || p->item[k].side == 0 ||
			    p->item[k].pair >= 0 || !like(&p->item[i], &p->item[k]))
				continue;
			give_number(p, &p->item[k], p->n_pairs);
			give_number(p, &p->item[i], p->n_pairs++);
		}
}

/* Are all of one run, whose sides took turns on these machines? */
static int took_turns(const struct cs_pairing *p)
{
	const struct cs_plan *plan = p->n ? p->item[0].run->plan : NULL;

	if (!plan || plan->set.placements < 2 || p->by_position)
		return 0;
	for (size_t i = 1; i < p->n; i++)
		if (!same_run(&p->item[0], &p->item[i]))
			return 0;
	return 1;
}

static int is_earlier(const struct cs_paired *a, const struct cs_paired *b)
{
	const struct timespec *x = &a->run->started, *y = &b->run->started;

	return x->tv_sec != y->tv_sec ? x->tv_sec < y->tv_sec :
					x->tv_nsec < y->tv_nsec;
}

/* Are all runs of one side before those of the other?  `last` of each side is its
 * latest, `next` its earliest; a run without a date is before all. */
static int are_apart(const struct cs_pairing *p)
{
	const struct cs_paired *last[2] = { NULL }, *next[2] = { NULL };

	for (size_t i = 0; i < p->n; i++) {
		const struct cs_paired *it = &p->item[i];

		if (it->run->started.tv_sec <= 0)
			return 0;
		if (!last[it->side] || is_earlier(last[it->side], it))
			last[it->side] = it;
		if (!next[it->side] || is_earlier(it, next[it->side]))
			next[it->side] = it;
	}
	return p->runs[0] && p->runs[1] && p->runs[0] + p->runs[1] > 2 &&
	       (is_earlier(last[0], next[1]) || is_earlier(last[1], next[0]));
}

static void find_order(struct cs_pairing *p)
{
	uint32_t runs[2] = { 0, 0 };

	p->apart = are_apart(p);
	for (size_t i = 0; p->apart && i < p->n; i++) {
		const struct cs_paired *first = &p->item[i];

		if (first->run_nr != runs[first->side])
			continue;
		runs[first->side]++;
		for (size_t k = 0; k < p->n; k++)
			p->item[k].when += is_earlier(first, &p->item[k]);
	}
}

static void find_first(struct cs_pairing *p)
{
	for (size_t i = p->n; i-- > 0;)
		if (p->item[i].pair >= 0)
			p->first[p->item[i].pair][p->item[i].side] = &p->item[i];
}

struct cs_pairing cs_pairing_make(const struct cs_versus_side *a,
				  const struct cs_versus_side *b)
{
	size_t room = a->n + b->n;
	struct cs_pairing p = { .item = cs_new(struct cs_paired, room) };

	p.first = cs_arena_take(room, sizeof(*p.first));
	for (size_t i = 0; i < a->n; i++)
		add_item(&p, &a->item[i], 0);
	for (size_t i = 0; i < b->n; i++)
		add_item(&p, &b->item[i], 1);
	p.by_position = !share_a_host(&p);
	if (!p.by_position) {
		pair_like(&p, same_node);
		pair_like(&p, same_host);
	} else {
		pair_like(&p, same_class);
		if (count_left(&p, 0) == 1 && count_left(&p, 1) == 1)
			pair_like(&p, any);
	}
	p.took_turns = took_turns(&p);
	find_first(&p);
	find_order(&p);
	return p;
}

/* ---- names ---- */

const char *cs_pairing_name(const struct cs_pairing *p, int pair)
{
	const struct cs_paired *a = p->first[pair][0], *b = p->first[pair][1];
	int alike = 0;

	if (p->by_position)
		return p->n_pairs == 1 ? "" :
					 cs_new_text("%s/%s", host_of(a), host_of(b));
	for (int k = 0; k < p->n_pairs; k++)
		alike += same_host(a, p->first[k][0]);
	return alike > 1 ? cs_new_text("%s:%d", host_of(a), a->node) : host_of(a);
}

const char *cs_pairing_agent(const struct cs_pairing *p, const struct cs_paired *item,
			     int agent)
{
	const struct cs_gpu_facts *gpu = &node_of(item)->agent[agent].gpu;

	return p->by_position || !gpu->bus_id[0] ? cs_new_text("%03d", agent) :
	       cs_is_mig(gpu->uuid)		 ? gpu->uuid :
						   gpu->bus_id;
}
