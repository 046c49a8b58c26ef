#include "check/compare/versus.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/units.h"
#include "check/bounds/baseline.h"
#include "check/compare/pairing.h"
#include "plan/file.h"

#define LISTED 8 /* cells named in one line; the rest is a count */

/* One row of one side, and the key by which it is compared. */
struct point {
	uint32_t step; /* of a plan file, which may repeat a cell */
	int pair;      /* of nodes */
	const char *src, *dst;
	int side;
	uint32_t group; /* rows of one are one block */
	uint32_t when;	/* it was, among the blocks of both sides */
	uint32_t order; /* as they came */
	const struct cs_run *run;
	const struct cs_row *row;
	const double *samples;
};

struct work {
	struct cs_pairing pairing;
	struct cs_vec points;
	uint32_t cells; /* that were compared with each other */
};

/* ---- points ---- */

static int is_present(const struct cs_paired *it, const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ||
	       end->index < it->run->node[it->node].facts.n_agents;
}

/* NUMA nodes go by their number, agents by the name that pairs them. */
static const char *name_of(const struct work *w, const struct cs_paired *it,
			   const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ?
		       cs_new_text("%s",
				   cs_endpoint_text(it->run, it->node, end).text) :
		       cs_pairing_agent(&w->pairing, it, end->index);
}

/* One of several that an engine makes in turn: which comes first is chance. */
static int is_of_turn(const struct cs_plan *plan, const struct cs_row *row)
{
	return plan && row->step < plan->n_steps && row->metric == CS_METRIC_RATE &&
	       cs_step_is_in_turn(plan, cs_plan_step(plan, row->step));
}

static int counts(const struct cs_row *row, const struct cs_paired *it)
{
	return !is_of_turn(it->run->plan, row) && is_present(it, &row->what.src) &&
	       is_present(it, &row->what.dst);
}

/* The ends of a total whose step has this first transfer: both of its ends in any
 * order, the hub alone, or as they are. */
static void name_total(const struct cs_row *row, struct point *p)
{
	enum cs_pattern pattern = cs_row_test(row)->pattern;
	const char *first = p->src;

	if (pattern == CS_PATTERN_ALL_TO_ONE)
		p->src = "";
	else if (pattern == CS_PATTERN_ONE_TO_ALL)
		p->dst = "";
	else if (pattern == CS_PATTERN_BIDI && strcmp(p->src, p->dst) > 0) {
		p->src = p->dst;
		p->dst = first;
	}
}

static int has_figure(const struct point *p)
{
	return p->row->status == CS_OK && p->row->n_samples;
}

static void add_rows(struct work *w, const struct cs_paired *it)
{
	const struct cs_row_list rows = cs_run_rows(it->run, it->node,
						    CS_ROWS_MEASURED);

	for (size_t i = 0; i < rows.n; i++) {
		const struct cs_row *row = cs_listed(&rows, i);
		struct point p = { .side = it->side, .run = it->run, .row = row };

		if (!counts(row, it))
			continue;
		p.step = it->run->plan_file ? row->step : 0;
		p.pair = it->pair;
		p.group = w->pairing.took_turns ? row->turn : it->run_nr;
		p.when = it->when;
		p.order = (uint32_t)w->points.n;
		p.samples = cs_rows_samples(rows.rows, cs_listed_at(&rows, i));
		p.src = name_of(w, it, &row->what.src);
		p.dst = name_of(w, it, &row->what.dst);
		if (row->metric == CS_METRIC_TOTAL)
			name_total(row, &p);
		cs_list_push(&w->points, &p);
	}
}

static int by_matrix(const struct point *a, const struct point *b)
{
	return cs_matrix_order(a->row, b->row);
}

static int by_cell(const struct point *a, const struct point *b)
{
	return CS_KEYS(by_matrix(a, b), CS_ORDER(a->pair, b->pair),
		       strcmp(a->src, b->src), strcmp(a->dst, b->dst),
		       CS_ORDER(a->step, b->step));
}

CS_ORDERING(by_all, struct point, by_cell(a, b), CS_ORDER(a->side, b->side),
	    CS_ORDER(a->group, b->group), CS_ORDER(a->order, b->order))

/* ---- a cell ---- */

/* The points p[at..end) of that group as one block, their samples after each other
 * in *room.  Returns the next point. */
static size_t make_block(const struct point *p, size_t at, size_t end, uint32_t group,
			 struct cs_block *block, double **room)
{
	*block = (struct cs_block){ *room, 0 };
	for (; at < end && p[at].group == group; at++) {
		if (!has_figure(&p[at]))
			continue;
		memcpy(*room, p[at].samples, p[at].row->n_samples * sizeof(**room));
		*room += p[at].row->n_samples;
		block->n += p[at].row->n_samples;
	}
	return at;
}

