#include "check/between/suspect.h"

#include <math.h>

#include "base/arena.h"
#include "base/statistics.h"

#define TIMES 5.0	   /* the spread of the healthy ones */
#define PATH_TIMES 8.0	   /* of thousands one is far off by chance */
#define PATH_LEAST 0.10
#define LEAF_CELLS 3u	   /* of a leaf in second looks */
#define BY_CHANCE 0.004	   /* probability that healthy second looks differ by more */
#define HALF (-0.693)	   /* the logarithm of half a rate */

/* The least loss that makes a suspect: larger if few are compared. */
static double least_of(enum cs_suspect_kind kind, size_t of)
{
	if (kind == CS_SUSPECT_LEAF)
		return of < 5 ? 0.10 : 0.05;
	return of < CS_NODES_FEW ? 0.15 : of < 8 ? 0.06 : of < 16 ? 0.04 : 0.03;
}

/* How the cells of a member are off, as a share: 1 is as the sum without it says. */
static struct cs_stats shares_of(const struct cs_between *b, int factor,
				 uint32_t member)
{
	const struct cs_by_node *of = &b->factor[factor].of;
	const size_t from = of->first[member], n = of->first[member + 1] - from;
	double *x = cs_new(double, n);
	struct cs_stats stats;

	for (size_t i = 0; i < n; i++)
		x[i] = exp(b->cell[of->at[from + i]].left +
			   b->factor[factor].effect[member]);
	cs_stats_of(x, n, &stats);
	return stats;
}

static int is_slow(double off, double least, double spread, double *sure)
{
	const double need = fmax(-log1p(-least), spread);

	*sure = -off / need;
	return off < 0 && *sure >= 1;
}

/* The rate of most cells. */
static double common_gbs(const struct cs_between *b)
{
	const size_t *first = b->factor[CS_BETWEEN_COMMON].of.first;
	const int across = first[2] - first[1] >= first[1] - first[0];

	return exp(b->factor[CS_BETWEEN_COMMON].effect[across]);
}

static void add_evidence(const struct cs_between *b, int factor, struct cs_suspect *s)
{
	const struct cs_by_node *of = &b->factor[factor].of;

	for (size_t i = of->first[s->a];
	     i < of->first[s->a + 1] && s->n_evidence < CS_EVIDENCE; i++)
		s->evidence[s->n_evidence++] = b->cell[of->at[i]].row;
}

/* Is it the only one of a few nodes that loses more than half?  It is a suspect then,
 * however much the others differ. */
static int is_only_node_below_half(const struct cs_between *b, int factor,
				   const struct cs_suspect *s)
{
	const double *effect = b->factor[factor].effect;

	return s->kind == CS_SUSPECT_NODE && s->of < CS_NODES_FEW &&
	       effect[s->a] < HALF &&
	       CS_COUNT(i, b->factor[factor].n, effect[i] < HALF) == 1;
}

/* Is a member slow in this direction?  Then it is added to s. */
static void judge_member(const struct cs_between *b, int factor, struct cs_suspect *s)
{
	const struct cs_by_node *of = &b->factor[factor].of;
	const double off = b->factor[factor].effect[s->a];
	const double n = (double)(of->first[s->a + 1] - of->first[s->a]);
	const double own = 1.2533 * b->spread / sqrt(fmax(1, n));
	const double least = least_of(s->kind, s->of);
	const double spread = is_only_node_below_half(b, factor, s) ?
				      0 :
				      TIMES * fmax(b->factor[factor].spread, own);
	struct cs_stats stats;
	double sure;

	if (isnan(off) || !is_slow(off, least, spread, &sure))
		return;
	stats = shares_of(b, factor, s->a);
	if (isnan(stats.ci_high)) {
		stats.ci_low = stats.min;
		stats.ci_high = stats.max;
	}
	if (stats.ci_high > 1 - least / 2)
		return;
	s->sends |= factor == CS_BETWEEN_SENDS || factor == CS_BETWEEN_OUT;
	s->receives |= factor == CS_BETWEEN_RECEIVES || factor == CS_BETWEEN_IN;
	if (off < s->off) {
		s->off = off;
		s->low = stats.ci_low;
		s->high = stats.ci_high;
	}
	s->sure = fmax(s->sure, sure);
	add_evidence(b, factor, s);
}

static uint32_t members_with_cells(const struct cs_between *b, int factor)
{
	return (uint32_t)CS_COUNT(i, b->factor[factor].n,
				  !isnan(b->factor[factor].effect[i]));
}

