#include "netsim.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "noise.h"
#include "plan/rounds.h"

#define GBS 47.5

struct netsim netsim_of(uint32_t nodes, uint32_t leaf_size, uint64_t seed)
{
	return (struct netsim){ .nodes = nodes,
				.leaf_size = leaf_size,
				.noise = 0.015,
				.noise_again = 0.015,
				.congested = 0.02,
				.seed = seed,
				.slow_node = UINT32_MAX,
				.slow_leaf = UINT32_MAX,
				.path = { UINT32_MAX, UINT32_MAX },
				.first = UINT32_MAX,
				.lost = UINT32_MAX,
				.sends = 1,
				.receives = 1,
				.uplink = 1,
				.there = 1,
				.back = 1 };
}

struct simulation {
	const struct netsim *sim;
	struct cs_between b;
	struct cs_rng rng;
	size_t room;
	struct cs_suspect *to;
	size_t most;
};

static double uniform(struct cs_rng *rng)
{
	return (double)(cs_rng_next(rng) >> 11) / 9007199254740992.0;
}

/* The truth of a figure, as a logarithm. */
static double truth(const struct netsim *sim, uint32_t src, uint32_t dst, int alone,
		    int again)
{
	const uint32_t from = sim->leaf_size ? src / sim->leaf_size : 0;
	const uint32_t to = sim->leaf_size ? dst / sim->leaf_size : 0;
	double y = log(GBS);

	if (src == sim->slow_node)
		y += log(sim->sends);
	if (dst == sim->slow_node)
		y += log(sim->receives);
	if (!again && (src == sim->first || dst == sim->first))
		y += log(0.8);
	if (!alone && from != to && (from == sim->slow_leaf || to == sim->slow_leaf))
		y += log(sim->uplink);
	if (src == sim->path[0] && dst == sim->path[1])
		y += log(sim->there);
	if (src == sim->path[1] && dst == sim->path[0])
		y += log(sim->back);
	return y;
}

static struct cs_between_cell measure(struct simulation *s, uint32_t src,
				      uint32_t dst, int alone, int again)
{
	const double noise = again ? s->sim->noise_again : s->sim->noise;
	double y = truth(s->sim, src, dst, alone, again) +
		   noise * noise_gauss(&s->rng);

	if (!alone && uniform(&s->rng) < s->sim->congested)
		y -= fabs(0.05 * noise_gauss(&s->rng));
	return (struct cs_between_cell){
		.src = src, .dst = dst, .company = !alone, .y = y, .noise = noise / 3
	};
}

/* All pairs of a round, which is the k-th. */
static size_t take_round(struct simulation *s, uint32_t round, uint32_t k, int again,
			 struct cs_between_cell *to)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->sim->nodes; i++) {
		const int64_t other = cs_round_partner(s->sim->nodes, round, i);

		if (other < 0 || i == s->sim->lost || other == s->sim->lost)
			continue;
		to[n] = measure(s, i, (uint32_t)other, 0, again);
		to[n].round = k;
		to[n].row = (uint32_t)n;
		n++;
	}
	return n;
}

static void look_again(struct simulation *s, const uint32_t *round,
		       const struct cs_look *look, size_t n)
{
	const size_t room = n * (s->sim->nodes > 2 ? s->sim->nodes : 2);

	s->b.again = cs_new(struct cs_between_cell, room);
	for (size_t i = 0; i < n; i++) {
		struct cs_between_cell *to = s->b.again + s->b.n_again;

		if (look[i].b == CS_LOOK_ROUND) {
			s->b.n_again += take_round(s, round[look[i].a], look[i].a, 1,
						   to);
			continue;
		}
		to[0] = measure(s, look[i].a, look[i].b, 1, 1);
		to[1] = measure(s, look[i].b, look[i].a, 1, 1);
		s->b.n_again += 2;
	}
}

static void set_leaves(struct simulation *s)
{
	const struct netsim *sim = s->sim;
	uint32_t *leaf = cs_new(uint32_t, sim->nodes);

	s->b.n_leaves = sim->leaf_size ?
				(sim->nodes + sim->leaf_size - 1) / sim->leaf_size :
				0;
	for (uint32_t i = 0; i < sim->nodes; i++)
		leaf[i] = sim->leaf_size ? i / sim->leaf_size : CS_NO_LEAF;
	cs_between_keep_leaves(leaf, sim->nodes, s->b.n_leaves);
	s->b.leaf = leaf;
}

static int simulate(void *argument)
{
	struct simulation *s = argument;
	const uint32_t rounds = cs_rounds_count(CS_ROUNDS_AUTO, s->sim->nodes);
	struct cs_vec suspects = CS_LIST(struct cs_suspect);
	struct cs_look look[CS_LOOKS_MOST];
	uint32_t *round = NULL;
	size_t n;

	cs_arena_check(cs_rounds_draw(s->sim->seed, s->sim->nodes, &round, NULL));
	s->b.n_nodes = s->sim->nodes;
	set_leaves(s);
	s->b.cell = cs_new(struct cs_between_cell, (size_t)rounds * s->sim->nodes);
	for (uint32_t k = 0; k < rounds; k++)
		s->b.n += take_round(s, round[k], k, 0, s->b.cell + s->b.n);
	cs_between_polish(&s->b);
	cs_suspects_find(&s->b, &suspects);
	n = cs_looks_choose(&s->b, &suspects, look, 0, CS_LOOKS_MOST);
	look_again(s, round, look, n);
	cs_suspects_confirm(&s->b, &suspects);
	free(round);
	for (n = 0; n < suspects.n && n < s->most; n++)
		s->to[n] = ((struct cs_suspect *)suspects.data)[n];
	return (int)suspects.n;
}

size_t netsim_judge(const struct netsim *sim, struct cs_suspect *to, size_t most)
{
	struct simulation s = {
		.sim = sim, .rng = { sim->seed * 7919 + 1 }, .to = to, .most = most
	};
	int n = cs_arena_run(simulate, &s, NULL);

	return n < 0 ? 0 : (size_t)n < most ? (size_t)n : most;
}

size_t netsim_confirmed(const struct cs_suspect *s, size_t n)
{
	return CS_COUNT(i, n, s[i].again == CS_REMEASURED_CONFIRMED);
}