/* p[0..n) of A and p[n..end) of B, group by group: how many there are.  `when` has room
 * for those of A, then of B, as `a` and `b` do. */
static size_t make_blocks(const struct point *p, size_t n, size_t end,
			  struct cs_block *a, uint32_t *when, double *room)
{
	struct cs_block *b = a + end;
	size_t blocks = 0, i = 0, k = n;

	for (; i < n || k < end; blocks++) {
		uint32_t group = i < n && (k == end || p[i].group < p[k].group) ?
					 p[i].group :
					 p[k].group;

		when[blocks] = i < n ? p[i].when : 0;
		when[end + blocks] = k < end ? p[k].when : 0;
		i = make_block(p, i, n, group, &a[blocks], &room);
		k = make_block(p, k, end, group, &b[blocks], &room);
	}
	return blocks;
}

/* "all->3", "0->all", "0<->3", or the first of several. */
static const char *total_text(const struct point *p)
{
	const struct cs_transfer *what = &p->row->what;
	enum cs_pattern pattern = cs_row_test(p->row)->pattern;
	int node = (int)p->row->node, to_one = pattern == CS_PATTERN_ALL_TO_ONE;
	int to_all = pattern == CS_PATTERN_ONE_TO_ALL,
	    bidi = pattern == CS_PATTERN_BIDI;

	return cs_new_text("%s%s%s%s",
			   to_one ? "all" :
				    cs_endpoint_text(p->run, node, &what->src).text,
			   bidi ? "<->" : "->",
			   to_all ? "all" :
				    cs_endpoint_text(p->run, node, &what->dst).text,
			   to_one || to_all || bidi ? "" : ", ...");
}

/* A cell in words; in a plan file after its step's name. */
static const char *label_of(const struct point *p)
{
	const struct cs_plan *plan = p->run->plan;
	const struct cs_transfer *what = &p->row->what;
	int node = (int)p->row->node;
	char step[CS_STEP_NAME] = "";

	if (p->run->plan_file && p->row->step < plan->n_steps)
		cs_step_name(plan, cs_plan_step(plan, p->row->step), step,
			     sizeof(step));
	return cs_new_text("%s%s%s", step, step[0] ? " " : "",
			   p->row->metric == CS_METRIC_TOTAL ?
				   total_text(p) :
			   cs_test_is_list(cs_row_test(p->row)) ?
				   cs_agent_label(p->run, node, what->src.index).text :
				   cs_pair_label(p->run, node, what).text);
}

/* One more line about a side that is alone, unless it is there. */
static void describe_alone(struct cs_versus *v, const char *text)
{
	CS_EACH(const char *const, known, &v->alone)
		if (!strcmp(*known, text))
			return;
	cs_list_push(&v->alone, &text);
}

/* The first of p[0..n) with a figure; NULL. */
static const struct point *find_figure(const struct point *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (has_figure(&p[i]))
			return &p[i];
	return NULL;
}

/* "n017 " of a pair of nodes; "" if it has no name. */
static const char *host_text(const struct work *w, const struct point *p)
{
	const char *host = cs_pairing_name(&w->pairing, p->pair);

	return cs_new_text("%s%s", host, host[0] ? " " : "");
}

/* Why only the other side has a figure. */
static void describe_why(struct cs_versus *v, const struct work *w,
			 const struct point *p)
{
	describe_alone(v,
		       cs_new_text("%s %s%s: %s in %s%s", cs_row_test(p->row)->name,
				   host_text(w, p), label_of(p),
				   p->row->status == CS_OK ?
					   "no sample" :
					   cs_status_text(p->row->status),
				   v->name[p->side], cs_after(": ", p->row->reason)));
}

/* p[0..n) of side A, p[n..end) of side B; one of them at least has a figure. */
static struct cs_comparison compare_cell(const struct cs_compare_how *how, int apart,
					 const struct point *p, size_t n, size_t end)
{
	struct cs_compare_how ordered = *how;
	struct cs_side a, b;
	size_t samples = 0;
	CS_SCOPE;
	struct cs_block *block = cs_new(struct cs_block, 2 * end);
	uint32_t *when = cs_new(uint32_t, 2 * end);

	for (size_t i = 0; i < end; i++)
		samples += p[i].row->n_samples;
	a.blocks = block;
	b.blocks = block + end;
	a.n = b.n = make_blocks(p, n, end, block, when, cs_new(double, samples));
	ordered.when[0] = apart ? when : NULL;
	ordered.when[1] = apart ? when + end : NULL;
	return cs_compare(&a, &b, &ordered);
}

