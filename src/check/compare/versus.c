#include "config.h"

#include "check/compare/versus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "base/units.h"
#include "check/bounds/baseline.h"
#include "check/compare/conditions.h"
#include "check/compare/models.h"
#include "check/compare/pairing.h"
#include "plan/file.h"
#include "result/cells.h"

#define LISTED 8 /* cells named in one line; the rest is a count */

/* One row of one side, by what it is compared with. */
struct point {
	uint32_t step; /* of a plan file, which may repeat a cell */
	int pair;      /* of nodes */
	char src[CS_UUID], dst[CS_UUID];
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

static int is_there(const struct cs_paired *it, const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ||
	       end->index < it->run->node[it->node].facts.n_agents;
}

/* NUMA nodes go by their number, agents by what pairs them. */
static void name_end(struct work *w, const struct cs_paired *it,
		     const struct cs_endpoint *end, char *to, size_t size)
{
	if (cs_endpoint_is_numa(end))
		cs_text(to, size, "%s", cs_endpoint_text(it->run, it->node, end).text);
	else
		cs_pairing_agent(&w->pairing, it, end->index, to, size);
}

/* One of several that an engine makes in turn: which comes first is chance. */
static int is_of_turn(const struct cs_plan *plan, const struct cs_row *row)
{
	return plan && row->step < plan->n_steps && row->metric == CS_METRIC_RATE &&
	       cs_step_is_in_turn(plan, cs_plan_step(plan, row->step));
}

static int counts(const struct cs_row *row, const struct cs_paired *it)
{
	return !is_of_turn(it->run->plan, row) && is_there(it, &row->what.src) &&
	       is_there(it, &row->what.dst);
}

/* The ends of a total whose step has this first transfer: both of its ends in any
 * order, the hub alone, or as they are. */
static void name_total(const struct cs_row *row, struct point *p)
{
	enum cs_pattern pattern = cs_row_test(row)->pattern;
	char first[sizeof(p->src)];

	if (pattern == CS_PATTERN_ALL_TO_ONE)
		p->src[0] = '\0';
	else if (pattern == CS_PATTERN_ONE_TO_ALL)
		p->dst[0] = '\0';
	else if (pattern == CS_PATTERN_BIDI && strcmp(p->src, p->dst) > 0) {
		memcpy(first, p->src, sizeof(first));
		memcpy(p->src, p->dst, sizeof(first));
		memcpy(p->dst, first, sizeof(first));
	}
}

static int has_figure(const struct point *p)
{
	return p->row->status == CS_OK && p->row->n_samples;
}

static int add_rows(struct work *w, const struct cs_paired *it, struct cs_err *err)
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
		name_end(w, it, &row->what.src, p.src, sizeof(p.src));
		name_end(w, it, &row->what.dst, p.dst, sizeof(p.dst));
		if (row->metric == CS_METRIC_TOTAL)
			name_total(row, &p);
		if (cs_vec_push(&w->points, &p, err))
			return -1;
	}
	return 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_matrix(const struct point *a, const struct point *b)
{
	return cs_matrix_order(a->row, b->row);
}

static int by_cell(const struct point *a, const struct point *b)
{
	int d = by_matrix(a, b);

	d = d ? d : a->pair - b->pair;
	d = d ? d : strcmp(a->src, b->src);
	d = d ? d : strcmp(a->dst, b->dst);
	return d ? d : compare_u64(a->step, b->step);
}

static int by_all(const void *x, const void *y)
{
	const struct point *a = x, *b = y;
	int d = by_cell(a, b);

	d = d ? d : a->side - b->side;
	d = d ? d : compare_u64(a->group, b->group);
	return d ? d : compare_u64(a->order, b->order);
}

/* ---- a cell ---- */

/* The points p[at..end) of that group as one block, their samples put behind each other
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

/* A cell in words; in a plan file after its step's name. */
struct words {
	char text[CS_STEP_NAME + 32];
};

/* "all->3", "0->all", "0<->3", or the first of several. */
static void total_text(const struct point *p, char *to, size_t size)
{
	const struct cs_transfer *what = &p->row->what;
	enum cs_pattern pattern = cs_row_test(p->row)->pattern;
	int node = (int)p->row->node;
	struct cs_label src = cs_endpoint_text(p->run, node, &what->src);
	struct cs_label dst = cs_endpoint_text(p->run, node, &what->dst);

	cs_text(to, size, "%s%s%s%s",
		pattern == CS_PATTERN_ALL_TO_ONE ? "all" : src.text,
		pattern == CS_PATTERN_BIDI ? "<->" : "->",
		pattern == CS_PATTERN_ONE_TO_ALL ? "all" : dst.text,
		pattern == CS_PATTERN_ALL_TO_ONE || pattern == CS_PATTERN_ONE_TO_ALL ||
				pattern == CS_PATTERN_BIDI ?
			"" :
			", ...");
}