/* Factor and the next one are the two directions of the same members. */
static void judge_members(const struct cs_between *b, enum cs_suspect_kind kind,
			  int factor, struct cs_vec *suspects)
{
	const uint32_t of = members_with_cells(b, factor);

	for (int i = 0; i < b->factor[factor].n && of > 2; i++) {
		struct cs_suspect s = { .kind = kind,
					.matrix = b->matrix,
					.a = (uint32_t)i,
					.of = of,
					.others_gbs = common_gbs(b) };

		judge_member(b, factor, &s);
		judge_member(b, factor + 1, &s);
		if (s.sends || s.receives)
			cs_list_push(suspects, &s);
	}
}

/* ---- paths ---- */

CS_ORDERING(by_sure, struct cs_suspect, CS_ORDER(a->kind, b->kind),
	    CS_ORDER(b->sure, a->sure), CS_ORDER(a->a, b->a), CS_ORDER(a->b, b->b))

/* Is the cell of the path between these nodes, either way? */
static int is_of_path(const struct cs_between_cell *cell, uint32_t a, uint32_t b)
{
	return (cell->src == a && cell->dst == b) ||
	       (cell->src == b && cell->dst == a);
}

/* Between a few nodes, is it the only path that loses more than half? */
static int is_only_path_below_half(const struct cs_between *b,
				   const struct cs_between_cell *cell)
{
	return b->n_nodes < CS_NODES_FEW && cell->left < HALF &&
	       CS_ALL(i, b->n,
		      b->cell[i].left >= HALF ||
			      is_of_path(&b->cell[i], cell->src, cell->dst));
}

/* Ways that are slow, the surest first. */
static struct cs_vec slow_ways(const struct cs_between *b)
{
	struct cs_vec ways = CS_LIST(struct cs_suspect);

	for (size_t i = 0; i < b->n; i++) {
		const struct cs_between_cell *cell = &b->cell[i];
		const double share = exp(cell->left);
		struct cs_suspect s = { .kind = CS_SUSPECT_PATH,
					.matrix = b->matrix,
					.a = cell->src,
					.b = cell->dst,
					.sends = 1,
					.off = cell->left,
					.low = share * (1 - cell->noise),
					.high = share * (1 + cell->noise),
					.others_gbs = exp(cell->y - cell->left),
					.of = b->n_nodes,
					.n_evidence = 1,
					.evidence = { cell->row } };

		if (is_slow(s.off, PATH_LEAST,
			    is_only_path_below_half(b, cell) ? 0 :
							       PATH_TIMES * b->spread,
			    &s.sure))
			cs_list_push(&ways, &s);
	}
	cs_vec_sort(&ways, by_sure);
	return ways;
}

/* Two ways of a pair are one path. */
static void judge_paths(const struct cs_between *b, struct cs_vec *suspects)
{
	const struct cs_vec ways = slow_ways(b);
	size_t n = 0;

	CS_EACH(const struct cs_suspect, s, &ways) {
		int is_back = 0;

		CS_EACH(struct cs_suspect, of, suspects)
			if (of->kind == CS_SUSPECT_PATH && of->a == s->b &&
			    of->b == s->a)
				of->receives = is_back = 1;
		if (!is_back && n++ < CS_PATHS_MOST)
			cs_list_push(suspects, s);
	}
}

void cs_suspects_find(const struct cs_between *b, struct cs_vec *suspects)
{
	struct cs_vec found = CS_LIST(struct cs_suspect);

	judge_members(b, CS_SUSPECT_NODE, CS_BETWEEN_SENDS, &found);
	judge_members(b, CS_SUSPECT_LEAF, CS_BETWEEN_OUT, &found);
	if (b->n_nodes > 2)
		judge_paths(b, &found);
	cs_vec_sort(&found, by_sure);
	CS_EACH(const struct cs_suspect, s, &found)
		cs_list_push(suspects, s);
}

/* ---- second looks ---- */

static int is_about(const struct cs_suspect *s, const struct cs_between_cell *cell)
{
	switch (s->kind) {
	case CS_SUSPECT_NODE:
		return cell->src == s->a || cell->dst == s->a;
	case CS_SUSPECT_PATH:
		return is_of_path(cell, s->a, s->b);
	default:
		return 0;
	}
}