/* As compare_cell(); a cell without any figure is left out. */
static void add_cell(struct cs_versus *v, struct work *w, const struct point *p,
		     size_t n, size_t m)
{
	const struct point *a = find_figure(p, n), *b = find_figure(p + n, m);
	const struct cs_compare_how how = {
		.margin = v->margin,
		.low_is_better = cs_unit_low_is_better((int)cs_row_test(p->row)->unit),
		.blocks = cs_baseline_runs(p->run, p->row),
		.paired = w->pairing.took_turns,
	};
	struct cs_versus_cell *cell;
	uint32_t flags;

	if (!a && !b)
		return;
	cell = cs_list_add(&v->cells, 1);
	cell->host = cs_pairing_name(&w->pairing, p->pair);
	cell->label = label_of(p);
	cell->c = compare_cell(&how, v->apart, p, n, n + m);
	flags = cell->c.flags;
	v->one_block += !!(flags & CS_COMPARE_ONE_BLOCK);
	v->known += !!(flags & CS_COMPARE_KNOWN);
	v->shared += !!(flags & CS_COMPARE_SHARED);
	v->drift += !!(flags & CS_COMPARE_DRIFT);
	if (!a || !b) {
		describe_why(v, w, a ? &p[n] : p);
		return;
	}
	w->cells++;
	if (!w->pairing.took_turns)
		cs_conditions_add(v, "transport",
				  cs_new_text("%s%s", host_text(w, p), cell->label),
				  cs_via_text(a->row->via), cs_via_text(b->row->via));
}

/* ---- a matrix ---- */

static double middle(const struct cs_comparison *c, size_t n, int side)
{
	double *x = cs_new(double, n);
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (c[i].verdict != CS_VERDICT_NONE)
			x[k++] = side ? c[i].b : c[i].a;
	return k ? cs_median(x, k) : NAN;
}

static void end_matrix(struct cs_versus *v, struct cs_versus_matrix *m)
{
	struct cs_versus_cell *cell;
	struct cs_comparison *c;

	m->n = v->cells.n - m->first;
	if (!m->n)
		return;
	cell = (struct cs_versus_cell *)v->cells.data + m->first;
	c = cs_new(struct cs_comparison, m->n);
	for (size_t i = 0; i < m->n; i++)
		c[i] = cell[i].c;
	m->sum = cs_compare_cells(c, m->n);
	m->runs_needed = cs_compare_needed(c, m->n, v->margin);
	for (size_t i = 0; i < m->n; i++)
		cell[i].c = c[i];
	m->a = middle(c, m->n, 0);
	m->b = middle(c, m->n, 1);
	cs_list_push(&v->matrices, m);
}

/* ---- cells, matrices and nodes of one side alone ---- */

struct lonely {
	const char *text;
	size_t n;
};

static void add_lonely(struct lonely *to, const struct point *p)
{
	if (to->n++ < LISTED)
		to->text = cs_new_longer(to->text, "%s%s", to->text ? ", " : "",
					 label_of(p));
}

/* The cells of both sides, which begin anew; `p` is of their matrix and pair. */
static void describe_lonely(struct cs_versus *v, const struct work *w,
			    const struct point *p, struct lonely *sides)
{
	for (int s = 0; s < 2; s++) {
		size_t n = sides[s].n;
		const char *more = n > LISTED ?
					   cs_new_text(" and %zu more", n - LISTED) :
					   "";

		if (n)
			describe_alone(v, cs_new_text("%s %s%s%s: only in %s",
						      cs_row_test(p->row)->name,
						      host_text(w, p), sides[s].text,
						      more, v->name[s]));
		sides[s] = (struct lonely){ .n = 0 };
	}
}

static int has_test(const struct work *w, uint32_t test, int side)
{
	const struct point *p = w->points.data;

	return CS_ANY(i, w->points.n, p[i].row->test == test && p[i].side == side);
}

/* Do they measure the same in another way? */
static int is_kin(const struct cs_test *a, const struct cs_test *b)
{
	return a->path == b->path && a->pattern == b->pattern && a->unit == b->unit &&
	       a->how == b->how;
}

static int same_view(const struct point *a, const struct point *b)
{
	const struct cs_plan_matrix x = cs_row_plan_matrix(a->row),
				    y = cs_row_plan_matrix(b->row);

	return !cs_plan_matrices_compare(&x, &y);
}