static void cell_text(const struct point *p, char *to, size_t size)
{
	const struct cs_transfer *what = &p->row->what;
	int node = (int)p->row->node;
	struct cs_label label;

	if (p->row->metric == CS_METRIC_TOTAL) {
		total_text(p, to, size);
		return;
	}
	label = cs_test_is_list(cs_row_test(p->row)) ?
			cs_agent_label(p->run, node, what->src.index) :
			cs_pair_label(p->run, node, what);
	cs_text(to, size, "%s", label.text);
}

static const char *label_of(const struct point *p, struct words *words)
{
	const struct cs_plan *plan = p->run->plan;
	char step[CS_STEP_NAME] = "", cell[64];

	cell_text(p, cell, sizeof(cell));
	if (p->run->plan_file && p->row->step < plan->n_steps)
		cs_step_name(plan, cs_plan_step(plan, p->row->step), step,
			     sizeof(step));
	cs_text(words->text, sizeof(words->text), "%s%s%s", step, step[0] ? " " : "",
		cell);
	return words->text;
}

static int describe_alone(struct cs_versus *v, const char *text, struct cs_err *err)
{
	const struct cs_err *said = v->alone.data;
	struct cs_err line;

	for (size_t i = 0; i < v->alone.n; i++)
		if (!strcmp(said[i].text, text))
			return 0;
	cs_text(line.text, sizeof(line.text), "%s", text);
	return cs_vec_push(&v->alone, &line, err);
}

/* The first of p[0..n) with a figure (`want`), or without one. */
static const struct point *find(const struct point *p, size_t n, int want)
{
	for (size_t i = 0; i < n; i++)
		if (has_figure(&p[i]) == want)
			return &p[i];
	return NULL;
}

/* Why there is a figure on the other side only. */
static int describe_why(struct cs_versus *v, const struct work *w,
			const struct point *p, struct cs_err *err)
{
	char text[CS_ERR_TEXT], host[2 * CS_HOST];
	struct words label;

	cs_pairing_name(&w->pairing, p->pair, host, sizeof(host));
	cs_text(text, sizeof(text), "%s %s%s%s: %s in %s%s%s",
		cs_row_test(p->row)->name, host, host[0] ? " " : "",
		label_of(p, &label),
		p->row->status == CS_OK ? "no sample" : cs_status_text(p->row->status),
		v->name[p->side], p->row->reason[0] ? ": " : "", p->row->reason);
	return describe_alone(v, text, err);
}

/* p[0..n) of side A, p[n..end) of side B; one of them at least has a figure. */
static int compare_cell(const struct cs_compare_how *how, int apart,
			const struct point *p, size_t n, size_t end,
			struct cs_comparison *out, struct cs_err *err)
{
	struct cs_block *block = calloc(2 * end, sizeof(*block));
	struct cs_side a = { .n = 0 }, b = { .n = 0 };
	struct cs_compare_how ordered = *how;
	uint32_t *when = calloc(2 * end, sizeof(*when));
	size_t samples = 0;
	double *room;
	int rc;

	for (size_t i = 0; i < end; i++)
		samples += p[i].row->n_samples;
	room = calloc(samples, sizeof(*room));
	if (block && room && when) {
		a.blocks = block;
		b.blocks = block + end;
		a.n = b.n = make_blocks(p, n, end, block, when, room);
		ordered.when[0] = apart ? when : NULL;
		ordered.when[1] = apart ? when + end : NULL;
		rc = cs_compare(&a, &b, &ordered, out, err);
	} else {
		rc = cs_err_set(err, "no memory to compare a cell");
	}
	free(block);
	free(when);
	free(room);
	return rc;
}