/* Is it of a direction in which the suspect is slow? */
static int is_slow_way(const struct cs_between *b, const struct cs_suspect *s,
		       const struct cs_between_cell *cell)
{
	const int leaf = s->kind == CS_SUSPECT_LEAF;
	const uint32_t from = leaf ? cs_between_member(b, CS_BETWEEN_OUT, cell) :
				     cell->src;
	const uint32_t to = leaf ? cs_between_member(b, CS_BETWEEN_IN, cell) :
				   cell->dst;

	if (s->kind == CS_SUSPECT_PATH)
		return is_about(s, cell) &&
		       (cell->src == s->a ? s->sends : s->receives);
	return (s->sends && from == s->a) || (s->receives && to == s->a);
}

/* Without the suspect's own part: of a leaf in company, of the others alone, where uplinks
 * are idle. */
static double off_of(const struct cs_between *b, const struct cs_suspect *s,
		     const struct cs_between_cell *cell)
{
	double off = cell->y;

	for (int f = s->kind == CS_SUSPECT_LEAF ? CS_BETWEEN_COMMON : CS_BETWEEN_SENDS;
	     f < CS_BETWEEN_FACTORS; f++) {
		const int is_leaf = f == CS_BETWEEN_OUT || f == CS_BETWEEN_IN;
		const uint32_t member = cs_between_member(b, f, cell);

		if (s->kind == CS_SUSPECT_PATH || f == CS_BETWEEN_COMMON ||
		    is_leaf != (s->kind == CS_SUSPECT_LEAF) || member != s->a)
			off -= cs_between_effect(b, f, cell);
	}
	return off;
}

/* The second looks of some cells: their middle, and squares of how far they are from it. */
struct look {
	double off, squares;
	size_t n;
	size_t n_independent; /* of a path its ways: repeats share the error of the sum */
};

static struct look look_at(double *x, size_t n, size_t n_independent)
{
	struct look look = { NAN, 0, n, n_independent };

	if (n)
		look.off = cs_median(x, n);
	for (size_t i = 0; i < n; i++)
		look.squares += (x[i] - look.off) * (x[i] - look.off);
	return look;
}

/* How far the middles of two looks may be apart by chance, by Student's t. */
static double noise_of(const struct look *x, const struct look *y)
{
	const double df = (double)(x->n + y->n) - 2;
	const double scale = 1 / (double)x->n_independent +
			     1 / (double)y->n_independent;

	return df < 1 ? HUGE_VAL :
			cs_student_t(BY_CHANCE, df) *
				sqrt((x->squares + y->squares) / df * scale);
}

/* Confirmed: slow beyond the noise, by more than half of what it was before.  Not confirmed:
 * by less than half, and not because of the noise. */
static enum cs_remeasured verdict(const struct cs_suspect *s, const struct look *own,
				  const struct look *others)
{
	const double off = own->off - others->off, less = off - s->off / 2;
	double noise;

	if (!own->n)
		return CS_REMEASURED_NONE;
	if (!others->n)
		return CS_REMEASURED_UNSURE;
	noise = noise_of(own, others);
	return less < 0 && -off > noise	 ? CS_REMEASURED_CONFIRMED :
	       less >= 0 && less > noise ? CS_REMEASURED_NOT_CONFIRMED :
					   CS_REMEASURED_UNSURE;
}

static void confirm(const struct cs_between *b, const struct cs_vec *all,
		    struct cs_suspect *s)
{
	const int company = s->kind == CS_SUSPECT_LEAF;
	double *own = cs_new(double, b->n_again), *others = cs_new(double, b->n_again);
	const struct cs_suspect *of = all->data;
	struct look at, beside;
	size_t n = 0, n_others = 0;

	for (size_t i = 0; i < b->n_again; i++) {
		const struct cs_between_cell *cell = &b->again[i];

		if (cell->company != company ||
		    (company && cs_between_member(b, CS_BETWEEN_COMMON, cell) != 1))
			continue;
		if (is_slow_way(b, s, cell))
			own[n++] = off_of(b, s, cell);
		else if (!CS_ANY(k, all->n,
				 of[k].matrix == b->matrix &&
					 (is_about(&of[k], cell) ||
					  (company && is_slow_way(b, &of[k], cell)))))
			others[n_others++] = off_of(b, s, cell);
	}
	at = look_at(own, n < LEAF_CELLS && company ? 0 : n,
		     s->kind == CS_SUSPECT_PATH ? (size_t)(s->sends + s->receives) :
						  n);
	beside = look_at(others, n_others, n_others);
	s->again = verdict(s, &at, &beside);
}

void cs_suspects_confirm(const struct cs_between *b, struct cs_vec *suspects)
{
	CS_EACH(struct cs_suspect, s, suspects)
		if (s->matrix == b->matrix)
			confirm(b, suspects, s);
}
