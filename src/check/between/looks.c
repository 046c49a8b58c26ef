#include "check/between/looks.h"

#include "base/arena.h"

#define CONTROLS 3u
#define PARTNERS 3u
#define TWICE 2u

struct looks {
	const struct cs_between *b;
	const struct cs_vec *suspects;
	char *quiet; /* by node: it has cells, and is no suspect */
	struct cs_look *look;
	size_t first, n, most;
};

static void add(struct looks *l, uint32_t a, uint32_t b)
{
	if (l->n < l->most)
		l->look[l->n++] = (struct cs_look){ l->b->matrix, a, b };
}

static int has(const struct looks *l, uint32_t a, uint32_t b)
{
	return CS_ANY(i, l->n - l->first,
		      (l->look[l->first + i].a == a && l->look[l->first + i].b == b) ||
			      (l->look[l->first + i].a == b &&
			       l->look[l->first + i].b == a));
}

static int is_suspect_path(const struct looks *l, uint32_t a, uint32_t b)
{
	const struct cs_suspect *s = l->suspects->data;

	return CS_ANY(i, l->suspects->n,
		      s[i].kind == CS_SUSPECT_PATH && ((s[i].a == a && s[i].b == b) ||
						       (s[i].a == b && s[i].b == a)));
}

/* Up to `most` pairs of a node with quiet ones, of its own leaf first: no uplink is between
 * them. */
static void add_partners(struct looks *l, uint32_t node, uint32_t most)
{
	const uint32_t n = l->b->n_nodes, *leaf = l->b->leaf;

	for (int own = 1; own >= 0; own--)
		for (uint32_t i = 1; i < n && most; i++) {
			const uint32_t other = (node + i) % n;
			const int is_own = leaf[node] == leaf[other];

			if (!l->quiet[other] || is_own != own ||
			    is_suspect_path(l, node, other) || has(l, node, other))
				continue;
			add(l, node, other);
			most--;
		}
}

static void add_controls(struct looks *l)
{
	const uint32_t n = l->b->n_nodes;

	for (uint32_t k = 0; k < CONTROLS; k++) {
		const uint32_t from = k * n / CONTROLS;
		uint32_t i = 0;

		while (i < n && !l->quiet[(from + i) % n])
			i++;
		if (i < n)
			add_partners(l, (from + i) % n, 1);
	}
}

/* The rounds in which most figures are of the leaf's uplinks. */
static void add_rounds(struct looks *l, uint32_t leaf)
{
	const struct cs_by_node *of = &l->b->factor[CS_BETWEEN_OUT].of;
	uint32_t rounds = 0, *crossing;

	for (size_t i = 0; i < l->b->n; i++)
		if (l->b->cell[i].round >= rounds)
			rounds = l->b->cell[i].round + 1;
	crossing = cs_new(uint32_t, rounds);
	for (size_t i = of->first[leaf]; i < of->first[leaf + 1]; i++)
		crossing[l->b->cell[of->at[i]].round]++;
	for (uint32_t k = 0; k < TWICE; k++) {
		uint32_t best = 0;

		for (uint32_t r = 1; r < rounds; r++)
			if (crossing[r] > crossing[best])
				best = r;
		if (crossing[best] && !has(l, best, CS_LOOK_ROUND))
			add(l, best, CS_LOOK_ROUND);
		crossing[best] = 0;
	}
}

/* Look at each pair once more. */
static void repeat_looks(struct looks *l)
{
	const size_t n = l->n;

	for (size_t i = l->first; i < n; i++)
		add(l, l->look[i].a, l->look[i].b);
}

size_t cs_looks_choose(const struct cs_between *b, const struct cs_vec *suspects,
		       struct cs_look *look, size_t n, size_t most)
{
	struct looks l = { b, suspects, cs_new(char, b->n_nodes), look, n, n, most };
	size_t of_matrix = 0;

	for (size_t i = 0; i < b->n; i++)
		l.quiet[b->cell[i].src] = l.quiet[b->cell[i].dst] = 1;
	CS_EACH(const struct cs_suspect, s, suspects) {
		of_matrix += s->matrix == b->matrix;
		if (s->kind == CS_SUSPECT_NODE)
			l.quiet[s->a] = 0;
	}
	if (of_matrix)
		add_controls(&l);
	CS_EACH(const struct cs_suspect, s, suspects) {
		if (s->matrix != b->matrix)
			continue;
		if (s->kind == CS_SUSPECT_NODE)
			add_partners(&l, s->a, PARTNERS);
		else if (s->kind == CS_SUSPECT_LEAF)
			add_rounds(&l, s->a);
		for (uint32_t k = 0; s->kind == CS_SUSPECT_PATH && k < TWICE; k++)
			add(&l, s->a, s->b);
	}
	if (b->n_nodes < CS_NODES_FEW) /* and so few pairs */
		repeat_looks(&l);
	return l.n;
}