/* As compare_cell(); a cell without any figure is nothing to speak of. */
static int add_cell(struct cs_versus *v, struct work *w, const struct point *p,
		    size_t n, size_t m, struct cs_err *err)
{
	const struct point *a = find(p, n, 1), *b = find(p + n, m, 1);
	const struct cs_compare_how how = {
		.margin = v->margin,
		.low_is_better = cs_unit_low_is_better((int)cs_row_test(p->row)->unit),
		.blocks = cs_baseline_runs(p->run, p->row),
		.paired = w->pairing.took_turns,
	};
	struct cs_versus_cell cell;
	struct words label;
	char where[2 * CS_HOST + sizeof(cell.label)];

	if (!a && !b)
		return 0;
	cs_pairing_name(&w->pairing, p->pair, cell.host, sizeof(cell.host));
	cs_text(cell.label, sizeof(cell.label), "%s", label_of(p, &label));
	if (compare_cell(&how, v->apart, p, n, n + m, &cell.c, err) ||
	    cs_vec_push(&v->cells, &cell, err))
		return -1;
	v->one_block += !!(cell.c.flags & CS_COMPARE_ONE_BLOCK);
	v->known += !!(cell.c.flags & CS_COMPARE_KNOWN);
	v->shared += !!(cell.c.flags & CS_COMPARE_SHARED);
	v->drift += !!(cell.c.flags & CS_COMPARE_DRIFT);
	if (!a || !b)
		return describe_why(v, w, a ? &p[n] : p, err);
	w->cells++;
	cs_text(where, sizeof(where), "%s%s%s", cell.host, cell.host[0] ? " " : "",
		cell.label);
	return w->pairing.took_turns ?
		       0 :
		       cs_conditions_add(v, "transport", where,
					 cs_via_text(a->row->via),
					 cs_via_text(b->row->via), err);
}

/* ---- a matrix ---- */

static double middle(const struct cs_versus *v, const struct cs_versus_matrix *m,
		     int side)
{
	const struct cs_versus_cell *cell = v->cells.data;
	double *x = calloc(m->n + 1, sizeof(*x)), median = NAN;
	size_t k = 0;

	for (size_t i = m->first; x && i < m->first + m->n; i++)
		if (cell[i].c.verdict != CS_VERDICT_NONE)
			x[k++] = side ? cell[i].c.b : cell[i].c.a;
	if (k)
		median = cs_median(x, k);
	free(x);
	return median;
}

static int end_matrix(struct cs_versus *v, struct cs_versus_matrix *m,
		      struct cs_err *err)
{
	struct cs_versus_cell *cell = v->cells.data;
	struct cs_comparison *c;
	int rc;

	m->n = v->cells.n - m->first;
	if (!m->n)
		return 0;
	c = calloc(m->n, sizeof(*c));
	if (!c)
		return cs_err_set(err, "no memory");
	for (size_t i = 0; i < m->n; i++)
		c[i] = cell[m->first + i].c;
	rc = cs_compare_cells(c, m->n, &m->sum, err);
	m->runs_needed = cs_compare_needed(c, m->n, v->margin);
	for (size_t i = 0; i < m->n; i++)
		cell[m->first + i].c = c[i];
	free(c);
	m->a = middle(v, m, 0);
	m->b = middle(v, m, 1);
	return rc || cs_vec_push(&v->matrices, m, err) ? -1 : 0;
}

/* ---- what has no partner ---- */

/* Cells of a pair of nodes that one side alone has. */
struct lonely {
	char text[200];
	size_t n;
};

static void add_lonely(struct lonely *to, const struct point *p)
{
	struct words label;

	if (to->n++ < LISTED)
		cs_text_add(to->text, sizeof(to->text), "%s%s",
			    to->text[0] ? ", " : "", label_of(p, &label));
}

/* Says so of both sides, and begins anew; `p` is of their matrix and pair. */
static int describe_lonely(struct cs_versus *v, const struct work *w,
			   const struct point *p, struct lonely *sides,
			   struct cs_err *err)
{
	char text[CS_ERR_TEXT], host[2 * CS_HOST], more[32] = "";

	cs_pairing_name(&w->pairing, p->pair, host, sizeof(host));
	for (int s = 0; s < 2; s++) {
		if (!sides[s].n)
			continue;
		if (sides[s].n > LISTED)
			cs_text(more, sizeof(more), " and %zu more",
				sides[s].n - LISTED);
		cs_text(text, sizeof(text), "%s %s%s%s%s: only in %s",
			cs_row_test(p->row)->name, host, host[0] ? " " : "",
			sides[s].text, more, v->name[s]);
		sides[s] = (struct lonely){ .n = 0 };
		if (describe_alone(v, text, err))
			return -1;
	}
	return 0;
}

static int has_test(const struct work *w, uint32_t test, int side)
{
	const struct point *p = w->points.data;

	for (size_t i = 0; i < w->points.n; i++)
		if (p[i].row->test == test && p[i].side == side)
			return 1;
	return 0;
}

/* The same figure, but come by in another way. */
static int is_kin(const struct cs_test *a, const struct cs_test *b)
{
	return a->path == b->path && a->pattern == b->pattern && a->unit == b->unit &&
	       a->how == b->how;
}