/* A matrix of the other side that is nearly this one: with copies of another size, in
 * another variant, or of a test that this side does not have.  NULL. */
static const struct point *find_kin(const struct work *w, const struct point *p)
{
	const struct point *all = w->points.data, *kin = NULL;

	for (size_t i = 0; i < w->points.n; i++) {
		if (all[i].side == p->side)
			continue;
		if (all[i].row->test == p->row->test && !same_view(&all[i], p))
			return &all[i];
		if (!kin && all[i].row->test != p->row->test &&
		    is_kin(cs_row_test(all[i].row), cs_row_test(p->row)) &&
		    !has_test(w, all[i].row->test, p->side) &&
		    !has_test(w, p->row->test, all[i].side))
			kin = &all[i];
	}
	return kin;
}

/* A matrix that one side does not have is one line, with the reason. */
static const char *matrix_text(struct cs_versus *v, const struct work *w,
			       const struct point *p)
{
	const struct point *kin = find_kin(w, p), *a = p->side ? kin : p;
	const struct point *b = p->side ? p : kin;
	const struct cs_plan_matrix own = cs_row_plan_matrix(p->row);
	struct cs_plan_matrix x, y;
	const struct cs_test *of_a, *of_b;

	if (!kin)
		return cs_new_text("%s (%s): only in %s", cs_row_test(p->row)->name,
				   cs_plan_matrix_words(&own).text, v->name[p->side]);
	of_a = cs_row_test(a->row);
	of_b = cs_row_test(b->row);
	x = cs_row_plan_matrix(a->row);
	y = cs_row_plan_matrix(b->row);
	if (of_a == of_b)
		return cs_new_text("%s: copies of %s in %s, of %s in %s", of_a->name,
				   cs_plan_matrix_words(&x).text, v->name[0],
				   cs_plan_matrix_words(&y).text, v->name[1]);
	return cs_new_text("%s in %s, %s in %s: another %s", of_a->name, v->name[0],
			   of_b->name, v->name[1],
			   of_a->method == of_b->method ? "op" : "method");
}

static void describe_nodes(struct cs_versus *v, const struct cs_pairing *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct cs_node_facts *f =
			&p->item[i].run->node[p->item[i].node].facts;

		if (p->item[i].pair < 0)
			describe_alone(v,
				       cs_new_text("node %s%s%s: only in %s", f->host,
						   f->placement[0] ? ", " : "",
						   f->placement,
						   v->name[p->item[i].side]));
	}
	if (p->again)
		describe_alone(v, "a run that is named twice on a side counts once");
}

/* ---- the whole ---- */

/* The points of one matrix: p[0..n). */
static void add_matrix(struct cs_versus *v, struct work *w, const struct point *p,
		       size_t n)
{
	struct cs_versus_matrix m = { .test = p->row->test,
				      .metric = p->row->metric,
				      .bytes = p->row->what.bytes,
				      .variant = p->row->what.variant,
				      .first = v->cells.n };
	struct lonely lonely[2] = { { .n = 0 }, { .n = 0 } };
	int seen[2] = { 0, 0 };

	for (size_t i = 0; i < n; i++)
		seen[p[i].side] = 1;
	if (!seen[0] || !seen[1]) {
		describe_alone(v, matrix_text(v, w, p));
		return;
	}
	for (size_t i = 0, end, of_a; i < n; i = end) {
		for (end = of_a = i; end < n && !by_cell(&p[i], &p[end]); end++)
			of_a += p[end].side == 0;
		if (of_a == i || of_a == end)
			add_lonely(&lonely[p[i].side], &p[i]);
		else
			add_cell(v, w, &p[i], of_a - i, end - of_a);
		if (end == n || p[end].pair != p[i].pair)
			describe_lonely(v, w, &p[i], lonely);
	}
	end_matrix(v, &m);
}

static void add_matrices(struct cs_versus *v, struct work *w)
{
	const size_t ways = v->fields.n, n = w->points.n;
	const struct point *p;

	cs_vec_sort(&w->points, by_all);
	p = w->points.data;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && !by_matrix(&p[i], &p[end]); end++)
			;
		add_matrix(v, w, &p[i], end - i);
	}
	cs_conditions_end(v, ways, w->cells, "cells");
}

static void compare(const struct cs_versus_side *a, const struct cs_versus_side *b,
		    struct cs_versus *v)
{
	struct work w = { cs_pairing_make(a, b), CS_LIST(struct point), 0 };

