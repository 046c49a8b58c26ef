#include "check/between/polish.h"

#include <math.h>

#include "base/arena.h"
#include "base/statistics.h"

#define LEAF_LEAST 3u /* nodes */
#define PASSES 4

void cs_between_keep_leaves(uint32_t *leaf, uint32_t n_nodes, uint32_t n_leaves)
{
	uint32_t *members = cs_new(uint32_t, n_leaves);

	for (uint32_t i = 0; i < n_nodes; i++)
		if (leaf[i] != CS_NO_LEAF)
			members[leaf[i]]++;
	for (uint32_t i = 0; i < n_nodes; i++)
		if (leaf[i] != CS_NO_LEAF && members[leaf[i]] < LEAF_LEAST)
			leaf[i] = CS_NO_LEAF;
}

uint32_t cs_between_member(const struct cs_between *b, enum cs_between_factor factor,
			   const struct cs_between_cell *cell)
{
	const uint32_t from = b->leaf[cell->src], to = b->leaf[cell->dst];
	const int within = from == to && from != CS_NO_LEAF;

	switch (factor) {
	case CS_BETWEEN_OUT:
		return within ? CS_NO_LEAF : from;
	case CS_BETWEEN_IN:
		return within ? CS_NO_LEAF : to;
	case CS_BETWEEN_SENDS:
		return cell->src;
	case CS_BETWEEN_RECEIVES:
		return cell->dst;
	default:
		return !within;
	}
}

double cs_between_effect(const struct cs_between *b, enum cs_between_factor factor,
			 const struct cs_between_cell *cell)
{
	const uint32_t member = cs_between_member(b, factor, cell);
	const double effect = member == CS_NO_LEAF ? 0 :
						     b->factor[factor].effect[member];

	return isnan(effect) ? 0 : effect;
}

/* The median; of an even number the faster of the two middle ones: if one of three nodes is
 * slow, half of the figures of each other node are slow. */
static double middle(double *x, size_t n)
{
	cs_sort(x, n);
	return x[n / 2];
}

/* Move what the cells of a member have in common from what is left into its effect. */
static void polish(struct cs_between *b, enum cs_between_factor factor, double *x)
{
	const struct cs_by_node *of = &b->factor[factor].of;
	const size_t *first = of->first;

	for (int i = 0; i < b->factor[factor].n; i++) {
		const size_t n = first[i + 1] - first[i];
		double common;

		if (!n)
			continue;
		for (size_t k = 0; k < n; k++)
			x[k] = b->cell[of->at[first[i] + k]].left;
		common = middle(x, n);
		b->factor[factor].effect[i] += common;
		for (size_t k = 0; k < n; k++)
			b->cell[of->at[first[i] + k]].left -= common;
	}
}

/* Effects are differences from that of most members: the common part is of all cells. */
static void centre(struct cs_between *b, enum cs_between_factor factor, double *x)
{
	double *effect = b->factor[factor].effect;
	double *common = b->factor[CS_BETWEEN_COMMON].effect;
	double of_most;
	size_t n = 0;

	for (int i = 0; i < b->factor[factor].n; i++)
		if (!isnan(effect[i]))
			x[n++] = effect[i];
	if (!n)
		return;
	of_most = middle(x, n);
	for (int i = 0; i < b->factor[factor].n; i++)
		effect[i] -= of_most;
	common[1] += of_most;
	if (factor == CS_BETWEEN_SENDS || factor == CS_BETWEEN_RECEIVES) {
		common[0] += of_most;
		return;
	}
	/* those of nodes without a leaf have the common part alone */
	for (size_t i = 0; i < b->n; i++)
		if (cs_between_member(b, CS_BETWEEN_COMMON, &b->cell[i]) == 1 &&
		    cs_between_member(b, factor, &b->cell[i]) == CS_NO_LEAF)
			b->cell[i].left -= of_most;
}

static void start(struct cs_between *b, enum cs_between_factor factor)
{
	uint32_t *member = cs_new(uint32_t, b->n);
	int n = factor == CS_BETWEEN_COMMON ? 2 :
		factor < CS_BETWEEN_SENDS   ? (int)b->n_leaves :
					      (int)b->n_nodes;

	for (size_t i = 0; i < b->n; i++)
		member[i] = cs_between_member(b, factor, &b->cell[i]);
	b->factor[factor].of = cs_by_node(member, b->n, n);
	b->factor[factor].n = n;
	b->factor[factor].effect = cs_new(double, (size_t)n);
	for (int i = 0; i < n; i++)
		if (b->factor[factor].of.first[i + 1] == b->factor[factor].of.first[i])
			b->factor[factor].effect[i] = NAN;
}

/* As a standard deviation, of values whose middle is 0. */
static double spread_of(double *x, size_t n)
{
	return n ? CS_MAD_TO_SD * cs_median(x, n) : 0;
}

static double spread_of_effects(const struct cs_between *b,
				enum cs_between_factor factor, double *x)
{
	size_t n = 0;

	for (int i = 0; i < b->factor[factor].n; i++)
		if (!isnan(b->factor[factor].effect[i]))
			x[n++] = fabs(b->factor[factor].effect[i]);
	/* of few members some are 0 by construction */
	return spread_of(x, n) * (1 + 3 / fmax(1, (double)n));
}

/* Figures that a sum of as many parts would leave nothing of are worth less. */
static double spread_of_left(const struct cs_between *b, double *x)
{
	double parts = 0, noise;

	for (int f = 0; f < CS_BETWEEN_FACTORS; f++)
		for (int i = 0; i < b->factor[f].n; i++)
			parts += !isnan(b->factor[f].effect[i]);
	for (size_t i = 0; i < b->n; i++)
		x[i] = b->cell[i].noise;
	noise = b->n ? cs_median(x, b->n) / 2 : 0;
	for (size_t i = 0; i < b->n; i++)
		x[i] = fabs(b->cell[i].left);
	return fmax(noise, spread_of(x, b->n) *
				   sqrt((double)b->n / fmax(1, (double)b->n - parts)));
}

void cs_between_polish(struct cs_between *b)
{
	const size_t most = b->n > b->n_nodes ? b->n : b->n_nodes;
	double *x = cs_new(double, most);

	for (size_t i = 0; i < b->n; i++)
		b->cell[i].left = b->cell[i].y;
	for (int f = 0; f < CS_BETWEEN_FACTORS; f++)
		start(b, f);
	for (int pass = 0; pass < PASSES; pass++)
		for (int f = 0; f < CS_BETWEEN_FACTORS; f++) {
			if (f == CS_BETWEEN_COMMON && pass && pass < PASSES - 1)
				continue;
			polish(b, f, x);
			if (f != CS_BETWEEN_COMMON)
				centre(b, f, x);
		}
	for (int f = 0; f < CS_BETWEEN_FACTORS; f++)
		b->factor[f].spread = spread_of_effects(b, f, x);
	b->spread = spread_of_left(b, x);
}