static int same_view(const struct point *a, const struct point *b)
{
	const struct cs_plan_matrix x = cs_row_view(a->row), y = cs_row_view(b->row);

	return !cs_plan_matrices_compare(&x, &y);
}

/* A matrix of the other side to which this one might have been held: with copies of
 * another size, in another variant, or of a test that this side does not have.  NULL without any. */
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

/* All of a matrix that one side does not have is one line, with the reason. */
static int describe_matrix(struct cs_versus *v, const struct work *w,
			   const struct point *p, struct cs_err *err)
{
	const struct point *kin = find_kin(w, p), *a = p->side ? kin : p;
	const struct point *b = p->side ? p : kin;
	struct cs_plan_matrix matrix = cs_row_view(p->row), other;
	char text[CS_ERR_TEXT];
	const struct cs_test *x, *y;

	if (!kin) {
		cs_text(text, sizeof(text), "%s (%s): only in %s",
			cs_row_test(p->row)->name, cs_plan_matrix_words(&matrix).text,
			v->name[p->side]);
		return describe_alone(v, text, err);
	}
	x = cs_row_test(a->row);
	y = cs_row_test(b->row);
	matrix = cs_row_view(a->row);
	other = cs_row_view(b->row);
	if (x == y)
		cs_text(text, sizeof(text), "%s: copies of %s in %s, of %s in %s",
			x->name, cs_plan_matrix_words(&matrix).text, v->name[0],
			cs_plan_matrix_words(&other).text, v->name[1]);
	else
		cs_text(text, sizeof(text), "%s in %s, %s in %s: another %s", x->name,
			v->name[0], y->name, v->name[1],
			x->method == y->method ? "op" : "method");
	return describe_alone(v, text, err);
}

static int describe_nodes(struct cs_versus *v, const struct cs_pairing *p,
			  struct cs_err *err)
{
	char text[CS_ERR_TEXT];

	for (size_t i = 0; i < p->n; i++) {
		const struct cs_node_facts *f =
			&p->item[i].run->node[p->item[i].node].facts;

		if (p->item[i].pair >= 0)
			continue;
		cs_text(text, sizeof(text), "node %s%s%s: only in %s", f->host,
			f->placement[0] ? ", " : "", f->placement,
			v->name[p->item[i].side]);
		if (describe_alone(v, text, err))
			return -1;
	}
	return p->again ?
		       describe_alone(v,
				      "a run that is named twice on a side counts once",
				      err) :
		       0;
}

/* ---- the whole ---- */

/* The points of one matrix: p[0..n). */
static int add_matrix(struct cs_versus *v, struct work *w, const struct point *p,
		      size_t n, struct cs_err *err)
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
	if (!seen[0] || !seen[1])
		return describe_matrix(v, w, p, err);
	for (size_t i = 0, end, of_a; i < n; i = end) {
		for (end = of_a = i; end < n && !by_cell(&p[i], &p[end]); end++)
			of_a += p[end].side == 0;
		if (of_a == i || of_a == end)
			add_lonely(&lonely[p[i].side], &p[i]);
		else if (add_cell(v, w, &p[i], of_a - i, end - of_a, err))
			return -1;
		if ((end == n || p[end].pair != p[i].pair) &&
		    describe_lonely(v, w, &p[i], lonely, err))
			return -1;
	}
	return end_matrix(v, &m, err);
}

static int fill(struct cs_versus *v, struct work *w, struct cs_err *err)
{
	const struct point *p;
	size_t ways;

	for (size_t i = 0; i < w->pairing.n; i++)
		if (w->pairing.item[i].pair >= 0 &&
		    add_rows(w, &w->pairing.item[i], err))
			return -1;
	if (describe_nodes(v, &w->pairing, err) ||
	    cs_conditions_find(v, &w->pairing, err))
		return -1;
	ways = v->fields.n;
	if (w->points.n)
		qsort(w->points.data, w->points.n, sizeof(*p), by_all);
	p = w->points.data;
	for (size_t i = 0, end; i < w->points.n; i = end) {
		for (end = i; end < w->points.n && !by_matrix(&p[i], &p[end]); end++)
			;
		if (add_matrix(v, w, &p[i], end - i, err))
			return -1;
	}
	cs_conditions_end(v, ways, w->cells, "cells");
	return 0;
}