	v->by_position = w.pairing.by_position;
	v->apart = w.pairing.apart;
	for (size_t i = 0; i < w.pairing.n; i++) {
		const struct cs_paired *it = &w.pairing.item[i];

		v->stand_in |= it->run->stand_in;
		v->virtual_clock |= it->run->virtual_clock;
		if (it->pair >= 0)
			add_rows(&w, it);
	}
	describe_nodes(v, &w.pairing);
	cs_conditions_find(v, &w.pairing);
	add_matrices(v, &w);
	cs_versus_models(a, b, &v->models);
}

struct cs_versus *cs_versus_new(const struct cs_versus_side *a,
				const struct cs_versus_side *b, double margin)
{
	struct cs_versus *v = cs_new(struct cs_versus, 1);

	*v = (struct cs_versus){
		.name = { a->name, b->name },
		.margin = margin,
		.cells = CS_LIST(struct cs_versus_cell),
		.matrices = CS_LIST(struct cs_versus_matrix),
		.models = CS_LIST(struct cs_versus_model),
		.fields = CS_LIST(struct cs_versus_field),
		.alone = CS_LIST(const char *),
	};
	compare(a, b, v);
	return v;
}

static int is_different(uint32_t verdict)
{
	return verdict == CS_VERDICT_FASTER || verdict == CS_VERDICT_SLOWER ||
	       verdict == CS_VERDICT_MIXED;
}

int cs_versus_exit(const struct cs_versus *v)
{
	int without = !v->matrices.n;

	CS_EACH(const struct cs_versus_matrix, m, &v->matrices) {
		if (is_different(m->sum.verdict))
			return CS_EXIT_WARNING;
		without |= m->sum.count[CS_VERDICT_NONE] != 0;
	}
	return without ? CS_EXIT_CANNOT : CS_EXIT_OK;
}

/* ---- the placements of a run ---- */

/* The k-th placement of the machine that begins with this node; -1 none. */
static int placement_of(const struct cs_run *run, int node, int k)
{
	for (int i = 1; i <= k; i++)
		if (node + i >= run->n_nodes ||
		    !cs_run_is_other_placement(run, node + i))
			return -1;
	return node + k;
}

struct cs_versus *cs_versus_placements(const struct cs_run *run, int k, double margin)
{
	size_t room = (size_t)run->n_nodes;
	struct cs_versus_item *item = cs_new(struct cs_versus_item, 2 * room);
	struct cs_versus_side side[2] = { { .item = item }, { .item = item + room } };
	struct cs_versus *made;

	for (int node = 0; node < run->n_nodes; node++) {
		int other = placement_of(run, node, k);

		if (cs_run_is_other_placement(run, node) || other < 0)
			continue;
		item[side[0].n++] = (struct cs_versus_item){ run, node };
		item[room + side[1].n++] = (struct cs_versus_item){ run, other };
	}
	if (!side[0].n)
		return NULL;
	side[0].name = run->node[item[0].node].facts.placement;
	side[1].name = run->node[item[room].node].facts.placement;
	made = cs_versus_new(&side[0], &side[1], margin);
	made->placements = 1;
	return made;
}

/* ---- words ---- */

const char *cs_versus_verdict(const struct cs_versus *v,
			      const struct cs_versus_matrix *m)
{
	const struct cs_versus_cell *cell = v->cells.data, *worst;
	uint32_t verdict = m->sum.verdict;
	const char *word = verdict == CS_VERDICT_DIFFERS ?
				   "differs in these two runs" :
				   cs_verdict_text((int)verdict);
	size_t n = m->sum.count[verdict];
	const char *interval;

	if (verdict == CS_VERDICT_MIXED)
		n = m->sum.count[CS_VERDICT_FASTER] + m->sum.count[CS_VERDICT_SLOWER];
	if (verdict == CS_VERDICT_SAME)
		return cs_new_text("%s within %.3g %%: %zu of %zu cells", word,
				   100 * v->margin, n, m->n);
	if (!m->sum.n_worst)
		return word;
	worst = &cell[m->first + m->sum.worst[0]];
	interval = isnan(worst->c.low) ? ", without an interval" :
					 cs_new_text(" (%+.2f to %+.2f)",
						     cs_percent(worst->c.low, 2),
						     cs_percent(worst->c.high, 2));
	return cs_new_text("%s%s %zu of %zu: worst %s%s%s %+.2f %%%s", word,
			   verdict == CS_VERDICT_DIFFERS ? "," : " in", n, m->n,
			   worst->host, worst->host[0] ? " " : "", worst->label,
			   cs_percent(worst->c.difference, 2), interval);
}