int cs_versus(const struct cs_versus_side *a, const struct cs_versus_side *b,
	      double margin, struct cs_versus *out, struct cs_err *err)
{
	struct work w = { .points = CS_VEC(struct point) };
	int rc;

	*out = (struct cs_versus){
		.name = { a->name, b->name },
		.margin = margin,
		.cells = CS_VEC(struct cs_versus_cell),
		.matrices = CS_VEC(struct cs_versus_matrix),
		.models = CS_VEC(struct cs_versus_model),
		.fields = CS_VEC(struct cs_versus_field),
		.alone = CS_VEC(struct cs_err),
	};
	if (cs_pairing_make(a, b, &w.pairing, err))
		return -1;
	out->by_position = w.pairing.by_position;
	out->apart = w.pairing.apart;
	for (size_t i = 0; i < w.pairing.n; i++) {
		out->stand_in |= w.pairing.item[i].run->stand_in;
		out->virtual_clock |= w.pairing.item[i].run->virtual_clock;
	}
	rc = fill(out, &w, err) || cs_versus_models(a, b, &out->models, err) ? -1 : 0;
	cs_vec_release(&w.points);
	cs_pairing_release(&w.pairing);
	return rc;
}

void cs_versus_release(struct cs_versus *v)
{
	cs_vec_release(&v->cells);
	cs_vec_release(&v->matrices);
	cs_vec_release(&v->models);
	cs_vec_release(&v->fields);
	cs_vec_release(&v->alone);
}

static int is_different(uint32_t verdict)
{
	return verdict == CS_VERDICT_FASTER || verdict == CS_VERDICT_SLOWER ||
	       verdict == CS_VERDICT_MIXED;
}

int cs_versus_exit(const struct cs_versus *v)
{
	const struct cs_versus_matrix *m = v->matrices.data;
	int without = !v->matrices.n;

	for (size_t i = 0; i < v->matrices.n; i++) {
		if (is_different(m[i].sum.verdict))
			return CS_EXIT_WARNING;
		without |= m[i].sum.count[CS_VERDICT_NONE] != 0;
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

int cs_versus_placements(const struct cs_run *run, int k, double margin,
			 struct cs_versus *out, struct cs_err *err)
{
	size_t room = (size_t)run->n_nodes;
	struct cs_versus_item *item = calloc(2 * room + 1, sizeof(*item));
	struct cs_versus_side side[2] = { { .item = item }, { .item = item + room } };
	int rc = 1;

	*out = (struct cs_versus){ .margin = margin };
	if (!item)
		return cs_err_set(err, "no memory");
	for (int node = 0; node < run->n_nodes; node++) {
		int other = placement_of(run, node, k);

		if (cs_run_is_other_placement(run, node) || other < 0)
			continue;
		item[side[0].n++] = (struct cs_versus_item){ run, node };
		item[room + side[1].n++] = (struct cs_versus_item){ run, other };
	}
	if (side[0].n) {
		side[0].name = run->node[item[0].node].facts.placement;
		side[1].name = run->node[item[room].node].facts.placement;
		rc = cs_versus(&side[0], &side[1], margin, out, err);
		out->placements = 1;
	}
	free(item);
	return rc;
}

/* ---- words ---- */

const char *cs_versus_word(uint32_t verdict)
{
	return verdict == CS_VERDICT_DIFFERS ? "differs in these two runs" :
					       cs_verdict_text((int)verdict);
}

void cs_versus_verdict(const struct cs_versus *v, const struct cs_versus_matrix *m,
		       char *to, size_t size)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const struct cs_versus_cell *worst = m->sum.n_worst ?
						   &cell[m->first + m->sum.worst[0]] :
						   NULL;
	uint32_t verdict = m->sum.verdict;
	const char *in = verdict == CS_VERDICT_DIFFERS ? "," : " in";
	size_t n = m->sum.count[verdict];

	if (verdict == CS_VERDICT_MIXED)
		n = m->sum.count[CS_VERDICT_FASTER] + m->sum.count[CS_VERDICT_SLOWER];
	cs_text(to, size, "%s", cs_versus_word(verdict));
	if (verdict == CS_VERDICT_SAME)
		cs_text(to, size, "same within %.3g %%: %zu of %zu cells",
			100 * v->margin, n, m->n);
	else if (worst && isnan(worst->c.low))
		cs_text(to, size,
			"%s%s %zu of %zu: worst %s%s%s %+.2f %%, without an interval",
			cs_versus_word(verdict), in, n, m->n, worst->host,
			worst->host[0] ? " " : "", worst->label,
			cs_percent(worst->c.difference, 2));
	else if (worst)
		cs_text(to, size,
			"%s%s %zu of %zu: worst %s%s%s %+.2f %% (%+.2f to %+.2f)",
			cs_versus_word(verdict), in, n, m->n, worst->host,
			worst->host[0] ? " " : "", worst->label,
			cs_percent(worst->c.difference, 2),
			cs_percent(worst->c.low, 2), cs_percent(worst->c.high, 2));
}
